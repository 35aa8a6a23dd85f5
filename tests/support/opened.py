"""Captures that no test changes, opened once for all tests of a process."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch, WaveColumns
from rcv_py.work.load import WaveStream
from tests.support.fixtures import fixture_of_each
from tests.support.samples import sample_path

# Simulated captures that differ in what they hold: a rule that every capture obeys is tried on each of them.
VARIED = (
    "matmul_small",  # gfx9, two engines, sources, loops, LDS, MFMA
    "vector_add",  # hundreds of short waves
    "reduction",  # barriers and uneven loops
    "kernels",  # four kernels in one capture
    "combined",  # waits on two counters
    "groups_512",  # workgroups of eight waves, two a SIMD
    "gfx11",
    "gfx12",
)


@cache
def opened_once(folder: Path) -> Trace:
    """The trace of a folder; a batch of all of its waves is read once, too."""
    trace = open_trace(folder)
    return replace(trace, reader=_RememberingReader(trace.reader, list(range(len(trace.waves)))))


def load_all(trace: Trace, *, workers: int | None = None, lod: bool = True) -> tuple[WaveBatch, ...]:
    """All waves of a trace, by so many processes, or as many as the trace is worth."""
    return tuple(WaveStream(trace.reader, trace.waves, workers=workers, lod=lod))


def all_waves(trace: Trace) -> WaveBatch:
    """All waves of a trace, read in this process."""
    return trace.reader.read(list(range(len(trace.waves))))


def sample_trace(name: str) -> Trace:
    """A simulated capture by the name of its sample."""
    return opened_once(sample_path(name))


def traces_of(names: Iterable[str], **options: Any) -> Any:
    """A fixture for which a test runs once with each of these samples; `options` are pytest's."""
    return fixture_of_each(sample_trace, names, **options)


def sample_waves(name: str) -> tuple[Trace, WaveBatch]:
    """The same, and all of its waves."""
    trace = sample_trace(name)
    return trace, all_waves(trace)


@dataclass(frozen=True)
class _RememberingReader:
    """A reader that remembers a batch of all waves."""

    below: WaveReader
    all_rows: list[int]
    whole: list[WaveBatch] = field(default_factory=list)

    @property
    def base_clock(self) -> int:
        """That of the reader below."""
        return self.below.base_clock

    def read(self, rows: Sequence[int]) -> WaveBatch:
        """Read waves, all of them once."""
        if list(rows) != self.all_rows:
            return self.below.read(list(rows))
        if not self.whole:
            self.whole.append(self.below.read(list(rows)))
        return self.whole[0]

    def columns(self, rows: list[int]) -> WaveColumns:
        """Read waves as arrays alone."""
        return self.below.columns(rows)


def whole_sample(name: str) -> tuple[Trace, list[WaveBatch]]:
    """A simulated capture and what is read of it: all waves, in one batch."""
    trace, batch = sample_waves(name)
    return trace, [batch]
