"""The rules of tests/formats/test_invariants.py on real captures, whose sums other programs counted."""

from functools import cache

from tests.formats.test_invariants import *  # noqa: F403 - all of its tests are collected here, too
from tests.formats.test_invariants import Loaded, load
from tests.real.captures import THREAD_TRACES, trace_path
from tests.real.measured import MEASURED
from tests.support.fixtures import fixture_of_each


@cache
def real(name: str) -> Loaded:
    """A real capture with all its waves."""
    return load(trace_path(name), MEASURED[name])


loaded = with_lists = whole = fixture_of_each(real, THREAD_TRACES)
