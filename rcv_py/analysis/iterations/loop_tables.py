"""Loops, iterations, phases, distances, chains and barriers as rows of plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcv_py.analysis.cost.places import source_of
from rcv_py.analysis.iterations.loop_summary import LoopSummary
from rcv_py.analysis.iterations.phases import PHASES
from rcv_py.analysis.latency.barrier_skew import barrier_skew
from rcv_py.analysis.latency.cross_lane import cross_lane
from rcv_py.analysis.waits.load_to_use import load_to_use
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

Rows = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Asked:
    """What the tables are made of."""

    trace: Trace
    batches: list[WaveBatch]
    rows: set[int] | None  # of the wave index, None: all
    loops: LoopSummary


def _text(trace: Trace, line: int) -> str:
    return trace.code.text[line] if 0 <= line < len(trace.code) else ""


def _number(value: float) -> int | float | None:
    if math.isnan(value) or math.isinf(value):
        return None
    return int(value) if float(value).is_integer() else round(float(value), 2)


def _kinds(cycles: np.ndarray) -> dict[str, int]:
    order = np.argsort(-cycles, kind="stable")
    return {TokenKind(kind).name: int(cycles[kind]) for kind in order.tolist() if cycles[kind]}


def loops(asked: Asked) -> Rows:
    """One row a loop; kinds, stall and idle are sums over the iterations between two jumps."""
    table, code = asked.loops.found.table, asked.trace
    return [
        {
            "branch": int(table.branch[i]),
            "head": int(table.head[i]),
            "taken": int(table.taken[i]),
            "waves": int(table.waves[i]),
            "per_wave": round(int(table.taken[i]) / max(1, int(table.waves[i])), 2),
            "iterations": int(table.between[i]),
            "min": _number(table.least[i]),
            "median": _number(table.median[i]),
            "p90": _number(table.p90[i]),
            "max": _number(table.most[i]),
            "stall": int(table.stall[i]),
            "idle": int(table.idle[i]),
            "kinds": _kinds(table.kinds[i]),
            "text": _text(code, int(table.branch[i])),
            "source": source_of(code, int(table.head[i])),
            "branch_source": source_of(code, int(table.branch[i])),
        }
        for i in range(len(table))
    ]


def iterations(asked: Asked) -> Rows:
    """One row an iteration between two jumps, the longest of its loop in proportion first."""
    found = asked.loops.found
    one = found.iterations
    outliers = set(found.outliers.tolist())
    rows = np.flatnonzero(one.is_between)
    rows = rows[np.lexsort((one.begin[rows], -one.cycles[rows], one.loop[rows]))]
    return [iteration(asked, i, i in outliers) for i in rows.tolist()]


def iteration(asked: Asked, i: int, is_outlier: bool) -> dict[str, Any]:
    """One iteration as plain values."""
    one, table = asked.loops.found.iterations, asked.loops.found.table
    return {
        "branch": int(table.branch[one.loop[i]]),
        "wave": str(asked.trace.waves.id(int(one.wave[i]))),
        "iteration": int(one.number[i]),
        "begin": int(one.begin[i]),
        "end": int(one.end[i]),
        "cycles": int(one.end[i] - one.begin[i]),
        "median": _number(table.median[one.loop[i]]),
        "outlier": is_outlier,
        "stall": int(one.stall[i]),
        "idle": int(one.idle[i]),
        "token": int(one.first[i]),
        "kinds": _kinds(one.kinds[i]),
        "branch_source": source_of(asked.trace, int(table.branch[one.loop[i]])),
    }


def phases(asked: Asked) -> Rows:
    """One row a wave that ran the dominant loop."""
    found = asked.loops.phases
    cycles = found.cycles
    order = np.argsort(-cycles.sum(axis=1), kind="stable")
    return [
        {
            "wave": str(asked.trace.waves.id(int(found.wave[i]))),
            **{name: int(cycles[i, k]) for k, name in enumerate(PHASES)},
            **{f"{name}_stall": int(found.stall[i, k]) for k, name in enumerate(PHASES)},
        }
        for i in order.tolist()
    ]


def first(asked: Asked) -> Rows:
    """One row a line that stalled, by the stall of its first execution in each wave."""
    hits = asked.loops.hits
    rows = np.flatnonzero(hits.stall)
    rows = rows[np.lexsort((rows, -hits.first_stall[rows]))]
    return [
        {
            "line": i,
            "waves": int(hits.waves[i]),
            "hits": int(hits.hits[i]),
            "first_stall": int(hits.first_stall[i]),
            "later_stall": int(hits.later_stall[i]),
            "first_share": round(int(hits.first_stall[i]) / int(hits.stall[i]), 4),
            "text": _text(asked.trace, i),
            "source": source_of(asked.trace, i),
        }
        for i in rows.tolist()
    ]


def distance(asked: Asked) -> Rows:
    """One row an operation that a wait required."""
    table = load_to_use(asked.trace, asked.batches, asked.rows)
    names = ("n", "p10", "median", "p90", "matrix", "vector", "short", "stall", "wait")
    return [
        {
            "line": int(table.line[i]),
            **{name: int(getattr(table, name)[i]) for name in names},
            "latency": _number(table.latency[i]),
            "is_short": bool(table.is_short[i]),
            "text": _text(asked.trace, int(table.line[i])),
            "source": source_of(asked.trace, int(table.line[i])),
            "wait_source": source_of(asked.trace, int(table.wait[i])),
        }
        for i in range(len(table))
    ]


def chains(asked: Asked) -> Rows:
    """One row a chain of cross-lane operations."""
    table = cross_lane(asked.trace, asked.batches, asked.rows)
    return [
        {
            **{name: int(getattr(table, name)[i]) for name in ("first", "last", "links", "times", "cycles")},
            "cycles_per_link": round(float(table.cycles_per_link[i]), 1),
            "stall": int(table.stall[i]),
            "text": _text(asked.trace, int(table.first[i])),
            "source": source_of(asked.trace, int(table.first[i])),
            "last_source": source_of(asked.trace, int(table.last[i])),
        }
        for i in range(len(table))
    ]


def barriers(asked: Asked) -> Rows:
    """One row an instance of a barrier, the largest skew first."""
    table = barrier_skew(asked.trace, asked.batches, asked.rows)
    order = np.argsort(-table.skew, kind="stable")
    return [
        {
            "line": int(table.line[i]),
            "arrived": int(table.arrived[i]),
            "workgroup": int(table.group[i]),
            "waves": int(table.waves[i]),
            "skew": int(table.skew[i]),
            "release_spread": int(table.spread[i]),
            "stall": int(table.stall[i]),
            "last": str(asked.trace.waves.id(int(table.last[i]))),
            "source": source_of(asked.trace, int(table.line[i])),
        }
        for i in order.tolist()
    ]


def names(rows: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """The columns for spreadsheets: those of the first row, without tables inside of a row."""
    head = next(iter(rows), {})
    return tuple(name for name, value in head.items() if not isinstance(value, dict))


MAKERS: dict[str, Callable[[Asked], Rows]] = {
    "loops": loops,
    "iterations": iterations,
    "phases": phases,
    "first": first,
    "distance": distance,
    "chains": chains,
    "barriers": barriers,
}

# The columns of each table, which one without rows has too.
_COSTS = ("stall", "idle")
_PLACE = ("text", "source")
COLUMNS: dict[str, tuple[str, ...]] = {
    "loops": (
        *("branch", "head", "taken", "waves", "per_wave", "iterations", "min", "median", "p90", "max"),
        *(*_COSTS, "kinds", *_PLACE, "branch_source"),
    ),
    "iterations": (
        *("branch", "wave", "iteration", "begin", "end", "cycles", "median", "outlier"),
        *(*_COSTS, "token", "kinds", "branch_source"),
    ),
    "phases": ("wave", *PHASES, *(f"{name}_stall" for name in PHASES)),
    "first": ("line", "waves", "hits", "first_stall", "later_stall", "first_share", *_PLACE),
    "distance": (
        *("line", "n", "p10", "median", "p90", "matrix", "vector", "short", "stall", "wait"),
        *("latency", "is_short", *_PLACE, "wait_source"),
    ),
    "chains": (
        "first",
        "last",
        "links",
        "times",
        "cycles",
        "cycles_per_link",
        "stall",
        *_PLACE,
        "last_source",
    ),
    "barriers": (
        "line",
        "arrived",
        "workgroup",
        "waves",
        "skew",
        "release_spread",
        "stall",
        "last",
        "source",
    ),
}


def loop_facts(asked: Asked) -> dict[str, Any]:
    """Return what is said about all loops: waves, the dominant one, phases, outliers and barriers."""
    found = barrier_skew(asked.trace, asked.batches, asked.rows)
    return {
        "waves": asked.loops.waves,
        "dominant": asked.loops.found.table.dominant,
        "phases": _phase_shares(asked.loops),
        "outliers": len(asked.loops.found.outliers),
        "barriers": {
            "instances": len(found),
            "median": found.median,
            "max": int(found.skew.max()) if len(found) else None,
            "release_spread_max": int(found.spread.max()) if len(found) else None,
            "dropped": found.dropped,
            "groups_are_guessed": found.is_guess,
            "groups_told_by": found.told.name.lower() if len(found) else None,
        },
    }


def _phase_shares(loops: LoopSummary) -> dict[str, Any] | None:
    found = loops.phases
    if not len(found):
        return None
    columns = zip(PHASES, found.shares.tolist(), found.stall_shares.tolist(), strict=True)
    return {name: {"share": round(share, 6), "stalled": round(stall, 6)} for name, share, stall in columns}
