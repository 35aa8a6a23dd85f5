"""Simulated captures as raw ones."""

from tests.support.fixtures import fixture_of_each
from tests.support.raw_samples import ALONE, DISPATCHES, raw_sample

# A raw capture and its truth
raw = fixture_of_each(lambda name: raw_sample(*name), DISPATCHES, ids=lambda one: f"{one[0]}-{one[1]}")
alone = fixture_of_each(raw_sample, ALONE)  # A raw capture with waves of a single kernel, and its truth
