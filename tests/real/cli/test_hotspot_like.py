"""The rules of tests/features/compat/test_command.py on real captures, and numbers from their files."""

import pytest

from tests.features.compat.test_command import (
    no_limit,  # noqa: F401
    test_classes_hold_all_cycles,  # noqa: F401
    test_every_table_has_headings_over_its_columns,  # noqa: F401
    test_the_header_of_every_capture,  # noqa: F401
)
from tests.real.captures import GOLDEN, TRACES, trace_path
from tests.support.command_runs import printed, printed_json
from tests.support.fixtures import fixture_of, fixture_of_each

# capture: allocated registers, twice the VGPR_Count of the table on gfx950; waves that fit; what binds
HEADERS = {
    "flash_attn_small_after": (2 * 124, 2, "vector registers"),
    "flash_attn_small_before": (2 * 124, 2, "vector registers"),
    "pa_mqa_small": (2 * 48, 5, "vector registers"),
    "pa_mqa_big": (2 * 48, 5, "vector registers"),
    "vec_add": (2 * 8, 8, None),
}


gfx9 = fixture_of_each(trace_path, GOLDEN)
capture = fixture_of_each(trace_path, TRACES)
classed = fixture_of(trace_path, "moe_reduce")


@pytest.mark.parametrize("like", ["old", "new"])
@pytest.mark.parametrize("name", GOLDEN)
def test_a_gpu_that_the_scripts_would_mistake_is_named(name: str, like: str) -> None:
    is_mistaken = name.startswith("flash")  # gfx950 without a form that the scripts know
    text = printed("hotspot", trace_path(name), "--like", like)
    assert ("the capture is of gfx950" in text) == is_mistaken


@pytest.mark.parametrize("name", HEADERS)
def test_what_was_counted_in_the_files(name: str) -> None:
    found = printed_json("hotspot", trace_path(name))["occupancy"]
    (used,) = (one["used"] for one in found["limits"] if one["name"] == "vector registers")
    assert (used, found["waves_per_simd"], found["binding"]) == HEADERS[name]


def test_sources_are_short_in_tables_and_whole_in_documents() -> None:
    folder = trace_path("flash_attn_small_after")
    text = printed("hotspot", folder, "--top", "1")
    assert text.count("numeric.py:872") == 1
    assert "/numeric.py" not in text
    assert printed_json("hotspot", folder, "--top", "1")["rows"][0]["source"].startswith("/")
    assert "source" not in printed("hotspot", trace_path("pa_mqa_small"), "--top", "2")
