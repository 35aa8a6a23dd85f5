"""Real raw captures."""

from tests.real import golden_sqtt
from tests.support.fixtures import fixture_of_each

DISPATCHES = [(name, 1) for name in golden_sqtt.NAMES]
DISPATCHES += [(name, 2) for name in golden_sqtt.NAMES if "gfx1100/sync" in name]
ALONE = ("gfx950/gemm_run_0", "gfx1100/sync_run_0", "gfx1200/gemm_run_0")


# A raw capture and its truth
raw = fixture_of_each(lambda name: golden_sqtt.raw(*name), DISPATCHES, ids=lambda one: f"{one[0]}-{one[1]}")
alone = fixture_of_each(golden_sqtt.raw, ALONE)  # A raw capture with waves of a single kernel, and its truth
