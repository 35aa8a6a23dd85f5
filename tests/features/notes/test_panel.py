"""Notes in a window: written, listed, marked, kept in files that others write too; and sessions as files."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from rcv_py.analysis.whatif.asked import ChangeRequest
from rcv_py.base.problems import Severity
from rcv_py.formats.notes.store import PLACE, NotePlaces, new_note
from rcv_py.formats.session_file import read_session
from rcv_py.model.notes import Anchor, NoteChanges
from rcv_py.model.window import TimeWindow
from rcv_py.state.note_places import go_to_note, place_of_selection
from rcv_py.state.session import Session
from rcv_py.ui.app import App
from tests.support.samples import write_sample
from tests.ui.window import open_sample, run_command, settings_in, settle, window

HOSTILE = "<img src='http://x'> & \x1b[31m"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PLACE, str(tmp_path / "own"))
    write_sample("matmul_small", tmp_path / "capture")
    return tmp_path / "capture"


@pytest.fixture(scope="module")
def _keeping(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A window with settings in a file, so that notes are kept."""
    with window(settings_in(tmp_path_factory.mktemp("keeping"))) as app:
        yield app


@pytest.fixture
def app(_keeping: App, folder: Path) -> Iterator[App]:
    """The window of these tests, each time with a capture of its own, and notes of nobody else."""
    app, session = _keeping, _keeping.ui.session
    assert not session.experiments.value
    assert not session.bookmarks.value
    open_sample(app, folder)
    keep(app)
    assert not session.notes.shown.value
    yield app
    assert not app.window.shown_errors, app.window.shown_errors
    app.window.close_capture()
    settle(app)
    session.experiments.set(())
    session.bookmarks.set(())
    app.ui.settings["notes.beside"] = False


def keep(app: App) -> None:
    """Do now what the window would do a moment after the capture was shown."""
    app.window._keep_notes()
    if app.window.notes._first.isActive():
        app.window.notes._first.stop()
        app.window.notes._begin()
    settle(app)


def places_of(app: App) -> NotePlaces:
    trace = app.ui.session.trace.value
    assert trace is not None
    return NotePlaces.of(trace)


def titles(session: Session) -> list[str]:
    return [note.title for note in session.notes.shown.value]


def write(app: App, qtbot: QtBot, title: str, text: str = "") -> None:
    """Fill the dialog that a command opened."""
    qtbot.waitUntil(lambda: app.window._note is not None)
    dialog = app.window._note
    dialog.title.setText(title)
    dialog.text.setPlainText(text)
    dialog.severity.setCurrentIndex(2)
    dialog.accept()
    settle(app)


def test_a_note_is_written_listed_found_and_kept(app: App, qtbot: QtBot) -> None:
    session, commands = app.ui.session, app.ui.commands
    session.select_line(5)
    commands.run("go.note")
    write(app, qtbot, "waits for all", HOSTILE)
    (note,) = session.notes.shown.value
    assert note.anchor.instructions == (5,)
    assert note.severity is Severity.ERROR
    assert session.notes.changes.value is None, "it is in a file"
    assert [one.title for one in places_of(app).read().notes] == ["waits for all"]
    run_command(app, "go.notes")
    panel = app.window.workspace.panel("notes")
    assert [one.title for one in panel.notes] == ["waits for all"]
    session.select_line(9)
    panel._go(0)
    assert session.selection.value.line == 5
    assert panel.command_line()[:2] == ("rcv", "notes")
    assert panel.sheet().rows
    tip = panel.view.with_notes(0, "")
    assert "<img" not in tip
    assert "&lt;img" in tip
    session.notes.draft.set(note)
    write(app, qtbot, "waits for most")
    assert titles(session) == ["waits for most"]
    session.notes.remove(note.id)
    settle(app)
    assert places_of(app).read().notes == ()


