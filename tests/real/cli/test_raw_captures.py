"""The rules of tests/cli/test_raw_captures.py on a real folder."""

from tests.cli.test_raw_captures import (  # noqa: F401
    test_a_table_tells_them_apart,
    test_commands_about_one_list_them,
    test_the_undecoded_has_no_numbers,
)
from tests.real import captures
from tests.support.fixtures import fixture_of

folder = fixture_of(lambda: captures.SHARED / "raw" / "gfx1100" / "sync_run_0")
