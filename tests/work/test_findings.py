"""Findings of a large capture come from processes, and are the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work import findings
from rcv_py.work.findings import STOPPED, FindingsInView
from tests.support.findings import findings_near
from tests.support.limits import HANG_S
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
    direct = findings_near(trace, [trace.reader.read(list(range(len(trace.waves))))])
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


def test_what_was_looked_for_early_is_what_is_asked_for(process: FindingsInView) -> None:
    """Of the waves that are there once all were read; another question is answered apart."""
    trace = open_trace(sample_path("straggler"))
    held, whole = [trace.reader.read(list(range(16)))], threading.Event()
    asked: list[str] = []

    def all_waves() -> list[WaveBatch]:
        asked.append(threading.current_thread().name)
        assert whole.wait(HANG_S)
        return held

    process.expect(trace, all_waves)
    process.expect(trace, all_waves)
    whole.set()
    early = process.find(trace, held)
    direct = findings_near(trace, held)
    assert (early.findings, early.numbers) == (direct.findings, direct.numbers)
    assert process.find(trace, held) is early
    assert process.find(trace, held, "all") is not early
    process.expect(trace, all_waves)
    assert asked == ["rcv-findings"], "it is looked for once, beside whoever wants it"


def test_without_all_waves_nothing_is_looked_for_early(process: FindingsInView) -> None:
    trace = open_trace(sample_path("straggler"))
    process.expect(trace, lambda: None)
    assert process.find(trace, ()).waves == 16


def test_what_goes_wrong_early_is_told_to_whoever_asks(process: FindingsInView) -> None:
    trace = open_trace(sample_path("straggler"))

    def bug() -> None:
        raise ZeroDivisionError

    process.expect(trace, bug)
    with pytest.raises(ZeroDivisionError):
        process.find(trace, ())
    assert process.find(trace, ()).waves == 16
