"""Findings of waits: by kind of operation, in chains, at barriers, at the end, and over-conservative."""

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.findings.evidence import (
    execution,
    line_of,
    of_pattern,
    producers_of,
    wave_of,
    window_of,
    worst_of,
)
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import SCRATCH, FindingInputs
from rcv_py.analysis.findings.remedies import finding_of
from rcv_py.analysis.findings.situation import NO_ROWS, PRECONDITIONS, FindingContext, situation_of
from rcv_py.analysis.program.branches import ends_of
from rcv_py.analysis.program.registers import registers
from rcv_py.analysis.waits.hoisting import is_needed_by_barrier
from rcv_py.analysis.waves.workgroups import KnownBy
from rcv_py.base.tables import table
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.model.code import CodeTable, has_known_operands

MAX_WIDTHS = 3  # access widths that a sentence names
CERTAIN = (
    "The wait is certain: a replay of the counters says which operations each execution required. "
    "Its stall is charged to the newest of them, though an older one may have come later."
)
LIKELY = (
    "The cause is likely, not certain: such operations of the compute unit were in flight in these cycles."
)
BOUND = (
    "At stake are only cycles in which no traced wave of the SIMD issued and its matrix unit "
    "did not work; waves that waited at the same time count once. Another wait may replace a "
    "wait that is removed."
)


WAIT_PATTERNS = (  # Cause, or SCRATCH, and the name of the finding
    (Cause.WAIT_LOAD, "exposed-vector-load"),
    (Cause.WAIT_DMA, "exposed-lds-dma"),
    (Cause.WAIT_LDS, "exposed-lds"),
    (Cause.WAIT_CROSS_LANE, "exposed-cross-lane"),
    (Cause.WAIT_SCALAR, "exposed-scalar-load"),
    (Cause.WAIT_STORE, "waits-for-stores"),
    (Cause.WAIT_ATOMIC, "atomics"),
    (Cause.WAIT_CACHE, "cache-maintenance"),
    (SCRATCH, "scratch-spills"),
)


def waits(inputs: FindingInputs) -> Iterable[Finding]:
    """Yield a finding for each kind of operation waited for; cross-lane chains have their own (`chains`)."""
    for pattern, name in WAIT_PATTERNS:
        case, said = situation_of(inputs, inputs.rows_of(pattern)), table("findings")[name]
        if not len(case.claimed) or (pattern == Cause.WAIT_CROSS_LANE and len(inputs.chains)):
            continue
        yield finding_of(
            case,
            name,
            title=join_texts("", (said["title"], ", mostly once per wave" if case.is_cold else "")),
            sentence=join_texts(" ", _sentences(case, said["what"])),
            evidence=of_pattern(case),
            assumption=Message("{0} {1}", CERTAIN, BOUND),
        )


def _stalled(case: FindingContext, of: str = "") -> str:
    """Stalled cycles of a situation, and their part of the stall of all waves."""
    table = case.inputs.attribution
    stalled, total = int(table.stall[case.claimed.rows].sum()), max(1, table.total_stall)
    part = percent(stalled, total)
    return Message("{0} of {1} stalled cycles of all waves ({2}{3})", count(stalled), count(total), part, of)


def _sentences(case: FindingContext, what: str) -> Iterator[str]:
    claimed = case.claimed
    yield from _distance(case)  # what matters most
    yield Message(
        "{0} wait for {1}, at {2}, {3}.",
        _stalled(case, " of stall"),
        what,
        plural(len(claimed), "instruction"),
        plural(claimed.count, "execution"),
    )
    first = case.inputs.first_share(claimed.line)
    if 0.1 <= first < 1:
        share = percent(round(100 * first), 100)
        text = "{0} of the stall of these instructions is in their first execution in each wave."
        yield Message(text, share)
    elif first == 1:
        yield "Each wave executes them once, or waits only the first time."
    yield from width_sentences(case)


def _distance(case: FindingContext) -> Iterator[str]:
    """Yield sentences on how early the costliest producer is issued and how long it takes."""
    uses = case.inputs.uses
    at = np.flatnonzero(uses.line == case.producer)
    if case.producer < 0 or not len(at):
        return
    row = int(at[0])
    latency, median = uses.latency[row], uses.median[row]
    line, cycles = case.producer, plural(round(median), "cycle")
    if np.isnan(uses.matrix[row]):
        issued = Message("Instruction {0} is issued {1} before its wait (median)", line, cycles)
    else:
        text = (
            "Instruction {0} is issued {1} before its wait (median; {2} MFMA and {3} "
            "VALU instructions between)"
        )
        issued = Message(text, line, cycles, count(round(uses.matrix[row])), count(round(uses.vector[row])))
    took = "" if np.isnan(latency) else count(round(latency))
    if not took:
        yield Message("{0}.", issued)
    elif latency > median:
        yield Message("{0} and takes {1}.", issued, took)
    else:
        yield Message("{0} and takes {1} in the median: waves wait for the slow executions.", issued, took)


