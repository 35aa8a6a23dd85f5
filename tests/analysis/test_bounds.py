"""Bounds: unions over the waves of a SIMD, of cycles in which nothing happens; against one cell a cycle."""

from functools import cache

import numpy as np

from rcv_py.analysis.attribution.attribute import claims_of
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.stream import stream_of
from rcv_py.analysis.core.parcels import parcels
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.bounds import bounds_by
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import RANKED, SIMD_CYCLES
from rcv_py.analysis.findings.inputs import SCRATCH, FindingInputs
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED, all_waves, sample_trace
from tests.support.simd_cycles import Simd, simds

Looked = tuple[FindingInputs, list[Simd]]


def looked_at(trace: Trace) -> Looked:
    """What findings are made of, and what each SIMD did in every cycle."""
    batches = [all_waves(trace)]
    return FindingInputs(InMemory(trace, batches)), simds(trace, batches)


@cache
def looked_at_sample(name: str) -> Looked:
    return looked_at(sample_trace(name))


# Of vector_add some waves leave early and do not count; the slow count of cycles takes all waves alike.
ALL_COUNT = [name for name in VARIED if name != "vector_add"]


looked = fixture_of_each(looked_at_sample, [*ALL_COUNT, "rivals"])
# Of a kernel that waits before it enters its loop
with_loop = fixture_of_each(looked_at_sample, ["matmul_small", "reduction", "groups_512", "gfx12"])


def limit(found: list[Simd], rows: set[int]) -> int:
    """Cycles in which a wave waits in one of these instructions while nothing happens."""
    return sum(int(np.count_nonzero(simd.waiting(rows) & simd.nothing)) for simd in found)


def cause_sets(inputs: FindingInputs) -> list[np.ndarray]:
    """Rows of the attribution by pattern, by cause, and of the costliest instructions."""
    table = inputs.attribution
    found = [inputs.rows_of(pattern) for pattern in (*Cause, SCRATCH)]
    found += [np.flatnonzero(table.cause == cause) for cause in np.unique(table.cause)]
    lines = np.unique(table.line[:24])
    found += [np.flatnonzero(table.line == line) for line in lines[lines >= 0]]
    return list({rows.tobytes(): rows for rows in found if len(rows)}.values())  # some patterns are a cause


def test_no_bound_exceeds_the_cycles_in_which_its_waves_wait_and_nothing_happens(looked: Looked) -> None:
    inputs, found = looked
    for rows in cause_sets(inputs):
        lines = set(inputs.attribution.line[rows].tolist())
        bound = inputs.bounds.of(rows)
        assert 0 <= bound.cycles <= min(limit(found, lines), bound.exposed)
        assert bound.exposed <= int(inputs.attribution.cycles[rows].sum())
        assert bound.share == bound.cycles / inputs.exposure.resident


def test_all_waits_of_an_instruction_are_bounded_by_exactly_those_cycles(looked: Looked) -> None:
    inputs, found = looked
    table = inputs.attribution
    lines = np.unique(table.line[:12])
    lines = lines[lines >= 0]
    rows = np.flatnonzero(np.isin(table.line, lines))
    alone = inputs.bounds.by_group(rows, table.line[rows], len(inputs.trace.code))
    for line in lines.tolist():
        exact = limit(found, {line})
        assert inputs.bounds.of(np.flatnonzero(table.line == line)).cycles == exact == alone[line]
    assert inputs.bounds.of(rows).cycles == limit(found, set(lines.tolist()))


