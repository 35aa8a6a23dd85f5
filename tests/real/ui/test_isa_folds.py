"""Folding the rows of a real program that hardly ran."""

from tests.features.isa.test_folds import test_thousands_of_rows_that_never_ran_are_one_key_away  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of

mostly_cold = fixture_of(captures.real_trace, "mla_decode")  # 4,949 rows, of which 17 instructions ran
