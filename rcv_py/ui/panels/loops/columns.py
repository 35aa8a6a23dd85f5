"""Loops, and iterations of one of them, as columns."""

from __future__ import annotations

import math

import numpy as np

from rcv_py.analysis.cost.place_text import instruction_place
from rcv_py.analysis.iterations.loop_iterations import Iterations, LoopIterations, LoopTable
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.table.table_model import Column, grouped

_BETWEEN = "of iterations between two jumps back"


def loop_columns(trace: Trace, table: LoopTable) -> tuple[Column, ...]:
    """Return one row a loop."""
    names = tuple(f"{head} – {branch}" for head, branch in zip(table.head, table.branch, strict=True))

    def number(name: str, title: str, values: np.ndarray, tip: str, width: int = 60) -> Column:
        return Column(name, title, values, _cycles, True, width=width, tip=tip)

    return (
        Column(
            "loop", "loop", names, width=104, tip="Code rows of its head and of the branch that jumps back."
        ),
        number("taken", "taken", table.taken, "Times it jumped back, in all waves."),
        number("waves", "waves", table.waves, "Waves that jumped back.", 48),
        number("median", "median", table.median, f"Median cycles {_BETWEEN}."),
        number("least", "min", table.least, f"Fewest cycles {_BETWEEN}."),
        number("p90", "p90", table.p90, f"Nine tenths take fewer cycles, {_BETWEEN}."),
        number("most", "max", table.most, f"Most cycles {_BETWEEN}."),
        Column("text", "branch", tuple(trace.code.text[row] for row in table.branch.tolist()), width=150),
        Column(
            "source",
            "source",
            tuple(instruction_place(trace, row) for row in table.branch.tolist()),
            width=140,
            tip="Source line of the branch.",
        ),
    )


def chosen_rows(found: LoopIterations, loop: int, wave: int | None) -> np.ndarray:
    """Return the rows of all iterations of a loop, of one wave (its index row) or of all of them, by time."""
    one = found.iterations
    keep = one.loop == loop
    if wave is not None:
        keep &= one.wave == wave
    rows = np.flatnonzero(keep)
    return rows if wave is not None else rows[np.argsort(one.begin[rows], kind="stable")]


def iteration_columns(trace: Trace, found: LoopIterations, rows: np.ndarray) -> tuple[Column, ...]:
    """Return one row an iteration."""
    one = found.iterations.at(rows)
    outliers = np.isin(rows, found.outliers)
    numbers = (
        ("cycles", "cycles", one.cycles, "From its head to the next one, in cycles.", 68),
        ("stall", "stall", one.stall, "Cycles of stall.", 64),
        ("idle", "idle", one.idle, "Cycles between its instructions.", 56),
        ("begin", "begin", one.begin, "Cycle at which it begins.", 82),
    )
    return (
        Column(
            "wave",
            "wave",
            tuple(str(trace.waves.id(int(row))) for row in one.wave),
            width=172,
            tip="Shader engine, SIMD, slot and which wave of the slot.",
        ),
        Column(
            "number", "round", one.number, grouped, True, width=52, tip="Which round of its wave, from 0."
        ),
        *(
            Column(name, title, values, grouped, True, width=width, tip=tip)
            for name, title, values, tip, width in numbers
        ),
        Column(
            "note",
            "note",
            tuple(_note(one, i, bool(outliers[i])) for i in range(len(one))),
            width=110,
            tip="Entry and last round are not in the statistics.",
        ),
    )


def stack_of(found: LoopIterations, rows: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return cycles by kind of iterations, idle as NONE, int64 [n, kinds], and kinds, the largest first."""
    one = found.iterations.at(rows)
    cycles = one.kinds.copy().reshape(-1, KIND_COUNT)
    cycles[:, TokenKind.NONE] += one.idle
    whole = cycles.sum(axis=0)
    order = [int(kind) for kind in np.argsort(-whole, kind="stable") if whole[kind]]
    return cycles, tuple(order)


def _note(one: Iterations, row: int, is_outlier: bool) -> str:
    if one.is_first[row]:
        return "entry"
    if one.is_last[row]:
        return "last"
    return "outlier" if is_outlier else ""


def _cycles(value: float) -> str:
    return "–" if math.isnan(value) else grouped(value)
