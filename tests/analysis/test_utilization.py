"""Tokens folded onto the units of a compute unit."""

import numpy as np
import pytest

from rcv_py.analysis.device.utilization import SHARED, Track, utilization
from rcv_py.model.device import OtherSimd
from rcv_py.model.waves import TracedWave
from tests.analysis import build

CODE = build.code(["v_a"] * 9)


def tracks(*waves: TracedWave, gfxip: int = 9, **options: object) -> dict[str, Track]:
    """Tracks by name."""
    siblings = options.pop("other_simd", ())
    trace = build.trace(CODE, waves, gfxip=gfxip, other_simd=siblings)  # type: ignore[arg-type]
    return {track.name: track for track in utilization(waves, trace, **options)}  # type: ignore[arg-type]


def spans(track: Track) -> list[tuple[int, int]]:
    """(start, end) of what occupied the unit."""
    return list(zip(track.start.tolist(), track.end.tolist(), strict=True))


def test_stall_is_hidden_but_a_step_of_the_clock_stays() -> None:
    wave = build.wave("vvvvVVVV|vvvvvvVV|VV")
    assert spans(tracks(wave)["VALU0"]) == [(4, 8), (12, 16), (16, 18)]
    assert spans(tracks(wave, gfxip=12)["VALU0"]) == [(4, 8), (14, 16), (16, 18)]


def test_waits_count_with_their_last_cycles() -> None:
    wave = build.wave("IIIIIIII|iiiiiiii|II")
    assert spans(tracks(wave)["IMMED"]) == [(4, 8), (12, 16), (16, 18)]
    assert tracks(wave)["IMMED"].simd == SHARED


@pytest.mark.parametrize(
    ("gfxip", "names"),
    [
        (9, ["VALU2", "VMEM2", "SCAL2", "IMMED"]),
        (12, ["WMMA2", "VALU2", "LDS2", "VMEM2", "SCAL2", "JUMP", "IMMED"]),
    ],
)
def test_which_unit_a_kind_occupies(gfxip: int, names: list[str]) -> None:
    wave = build.wave("VV|MM|LL|BB|FF|CC|SS|JJ|NN|II", [0] * 10, place=(0, 2, 0, 0))
    assert list(tracks(wave, gfxip=gfxip)) == names


def test_waves_of_a_simd_share_its_tracks_and_remember_whose_token_it_was() -> None:
    first = build.wave("VVVV....VVVV", row=0, place=(0, 1, 0, 0))
    second = build.wave("..VVVV", row=5, place=(0, 1, 1, 0))
    track = tracks(first, second)["VALU1"]
    assert (track.wave.tolist(), track.token.tolist()) == ([0, 5, 0], [0, 0, 1])
    assert spans(track) == [(0, 4), (2, 6), (8, 12)]


def test_the_matrix_pipe_works_for_the_passes_of_an_instruction_after_another() -> None:
    """`v_mfma_f32_16x16x16_f16` takes 16 cycles on gfx950; the drawing shows 4 of them as issue."""
    code = build.code(["v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"], kinds=[13])
    waves = [
        build.wave("mmmmMMMM" + "." * 52 + "MMMM", [0, 0], row=0, place=(0, 1, 0, 0)),
        build.wave("......MMMM", [0], row=3, place=(0, 1, 1, 0)),
        build.wave("MMMM", [0], row=4, place=(0, 2, 0, 0)),
    ]
    found = utilization(waves, build.trace(code, waves))
    found = {track.name: track for track in found if track.unit == "MATRIX"}
    assert spans(found["MATRIX1"]) == [(4, 20), (20, 36), (60, 76)], "the second waits for the first"
    assert (found["MATRIX1"].wave.tolist(), found["MATRIX1"].token.tolist()) == ([0, 3, 0], [0, 0, 1])
    assert spans(found["MATRIX2"]) == [(0, 16)]


def test_the_sibling_simd_counts_as_vector_memory_of_its_number() -> None:
    sibling = OtherSimd(0, 1, 1, np.array([3]), np.array([5]), np.array([3], dtype=np.uint8))
    elsewhere = OtherSimd(0, 2, 1, np.array([3]), np.array([5]), np.array([3], dtype=np.uint8))
    found = tracks(build.wave("BB"), gfxip=12, other_simd=(sibling, elsewhere))
    assert spans(found["VMEM1"]) == [(3, 8)]
    assert (found["VMEM1"].wave.tolist(), found["VMEM1"].token.tolist()) == ([-1], [-1])


def test_no_waves_no_tracks() -> None:
    assert tracks() == {}
