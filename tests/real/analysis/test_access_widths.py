"""The rules of tests/analysis/test_access_widths.py on real captures."""

from pathlib import Path

import pytest

from tests.analysis.test_access_widths import (
    memory_instructions,
    test_bytes_of_a_capture_are_those_of_its_totals,  # noqa: F401
    test_every_mnemonic_of_every_capture_is_known,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of


@pytest.fixture
def programs() -> list[Path]:
    folders = [captures.trace_path(name) for name in captures.TRACES]
    return [*folders, *(captures.synthetic_path(name) for name in captures.SYNTHETIC)]


# All of its vector memory instructions move 16 bytes a lane
trace = fixture_of(captures.real_trace, "vec_add")


def test_the_captures_have_many_memory_instructions(programs: list[Path]) -> None:
    assert len(memory_instructions(programs)) > 1000
