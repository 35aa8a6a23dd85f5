"""Captures with reference results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch
from tests.analysis import plain
from tests.support import captures


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


@pytest.fixture(params=[*captures.GOLDEN, *captures.SYNTHETIC])
def case(request: pytest.FixtureRequest) -> Case:
    name = request.param
    if name in captures.SYNTHETIC:
        path, golden = captures.synthetic_path(name), captures.golden(f"synthetic/{name}.rcv.json")
    else:
        path, golden = captures.trace_path(name), captures.golden(f"rcv/{name}.json")
    return Case(*plain.read(path), golden)
