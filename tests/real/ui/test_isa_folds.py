"""Folding the rows of a real program that hardly ran."""

import pytest

from rcv_py.model.trace import Trace
from tests.features.isa.test_folds import test_thousands_of_rows_that_never_ran_are_one_key_away  # noqa: F401
from tests.real import captures


@pytest.fixture
def mostly_cold() -> Trace:
    """4,949 rows, of which 17 instructions ran."""
    return captures.real_trace("mla_decode")
