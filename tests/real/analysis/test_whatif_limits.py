"""Limits of findings of real captures are at least any experiment on their operations; no remedy slows."""

import pytest
from msgspec.structs import replace

from rcv_py.analysis.findings.finding import RANKED, SMALL, Findings
from rcv_py.analysis.findings.predicted import predicted
from rcv_py.analysis.whatif.changes import Latency
from rcv_py.analysis.whatif.predict import Player
from tests.analysis.test_predicted_findings import found_in
from tests.analysis.test_whatif_limits import QUEUES
from tests.real import captures


@pytest.mark.parametrize("name", [one for one in captures.THREAD_TRACES if one != "moe_reduce"])
def test_a_full_queue_is_no_smaller_than_its_operations(name: str) -> None:
    plain, player = found_in(captures.real_trace(name))
    large = tuple(replace(one, gain=max(one.gain, SMALL)) for one in plain.findings)  # else it has no limit
    found = predicted(replace(plain, findings=large), player)
    assert_limits(found, player)
    for one in found.findings:
        if one.rank == RANKED and one.remedy_id and one.predicted is not None:
            assert one.predicted.gain >= -0.0005


def assert_limits(found: Findings, player: Player) -> None:
    """The limit of a full queue holds for all operations of its unit."""
    for one in found.findings:
        if one.name not in QUEUES:
            continue
        assert one.limit_gain >= 0
        for factor in (0.0, 0.5):
            change = Latency(units=(QUEUES[one.name],), factor=factor)
            gain = -player.predict([change]).share * found.working_share
            assert min(gain, one.gain) <= one.limit_gain + 0.005
