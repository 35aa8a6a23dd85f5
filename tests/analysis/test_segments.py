"""Segments between barriers: a drawing of two waves that take turns, and a simulated kernel that does."""

import tempfile
from pathlib import Path

import numpy as np

from rcv_py.analysis.iterations.segments import OUTSIDE, SEGMENTS, Segments
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.synth.write import write_folder
from tests.analysis import build
from tests.support.prediction_scenes import SCENES
from tests.support.prediction_truth import simulated

MFMA = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"
TEXTS = ["v_mov_b32 v0, 0", "s_barrier", MFMA, "s_barrier", "s_endpgm"]
CODE = build.code(TEXTS, kinds=[6, 9, 13, 9, 11])
PASSES = 32  # cycles of that form since gfx942, whose spelling it is: 8 passes of four
# Both leave their barriers at cycles 6, 11 and 16.  One multiplies while the other does not.
ONE = build.wave("VV|iiiI|MMMM|I|VV|iiI|V", [0, 1, 2, 3, 0, 1, 4], row=0, place=(0, 0, 0, 0))
OTHER = build.wave("MMMMM|I|V|iiiI|MMMM|I|V", [2, 3, 0, 1, 2, 3, 4], row=1, place=(0, 1, 0, 0))


def rows(found: Segments) -> dict[tuple[int, int], int]:
    return {pair: at for at, pair in enumerate(zip(found.first.tolist(), found.last.tolist(), strict=True))}


def test_waves_that_take_turns_name_what_the_other_does() -> None:
    trace = build.trace(CODE, [ONE, OTHER])
    found = SEGMENTS.of(trace, [build.batch(ONE, OTHER)])
    at = rows(found)
    assert set(at) == {(1, 3), (3, 1), (OUTSIDE, 1), (OUTSIDE, 3), (1, OUTSIDE), (3, OUTSIDE)}
    multiplies, other = at[1, 3], at[3, 1]
    for row, waiting, last, beside in ((multiplies, 1 + 1, 2, (3, 1)), (other, 4 + 3, 0, (1, 3))):
        assert (found.hits[row], found.waves[row], found.cycles[row], found.median[row]) == (2, 2, 10, 5)
        assert (found.waiting[row], found.met[row], found.came_last[row]) == (waiting, 2, last)
        assert (found.beside_first[row], found.beside_last[row]) == beside
        assert found.beside[row] == 2
    assert found.kinds[multiplies, TokenKind.MATRIX] == 8
    assert found.kinds[other, TokenKind.VALU] == 3
    assert found.kinds[[multiplies, other], TokenKind.IMMED].tolist() == [0, 0], "barriers aside"
    assert found.matrix_busy[[multiplies, other]].tolist() == [2 * PASSES, 0]
    assert (found.cycles[at[OUTSIDE, 3]], found.waiting[at[OUTSIDE, 3]]) == (6, 1)
    assert found.cycles.sum() == 2 * 17


def test_waves_that_do_not_count_still_meet_and_run_beside() -> None:
    trace = build.trace(CODE, [ONE, OTHER])
    found = SEGMENTS.of(trace, [build.batch(ONE, OTHER)], {0})
    row = rows(found)[1, 3]
    assert (found.hits[row], found.cycles[row], found.met[row], found.came_last[row]) == (1, 5, 1, 1)
    assert (found.beside_first[row], found.beside_last[row], found.beside[row]) == (3, 1, 1)
    assert len(SEGMENTS.of(trace, [build.batch(ONE, OTHER)], set())) == 0


def test_all_alike_have_nothing_beside_and_without_barriers_there_are_none() -> None:
    same = [build.wave("V|iI|V", [0, 1, 4], row=row, place=(0, row, 0, 0)) for row in range(2)]
    trace = build.trace(CODE, same)
    assert SEGMENTS.of(trace, [build.batch(*same)]).beside.tolist() == [0, 0]
    plain = build.wave("VV|V", [0, 4])
    assert len(SEGMENTS.of(build.trace(CODE, [plain]), [build.batch(plain)])) == 0


def test_halves_of_a_simulated_workgroup_take_turns(tmp_path: Path) -> None:
    """Four matrix instructions an iteration stand in one of the two segments of the loop."""
    scene = SCENES["ping_pong"]
    with tempfile.TemporaryDirectory() as folder:
        write_folder(simulated(scene).capture, Path(folder))
        trace = open_trace(Path(folder))
        found = SEGMENTS.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    barriers = [1 + row for row, one in enumerate(scene.kernel.instructions) if one.text == "s_barrier"]
    # In front of the loop for one half, two in it, behind it for the other
    enter, multiply, leave, _ = barriers
    at = rows(found)
    waves, rounds = len(trace.waves), scene.rounds[0]
    busy, fetch = at[multiply, leave], at[leave, multiply]
    assert found.hits[busy] == waves * rounds
    assert found.hits[fetch] == waves * (rounds - 1)
    assert found.matrix_busy[busy] == waves * rounds * 4 * PASSES
    assert found.matrix_busy.sum() == found.matrix_busy[busy]
    assert (found.beside_first[fetch], found.beside_last[fetch]) == (multiply, leave)
    assert found.beside[fetch] == found.hits[fetch]
    assert at[enter, multiply] is not None
    lives = sum(run.end - run.begin for run in simulated(scene).capture.waves)
    assert int(found.cycles.sum()) == lives
    assert np.all(found.came_last <= found.met)
