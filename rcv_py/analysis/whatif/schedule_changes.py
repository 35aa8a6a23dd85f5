"""Changes of a schedule that remedies of findings ask for: loads ahead, waits later, nothing between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.whatif.changes import chosen, named
from rcv_py.base.runs import starts_run

if TYPE_CHECKING:  # it imports a compiler, and a change is named long before it is played
    from rcv_py.analysis.whatif.recording import Recording


@dataclass(frozen=True, slots=True)
class Ahead:
    """Who waits for an execution of an instruction waits for the one before it: data an iteration earlier.

    That is a second set of registers, or a second buffer: each iteration works on what the one before
    loaded.  The first execution of a wave is waited for as it was.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        """Return the recording with it."""
        rows = np.flatnonzero(chosen(recording, self.lines))
        owner, line = recording.owner[rows], recording.line[rows]
        by_line = np.lexsort((rows, line, owner))
        rows, is_first = rows[by_line], starts_run(owner[by_line], line[by_line])
        earlier = np.arange(len(recording.line))
        earlier[rows[1:][~is_first[1:]]] = rows[:-1][~is_first[1:]]
        awaited = earlier[recording.awaited]
        waits = np.repeat(np.arange(len(recording)), np.diff(recording.await_first))
        return replace(recording, awaited=awaited[np.lexsort((awaited, waits))])

    @property
    def text(self) -> str:
        """What is changed."""
        return f"{named(self.lines)} an iteration ahead"


@dataclass(frozen=True, slots=True)
class Later:
    """An instruction stands so many executed instructions later, at the end of its wave at the latest."""

    line: int
    by: int

    def of(self, recording: Recording) -> Recording:
        """Return the recording with it."""
        place = np.arange(len(recording)) + 0.0
        is_meant = recording.line[recording.order] == self.line
        key = np.where(is_meant, place + self.by + 0.5, place)
        return replace(recording, order=recording.order[np.lexsort((key, recording.owner))])

    @property
    def text(self) -> str:
        """What is changed."""
        how = "instruction" if self.by == 1 else "instructions"
        return f"instruction {self.line} moved {self.by} {how} down"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions issue as soon as their unit is free: no gap before them, nothing that they wait for.

    Counters and barriers are waited for all the same.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        """Return the recording with it."""
        is_meant = chosen(recording, self.lines)
        at = np.flatnonzero(is_meant[recording.order])
        at = at[~np.isin(at, recording.first)]
        before = recording.order[at - 1]
        pace = recording.pace.copy()
        pace[before] = np.minimum(pace[before], recording.busy[before])
        first = recording.first[np.flatnonzero(np.diff(recording.first))]
        begins = is_meant[recording.order[first]]
        lead = recording.lead.copy()
        lead[recording.owner[recording.order[first[begins]]]] = 0
        return replace(recording, pace=pace, lead=lead, delay=np.where(is_meant, 0, recording.delay))

    @property
    def text(self) -> str:
        """What is changed."""
        return f"{named(self.lines)} without delay"
