"""The story of tests/ui/test_story.py with a real capture."""

from tests.real import captures
from tests.support.fixtures import fixture_of
from tests.ui.test_story import IS_PAINTED, test_from_the_slow_bar_to_the_source_line  # noqa: F401

path = fixture_of(captures.trace_path, "flash_attn_small_after")
