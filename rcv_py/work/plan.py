"""Which waves are read together, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import numpy as np

from rcv_py.model.waves import WaveIndex

JOB_BYTES = 8 << 20  # of JSON: a tenth of a second of work, so that progress and cancelling are honest
SMALL_JOB_BYTES = 1 << 20  # in the viewer's own process, where a job competes with painting
FILE_BYTES = 16 << 10  # what opening a file costs besides its size
IN_PROCESS_BYTES = 24 << 20  # below this, starting processes takes longer than reading


def costs(index: WaveIndex) -> np.ndarray:
    """What reading each wave costs, in bytes of a large file; int64."""
    return index.size.astype(np.int64) + FILE_BYTES


def plan(index: WaveIndex, rows: Iterable[int] | None = None, job_bytes: int = JOB_BYTES) -> list[list[int]]:
    """Split waves (all by default) into jobs of about `job_bytes`, in the given order; none is empty."""
    chosen = list(range(len(index))) if rows is None else list(rows)
    jobs: list[list[int]] = []
    room = 0
    for row, cost in zip(chosen, costs(index)[chosen].tolist(), strict=True):
        if room < cost // 2 or not jobs:
            jobs.append([])
            room = job_bytes
        jobs[-1].append(row)
        room -= cost
    return jobs


class WaveQueue:
    """Jobs that wait to be done; any thread may have some of their waves read first."""

    def __init__(self, jobs: list[list[int]]) -> None:
        self._lock = Lock()
        self._jobs = [list(job) for job in jobs]

    def take(self) -> list[int] | None:
        """Remove and return the next job; None if nothing waits."""
        with self._lock:
            return self._jobs.pop(0) if self._jobs else None

    def prioritize(self, rows: Iterable[int]) -> None:
        """Put those of the waves that still wait into one job before all others."""
        wanted = list(dict.fromkeys(rows))
        with self._lock:
            waiting = {row for job in self._jobs for row in job}
            front = [row for row in wanted if row in waiting]
            if not front:
                return
            moved = set(front)
            rest = [[row for row in job if row not in moved] for job in self._jobs]
            self._jobs = [front, *(job for job in rest if job)]

    def clear(self) -> list[int]:
        """Forget all jobs; return their waves."""
        with self._lock:
            rows = [row for job in self._jobs for row in job]
            self._jobs = []
        return rows