def test_rows_and_times_are_marked(app: App) -> None:
    session, trace = app.ui.session, app.ui.session.trace.value
    wave = trace.waves.id(0)
    middle = trace.span.middle
    row = new_note(trace, Anchor(instructions=(3, 5)), HOSTILE)
    range_ = new_note(trace, Anchor(span=TimeWindow(middle, middle + 500)), "range")
    of_wave = new_note(trace, Anchor(wave=wave), "wave")
    for note in (row, range_, of_wave):
        session.notes.put(note)
    settle(app)
    view = app.window.workspace.panel("isa").view
    assert set(view.noted) == {3, 5}
    assert "&lt;img" in view.with_notes(3, "<b>other</b>")
    assert view.with_notes(4, "other") == "other"
    view.fold_all()
    folded = [at for at in range(6) if view.is_fold(at)]
    assert any(view.notes_of(at) for at in folded)
    plot = app.window.workspace.panel("compute_unit").timeline.plot
    flags = {note.title: span for span, note in plot.overlay.note_flags.all()}
    assert flags == {
        "range": TimeWindow(middle, middle + 500),
        "wave": TimeWindow(trace.waves.span(0).begin, trace.waves.span(0).begin + 1),
    }
    assert [note.title for note in plot.overlay.notes_near(middle + 1, TimeWindow(middle, middle + 1))] == [
        "range"
    ]
    app.window.grab()
    session.measure.set(TimeWindow(middle, middle + 9))
    assert place_of_selection(session) == Anchor(span=TimeWindow(middle, middle + 9))
    go_to_note(session, range_)
    assert session.view.value.contains(middle)
    go_to_note(session, of_wave)
    assert session.selection.value.wave == wave
    go_to_note(session, replace(row, anchor=Anchor(instructions=(10**6,), source=("gone.py", 3))))


def test_what_an_agent_writes_appears_and_own_changes_stay(app: App, folder: Path, qtbot: QtBot) -> None:
    session = app.ui.session
    own = places_of(app).own
    own.parent.mkdir(parents=True, exist_ok=True)
    own.mkdir()  # nothing can be written there now
    trace = session.trace.value
    session.notes.put(new_note(trace, Anchor(), "not saved yet"))
    settle(app)
    assert any("not kept yet" in str(problem) for problem in session.problems.value)
    (folder / "annotations.json").write_text('[{"title": "an agent was here", "id": "a"}]')
    qtbot.waitUntil(lambda: len(session.notes.shown.value) == 2)
    assert titles(session) == ["an agent was here", "not saved yet"]
    assert session.notes.changes.value is not None
    own.rmdir()
    app.window.notes._save()
    settle(app)
    assert session.notes.changes.value is None
    assert not any("not kept yet" in str(problem) for problem in session.problems.value)
    places_of(app).save(NoteChanges(put=(new_note(trace, Anchor(), "by a command"),)))
    qtbot.waitUntil(lambda: len(session.notes.shown.value) == 3)
    assert json.loads((folder / "annotations.json").read_text()) == [
        {"title": "an agent was here", "id": "a"}
    ]
    app.ui.settings["notes.beside"] = True
    session.notes.put(new_note(trace, Anchor(), "beside"))
    settle(app)
    assert "beside" in (folder / "annotations.json").read_text()


def test_a_session_file_brings_everything_back(
    app: App, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, path = app.ui.session, tmp_path / "mine.rcvsession"
    session.select_line(7)
    session.toggle_bookmark()
    session.set_view(TimeWindow(80_000, 82_000))
    session.add_experiment(ChangeRequest(latency=(("memory", 0.5),)))
    session.notes.put(new_note(session.trace.value, Anchor(instructions=(7,)), "look"))
    settle(app)
    before = session.selection.value, session.bookmarks.value, session.view.value, session.experiments.value
    app.window.write_session(path)
    settle(app)
    assert read_session(path).capture == folder
    app.window.close_capture()
    settle(app)
    monkeypatch.setenv(PLACE, str(tmp_path / "somebody"))
    with window(settings_in(tmp_path / "other")) as another:
        another.window.opener.open(path)
        settle(another)
        keep(another)
        restored = another.ui.session
        assert titles(restored) == ["look"]
        assert before == (
            restored.selection.value, restored.bookmarks.value, restored.view.value,
            restored.experiments.value,
        )  # fmt: skip
        assert [one.title for one in places_of(another).read().notes] == ["look"]


def test_where_one_was_is_kept_for_each_capture(app: App, folder: Path) -> None:
    session = app.ui.session
    session.add_experiment(ChangeRequest(free=(3,)))
    app.window.close_capture()
    settle(app)
    session.experiments.set(())
    open_sample(app, folder)
    assert session.experiments.value == (ChangeRequest(free=(3,)),)
