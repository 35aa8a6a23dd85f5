"""Waves leave a walk as they end: the same waves, whatever room the walk has, and no memory for what left."""

import random
import sys
from typing import Any

import numpy as np
import pytest

from rcv_py.formats.sqtt import walked
from rcv_py.formats.sqtt.decode import decode, decode_streamed
from rcv_py.formats.sqtt.records import WaveRecords
from tests.formats.sqtt import mangled
from tests.formats.sqtt.rdna_encoder import Encoder
from tests.formats.sqtt.rdna_streams import storm, streams
from tests.formats.sqtt.test_rdna_fuzz import same
from tests.support.programs import finished

PEAK = """
import resource
from bench.raw_rdna import looped
from rcv_py.formats.sqtt.decode import decode_streamed
data = looped(11, 0x1000, 24 << 20)
found, most = [], lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
decode_streamed(data[:1 << 16], lambda waves, rank: None)
before = most()
decode_streamed(data, lambda waves, rank: found.append(len(waves.time)))
print(sum(found), (most() - before) << 10)
"""


def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let columns begin with as little room as they can."""
    monkeypatch.setattr(walked, "ROOM", 2 * walked.SPARE)
    monkeypatch.setattr(walked, "LIVES", 2 * walked.OF_ONE_TOKEN)


@pytest.mark.parametrize("name", ["gfx9", *streams()])
def test_columns_without_room_hold_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = mangled.streams() if name == "gfx9" else [streams()[name], storm(12, 300)]
    whole = [decode(data) for data in sources]
    narrow(monkeypatch)
    for data, one in zip(sources, whole, strict=True):
        same(decode(data), one)


@pytest.mark.parametrize("family", mangled.FAMILIES)
def test_damaged_streams_are_the_same_without_room(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = [mangled.FAMILIES[family](random.Random(f"room {number}")) for number in range(40)]
    whole = [mangled.read(one) for one in data]
    narrow(monkeypatch)
    assert [mangled.read(one) for one in data] == whole


def test_waves_are_given_away_by_slot_with_their_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(11)
    for number in range(1000):
        encoder.wave_start(100 + 10 * number, number % 5, (0, 0, 0))
        encoder.add(105 + 10 * number, "valu", number % 5 << 7)
    narrow(monkeypatch)
    parts: list[tuple[WaveRecords, np.ndarray]] = []
    stream = decode_streamed(encoder.stream(), lambda *part: parts.append(part))
    assert len(stream.waves) == 0
    assert len(parts) > 4
    for waves, rank in parts:
        assert np.all(np.diff(waves.slot) >= 0)
        assert np.all(np.diff(waves.begin)[np.diff(waves.slot) == 0] > 0)
        assert len(rank) == len(waves)
    assert [*range(1000)] == sorted(int(one) for _, ranks in parts for one in ranks)
    every: Any = decode(encoder.stream()).waves
    assert np.all(np.diff(every.end) >= 0)
    assert len(every.time) == 1000


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is in bytes elsewhere")
def test_memory_depends_on_the_waves_that_run_at_once() -> None:
    done = finished([sys.executable, "-c", PEAK], check=True)
    tokens, peak = map(int, done.stdout.split())
    assert tokens > 6_000_000
    assert peak < 48 << 20, "the records alone are 150 MB"
