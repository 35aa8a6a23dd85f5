"""Captures with reference results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch
from tests.analysis import plain
from tests.support import captures
from tests.support.reference_clock import open_as_reference


@dataclass(frozen=True)
class Case:
    """A capture with its waves, and what the reference viewer computed from it."""

    trace: Trace
    batches: tuple[WaveBatch, ...]
    golden: dict[str, Any]

    @property
    def waves(self) -> list[Wave]:
        return [wave for batch in self.batches for wave in batch.waves]

    @property
    def main_row(self) -> int:
        place = tuple(self.golden["main_wave"])
        ids = [self.trace.waves.id(row) for row in range(len(self.trace.waves))]
        return next(row for row, wave in enumerate(ids) if (wave.se, wave.simd, wave.slot) == place)

    @property
    def main(self) -> Wave:
        return self.waves[self.main_row]


def opened(path: Path) -> tuple[Trace, tuple[WaveBatch, ...]]:
    """The capture as the product reads it, its clocks aligned to the cycle like the reference's.

    A real one is read once for all tests of a process.
    """
    return _shared(path) if path.is_relative_to(captures.SHARED) else _opened(path)


def _opened(path: Path) -> tuple[Trace, tuple[WaveBatch, ...]]:
    trace = open_as_reference(path)
    rows = list(range(len(trace.waves)))
    return trace, tuple(trace.reader.read(rows[i : i + 5]) for i in range(0, len(rows), 5))


_shared = cache(_opened)
_plainly = cache(plain.read)


def opened_plainly(path: Path) -> tuple[Trace, tuple[WaveBatch, ...]]:
    """The same with a slow reader that shares nothing with the product's."""
    return _plainly(path) if path.is_relative_to(captures.SHARED) else plain.read(path)


@pytest.fixture(params=[opened, opened_plainly], ids=["product", "plain"])
def read(request: pytest.FixtureRequest) -> Callable[[Path], tuple[Trace, tuple[WaveBatch, ...]]]:
    """Reads a capture: with the product's readers, and with a slow one that shares nothing with them."""
    return request.param


@pytest.fixture(params=[*captures.GOLDEN, *captures.SYNTHETIC])
def case(request: pytest.FixtureRequest, read: Callable[[Path], tuple[Trace, tuple[WaveBatch, ...]]]) -> Case:
    name = request.param
    if name in captures.SYNTHETIC:
        path, golden = captures.synthetic_path(name), captures.golden(f"synthetic/{name}.rcv.json")
    else:
        path, golden = captures.trace_path(name), captures.golden(f"rcv/{name}.json")
    return Case(*read(path), golden)
