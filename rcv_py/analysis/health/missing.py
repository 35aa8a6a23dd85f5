"""Notes on what a capture lacks: waves, files, counters, and instruction texts that match its executions.

rocprofv3 writes a folder for a dispatch even if no wave ran on the target.  Only gfx9 streams counters.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, totals, unchanged
from rcv_py.analysis.events.marker_spans import LOST, PRIVILEGED, marker_spans, missing_words
from rcv_py.analysis.health.note import HealthNote, Measured, Setting, number, part
from rcv_py.analysis.health.traced_units import CU_BITS, MAX_TARGET, engine_mask
from rcv_py.analysis.program import code_match
from rcv_py.base.problems import Affects, Severity
from rcv_py.base.runs import ascending, borders
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace

PERIOD = 8  # of att_activity, as rocprofv3 recommends; it accepts 1 to 16
GAP = 1.5  # times the usual distance of samples: at least one sample is missing in between
MIN_SAMPLES = 16  # with fewer samples a usual distance is not reliable
NOTABLE_LOSS = 0.01  # of the samples missing


def counters(trace: Trace) -> HealthNote | None:
    """Return a note if a capture that could have counters has none, or lost samples of them."""
    if not trace.has_thread_trace or not len(trace.waves):
        return None
    if trace.counters or trace.spm:
        return _lost(trace)
    if not trace.architecture.has_trace_counters:
        return None
    return HealthNote(
        name="counters",
        severity=Severity.INFO,
        title="No hardware counters were recorded",
        evidence=(number("streamed counters", 0),),
        consequence="Busy shares of the whole compute unit, and memory latency by counters, cannot be shown.",
        remedy="Stream the activity counters of gfx9 with the trace; they need room in the buffer.",
        settings={"att_activity": PERIOD},
    )


def _lost(trace: Trace) -> HealthNote | None:
    lost = there = 0
    for table in trace.counters:
        for unit in set(zip(table.cu.tolist(), table.bank.tolist(), strict=True)):
            time = table.time[(table.cu == unit[0]) & (table.bank == unit[1])]
            step = np.diff(ascending(time))
            there += len(time)
            if len(step) >= MIN_SAMPLES:
                usual = float(median(step))
                lost += int(np.round(step[step > GAP * usual] / usual - 1).sum())
    if lost <= NOTABLE_LOSS * (lost + there):
        return None
    missing = Message("about {0} beside {1} ({2})", count(lost), count(there), percent(lost, lost + there))
    return HealthNote(
        name="counters",
        title="Samples of hardware counters are missing",
        evidence=(Measured("samples missing", lost, missing),),
        consequence="Curves have holes, and sums over time are too low.",
        remedy="Sample less often, or stream fewer counters: they compete with instructions for the buffer.",
        settings={"att_activity": 2 * PERIOD},
    )


EVERY_FOURTH_ENGINE = "0x11111111"  # the first engine of every die; more engines fill the buffer sooner


def markers(trace: Trace) -> HealthNote | None:
    """Return a note if a capture holds markers and no instruction."""
    if not trace.has_only_markers:
        return None
    values = [(data.se, cu) for data in trace.shader_data for cu in ascending(data.cu).tolist()]
    return HealthNote(
        name="markers",
        severity=Severity.INFO,
        title="The capture holds markers and no instructions",
        evidence=(
            number("values of markers", sum(len(data.time) for data in trace.shader_data)),
            number("compute units", len(values)),
        ),
        consequence="Scopes have times on all of these units; instructions, waits and causes are not known.",
        remedy="Read scopes in Findings, Flamegraph and Events; trace the instructions of a unit for causes.",
    )


def lost_markers(trace: Trace) -> HealthNote | None:
    """Return a note if markers or their data words are missing."""
    if not trace.has_shader_data or not trace.markers:
        return None
    spans = marker_spans(trace, ())
    words, orphans = int(missing_words(spans.records).sum()), int(np.count_nonzero(spans.is_orphan))
    idle = int(np.count_nonzero(spans.records.is_idle & (spans.records.flags & PRIVILEGED == 0)))
    if not words + orphans + idle:
        return None
    return HealthNote(
        name="lost_markers",
        title="Markers were lost",
        evidence=(
            part("missing data words", words, int(spans.records.words.sum())),
            number("leaves of scopes that were not open", orphans),
            number("values after lost packets", idle),
        ),
        consequence="Scopes around them are too long, too short or missing.",
        remedy=LOST,
    )


def clocks(trace: Trace) -> HealthNote | None:
    """Return a note if shader engines cannot be put on a common clock."""
    if not trace.clock.apart:
        return None
    return HealthNote(
        name="clocks",
        title="Shader engines have no common clock",
        evidence=(number("shader engines that are not aligned", len(trace.clock.apart)),),
        consequence="They are shown as if they began together: the launch may have taken longer.",
        remedy="Compare times within one shader engine only.",
    )


def placeholder(trace: Trace) -> HealthNote | None:
    """Return a note if there is no traced wave, and on which units waves ran."""
    if len(trace.waves) or not trace.has_thread_trace or trace.has_only_markers or trace.has_only_costs:
        return None
    if trace.unread:
        none, why = (number("traced waves", 0),), trace.unread[0]
        return HealthNote("lost_files", "No wave could be read", none, why.text, why.hint, Severity.ERROR)
    lives = residencies(trace.occupancy)
    title, evidence = "Nothing was recorded", [number("traced waves", 0), number("waves seen anywhere", 0)]
    consequence = "The folder is a placeholder: traced shader engines ran no wave of this dispatch."
    remedy = "Record more shader engines, or launch a larger grid; HSA_CU_MASK can steer waves to the target."
    settings: dict[str, Setting] = {"att_shader_engine_mask": EVERY_FOURTH_ENGINE}
    if len(lives):
        # The unit number with most waves that can be a target.
        unit = lives.cu.astype(np.int64) & CU_BITS
        allowed = unit <= MAX_TARGET
        units, waves = np.unique(unit[allowed] if allowed.any() else unit, return_counts=True)
        cu, most = int(units[np.argmax(waves)]), int(waves.max())
        title = "No wave ran on the traced compute unit"
        evidence[1:] = [
            number("waves on other compute units", len(lives)),
            Measured("busiest compute unit", cu, Message("{0}, with {1}", cu, plural(most, "wave"))),
        ]
        consequence = (
            "The folder is a placeholder: it records when waves ran elsewhere, but has no instruction."
        )
        text = "Trace compute unit {0}, where waves of this launch ran, or launch a larger grid."
        remedy = Message(text, cu)
        settings = {"att_shader_engine_mask": engine_mask(lives.se[unit == cu])}
        settings |= {"att_target_cu": cu} if cu <= MAX_TARGET else {}
    return HealthNote("placeholder", title, tuple(evidence), consequence, remedy, Severity.ERROR, settings)


def unreadable(trace: Trace) -> HealthNote | None:
    """Return a note if the operands of instructions are unknown, for want of a disassembler."""
    texts = code_match.unreadable_texts(trace)
    if not texts or trace.code.is_sampled:  # files of samples may have no texts
        return None
    code = trace.code
    number, total = (int(np.count_nonzero(rows)) for rows in (code.is_unreadable, ~code.is_label))
    example = code.text[int(code.is_unreadable.argmax())].strip()
    return HealthNote(
        name="unreadable",
        title=texts,
        evidence=(part("unreadable texts", number, total), Measured("example", example, example)),
        consequence="What follows from operands is not known: registers, bytes, operations, moves and "
        "inverted waits.",
        remedy=code_match.how_to_read(trace),
    )


def no_costs(trace: Trace) -> HealthNote | None:
    """Return a note if there are waves, and the table of instructions has no costs."""
    if not len(trace.waves) or not len(trace.code) or trace.code.hits.any():
        return None
    return HealthNote(
        name="no_costs",
        severity=Severity.ERROR,
        title="code.json records no execution of any instruction",
        evidence=(number("executions in code.json", 0),),
        consequence="Totals of instructions and source lines are not known where no wave is read.",
        remedy="Decode again; `rcv hotspot` sums the waves meanwhile.",
    )


def not_traced(trace: Trace) -> HealthNote | None:
    """Return a note if the capture holds samples, costs alone or a program that has not run, and no trace."""
    settings: dict[str, Setting] = {"advanced_thread_trace": True}
    if trace.has_only_costs:
        name, title, settings = "costs_alone", "The capture is a table of costs without waves", {}
        consequence = "There are no times; causes of stalls are not known."
        remedy = "Open the ui_output folder that was written with it."
    elif trace.has_pc_samples and not trace.has_thread_trace:
        name, title = "sampled", "The capture holds PC samples and no thread trace"
        consequence = "There are no waves, no times and no waits; shares are statistical."
        remedy = "Read stall reasons by instruction; record a thread trace for timelines."
    elif trace.is_static:
        name, title = "not_run", "The program has not run"
        consequence = "There are no waves, no times and no costs; cycles of blocks and loops are modelled."
        remedy = "Read instructions, registers and limits; record a thread trace for times."
    else:
        return None
    rows = (number("instructions with rows", len(trace.code)),)
    return HealthNote(name, title, rows, consequence, remedy, Severity.INFO, settings)


NOTABLE = 0.01  # of the cycles: more changes the ranking of lines


def wrong_code(trace: Trace, match: code_match.CodeMatch) -> HealthNote | None:
    """Return a note if executions went to other units than their instructions name."""
    if not match.is_wrong:
        return None
    return HealthNote(
        name="wrong_code",
        severity=Severity.ERROR,
        title=code_match.TITLE,
        evidence=(
            part("executions on another unit", match.mismatched, match.judged),
            Measured("examples", len(match.examples), match.examples_text(trace.code).rstrip(".")),
        ),
        consequence=code_match.CONSEQUENCE,
        remedy=code_match.REMEDY,
    )


COSTS = ("executions", "cycles of latency", "cycles of stall", "idle cycles")  # that waves are compared in


class Unmatched(NamedTuple):
    """Costs of some waves, and of their executions that match no line of code.json; int64 [COSTS]."""

    read: int  # waves
    lost: np.ndarray
    all: np.ndarray
    waves: int  # with an unmatched execution

    @property
    def sentence(self) -> str:
        """How many executions match no line; "" if they and their cycles are few."""
        lost, of = int(self.lost[0]), int(self.all[0])
        template = (
            "{0} of {1} executions ({2}) match no instruction of the code: numbers by instruction, unit "
            "and cause lack them."
        )
        text = Message(template, count(lost), count(of), percent(lost, of))
        return text if (self.lost[:2] > NOTABLE * self.all[:2]).any() else ""


def _map(trace: Trace, parcel: Parcel) -> Unmatched:
    tokens = parcel.own
    lost = (tokens.line < 0) | (tokens.line >= len(trace.code))
    costs = (np.ones(len(lost), dtype=np.int8), tokens.duration, tokens.stall, tokens.idle)
    return Unmatched(
        read=len(tokens.waves),
        lost=np.array([cost[lost].sum(dtype=np.int64) for cost in costs]),
        all=np.array([cost.sum(dtype=np.int64) for cost in costs]),
        waves=int(np.count_nonzero(np.diff(borders(lost)[tokens.first]))),
    )


_merge = by_field(Unmatched, read=sum, lost=totals(len(COSTS)), all=totals(len(COSTS)), waves=sum)
UNMATCHED = Reduction(_map, _merge, unchanged)


NOT_CAPTURED = (
    "The code object they ran in was not captured: let the profiler see it being loaded, so start the "
    "program under rocprofv3 rather than attaching to it, and keep the .out files beside the .att files."
)


def unmatched(trace: Trace, lost: Unmatched | None) -> HealthNote | None:
    """Return a note if executions match no line of the code; if no wave was read, only if it has none."""
    if not (lost.lost[0] if lost is not None else len(trace.waves) and not len(trace.code)):
        return None
    is_serious, evidence = True, [number("lines of the code", 0)]
    if lost is not None:
        (executions, cycles), (every, all_cycles) = lost.lost[:2].tolist(), lost.all[:2].tolist()
        is_serious = cycles > NOTABLE * all_cycles
        share = Message("{0} ({1} of the latency)", count(cycles), percent(cycles, all_cycles))
        their_cycles, waves = Measured("their cycles", cycles, share), number("waves", lost.waves)
        evidence = [part("instructions", executions, every), their_cycles, waves]
    no_code = (str(it) for it in trace.problems if Affects.CODE in it.affects and not len(trace.code))
    return HealthNote(
        name="unmatched",
        severity=Severity.ERROR if is_serious else Severity.WARNING,
        title="Executed instructions match no line of the code",
        evidence=tuple(evidence),
        consequence="Their cycles are charged to no instruction and no source line.",
        remedy=next(no_code, NOT_CAPTURED),
    )


def contradicted(trace: Trace, lost: Unmatched) -> HealthNote | None:
    """Return a note if all waves were read, and their sums are not the totals of code.json.

    The totals may count executions that match no line, or not; stall and idle cycles may not be recorded.
    """
    code = trace.code
    stated = np.array([column.sum() for column in (code.hits, code.latency, code.stall, code.idle)])
    is_known = (stated > 0) | (np.arange(len(COSTS)) < 2)
    fits = any(np.array_equal(stated[is_known], sums[is_known]) for sums in (lost.all, lost.all - lost.lost))
    if not lost.read or lost.read < len(trace.waves) or fits or no_costs(trace):
        return None
    rows = zip(COSTS, lost.all.tolist(), stated.tolist(), is_known.tolist(), strict=True)
    return HealthNote(
        name="contradicted",
        title="Waves do not add up to the totals of code.json",
        evidence=tuple(
            Measured(name, has, Message("{0} in the waves, {1} in code.json", count(has), count(states)))
            for name, has, states, known in rows
            if known
        ),
        consequence="`rcv hotspot` and source lines show the totals, causes and waits the sums of waves.",
        remedy="Decode again into an empty folder: files of another decoding may lie in this one.",
    )


def lost_files(trace: Trace, unread: Iterable[int] = ()) -> HealthNote | None:
    """Return a note if wave files named by the index are missing, empty or damaged (`unread`, index rows)."""
    gone = {*np.flatnonzero(trace.waves.size == 0).tolist(), *unread}
    if not gone:
        return None
    first = trace.waves.file[min(gone)]
    files = Message("{0} of {1}, such as {2}", count(len(gone)), count(len(trace.waves)), first)
    text = "Timelines and waits lack {0}, while the totals of code.json count them."
    return HealthNote(
        name="lost_files",
        severity=Severity.ERROR,
        title="Wave files are missing or damaged",
        evidence=(Measured("files", len(gone), files),),
        consequence=Message(text, plural(len(gone), "wave")),
        remedy="Copy the whole capture folder again, or decode again; recording anew is not needed.",
    )
