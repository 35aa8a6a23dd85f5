"""Barriers: when waves arrived, when they opened, and which wave the others waited for.

Meetings are the n-th barriers of the waves of a workgroup:

```
wave 0  ──b░░░░│──b░│──     its first and its second barrier
wave 1  ─────b░│─b░░│──     arrived last at the first meeting, which opened a moment later
wave 2  ──b░░░░│────■       ended before the second meeting: the others no longer wait for it
```
The hardware counts: a barrier opens when as many waves have arrived as remain in the workgroup.  So a wave
that ends can be the one that all others waited for.  `workgroups.py` determines which waves are one
workgroup.
"""

import numpy as np

from rcv_py.analysis.core.parcels import FOREVER
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.base.runs import ranges, run_starts, starts_run
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, memoized

RELEASE = 8  # cycles within which the waves of a workgroup leave a barrier
_WAITS, _SIGNALS = 1, 2  # role of an instruction at a barrier
# Operands of s_barrier_signal and s_barrier_wait (gfx12) that mean the workgroup, not a cluster or a name.
_WHOLE_GROUP = ("", "-1", "0xffff", "65535")


class Crossings(ColumnTable):
    """Barriers that waves went through, one row each, wave by wave and in order."""

    line: np.ndarray  # int32 or int64, code row at which the wave signals
    wave: np.ndarray  # int32 or int64, index of the wave
    nth: np.ndarray  # int32 or int64, from 0
    arrived: np.ndarray  # int64, cycles: when it signalled
    waited: np.ndarray  # int64, cycles: when it began to wait
    released: np.ndarray  # int64, cycles: when it continued
    is_held: np.ndarray  # bool: `released` is when the barrier opened; False: it may have opened earlier


class TokenCrossings(Crossings):
    """Crossings with their tokens, as indices in the columns they came from."""

    token: np.ndarray  # int64, the token that waits
    signal: np.ndarray  # int64, the token that signals; `token` unless the barrier is split


def crossings(tokens: TokenColumns, code: CodeTable) -> TokenCrossings:
    """Return the barriers of some waves.

    Only barriers of the whole workgroup count: cluster barriers and named barriers hold other waves.  Some
    captures of gfx9 have two consecutive tokens per barrier, a message and a wait: they count as one.
    """
    line, roles = tokens.line, _roles(code)
    at = np.flatnonzero((roles > 0)[tokens.code_rows(len(code))])
    role, owner = roles[line[at]], tokens.owner[at]
    front = np.append(0, np.arange(len(at) - 1))[: len(at)]
    before = at[front]
    is_same = ~starts_run(owner)
    is_next = is_same & (at - before == 1) & (line[at] == line[before])
    is_second = (role == _WAITS) & is_next & (tokens.kind[at] != tokens.kind[before])
    is_first = (role == _WAITS) & ~is_second
    has_signal = (role[front] == _SIGNALS) & is_same & is_first
    first, token = at[is_first], at[(role == _WAITS) & ~np.append(is_second[1:], False)[: len(at)]]
    signal, wave = np.where(has_signal, before, at)[is_first], owner[is_first]
    start = tokens.start
    released = start[token] + (tokens.stall[token].astype(np.int64) + tokens.busy[token])
    nth = ranges(0, np.bincount(wave, minlength=len(tokens.waves)))
    is_held = (signal == first) | (released - start[first] > RELEASE)
    return TokenCrossings(
        token=token,
        signal=signal,
        line=line[signal].astype(np.int64),
        wave=wave,
        nth=nth,
        arrived=start[signal],
        waited=start[first],
        released=released,
        is_held=is_held,
    )


@memoized
def _roles(code: CodeTable) -> np.ndarray:
    """The role of each code row, and of tokens without a row, int64 [code rows + 1]."""
    return np.array([*map(_role, code.text), 0])


def _role(text: str) -> int:
    """Whether an instruction waits at a barrier of the workgroup, or only signals; 0 for others."""
    name, operand, *_ = *text.split(maxsplit=1), "", ""
    if name != "s_barrier" and operand.strip() not in _WHOLE_GROUP:
        return 0
    if name.startswith("s_barrier_signal"):
        return _SIGNALS
    return _WAITS if name in ("s_barrier", "s_barrier_wait") else 0


