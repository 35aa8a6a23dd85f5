"""A record can be pickled while another thread asks it for a value that it caches."""

import pickle
from functools import cached_property
from typing import Any

from rcv_py.base.record import Record


class Whole(Record):
    """Computes its size once, and keeps it."""

    parts: list[Any]
    name: str = "whole"

    @cached_property
    def size(self) -> int:
        return len(self.parts)


class Part:
    """Asks for the size of its whole while that is pickled, as another thread may at that moment."""

    def __init__(self, whole: list[Whole]) -> None:
        self.whole = whole

    def __reduce__(self) -> tuple[Any, ...]:
        assert self.whole[0].size == 1
        return list, ()


def test_a_value_cached_meanwhile_does_not_disturb_pickling() -> None:
    whole: list[Whole] = []
    whole.append(Whole([Part(whole)]))
    assert pickle.loads(pickle.dumps(whole[0])).parts == [[]]
