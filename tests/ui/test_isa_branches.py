"""Branch arrows and counts of the instruction table, on a capture that is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from rcv_py.formats.open import open_trace
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Late
from rcv_py.ui.panels.isa.panel import IsaPanel
from rcv_py.work.load import load_all
from tests.support.captures import trace_path

Settled = Callable[[], None]


def show(panel: IsaPanel, mode: str) -> None:
    panel.set_arrows(mode)


@pytest.fixture
def isa(ui: UiContext, qtbot: object, settled: Settled, open_in: Callable) -> Iterator[IsaPanel]:
    ui.settings["look.animate"] = False
    panel = IsaPanel(ui)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.resize(1000, 400)
    panel.show()
    trace = open_trace(trace_path("flash_attn_small_after"))
    open_in(trace, load_all(trace, workers=0))
    qtbot.waitUntil(lambda: panel.ui.results.cell("branches").value is not None)  # type: ignore[attr-defined]
    settled()
    yield panel
    settled()


def test_counts_are_over_all_waves_and_stand_beside_the_rows(isa: IsaPanel, settled: Settled) -> None:
    show(isa, "branches")
    settled()
    pairs = set(zip(isa.view.arrows.source.tolist(), isa.view.arrows.target.tolist(), strict=True))
    assert (1781, 471) in pairs
    assert len(pairs) == 8
    tip = isa.view.arrow_tips[isa.view.arrows.source.tolist().index(1781)]
    assert "jumped 24 times (75.0 %)" in tip
    assert "not taken 8 times" in tip
    assert isa.view.notes(941) == ("→ 1977 taken 8, not 24",)
    assert "from 2 branches ×32" in isa.view.notes(471)[0]


def test_waits_branches_both_and_none(isa: IsaPanel, settled: Settled, ui: UiContext) -> None:
    counts = {}
    for mode in ("waits", "branches", "both", "none"):
        show(isa, mode)
        settled()
        counts[mode] = len(isa.view.arrows)
        assert len(isa.view.arrow_tips) == counts[mode]
    assert counts == {"waits": 129, "branches": 8, "both": 137, "none": 0}
    assert "switched off" in isa.view.tip(0, "gutter")
    assert not isa.view.notes(941)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_branches_have_a_colour_of_their_own_and_lead(
    isa: IsaPanel, ui: UiContext, settled: Settled, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    show(isa, "both")
    settled()
    ui.session.select_line(470)
    settled()
    placed = isa.view.placed_arrows()
    sources = isa.view.arrows.source[placed.number]
    at = int(np.flatnonzero(sources == 470)[0])
    x, y = float(placed.x[at]), float(placed.y_source[at])
    image = isa.view.viewport().grab().toImage()
    ink = ui.theme.role("text")
    # A thin line lies on one pixel or the next, as rows are high.
    found = [image.pixelColor(round(x + 4), round(y) + step) for step in (-1, 0, 1)]

    def apart(color: QColor) -> int:
        return min(
            sum(abs(a - b) for a, b in zip(one.getRgb(), color.getRgb(), strict=True)) for one in found
        )

    assert apart(ink) < 60
    assert min(apart(ui.theme.arrow(number)) for number in range(13)) > apart(ink)
    port = isa.view.viewport()
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPointF(x + 1, y).toPoint())
    assert ui.session.selection.value.line == 942


def test_the_toggle_can_be_walked_through(isa: IsaPanel, settled: Settled) -> None:
    command = next(one for one in isa.commands(isa.ui, Late.of(isa)) if one.id == "isa.next_arrows")
    seen = []
    for _ in range(4):
        command.run()
        settled()
        seen.append(isa.view.arrow_mode)
    assert seen == ["branches", "both", "none", "waits"]


def test_a_sampling_capture_has_branches_by_their_operands(
    ui: UiContext, open_in: Callable, settled: Settled, qtbot: object
) -> None:
    panel = IsaPanel(ui)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.resize(900, 400)
    panel.show()
    open_in(open_trace(trace_path("pcsampling")))
    settled()
    show(panel, "branches")
    settled()
    assert len(panel.view.arrows) > 100
    assert "does not record how often" in panel.view.arrow_tips[0]
    show(panel, "waits")
    settled()
    assert panel.view.gutter_note
