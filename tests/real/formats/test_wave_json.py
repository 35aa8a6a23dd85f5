"""Files of waves of real captures."""

from pathlib import Path

import pytest

from tests.formats.test_wave_json import test_files_of_captures_are_all_read_quickly  # noqa: F401
from tests.real.captures import THREAD_TRACES, trace_path


@pytest.fixture(params=THREAD_TRACES)
def folder(request: pytest.FixtureRequest) -> Path:
    """A real capture."""
    return trace_path(request.param)