def test_bounds_are_sizes_of_sets(looked: Looked) -> None:
    inputs, _ = looked
    sets = cause_sets(inputs)
    whole = inputs.bounds.of(np.arange(len(inputs.attribution)))
    assert whole.cycles <= inputs.exposure.nothing
    for one, other in zip(sets, [*sets[1:], sets[0]], strict=True):
        a, b, both = (inputs.bounds.of(rows).cycles for rows in (one, other, np.union1d(one, other)))
        assert max(a, b) <= both <= min(a + b, whole.cycles)
        half = one[: len(one) // 2]
        assert inputs.bounds.of(half).cycles <= a


def test_ranked_findings_stay_below_what_there_is_to_win(looked: Looked) -> None:
    inputs, found = looked
    whole = inputs.exposure
    assert whole.resident == sum(int(np.count_nonzero(simd.resident)) for simd in found)
    idle = [int(np.count_nonzero(simd.resident & ~simd.issue)) for simd in found]
    assert whole.no_issue == sum(idle)
    assert whole.nothing == sum(int(np.count_nonzero(simd.nothing)) for simd in found)
    assert whole.matrix == sum(int(np.count_nonzero(simd.matrix & simd.resident)) for simd in found)
    for one in of_inputs(inputs).findings:
        if one.rank == RANKED and one.unit == SIMD_CYCLES and one.is_upper_bound:
            assert one.cycles <= whole.nothing
            assert one.cycles <= one.exposed


def test_every_claimed_cycle_of_a_wave_has_one_place_in_its_wait(looked: Looked) -> None:
    """Spans of a token do not overlap, lie in its stall or gap, and are as long as its claims."""
    inputs, _ = looked
    trace, survey = inputs.trace, inputs.survey
    whole = list(parcels(inputs.answers.batches))
    found = [each for one in whole for each in claims_of(trace, one, stream_of(trace, one.tokens, survey))]
    for each in found:
        spans, one, claims = each.spent.spans(), each.stream, each.claims
        length = np.bincount(spans.claim, spans.end - spans.begin, len(claims)).astype(np.int64)
        assert length.tolist() == claims.cycles.tolist()
        token = claims.token[spans.claim]
        begin, end = one.start[token], one.issue[token]
        if each.is_idle:
            begin, end = begin - one.tokens.idle[token], begin
        assert np.all((begin <= spans.begin) & (spans.begin < spans.end) & (spans.end <= end))
        order = np.lexsort((spans.begin, token))
        same = token[order][1:] == token[order][:-1]
        assert np.all(spans.begin[order][1:][same] >= spans.end[order][:-1][same])


def test_waits_in_front_of_the_loop_are_cut_to_it(with_loop: Looked) -> None:
    inputs, found = with_loop
    phases = inputs.loops.phases
    ends = dict(zip(phases.wave.tolist(), phases.begin[:, 1].tolist(), strict=True))
    begins = dict(zip(phases.wave.tolist(), phases.begin[:, 0].tolist(), strict=True))
    told = inputs.in_prologue
    cycles = exposed = 0
    for simd in found:
        every = simd.cells()
        for wave in simd.waves:
            if wave.row not in ends:
                continue
            mine, tokens = simd.cells(), wave.tokens
            before = np.maximum.accumulate(np.append(wave.begin, tokens.end))[:-1]
            for times in ((before, tokens.start), (tokens.start, tokens.start + tokens.stall)):
                low, high = (np.clip(time, begins[wave.row], ends[wave.row]) for time in times)
                every.add(low, high)
                mine.add(low, high)
            exposed += int(np.count_nonzero(mine.covered & simd.nothing))
        cycles += int(np.count_nonzero(every.covered & simd.nothing))
    assert (told.cycles, told.exposed) == (cycles, exposed)
    assert told.cycles > 0


LOAD = [
    "global_load_dword v1, v2, s[0:1]",
    "s_waitcnt vmcnt(0)",
    "v_add_f32_e32 v3, v1, v1",
    "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]",
]


def waits_of(*pictures: tuple[str, list[int], int]) -> FindingInputs:
    """Waves on one SIMD, from drawings."""
    waves = [
        build.wave(picture, lines, row=row, begin=begin, place=(0, 0, row, 0))
        for row, (picture, lines, begin) in enumerate(pictures)
    ]
    trace = build.trace(build.code(LOAD, kinds=[3, 8, 6, 13]), waves)
    return FindingInputs(InMemory(trace, [build.batch(*waves)]))


def of_load(inputs: FindingInputs) -> tuple[int, int]:
    bound = inputs.bounds.of(inputs.rows_of(Cause.WAIT_LOAD))
    return bound.cycles, bound.exposed


def test_waves_that_wait_at_once_wait_in_the_same_cycles() -> None:
    first, second = ("BBBBiiiiiiiiiiiiIIII", [0, 1], 0), ("BBBBiiiiiiiiiiiiIIII", [0, 1], 4)
    assert of_load(waits_of(first)) == (12, 12)
    # The second issues in cycles 4 to 7 and waits from 8 to 19; the first issues again in 16 to 19.
    assert of_load(waits_of(first, second)) == (8, 16)


def test_a_wait_under_matrix_passes_wins_nothing() -> None:
    # Both wait from cycle 4; the matrix instruction issues in 0 to 3 and works for 16 cycles.
    waits, works = ("BBBBiiiiiiiiiiiiiiiiIIII", [0, 1], 0), ("MMMM", [3], 0)
    assert of_load(waits_of(waits)) == (16, 16)
    assert of_load(waits_of(waits, works)) == (4, 4)
    # Two of them queue: the second begins to work in cycle 16.
    assert of_load(waits_of(waits, works, ("MMMM", [3], 0))) == (0, 0)


def test_waves_that_do_not_count_still_cover() -> None:
    inputs = waits_of(("BBBBiiiiiiiiiiiiiiiiIIII", [0, 1], 0), ("MMMM", [3], 0), ("BBBBiiiiI", [0, 1], 8))
    found = bounds_by(inputs.survey, inputs.left_out).of(inputs.trace, inputs.answers.batches, {0})
    table = found.table
    assert table.waves == found.exposure.waves == 1
    assert found.of(np.arange(len(table))).cycles == 3, "17 to 19: matrix works, another wave issues"
    assert (found.exposure.resident, found.exposure.nothing) == (24, 3)
