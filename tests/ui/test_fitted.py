"""Instructions too long for their column: the mnemonic is whole, operands are cut at the right."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPixmap

from rcv_py.features.isa import ink
from rcv_py.features.isa.panel import IsaPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.ui.core.panel import UiContext
from tests.support.code_samples import code_table, trace

MFMA = "v_mfma_scale_f32_16x16x128_f8f6f4"
OPERANDS = "v[20:23], v[148:155], v[106:113], v[20:23], v102, v102 op_sel_hi:[0,0,0]"


def drawn(ui: UiContext, text: str, room: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The characters that are drawn, each at its place."""
    cells = [" "] * 200

    def put(painter: QPainter, at: QPointF, part: str) -> None:
        cells[round(at.x()) : round(at.x()) + len(part)] = part

    monkeypatch.setattr(ink, "draw_data", put)
    canvas = QPixmap(10, 10)
    with QPainter(canvas) as painter:
        at, kind = QPointF(0, 0), int(TokenKind.MATRIX)
        ink.draw_instruction(painter, ui.theme, at, text, kind=kind, room=room, char_px=1.0, plain=False)
    return "".join(cells).rstrip()


@pytest.mark.parametrize("room", [200, len(MFMA) + 40, len(MFMA) + 2, len(MFMA), 12, 1])
def test_operands_give_way_at_the_right(ui: UiContext, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{MFMA} {OPERANDS}"
    shown = drawn(ui, text, room, monkeypatch)
    assert shown == (text if room == 200 else text[: room - 1] + "…")


@pytest.mark.parametrize("width", [1400, 900, 700, 560])
def test_no_mnemonic_is_cut_and_equal_ones_are_as_wide(
    new_panel: Callable, open_settled: Callable, width: int
) -> None:
    rows = [("; kernel", TokenKind.NONE, 0, 0, 0, 0, ())]
    rows += [(f"{MFMA} {OPERANDS[at:]}", TokenKind.MATRIX, 8, 400, 100, 50, ()) for at in range(9)]
    panel = new_panel(IsaPanel, width, 400)
    code = code_table(tuple(rows))
    open_settled(trace(replace(code, address=np.arange(len(rows), dtype=np.uint64) * 8)))
    view = panel.view
    at = view.table.column_of("text")
    texts = view.rows.text[1:]
    assert all(view.room(text, view.columnWidth(at)) > len(MFMA) for text in texts)
    long = [text for text in texts if len(text) > view.chars_in(view.columnWidth(at) - 8)]
    assert len({view.spacing(text, view.columnWidth(at)) for text in long}) <= 1
    cut = [text for text in texts if view.room(text, view.columnWidth(at)) < len(text)]
    shown = [name for name in ("stall", "idle") if not view.column_rect(name).isEmpty()]
    assert not cut or not shown, "they give way first"