# Cycles from the last arrival to the first release: 4 or 8 on gfx9, without exception in real captures.  For
# later generations it is unknown: the minimum in a capture counts, if it is no longer than `MAX_DELAY`.
GFX9_DELAY = 4
MAX_DELAY = 16
LATER = 4  # cycles that a barrier may take beyond its minimum


class Meetings(ColumnTable):
    """One row per meeting, by workgroup and turn.  Times are cycles on the clock of the crossings."""

    of: np.ndarray  # int64 [crossings], meeting of each
    waves: np.ndarray  # int64, recorded waves at the meeting
    last: np.ndarray  # int64, crossing of the wave that arrived last
    left: np.ndarray  # int64, wave that ended after all arrivals and so opened the barrier; -1: none
    first_arrived: np.ndarray  # int64
    last_arrived: np.ndarray  # int64, when `last` arrived, or when `left` ended
    released: np.ndarray  # int64, the first release of a wave that was held; FOREVER if none was
    spread: np.ndarray  # int64, cycles from the first to the last release of waves that were held
    delay: int  # minimum cycles from the last arrival to the first release that the barrier itself takes

    def __len__(self) -> int:
        return len(self.last)

    @property
    def is_seen(self) -> np.ndarray:
        """Whether the wave they waited for was recorded, bool; else the barrier opened long afterwards."""
        return self.released - self.last_arrived <= self.delay + LATER


def meetings(
    at: Crossings, group: np.ndarray, last_end: np.ndarray, slowest: int = MAX_DELAY, delay: int | None = None
) -> Meetings:
    """Return the meetings of waves with these workgroups.

    `last_end` is the end of each wave's last token (int64 [waves]).  If `delay`, the time of the barrier
    itself, is not given, it is the minimum time from a last arrival to a release, but at most `slowest`: if
    it always took longer, unrecorded waves arrived last.
    """
    order = np.lexsort((at.arrived, at.nth, group[at.wave]))
    of_group, nth = group[at.wave[order]], at.nth[order]
    first = run_starts(of_group, nth)
    of = np.empty(len(order), dtype=np.int64)
    of[order] = np.cumsum(starts_run(of_group, nth)) - 1
    if not len(first):
        return Meetings.empty(of=of, delay=slowest if delay is None else delay)
    ends = np.append(first[1:], len(order)) - 1
    arrived = at.arrived[order]
    # A wave that was not held may have passed after the barrier opened; if none was held, that is unknown.
    released, held = at.released[order], at.is_held[order]
    earliest = np.minimum.reduceat(np.where(held, released, FOREVER), first)
    latest = np.maximum.reduceat(np.where(held, released, -FOREVER), first)
    # The wave that ended last instead of arriving: its next barrier would have been this meeting.
    left, when = np.full(len(first), -1, dtype=np.int64), arrived[ends].copy()
    had = np.zeros(len(group), dtype=np.int64)
    np.maximum.at(had, at.wave, at.nth + 1)
    wide = int(max(nth.max(), had.max())) + 2
    key, mine = (of_group * wide + nth)[first], group * wide + had
    row = np.minimum(np.searchsorted(key, mine), len(key) - 1)
    fits = (group >= 0) & (key[row] == mine) & (last_end > when[row]) & (last_end <= earliest[row] + RELEASE)
    wave = np.flatnonzero(fits)
    wave = wave[np.lexsort((last_end[wave], row[wave]))]
    left[row[wave]], when[row[wave]] = wave, last_end[wave]
    if delay is None:
        delay = min(slowest, max(0, int((earliest - when).min())))
    spread = np.maximum(latest - earliest, 0)
    return Meetings(
        of=of,
        waves=ends - first + 1,
        last=order[ends],
        left=left,
        first_arrived=arrived[first],
        last_arrived=when,
        released=earliest,
        spread=spread,
        delay=delay,
    )


def last_ends(tokens: TokenColumns) -> np.ndarray:
    """When the last token of each wave ended, int64 cycles; the begin of waves without tokens."""
    ends = tokens.lives[0].copy()
    last = np.flatnonzero(tokens.is_last)
    ends[tokens.owner[last]] = tokens.ends_at(last)
    return ends
