"""Findings of a large capture come from processes, and are the same."""

import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.work import findings
from rcv_py.work.findings import STOPPED, FindingsInView
from tests.support.findings import findings_near
from tests.support.limits import HANG_S
from tests.support.opened import all_waves
from tests.support.samples import sample_path, write_sample


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[FindingsInView]:
    """One that takes no capture for small."""
    monkeypatch.setattr(findings, "SMALL_BYTES", 0)
    made = FindingsInView()
    yield made
    made.close()
    assert not active_children()


def test_a_process_finds_the_same(process: FindingsInView) -> None:
    trace = open_trace(sample_path("matmul_small"))
    found = process.find(trace, ())
    direct = findings_near(trace, [all_waves(trace)])
    assert found.findings == direct.findings
    assert found.numbers == direct.numbers
    assert process.find(trace, ()) is found, "it is looked for once"


def test_a_small_capture_needs_no_process() -> None:
    trace = open_trace(sample_path("straggler"))
    assert FindingsInView().find(trace, [trace.reader.read([0])]).partial == "1 of 16 waves"


def test_closing_does_not_wait_for_it(process: FindingsInView) -> None:
    trace = open_trace(sample_path("tutorial_before"))
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(process.find(trace, ())))
    thread.start()
    while not active_children() and thread.is_alive():
        time.sleep(0.01)
    process.close()
    thread.join(HANG_S)
    assert answers[0].why == STOPPED, "it was stopped; one that is waited for has findings"


def test_of_a_folder_that_vanished_the_waves_in_memory_are_looked_at(
    process: FindingsInView, tmp_path: Path
) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("straggler", folder)
    trace = open_trace(folder)
    read = [trace.reader.read([0, 1])]
    for path in folder.glob("se*_wv*.json"):
        path.unlink()
    found = process.find(trace, read)
    assert (found.waves, found.unread) == (2, 14)


def test_a_newer_question_ends_the_one_before(process: FindingsInView) -> None:
    first = open_trace(sample_path("tutorial_before"))
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(process.find(first, ())))
    thread.start()
    while not active_children() and thread.is_alive():
        time.sleep(0.01)
    trace = open_trace(sample_path("straggler"))
    assert process.find(trace, ()).waves == 16
    thread.join(HANG_S)
    assert answers[0].why == STOPPED
