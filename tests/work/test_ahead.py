"""What is done before there is a window: a large capture is read, a small one starts nothing."""

import os
import pickle
import sys
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from rcv_py.analysis.findings.finding import markdown
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import Cancelled, NotATrace
from rcv_py.work import ahead as ahead_module
from rcv_py.work import load, processes
from rcv_py.work.ahead import Preload, SmallPreload
from rcv_py.work.findings import FindingsInView
from rcv_py.work.load import plan
from rcv_py.work.opening import open_trace
from rcv_py.work.pool import WorkerPool
from rcv_py.work.processes import end_ahead, start_ahead
from rcv_py.work.whatif import with_predictions
from tests.support.opened import load_all
from tests.support.paths import ROOT
from tests.support.processes import wait_until
from tests.support.programs import finished

SAMPLE = ROOT / "sample_traces" / "matmul_tiled"


@pytest.fixture
def may_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor is idle, and nothing forbids a copy of this process."""
    for name in ("may_fork", "has_spare_core"):
        monkeypatch.setattr(ahead_module, name, lambda: True)


def test_a_process_finds_what_the_window_would_find(may_copy: None) -> None:
    small = SmallPreload.of(SAMPLE)
    trace, found = small.open(), small.findings
    expected = FindingsInView().find(trace, load_all(trace, workers=0))
    made = pickle.loads(found.pickled())
    assert markdown("sample", made) == markdown("sample", expected)
    assert made.numbers == expected.numbers
    assert [one.trial for one in made.findings] == [one.trial for one in expected.findings]
    assert found.is_of(trace, WORKING, ())
    assert not found.is_of(open_trace(SAMPLE), WORKING, ()), "another time it is read again"
    assert not found.is_of(trace, "all", ())
    assert not found.is_of(trace, WORKING, (SAMPLE / "run.csv",))
    wait_until(lambda: not active_children(), "the end of the process")


def test_a_process_predicts_what_the_window_would_predict(may_copy: None) -> None:
    small = SmallPreload.of(SAMPLE)
    trace, made = small.open(), small.findings.predicted()
    waves = load_all(trace, workers=0)
    expected = with_predictions(trace, FindingsInView().find(trace, waves), waves)
    assert made.guesses
    assert made.guesses == expected.guesses
    assert markdown("sample", made) == markdown("sample", expected)
    gains, wanted = (
        [(one.predicted, one.limit, one.trial) for one in found.findings] for found in (made, expected)
    )
    assert repr(gains) == repr(wanted), "nan stands for what was not cut"
    assert not pickle.loads(small.findings.pickled()).guesses, "the findings are those without"
    wait_until(lambda: not active_children(), "the end of the process")


@pytest.mark.parametrize("why", ["the user asked for none", "on battery"])
def test_predictions_are_left_out(why: str, may_copy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcv_py.work.findings.on_battery", lambda: why == "on battery")
    small = SmallPreload.of(SAMPLE)
    if why != "on battery":
        small.findings.leave_out_predictions()
    assert small.findings.predicted() is None
    assert pickle.loads(small.findings.pickled()).findings
    wait_until(lambda: not active_children(), "the end of the process")


def test_a_process_that_is_ended_finds_nothing(may_copy: None) -> None:
    small = SmallPreload.of(SAMPLE)
    small.close()
    assert small.findings.pickled() is None
    assert small.findings.predicted() is None
    assert not active_children()


def test_only_a_small_capture_has_its_findings_made_ahead(
    may_copy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SmallPreload.of(tmp_path) is None
    broken = tmp_path / "ui_output"
    broken.mkdir()
    (broken / "filenames.json").write_text("{")
    assert SmallPreload.of(broken) is None
    monkeypatch.setattr(ahead_module, "SMALL_BYTES", 1000)
    assert SmallPreload.of(SAMPLE) is None
    monkeypatch.undo()
    assert SmallPreload.of(SAMPLE) is None, "Qt is loaded"
    assert not active_children()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every capture is worth processes."""
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(load, "PROCESS_BYTES", 20_000)
    monkeypatch.setattr(load, "JOB_BYTES", 40_000)
    yield
    end_ahead()
    assert not active_children()


def test_a_small_capture_starts_no_process(tmp_path: Path) -> None:
    assert Preload.of(SAMPLE) is None
    assert Preload.of(tmp_path) is None
    assert Preload.of(tmp_path / "nothing") is None
    assert not active_children()


def test_all_waves_are_read_before_anybody_asks(large: None) -> None:
    """Up to as many batches as may wait; whoever comes then gets the same as ever."""
    ahead = Preload.of(SAMPLE)
    trace, stream = ahead.open(), ahead.stream()
    jobs = len(plan(trace.waves, job_bytes=load.JOB_BYTES))
    wait_until(lambda: stream.waiting >= min(jobs, load.MAX_UNSEEN), "batches that wait")
    found = {wave.row: wave for batch in stream for wave in batch.waves}
    expected = {wave.row: wave for batch in load_all(trace, workers=0) for wave in batch.waves}
    assert found.keys() == expected.keys()
    for row, wave in found.items():
        assert wave.tokens.offset.tolist() == expected[row].tokens.offset.tolist()
    ahead.close()


def test_what_nobody_asks_for_is_ended(large: None) -> None:
    ahead = Preload.of(SAMPLE)
    ahead.close()
    assert not active_children()


def test_opening_fails_for_whoever_asks(large: None, tmp_path: Path) -> None:
    ahead = Preload(tmp_path, 1)
    with pytest.raises(NotATrace):
        ahead.open()
    ahead.close()
    assert not active_children()


def test_whoever_asked_may_stop_it(large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that raises, as that of a load that was cancelled, ends the opening."""

    def stop(_: object) -> None:
        raise Cancelled

    ahead = Preload(SAMPLE, 1)
    monkeypatch.setattr(ahead, "_report", stop)
    ahead.close()
    assert not active_children()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="copies are of Linux")
def test_copies_hold_nothing_of_their_parent_and_answer() -> None:
    """Where nothing runs beside the main thread: no open file of it, no handler, and the same answers."""
    script = "from tests.work.test_ahead import copies; copies()"
    done = finished([sys.executable, "-W", "error", "-c", script], check=True)
    assert done.stdout.split() == ["Qt", "False", "copies", "True", "3", "3", "pool", "ForkProcess", "3"]
    assert not done.stderr


def copies() -> None:
    """Tell which processes are copies, and what those have open: a pipe, a sentinel and the list itself."""
    print("Qt", "PySide6" in sys.modules)
    with open(os.devnull) as _held:  # noqa: PTH123 - a file of the parent
        start_ahead(2, "rcv_py.work.load")
        print("copies", all(type(process).__name__ == "ForkProcess" for process, _ in processes.IDLE_WORKERS))
        with WorkerPool(opened_besides, 2) as workers:
            for future in [workers.submit(is_alone=True) for _ in range(2)]:
                print(future.result())
    with WorkerPool(opened_besides, 1) as workers:  # one that nobody has thought of ahead
        future = workers.submit()
        print("pool", type(active_children()[0]).__name__, future.result())


def opened_besides() -> int:
    """How many files this process has open besides its three streams."""
    return len(os.listdir("/proc/self/fd")) - 3  # noqa: PTH208
