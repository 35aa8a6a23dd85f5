"""Processes that run one function: results, failures, deaths, limits, and nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from multiprocessing import active_children, resource_tracker, spawn
from pathlib import Path

import numpy as np
import psutil
import pytest

from rcv_py.base.errors import NotATrace
from rcv_py.work import processes
from rcv_py.work.pool import CallTimedOut, WorkerPool, WorkerStopped
from rcv_py.work.processes import end_ahead
from rcv_py.work.shared import dumps, loads
from tests.support.busy_forever import stay
from tests.support.deadly_readers import no_memory, without_blocks
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.pool_calls import EndsAtUnpickling, answer
from tests.support.processes import is_at_work, wait_until
from tests.support.programs import finished

WAIT_S = HANG_S


@pytest.fixture(autouse=True)
def nothing_lives_on() -> Iterator[None]:
    """No process and no thread of a pool is left by any test."""
    yield
    assert not active_children()
    assert not [thread for thread in threading.enumerate() if thread.name == "rcv-pool"]


def staying(pool: WorkerPool[object], path: Path, key: str = "") -> Future[object]:
    """A call that never ends; it has begun."""
    future = pool.submit("stay", path, key=key)
    wait_until(path.exists, "a call that has begun")
    return future


def test_results_come_back_and_processes_are_used_again() -> None:
    with WorkerPool(answer, 1) as pool:
        assert not active_children(), "nothing is started before there is work"
        first, second = pool.submit("pid"), pool.submit("pid")
        assert first.result(WAIT_S) == second.result(WAIT_S) != os.getpid()


def test_arrays_come_back_as_read_only_views() -> None:
    with WorkerPool(answer, 1) as pool:
        value = pool.submit("array").result(WAIT_S)
    assert value["column"].tolist() == list(range(1000))
    assert not value["column"].flags.writeable
    assert value["column"].flags.aligned
    whole = loads(dumps([np.zeros(3), np.ones(0), "x"]))
    assert [part.tolist() for part in whole[:2]] == [[0, 0, 0], []]


def test_what_goes_wrong_is_raised_as_what_it_is() -> None:
    with WorkerPool(answer, 1) as pool:
        with pytest.raises(ZeroDivisionError, match="a bug") as bug:
            pool.submit("bug").result(WAIT_S)
        assert "in bug" in bug.value.__notes__[0], "where it happened"
        with pytest.raises(NotATrace):
            pool.submit("sentence").result(WAIT_S)
        with pytest.raises(Exception, match="could not do its work"):
            pool.submit("odd").result(WAIT_S)
        with pytest.raises(TypeError):
            pool.submit("unsendable").result(WAIT_S)
        with pytest.raises((TypeError, AttributeError)):
            pool.submit(threading.Lock())
        assert pool.submit("fine").result(WAIT_S) == "fine"


@pytest.mark.parametrize("what", ["import", "class"])
def test_a_process_that_is_ended_while_it_unpickles_says_nothing(
    what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """An exception in the middle of that comes out as another one, or aborts the process."""
    with WorkerPool(answer, 1, grace_s=WAIT_S) as pool:
        assert isinstance(pool.submit(EndsAtUnpickling(what)).exception(WAIT_S), WorkerStopped)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_process_that_dies_costs_the_call_that_it_did(ahead: int) -> None:
    with WorkerPool(answer, 1, calls_ahead=ahead) as pool:
        calls = [pool.submit(what) for what in ("a", "die", "b", "die", "c")]
        ends = [type(call.exception(WAIT_S)) for call in calls]
        assert ends == [type(None), WorkerStopped, type(None), WorkerStopped, type(None)]
        assert [calls[at].result() for at in (0, 2, 4)] == ["a", "b", "c"]
        assert calls[1].exception().process not in (0, os.getpid())


def test_a_process_that_is_killed_while_idle_is_replaced() -> None:
    with WorkerPool(answer, 1) as pool:
        pid = pool.submit("pid").result(WAIT_S)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not active_children(), "its end")
        assert pool.submit("pid").result(WAIT_S) != pid


def test_a_process_that_somebody_else_buries_is_replaced() -> None:
    """As happens when another thread starts a process in the moment in which this one ends."""
    with WorkerPool(answer, 1) as pool:
        pid = pool.submit("pid").result(WAIT_S)
        (process,) = active_children()
        with processes._starting:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        assert pool.submit("pid").result(WAIT_S) != pid
        process._popen.returncode = -signal.SIGKILL  # as the other thread notes then


def test_a_call_that_takes_too_long_is_ended_and_others_go_on(tmp_path: Path) -> None:
    with WorkerPool(answer, 1, timeout_s=2.0) as pool:
        with pytest.raises(CallTimedOut, match="after 2 seconds"):
            pool.submit("stay", tmp_path / "x").result(WAIT_S)
        pool._timeout_s = None  # a new process takes longer than that to start on a busy machine
        assert pool.submit("fine").result(WAIT_S) == "fine"


def test_a_call_can_be_cancelled_whether_it_waits_or_runs(tmp_path: Path) -> None:
    with WorkerPool(answer, 1) as pool:
        running = staying(pool, tmp_path / "x")
        waiting, last = pool.submit("a"), pool.submit("b")
        assert pool.waiting == 2
        assert waiting.cancel()
        assert running.cancel()
        with pytest.raises(CancelledError):
            running.result(WAIT_S)
        assert last.result(WAIT_S) == "b"


def test_closing_ends_what_runs_and_cancels_what_waits(tmp_path: Path) -> None:
    pool = WorkerPool(answer, 1, grace_s=0.5)
    running, waiting = staying(pool, tmp_path / "x"), pool.submit("a")
    pool.close()
    assert running.cancelled()
    assert waiting.cancelled()
    assert pool.submit("b").cancelled(), "a closed pool takes no calls"


def test_a_process_that_knows_the_key_is_preferred(tmp_path: Path) -> None:
    with WorkerPool(answer, 2) as pool:
        busy = staying(pool, tmp_path / "x", key="a")
        other = pool.submit("pid", key="b").result(WAIT_S)
        busy.cancel()
        fresh = pool.submit("pid", key="c").result(WAIT_S)
        assert fresh != other
        assert [pool.submit("pid", key=key).result(WAIT_S) for key in "bcb"] == [other, fresh, other]


def test_a_call_alone_has_a_process_of_its_own() -> None:
    with WorkerPool(answer, 1) as pool:
        first = pool.submit("pid").result(WAIT_S)
        alone = pool.submit("pid", is_alone=True).result(WAIT_S)
        assert len({first, alone, pool.submit("pid").result(WAIT_S)}) == 3


def test_a_process_loads_little_lets_others_go_first_and_leaves_ctrl_c_to_its_parent() -> None:
    with WorkerPool(answer, 1) as pool:
        loaded = pool.submit("modules").result(WAIT_S)
        assert not [name for name in loaded if name.startswith(("PySide6", "pyqtgraph"))]
        assert pool.submit("interrupt").result(WAIT_S) == "still here"
        if hasattr(os, "nice"):
            behind = pool.submit("nice").result(WAIT_S) - os.nice(0)
            assert 0 < behind <= 2, "a share of the processor near that of other programs"


@pytest.mark.parametrize("memory", [None, without_blocks])
def test_large_calls_and_large_answers_do_not_wait_for_each_other(
    memory: Callable[[], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if memory is not None:
        monkeypatch.setattr(os, "memfd_create", no_memory, raising=False)
    texts = [str(number) * (1 << 20) for number in range(4)]  # more than a pipe holds
    with WorkerPool(answer, 1, setup=memory, calls_ahead=3) as pool:
        assert [call.result(WAIT_S) for call in [pool.submit(text) for text in texts]] == texts


@pytest.mark.skipif(os.name == "nt", reason="it needs a program that ends at once")
def test_a_process_that_ends_before_it_was_told_what_to_do_is_one_that_stopped() -> None:
    resource_tracker.ensure_running()  # it is a program, too
    program = spawn.get_executable()
    large = partial(answer, "x" * (1 << 20))  # more than a pipe holds
    spawn.set_executable("/bin/false")
    try:
        with WorkerPool(large, 1, retries=1) as pool, pytest.raises(WorkerStopped):
            pool.submit().result(WAIT_S)
    finally:
        spawn.set_executable(program)


def test_many_threads_may_submit() -> None:
    with WorkerPool(answer, 2, calls_ahead=2) as pool:
        calls: list[Future[object]] = []
        threads = [
            threading.Thread(target=lambda: calls.extend(pool.submit(str(n)) for n in range(20)))
            for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(call.result(WAIT_S) for call in calls) == sorted(5 * [str(n) for n in range(20)])


def test_a_process_leaves_when_its_parent_is_killed() -> None:
    script = """
