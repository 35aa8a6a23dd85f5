"""What panels with curves say of real captures that are known."""

from collections.abc import Callable

import pytest

from tests.features.occupancy.test_panels import (  # noqa: F401
    GROUPS,
    check_texts,
    load,
    make,
    test_states_as_the_writer_counted_when_wave_files_are_gone,
)
from tests.real import captures
from tests.support.fixtures import fixture_of

source = fixture_of(captures.trace_path, "fused_rope_cache")


@pytest.mark.parametrize("name", ["flash_attn_small_after", "fused_rope_cache", "vec_add"])
def test_nothing_that_is_written_is_cut(make: Callable, open_in: Callable, name: str) -> None:  # noqa: F811
    load(open_in, captures.real_trace(name))
    for group in GROUPS:
        panel = make(group)
        assert not panel.page.is_empty
        check_texts(panel)


def test_the_captions_of_a_known_capture(make: Callable, open_in: Callable, settled: Callable) -> None:  # noqa: F811
    load(open_in, captures.real_trace("flash_attn_small_after"))
    panel = make("state")
    assert panel.caption() == "exec 49.0 %, wait 34.5 %, stall 16.0 %, idle 0.5 % · 8 waves"
    panel = make("se")
    assert [curve.name for curve in panel.plot.curves] == ["SE0", "SE1", "SE2", "SE3"]
    panel.remembered["group"].choose("all")
    settled()
    said = "mean 39.9 of at most 64 waves · at most half of that for the last 42.3 %"
    assert panel.caption().startswith(said)
    panel.remembered["group"].choose("cu")
    settled()
    assert [curve.name for curve in panel.plot.curves] == ["SE2 CU1", "SE3 CU1"]


def test_the_name_of_a_kernel(make: Callable, open_in: Callable) -> None:  # noqa: F811
    load(open_in, captures.real_trace("fused_rope_cache"))
    panel = make("kernel")
    assert [curve.name for curve in panel.plot.curves] == ["fused_qk_rope_reshape_and_cache_0"]
