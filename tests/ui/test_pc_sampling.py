"""Captures without waves: every panel shows something or says in a sentence why not."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import ELSEWHERE, Panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.panels.isa.arrows import BARE_PX, MIN_PX
from rcv_py.ui.panels.overview import OverviewPanel
from rcv_py.ui.widgets.empty_state import with_whole_options
from tests.support import captures
from tests.ui.conftest import Reused
from tests.ui.window import SAMPLES, open_sample, settle

IS_PAINTED = True

TIMES = (
    "overview",
    "global_timeline",
    "compute_unit",
    "utilization",
    "occupancy",
    "dispatches",
    "wave_states",
    "wave_picker",
    "distribution",
)
CODE = ("isa", "source", "explorer", "top_lines", "hotspot", "labels", "summary")


def shown(app: App, qtbot: QtBot, name: str) -> Panel:
    app.window.workspace.show_panel(name)
    settle(app, qtbot)
    return app.window.workspace.panel(name)


def sentence(panel: Panel) -> str:
    """What an empty panel says, "" if it shows something."""
    said = [label.text() for label in panel.findChildren(QLabel, "empty_state") if label.isVisible()]
    strip = panel.strip if isinstance(panel, OverviewPanel) else None
    return " ".join([*said, "" if strip is None else strip.sentence]).strip()


def content(panel: Panel) -> bool:
    """Whether the panel has rows, or is not of one colour."""
    sheet = panel.sheet()
    if sheet is not None and next(iter(sheet.rows), None) is not None:
        return True
    image = panel.grab().toImage()
    step = max(1, image.width() // 97)
    return len({image.pixel(x, y) for x in range(0, image.width(), step) for y in range(image.height())}) > 2


@pytest.mark.parametrize("name", ["pcsampling", "placeholder"])
def test_every_panel_shows_something_or_says_why_not(name: str, qtbot: QtBot, reused: Reused) -> None:
    path = captures.trace_path(name) if name == "pcsampling" else SAMPLES / name
    with reused() as app:
        open_sample(app, qtbot, path)
        for panel_name in app.window.workspace.names():
            panel = shown(app, qtbot, panel_name)
            said = sentence(panel)
            assert said or content(panel), panel_name
            assert not said or said.rstrip().endswith((".", "?")), (panel_name, said)
            if name != "placeholder" and panel_name in TIMES:
                assert "PC samples" in said, panel_name
                assert "time" in said, panel_name
            if name != "placeholder" and panel_name in CODE:
                assert not said, (panel_name, said)


def test_what_nearly_all_panels_lack_is_told_in_full_by_one(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        for path in (SAMPLES / "placeholder", captures.trace_path("pcsampling")):
            open_sample(app, qtbot, path)
            (problem,) = (one for one in app.ui.session.trace.value.problems if one.brief)
            said = {
                name: sentence(shown(app, qtbot, name)) for name in ("compute_unit", "utilization", "loops")
            }
            assert said.pop("compute_unit") == str(problem)
            assert set(said.values()) == {f"{problem.brief} {ELSEWHERE}"}


def test_options_are_not_broken_at_their_hyphens_and_commands_stay_one_line(qtbot: QtBot) -> None:
    label = PlainLabel()
    qtbot.addWidget(label)
    text = "Choose another --att-target-cu, or more engines."
    wide = label.fontMetrics().horizontalAdvance("Choose another --att-target")
    assert with_whole_options(label, text, wide) == text.replace("another ", "another\n")
    assert with_whole_options(label, text, 10 * wide) == text
    command = "rocprofv3 --att --att-perfcounter-ctrl 8"
    assert with_whole_options(label, f"{text}\n{command}", 10) == f"{text}\n{command}", (
        "a line too narrow for any"
    )
    assert with_whole_options(label, command, wide) == command


def test_bars_show_what_the_kind_of_capture_has(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        isa = app.window.workspace.docks["isa"].panel
        open_sample(app, qtbot, captures.trace_path("pcsampling"))
        assert isa.facts.mode is Annotation.REASONS
        open_sample(app, qtbot)
        assert isa.facts.mode is Annotation.TOTAL
        isa.set_annotation(Annotation.KINDS)
        open_sample(app, qtbot, captures.trace_path("pcsampling"))
        assert isa.facts.mode is Annotation.KINDS, "what fits both is kept"


def test_samples_reach_every_view_of_code(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        open_sample(app, qtbot, captures.trace_path("pcsampling"))
        code = app.ui.session.trace.value.code
        samples = code.samples_issued + code.samples_stalled
        app.ui.session.select_line(102)
        settle(app, qtbot)
        isa = shown(app, qtbot, "isa")
        headers = list(isa.sheet().headers)
        assert {"samples", "issued", "stalled", "main stall reason"} <= set(headers)
        row = list(isa.sheet().rows)[102]
        assert row[headers.index("samples")] == int(samples[102])
        assert "barrier" in row[headers.index("main stall reason")]
        hotspot = shown(app, qtbot, "hotspot")
        assert sum(row[2] for row in hotspot.sheet().rows) == int(samples.sum())
        top = shown(app, qtbot, "top_lines")
        assert "samples" in top.sheet().headers
        details = shown(app, qtbot, "token_details")
        facts = dict(list(details.sheet().rows))
        assert facts["samples stalled"] == int(code.samples_stalled[102])
        assert "PC samples of this instruction" in details.all.toPlainText()
        assert "latency" not in details.all.toPlainText() + details.text.toPlainText()
        assert app.window.status.facts.text() == f"gfx942 · {samples.sum():,} PC samples"
        assert isa.view.column_rect("gutter").width() == BARE_PX, "no waits are known that could be drawn"
        isa.set_arrows("branches")
        settle(app, qtbot)
        assert isa.view.column_rect("gutter").width() >= MIN_PX
        isa.set_arrows("waits")


def test_reasons_of_the_kernel_and_of_the_selected_line(qtbot: QtBot, reused: Reused) -> None:
    with reused() as app:
        open_sample(app, qtbot, captures.trace_path("pcsampling"))
        summary = shown(app, qtbot, "summary")
        assert "no times" in summary.note.text()
        assert "pipe stalled\t777" in summary.reasons.text()
        assert summary.reasons.total == 4690
        assert "Select an instruction" in summary.line_title.text()
        app.ui.session.select_line(102)
        settle(app, qtbot)
        assert "s_barrier" in summary.line_title.text()
        assert [share.name for share in summary.line_reasons.shares][1] == "barrier"
        app.ui.session.select_line(0)
        settle(app, qtbot)
        assert summary.line_reasons.shares == ()
        assert not summary.pipe_card.isVisible()
        assert not summary.unit_card.isVisible()
