"""Facts about real captures, and what they suffer from."""

from rcv_py.analysis.health.mapping import mapping
from tests.analysis import plain
from tests.analysis.test_summary import (
    test_facts_are_plain_values,  # noqa: F401
    test_occupancy_of_the_whole_device_is_that_of_all_lives,  # noqa: F401
    texts,
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(
    lambda name: plain.read(captures.trace_path(name))[0], [*captures.GOLDEN, "mla_decode", "vec_add"]
)


def test_collapsed_source_places_are_noticed_before_but_hardly_after_the_fix() -> None:
    before, after = (
        mapping(plain.read(captures.trace_path(f"flash_attn_small_{name}"))[0].code)
        for name in ("before", "after")
    )
    assert before.top_share > 0.9 > after.top_share
    assert before.effective < after.effective < after.source_lines
    trace, _ = plain.read(captures.trace_path("flash_attn_small_before"))
    assert "90.8 % of the instructions" in texts(trace)
    assert "flash_attn_func.py:257" in texts(trace)


def test_what_the_captures_suffer_from() -> None:
    def told(name: str) -> str:
        return texts(plain.read(captures.trace_path(name))[0])

    assert "17 of 4,948 instructions ran" in told("mla_decode")
    assert "42.3 % of the latency is s_endpgm" in told("vec_add")
    assert told("pa_mqa_big") == ""
