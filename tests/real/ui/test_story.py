"""The story of tests/ui/test_story.py with a real capture."""

from pathlib import Path

import pytest

from tests.real import captures
from tests.ui.test_story import IS_PAINTED, test_from_the_slow_bar_to_the_source_line  # noqa: F401


@pytest.fixture
def path() -> Path:
    return captures.trace_path("flash_attn_small_after")
