"""Any bytes behind a header of RDNA: an answer, columns that fit together, and no place that is not there."""

import random

import numpy as np
import pytest

from rcv_py.formats.sqtt import rdna, rdna_walk
from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import DecodedStream, OccupancyRecords, WaveRecords
from tests.formats.sqtt.rdna_encoder import Encoder
from tests.formats.sqtt.rdna_streams import busy, storm, streams
from tests.formats.sqtt.rdna_truth import largest
from tests.formats.sqtt.whole_stream import check, held_bytes
from tests.fuzz.mutate import damaged_bytes
from tests.support.checked_kernels import checked

HEADER = 8


def same(one: DecodedStream | WaveRecords | OccupancyRecords, other: object) -> None:
    for name in one.__struct_fields__:
        ours, theirs = getattr(one, name), getattr(other, name)
        if isinstance(ours, np.ndarray):
            assert np.array_equal(ours, theirs), name
            assert ours.dtype == theirs.dtype
        elif isinstance(ours, (WaveRecords, OccupancyRecords)):
            same(ours, theirs)
        elif name != "dispatches":
            assert ours == theirs, name


@pytest.mark.parametrize("seed", range(5))
def test_mutated_streams_have_an_answer(seed):
    rng = random.Random(seed)
    sources = [*streams().values(), largest(3).tobytes(), largest(4).tobytes()]
    for _ in range(120):
        source = rng.choice(sources)
        data = source[:HEADER] + damaged_bytes(rng, source[HEADER:])
        check(decode(data), len(data))


@pytest.mark.parametrize("version", range(1, 6))
def test_noise_has_an_answer(version):
    rng = random.Random(version)
    header = (0b0010001 | version << 7 | 1 << 13).to_bytes(8, "little")
    for size in (0, 1, 2, 3, 7, 100, 5000, 40_000):
        data = header + rng.randbytes(size)
        check(decode(data), len(data))


@pytest.mark.parametrize("name", streams())
def test_plain_python_reads_the_same_and_nothing_outside(name):
    rng = random.Random(name)
    source = streams()[name]
    for data in (source, *(source[:HEADER] + damaged_bytes(rng, source[HEADER:]) for _ in range(6))):
        compiled = decode(data)
        with checked(rdna_walk, "walk"):
            same(decode(data), compiled)


@pytest.mark.parametrize("version", [3, 4])
def test_every_cut_of_a_stream_is_read_as_far_as_it_goes(version):
    data = largest(version).tobytes()
    whole = decode(data)
    for size in range(8, len(data), 97):
        stream = decode(data[:size])
        check(stream, size)
        assert stream.occupancy.time.tolist() == whole.occupancy.time[: len(stream.occupancy.time)].tolist()


@pytest.mark.parametrize("generation", [11, 12])
def test_what_comes_of_a_stream_is_bounded_by_its_size(generation):
    data = storm(generation, 20_000)
    stream = decode(data)
    check(stream, len(data))
    assert len(stream.waves.time) == 16 * 20_000 + 16
    assert held_bytes(stream) > 50 * len(data)


def test_many_waves_and_many_launches_cost_what_they_are():
    encoder = Encoder(11)
    for number in range(3000):
        encoder.dispatch(10 + number)
        encoder.wave_start(10 + number, number % 32, (0, 0, 0))
    data = encoder.stream()
    stream = decode(data)
    check(stream, len(data))
    assert (len(stream.waves), len(stream.dispatches)) == (3000, 3000)


@pytest.mark.parametrize("name", streams())
def test_a_stream_that_is_split_anywhere_is_read_the_same(name, monkeypatch):
    rng = random.Random(name)
    source = streams()[name]
    for data in (source, *(source[:HEADER] + damaged_bytes(rng, source[HEADER:]) for _ in range(8))):
        whole = decode(data)
        monkeypatch.setattr(rdna, "STRETCH", rng.choice((3, 7, 64, 500)))
        same(decode(data), whole)
        monkeypatch.undo()


def test_the_same_bytes_are_read_the_same_twice():
    data = busy(12)
    same(decode(data), decode(data))
