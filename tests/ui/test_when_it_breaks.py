"""The log, a fault of the last run, safe mode, and settings as a file: what helps when something is wrong."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import ExportError
from rcv_py.base.log import LOG, Log, without_home
from rcv_py.base.machine.crash import left_faults, noted_faults
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.settings import OPTIONS
from rcv_py.cli.main import main
from rcv_py.ui.app import SAFE, start
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.dialogs.error_box import ErrorBox, LogBox, report
from rcv_py.ui.shell.dialogs.settings_dialog import NO_HIT, SettingsDialog
from rcv_py.ui.shell.errors import fault
from tests.support.limits import HANG_S
from tests.ui.window import ROOT, SAMPLE, open_sample, window

DIES = """
import faulthandler, sys
from pathlib import Path
from rcv_py.base.machine.crash import noted_faults
def deep():
    with noted_faults(Path(sys.argv[1])):
        faulthandler._sigabrt()
deep()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder whose name nobody else should read."""
    folder = tmp_path / "jane.doe"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_the_log_keeps_lines_and_shortens_the_home(home: Path) -> None:
    log = Log()
    log.add("capture", f"opened {home}/a\x1b[2Jb")
    assert [entry.text for entry in log.lines()] == ["opened ~/a\\x1b[2Jb"]
    for number in range(3000):
        log.add("x", str(number))
    assert len(log.lines()) == 2000
    assert log.text(1).endswith("x: 2999")
    assert without_home(f"in {home}") == "in ~"


def test_a_log_file_gets_each_line_at_once(tmp_path: Path) -> None:
    log, file = Log(), tmp_path / "rcv.log"
    with log.written_to(file, lambda: "rcv 1"):
        log.add("one", "first", Severity.WARNING)
        assert file.read_text().splitlines()[0] == "rcv 1"
        assert file.read_text().rstrip().endswith("warning one: first")
    log.add("one", "second")
    assert "second" not in file.read_text()
    with pytest.raises(ExportError, match="cannot be written"), log.written_to(tmp_path, lambda: ""):
        pass


def test_a_log_that_cannot_be_written_is_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([str(SAMPLE), "--log", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_log_window_shows_the_lines(qtbot: QtBot) -> None:
    LOG.add("here", "<b>before</b> it was open")
    box = LogBox()
    qtbot.addWidget(box)
    assert "<b>before</b>" in box.findChild(QPlainTextEdit).toPlainText()
    assert box.report.startswith("rcv ")


def test_a_window_says_what_it_opened_and_what_is_wrong() -> None:
    before = len(LOG.lines())
    with window() as app:
        open_sample(app)
        known = app.ui.session.problems.value
        app.ui.session.problems.set((*known, Problem(Severity.WARNING, "a.json", "a.json is damaged.")))
    new = [f"{entry.where}: {entry.text}" for entry in LOG.lines()[before:]]
    assert any(text.startswith("capture: opened ") and "matmul_tiled" in text for text in new)
    assert new.count("a.json: a.json is damaged.") == 1


def test_a_report_has_the_last_lines_and_no_home(home: Path) -> None:
    LOG.add("capture", f"opened {home}/secret")
    try:
        raise ZeroDivisionError(f"in {home}")
    except ZeroDivisionError as error:
        text = report(error, f"{home}/capture")
    assert "jane.doe" not in text
    assert "opened ~/secret" in text
    assert "capture: ~/capture" in text
    assert "ZeroDivisionError: in ~" in text


def test_a_report_is_copied_as_it_was_read(qtbot: QtBot) -> None:
    box = ErrorBox(fault("Fatal Python error: Aborted"))
    qtbot.addWidget(box)
    assert any("rcv --safe" in label.text() for label in box.findChildren(PlainLabel))
    (copy,) = (one for one in box.findChildren(QPushButton) if one.text() == "Copy report")
    copy.click()
    assert QGuiApplication.clipboard().text() == box.report
    assert "Fatal Python error" in box.report


def test_a_fault_is_told_at_the_next_start_and_once(tmp_path: Path) -> None:
    words = [sys.executable, "-c", DIES, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False, timeout=HANG_S)
    assert done.returncode == -signal.SIGABRT
    (trace,) = left_faults(tmp_path)
    assert "Aborted" in trace
    assert "in deep" in trace
    assert left_faults(tmp_path) == ()


def test_a_program_that_runs_or_ended_tidily_left_no_fault(tmp_path: Path) -> None:
    with noted_faults(tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
        assert left_faults(tmp_path) == ()
        assert len(list(tmp_path.iterdir())) == 1, "of a program that runs"
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with noted_faults(tmp_path / "file"):  # no folder: it runs without
        pass


def test_safe_mode_reads_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("rcv_py.ui.app.run", lambda request, **how: asked.append(how) or 0)
    assert main([str(SAMPLE), "--safe"]) == 0
    assert asked[0]["is_safe"]
    assert asked[0]["door"] is None, "a program of its own"
    app = start(None, is_safe=True)
    assert app.window.windowTitle() == SAFE
    assert app.ui.settings.folder is None
    app.close()


def test_settings_are_searched_and_put_back_one_by_one(qtbot: QtBot) -> None:
    settings = Settings(None)
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)

    def hits() -> list[str]:
        return [name for name, field in dialog._fields.items() if dialog._form.isRowVisible(field)]

    assert len(hits()) == len(OPTIONS)
    dialog.search.setText("DARK theme")
    assert hits() == ["look.theme"]
    dialog.search.setText("nothing of the kind")
    assert (hits(), dialog.said.text()) == ([], NO_HIT)
    dialog.search.clear()
    assert not dialog.resets["hotspot.bins"].isEnabled()
    settings["hotspot.bins"], settings["look.theme"] = 64, "dark"
    dialog.show()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert (settings["hotspot.bins"], settings["look.theme"]) == (64, "dark")
    assert dialog.resets["hotspot.bins"].isEnabled()
    dialog.resets["hotspot.bins"].click()
    assert (settings["hotspot.bins"], settings["look.theme"]) == (32, "dark")
    assert not dialog.resets["hotspot.bins"].isEnabled()
