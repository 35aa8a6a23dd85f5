"""Captures as the product reads them, and as a slow reader that shares nothing with it does."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import plain
from tests.support import command_runs
from tests.support.equal import differences
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


def reading_differences(path: Path) -> list[str]:
    """Where the two readers do not find the same in the files of a capture.

    The plain one leaves open where waves ran, and knows kinds of instructions by fewer mnemonics.
    """
    (one, _), (other, _) = opened(path), opened_plainly(path)
    found = differences(one.waves, other.waves, "waves", ("cu", "sa", "kernel"))
    found += differences(one.code, other.code, "code", ("kind",))
    found += differences(one.occupancy, other.occupancy, "occupancy")
    found += differences((one.gfxip, one.clock.offsets), (other.gfxip, other.clock.offsets), "trace")
    waves = ([_written(wave) for wave in Case(*read).waves] for read in (opened(path), opened_plainly(path)))
    return found + differences(*waves, "wave")


def _written(wave: TracedWave) -> tuple[Any, ...]:
    """What the file of a wave says of it; line numbers of instructions are rows, of any type."""
    read = wave.tokens
    columns = [column.tolist() for column in (read.start, read.stall, read.busy, read.kind, read.line)]
    return wave.row, wave.id, wave.cu, wave.begin, wave.end, columns, wave.states, wave.waits
