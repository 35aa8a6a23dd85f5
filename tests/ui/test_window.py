"""The window around the panels: opening, layout, keeping, failing."""

import os
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import NotATrace
from rcv_py.base.manifest import panel_entries
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.progress import Stage
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import UiContext, discover
from rcv_py.ui.shell.dialogs.error_box import ErrorBox, report
from rcv_py.ui.shell.docks import BrokenPanel, make_panel
from rcv_py.ui.shell.errors import ErrorReporter
from rcv_py.ui.shell.opener import LOOKING
from rcv_py.ui.widgets.empty_state import WithEmptyState
from tests.support.programs import finished
from tests.support.samples import sample_path
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLE, box, open_sample, run_command, settings_in, settle, window

EXPECTED = {
    "overview", "global_timeline", "compute_unit", "utilization", "explorer", "isa", "source",
    "hotspot", "trust", "wave_picker", "token_details", "search", "history",
    "matches",
}  # fmt: skip


def test_every_panel_of_the_layout_is_there() -> None:
    assert set(discover()) >= EXPECTED
    assert len(discover()) == len(list(panel_entries())), "each has an id of its own"


@pytest.mark.parametrize("name", discover())
def test_a_panel_without_a_capture_says_what_to_do(name: str, ui: UiContext, qtbot: QtBot) -> None:
    panel = make_panel(ui, discover()[name])
    qtbot.addWidget(panel)
    panel.resize(240, 200)
    panel.show()
    qtbot.waitUntil(lambda: not ui.tasks.running)
    assert not isinstance(panel, BrokenPanel), panel.report
    assert panel.accessibleName()
    assert panel.sheet() is None or not list(panel.sheet().rows)
    empty = panel.findChild(WithEmptyState)
    if empty is not None and name != "overview":
        assert empty.is_empty
        assert "Ctrl+O" in empty.sentence.text()
        assert empty.sentence.text().endswith(".")
    panel.hide()


@pytest.mark.parametrize(("size", "rows"), [((1280, 800), 18), ((1920, 1080), 27)])
def test_the_first_layout_shows_time_code_and_findings_and_clips_nothing(
    app: App, size: tuple[int, int], rows: int
) -> None:
    workspace = app.window.workspace
    workspace.reset_layout()
    settle(app)
    inside = workspace.rect().adjusted(0, 0, 1, 1)
    docks, is_wide = workspace.docks, size[0] >= 1500
    sides = ("triage", "wave_picker", "token_details")
    for name in ("compute_unit", "isa", "source", "overview", *(sides if is_wide else ())):
        assert inside.contains(box(app, name)), name
    for name in ("isa", "source"):
        view = docks[name].panel.view
        assert view.viewport().height() // view.row_height >= rows, name
    assert workspace.folded == ({"bottom"} if is_wide else {"bottom", "left", "right"})
    if is_wide:
        assert 300 <= docks["triage"].width() <= 340
        assert 280 <= docks["wave_picker"].width() <= 310
    else:
        assert next(iter(workspace.bars["left"].buttons)) == "triage"
        workspace.bars["left"].buttons["search"].click()
        settle(app)
        assert docks["search"].is_seen
        assert workspace.is_shown("triage")
        assert not workspace.bars["left"].isVisible()


def test_columns_keep_their_widths_whatever_is_shown(reused: Reused) -> None:
    with reused(size=(1572, 900), sample=True) as app:
        docks = app.window.workspace.docks
        before = [docks[name].width() for name in ("triage", "isa", "wave_picker")]
        app.ui.session.select_line(4)
        settle(app)
        app.ui.theme.toggle()
        settle(app)
        assert [docks[name].width() for name in ("triage", "isa", "wave_picker")] == before


def test_the_overview_cannot_be_closed(blank: App) -> None:
    dock = blank.window.workspace.docks["overview"]
    assert discover()["overview"].is_strip
    assert dock not in blank.window.workspace.group("time")
    assert "view.panel_overview" not in {one.id for one in blank.ui.commands}