import os
from rcv_py.work.pool import WorkerPool
from tests.support.pool_calls import answer

print(WorkerPool(answer, 1).submit("pid").result(), flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=HANG_S
    )
    assert done.stdout, done.stderr
    try:
        process = psutil.Process(int(done.stdout))
    except psutil.NoSuchProcess:
        return
    wait_until(lambda: not is_at_work(process), "the end of the process")


def test_a_pool_that_keeps_its_processes_leaves_them_to_the_next() -> None:
    """Another task, and what the first one left is gone; what is busy ends as ever."""
    with WorkerPool(answer, 2, keeps=True) as first:
        before = {future.result() for future in [first.submit("pid") for _ in range(2)]}
    assert {process.pid for process in active_children()} == before
    with WorkerPool(os.getppid, 1) as second:
        assert second.submit().result() == os.getpid()
        assert {process.pid for process in active_children()} == before
    assert len(active_children()) == len(before) - 1
    end_ahead()
    assert not active_children()


def test_a_kept_process_that_died_meanwhile_is_replaced() -> None:
    with WorkerPool(answer, 1, keeps=True) as first:
        process = first.submit("pid").result()
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not active_children(), "its end")
    with WorkerPool(answer, 1) as second:
        assert second.submit("pid").result() != process


def test_busy_processes_are_not_kept(tmp_path: Path) -> None:
    with WorkerPool(stay, 1, keeps=True) as workers:
        workers.submit(tmp_path / "note")
        wait_until((tmp_path / "note").exists, "a call that has begun")
    assert not active_children()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nothing is copied elsewhere")
