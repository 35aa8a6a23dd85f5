"""Findings of a large capture come from a process of their own, and are the same."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.work import apart
from rcv_py.work.triage import triage
from tests.support import captures


def test_a_process_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SMALL_BYTES", 0)
    trace = open_trace(captures.trace_path("pa_mqa_big"))
    found = apart.triage_in_peace(trace, ())
    direct = triage(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert found.findings == direct.findings
    assert found.numbers == direct.numbers
    assert apart.triage_in_peace(trace, ()) is found, "it is looked for once"


def test_a_small_capture_needs_no_process() -> None:
    trace = open_trace(captures.trace_path("pa_mqa_small"))
    assert apart.triage_in_peace(trace, [trace.reader.read([0])]).partial == "1 of 4 waves"


def test_closing_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SMALL_BYTES", 0)
    trace = open_trace(captures.trace_path("moe_reduce"))
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(apart.triage_in_peace(trace, ())))
    thread.start()
    while not apart._running and thread.is_alive():
        time.sleep(0.01)
    began = time.monotonic()
    apart.stop()
    thread.join(10)
    assert time.monotonic() - began < 5
    assert answers[0].why == apart.STOPPED


def test_a_folder_that_vanished_is_called_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(apart, "SMALL_BYTES", 0)
    folder = shutil.copytree(captures.trace_path("pa_mqa_small"), tmp_path / "ui_output_agent_1_dispatch_1")
    trace = open_trace(folder)
    read = [trace.reader.read([0])]
    for path in folder.glob("se*_wv*.json"):
        path.unlink()
    assert apart.triage_in_peace(trace, read).why == apart.CHANGED, "a wave was read before"
