"""A step function reduced to pixels keeps every extreme, and its area."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.step_curve import StepCurve, pixel_edges, total
from rcv_py.model.window import TimeWindow

BEGIN = 1 << 40  # far beyond what 32 bits, or a float of 24 bits, can tell apart


@st.composite
def curves(draw: st.DrawFn) -> StepCurve:
    """Any step function, also with several values at one time."""
    gaps = draw(st.lists(st.integers(0, 9), min_size=0, max_size=60))
    values = [draw(st.integers(-50, 50)) for _ in gaps]
    return StepCurve(BEGIN + np.cumsum(np.array(gaps, np.int64)), np.array(values, np.int32))


@st.composite
def windows(draw: st.DrawFn) -> tuple[TimeWindow, int]:
    """A window near the curves, and a width in pixels, which may be more than it has cycles."""
    begin = draw(st.integers(-20, 250))
    return TimeWindow(BEGIN + begin, BEGIN + begin + draw(st.integers(1, 300))), draw(st.integers(1, 40))


def brute(curve: StepCurve, begin: int, end: int) -> tuple[list[float], list[float]]:
    """All values of [begin, end), and its value at every cycle (at `begin` if it is empty)."""
    rows = [(int(t), int(v)) for t, v in zip(curve.time, curve.value, strict=True) if t < end]
    held, every = [], [value for time, value in rows if begin <= time]
    for cycle in range(begin, max(end, begin + 1)):
        known = [int(v) for t, v in zip(curve.time, curve.value, strict=True) if t <= cycle]
        held.append(known[-1] if known else math.nan)
    return [*every, *(value for value in held if not math.isnan(value))], held


@given(curves(), windows())
def test_a_pixel_holds_first_lowest_highest_and_last(curve: StepCurve, seen: tuple[TimeWindow, int]) -> None:
    window, width = seen
    edges = pixel_edges(window, width).tolist()
    columns, means = curve.columns(window, width), curve.means(window, width)
    for pixel, (begin, end) in enumerate(pairwise(edges)):
        every, held = brute(curve, begin, end)
        found = [float(getattr(columns, name)[pixel]) for name in ("first", "low", "high", "last")]
        expected = [held[0], min(every, default=math.nan), max(every, default=math.nan), held[-1]]
        np.testing.assert_array_equal(found, expected)
        mean = sum(0 if math.isnan(value) else value for value in held) / len(held)
        assert means[pixel] == pytest.approx(mean, abs=1e-9)


@given(curves(), windows())
def test_no_peak_is_lost_at_any_width(curve: StepCurve, seen: tuple[TimeWindow, int]) -> None:
    window, width = seen
    columns, whole = curve.columns(window, width), curve.extent(window)
    if whole is None:
        assert np.isnan(columns.high).all()
    else:
        assert (np.nanmin(columns.low), np.nanmax(columns.high)) == whole


def test_a_single_peak_among_millions_is_seen() -> None:
    time = BEGIN + 4 * np.arange(2_000_000, dtype=np.int64)
    value = np.ones(len(time), np.int32)
    value[1_234_567], value[777] = 99, -7
    curve, window = StepCurve(time, value), TimeWindow(BEGIN, BEGIN + 8_000_000)
    columns = curve.columns(window, 1000)
    assert columns.high.max() == 99
    assert int(np.argmax(columns.high)) == 1_234_567 * 4 // 8000
    assert columns.low.min() == -7


@given(curves())
def test_the_value_at_a_time_is_the_column_s(curve: StepCurve) -> None:
    for time in (BEGIN - 1, BEGIN, BEGIN + 7, BEGIN + 1000):
        known = [int(v) for t, v in zip(curve.time, curve.value, strict=True) if t <= time]
        assert curve.at(time) == (known[-1] if known else None)


@given(st.lists(curves(), max_size=4), windows())
def test_a_total_is_the_sum_at_every_time(parts: list[StepCurve], seen: tuple[TimeWindow, int]) -> None:
    whole = total(parts)
    for time in range(seen[0].begin, seen[0].begin + 40):
        known = [value for part in parts if (value := part.at(time)) is not None]
        assert (whole.at(time) or 0) == sum(known)


def test_whole_numbers_stay_exact_in_areas() -> None:
    curve = StepCurve(np.array([0, 1 << 52, (1 << 52) + 1]), np.array([1, 1000, 0]))
    assert curve.integral(np.array([(1 << 52) + 1])).tolist() == [(1 << 52) + 1000]