def width_sentences(case: FindingContext) -> Iterator[str]:
    """Yield sentences on the access widths of a finding and the bytes all VMEM instructions request."""
    widths = case.inputs.widths
    sizes = widths.by_width(case.accesses)
    if not sizes:
        return
    is_scalar_memory = not (widths.is_vector | widths.is_local)[case.accesses].any()
    each = "per wave" if is_scalar_memory else "per lane"
    shown = [(count(times), plural(size, "byte")) for size, times in sizes[:MAX_WIDTHS]]
    parts = [Message("{0} × {1} {2}", times, size, each) for times, size in shown]
    yield Message("The accesses to blame, by width: {0}.", join_texts(", ", parts))
    if widths.is_vector[case.accesses].any() and widths.vector_rate is not None:
        roof = memory_roof(case.inputs.trace, case.inputs.facts)
        beside = "" if roof is None else Message("; memory delivers at most {0:.1f} to each", roof)
        text = "All VMEM instructions request at most {0:.1f} bytes/cycle per CU{1}."
        yield Message(text, widths.vector_rate, beside)


ALWAYS_LAST = 0.5  # of the instances with the same wave last: above it the work is uneven


def chains(inputs: FindingInputs) -> Iterator[Finding]:
    """Serialized cross-lane chains: cross-lane moves that each wait for the previous one."""
    case, links = situation_of(inputs, inputs.rows_of(Cause.WAIT_CROSS_LANE)), inputs.chains
    if not len(case.claimed) or not len(links):
        return
    per_link = int(links.cycles.sum()) / max(1, int((links.links * links.times).sum()))
    ends = zip(*(column[:2].tolist() for column in (links.first, links.last, links.links)), strict=True)
    evidence = []
    for first, last, number in ends:
        why = Message("begins a chain of {0} links that ends with instruction {1}", number, last)
        evidence.append(line_of(inputs, first, why))
    yield finding_of(
        case,
        "serial-cross-lane-chain",
        sentence=Message(
            "{0} of up to {1} links: each cross-lane instruction waits for the result of the "
            "previous one, {2:,} cycles per link. {3} wait for cross-lane moves.",
            plural(len(links), "chain"),
            int(links.links.max()),
            round(per_link),
            _stalled(case, " of stall"),
        ),
        evidence=(*evidence, *worst_of(case), *producers_of(case)),
        assumption=Message(
            "What is computed between the links is not looked at, so a chain may be unavoidable. {0} {1}",
            CERTAIN,
            BOUND,
        ),
    )


def barriers(inputs: FindingInputs) -> Iterator[Finding]:
    """Waves that wait for the last wave of their workgroup."""
    case, skew = situation_of(inputs, inputs.rows_of(Cause.BARRIER)), inputs.skew
    if not len(case.claimed):
        return
    evidence = list(of_pattern(case))
    words = list[str]()
    executions = plural(case.claimed.count, "execution")
    spent = Message("{0} are spent at barriers, {1}.", _stalled(case), executions)
    if len(skew):
        worst = int(np.argmax(skew.skew))
        begin, end = int(skew.arrived[worst]), int(skew.arrived[worst] + skew.skew[worst])
        text = "In {0} the last wave came {1} cycles after the first (median), at most {2}."
        words.append(
            Message(text, plural(len(skew), "instance"), count(round(skew.median or 0)), count(end - begin))
        )
        evidence.append(window_of(begin, end, "largest skew, first to last arrival"))
        evidence.append(wave_of(inputs, int(skew.last[worst]), "arrived last there"))
        waves, counts = np.unique(skew.last, return_counts=True)
        often, times = int(waves[np.argmax(counts)]), int(counts.max())
        if times > ALWAYS_LAST * len(skew) and len(skew) >= 8:
            words.append(Message("{0} was last in {1} of them.", inputs.trace.waves.id(often), count(times)))
            case = replace(case, flags=frozenset({"uneven-arrival"}))
    groups = Message(" How workgroups are known: {0}.", KnownBy(skew.known_by).text) if len(skew) else ""
    yield finding_of(
        case,
        "barrier-skew",
        sentence=join_texts(" ", (*words, spent)),
        evidence=tuple(evidence),
        assumption=Message(
            "The wait is certain; only recorded waves can be seen to arrive.{0} {1}", groups, BOUND
        ),
    )


AHEAD = 12  # instructions after a wait within which a result must be read to count as needed
MAX_WAITS = 8  # waits that are examined
_ZERO = re.compile(r"s_wait(?:cnt.*\b(?:vmcnt|lgkmcnt)\(0\)|_(?:load|ds|km|x)cnt 0x0\b)")


