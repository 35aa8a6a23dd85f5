"""Without the real captures no test of this folder begins."""

import pytest

from tests.real.captures import SHARED
from tests.support import command_runs


def pytest_configure(config: pytest.Config) -> None:
    if not SHARED.is_dir():
        raise pytest.UsageError(
            f"The real captures are not at {SHARED}: put their folder there, or name it with RCV_SHARED."
        )
    command_runs.UNCHANGED.append(SHARED)
