"""Ending long work: flags of blocks around it."""

from threading import Thread

import pytest

from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, checkpoint, stoppable


def test_work_ends_by_the_flag_of_any_block_around_it() -> None:
    outer, inner = CancelFlag(), CancelFlag()
    checkpoint()
    with stoppable(outer):
        with stoppable(inner):
            checkpoint()
            inner.set()
            with pytest.raises(Cancelled):
                checkpoint()
        checkpoint()
        outer.set()
        with pytest.raises(Cancelled), stoppable(CancelFlag()):
            checkpoint()
    checkpoint()


def test_the_work_of_another_thread_goes_on() -> None:
    ends = []
    flag = CancelFlag()
    flag.set()
    with stoppable(flag):
        thread = Thread(target=lambda: ends.append(checkpoint()))
        thread.start()
        thread.join()
    assert ends == [None]
