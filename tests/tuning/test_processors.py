"""Who gets the processor."""

import os
import sys
from threading import Thread

import pytest

from rcv_py.tuning.processors import lower_priority


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no policy of its own")
@pytest.mark.parametrize(("before", "after"), [("SCHED_OTHER", "SCHED_BATCH"), ("SCHED_IDLE", "SCHED_IDLE")])
def test_a_lower_priority_keeps_a_policy_that_the_user_chose(before: str, after: str) -> None:
    seen = []

    def run() -> None:
        os.sched_setscheduler(0, getattr(os, before), os.sched_param(0))
        lower_priority()
        seen.append(os.sched_getscheduler(0))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [getattr(os, after)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such policy")
@pytest.mark.parametrize("name", ["sched_getscheduler", "sched_setscheduler"])
def test_a_system_that_refuses_a_policy_does_not_stop_the_work(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(os, "setpriority", lambda *_: None)  # this process goes on to other tests
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    lower_priority()
