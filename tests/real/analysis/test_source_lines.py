"""The rule of tests/analysis/test_source_lines.py on real captures."""

from tests.analysis.test_source_lines import test_lines_are_those_of_the_ranking  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.TRACES)
