"""What code rows cost, summed up over waves: by a compiled walk, and by the same text as plain Python."""

import numpy as np
import pytest

from rcv_py.formats.derived import totals as module
from rcv_py.formats.derived.totals import MAX_CYCLES, totals


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(module, "compiled", lambda walk: walk)


def sums(line: list[int], first: list[int], begin: list[int], tokens: list[tuple[int, int, int]]) -> list:
    time, stall, duration = (np.array(column, dtype=np.int64) for column in zip(*tokens, strict=True))
    found = totals(
        np.array(line),
        first=np.array(first),
        begin=np.array(begin),
        time=time,
        stall=stall,
        duration=duration,
        rows=3,
    )
    return [getattr(found, name).tolist() for name in ("hits", "latency", "stall", "idle")]


def test_hits_latency_stall_and_idle_of_two_waves() -> None:
    """Dots are idle, `s` stalls, `=` runs; `?` is of no row.

    cycle        0    5    10   15   20
    wave 0       ..0ss=   1========        idle 2 before row 0; row 1 hides the next
                             0=
    wave 2       .....?===  0=             `?` ends at 9, and idle counts as if it were not there
    """
    line = [0, 1, 0, -1, 0]
    tokens = [(2, 2, 4), (9, 0, 9), (12, 0, 2), (5, 0, 4), (11, 0, 2)]
    assert sums(line, [0, 3, 3, 5], [0, 50, 0], tokens) == [
        [3, 1, 0],
        [4 + 2 + 2, 9, 0],
        [2, 0, 0],
        [2 + 11, 3, 0],
    ]


def test_a_token_lasts_at_least_as_long_as_it_stalls() -> None:
    assert sums([1, 1], [0, 2], [0], [(0, 5, 3), (6, 0, 1)]) == [[0, 2, 0], [0, 6, 0], [0, 5, 0], [0, 1, 0]]


def test_sums_of_nonsense_end_at_a_limit_and_never_become_negative() -> None:
    long = 1 << 60
    found = sums([0] * 16, [0, 16], [0], [(long, long, long)] * 16)
    assert found == [[16, 0, 0], [MAX_CYCLES, 0, 0], [MAX_CYCLES, 0, 0], [long, 0, 0]]
