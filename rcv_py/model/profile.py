"""A profiler's database of a run: devices, kernels, launches, counters and PC samples; no waves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rcv_py.base.problems import Problem
from rcv_py.model.device import SpmSeries


class Agent(NamedTuple):
    """A processor of the machine; -1 if the database has no value."""

    id: int
    name: str  # such as gfx950
    product: str
    is_gpu: bool
    cus: int = -1
    simds_per_cu: int = -1
    waves_per_simd: int = -1
    wave_size: int = -1
    lds: int = -1  # bytes a compute unit, as reported
    engines: int = -1  # shader engines
    dies: int = -1  # XCCs


class LoadedCode(NamedTuple):
    """A code object that the run loaded."""

    id: int
    agent: int  # id of the agent
    uri: str
    address: int  # bytes
    size: int  # bytes


class KernelSymbol(NamedTuple):
    """A kernel of a code object; -1 if the database has no value."""

    id: int
    name: str  # demangled if known
    symbol: str
    code_object: int
    vgprs: int = -1
    accum_vgprs: int = -1
    sgprs: int = -1
    lds: int = -1  # bytes a workgroup, static part
    scratch: int = -1  # bytes a lane


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """One row a launch, as in the database."""

    dispatch: np.ndarray  # int64, number within the process
    kernel: np.ndarray  # int32, row of `Profile.kernels`, -1 if not listed
    agent: np.ndarray  # int32, row of `Profile.agents`, -1 if not listed
    begin: np.ndarray  # int64, nanoseconds; 0 if unknown
    end: np.ndarray  # int64, nanoseconds
    lds: np.ndarray  # int64, bytes a workgroup, -1 if unknown
    scratch: np.ndarray  # int64, bytes a lane, -1 if unknown
    workgroup: np.ndarray  # int64 [n, 3], threads
    grid: np.ndarray  # int64 [n, 3], threads

    def __len__(self) -> int:
        return len(self.dispatch)


class CounterValues(NamedTuple):
    """One row a counter value of an execution of a launch; parts of the same counter add up.

    Replays execute a launch several times; values of two executions neither add up nor form a ratio.
    """

    launch: np.ndarray  # int32, row of `Profile.launches`
    execution: np.ndarray  # int32, row of `nanoseconds`
    counter: np.ndarray  # int32, row of `Profile.counters`
    value: np.ndarray  # float64
    nanoseconds: np.ndarray  # int64 [executions], duration, 0 if unknown

    def of_launches(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return launch, counter and value, a row per pair: the mean of the launch's executions."""
        keys = np.stack([self.counter, self.launch, self.execution])
        runs, part = np.unique(keys, axis=1, return_inverse=True)
        sums = np.bincount(part.reshape(-1), self.value, runs.shape[1])
        (counter, launch), run, count = np.unique(runs[:2], axis=1, return_inverse=True, return_counts=True)
        return launch, counter, np.bincount(run.reshape(-1), sums, len(count)) / count


class PcSamples(NamedTuple):
    """One row an instruction that samples hit, most samples first."""

    code_object: np.ndarray  # int64
    offset: np.ndarray  # uint64, bytes inside the code object
    samples: np.ndarray  # int64
    issued: np.ndarray  # int64, of samples that state it
    text: tuple[str, ...]  # the instruction, "" if the file has none


@dataclass(frozen=True, eq=False)
class Profile:
    """All data read from a database."""

    path: Path
    form: str  # "rocpd" or "results.json"
    version: str  # of its schema, "" if unknown
    command: str  # that was profiled, "" if unknown
    agents: tuple[Agent, ...]
    code: tuple[LoadedCode, ...]
    kernels: tuple[KernelSymbol, ...]
    launches: Launches
    counters: tuple[str, ...]
    values: CounterValues
    spm: Mapping[int, tuple[SpmSeries, ...]] = field(default_factory=dict)  # by number of the launch
    executions: int = 0  # of all launches; a replay executes a launch once a pass
    samples: PcSamples | None = None
    files: tuple[str, ...] = ()  # raw traces and code objects that it names, relative to it
    problems: tuple[Problem, ...] = ()
