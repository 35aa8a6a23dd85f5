"""The rule of tests/analysis/test_instruction_help.py on real captures."""

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.model.code import CodeTable
from tests.analysis.test_instruction_help import test_something_is_known_of_every_mnemonic  # noqa: F401
from tests.real import captures


@pytest.fixture(params=captures.TRACES)
def code(request: pytest.FixtureRequest) -> CodeTable:
    return open_trace(captures.trace_path(request.param)).code