def test_a_ruined_settings_file_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "rcv.ini").write_text(
        "[memory]\ngeometry=1\nlayout=@Invalid()\npanels={oops\n[look]\ntheme=plaid\nfont_size=900\n"
    )
    with window(settings_in(tmp_path)) as app:
        texts = [problem.text for problem in app.ui.session.problems.value]
        assert len(texts) == 2
        assert all("default" in text for text in texts)


def test_switching_the_theme_keeps_everything(app: App) -> None:
    session = app.ui.session
    session.select_line(3)
    session.zoom(0.3)
    before = (session.selection.value, session.view.value, session.clock_range.value)
    dark = app.ui.theme.is_dark
    run_command(app, "view.theme")
    assert app.ui.theme.is_dark is not dark
    assert (session.selection.value, session.view.value, session.clock_range.value) == before


def test_a_parent_folder_shows_its_captures(blank: App) -> None:
    blank.window.opener.open(SAMPLE.parent)
    assert [stage.name for stage in blank.ui.session.busy.value] == [LOOKING]
    settle(blank)
    assert blank.ui.session.busy.value == ()
    chooser = blank.window.pages.chooser
    assert blank.window.pages.currentWidget() is chooser
    assert len(chooser.entries) >= 2
    row = next(at for at, entry in enumerate(chooser.entries) if entry.path.name == SAMPLE.name)
    chooser.table.doubleClicked.emit(chooser.model.index(chooser.model.view_row(row), 0))
    settle(blank)
    assert blank.ui.session.trace.value.path.name == SAMPLE.name


def test_a_path_that_is_nothing_gets_a_sentence(blank: App, tmp_path: Path) -> None:
    errors = blank.window.shown_errors
    blank.window.opener.failed.disconnect()
    blank.window.opener.failed.connect(errors.append)
    for path in (tmp_path / "missing", tmp_path):
        blank.window.opener.open(path)
        settle(blank)
    assert [type(error) for error in errors] == [NotATrace, NotATrace]
    assert all(str(error).endswith(".") and error.hint for error in errors)
    assert "how to record" in errors[1].hint
    errors.clear()


