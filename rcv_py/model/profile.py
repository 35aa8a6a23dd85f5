"""A profiler's database of a run: devices, kernels, launches, counters and PC samples; no waves."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import field

from rcv_py.base.problems import Problem
from rcv_py.base.record import Record, Value
from rcv_py.model.columns import ColumnTable
from rcv_py.model.device import SpmSeries


class Agent(Value):
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


class LoadedCode(Value):
    """A code object that the run loaded."""

    id: int  # within its recording
    agent: int  # id of the agent
    uri: str
    address: int  # bytes
    size: int  # bytes
    recording: int = 0  # number of the process in the file
    delta: int = -1  # loaded address minus address in the file

    @property
    def reach(self) -> int:
        """The end of its addresses in the file, 0 if unknown."""
        below = self.address - self.delta if 0 <= self.delta <= self.address else 0
        return self.size + below if self.size > 0 else 0


class KernelSymbol(Value):
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
    recording: int = 0


class Launches(ColumnTable):
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
    recording: np.ndarray  # int64, number of the process in the file
    graph: np.ndarray  # int64, number of the graph that launched it, 0: none did
    node: np.ndarray  # int64, number of the node in the graph
    samples: np.ndarray  # int64, PC samples of it


class GraphLaunch(Value):
    """A launch of a HIP graph."""

    recording: int
    graph: int  # number within the recording
    begin: int  # nanoseconds, 0 if unknown
    end: int
    launches: int  # kernels that it launched, as recorded, -1 if unknown


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


class PcSamples(ColumnTable):
    """One row an instruction that samples hit, most samples first; invalid samples are only counted."""

    recording: np.ndarray  # int64, number of the process in the file
    code_object: np.ndarray  # int64, number within the recording; -1 if the file does not say
    offset: np.ndarray  # uint64, bytes inside the code object
    samples: np.ndarray  # int64
    issued: np.ndarray  # int64, of samples that state it
    reasons: np.ndarray  # int64 [n, k], samples that did not issue, by StallReason
    lanes: np.ndarray  # float64, mean active lanes, NaN if unknown
    waves: np.ndarray  # float64, mean waves on the sampled unit, NaN if unknown
    kernel: tuple[str, ...]  # most of its samples are of launches of it, "" if unknown
    text: tuple[str, ...]  # the instruction, "" if the file has none
    source: tuple[str, ...]  # its places, innermost first, "" if unknown
    invalid: Mapping[str, int] = field(default_factory=dict)  # samples without a usable row, by reason

    @property
    def stalled(self) -> np.ndarray:
        """Samples that did not issue, int64; the rest of the samples does not state it."""
        return self.reasons.sum(axis=1)

    @property
    def all(self) -> int:
        """All samples of the file, the whole of the share of invalid ones."""
        return int(self.samples.sum()) + sum(self.invalid.values())


class Profile(Record):
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
    graphs: tuple[GraphLaunch, ...] = ()
    files: tuple[str, ...] = ()  # raw traces and code objects that it names, relative to it
    problems: tuple[Problem, ...] = ()
