"""Documents about real captures are what the published schemas say, too."""

import pytest

from tests.cli.test_schemas import (  # noqa: F401
    Library,
    hold_all,
    test_captures_below_a_folder_and_between_two,
    test_sources,
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

SMALL = tuple(name for name in captures.TRACES if name != "moe_reduce")
WITH_ALL_VARIANTS = (
    "flash_attn_small_before",
    "pa_mqa_small",
    "pcsampling",
)  # others have the same fields: of them what is golden, which is printed anyway


@pytest.mark.parametrize("name", SMALL)
def test_real_captures(name: str) -> None:
    hold_all(captures.trace_path(name), None if name in WITH_ALL_VARIANTS else 1)


@pytest.mark.parametrize("name", captures.SYNTHETIC)
def test_captures_with_counters_markers_and_other_generations(name: str) -> None:
    hold_all(captures.synthetic_path(name))


@pytest.fixture
def library() -> Library:
    a, b = (captures.trace_path(f"flash_attn_small_{name}") for name in ("before", "after"))
    return Library(
        captures.SHARED / "traces", len(captures.TRACES), (a, b), captures.trace_path("pa_mqa_small")
    )


mapped = fixture_of_each(captures.trace_path, ["flash_attn_small_before", "pcsampling", "vec_add"])
