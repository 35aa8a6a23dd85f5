"""The first view of every real capture, one opened after the other in a window."""

from pathlib import Path

import pytest

from tests.real import captures
from tests.ui.test_first_view import test_the_hottest_row_is_selected_a_third_from_the_top  # noqa: F401


@pytest.fixture
def paths() -> list[Path]:
    return [captures.trace_path(name) for name in captures.TRACES]