def test_ctrl_c_while_a_process_is_copied_is_heard_behind_it(tmp_path: Path) -> None:
    script = tmp_path / "copied.py"
    script.write_text(
        "import os, signal\n"
        "from rcv_py.base.machine.ending import ends_tidily\n"
        "from rcv_py.work.processes import IDLE_WORKERS, end_ahead, start_ahead\n"
        "os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "try:\n"
        "    with ends_tidily():\n"
        "        start_ahead(1, 'json')\n"
        "finally:\n"
        "    print(len(IDLE_WORKERS))\n"
        "    end_ahead()\n"
    )
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], env=path, capture_output=True, text=True, check=False, timeout=HANG_S
    )
    assert done.stderr.count("Traceback") == 1
    assert "ignored" not in done.stderr
    assert done.stdout.split() == ["0"]
    assert done.returncode == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nothing is copied elsewhere")
def test_a_copy_that_is_ended_before_it_ran_ends() -> None:
    """On one processor whoever makes a copy goes on, and the copy comes later."""
    code = (
        "import os\n"
        "from rcv_py.base.machine.ending import ends_tidily\n"
        "from rcv_py.work.processes import started\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "with ends_tidily():\n"
        "    for _ in range(20):\n"
        "        process, near = started(is_copy=True)\n"
        "        process.terminate()\n"
        "        process.join()\n"
        "        print(process.exitcode)\n"
    )
    assert finished([sys.executable, "-c", code], check=True).stdout.split() == [str(-signal.SIGTERM)] * 20
