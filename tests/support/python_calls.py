"""How much Python runs: what a clock would say of an algorithm, but the same on every machine."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


def python_calls(work: Callable[[], Any]) -> int:
    """Return how many Python functions were called while the work was done."""
    return calls_and_result(work)[0]


def calls_and_result(work: Callable[[], Result]) -> tuple[int, Result]:
    """Return the same, and what came of the work."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # what goes with garbage of other tests is none of the work
    sys.setprofile(count)
    try:
        result = work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return calls, result
