"""All hits of a line: found in every wave, counted into exact bins, the slowest first."""

import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.cost.distribution import (
    NEVER,
    DistributionChoice,
    distribution_view,
    histogram,
    latency_spreads,
    spread,
)
from rcv_py.model.modes import MEASURES
from tests.analysis import build
from tests.analysis.in_memory import line_hits
from tests.support.fixtures import fixture_of_each
from tests.support.read_twice import opened
from tests.support.samples import sample_path

LINES = [4, 1, 4, 4]
WAVES = (
    build.wave("lllLL.v|VV..llllLL|L", lines=[4, 1, 1, 4, 4], row=7, begin=100, place=(0, 0, 0, 0)),
    build.wave("vV", lines=[1], row=8, place=(0, 0, 1, 0)),
    build.wave("..lL", lines=[4], row=9, begin=50, place=(3, 0, 0, 0)),
)


def hits():
    return line_hits([build.batch(*WAVES)], 4)


def test_every_hit_is_found_with_its_place() -> None:
    found = hits()
    assert found.wave.tolist() == [7, 7, 7, 9]
    assert found.token.tolist() == [0, 3, 4, 0]
    assert found.hit.tolist() == [0, 1, 2, 0]
    assert found.se.tolist() == [0, 0, 0, 3]
    assert found.start.tolist() == [100, 111, 117, 52]
    assert found.stall.tolist() == [3, 4, 0, 1]
    assert found.latency.tolist() == [5, 6, 1, 2]
    assert found.idle.tolist() == [0, 2, 0, 2]
    assert found.since.tolist() == [NEVER, 11, 6, NEVER]
    assert found.row_of(7, 4) == 2
    assert found.row_of(8, 0) == -1


def test_nothing_ran_the_line() -> None:
    found = line_hits([build.batch(*WAVES)], 3)
    assert len(found) == 0
    assert len(line_hits([], 3)) == 0
    view = distribution_view(found, DistributionChoice())
    assert view.spread is None
    assert view.histogram.totals.tolist() == [0]


folder = fixture_of_each(sample_path, ["matmul_small", "vector_add", "gfx11"])


def test_hits_add_up_to_the_code_table(folder: Path) -> None:
    trace, batches = opened(folder)
    code = trace.code
    for line in np.argsort(-(code.latency + code.idle))[:12].tolist():
        found = line_hits(batches, line)
        assert len(found) == code.hits[line]
        for column in ("latency", "stall", "idle"):
            assert int(found.measure(column).sum()) == int(getattr(code, column)[line]), (line, column)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200))
def test_the_median_is_in_the_middle_and_p95_is_the_time_of_a_hit(values: list[int]) -> None:
    found = spread(np.array(values))
    order = sorted(values)
    assert found.median == statistics.median(values)
    assert found.p95 == order[-(-len(order) * 95 // 100) - 1]
    assert sum(v <= found.p95 for v in values) >= 0.95 * len(values) - 1e-9
    assert sum(v < found.p95 for v in values) < 0.95 * len(values)
    assert (found.min, found.max, found.total, found.hits) == (order[0], order[-1], sum(order), len(order))


@given(
    st.lists(st.integers(0, 100_000), min_size=1, max_size=200),
    st.integers(2, 60),
    st.booleans(),
    st.sampled_from([1, 4]),
)
def test_bins_hold_every_value_once(values: list[int], bins: int, is_log: bool, step: int) -> None:
    column = np.array(values) * step
    found = histogram(column, bins, is_log=is_log, step=step)
    assert len(found.totals) <= bins
    assert (np.diff(found.edges) > 0).all()
    assert (found.edges % step == 0).all()
    edges = zip(found.edges, found.edges[1:], strict=False)
    expected = [int(((column >= low) & (column < high)).sum()) for low, high in edges]
    assert found.totals.tolist() == expected
    assert sum(expected) == len(values)


def test_bins_of_a_logarithmic_scale_grow_and_zero_stands_alone() -> None:
    found = histogram(np.array([0, 0, 4, 40, 400, 4000]), 10, is_log=True, step=4)
    assert found.edges[:2].tolist() == [0, 4]
    assert found.totals[0] == 2
    assert (np.diff(found.edges)[2:] >= np.diff(found.edges)[1:-1]).all()


def test_bins_are_multiples_of_the_clock_step() -> None:
    found = histogram(np.array([4, 8, 8, 12]), 40, step=4)
    assert found.edges.tolist() == [4, 8, 12, 16]
    assert found.totals.tolist() == [1, 2, 1]
    assert found.place(10) == 1.5


def test_the_slowest_come_first() -> None:
    found = hits()
    assert distribution_view(found, DistributionChoice()).ranked[:2].tolist() == [1, 0]
    assert distribution_view(found, DistributionChoice("since")).ranked.tolist() == [1, 2]
    view = distribution_view(found, DistributionChoice())
    assert view.ranked.tolist() == [1, 0, 3, 2]
    assert view.in_bin(int(np.searchsorted(view.histogram.edges, 2, side="right")) - 1).tolist() == [3]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_bin_lists_exactly_its_hits(measure: str) -> None:
    view = distribution_view(hits(), DistributionChoice(measure, 3))
    listed = [view.in_bin(number) for number in range(len(view.histogram.totals))]
    assert [len(rows) for rows in listed] == view.histogram.totals.tolist()
    assert sorted(np.concatenate(listed).tolist()) == np.flatnonzero(view.values != NEVER).tolist()


def test_spreads_of_lines_are_those_of_their_hits(folder: Path) -> None:
    trace, batches = opened(folder)
    lines = np.flatnonzero(trace.code.hits)[:20].tolist()
    found = latency_spreads([*lines, 100_000]).of(trace, batches)
    assert list(found) == lines
    for line, one in found.items():
        all_hits = line_hits(batches, line)
        assert one.spread == spread(all_hits.latency)
        worst = int(np.lexsort((all_hits.start, -all_hits.latency))[0])
        slowest = one.slowest
        assert (slowest.wave, slowest.hit) == (all_hits.wave[worst], all_hits.hit[worst])
        assert (slowest.start, slowest.latency) == (all_hits.start[worst], all_hits.latency[worst])
