"""Streams of gfx1100 and gfx1200 are decoded to the last number as their truth has it."""

from collections.abc import Callable

import numpy as np
import pytest

from rcv_py.formats.isa.program import Program, categories, written_targets
from rcv_py.formats.raw.stitch import StreamStarts, listing, stitch
from rcv_py.formats.sqtt.decode import decode
from rcv_py.formats.sqtt.records import DecodedStream
from tests.formats.sqtt.rdna_truth import Golden, simulated
from tests.formats.sqtt.wave_rows import known_waves, waves
from tests.support.fixtures import fixture_of
from tests.support.sqtt_truth import Stitched

Decoded = list[tuple[Golden, DecodedStream]]


decoded = fixture_of(lambda: all_decoded(simulated()), scope="module")


def all_decoded(goldens: list[Golden]) -> Decoded:
    return [(golden, decode(golden.data.tobytes())) for golden in goldens]


def occupancy(stream: DecodedStream, base: int) -> list[list[int]]:
    told = stream.occupancy
    entry = told.entry.astype(np.int64) - base
    columns = (told.time, told.is_start, told.cu, told.simd, told.slot, told.me, told.pipe, entry)
    return np.stack(columns, axis=1).tolist()


CHECKS: dict[str, tuple[Callable[[Golden, DecodedStream], object], Callable[[Golden], object]]] = {
    "waves": (lambda _, stream: waves(stream), lambda golden: known_waves(golden.truth["waves"])),
    "occupancy": (
        lambda golden, stream: occupancy(stream, golden.base),
        lambda golden: [row[:8] for row in golden.truth["occupancy"]],
    ),
    "realtime": (lambda _, stream: stream.realtime.tolist(), lambda golden: golden.truth["realtime"]),
    "dispatches": (
        lambda golden, stream: [
            [one.time, one.me, one.pipe, one.entry - golden.base] for one in stream.dispatches
        ],
        lambda golden: golden.truth["dispatches"],
    ),
    "other SIMD": (lambda _, stream: stream.other_simd.tolist(), lambda golden: golden.truth["other_simd"]),
    "traced place": (
        lambda _, stream: {"cu": stream.cu, "simd": stream.simds.bit_length() - 1},
        lambda golden: golden.truth["target"],
    ),
    "nothing is missing": (
        lambda _, stream: (stream.lost_at, stream.is_truncated, stream.has_lost_data),
        lambda _: (-1, False, False),
    ),
    "order of waves": (
        lambda _, stream: stream.waves.end.tolist(),
        lambda golden: sorted(wave["end"] for wave in golden.truth["waves"]),
    ),
}


@pytest.mark.parametrize("what", CHECKS)
def test_a_stream_tells_what_the_golden_has(what: str, decoded: Decoded) -> None:
    ours, theirs = CHECKS[what]
    for golden, stream in decoded:
        assert ours(golden, stream) == theirs(golden), golden.name


def test_every_token_stands_at_its_instruction(decoded: Decoded) -> None:
    stitched = 0
    for golden, stream in decoded:
        if not len(stream.waves.time):
            continue
        address, size, text = zip(*golden.code, strict=True)
        places = np.array(address, dtype=np.uint64)
        targets = written_targets(places, text)
        sizes = np.array(size, dtype=np.uint8)
        lines = listing([(1, Program("kernel", places, sizes, text, categories(text), targets))])
        waves = stream.waves
        inside = waves.entry - np.uint64(golden.base)
        starts = StreamStarts(lines.rows(np.ones(len(waves), int), inside), np.zeros(0, dtype=np.int32))
        done = Stitched(*stitch(waves, lines, starts, stream.gfxip, stream.excludes_barrier_waits))
        assert done.is_complete, golden.name
        at = lines.address[done.row].tolist()
        order = np.lexsort((waves.begin, waves.slot))
        found = [at[slice(*done.waves.token_first[row : row + 2])] for row in order.tolist()]
        told = sorted(golden.truth["waves"], key=lambda wave: (wave["slot"], wave["begin"]))
        assert found == [[row[2] for row in wave["insts"]] for wave in told], golden.name
        stitched += len(at)
    assert stitched == sum(len(stream.waves.time) for _, stream in decoded) > 5000