def drain(inputs: FindingInputs) -> Iterator[Finding]:
    """End-of-kernel drain: waves that end while stores are in flight."""
    exposure, case = inputs.exposure, situation_of(inputs, inputs.rows_of(Cause.DRAIN))
    cycles = exposure.nothing_ending
    if not cycles:
        return
    evidence = [line_of(inputs, line) for line in np.flatnonzero(ends_of(inputs.trace.code))[:1].tolist()]
    if worst := inputs.issued.longest_end:
        longest = Message("the longest, {0}", plural(worst.cycles, "cycle"))
        evidence.append(execution(inputs, worst, longest))
    evidence += (line_of(inputs, line, "the last one before") for line in case.producers[:2])
    yield finding_of(
        case,
        "drain-at-end",
        cycles=cycles,
        share=cycles / exposure.resident if exposure.resident else 0.0,
        exposed=exposure.exposed_ending,
        attributed=exposure.ending,
        sentence=Message(
            "{0} cycles of all waves ({1} of their lives) are spent in s_endpgm, where a wave keeps "
            "its slot while its last operations are in flight.",
            count(exposure.ending),
            percent(exposure.ending, max(1, exposure.lives)),
        ),
        evidence=tuple(evidence),
        assumption=Message(
            "Doubtful: the trace gives s_endpgm a long latency that need not cost anything, "
            "since the slot may be free before. {0}",
            BOUND,
        ),
    )


def redundant(inputs: FindingInputs) -> Iterator[Finding]:
    """Over-conservative waits: for all operations, where the next instructions need only the older ones.

    Only for counters that return in order: with a scalar load in flight, only a count of 0 is enough.  A wait
    with a barrier before the result is read is needed: after it other waves may overwrite the source.
    """
    code, table = inputs.trace.code, inputs.attribution
    strict = [
        (wait, newest, older)
        for wait, newest, older in _waits(inputs)
        if _is_redundant(code, wait, newest, older)
        and _is_in_order(inputs, wait, (newest, *older))
        and not is_needed_by_barrier(code, inputs.trace.architecture, wait, newest)
    ]
    lines, producers = ([wait[at] for wait in strict] for at in range(2))
    rows = np.flatnonzero(np.isin(table.line, lines) & np.isin(table.producer, producers))
    if not len(inputs.claimed(rows)):
        return
    first_wait, newest, older = strict[0]
    yield finding_of(
        situation_of(inputs, rows, producers=(newest, *older)),
        "redundant-wait",
        sentence=Message(
            "{0} for a count of 0 wait also for an operation whose result none of the next {1} instructions "
            "reads: instruction {2} waits for {3}, but what follows reads only results of {4}.",
            plural(len(strict), "wait"),
            AHEAD,
            first_wait,
            newest,
            ", ".join(map(str, older[:3])),
        ),
        evidence=tuple(
            line_of(inputs, line, why)
            for wait, new, _ in strict[:2]
            for line, why in ((wait, "the wait"), (new, "waited for, not read soon"))
        ),
    )


def _is_in_order(inputs: FindingInputs, wait: int, producers: tuple[int, ...]) -> bool:
    """Whether all operations that a wait requires return in the order of issue."""
    only = replace(inputs.claimed(NO_ROWS), line=np.array([wait]))
    return PRECONDITIONS["in-order"].holds(FindingContext(inputs, only, producers))


def _waits(inputs: FindingInputs) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (wait, newest producer, older ones) of the costly waits for a count of zero."""
    table, uses = inputs.attribution, inputs.uses
    rows = inputs.rows_of(Cause.WAIT_LOAD, Cause.WAIT_SCALAR, Cause.WAIT_LDS)
    for wait in inputs.claimed(rows).line[:MAX_WAITS].tolist():
        blamed = rows[(table.line[rows] == wait) & (table.producer[rows] >= 0)]
        if not _ZERO.match(inputs.trace.code.text[wait]) or not len(blamed):
            continue
        newest = int(table.producer[blamed[np.argmax(table.cycles[blamed])]])
        older = [int(line) for line in np.sort(uses.line[uses.wait == wait]) if line < newest < wait]
        if older:
            yield wait, newest, older


def _is_redundant(code: CodeTable, wait: int, newest: int, older: list[int]) -> bool:
    """Whether the instructions after a wait read results of older operations, but not of the newest."""
    if not all(has_known_operands(code.text[line]) for line in (newest, *older)):
        return False
    wanted = registers(code.text[newest]).writes
    other = reduce(or_, (registers(code.text[line]).writes for line in older)) & ~wanted
    reads = 0
    for row in range(wait + 1, min(len(code), wait + 1 + AHEAD)):
        text = code.text[row]
        if code.is_label[row] or text.startswith(("s_barrier", "s_cbranch", "s_branch", "s_endpgm")):
            break
        reads |= registers(text).reads
    return bool(wanted and reads & other) and not reads & wanted


DETECTORS = (waits, chains, barriers, drain, redundant)