def test_errors_are_sentences_and_mistakes_reports(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    box = ErrorBox(NotATrace("here"))
    qtbot.addWidget(box)
    assert box.sentence.text() == str(NotATrace("here"))
    with window() as app:
        reporter = ErrorReporter(app.window, lambda: "capture_1")
        for _ in range(3):
            try:
                raise ZeroDivisionError("oops")
            except ZeroDivisionError as error:
                if reporter.last is not None:
                    first = reporter.last
                reporter.excepthook(ZeroDivisionError, error, None)
        assert reporter.last is first, "the same mistake is shown once"
        assert "oops" in first.report
        assert "capture_1" in first.report
        assert "inside rcv" in first.sentence.text()
        first.close()
    assert "oops" in capsys.readouterr().err
    assert "Traceback" not in report(NotATrace("here"))


def test_nothing_of_the_status_bar_is_shown_in_a_temporary_message(app: App) -> None:
    status = app.window.status
    status.showMessage("What a menu entry does.")
    assert not status.waves.isVisible()
    assert not status.facts.isVisible()
    status.clearMessage()
    assert status.facts.isVisible()


def test_the_status_bar_tells_facts_and_work(blank: App, qtbot: QtBot) -> None:
    status, session = blank.window.status, blank.ui.session
    settle(blank)  # the bar is written soon after the capture before was closed
    assert status.facts.text() == "No capture is open."
    open_sample(blank)
    qtbot.waitUntil(lambda: "tokens" in status.facts.text())
    assert "wave" in status.facts.text()
    assert "in memory" in status.facts.toolTip()
    session.busy.set((Stage("Reading waves", 18, 32),))
    assert status.stage.text() == "Reading waves 18 of 32"
    assert status.bar.value() == 18
    assert status.cancel.isVisible()
    session.busy.set(())
    assert not status.cancel.isVisible()


def test_a_button_counts_problems_and_warnings_of_health_and_shows_both(blank: App, qtbot: QtBot) -> None:
    button, session, workspace = blank.window.top_bar.trust, blank.ui.session, blank.window.workspace
    open_sample(blank)
    session.problems.set((Problem(Severity.INFO, "code", "One note."),))
    qtbot.waitUntil(lambda: "1 note" in button.toolTip())
    assert button.text() == ""
    assert "Health was not looked at yet" in button.toolTip()
    session.problems.set((Problem(Severity.WARNING, "a.json", "a.json is odd."),))
    qtbot.waitUntil(lambda: button.text() == " 1")
    assert "a.json is odd." in button.toolTip()
    assert "1 problem" in button.accessibleName()
    button.click()
    settle(blank)
    dock, notes = workspace.docks["trust"], blank.ui.results.cell("health").value
    assert dock.isVisible()
    assert dock.isWindow()
    assert workspace.is_bottom_folded
    assert "a.json is odd." in workspace.panel("trust").text.toPlainText()
    doubts = [note for note in notes if note.severity is not Severity.INFO]
    assert button.text() == f" {1 + len(doubts)}"
    button.click()
    assert not dock.isVisible()


def test_there_are_nine_tabs_at_the_bottom_and_events_if_a_capture_has_any(app: App) -> None:
    nine = ["hotspot", "why", "whatif", "loops", "latency", "summary", "roofline", "flamegraph", "compare"]
    workspace = app.window.workspace

    def tabs() -> list[str]:
        return [dock.info.id for dock in workspace.group("bottom") if dock.is_open]

    assert tabs() == nine
    open_sample(app, sample_path("markers"))
    assert tabs() == [*nine, "events"]
    open_sample(app)
    assert tabs() == nine


def test_the_old_names_of_panels_open_why_in_their_grouping(app: App) -> None:
    workspace = app.window.workspace
    for name in ("causes", "waits", "bubbles"):
        assert workspace.is_bottom_folded
        run_command(app, f"view.panel_{name}")
        assert workspace.docks["why"].is_seen
        assert workspace.panel(name).isVisible()
        assert app.ui.commands[f"view.panel_{name}"].is_checked()
        assert app.window.exporter.sheet(name).title == app.window.exporter.sheet("why").title
        switch = workspace.docks["why"].panel.choice
        assert switch.buttons[name].isChecked()
        assert switch.accessibleName()
        workspace.fold("bottom", True)


def test_the_distribution_is_a_window_of_its_own(app: App) -> None:
    workspace = app.window.workspace
    app.ui.session.select_line(113)
    settle(app)
    workspace.docks["token_details"].panel.larger.click()
    settle(app)
    dock = workspace.docks["distribution"]
    assert dock.isWindow()
    assert dock.panel.view is not None
    app.ui.commands.run("view.panel_distribution")
    app.ui.commands.run("view.panel_distribution")


def test_the_window_fits_a_small_screen() -> None:
    with window() as app:
        assert app.window.minimumSizeHint().width() <= QSize(1280, 800).width()
        assert app.window.minimumSizeHint().height() <= QSize(1280, 800).height()


def test_no_message_makes_the_window_wider(qtbot: QtBot, reused: Reused) -> None:
    with reused(size=(1280, 800), sample=True) as app:
        status, session = app.window.status, app.ui.session
        status.show_saved(Path("/tmp") / f"{'ui_output_agent_58550_dispatch_44_' * 3}.pftrace")
        session.busy.set((Stage("Writing the waves of ui_output_agent_58550_dispatch_44", 18, 32),))
        session.problems.set((Problem(Severity.ERROR, "b.json", "b.json is lost."),))
        qtbot.wait(150)
        assert status.minimumSizeHint().width() < 700
        assert app.window.width() == 1280
        session.busy.set(())


def test_a_start_loads_nothing_that_writes_files() -> None:
    code = (
        "import sys; from rcv_py.ui import app\n"
        "app.start(None)\n"
        "print(*(name for name in sys.modules if name.startswith(('rcv_py.export', 'pygments'))))\n"
    )
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    assert finished([sys.executable, "-c", code], check=True, env=environment).stdout.split() == []
