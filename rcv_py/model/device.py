"""Records of the whole device: waves, dispatches, events, clocks, counters, shader data."""

from collections.abc import Mapping

import numpy as np
from msgspec import field

from rcv_py.base.record import Record, Value
from rcv_py.base.text import nanoseconds
from rcv_py.model.columns import ColumnTable

NEVER = 1 << 62  # cycles, later than every time of a file
NO_CLOCK = "µs not known: no usable clock samples"


class WaveEvents(ColumnTable):
    """Begins and ends of waves on all compute units of traced shader engines, by (time, is_start)."""

    time: np.ndarray  # int64, cycles, aligned
    se: np.ndarray  # int16
    sa: np.ndarray  # int16, shader array
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    is_start: np.ndarray  # bool
    kernel: np.ndarray  # int32, kernel id, key of `names`
    me: np.ndarray  # int16, -1 if unknown
    pipe: np.ndarray  # int16, -1 if unknown
    workgroup: np.ndarray  # int64, -1 if unknown
    cluster: np.ndarray  # int64, -1 if unknown
    names: Mapping[int, str] = field(default_factory=dict)  # kernel id to symbol
    stop: int = 0  # cycles, aligned: the last end of a traced wave
    start: int = NEVER  # cycles, aligned: the first begin of a traced wave


class HardwareEvents(Value):
    """Events of the command processor and the trace unit; sorted by time."""

    time: np.ndarray  # int64, cycles, aligned
    se: np.ndarray  # int16
    kind: np.ndarray  # int16, EventKind; unknown numbers are kept
    me: np.ndarray  # int16
    pipe: np.ndarray  # int16
    flags: np.ndarray  # int32
    payload: np.ndarray  # uint64


class Dispatch(Value):
    """A launch of a kernel as recorded in the trace."""

    time: int  # cycles, aligned
    se: int
    kernel: int
    name: str
    me: int = 0
    pipe: int = 0
    vgprs: int = 0
    sgprs: int = 0
    user_sgprs: int = 0
    lds_size: int = 0
    workgroup_size: tuple[int, int, int] = (0, 0, 0)
    address: int = 0
    code_object: int = 0
    flags: int = 0


class CounterSamples(Value):
    """Streamed hardware counters of one shader engine, in file order."""

    se: int
    time: np.ndarray  # int64, cycles, aligned
    value: np.ndarray  # int32 [n, 4], counts since the previous sample
    cu: np.ndarray  # int16
    bank: np.ndarray  # int16: value column c is counter 4 * bank + c


class SpmSeries(Value):
    """A streamed performance monitor: a counter at one place."""

    counter: str
    se: int
    instance: int
    time: np.ndarray  # int64, as in the file: not aligned, and of an unknown clock
    value: np.ndarray  # float64
    is_xcc: bool = False  # `se` is the number of a die, and the counter covers the whole die
    array: int = -1  # shader array of the engine, -1 if unknown
    wgp: int = -1  # work-group processor of the array, -1 if unknown


class OtherSimd(Value):
    """Memory instructions that the sibling SIMD issued (gfx11 and later); no code lines."""

    se: int
    cu: int
    simd: int  # the sibling, -1 if unknown
    time: np.ndarray  # int64, cycles, aligned
    duration: np.ndarray  # int64
    kind: np.ndarray  # uint8, TokenKind


class ShaderData(Value):
    """Values that a kernel wrote with s_ttracedata, of one shader engine, in file order."""

    se: int
    time: np.ndarray  # int64, cycles, aligned
    value: np.ndarray  # uint32
    cu: np.ndarray  # int16
    simd: np.ndarray  # int16
    slot: np.ndarray  # int16
    flags: np.ndarray  # int16: bit 0 immediate form, bit 1 privileged


class MarkerName(Value):
    """A row of the dictionary that names shader data."""

    codeobj: int
    marker: int
    kind: str  # "function", "kernel", "scope" or "point"
    name: str
    source: str = ""


class StateCurve(Value):
    """Number of traced waves in a state, as counted by the writer (clocks not aligned)."""

    state: int
    time: np.ndarray  # int64, cycles
    waves: np.ndarray  # int32


class PmcDispatch(Value):
    """A launch with counter values."""

    kernel: str
    number: str  # dispatch id as in the table
    agent: str  # "" if the table has none


class PmcTable(Record):
    """One row a value: a counter of an execution of a dispatch.

    Each pass of the profiler executes a dispatch again.  Rows with the same execution and counter are parts
    of one number (instances of the block) and add up; values of two executions neither add up nor form a
    ratio.
    """

    dispatches: tuple[PmcDispatch, ...]
    of: np.ndarray  # int32 [executions], row of `dispatches`
    nanoseconds: np.ndarray  # float64 [executions], duration, NaN if unknown
    counters: tuple[str, ...]  # names in upper case, `_sum` below, without the number of an instance
    files: tuple[str, ...]
    execution: np.ndarray  # int32, row of `of`
    counter: np.ndarray  # int32, row of `counters`
    value: np.ndarray  # float64, finite, 0 or more
    notes: tuple[str, ...] = ()  # what could not be read, as sentences
    gpus: tuple[str, ...] = ()  # such as gfx950, of a profile

    def __len__(self) -> int:
        return len(self.value)


class ClockSamples(Value):
    """Times at which a shader engine wrote both clocks, sorted by shader clock."""

    shader: np.ndarray  # int64 [n], cycles of that shader engine, not aligned
    realtime: np.ndarray  # int64 [n], ticks of the constant clock


def is_rate(hz: float) -> bool:
    """Whether a clock can have this rate: 25 MHz to 3.13 GHz by data sheets (see `DEVICES`), with room."""
    return 1e6 <= hz <= 1e10


class Clock(Record):
    """Clock alignment and rates.

    `offsets` are the cycles added to every time of a shader engine to align it (absent means 0);
    `ticks_per_cycle` is realtime ticks a shader cycle, 0.0 if unknown; `frequency` is the realtime clock in
    Hz, 0 if unknown.  `apart` are shader engines with waves whose clock cannot be aligned: they are moved so
    that all engines begin their first wave together, which makes a launch at most too short.
    """

    frequency: int = 100_000_000
    samples: Mapping[int, ClockSamples] = field(default_factory=dict)
    offsets: Mapping[int, int] = field(default_factory=dict)
    ticks_per_cycle: float = 0.0
    is_aligned: bool = False  # and no engine is apart
    apart: tuple[int, ...] = ()

    @property
    def shader_hz(self) -> float:
        """Shader clock in Hz, 0.0 if it is unknown or no clock can have this rate."""
        rate = self.frequency / self.ticks_per_cycle if self.ticks_per_cycle > 0 else 0.0
        return rate if is_rate(self.frequency) and is_rate(rate) else 0.0

    def ns(self, cycles: float) -> float | None:
        """Return a duration in nanoseconds, or None if the rate is unknown."""
        return cycles * 1e9 / self.shader_hz if self.shader_hz else None

    def duration(self, cycles: float) -> str:
        """Return a duration such as `2.46 µs`, or why it is not known."""
        ns = self.ns(cycles)
        return NO_CLOCK if ns is None else nanoseconds(ns)
