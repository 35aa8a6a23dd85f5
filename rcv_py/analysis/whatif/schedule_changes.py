"""Schedule changes for the remedies of findings: loads earlier, waits later, no gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rcv_py.analysis.whatif.changes import chosen, named
from rcv_py.base.runs import starts_run
from rcv_py.base.text import Message

if TYPE_CHECKING:  # its import loads a compiler, which naming a change must not do
    from rcv_py.analysis.whatif.recording import Recording


@dataclass(frozen=True, slots=True)
class PrefetchIteration:
    """Waits for an execution of an instruction wait for the previous one: data an iteration earlier.

    That is a second set of registers, or a second buffer: each iteration works on what the previous iteration
    loaded.  The first execution of a wave is waited for as before.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        """Return the recording with the change."""
        rows = np.flatnonzero(chosen(recording, self.lines))
        owner, line = recording.owner[rows], recording.line[rows]
        by_line = np.lexsort((rows, line, owner))
        rows, is_first = rows[by_line], starts_run(owner[by_line], line[by_line])
        earlier = np.arange(len(recording.line))
        earlier[rows[1:][~is_first[1:]]] = rows[:-1][~is_first[1:]]
        awaited = earlier[recording.awaited]
        return replace(recording, awaited=awaited[np.lexsort((awaited, recording.waiting))])

    @property
    def text(self) -> str:
        """Describe the change."""
        return Message("{0} an iteration ahead", named(self.lines))


@dataclass(frozen=True, slots=True)
class MoveLater:
    """Move an instruction `by` executed instructions later, at most to the end of its wave."""

    line: int
    by: int

    def of(self, recording: Recording) -> Recording:
        """Return the recording with the change."""
        place = np.arange(len(recording)) + 0.0
        is_meant = recording.line[recording.order] == self.line
        key = np.where(is_meant, place + self.by + 0.5, place)
        return replace(recording, order=recording.order[np.lexsort((key, recording.owner))])

    @property
    def text(self) -> str:
        """Describe the change."""
        how = "instruction" if self.by == 1 else "instructions"
        return Message("instruction {0} moved {1} {2} down", self.line, self.by, how)


@dataclass(frozen=True, slots=True)
class IssueWithoutGaps:
    """Instructions issue as soon as their unit is free: no gap before them, no dependencies.

    Waits for counters and barriers remain.
    """

    lines: tuple[int, ...]

    def of(self, recording: Recording) -> Recording:
        """Return the recording with the change."""
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
        """Describe the change."""
        return Message("{0} without delay", named(self.lines))
