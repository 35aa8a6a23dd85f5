"""The code views on captures of all kinds: sums agree, clicks arrive, nothing raises in any theme or size."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rcv_py.features.hotspot.files_panel import FilesPanel
from rcv_py.features.hotspot.panel import HotspotPanel
from rcv_py.features.isa.panel import IsaPanel
from rcv_py.features.source.panel import SourcePanel
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import UiContext
from tests.support.fixtures import fixture_of
from tests.support.opened import load_all, sample_trace
from tests.support.plain_capture import plain
from tests.support.source_places import without_sources

KINDS = (IsaPanel, SourcePanel, FilesPanel, HotspotPanel)


NO_SOURCES = "no sources"


@pytest.fixture(params=["matmul_small", "gfx12", "pc_sampling", NO_SOURCES])
def trace(request: pytest.FixtureRequest, tmp_path: Path) -> Trace:
    if request.param == NO_SOURCES:
        return open_trace(without_sources("reduction", tmp_path / "ui_output_agent_1_dispatch_1"))
    return sample_trace(request.param)


waiting = fixture_of(sample_trace, "matmul_small")  # A capture with waits in its first wave


def test_the_views_agree_about_a_capture(
    ui: UiContext, open_settled: Callable, settled: Callable, qtbot: object, trace: Trace
) -> None:
    panels = {kind: kind(ui) for kind in KINDS}
    for panel in panels.values():
        qtbot.addWidget(panel)
        panel.resize(600, 300)
        panel.show()
    open_settled(trace, load_all(trace, workers=0))
    isa, explorer, hotspot = panels[IsaPanel], panels[FilesPanel], panels[HotspotPanel]
    cost = np.where(trace.code.is_label, 0, isa._rows.cost)
    assert explorer.tree.rows.tree.root.cost == cost.sum() > 0
    assert sum(child.cost for child in explorer.tree.rows.tree.root.children) == cost.sum()
    if trace.has_thread_trace:
        qtbot.waitUntil(lambda: hotspot.plot.bins.totals.sum() == trace.code.latency.sum())
    places = [place for place in explorer.tree.rows.tree.root.walk() if not place.children and place.cost]
    explorer.tree.chosen.emit(max(places, key=lambda place: place.cost))
    settled()
    line = ui.session.selection.value.line
    assert isa.view.current == line
    assert cost[line] > 0
    if trace.code.mapped_rows:
        source = panels[SourcePanel]
        assert source.view.lines.number[source.view.current] == ui.session.selection.value.source[1]
    else:
        assert panels[SourcePanel].empty.is_empty
    for theme in ("dark", "light"):
        ui.settings["look.theme"] = theme
        for panel in panels.values():
            panel.resize(1200, 500)
            assert not panel.grab().isNull()


def test_the_arrows_of_a_wave_are_those_of_its_waits(
    ui: UiContext, open_settled: Callable, qtbot: object, waiting: Trace
) -> None:
    panel = IsaPanel(ui)
    qtbot.addWidget(panel)
    open_settled(waiting, load_all(waiting, workers=0))
    name = str(ui.session.selection.value.wave)
    (wave,) = (one for one in plain(waiting.path).waves if one.name == name)
    expected = {(producer, wait) for wait, producers in wave.waits for producer in producers}
    arrows = panel.view.arrows
    assert set(zip(arrows.source.tolist(), arrows.target.tolist(), strict=True)) == expected
    assert len(arrows) == len(expected) > 0
    texts = np.array(waiting.code.text)
    assert all("waitcnt" in text for text in texts[arrows.target])
