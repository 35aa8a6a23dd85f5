"""Findings of a large capture come from a process of their own, and are the same."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.work import findings_process
from rcv_py.work.findings_process import CHANGED, STOPPED, FindingsProcess
from tests.support import captures
from tests.support.findings import findings_near


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[FindingsProcess]:
    """One that takes no capture for small."""
    monkeypatch.setattr(findings_process, "SMALL_BYTES", 0)
    made = FindingsProcess()
    yield made
    made.close()
    assert not active_children()


def test_a_process_finds_the_same(process: FindingsProcess) -> None:
    trace = open_trace(captures.trace_path("pa_mqa_big"))
    found = process.find(trace, ())
    direct = findings_near(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert found.findings == direct.findings
    assert found.numbers == direct.numbers
    assert process.find(trace, ()) is found, "it is looked for once"


def test_a_small_capture_needs_no_process() -> None:
    trace = open_trace(captures.trace_path("pa_mqa_small"))
    assert FindingsProcess().find(trace, [trace.reader.read([0])]).partial == "1 of 4 waves"


def test_closing_does_not_wait_for_it(process: FindingsProcess) -> None:
    trace = open_trace(captures.trace_path("moe_reduce"))
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(process.find(trace, ())))
    thread.start()
    while not active_children() and thread.is_alive():
        time.sleep(0.01)
    process.close()
    thread.join(60)  # at most, or nothing would tell of a hang
    assert answers[0].why == STOPPED, "it was stopped; one that is waited for has findings"


def test_a_folder_that_vanished_is_called_so(process: FindingsProcess, tmp_path: Path) -> None:
    folder = shutil.copytree(captures.trace_path("pa_mqa_small"), tmp_path / "ui_output_agent_1_dispatch_1")
    trace = open_trace(folder)
    read = [trace.reader.read([0])]
    for path in folder.glob("se*_wv*.json"):
        path.unlink()
    assert process.find(trace, read).why == CHANGED, "a wave was read before"
