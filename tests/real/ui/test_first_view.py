"""The first view of every real capture, one opened after the other in a window."""

from tests.real import captures
from tests.support.fixtures import fixture_of
from tests.ui.test_first_view import (
    size,  # noqa: F401
    test_the_hottest_row_is_selected_a_third_from_the_top,  # noqa: F401
)

paths = fixture_of(lambda: [captures.trace_path(name) for name in captures.TRACES])
