"""Loops: iterations, phases of waves, and what costs cycles in and around them."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE
from rcv_py.analysis.core.reduction import Answers, Rows
from rcv_py.analysis.iterations.loop_summary import LOOPS as ALL_LOOPS
from rcv_py.analysis.iterations.loop_summary import PHASES, LoopIterations, LoopSummary, LoopTable
from rcv_py.analysis.iterations.segments import OUTSIDE, Segments
from rcv_py.analysis.iterations.segments import SEGMENTS as ALL_SEGMENTS
from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Record
from rcv_py.base.text import Message, join_texts
from rcv_py.model.kinds import TokenKind, kind_name
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, PEOPLE, REPORT, TEXT, WINDOW, record, record_field, unknown
from rcv_py.results.places import instructions, placed, sources, waves
from rcv_py.results.table import Column, Columns, ResultTable, Schema, Spec, form

MAX_PARTS = 4  # kinds that a breakdown names


def _split(row: Mapping[str, Any]) -> str:
    total = max(1, sum(row["kinds"].values()) + row["idle"])
    most = islice(row["kinds"].items(), MAX_PARTS)
    parts = (Message("{0} {1:.0f} %", kind_name(kind), 100 * cycles / total) for kind, cycles in most)
    return join_texts(", ", parts)


_BRANCH = kinds.ROW("branch", "Index of the branch that jumps back")
_JUMP_SOURCE = kinds.SOURCE("branch_source", "Source place of the branch as file:line; empty if it has none")
_KINDS = kinds.mapping(kinds.CYCLES, [kind.name for kind in TokenKind], "Latency of the kind")(
    "kinds", "Cycles by kind of instruction, the most first", at=DATA
)
_OUTLIER = replace(kinds.FLAG, text=lambda is_outlier: "outlier" if is_outlier else "")
_SPLIT = kinds.NOTE("split", "What the cycles were spent on", at=TEXT, of=_split)
_DATA_STALL, _DATA_IDLE = replace(common.STALL, at=DATA), replace(common.IDLE, at=DATA)
_STATISTIC = "of the iterations between two jumps back"
LOOPS = Spec(
    "loops loops",
    "One row per loop.",
    "loop",
    replace(_BRANCH, at=DATA | TEXT | REPORT),
    kinds.ROW("head", "Index of the instruction that the branch jumps back to", at=DATA | TEXT | REPORT),
    kinds.TEXT(
        "loop",
        "Instructions of its head and of the branch that jumps back",
        at=WINDOW,
        of=lambda row: f"{row['head']} – {row['branch']}",
    ),
    kinds.COUNT("taken", "Jumps back, in all waves"),
    kinds.WAVES("waves", "Waves that jumped back"),
    kinds.MEAN_COUNT("per_wave", "Jumps back per wave", at=DATA | TEXT),
    kinds.COUNT("iterations", "Iterations between two jumps back", at=DATA, key="between"),
    kinds.CYCLES("cycles", "Time of all iterations", at=REPORT),
    kinds.RANK_CYCLES.maybe("min", Message("Shortest {0}", _STATISTIC), key="shortest"),
    kinds.RANK_CYCLES.maybe("median", Message("Median {0}", _STATISTIC)),
    kinds.RANK_CYCLES.maybe("p90", Message("90th percentile {0}", _STATISTIC)),
    kinds.RANK_CYCLES.maybe("max", Message("Longest {0}", _STATISTIC), key="longest"),
    *(_DATA_STALL, _DATA_IDLE, _KINDS, _SPLIT),
    replace(common.INSTRUCTION_TEXT, at=DATA | WINDOW, title="branch"),
    kinds.SOURCE(
        "head_source", "Source place of the head as file:line; empty if there is none", at=DATA | TEXT
    ),
    replace(_JUMP_SOURCE, at=DATA | TEXT | WINDOW),
    nothing="No counted wave jumped back to an instruction it had run.",
    note="Cycles of iterations between two jumps back; split: what their cycles were spent on.",
)
ITERATIONS = Spec(
    "loops iterations",
    "One row per iteration between two jumps back, the longest of its loop first; with "
    "--loop every iteration of that loop.",
    "iteration",
    replace(_BRANCH, at=DATA | TEXT),
    kinds.WAVE(
        "wave", "A wave, such as se0/simd2/slot5/wv3: shader engine, SIMD, slot, and number in the slot"
    ),
    kinds.WHOLE("iteration", "Which iteration of the wave, counted from 0", key="number"),
    kinds.CYCLE("start", "Begin", key="begin"),
    kinds.CYCLE("end", "End", at=DATA),
    kinds.CYCLES("cycles", "Duration, from its head to the next head"),
    kinds.RANK_CYCLES.maybe("median", "Median of the loop", at=DATA | TEXT),
    _OUTLIER("is_outlier", "Whether it took much longer than others", "outlier", at=DATA | TEXT),
    common.STALL,
    common.IDLE,
    kinds.WHOLE("token", "Its first row among the wave's instructions, counted from 0", at=DATA, key="first"),
    _KINDS,
    _SPLIT,
    replace(_JUMP_SOURCE, at=DATA | TEXT),
    kinds.choice("", "entry", "last", "outlier")(
        "note",
        "With --loop: kind of iteration; empty for an ordinary one; entry and last are not in the statistics",
        at=DATA | WINDOW,
        is_optional=True,
    ),
    order="branch wave iteration start cycles median stall idle is_outlier",
    nothing="No loop jumped back twice, so no iteration lies between two jumps back.",
    note="An outlier took much longer than others: more than 1.5 interquartile ranges above "
    "the third quartile.",
)
PHASE_COSTS = Spec(
    "loops phases",
    "One row per wave that ran the dominant loop.",
    "wave",
    kinds.WAVE("wave", "A wave, such as se0/simd2/slot5/wv3"),
    *(kinds.CYCLES(name, Message("The {0}", name)) for name in PHASES),
    *(kinds.CYCLES(f"{name}_stall", Message("Stall of the {0}", name)) for name in PHASES),
    nothing="No wave ran a loop twice, so there is no steady state.",
    note="Cycles before, in and after the dominant loop.",
)
FIRST = Spec(
    "loops first",
    "One row per instruction that stalled, by the stall of its first execution in each wave.",
    "instruction",
    common.INSTRUCTION_INDEX,
    kinds.WAVES("waves", "Waves that ran it"),
    kinds.COUNT("hits", "Executions"),
    kinds.CYCLES("first_stall", "Stall of the first execution in each wave"),
    kinds.CYCLES("later_stall", "Stall of all later executions"),
    kinds.SHARE("first_share_of_stall", "Part of the stall in first executions", "first share", digits=4),
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
    nothing="No instruction stalled.",
    note="Stall of the first execution in each wave, which a better loop does not remove, "
    "and of all later executions.",
)
_RANK = replace(kinds.NUMBER, is_trimmed=True)  # a median, whole but for means of two
_TO_WAIT = "From issue to the first wait that required it"
DISTANCE = Spec(
    "loops distance",
    "One row per operation that a wait required.",
    "operation",
    common.INSTRUCTION_INDEX,
    kinds.COUNT("hits", "Executions that a wait required", key="n"),
    kinds.SIGNED_CYCLES("p10", Message("{0}, 10th percentile", _TO_WAIT)),
    kinds.RANK_CYCLES("median", Message("{0}, median", _TO_WAIT)),
    kinds.SIGNED_CYCLES("p90", Message("{0}, 90th percentile", _TO_WAIT)),
    *unknown(  # where texts are unreadable
        _RANK("mfma_between", "MFMA instructions in between, median count", "MFMA", key="matrix"),
        _RANK("valu_between", "VALU instructions in between, median count", "VALU", key="vector"),
    ),
    kinds.COUNT("short_hits", "Executions whose wait came sooner than the measured latency", key="short"),
    kinds.CYCLES("stall", "Stall of these waits"),
    kinds.ROW_OR_NONE(
        "wait_instruction", "Index of the wait that required it most often; -1 if there is none", key="wait"
    ),
    kinds.RANK_CYCLES.maybe("latency", "Measured latency, median"),
    kinds.FLAG("is_short", "Whether the wait mostly comes sooner than the latency"),
    *common.PLACE[1:],
    kinds.SOURCE("wait_source", "Source place of the wait as file:line; empty if there is none"),
    order="instruction hits median p90 latency short_hits mfma_between valu_between stall",
    nothing="No wait required an operation.",
    note="Cycles from issue to the first wait that required it, and instructions in between "
    "(medians); short: fewer cycles than the measured latency.",
).hide(PEOPLE, "p10", "wait_instruction", "is_short", "wait_source")
CHAINS = Spec(
    "loops chains",
    "One row per chain of cross-lane operations.",
    "chain",
    kinds.ROW("first_instruction", "Index of its first operation", "first", key="first"),
    kinds.ROW("last_instruction", "Index of its last wait", "last", key="last"),
    kinds.COUNT("links", "Operations in the chain"),
    kinds.COUNT("hits", "Executions of the chain", key="times"),
    kinds.CYCLES("cycles", "Time of all executions"),
    kinds.MEAN_CYCLES("cycles_per_link", "Mean time of a link", digits=1),
    *(common.STALL, common.INSTRUCTION_TEXT, common.SOURCE_PLACE),
    kinds.SOURCE(
        "last_source", "Source place of the last wait as file:line; empty if there is none", at=DATA
    ),
    nothing="No chain of cross-lane operations was found.",
    note="Each link waits for the previous link. Whether it must wait, or DPP could replace "
    "it, is not analysed.",
)
_BEGIN = replace(kinds.ROW_OR_NONE, text=lambda row: str(row) if row != OUTSIDE else "begin")
_END = replace(kinds.ROW_OR_NONE, text=lambda row: str(row) if row != OUTSIDE else "end")


def _meanwhile(row: Mapping[str, Any]) -> str:
    share = row["beside_share_of_hits"]
    first, last = _BEGIN.text(row["beside_first_instruction"]), _END.text(row["beside_last_instruction"])
    return f"{first} → {last} ({100 * share:.0f} %)" if share else ""


SEGMENTS = Spec(
    "loops segments",
    "One row per segment: what waves do from one barrier to the next, most cycles first.",
    "segment",
    _BEGIN(
        "first_instruction",
        "Index of the barrier after which it begins; -1: the start of the wave",
        "from",
        key="first",
    ),
    _END(
        "last_instruction", "Index of the barrier in which it ends; -1: the end of the wave", "to", key="last"
    ),
    kinds.WAVES("waves", "Waves that ran it"),
    kinds.COUNT("hits", "Executions"),
    kinds.CYCLES("cycles", "Time of all executions, from leaving a barrier to leaving the next"),
    kinds.RANK_CYCLES.maybe("median", "Median of an execution"),
    kinds.RANK_CYCLES.maybe("p90", "90th percentile of the executions", at=DATA),
    kinds.CYCLES("barrier_wait", "Time in the barrier at its end", "in barrier", key="waiting"),
    kinds.SHARE.maybe(
        "last_share_of_hits",
        "Part of the executions whose wave arrived last at that barrier, of the executions where "
        "other waves arrived too",
        "arrived last",
    ),
    _DATA_STALL,
    _DATA_IDLE,
    kinds.CYCLES("mfma_busy", "Passes of its MFMA or WMMA instructions", key="matrix_busy", at=DATA),
    kinds.SHARE(
        "mfma_busy_share_of_cycles",
        "Passes of its MFMA or WMMA instructions as a part of its time",
        "MFMA busy",
    ),
    _BEGIN(
        "beside_first_instruction",
        "Barrier after which the segment begins that other waves of the workgroup mostly "
        "run at the same time",
        at=DATA,
        key="beside_first",
    ),
    _END("beside_last_instruction", "Barrier in which that segment ends", at=DATA, key="beside_last"),
    kinds.SHARE(
        "beside_share_of_hits",
        "Part of the executions that overlap that segment; 0: all waves of the workgroup "
        "run the same segment",
        at=DATA,
    ),
    kinds.NOTE(
        "meanwhile",
        "Segment that other waves of the workgroup mostly run at the same time",
        at=PEOPLE,
        of=_meanwhile,
    ),
    _KINDS,
    _SPLIT,
    kinds.SOURCE("source", "Source place of the barrier at its end as file:line; empty if none"),
    nothing="No counted wave passed a barrier.",
    note="A segment lasts from leaving a barrier to leaving the next; split: cycles outside of the barrier.",
)
BARRIERS = Spec(
    "loops barriers",
    "One row per meeting at a barrier, the largest skew first.",
    "barrier",
    common.INSTRUCTION_INDEX,
    kinds.CYCLE("arrived", "When the first wave arrived"),
    kinds.WHOLE(
        "workgroup", "Number of the workgroup, counted from 0 by shader engine and start", key="group"
    ),
    kinds.WAVES("waves", "Traced waves that met"),
    kinds.CYCLES("skew", "From the first to the last arrival"),
    kinds.CYCLES("release_spread", "From the first to the last release", key="spread"),
    kinds.CYCLES("stall", "Total stall"),
    kinds.WAVE("last_wave", "The wave that arrived last, such as se0/simd2/slot5/wv3"),
    common.SOURCE_PLACE,
    nothing="No barrier was run by two traced waves of a workgroup.",
    note="Skew: cycles from the first to the last arrival of a workgroup's traced waves. Without workgroup "
    "numbers in the capture, waves whose barriers always opened together form a workgroup.",
)
_PHASE = record(
    kinds.SHARE("share_of_wave_cycles", "Part of the waves' time"),
    kinds.SHARE.maybe(
        "stall_share_of_phase",
        "Part of it that stalled; null if it has no cycles, or if a damaged wave stalled for longer than it",
    ),
)
FACTS = (
    *(common.CAPTURE, common.WAVE_ASKED, common.WAVES_READ),
    kinds.ROW_OR_NONE("dominant_loop", "Row of the dominant loop in --by loops; -1 if none"),
    record_field(
        "phases",
        "A phase; null without a loop that a wave ran twice",
        *(_PHASE(name, Message("The {0} of the dominant loop", name)) for name in PHASES),
        is_unknown=True,
    ),
    kinds.COUNT("outliers", "Iterations that took much longer than others"),
    record_field(
        "barriers",
        "Barriers in numbers",
        kinds.COUNT("instances", "Meetings of two or more traced waves"),
        kinds.RANK_CYCLES.maybe("median_skew", "Median skew"),
        kinds.CYCLES.maybe("max_skew", "Largest skew"),
        kinds.CYCLES.maybe("max_release_spread", "Largest time between the releases of one meeting"),
        kinds.COUNT("dropped", "Executions that match no meeting"),
        kinds.FLAG("is_group_guessed", "Whether workgroups are inferred only from the starts of waves"),
        kinds.choice("capture", "barriers").maybe(
            "groups_known_by",
            "How workgroups are known: numbered in the capture, or their barriers open together",
        ),
    ),
    common.TOTAL_ROWS,
)


class Inputs(Record):
    """The inputs of the tables."""

    answers: Answers
    rows: Rows  # of the wave index, None: all

    @property
    def trace(self) -> Trace:
        """The capture whose loops these are."""
        return self.answers.trace

    @property
    def loops(self) -> LoopSummary:
        """Loops, their iterations, and phases of waves."""
        return self.answers.of(ALL_LOOPS, self.rows)


def loop_table(trace: Trace, loops: LoopTable) -> ResultTable:
    """Return one row per loop; kinds, stall and idle are sums over the iterations between two jumps."""
    columns: Columns = {
        "text": instructions(trace, loops.branch),
        "head_source": sources(trace, loops.head),
        "branch_source": sources(trace, loops.branch),
        "per_wave": loops.taken / np.maximum(1, loops.waves),
    }
    return ResultTable.of(LOOPS, loops, columns)


def iteration_table(trace: Trace, found: LoopIterations, rows: np.ndarray, *, has_note: bool) -> ResultTable:
    """Return one row for each of these iterations; the note is entry, last or outlier."""
    iterations, loops = found.iterations.at(rows), found.table
    branch, is_outlier = loops.branch[iterations.loop], np.isin(rows, found.outliers)
    columns: dict[str, Column] = {
        "branch": branch,
        "wave": waves(trace, iterations.wave),
        "median": loops.median[iterations.loop],
        "is_outlier": is_outlier,
        "branch_source": sources(trace, branch),
    }
    if has_note:
        states = [iterations.is_first, iterations.is_last, is_outlier]
        columns["note"] = np.select(states, ["entry", "last", "outlier"], default="").astype(object)
    return ResultTable.of(ITERATIONS, iterations, columns)


def iterations_of(found: LoopIterations, loop: int, wave: int | None = None) -> np.ndarray:
    """Return the rows of all iterations of a loop, of one wave (its index row) or of all waves, by time."""
    one = found.iterations
    if wave is not None:
        return np.flatnonzero((one.loop == loop) & (one.wave == wave))
    rows = np.flatnonzero(one.loop == loop)
    return rows[np.argsort(one.begin[rows], kind="stable")]


def iterations_of_loop(
    inputs: Inputs, head: int, branch: int, wave: int | None, *, only_outliers: bool
) -> ResultTable:
    """Return every iteration of one loop by time, outliers by length; UsageError for an unknown loop."""
    found = inputs.loops.loops
    chosen = np.flatnonzero((found.table.head == head) & (found.table.branch == branch))
    if not len(chosen):
        pairs = ", ".join(f"{a}:{b}" for a, b in zip(found.table.head, found.table.branch, strict=True))
        text = Message("No wave ran a loop from {0} to {1}.", head, branch)
        raise UsageError(text, hint=Message("Loops: {0}.", pairs or "none"))
    rows = iterations_of(found, int(chosen[0]), wave)
    if only_outliers:
        rows = found.outliers[np.isin(found.outliers, rows)]
    return iteration_table(inputs.trace, found, rows, has_note=True)


def _iterations(inputs: Inputs) -> ResultTable:
    """The iterations between two jumps, the longest of its loop first."""
    found = inputs.loops.loops
    one = found.iterations
    rows = np.flatnonzero(one.is_between)
    rows = rows[np.lexsort((one.begin[rows], -one.cycles[rows], one.loop[rows]))]
    return iteration_table(inputs.trace, found, rows, has_note=False)


def _phases(inputs: Inputs) -> ResultTable:
    """The longest wave first."""
    phases = inputs.loops.phases
    cycles, stall = phases.cycles.reshape(-1, len(PHASES)), phases.stall.reshape(-1, len(PHASES))
    order = np.argsort(-cycles.sum(axis=1), kind="stable")
    columns: dict[str, Column] = {"wave": waves(inputs.trace, phases.wave[order])}
    for at, name in enumerate(PHASES):
        columns |= {name: cycles[order, at], f"{name}_stall": stall[order, at]}
    return ResultTable(PHASE_COSTS, columns)


def _first(inputs: Inputs) -> ResultTable:
    rows = np.flatnonzero(inputs.loops.hits.stall)
    rows = rows[np.lexsort((rows, -inputs.loops.hits.first_stall[rows]))]
    hits = inputs.loops.hits.at(rows)
    share = {"first_share_of_stall": hits.first_stall / hits.stall}
    return ResultTable.of(FIRST, hits, placed(inputs.trace, rows) | share)


def _distance(inputs: Inputs) -> ResultTable:
    found = inputs.answers.of(LOAD_TO_USE, inputs.rows)
    places = placed(inputs.trace, found.line) | {"wait_source": sources(inputs.trace, found.wait)}
    return ResultTable.of(DISTANCE, found, places)


def _chains(inputs: Inputs) -> ResultTable:
    found = inputs.answers.of(CROSS_LANE, inputs.rows)
    trace = inputs.trace
    columns = {"text": instructions(trace, found.first), "source": sources(trace, found.first)}
    return ResultTable.of(CHAINS, found, columns | {"last_source": sources(trace, found.last)})


def _segments(inputs: Inputs) -> ResultTable:
    return segment_table(inputs.trace, inputs.answers.of(ALL_SEGMENTS, inputs.rows))


def segment_table(trace: Trace, found: Segments) -> ResultTable:
    """Return one row per segment, most cycles first."""
    hits, cycles = np.maximum(1, found.hits), np.maximum(1, found.cycles)
    columns: Columns = {
        "last_share_of_hits": np.where(found.met > 0, found.came_last / np.maximum(1, found.met), np.nan),
        "mfma_busy_share_of_cycles": found.matrix_busy / cycles,
        "beside_share_of_hits": found.beside / hits,
        "source": sources(trace, found.last),
    }
    return ResultTable.of(SEGMENTS, found, columns)


def _barriers(inputs: Inputs) -> ResultTable:
    found = inputs.answers.of(BARRIER_SKEW, inputs.rows)
    found = found.at(np.argsort(-found.skew, kind="stable"))
    places = {"last_wave": waves(inputs.trace, found.last), "source": sources(inputs.trace, found.line)}
    return ResultTable.of(BARRIERS, found, places)


ASKED = (ALL_LOOPS, BARRIER_SKEW)  # by every table
# Additionally by one of them:
ASKED_BY = {"distance": (LOAD_TO_USE,), "chains": (CROSS_LANE,), "segments": (ALL_SEGMENTS,)}
TABLES: dict[str, tuple[Spec, Callable[[Inputs], ResultTable]]] = {  # by the value of --by
    "loops": (LOOPS, lambda inputs: loop_table(inputs.trace, inputs.loops.loops.table)),
    "iterations": (ITERATIONS, _iterations),
    "phases": (PHASE_COSTS, _phases),
    "first": (FIRST, _first),
    "distance": (DISTANCE, _distance),
    "chains": (CHAINS, _chains),
    "barriers": (BARRIERS, _barriers),
    "segments": (SEGMENTS, _segments),
}
SCHEMA = Schema(
    "loops",
    "Iterations of loops, phases of waves, and what costs cycles in and around them.",
    forms=tuple(
        form(Message("{0}: --by {1}.", spec.row.removesuffix("."), name), FACTS, "show", name, spec)
        for name, (spec, _) in TABLES.items()
    ),
)


def facts(inputs: Inputs) -> dict[str, Any]:
    """Return the facts about all loops: waves, the dominant loop, phases, outliers and barriers."""
    loops, found = inputs.loops, inputs.answers.of(BARRIER_SKEW, inputs.rows)
    phases = None
    if len(loops.phases):
        shares = zip(PHASES, loops.phases.shares.tolist(), loops.phases.stall_shares, strict=True)
        phases = {
            name: {"share_of_wave_cycles": round(share, 6), "stall_share_of_phase": stall and round(stall, 6)}
            for name, share, stall in shares
        }
    return {
        "waves": loops.waves,
        "dominant_loop": loops.loops.table.dominant,
        "phases": phases,
        "outliers": len(loops.loops.outliers),
        "barriers": {
            "instances": len(found),
            "median_skew": found.median,
            "max_skew": int(found.skew.max()) if len(found) else None,
            "max_release_spread": int(found.spread.max()) if len(found) else None,
            "dropped": found.dropped,
            "is_group_guessed": found.is_guess,
            "groups_known_by": found.known_by.name.lower() if len(found) else None,
        },
    }
