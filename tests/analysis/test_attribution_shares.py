"""Attribution of whole captures: sums to the cycle, and how much of the stall has a cause and a producer."""

from functools import cache

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution
from rcv_py.analysis.attribution.causes import WAITS, WITHOUT_PRODUCER, Cause
from rcv_py.analysis.attribution.wait_costs import WAITS as WAIT_COSTS
from rcv_py.model.trace import Trace
from tests.support.attribution_shares import named, together
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED, all_waves, sample_trace

Attributed = tuple[Trace, Attribution]
# Captures of all SIMDs, so that the last wave at a barrier is known; their programs do not wait with s_nop.
WHOLE = ("matmul_small", "vector_add", "reduction", "kernels", "groups_512", "crowded", "ceiling", "untold")
# Captures in which a missing instruction is a gap in front of the next one, and no stall.
FETCHES_ARE_GAPS = ("matmul_small", "reduction", "kernels", "groups_512", "rivals")
MEMORY = ("buffer_", "global_", "flat_", "scratch_", "image_")


@cache
def of(name: str) -> Attributed:
    trace = sample_trace(name)
    return trace, ATTRIBUTION.of(trace, [all_waves(trace)])


# tests/real gives real captures to the same tests, under the same names
attributed = fixture_of_each(of, [*VARIED, "crowded"])
stalled = fixture_of_each(of, [*VARIED, "crowded", "untold"])
blamed = fixture_of_each(of, WHOLE)


def by_cause(table: Attribution) -> dict[Cause, int]:
    """Stalled cycles of each cause."""
    whole = table.by_cause()
    return dict(zip(map(Cause, whole.cause.tolist()), whole.stall.tolist(), strict=True))


def test_every_cycle_has_exactly_one_cause_by_line(attributed: Attributed) -> None:
    trace, table = attributed
    for mine, whole in ((table.stall, trace.code.stall), (table.idle, trace.code.idle)):
        sums = np.zeros(len(trace.code), dtype=np.int64)
        np.add.at(sums, table.line, mine)
        assert np.array_equal(sums, whole)
    for part in (table.by_line(), table.by_cause(), table.by_producer()):
        assert (part.total_stall, part.total_idle) == (table.total_stall, table.total_idle)
        assert int(part.count.sum()) == int(table.count.sum())


def test_at_least_95_percent_of_stalled_cycles_are_explained(stalled: Attributed) -> None:
    _, table = stalled
    assert table.explained >= 0.95


def test_at_least_92_percent_of_stalled_cycles_have_a_producer(blamed: Attributed) -> None:
    """Of those in which an instruction can be to blame; what is not explained counts as without."""
    _, table = blamed
    found = named(table)
    assert found.share >= 0.92
    without = sum(int(table.stall[table.cause == cause].sum()) for cause in WITHOUT_PRODUCER)
    assert found.blamable == table.total_stall - without
    assert without <= 0.1 * table.total_stall, "the definition leaves little out"
    assert 0 <= found.guessed <= found.named


@pytest.mark.parametrize("name", FETCHES_ARE_GAPS)
def test_nothing_stalls_together_where_nothing_stalls_for_its_fetch(name: str) -> None:
    assert together(of(name)[0])[0] == 0


def test_stalls_for_a_shared_fetch_are_more_than_chance() -> None:
    found, chance = together(of("untold")[0])
    assert found > chance > 0


def test_waits_are_charged_to_what_they_waited_for(attributed: Attributed) -> None:
    """Nearly all of the stall of every wait; the rest is of what holds any instruction."""
    trace, table = attributed
    lines = [line for line, text in enumerate(trace.code.text) if text.startswith("s_wait")]
    is_wait = np.isin(table.cause, [*WAITS, Cause.OWN])
    waited = [(table.stall[table.line == line].sum(), line) for line in lines]
    costly = [line for stall, line in waited if stall >= 0.001 * table.total_stall]
    assert costly
    for line in costly:
        at_line = table.line == line
        assert table.stall[is_wait & at_line].sum() >= 0.97 * table.stall[at_line].sum(), line


def test_lines_with_a_full_memory_queue_access_memory(attributed: Attributed) -> None:
    trace, table = attributed
    is_full = table.cause == Cause.MEMORY_QUEUE
    lines = {*table.line[is_full].tolist(), *table.producer[is_full & (table.producer >= 0)].tolist()}
    assert all(trace.code.text[line].startswith(MEMORY) for line in lines)


def test_a_full_memory_queue_is_where_memory_instructions_stall() -> None:
    _, table = of("crowded")
    causes = by_cause(table)
    assert causes[Cause.MEMORY_QUEUE] > causes[Cause.LDS_QUEUE] > 0


def test_without_lds_reads_no_wait_is_for_lds(attributed: Attributed) -> None:
    trace, table = attributed
    ran = [trace.code.text[line] for line in np.flatnonzero(trace.code.hits).tolist()]
    reads = any(text.startswith(("ds_read", "ds_load")) for text in ran)
    assert (by_cause(table).get(Cause.WAIT_LDS, 0) > 0) == reads


def test_waits_for_a_permute_are_cross_lane_waits() -> None:
    """The kernel exchanges lanes with ds_bpermute, and reads LDS at its end."""
    trace, table = of("reduction")
    assert any(text.startswith("ds_bpermute") for text in trace.code.text)
    assert by_cause(table)[Cause.WAIT_CROSS_LANE] > 0


def test_wait_causes_agree_with_the_wait_summary(attributed: Attributed) -> None:
    trace, table = attributed
    summary = WAIT_COSTS.of(trace, [all_waves(trace)]).blocking
    is_wait = np.isin(table.line, summary.line)
    assert summary.stall.sum() > 0
    assert int(table.stall[is_wait].sum()) == int(summary.stall.sum())
    assert int(table.stall[np.isin(table.cause, WAITS)].sum()) <= int(summary.charged.sum())
