"""Counters that were read once a dispatch (`rocprofv3 --pmc`), unlike those streamed into a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class PmcDispatch:
    """A launch that counters were read for."""

    kernel: str
    number: str  # dispatch id as the table writes it
    agent: str  # "" if the table does not tell


@dataclass(frozen=True, eq=False)
class PmcTable:
    """One row a value: a counter of a dispatch in a file.

    A pass of the profiler is a file; the same dispatch may be in several.  Rows of one file with the same
    dispatch and counter are parts of one number (instances of the block) and add up.
    """

    dispatches: tuple[PmcDispatch, ...]
    nanoseconds: np.ndarray  # float64 [dispatches], length, NaN if not told; mean over files
    counters: tuple[str, ...]  # names in upper case, `_sum` below, without the number of an instance
    files: tuple[str, ...]
    dispatch: np.ndarray  # int32, row of `dispatches`
    counter: np.ndarray  # int32, row of `counters`
    file: np.ndarray  # int32, row of `files`
    value: np.ndarray  # float64, finite, 0 or more
    notes: tuple[str, ...] = ()  # what could not be read, as sentences

    def __len__(self) -> int:
        return len(self.value)
