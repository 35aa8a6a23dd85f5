"""Arrows from branches to where they jump, for the gutter of the instruction table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.program.branches import branches
from rcv_py.analysis.waits.waits import ARROW_COLORS, Arrows, arrows
from rcv_py.base.text import percent, plural
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import joined
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.ui.panels.isa.arrow_gutter import ArrowRows
from rcv_py.ui.panels.isa.arrows import GutterArrows, wait_arrows
from rcv_py.ui.panels.isa.program import Program

BRANCH_COLOR = ARROW_COLORS  # the number behind those of waits
MODES = {"waits": "Waits", "branches": "Branches", "both": "Both", "none": "No arrows"}


def gutter_arrows(mode: str, wave: Wave | None, program: Program, gfxip: int) -> GutterArrows:
    """Return the arrows of a mode: waits of the wave, branches of all waves, both, or none."""
    trace = program.trace

    def waits() -> GutterArrows:
        return wait_arrows(wave, trace.code, gfxip, partial(beside, trace))

    makers: dict[str, tuple[Callable[[], GutterArrows], ...]] = {
        "waits": (waits,),
        "branches": (lambda: branch_arrows(program, wave),),
        "both": (waits, lambda: branch_arrows(program, wave)),
        "none": (),
    }
    return _joined([make() for make in makers[mode]])


def branch_arrows(program: Program, wave: Wave | None) -> GutterArrows:
    """Return arrows from the branches that jumped, in any loaded wave; without waves, by their texts."""
    code, found = program.trace.code, program.found
    if found is not None and len(found.ran):
        source, target, taken = found.source, found.target, found.taken
        note = "No loaded wave took a branch."
    elif program.trace.has_thread_trace:
        return GutterArrows(
            ArrowRows.none(), note="The waves are not read yet, so their branches are not known."
        )
    else:
        known = program.table.target >= 0
        source, target = program.table.row[known], program.table.target[known]
        taken = np.zeros(len(source), dtype=np.int64)
        note = "No branch says where it goes."
    if not len(source):
        return GutterArrows(ArrowRows.none(), note=note)
    placed = arrows(source, target)
    here = _taken_in(wave, code)
    times = dict(zip(zip(source.tolist(), target.tolist(), strict=True), taken.tolist(), strict=True))
    passed = dict(zip(program.table.row.tolist(), program.table.not_taken.tolist(), strict=True))
    tips = tuple(
        _tip(
            program.trace,
            (start, goal),
            (times[start, goal], passed.get(start, 0)),
            f"of these {here.get((start, goal), 0):,} in {wave.id}" if wave is not None else "",
        )
        for start, goal in zip(placed.wait.tolist(), placed.producer.tolist(), strict=True)
    )
    return GutterArrows(_rows(placed), tips)


def _taken_in(wave: Wave | None, code: CodeTable) -> dict[tuple[int, int], int]:
    if wave is None:
        return {}
    one = branches(wave, code)
    pairs = zip(one.source.tolist(), one.target.tolist(), strict=True)
    return dict(zip(pairs, one.taken.tolist(), strict=True))


def _rows(found: Arrows) -> ArrowRows:
    """Place branches from the left edge of the gutter, where they seldom meet the arrows of waits."""
    count = len(found)
    columns = (found.wait, found.producer, -1 - found.slot, np.full(count, BRANCH_COLOR), found.wait)
    return ArrowRows(*(column.astype(np.int64) for column in columns))


def _tip(trace: Trace, pair: tuple[int, int], counts: tuple[int, int], here: str) -> str:
    source, target = pair
    taken, passed = counts
    ends, goal = (f"{row}  {trace.code.text[row]}{beside(trace, row)}" for row in (source, target))
    if not taken and not passed:
        return f"{ends}\njumps to\n{goal}\nThe capture does not tell how often."
    share = percent(taken, taken + passed)
    lines = [
        ends,
        f"jumped {plural(taken, 'time')} ({share}) to",
        goal,
        f"not taken {plural(passed, 'time')}",
    ]
    click = "Click an end to go to the other, the middle to show this branch alone (Esc: all)."
    return "\n".join([*lines, *([here] if here else []), click])


def _joined(several: list[GutterArrows]) -> GutterArrows:
    if not several:
        return GutterArrows(ArrowRows.none(), note="Arrows are switched off; choose them above the listing.")
    rows = joined([one.rows for one in several])
    notes = dict.fromkeys(one.note for one in several if one.note)
    return GutterArrows(rows, tuple(tip for one in several for tip in one.tips), "\n".join(notes))
