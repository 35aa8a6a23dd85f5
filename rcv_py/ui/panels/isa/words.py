"""The instruction table as a command: mode, bars, filter and order."""

from __future__ import annotations

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.model.modes import LatencyMode
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import OF_ALL_WAVES
from rcv_py.ui.panels.isa.columns import IsaRows
from rcv_py.ui.panels.isa.view import IsaView
from rcv_py.ui.table import command_text
from rcv_py.ui.table.command_text import Words

MODES = {
    LatencyMode.SUM_ALL: "sum",
    LatencyMode.MEAN_ALL: "mean",
    LatencyMode.ITERATION: "hit",
    LatencyMode.SUM_WAVE: "wave-sum",
    LatencyMode.MEAN_WAVE: "wave-mean",
    LatencyMode.MAX_WAVE: "wave-max",
}
_COLUMNS = command_text.same(
    "row", "instruction", "hits", "latency", "stall", "idle", "share", samples="latency", stalled="stall"
)


def isa_words(ui: UiContext, view: IsaView, rows: IsaRows | None, is_filtered: bool) -> Words | None:
    """Return the words of what the table shows, None if there is nothing."""
    session = ui.session
    if rows is None:
        return None
    bars = rows.bars.mode
    keys = _COLUMNS | {"cost": "share" if bars is Annotation.TOTAL else "bar"}
    return command_text.rcv(
        session,
        "isa",
        *_mode(ui),
        *(() if bars is Annotation.TOTAL else (f"--bars={bars.name.lower()}",)),
        *command_text.idle(ui),
        *(command_text.matching(session.query.value) if is_filtered else ()),
        *command_text.sorting(view.table, keys),
    )


def _mode(ui: UiContext) -> Words:
    session, mode = ui.session, ui.session.latency_mode.value
    if mode in OF_ALL_WAVES:
        return (f"--mode={MODES[mode]}", *command_text.clock(session))
    selected = command_text.wave(session, "wave")
    if not selected:
        return ()
    hit = (f"--hit={session.selection.value.hit or 0}",) if mode is LatencyMode.ITERATION else ()
    return (f"--mode={MODES[mode]}", *selected, *hit)
