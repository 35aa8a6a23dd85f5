"""The histogram over the program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.cost.hotspot import counted_rows, hottest
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.window import TimeWindow
from tests.analysis import build
from tests.analysis.in_memory import hotspot

#                  0     1   2   5
WAVE = build.wave("vvVV..LLL|SS.VVV", [0, 1, 2, 5])


def kinds(row: list[int]) -> dict[str, int]:
    """Only what is there."""
    return {TokenKind(kind).name: cycles for kind, cycles in enumerate(row) if cycles}


def test_a_token_counts_in_the_bin_of_its_line_with_all_its_cycles() -> None:
    bins = hotspot([build.batch(WAVE)], 6, None, bins=3)
    assert (bins.step, bins.first.tolist(), bins.stop.tolist()) == (2, [0, 2, 4], [2, 4, 6])
    assert [kinds(row) for row in bins.cycles.tolist()] == [{"VALU": 4, "LDS": 3}, {"SALU": 2}, {"VALU": 3}]


def test_a_window_cuts_tokens_where_the_reference_counts_them_in_full() -> None:
    full = hotspot([build.batch(WAVE)], 6, None, bins=6)
    cut = hotspot([build.batch(WAVE)], 6, None, bins=6, window=TimeWindow(3, 8))
    assert full.totals.tolist() == [4, 3, 2, 0, 0, 3]
    assert cut.totals.tolist() == [1, 2, 0, 0, 0, 0]


def test_the_hottest_instructions() -> None:
    code = build.code(["s_load", "v_a", "; k", "v_b", "s_wait", "v_c"], kinds=[1, 6, 0, 6, 9, 6])
    found = hottest(code, np.array([5, 9, 100, 0, 9, 2]), 3)
    assert found.tolist() == [1, 4, 0], "labels cost nothing; of equals the first one is first"
    assert not len(hottest(code, np.zeros(6, dtype=np.int64), 3))


def test_more_bins_than_lines_leave_the_last_ones_empty() -> None:
    bins = hotspot([build.batch(WAVE)], 6, None, bins=32)
    assert (bins.step, len(bins.first), bins.totals[6:].any()) == (1, 32, False)


def test_nothing_to_count() -> None:
    bins = hotspot([], 0, None)
    assert (bins.step, bins.cycles.shape) == (1, (32, KIND_COUNT))


@given(st.integers(1, 40), st.integers(0, 20), st.integers(1, 20))
def test_cycles_inside_a_window_count_or_all_of_them(bins: int, begin: int, width: int) -> None:
    window = TimeWindow(begin, begin + width)
    one = WAVE.tokens
    spans = [one.span(row) for row in range(len(one))]
    inside = sum(max(0, min(span.end, window.end) - max(span.begin, window.begin)) for span in spans)
    assert int(hotspot([build.batch(WAVE)], 6, None, bins=bins, window=window).cycles.sum()) == inside
    assert int(hotspot([build.batch(WAVE)], 6, None, bins=bins).cycles.sum()) == int(one.duration.sum())


WAVES = [
    build.wave("VVVV", [0], row=0, begin=10, place=(0, 0, 0, 0)),
    build.wave("VVVV", [0], row=1, begin=30, place=(0, 1, 0, 0)),
    build.wave("VVVV", [0], row=2, begin=50, place=(2, 0, 0, 0)),
]


@pytest.mark.parametrize(
    ("se", "window", "rows"),
    [
        (None, None, {0, 1, 2}),
        (0, None, {0, 1}),
        (0, TimeWindow(13, 30), {0}),
        (0, TimeWindow(14, 30), set()),
        (None, TimeWindow(33, 51), {1, 2}),
        (1, None, set()),
    ],
)
def test_waves_count_that_touch_the_window(se: int | None, window: TimeWindow | None, rows: set[int]) -> None:
    assert counted_rows(build.index(WAVES), se, window) == rows
