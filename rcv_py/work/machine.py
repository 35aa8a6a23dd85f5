"""Processors and memory that the system and the container allow this process, and priorities.

Where processors are few the window goes first, then its workers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
MEMINFO = Path("/proc/meminfo")
# Nice value of workers.  Next to a program that computes on the same core a worker gets 39 % of it
# (at 5: 25 %, at 0: 50 %), so that reading next to other programs takes a quarter longer than its share, not
# twice as long.  Next to two such processes on a busy machine 95 % of a window's beats of 8 ms take less than
# 26 ms (at 5: 26, at 0: 38).
NICE = 2
_LOWEST = 19  # of all priorities, by the standard
# Base priority of this process's workers; passed to a process, since its parent may have lowered its own.
WORKER_NICE = 0 if sys.platform == "win32" else min(_LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + NICE)


def cores() -> int:
    """Return the number of processors that this process may use, at least 1."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on macOS and Windows
    allowed = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    quotas = [int(quota) // int(period) for quota, period in _limits("cpu.max") if quota != "max"]
    return max(1, min([allowed, *quotas]))


def memory() -> int | None:
    """Return the bytes that programs can still take, or may take in this container; None if unknown."""
    return _bytes("MemAvailable:")


def half_of_memory() -> int | None:
    """Return half of the bytes that the machine, or this container, has; None if unknown."""
    all_of_it = _bytes("MemTotal:")
    return None if all_of_it is None else all_of_it // 2


def lower_priority(to: int = WORKER_NICE) -> None:
    """Give this process, under Linux this thread alone, a lower priority; does nothing on Windows.

    Under Linux it also no longer preempts others when it becomes runnable: the window and other computing
    processes keep their time slice, and 500 MB are read a twentieth sooner.
    """
    if sys.platform != "win32":
        os.setpriority(os.PRIO_PROCESS, 0, max(to, os.getpriority(os.PRIO_PROCESS, 0)))
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it, and some C libraries cannot
            if os.sched_getscheduler(0) == os.SCHED_OTHER:  # the default policy
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def lower_thread_priority() -> None:
    """Lower the priority of this thread, where a thread has its own priority."""
    if sys.platform == "linux":
        lower_priority()


def _bytes(line_of: str) -> int | None:
    """Return the bytes in a line of the system, limited by this container; None if unknown."""
    limits = [int(limit) for (limit,) in _limits("memory.max") if limit != "max"]
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()
        limits.append(next(int(line.split()[1]) << 10 for line in lines if line.startswith(line_of)))
    return min(limits, default=None)


def _limits(name: str) -> Iterator[list[str]]:
    """The words of a file in the control group of this process and in its parents (Linux, version 2)."""
    with suppress(OSError, StopIteration):
        own = next(line for line in OWN.read_text().splitlines() if line.startswith("0::"))
        place = CGROUPS / own.removeprefix("0::").lstrip("/")
        for folder in (place, *place.parents):
            with suppress(OSError):
                yield (folder / name).read_text().split()
            if folder == CGROUPS:
                return
