"""One median: everywhere the same number for the same waves."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.median import MEDIAN, at_ranks, median, nearest_to_median
from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.overview.device_summary import summary_by
from rcv_py.features.waves.wave_picker_panel import by_speed
from tests.support.opened import all_waves, sample_trace

VALUES = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=40)


@given(VALUES)
def test_it_is_the_median_of_statistics(values: list[int]) -> None:
    found = median(np.array(values))
    assert found == statistics.median(values)
    assert isinstance(found, int) == float(found).is_integer()


@given(VALUES)
def test_no_value_is_nearer(values: list[int]) -> None:
    middle = statistics.median(values)
    at = nearest_to_median(np.array(values))
    nearest = min(abs(value - middle) for value in values)
    equals = [value for value in values if abs(value - middle) == nearest]
    assert values[at] == min(equals)
    assert at == values.index(values[at])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-(10**6), 10**6), st.integers(1, 5)), max_size=40))
def test_groups_have_the_median_of_statistics(rows: list[tuple[int, int, int]]) -> None:
    group, value, times = np.array(rows, np.int64).reshape(-1, 3).T
    found, p90 = at_ranks(group, value, 4, (MEDIAN, (9, 10)), times)
    for number in range(4):
        own = sorted(one for of, one, often in rows if of == number for _ in range(often))
        assert np.isnan(found[number]) if not own else found[number] == statistics.median(own)
        assert np.isnan(p90[number]) if not own else p90[number] == own[len(own) * 9 // 10]


def test_of_nothing_there_is_none() -> None:
    assert np.isnan(median(np.zeros(0)))
    with pytest.raises(IndexError):
        nearest_to_median(np.zeros(0))


@pytest.mark.parametrize("name", ["matmul_small", "reduction", "gfx12"])
def test_summary_and_triage_tell_the_same_median_life(name: str) -> None:
    trace = sample_trace(name)
    lives = (trace.waves.end - trace.waves.begin).tolist()
    middle = statistics.median(lives)
    batches = [all_waves(trace)]
    assert summary_by(None).of(trace, batches).fact("wave_life").value == middle
    told = next(one for one in findings(trace, batches).numbers if one.id == "waves")
    assert f"median life {round(middle):,} cycles" in told.of
    chosen = by_speed(trace.waves, 0)["median"]
    assert abs(lives[chosen] - middle) == min(abs(life - middle) for life in lives)
