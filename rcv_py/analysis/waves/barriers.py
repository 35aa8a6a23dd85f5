"""Barriers: when waves came to them, when they opened, and who was waited for.

Meetings are the n-th barriers of the waves of a workgroup:

```
wave 0  ──b░░░░│──b░│──     its first and its second barrier
wave 1  ─────b░│─b░░│──     came last to the first meeting, which opened a moment later
wave 2  ──b░░░░│────■       ended instead of coming to the second: nobody waits for it any longer
```
The hardware counts: a barrier opens when as many waves have arrived as are left of the workgroup.  So a wave
that ends can be the one that all others waited for.
Which waves are one workgroup is said by `workgroups.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from rcv_py.analysis.core.kept import kept
from rcv_py.analysis.core.parcels import FOREVER
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.base.runs import ranges, run_starts, starts_run
from rcv_py.model.code import CodeTable

RELEASE = 8  # cycles: the waves of a workgroup leave a barrier no further apart
_WAITS, _SIGNALS = 1, 2  # what an instruction does at a barrier
# Operands of s_barrier_signal and s_barrier_wait (gfx12) that mean the workgroup, not a cluster or a name.
_WHOLE_GROUP = ("", "-1", "0xffff", "65535")


@dataclass(frozen=True, eq=False)
class Crossings:
    """Barriers that waves went through, one row each, wave by wave and in order."""

    line: np.ndarray  # int32 or int64, code row at which the wave signals
    wave: np.ndarray  # int32 or int64, place of the wave
    nth: np.ndarray  # int32 or int64, from 0
    arrived: np.ndarray  # int64, cycles: when it signalled
    waited: np.ndarray  # int64, cycles: when it began to wait
    released: np.ndarray  # int64, cycles: when it went on
    is_held: np.ndarray  # bool: `released` is when the barrier opened; False: it may have been open before

    def __len__(self) -> int:
        return len(self.line)


@dataclass(frozen=True, eq=False)
class TokenCrossings(Crossings):
    """The same with the tokens, places in the columns that they were found in."""

    token: np.ndarray  # int64, the token that waits
    signal: np.ndarray  # int64, the token that signals; `token` unless it is split


def crossings(tokens: TokenColumns, code: CodeTable) -> TokenCrossings:
    """Return the barriers of some waves.

    Only barriers of the whole workgroup: those of clusters and those with names hold other waves.  Some
    captures of gfx9 have two tokens a barrier, a message and a wait, one after the other: they are one.
    """
    known, found = _KNOWN.get(tokens, (None, None))
    if found is None or known is not code:
        found = _crossings(tokens, code)
        _KNOWN[tokens] = code, found
    return found


# Several analyses of the same columns ask the same.
_KNOWN: WeakKeyDictionary[TokenColumns, tuple[CodeTable, TokenCrossings]] = WeakKeyDictionary()


def _crossings(tokens: TokenColumns, code: CodeTable) -> TokenCrossings:
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


@kept
def _roles(code: CodeTable) -> np.ndarray:
    """The role of each code row, and that of tokens without one, int64 [code rows + 1]."""
    return np.array([*map(_role, code.text), 0])


def _role(text: str) -> int:
    """Whether an instruction waits at a barrier of the workgroup, or only signals; 0 for others."""
    name, operand, *_ = *text.split(maxsplit=1), "", ""
    if name != "s_barrier" and operand.strip() not in _WHOLE_GROUP:
        return 0
    if name.startswith("s_barrier_signal"):
        return _SIGNALS
    return _WAITS if name in ("s_barrier", "s_barrier_wait") else 0


# Cycles from the last arrival to the first release: 4 or 8 on gfx9, without exception in real captures.  Of
# later generations it is not known: the least of a capture counts there, if it is no longer than `MAX_DELAY`.
GFX9_DELAY = 4
MAX_DELAY = 16
LATER = 4  # cycles that a barrier may take longer than it does at least


@dataclass(frozen=True, eq=False)
class Meetings:
    """One row a meeting, by workgroup and turn.  Times are cycles on the clock of the crossings."""

    of: np.ndarray  # int64 [crossings], meeting of each
    waves: np.ndarray  # int64, how many of its waves were recorded there
    last: np.ndarray  # int64, crossing of the wave that arrived last
    left: np.ndarray  # int64, wave that ended after all arrivals and so opened the barrier; -1: none
    first_arrived: np.ndarray  # int64
    last_arrived: np.ndarray  # int64, when `last` arrived, or when `left` ended
    released: np.ndarray  # int64, the first release of a wave that was held; FOREVER if none was
    spread: np.ndarray  # int64, cycles from the first to the last release of waves that were held
    delay: int  # cycles from the last arrival to the first release that the barrier itself takes, at least

    def __len__(self) -> int:
        return len(self.last)

    @property
    def is_seen(self) -> np.ndarray:
        """Whether the wave they waited for was recorded, bool: else it opened long after all that were."""
        return self.released - self.last_arrived <= self.delay + LATER


def meetings(
    at: Crossings,
    group: np.ndarray,
    last_end: np.ndarray,
    slowest: int = MAX_DELAY,
    delay: int | None = None,
) -> Meetings:
    """Return the meetings of waves with these workgroups.

    `last_end` is the end of each wave's last token (int64 [waves]).  How long the barrier itself takes
    (`delay`, if it is not known) is the least time from a last arrival to a release, but not more than
    `slowest`: where it always took longer, other waves came last that were not recorded.
    """
    order = np.lexsort((at.arrived, at.nth, group[at.wave]))
    of_group, nth = group[at.wave[order]], at.nth[order]
    first = run_starts(of_group, nth)
    of = np.empty(len(order), dtype=np.int64)
    of[order] = np.cumsum(starts_run(of_group, nth)) - 1
    if not len(first):
        none = np.zeros(0, dtype=np.int64)
        return Meetings(
            of=of,
            waves=none,
            last=none,
            left=none,
            first_arrived=none,
            last_arrived=none,
            released=none,
            spread=none,
            delay=slowest if delay is None else delay,
        )
    ends = np.append(first[1:], len(order)) - 1
    arrived = at.arrived[order]
    # A wave that was not held may have passed later than the barrier opened; if none was, that is not seen.
    released, held = at.released[order], at.is_held[order]
    earliest = np.minimum.reduceat(np.where(held, released, FOREVER), first)
    latest = np.maximum.reduceat(np.where(held, released, -FOREVER), first)
    # The wave that ended last instead of coming: its next barrier would have been that of the meeting.
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
    """When the last token of each wave ended, int64 cycles; the begin of those without tokens."""
    ends = tokens.lives[0].copy()
    last = np.flatnonzero(tokens.is_last)
    duration = tokens.stall[last].astype(np.int64) + tokens.busy[last]
    ends[tokens.owner[last]] = tokens.start[last] + duration
    return ends
