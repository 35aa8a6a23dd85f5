"""Counters as tensors [XCC, SE, CU, T] on a grid of equal intervals: the operands of formulas."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from rcv_py.analysis.counters.counters import ALL_SIMDS, CounterFamily, Counters, RawCounter, Samples
from rcv_py.analysis.counters.formula.evaluate import scalar
from rcv_py.base.record import Value
from rcv_py.model.device import Clock, is_rate

MAX_CELLS = 1 << 21  # of one tensor: 16 MB; for more, intervals are merged


class CounterGrid(Value):
    """`length` intervals of `step` cycles from `start` on, and the lengths of the other axes."""

    start: int
    step: int
    length: int
    xccs: int = 1
    engines: int = 1
    units: int = 1

    def times(self, count: int) -> np.ndarray:
        """The first cycles of `count` intervals, int64."""
        return self.start + self.step * np.arange(count, dtype=np.int64)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Lengths of XCC, SE, CU, T."""
        return self.xccs, self.engines, self.units, self.length


def grid_of(raw: tuple[RawCounter, ...]) -> CounterGrid | None:
    """Return a grid for all these counters; None if they have no sample.

    It starts an interval before the first sample, so that an interval ends where its sample was taken.  If
    tensors would have more than `MAX_CELLS` numbers, intervals get longer by that factor.
    """
    raw = tuple(counter for counter in raw if len(counter.samples))
    if not raw:
        return None
    step = min(counter.interval for counter in raw)
    samples = [counter.samples for counter in raw]
    first = min(int(one.time[0]) for one in samples)
    last = max(int(one.time[-1]) for one in samples)
    sizes = tuple(max(int(getattr(one, axis).max()) for one in samples) + 1 for axis in ("xcc", "se", "cu"))
    length = max(1, round((last - first) / step) + 1)
    joined = -(-length * int(np.prod(sizes)) // MAX_CELLS)
    start = first - step
    return CounterGrid(start, step * joined, -(-length // joined), *sizes)


def tensor(samples: Samples, grid: CounterGrid, interval: int = 0) -> np.ndarray:
    """Return the sum of the samples in each interval of each place, float64 [XCC, SE, CU, T].

    A sample covers the `interval` before its time, and counts in the grid interval that holds most of it.
    """
    at = (samples.time - grid.start - (interval or grid.step) // 2) // grid.step
    at = np.clip(at, 0, grid.length - 1)
    place = (samples.xcc.astype(np.int64) * grid.engines + samples.se) * grid.units + samples.cu
    cells = int(np.prod(grid.shape))
    return np.bincount(place * grid.length + at, samples.value, cells).reshape(grid.shape)


class Tensors(Mapping[str, np.ndarray]):
    """The tensors that formulas may use of a family of counters, each computed when needed.

    Raw counters, with or without `SQ_`; `SCLOCK` [1, 1, 1, T], the grid's times; `RCLOCK` [1, SE, 2, n], both
    clocks at the clock samples; the numbers NUM_XCC, NUM_SE, NUM_CU, NUM_SAMPLES, INTERVAL (cycles of the
    grid), FREQUENCY (of the constant clock in Hz, as the trace states it) and SHADER_HZ.  A counter of single
    SIMDs also has its sum under the name without mask.
    """

    def __init__(
        self,
        counters: Counters,
        family: CounterFamily,
        clock: Clock,
        *,
        engines: Collection[int] | None = None,
        units: Collection[int] | None = None,
    ) -> None:
        self._raw = counters.of(family)
        self.names = tuple(counter.name for counter in self._raw)
        self.grid = grid_of(self._raw)
        self._places = engines, units if family is CounterFamily.SQ else None
        self._made: dict[str, np.ndarray] = {}
        self._makers = {} if self.grid is None else self._all(self.grid, clock)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def _all(self, grid: CounterGrid, clock: Clock) -> dict[str, Callable[[], np.ndarray]]:
        numbers: dict[str, float] = dict(
            zip(("NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES"), grid.shape, strict=True)
        )
        rates = {"FREQUENCY": clock.frequency, "SHADER_HZ": clock.shader_hz}
        numbers |= {"INTERVAL": grid.step, **{name: rate for name, rate in rates.items() if is_rate(rate)}}
        makers = dict(self._aliases())
        for counter in self._raw:
            samples = counter.samples.of(*self._places)
            makers[counter.name] = partial(tensor, samples, grid, counter.interval)
        makers["SCLOCK"] = lambda: grid.times(grid.length).astype(np.float64).reshape(1, 1, 1, -1)
        if clock.samples:
            makers["RCLOCK"] = lambda: clock_tensor(clock, grid.engines)
        return makers | {name: partial(scalar, value) for name, value in numbers.items()}

    def _aliases(self) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
        """Other names of raw counters: with or without `SQ_`, and without the mask if that is unambiguous."""
        for counter in self._raw:
            other = (
                counter.name.removeprefix("SQ_")
                if counter.family is CounterFamily.SPM
                else f"SQ_{counter.name}"
            )
            yield other, partial(self.__getitem__, counter.name)
        for plain in {counter.plain for counter in self._raw}.difference(self.names):
            parts = [counter for counter in self._raw if counter.plain == plain]
            masks = [counter.simds for counter in parts]
            if sum(masks) == np.bitwise_or.reduce(masks):
                for name in (plain, f"SQ_{plain}"):
                    yield name, partial(self._sum, parts)

    def _sum(self, parts: Sequence[RawCounter]) -> np.ndarray:
        return np.sum([self[part.name] for part in parts], axis=0)


def clock_tensor(clock: Clock, engines: int) -> np.ndarray:
    """Return both clocks at the clock samples, float64 [1, SE, 2, n]: aligned shader cycles, realtime ticks.

    Ticks count from the smallest of all.  If an engine has fewer samples than another, its last sample is
    repeated, so that last minus first is right.
    """
    engines = max(engines, max(clock.samples) + 1)
    longest = max(len(one.shader) for one in clock.samples.values())
    zero = min(int(one.realtime.min()) for one in clock.samples.values())
    table = np.zeros((1, engines, 2, longest))
    for se, one in clock.samples.items():
        for row, column in enumerate((one.shader + clock.offsets.get(se, 0), one.realtime - zero)):
            table[0, se, row] = np.pad(column, (0, longest - len(column)), mode="edge")
    return table


def simd_names(simds: int) -> str:
    """Return the SIMDs of a mask as text: "all SIMDs", "SIMD0", "SIMD0, SIMD2"."""
    if simds == ALL_SIMDS:
        return "all SIMDs"
    return ", ".join(f"SIMD{simd}" for simd in range(4) if simds >> simd & 1)
