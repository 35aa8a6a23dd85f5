"""When waves begin if SIMDs hold more of them.

Workgroups begin in the recorded order, each with all of its waves, in any slots that are free.  As all
SIMDs keep the same order, no two workgroups wait for each other's slots, and all waves end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rcv_py.base.record import Value

if TYPE_CHECKING:  # its import takes longer than to name a change
    from rcv_py.analysis.whatif.recording import Recording

NO_INDEX = -1
LAUNCH = 32  # default cycles between two launches on a SIMD while a slot is free


class Residents(Value):
    """Waves that SIMDs hold at once."""

    room: int  # slots of the fullest SIMD that the recording shows
    group: int  # waves of a workgroup on a SIMD
    added: int  # waves a SIMD that can be added: whole workgroups


class PooledWaves(Value):
    """Waves that take any slot of their SIMD; columns of `Recording`."""

    before: np.ndarray  # NO_INDEX: it begins at `begin`; else when a slot is free
    begin: np.ndarray
    pool: np.ndarray
    turn: np.ndarray


def residents(recording: Recording, more: int, most: int = 0) -> Residents:
    """Return how many waves a SIMD can hold in addition, up to `more`, rounded up to whole workgroups.

    `most` is what fits on a SIMD, 0 if unknown.
    """
    if not len(recording.begin):
        return Residents(0, 1, 0)
    room = int(np.bincount(recording.simd[recording.before < 0]).max())
    place, counts = np.unique((workgroups(recording) << 8) | recording.simd, return_counts=True)
    of = np.unique(place >> 8, return_inverse=True)[1]
    each = np.zeros(int(of.max()) + 1, dtype=np.int64)
    np.maximum.at(each, of, counts)
    group = int(np.bincount(each).argmax())
    added = -(-more // group) * group
    if most:
        added = min(added, max(0, most - room) // group * group)
    return Residents(room, group, added)


def workgroups(recording: Recording) -> np.ndarray:
    """Return the workgroup of each wave, int64: waves that meet at barriers; else a wave alone."""
    owner, group = recording.owner, np.arange(len(recording.begin))
    tokens = np.flatnonzero((recording.meeting >= 0) | (recording.signals >= 0))
    wave = owner[tokens]
    meeting = np.maximum(recording.meeting[tokens], recording.signals[tokens])
    while True:
        least = np.full(len(recording.members), len(group))
        np.minimum.at(least, meeting, group[wave])
        joined = group.copy()
        np.minimum.at(joined, wave, least[meeting])
        if np.array_equal(joined, group):
            return group
        group = joined


def pooled(recording: Recording, added: int) -> PooledWaves:
    """Return the waves with `added` more slots on each SIMD."""
    begin, group, waves = recording.begin, workgroups(recording), len(recording.begin)
    first = np.full(waves, np.iinfo(np.int64).max)
    np.minimum.at(first, group, begin)
    order = np.lexsort((begin, group, first[group]))
    turn = np.empty(waves, dtype=np.int64)
    turn[order] = np.arange(waves)
    before, begins = np.full(waves, NO_INDEX, dtype=recording.before.dtype), begin.copy()
    for simd in np.unique(recording.simd).tolist():
        own = order[recording.simd[order] == simd]
        largest = int(np.bincount(group[own]).max())
        is_head = recording.before[own] < 0
        room = max(int(np.count_nonzero(is_head)) + added, largest)
        before[own[room:]] = own[: len(own[room:])]
        queued = np.flatnonzero(~is_head)
        launch = _launch(recording, own)
        for place in range(max(1, int(queued[0]) if len(queued) else room), min(room, len(own))):
            begins[own[place]] = min(begins[own[place]], begins[own[place - 1]] + launch)
    return PooledWaves(before, begins, recording.simd.astype(np.int64), turn)


def _launch(recording: Recording, own: np.ndarray) -> int:
    """Return the usual cycles between two launches on a SIMD while a slot is free."""
    steps = np.diff(np.sort(recording.begin[own[recording.before[own] < 0]]))
    steps = steps[steps > 0]
    return int(np.median(steps)) if len(steps) else LAUNCH
