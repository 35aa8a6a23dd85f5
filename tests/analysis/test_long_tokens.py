"""A token that is wide among narrow ones is found at every zoom, and no other."""

from collections.abc import Sequence

import numpy as np
import pytest

from rcv_py.analysis.timeline.long_tokens import long_tokens
from rcv_py.analysis.timeline.pixels import Pixels
from rcv_py.analysis.timeline.raster import RowSegment, TokenRow, raster, visible_rows
from rcv_py.analysis.timeline.stack import stacked
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow

LONG = [300, 2000, 2001, 7000]  # numbers of the tokens that are long
NO_STATES = States(0, np.zeros(0, np.int32), np.zeros(0, np.uint8), 0)


def row(kinds: tuple[int, ...] = (6, 5, 2), long: int = 50_000, which: Sequence[int] = LONG) -> TokenRow:
    """8,000 instructions of 8 cycles, and some waits between that last 50,000."""
    stall, busy = np.zeros(8000, np.int32), np.full(8000, 8, np.int32)
    kind = np.resize(np.array(kinds, np.uint8), 8000)
    at = list(which)
    stall[at], busy[at], kind[at] = long, 0, 9
    offset = np.cumsum(stall + busy) - stall - busy
    made = Tokens(100, offset.astype(np.int32), stall, busy, kind, np.arange(8000, dtype=np.int32))
    span = TimeWindow(100, 100 + int(offset[-1]) + 8)
    return TokenRow((RowSegment.of(made, NO_STATES, None, span),))


def found(one: TokenRow, window: TimeWindow, least_px: float) -> list[int]:
    pixels = Pixels(window, 1000)
    view = visible_rows([one, one], pixels)
    lines = stacked(raster(view).kind, 12, pixels)
    chosen = long_tokens([one, one], view, lines, least_px)
    upper, lower = ([some.tokens.tolist() for some in chosen if some.row == number] for number in (0, 1))
    assert upper == lower
    assert len(upper) <= 1
    return upper[0] if upper else []


@pytest.mark.parametrize("share", [1.0, 0.7, 0.3, 0.1, 0.002])
@pytest.mark.parametrize("from_share", [0.0, 0.05, 0.25])
def test_long_tokens_are_found_among_short_ones(share: float, from_share: float) -> None:
    one = row()
    span = one.segments[0]
    cycles = span.end - span.begin
    begin = span.begin + int(cycles * from_share)
    window = TimeWindow(begin, begin + int(cycles * share))
    starts = {at: span.tokens.base + int(span.tokens.offset[at]) for at in LONG}
    px = window.width / 1000
    seen = set(found(one, window, 30))
    inside = {at: min(t + 50_000, window.end) - max(t, window.begin) for at, t in starts.items()}
    assert seen <= {at for at in LONG if inside[at] > 0}
    if 31 * px <= 50_000:
        assert seen >= {at for at in LONG if inside[at] >= 34 * px}
    elif 30 * px > 50_000:
        assert not seen


@pytest.mark.parametrize("at", range(40, 60))
def test_a_run_that_is_just_long_enough_is_found_wherever_it_begins(at: int) -> None:
    """Eleven pixels of a wait among short instructions, of which the outermost need not be full."""
    one = row(long=11 * 4096, which=[4000])
    base, offset = one.segments[0].tokens.base, one.segments[0].tokens.offset
    begin = base + int(offset[4000]) - at * 4096 - 900
    assert found(one, TimeWindow(begin, begin + 1000 * 4096), 11) == [4000]


def test_what_is_too_narrow_or_many_of_a_kind_is_no_long_token() -> None:
    one = row()
    assert found(one, TimeWindow(100, one.segments[0].end), 500) == []
    for cycles in (8000 * 8, 4000):
        assert found(row((6,), long=8), TimeWindow(100, 100 + cycles), 30) == []


def test_a_long_execution_is_found_as_a_long_stall_is() -> None:
    one = row(which=[3000])
    tokens = one.segments[0].tokens
    tokens.stall[3000], tokens.busy[3000] = 0, 50_000
    for begin, cycles in ((20_000, 60_000), (100, 110_000)):  # looked at one by one, and found in the picture
        assert found(one, TimeWindow(begin, begin + cycles), 30) == [3000]
