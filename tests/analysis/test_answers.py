"""Answers about waves in memory: how soon they end when nobody wants them."""

from typing import Any

import pytest

from rcv_py.analysis.attribution import attribute
from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, stoppable
from rcv_py.model.modes import ReferenceRule
from tests.support.opened import all_waves, sample_trace


@pytest.mark.parametrize("at", ["stalls", "gaps"])
def test_a_cancel_ends_the_attribution_within_a_parcel(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parcel of many long waves would keep it busy for longer than people wait."""
    trace, flag, looks = sample_trace("vector_add"), CancelFlag(), []
    batch = all_waves(trace)
    whole, real = Parcel.in_time, getattr(attribute, at)

    def last(*arguments: Any) -> Any:
        looks.append(at)
        flag.set()
        return real(*arguments)

    monkeypatch.setattr(Parcel, "in_time", lambda self: whole(self, 20))
    monkeypatch.setattr(attribute, at, last)
    with pytest.raises(Cancelled), stoppable(flag):
        InMemory(trace, [batch]).of(ATTRIBUTION)
    assert len(looks) == 1


def test_a_cancel_ends_what_is_made_of_all_parts() -> None:
    """The reference viewer's rule does its work when all waves are there."""
    trace, flag = sample_trace("vector_add"), CancelFlag()
    batch = all_waves(trace)
    reduction = HIDDEN[ReferenceRule.REFERENCE]
    found = InMemory(trace, [batch])
    found.ask([reduction])
    flag.set()
    with pytest.raises(Cancelled), stoppable(flag):
        found.of(reduction)
