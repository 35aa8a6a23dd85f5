"""The tables that `rcv loops` shows: rows as JSON values, and how they are printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcv_py.analysis.barrier_skew import barrier_skew
from rcv_py.analysis.cross_lane import cross_lane
from rcv_py.analysis.load_to_use import load_to_use
from rcv_py.analysis.loop_summary import LoopSummary
from rcv_py.analysis.phases import PHASES
from rcv_py.cli.places import source_of
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


@dataclass(frozen=True, slots=True)
class Shown:
    """One table: its columns, the rows, what to say if there are none, and a sentence below it."""

    columns: tuple[str, ...]
    rows: Callable[[Asked], Rows]
    nothing: str
    note: str


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
    """One iteration as JSON values."""
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


SHOWN = {
    "loops": Shown(
        ("branch", "head", "taken", "waves", "per_wave", "min", "median", "p90", "max", "split", "source"),
        loops,
        "No wave jumped back: there are no loops.",
        "Cycles of iterations between two jumps back; split: what their cycles were spent on.",
    ),
    "iterations": Shown(
        ("branch", "wave", "iteration", "begin", "cycles", "median", "stall", "idle", "outlier", "split"),
        iterations,
        "No loop was continued twice, so no iteration lies between two jumps back.",
        "An outlier took much longer than others: beyond the third quartile by 1.5 times their distance.",
    ),
    "phases": Shown(
        ("wave", *PHASES, *(f"{name}_stall" for name in PHASES)),
        phases,
        "No wave ran a loop twice, so there is no steady state.",
        "Cycles before, in and behind the loop that the kernel is about.",
    ),
    "first": Shown(
        ("line", "waves", "hits", "first_stall", "later_stall", "first_share", "text", "source"),
        first,
        "No instruction stalled.",
        "Stall of the first execution in each wave, which no better loop removes, and of all later ones.",
    ),
    "distance": Shown(
        ("line", "n", "median", "p90", "latency", "short", "matrix", "vector", "stall", "text", "source"),
        distance,
        "No wait required an operation.",
        "Cycles from issue to the first wait that required it, and instructions in between (medians); short: "
        "sooner than the measured latency.",
    ),
    "chains": Shown(
        ("first", "last", "links", "times", "cycles", "cycles_per_link", "stall", "text", "source"),
        chains,
        "No chain of cross-lane operations was found.",
        "Each link waits for the one before. Whether it must, or DPP could do it, is not looked at.",
    ),
    "barriers": Shown(
        ("line", "arrived", "waves", "skew", "release_spread", "stall", "last", "source"),
        barriers,
        "No barrier was run by two traced waves of a workgroup.",
        "Skew: cycles from the first to the last arrival of a workgroup's traced waves.",
    ),
}
