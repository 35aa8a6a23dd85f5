"""Simulated captures."""

from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED
from tests.support.read_twice import Case, opened
from tests.support.samples import sample_path

case = fixture_of_each(lambda name: Case(*opened(sample_path(name))), VARIED)  # A capture with its waves
