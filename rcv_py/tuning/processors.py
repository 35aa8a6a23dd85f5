"""Who gets the processor: where processors are few the window goes first, then its workers."""

import os
import sys
from contextlib import suppress

# Nice value of workers.  Next to a program that computes on the same core a worker gets 39 % of it
# (at 5: 25 %, at 0: 50 %), so that reading next to other programs takes a quarter longer than its share, not
# twice as long.  Next to two such processes on a busy machine 95 % of a window's beats of 8 ms take less than
# 26 ms (at 5: 26, at 0: 38).
NICE = 2
_LOWEST = 19  # of all priorities, by the standard
# Base priority of this process's workers; passed to a process, since its parent may have lowered its own.
WORKER_NICE = 0 if sys.platform == "win32" else min(_LOWEST, os.getpriority(os.PRIO_PROCESS, 0) + NICE)

# A computing thread keeps the interpreter's lock this long.  With Python's default of 5 ms, a window that
# paints and releases the lock at every Qt call waits that long again and again.
SWITCH_S = 0.0005


def start_one_numpy_thread() -> None:
    """Let numpy, if it is not imported yet, start no threads of its own; the user may override it.

    rcv multiplies few matrices, and with one thread sums are the same on every machine.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


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
