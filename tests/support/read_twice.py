"""Captures as the product reads them, and as a slow reader that shares nothing with it does."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import plain
from tests.support import command_runs
from tests.support.reference_clock import open_as_reference

Opened = tuple[Trace, tuple[WaveBatch, ...]]


@dataclass(frozen=True)
class Case:
    """A capture with its waves."""

    trace: Trace
    batches: tuple[WaveBatch, ...]

    @property
    def waves(self) -> list[TracedWave]:
        return [wave for batch in self.batches for wave in batch.waves]


@dataclass(frozen=True)
class GoldenCase(Case):
    """A capture with its waves, and what the reference viewer computed from it."""

    golden: dict[str, Any]

    @property
    def main_row(self) -> int:
        place = tuple(self.golden["main_wave"])
        ids = [self.trace.waves.id(row) for row in range(len(self.trace.waves))]
        return next(row for row, wave in enumerate(ids) if (wave.se, wave.simd, wave.slot) == place)

    @property
    def main(self) -> TracedWave:
        return self.waves[self.main_row]


def opened(path: Path) -> Opened:
    """The capture as the product reads it, its clocks aligned to the cycle like the reference's.

    One that no test changes is read once for all tests of a process.
    """
    return _shared(path) if command_runs.is_unchanged(path) else _opened(path)


def _opened(path: Path) -> Opened:
    trace = open_as_reference(path)
    rows = list(range(len(trace.waves)))
    return trace, tuple(trace.reader.read(rows[i : i + 5]) for i in range(0, len(rows), 5))


_shared = cache(_opened)
_plainly = cache(plain.read)


def opened_plainly(path: Path) -> Opened:
    """The same with a slow reader that shares nothing with the product's."""
    return _plainly(path) if command_runs.is_unchanged(path) else plain.read(path)


READERS: dict[str, Callable[[Path], Opened]] = {"product": opened, "plain": opened_plainly}
