"""Packed captures and databases in the window: opened by dropping or from the menu, and what is shown."""

import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from rcv_py.base.errors import NotATrace
from rcv_py.cli.main import main
from rcv_py.ui.app import App
from tests.support.rocpd import write
from tests.ui.window import SAMPLE, settle


def drop(app: App, path: Path) -> None:
    """Let go of a file over the window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    app.window.dropEvent(QDropEvent(QPointF(5, 5), *how))
    settle(app)


def test_a_packed_capture_is_opened_with_all_its_waves(blank: App, tmp_path: Path) -> None:
    path = tmp_path / "it.rcvz"
    assert main(["pack", str(SAMPLE), "--out", str(path)]) == 0
    drop(blank, path)
    session = blank.ui.session
    trace = session.trace.value
    assert trace.path == path
    assert all(session.store.wave(row) is not None for row in range(len(trace.waves)))


def test_a_file_is_chosen_from_the_menu(blank: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "out_results.db")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    blank.window.actions_["file.open_file"].trigger()
    settle(blank)
    assert blank.window.pages.currentWidget() is blank.window.pages.profile


def test_a_database_is_shown_as_tables_and_left_again(blank: App, tmp_path: Path) -> None:
    drop(blank, write(tmp_path / "out_results.db"))
    page = blank.window.pages.profile
    assert blank.window.pages.currentWidget() is page
    assert "without a thread trace" in page.title.text()
    assert "4 launches of 2 kernels. Thread trace: None is inside" in page.facts.text()
    tabs = [page.tabs.tabText(at) for at in range(page.tabs.count())]
    # What `rcv info` lists of it, and in that order: single launches and code objects, too.
    assert tabs == ["Kernels (2)", "Agents (1)", "Counters (2)", "Dispatches (4)", "Code objects (1)"]
    model = page.tabs.widget(0).model()
    shown = [[model.data(model.index(at, 0)), model.data(model.index(at, 1))] for at in range(2)]
    assert shown == [["slow", "3"], ["quick", "1"]]
    drop(blank, write(tmp_path / "other_results.db", without=["pmc_event"]))
    assert page.tabs.count() == 4, "no counters"
    page.back_button.click()
    assert blank.window.pages.currentWidget() is blank.window.pages.welcome


def test_a_database_of_another_program_is_a_sentence(blank: App, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE HSA (id)")
    database.close()
    errors = blank.window.shown_errors
    blank.window.opener.failed.disconnect()
    blank.window.opener.failed.connect(errors.append)
    drop(blank, tmp_path / "x.db")
    (error,) = errors
    assert isinstance(error, NotATrace)
    assert "a database of the first rocprof" in str(error)
    errors.clear()
    blank.window.opener.failed.connect(blank.window.errors.show)
