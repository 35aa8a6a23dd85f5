"""Bank conflicts by hand: published groups, strides whose conflicts follow from arithmetic, a plain loop."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.latency.lds_groups import lds_groups, lds_passes
from rcv_py.model.architecture import architecture_of


def groups_of(target: str, width: int, lanes: int, *, is_read: bool = True) -> list[list[int]]:
    gfxip = int(target.removeprefix("gfx")[:-2])
    found = lds_groups(architecture_of(gfxip, target).lds_order, width, lanes, is_read=is_read)
    return sorted(sorted(one) for one in found.lanes.tolist())


def four(*starts: int) -> list[int]:
    return [start + lane for start in starts for lane in range(4)]


def test_groups_are_the_published_ones() -> None:
    assert groups_of("gfx942", 4, 64) == [list(range(32)), list(range(32, 64))]
    assert groups_of("gfx942", 8, 64) == [list(range(at, at + 16)) for at in (0, 16, 32, 48)]
    assert groups_of("gfx942", 16, 64) == [
        four(0, 20), four(4, 16), four(8, 28), four(12, 24),
        four(32, 52), four(36, 48), four(40, 60), four(44, 56),
    ]  # fmt: skip
    assert groups_of("gfx942", 16, 64, is_read=False) == [list(range(at, at + 8)) for at in range(0, 64, 8)]
    assert groups_of("gfx950", 16, 64) == [
        four(0, 12, 20, 24), four(4, 8, 16, 28), four(32, 44, 52, 56), four(36, 40, 48, 60),
    ]  # fmt: skip
    assert groups_of("gfx1100", 16, 32) == [four(0, 20), four(4, 16), four(8, 28), four(12, 24)]
    assert groups_of("gfx1201", 16, 32) == [list(range(at, at + 8)) for at in range(0, 32, 8)]


@pytest.mark.parametrize(
    ("target", "width", "is_read"),
    [
        ("gfx942", 12, True),  # ds_read_b96
        ("gfx908", 16, True),
        ("gfx950", 4, True),  # sources disagree
        ("gfx950", 12, False),
        ("gfx1030", 8, True),
        ("gfx1100", 16, False),
        ("gfx1250", 4, True),
        ("gfx942", 0, True),
    ],
)
def test_what_is_not_published_is_not_known(target: str, width: int, is_read: bool) -> None:
    gfxip = int(target.removeprefix("gfx")[:-2])
    order = architecture_of(gfxip, target).lds_order
    assert lds_groups(order, width, 64, is_read=is_read) is None


# Stride, bytes of a lane, passes, fewest passes on gfx942 (32 banks).  b32: two groups of 32 lanes.
# Stride 8: banks 0, 2 … 30, each wanted by two lanes.  Stride 128: all lanes want bank 0.  b128 writes: eight
# groups of 8 lanes; at stride 32 lanes 0 and 4 want banks 0-3.
@pytest.mark.parametrize(
    ("stride", "width", "is_read", "passes", "least"),
    [
        (4, 4, True, 2, 2),
        (8, 4, True, 4, 2),
        (128, 4, True, 64, 2),
        (0, 4, True, 2, 2),
        (132, 4, True, 2, 2),
        (8, 8, True, 4, 4),
        (128, 8, True, 64, 4),
        (16, 16, False, 8, 8),
        (32, 16, False, 16, 8),
        (16, 16, True, 8, 8),
        (1, 1, True, 2, 2),
    ],
)
def test_passes_of_a_stride(stride: int, width: int, is_read: bool, passes: int, least: int) -> None:
    groups = lds_groups("cdna", width, 64, is_read=is_read)
    address = np.arange(64)[None] * stride
    found = lds_passes(address, np.ones((1, 64), dtype=bool), width, groups)
    assert [one.tolist() for one in found] == [[passes], [least]]


def test_lanes_that_are_off_want_nothing() -> None:
    groups = lds_groups("cdna", 4, 64, is_read=True)
    is_active = np.zeros((2, 64), dtype=bool)
    is_active[0, [0, 1, 40]] = True  # lanes 0 and 1 want bank 0, lane 40 is in the other group
    passes, least = lds_passes(np.arange(64)[None] * 128 * np.ones((2, 1), int), is_active, 4, groups)
    assert (passes.tolist(), least.tolist()) == ([3, 0], [2, 0])


@given(st.data())
def test_passes_are_those_of_a_plain_loop(data: st.DataObject) -> None:
    width = data.draw(st.sampled_from((4, 8, 16)))
    groups = lds_groups("cdna4", width, 64, is_read=width > 4)
    address = [width * at for at in data.draw(st.lists(st.integers(0, 300), min_size=64, max_size=64))]
    active = data.draw(st.lists(st.booleans(), min_size=64, max_size=64))
    passes = least = 0
    for lanes in groups.lanes.tolist():
        words = defaultdict(set)
        for lane in lanes:
            for word in range(width // 4) if active[lane] else ():
                at = address[lane] // 4 + word
                words[at % groups.banks].add(at)
        passes += max(map(len, words.values()), default=0)
        least += any(active[lane] for lane in lanes)
    found = lds_passes(np.array([address]), np.array([active]), width, groups)
    assert [one.tolist() for one in found] == [[passes], [least]]
