"""The rules of tests/features/source/test_beside.py on real captures."""

from pathlib import Path

import pytest

from tests.features.source.test_beside import (  # noqa: F401
    test_every_instruction_has_its_place,
    test_index_names_the_source_of_its_top_instruction,
    test_rows_of_compare_have_their_place,
    test_tables_of_a_report_have_their_place,
)
from tests.real import captures
from tests.support.fixtures import fixture_of

folder = fixture_of(captures.trace_path, "flash_attn_small_after")
hot = fixture_of(lambda: "flash_attn_func.py:258")


@pytest.fixture
def pair() -> tuple[Path, Path]:
    a, b = (captures.trace_path(f"flash_attn_small_{which}") for which in ("before", "after"))
    return a, b
