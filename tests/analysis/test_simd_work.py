"""When SIMDs work: drawings, and the definition followed cycle by cycle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.device.simd_work import SimdWork, simd_cycles
from rcv_py.analysis.program.matrix_forms import UNKNOWN_CYCLES
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.waves import TracedWave
from tests.analysis import build
from tests.analysis.in_memory import simd_work
from tests.support.simd_cycles import simds

MFMA = "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]"
TEXTS = ["v_mov_b32 v0, 0", MFMA, "s_endpgm"]
SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=12)
PICTURE = st.text("vVmM.|", min_size=1, max_size=40)


def of(
    *waves: TracedWave, rule: ReferenceRule = ReferenceRule.OURS, rows: set[int] | None = None
) -> SimdWork:
    trace = build.trace(build.code(TEXTS, kinds=[6, 13, 8]), waves)
    return simd_work(trace, [build.batch(*waves)], rows, rule)


def cycles(found: SimdWork) -> tuple[int, int, int, int]:
    matrix = found.resident & found.matrix
    totals = found.resident.total, found.no_issue.total, matrix.total, found.nothing.total
    each = simd_cycles(found)
    columns = each.resident, each.no_issue, each.matrix, each.nothing
    assert tuple(int(column.sum()) for column in columns) == totals, "counted without making these sets"
    return totals


def test_a_matrix_instruction_works_from_its_issue_on() -> None:
    found = of(build.wave("mmmmMMMM" + "v" * 16 + "VVVV", [1, 0]))
    # It stalls in 0 to 3, issues in 4 to 7 and works in 4 to 19; the next instruction issues in 24 to 27.
    assert cycles(found) == (28, 20, 16, 8)
    reference = of(build.wave("MMMM" + "v" * 16 + "VVVV", [1, 0]), rule=ReferenceRule.REFERENCE)
    assert cycles(reference) == (24, 16, 0, 16)


def test_matrix_instructions_queue_on_the_unit_of_their_simd() -> None:
    long = "MMMM" + "." * 36
    one, other = build.wave(long, [1], row=0), build.wave(long, [1], row=1, place=(0, 0, 1, 0))
    assert cycles(of(one, other)) == (40, 36, 32, 8), "the second works in cycles 16 to 31"
    apart = build.wave(long, [1], row=1, place=(0, 1, 0, 0))
    assert cycles(of(one, apart)) == (80, 72, 32, 48), "another SIMD has a unit of its own"


def test_a_queue_does_not_reach_into_the_next_simd() -> None:
    many = build.wave("MMMM|" * 6, [1] * 6, row=0)
    quiet = build.wave("." * 24, [], row=1, place=(0, 1, 0, 0))
    assert cycles(of(many, quiet)) == (48, 24, 24, 24)


def test_what_does_not_count_is_not_resident_but_works() -> None:
    waits = build.wave("vvvvvvvvV", [0], row=0)
    works = build.wave("..VV.........", [0], row=1, place=(0, 0, 1, 0))
    assert cycles(of(waits, works, rows={0})) == (9, 6, 0, 6)
    assert of(waits, works, rows={0}).waves == 1
    assert cycles(of(waits, works, rows=set())) == (0, 0, 0, 0)


def test_matrix_tokens_without_an_instruction_are_guessed() -> None:
    found = of(build.wave("MMMM" + "." * 36, [-1]))
    assert (found.resident & found.matrix).total == UNKNOWN_CYCLES


def test_no_waves_have_no_cycles() -> None:
    assert cycles(simd_work(build.trace(build.code(TEXTS), []), [])) == (0, 0, 0, 0)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(PICTURE, st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=5))
def test_it_does_what_the_definition_says(drawn: list[tuple[str, int, int]]) -> None:
    waves = []
    for row, (picture, begin, simd) in enumerate(drawn):
        kinds = build.drawing.tokens(picture).kind.tolist()
        lines = [int(kind == 13) for kind in kinds]
        waves.append(build.wave(picture, lines, row=row, begin=begin, place=(0, simd, row, 0)))
    trace = build.trace(build.code(TEXTS, kinds=[6, 13, 8]), waves)
    found, cells = of(*waves), simds(trace, [build.batch(*waves)])
    assert cycles(found) == tuple(
        sum(int(np.count_nonzero(column(simd))) for simd in cells)
        for column in (
            lambda simd: simd.resident,
            lambda simd: simd.resident & ~simd.issue,
            lambda simd: simd.resident & simd.matrix,
            lambda simd: simd.nothing,
        )
    )
    nothing = [int(np.count_nonzero(simd.nothing)) for simd in cells]
    assert found.axis.by_simd(found.nothing).tolist() == nothing


def points(begin: np.ndarray, end: np.ndarray) -> set[int]:
    return {at for one, other in zip(begin.tolist(), end.tolist(), strict=True) for at in range(one, other)}


@given(SPANS, SPANS)
def test_spans_are_cut_where_others_begin_and_end(ones: list, others: list) -> None:
    begin, length = np.array(ones, dtype=np.int64).reshape(-1, 2).T
    other, long = np.array(others, dtype=np.int64).reshape(-1, 2).T
    covered = IntervalSet.of(other, other + long)
    there = points(covered.begin, covered.end)
    found = covered.split(begin, begin + length)
    for at, (first, size) in enumerate(ones):
        mine = set(range(first, first + size))
        for is_inside, expected in ((True, mine & there), (False, mine - there)):
            rows = np.flatnonzero((found.span == at) & (found.is_inside == is_inside))
            assert points(found.begin[rows], found.end[rows]) == expected
