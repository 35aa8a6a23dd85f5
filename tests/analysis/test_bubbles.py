"""Bubbles: drawings, and the definition followed cycle by cycle."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.latency.bubbles import BUBBLES, Bubbles
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from tests.analysis import build
from tests.support.columns import in_rows
from tests.support.opened import VARIED, all_waves, traces_of
from tests.support.simd_cycles import simds

TEXTS = [f"v_mov_b32 v{i}, 0" for i in range(4)]


def of(*waves: TracedWave, gfxip: int = 9) -> Bubbles:
    trace = build.trace(build.code(TEXTS), waves, gfxip=gfxip)
    return BUBBLES[ReferenceRule.OURS].of(trace, [build.batch(*waves)])


def charges(found: Bubbles) -> dict[int, tuple[float, float, float]]:
    columns = (found.line, found.idle, found.stall, found.drain)
    return {int(line): (float(a), float(b), float(c)) for line, a, b, c in zip(*columns, strict=True)}


trace = traces_of(VARIED)


def test_every_bubble_is_charged_exactly_once_however_waves_are_read(trace: Trace) -> None:
    whole = BUBBLES[ReferenceRule.OURS].of(trace, [all_waves(trace)])
    assert whole.total.sum() == pytest.approx(whole.bubble, abs=1e-6)
    parts = [trace.reader.read(list(range(i, len(trace.waves), 3))) for i in range(min(3, len(trace.waves)))]
    other = BUBBLES[ReferenceRule.OURS].of(trace, [*parts, parts[0]])
    assert charges(other) == charges(whole)
    assert (other.resident, other.issuing) == (whole.resident, whole.issuing)


def test_a_stall_that_another_wave_covers_costs_nothing() -> None:
    first = build.wave("V|vvvvvvV", [0, 1], row=0)
    other = build.wave("..VVVV...", [2], row=1, place=(0, 0, 1, 0))
    found = of(first, other)
    # Cycles 0 and 7 are issued by the first wave, 2 to 5 by the other; 1 and 6 are shared.
    assert charges(found)[1] == (0, 1.0, 0)
    assert charges(found)[2][0] == 0.5, "idle in front of line 2 in cycle 1"
    assert found.bubble == 3
    assert charges(found)[2][2] == 0.5 + 1.0, "behind its last token in cycles 6 and 8"


def test_time_under_the_end_of_a_program_is_drain_unless_another_wave_issues(trace: Trace) -> None:
    """Cycle by cycle: s_endpgm issues in the first four only, and matrix passes are work."""
    batch = trace.reader.read(list(range(min(24, len(trace.waves)))))
    found, counted = BUBBLES[ReferenceRule.OURS].of(trace, [batch]), simds(trace, [batch])
    assert found.no_issue == sum(np.count_nonzero(simd.resident & ~simd.issue) for simd in counted)
    assert found.bubble == sum(np.count_nonzero(simd.nothing) for simd in counted)
    assert found.total.sum() == pytest.approx(found.bubble, abs=1e-6)


def test_the_reference_s_rule_knows_no_matrix_work_and_no_end(trace: Trace) -> None:
    """Cycle by cycle: a bubble is a cycle with a wave in which none has a token past its stall."""
    batch = trace.reader.read(list(range(min(24, len(trace.waves)))))
    found = BUBBLES[ReferenceRule.REFERENCE].of(trace, [batch])
    resident = issuing = bubbles = 0
    for simd in simds(trace, [batch]):
        cells = simd.cells()
        for wave in simd.waves:
            cells.add(wave.tokens.start + wave.tokens.stall, wave.tokens.end)
        resident += np.count_nonzero(simd.resident)
        issuing += np.count_nonzero(cells.covered)
        bubbles += np.count_nonzero(simd.resident & ~cells.covered)
    assert (found.resident, found.issuing, found.bubble) == (resident, issuing, bubbles)
    assert bubbles > 0
    assert found.busy_share == found.issuing / found.resident
    assert found.total.sum() == pytest.approx(found.bubble, abs=1e-6)


def test_only_the_rest_of_an_end_drains() -> None:
    texts = ["v_mov_b32 v0, 0", "s_endpgm"]
    wave = build.wave("VVSSSSSSSS", [0, 1])
    trace = build.trace(build.code(texts), [wave])
    ours = BUBBLES[ReferenceRule.OURS].of(trace, [build.batch(wave)])
    theirs = BUBBLES[ReferenceRule.REFERENCE].of(trace, [build.batch(wave)])
    assert charges(ours) == {1: (0, 0, 4.0)}, "the end lasts 8 cycles, of which it issues in 4"
    assert (theirs.bubble, theirs.issuing) == (0, 10)


def test_cycles_under_matrix_passes_are_no_bubbles() -> None:
    texts = ["v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "v_mov_b32 v9, 0"]
    wave = build.wave("MMMMvvvvvvvvvvvvvvvvVVVV", [0, 1])
    trace = build.trace(build.code(texts, kinds=[13, 6]), [wave])
    ours = BUBBLES[ReferenceRule.OURS].of(trace, [build.batch(wave)])
    theirs = BUBBLES[ReferenceRule.REFERENCE].of(trace, [build.batch(wave)])
    assert (ours.no_issue, ours.matrix, ours.bubble) == (16, 16, 4)
    assert charges(ours) == {1: (0, 4.0, 0)}, "the matrix unit works in cycles 0 to 15"
    assert (theirs.no_issue, theirs.matrix, theirs.bubble) == (16, 0, 16)


def test_waves_that_do_not_count_cover_and_are_charged_nothing() -> None:
    first = build.wave("V|vvvvvvV", [0, 1], row=0)
    other = build.wave("..VV|vvvvVV", [2, 3], row=1, place=(0, 0, 1, 0))
    trace = build.trace(build.code(TEXTS), [first, other])
    found = BUBBLES[ReferenceRule.OURS].of(trace, [build.batch(first, other)], {0})
    assert (found.resident, found.waves) == (8, 1)
    assert charges(found) == {1: (0, 4.0, 0)}, "the other issues in cycles 2 and 3"
    assert found.bubble == 4


def test_waves_on_other_simds_do_not_cover() -> None:
    first = build.wave("vvvvV", [0], row=0)
    other = build.wave("VVVVV", [1], row=1, place=(0, 1, 0, 0))
    found = of(first, other)
    assert charges(found) == {0: (0, 4.0, 0)}
    assert found.place.tolist() == [0, 1]
    assert found.of_simd["bubble"].tolist() == [4, 0]
    assert found.of_simd["issuing"].tolist() == [1, 5]


def test_three_waves_share_a_cycle_exactly() -> None:
    waves = [build.wave("vvvvV", [i], row=i, place=(0, 0, i, 0)) for i in range(3)]
    found = of(*waves)
    assert found.stall.tolist() == [4 / 3, 4 / 3, 4 / 3]
    assert found.total.sum() == found.bubble


def test_no_waves_have_no_bubbles() -> None:
    trace = build.trace(build.code(TEXTS), [])
    found = BUBBLES[ReferenceRule.OURS].of(trace, [])
    assert (len(found), found.bubble, found.busy_share, found.waves) == (0, 0, 0.0, 0)


def test_a_wave_without_tokens_drains() -> None:
    found = of(build.wave(".....", []))
    assert charges(found) == {-1: (0, 0, 5.0)}


def oracle(waves: list[TracedWave]) -> dict[tuple[int, str], Fraction]:
    """Each cycle of each SIMD, one after the other."""
    found: dict[tuple[int, str], Fraction] = {}
    for simd in {wave.id.simd for wave in waves}:
        mine = [wave for wave in waves if wave.id.simd == simd]
        for cycle in range(min(w.begin for w in mine), max(w.end for w in mine)):
            there = [wave for wave in mine if wave.begin <= cycle < wave.end]
            if there and not any(_issues(wave, cycle) for wave in mine):
                for wave in there:
                    key = _waits_for(wave, cycle)
                    found[key] = found.get(key, Fraction(0)) + Fraction(1, len(there))
    return found


def _rows(wave: TracedWave) -> list[tuple[int, int, int, int]]:
    t = wave.tokens
    return in_rows(t.start, t.start + t.stall, t.end, t.line)


def _issues(wave: TracedWave, cycle: int) -> bool:
    return any(moment <= cycle < end for _, moment, end, _ in _rows(wave))


def _waits_for(wave: TracedWave, cycle: int) -> tuple[int, str]:
    for start, _, end, line in _rows(wave):
        if start <= cycle < end:
            return line, "stall"
        if cycle < start:
            return line, "idle"
    return (_rows(wave)[-1][3] if len(wave.tokens) else -1), "drain"


PICTURE = st.text("vVvV.|", min_size=1, max_size=24)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(PICTURE, st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=5))
def test_the_sweep_does_what_the_definition_says(drawn: list[tuple[str, int, int]]) -> None:
    waves = []
    for row, (picture, begin, simd) in enumerate(drawn):
        count = len(build.drawing.tokens(picture))
        lines = [i % len(TEXTS) for i in range(count)]
        waves.append(build.wave(picture, lines, row=row, begin=begin, place=(0, simd, row, 0)))
    found, expected = of(*waves), oracle(waves)
    for (line, way), cycles in expected.items():
        at = np.flatnonzero(found.line == line)
        assert getattr(found, way)[at].sum() == pytest.approx(float(cycles), abs=1e-9)
    assert found.total.sum() == pytest.approx(float(sum(expected.values())), abs=1e-9)
    assert found.bubble == round(float(sum(expected.values())))
