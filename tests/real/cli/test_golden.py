"""What commands print on real captures stays what it is until someone records it again on purpose."""

import pytest

from tests.cli.test_golden import hold_complete, hold_recorded
from tests.real.golden.record import CLI, NAMES, of_capture


@pytest.mark.parametrize("name", NAMES)
def test_output_is_what_was_recorded(name: str) -> None:
    hold_recorded(of_capture(name), "tests/real/golden/record.py")


def test_no_record_is_left_behind_and_none_names_a_machine() -> None:
    hold_complete(CLI, NAMES, 1_500_000)
