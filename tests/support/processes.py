"""Waiting for what processes do, by looking at them, with a deadline."""

import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from tests.support.limits import HANG_S


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Return as soon as it is so; fail, saying what was waited for, if it never is."""
    end = time.monotonic() + HANG_S
    while not is_so():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


def busy_children(pid: int, count: int, seconds: float = 1.0) -> list[psutil.Process]:
    """Wait until `count` children have computed for so long, and return all processes below `pid`."""
    parent = psutil.Process(pid)

    def are_busy() -> bool:
        return sum(spent(child) > seconds for child in parent.children(recursive=True)) >= count

    wait_until(are_busy, f"{count} busy children")
    return parent.children(recursive=True)


def spent(process: psutil.Process) -> float:
    """Seconds of CPU; 0 of a process that has gone."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system


def gone(processes: list[psutil.Process]) -> bool:
    """Whether all of them end before the deadline; those that do not are killed."""
    try:
        wait_until(lambda: not any(map(is_at_work, processes)), "the end of processes")
    except AssertionError:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return False
    return True


def is_at_work(process: psutil.Process) -> bool:
    """Whether the process can still do anything; one that only waits to be buried, for whoever is its parent
    now may take his time, cannot."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
