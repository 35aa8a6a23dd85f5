"""Distances from loads to waits, and chains of cross-lane operations, on drawings and simulated captures."""

from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.analysis.latency.cross_lane import CROSS_LANE
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.synth.write import write_folder
from tests.analysis import build
from tests.support.opened import VARIED, all_waves, traces_of
from tests.support.prediction_scenes import SCENES
from tests.support.prediction_truth import simulated

TEXTS = [
    "global_load_dword v0",
    "v_add_f32 v1, v1, v2",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",
    "s_waitcnt vmcnt(0)",
    "ds_bpermute_b32 v1, v2, v1",
    "s_waitcnt lgkmcnt(0)",
    "s_cbranch_scc1 -3",
    "s_endpgm",
]
KINDS = [4, 6, TokenKind.MATRIX, 9, 5, 9, 7, 11]


def drawn(*waves: tuple[str, list[int]]) -> tuple[Trace, list[WaveBatch]]:
    made = [build.wave(picture, lines, row=row) for row, (picture, lines) in enumerate(waves)]
    return build.trace(build.code(TEXTS, kinds=KINDS), made), [build.batch(*made)]


def test_distance_runs_from_issue_to_the_wait() -> None:
    trace, batches = drawn(("fFF|VV|M|M|..iiiiiiii|", [0, 1, 2, 2, 3]))
    found = LOAD_TO_USE.of(trace, batches)
    assert (found.line.tolist(), found.n.tolist(), found.wait.tolist()) == ([0], [1], [3])
    assert found.median.tolist() == [6], "2 + 1 + 1 cycles of work and 2 idle ones"
    assert (found.matrix.tolist(), found.vector.tolist()) == ([2], [1])
    assert found.latency.tolist() == [14.0]
    assert (found.short.tolist(), found.is_short.tolist(), found.stall.tolist()) == ([1], [True], [8])


def test_only_the_first_wait_is_the_use() -> None:
    trace, batches = drawn(("F|iiiiii|VVVV|I", [0, 3, 1, 3]))
    found = LOAD_TO_USE.of(trace, batches)
    assert (found.n.tolist(), found.median.tolist()) == ([1], [0])


trace = traces_of(VARIED)


def test_distances_fit_what_waits_tell(trace: Trace) -> None:
    batches = [all_waves(trace)]
    found, waits = LOAD_TO_USE.of(trace, batches), WAITS.of(trace, batches)
    assert found.stall.sum() == waits.blocking.charged.sum(), "stall is charged as in the table of waits"
    assert len(found)
    latency = dict(zip(waits.latency.line.tolist(), waits.latency.median.tolist(), strict=True))
    known = np.array([latency.get(line, np.nan) for line in found.line.tolist()])
    np.testing.assert_array_equal(found.latency, known)
    assert np.all(found.n <= trace.code.hits[found.line])
    assert np.all(found.short <= found.n)
    assert np.all((found.p10 <= found.median) & (found.median <= found.p90))


LINK = [4, 5, 1]


def test_links_that_wait_for_each_other_are_a_chain() -> None:
    picture = "L|iiiiI|VV|" * 3 + "I"
    trace, batches = drawn((picture, [*LINK * 3, 7]), (picture, [*LINK * 3, 7]))
    found = CROSS_LANE.of(trace, batches)
    assert (found.first.tolist(), found.last.tolist()) == ([4], [5])
    assert (found.links.tolist(), found.times.tolist()) == ([3], [2])
    assert found.cycles.tolist() == [2 * (8 + 8 + 5)]
    assert found.cycles_per_link.tolist() == [7.0]
    assert found.stall.tolist() == [2 * 3 * 4]


@pytest.mark.parametrize(
    "lines",
    [
        [4, 5, 1, 7],  # one link is not a chain
        [4, 5, 4, 5, 7],  # no arithmetic in between
        [4, 5, 1, 6, 4, 5, 7],  # a branch in between
    ],
)
def test_what_is_no_chain(lines: list[int]) -> None:
    letters = {4: "L", 5: "iI", 1: "V", 6: "N", 7: "I"}
    trace, batches = drawn(("|".join(letters[line] for line in lines), lines))
    assert len(CROSS_LANE.of(trace, batches)) == 0


def test_a_chain_does_not_cross_waves() -> None:
    one = ("L|iI|V|I", [4, 5, 1, 7])
    trace, batches = drawn(one, one)
    assert len(CROSS_LANE.of(trace, batches)) == 0


@pytest.mark.parametrize("name", ["chain", "chain_11", "chain_12"])
def test_chains_of_a_simulated_reduction(name: str, tmp_path: Path) -> None:
    """Five moves that each wait for the one before; from the first issue to the end of the last wait."""
    scene = SCENES[name]
    write_folder(simulated(scene).capture, tmp_path / "it")
    trace = open_trace(tmp_path / "it")
    batch = all_waves(trace)
    far = (1, 2, 4, 8, 16)
    first, waits = scene.at("move1"), [scene.at(f"wait{step}") for step in far]
    times = cycles = stall = 0
    for wave in batch.waves:
        one, began = wave.tokens, 0
        rows = zip(one.line.tolist(), (one.start + one.stall).tolist(), one.stall.tolist(), strict=True)
        for line, issue, waited in rows:
            began = issue if line == first else began
            stall += waited if line in waits else 0
            if line == waits[-1]:
                times, cycles = times + 1, cycles + issue - began
    found = CROSS_LANE.of(trace, [batch])
    columns = (found.first, found.last, found.links, found.times, found.cycles, found.stall)
    expected = [first, waits[-1], len(far), times, cycles, stall]
    assert np.stack(columns, axis=1).tolist() == [expected]
    assert found.cycles_per_link[0] == pytest.approx(cycles / times / len(far))
