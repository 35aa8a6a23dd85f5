"""How long accesses hold their unit: a drawing, and simulated bank conflicts."""

from pathlib import Path

import numpy as np

from rcv_py.analysis.attribution.lines import LDS
from rcv_py.analysis.latency.access_holds import ENOUGH, HOLDS
from rcv_py.formats.open import open_trace
from rcv_py.synth.write import write_folder
from tests.analysis import build
from tests.support.prediction_scenes import HARDWARE, Scene
from tests.support.prediction_truth import simulated

TEXTS = ["ds_read_b128 v[0:3], v9", "ds_read2_b32 v[0:1], v9 offset1:1", "s_endpgm"]
CODE = build.code(TEXTS, kinds=[5, 5, 11])


def queue(line: int, cycles: int, many: int = ENOUGH + 2) -> list:
    """Waves that all come at once, each of which gets the unit so many cycles after the one before."""
    places = [(0, at % 4, at // 4, 0) for at in range(many)]
    waits = ["l" * (cycles * at) for at in range(many)]
    return [build.wave(f"{waits[at]}LLLL", [line], row=at, place=places[at]) for at in range(many)]


def test_the_distance_of_refused_accesses_is_how_long_one_held_the_unit() -> None:
    for line, cycles, needed in ((0, 16, 8), (1, 8, 8)):
        waves = queue(line, cycles)
        found = HOLDS.of(build.trace(CODE, waves), [build.batch(*waves)])
        assert (*found.line.tolist(), *found.unit.tolist(), *found.hits.tolist()) == (line, LDS, len(waves))
        # The first had the unit at once; what is behind the last is not seen.
        assert found.refused.tolist() == [len(waves) - 1]
        assert found.stall.tolist() == [cycles * sum(range(len(waves)))]
        assert found.samples.tolist() == [len(waves) - 2]
        assert (found.held.tolist(), found.needed.tolist()) == ([cycles], [needed])
        assert found.factor.tolist() == [cycles / needed]
        assert found.is_longer.tolist() == [cycles > needed]
        assert not found.is_part


def test_few_samples_say_nothing_and_missing_simds_are_told() -> None:
    waves = [wave for wave in queue(0, 16) if wave.id.simd == 0]
    found = HOLDS.of(build.trace(CODE, waves), [build.batch(*waves)])
    assert np.isnan(found.held).all()
    assert not found.is_longer.any()
    assert found.is_part
    assert len(HOLDS.of(build.trace(CODE, []), [])) == 0


def test_waves_that_do_not_count_still_hold_the_unit() -> None:
    waves = queue(0, 16)
    found = HOLDS.of(build.trace(CODE, waves), [build.batch(*waves)], {5})
    assert (found.hits.tolist(), found.refused.tolist(), found.samples.tolist()) == ([1], [1], [1])


def test_simulated_conflicts_are_found_and_nothing_else(tmp_path: Path) -> None:
    reads = [f"ds_read_b128 v[{8 + 4 * at}:{11 + 4 * at}], v1  // conflict={2 + at % 2}" for at in range(4)]
    writes = ["ds_write_b32 v1, v60", "ds_write_b32 v1, v61  // conflict=4"]
    body = [*reads, *writes, "s_waitcnt lgkmcnt(0)"]
    tail = ["s_sub_i32 s8, s8, 1", "s_cmp_lg_u32 s8, 0", "s_cbranch_scc1 loop  // iterations=n", "s_endpgm"]
    text = "\n".join(["v_lshlrev_b32_e32 v1, 4, v0", "loop:", *body, *tail])
    scene = Scene("conflicts", text, HARDWARE[9], 4, (24,), resident=4)
    write_folder(simulated(scene).capture, tmp_path)
    trace = open_trace(tmp_path)
    found = HOLDS.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    seen = np.flatnonzero(np.isfinite(found.held))
    assert len(seen) > len(body) // 2
    for at in seen.tolist():
        one = scene.kernel.instructions[int(found.line[at]) - 1]
        truth = one.meaning.passes * int(one.notes.get("conflict", "1"))
        assert found.held[at] == truth, one.text
        assert found.is_longer[at] == (truth >= 2 * found.needed[at]), one.text
