"""Traces of real captures answer queries."""

from tests.export.test_trace_processor import test_a_trace_answers_queries  # noqa: F401 - collected here, too
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(real_trace, ["pa_mqa_small", "vec_add"])
