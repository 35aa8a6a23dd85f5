"""Reports and traces from the window: written in a thread, told of, and stopped."""

import json
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from rcv_py.base.errors import ExportError
from rcv_py.base.progress import Report, Stage, checkpoint
from rcv_py.cli.main import main
from rcv_py.ui.app import App
from rcv_py.work import reduce
from tests.export.perfetto_reader import read
from tests.support.limits import HANG_S
from tests.support.samples import sample_path
from tests.support.window_fixtures import Reused
from tests.ui.window import open_sample, run_command, settle, window


def test_the_commands_ask_for_a_name_and_write(
    blank: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"export.report": "r.html", "export.trace": "t.pftrace"}
    assert blank.ui.commands["export.report"].why_not()
    open_sample(blank, sample_path("matmul_small"))
    for command, name in names.items():
        answer = (str(tmp_path / name), "")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        run_command(blank, command)
        assert blank.window.status.saved.isVisible()
        assert name in blank.window.status.saved.text()
        assert not blank.ui.session.busy.value
    assert "</html>" in (tmp_path / "r.html").read_text()
    trace = blank.ui.session.trace.value
    threads = [
        one for one in read((tmp_path / "t.pftrace").read_bytes()).tracks.values() if one.HasField("thread")
    ]
    assert len(threads) == len(trace.waves)
    blank.window.writer.write_trace(tmp_path / "s.json")
    settle(blank)
    profiles = json.loads((tmp_path / "s.json").read_text())["profiles"]
    assert profiles[-1]["name"].startswith(str(blank.ui.session.selection.value.wave))


def test_a_second_file_waits_and_cancel_leaves_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    begun, path = threading.Event(), tmp_path / "x.html"

    def slow(path: Path, report: Report) -> None:
        report(Stage("Writing slowly", 1, 2))
        begun.set()
        while True:
            checkpoint()
            threading.Event().wait(0.005)

    with window() as app:
        open_sample(app)
        writer = app.window.writer
        writer.start(path, slow)
        assert begun.wait(HANG_S)
        qtbot.waitUntil(lambda: app.window.status.stage.text() == "Writing slowly 1 of 2")
        assert app.ui.commands["export.trace"].why_not()
        with pytest.raises(ExportError):
            writer.write_report(tmp_path / "y.html")
        app.window.status.cancel.click()
        settle(app)
        assert not writer.is_busy
        assert not app.ui.session.busy.value
        assert not app.window.status.saved.isVisible()
        assert list(tmp_path.glob("*.html")) == []


def test_the_window_writes_the_same_bytes_as_the_command(blank: App, tmp_path: Path) -> None:
    path = sample_path("matmul_small")
    open_sample(blank, path)
    for form in ("html", "md"):
        blank.window.writer.write_report(tmp_path / f"window.{form}")
        settle(blank)
        assert main(["report", str(path), "--out", str(tmp_path / f"command.{form}")]) == 0
        assert (tmp_path / f"window.{form}").read_bytes() == (tmp_path / f"command.{form}").read_bytes()
    blank.window.writer.write_report(tmp_path / "page.html", is_interactive=True)
    settle(blank)
    assert main(["report", str(path), "--interactive", "--out", str(tmp_path / "same.html")]) == 0
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "same.html").read_bytes()


def test_a_cancelled_report_ends_between_two_parcels(
    tmp_path: Path, reused: Reused, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = [], reduce.SlabCache.map_slab
    with reused(sample=True) as app:
        writer = app.window.writer

        def cancelled(*args: object, **how: object) -> object:
            looks.append(1)
            writer.cancel()
            return look(*args, **how)

        monkeypatch.setattr(reduce, "SLAB_BYTES", 1)
        monkeypatch.setattr(reduce.SlabCache, "map_slab", cancelled)
        writer.write_report(tmp_path / "x.html")
        settle(app)
    assert len(looks) == 1
    assert not list(tmp_path.iterdir())
