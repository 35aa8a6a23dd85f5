"""Issue loads before other loads that are needed later, and leave those outstanding at the wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.lines import MEMORY
from rcv_py.analysis.waits.load_batch import LoadBatch
from rcv_py.analysis.waits.load_order import NOWHERE, LoadOrder
from rcv_py.analysis.whatif.changes import NAMED, Change, chosen, moved
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, starts_run
from rcv_py.base.text import Message, plural, some

if TYPE_CHECKING:  # their import takes longer than to name a change
    from rcv_py.analysis.whatif.predict import Player, Prediction
    from rcv_py.analysis.whatif.recording import Recording

EACH = 4  # groups of moves that are tried one by one, those with the largest bounds


class Hoist(Change):
    """Move loads before another load, and leave the loads that are needed later to the next wait."""

    wait: int
    loads: tuple[int, ...]  # in the order in which they issue
    before: int
    deferred: tuple[int, ...]  # loads that the wait leaves outstanding
    until: tuple[int, ...]  # waits that wait for them instead
    registers: int = 0  # additional vector registers: at their new place the loads may not write their own
    along: tuple[int, ...] = ()  # what computes addresses of the loads, and moves with them
    between: tuple[int, ...] = ()  # other waits that leave the loads outstanding, as they pass them
    left: str = ""  # what the wait leaves outstanding, such as `vmcnt(20)`

    def of(self, recording: Recording) -> Recording:
        recorded = recording.order
        recording = moved(recording, sorted((*self.loads, *self.along)), self.before)
        in_turn = recording.in_turn.copy()
        if not np.array_equal(recording.order, recorded):  # no recorded rank fits what moved
            in_turn[[*MEMORY]] = ~recording.by_age[[*MEMORY]]
        waits = recording.waiting
        is_later = (recording.line[waits] == self.wait) & np.isin(
            recording.line[recording.awaited], np.array(self.deferred, dtype=np.int64)
        )
        next_waits = _next(recording, waits[is_later], self.until)
        waits[is_later] = next_waits
        kept = np.flatnonzero(waits >= 0)
        waits, awaited = waits[kept], recording.awaited[kept]
        rows = np.lexsort((awaited, waits))
        rows = rows[starts_run(waits[rows], awaited[rows])]
        counts = np.bincount(waits[rows], minlength=len(recording))
        return replace(recording, await_first=borders(counts), awaited=awaited[rows], in_turn=in_turn)

    @property
    def text(self) -> str:
        names = some([*map(str, self.loads)], NAMED)
        loads = f"{'load' if len(self.loads) == 1 else 'loads'} {names}"
        more = plural(self.registers, "more register")
        into = Message(" into {0}", more) if self.registers else ""
        if self.left:
            return Message("{0} before wait {1}{2}, which leaves {3}", loads, self.wait, into, self.left)
        text = "{0} before {1}{2}, and wait {3} for no more than that"
        return Message(text, loads, self.before, into, self.wait)


def hoisted(batch: LoadBatch) -> Hoist:
    """Return the change that issues a batch of loads before the wait above them."""
    along = tuple(row for row in batch.rows if row not in batch.loads)
    return Hoist(
        wait=batch.wait,
        loads=batch.loads,
        before=batch.wait,
        deferred=(),
        until=(),
        registers=batch.renamed,
        along=along,
        between=batch.between,
        left=batch.left,
    )


def _next(recording: Recording, tokens: np.ndarray, lines: Sequence[int]) -> np.ndarray:
    """Return the next execution of any of the instructions after each token in its wave, -1: none."""
    place = recording.place
    marks = np.sort(place[chosen(recording, lines)])
    at = np.searchsorted(marks, place[tokens], side="right")
    following = np.append(marks, len(recording))[at]
    stop = recording.first[np.searchsorted(recording.first, place[tokens], side="right")]
    return np.where(following < stop, np.append(recording.order, -1)[following], -1)


class HoistGroup(Value):
    """Moves that help only together: each wait defers to the next one what the previous wait left."""

    hoists: tuple[Hoist, ...]  # in program order
    rows: tuple[int, ...]  # of the load order


def groups(found: LoadOrder) -> list[HoistGroup]:
    """Return the moves that correct inverted waits, the largest bound first."""
    rows: dict[int, list[int]] = {}
    place: dict[int, int] = {}
    for row, (wait, before) in enumerate(zip(found.wait.tolist(), found.before.tolist(), strict=True)):
        if before != NOWHERE and place.setdefault(wait, before) == before:
            rows.setdefault(wait, []).append(row)
    head = {wait: wait for wait in rows}
    for wait in sorted(rows):
        own = rows[wait][0]
        for other in found.until[own]:
            shared = other in rows and {*found.deferred[own]} & {*found.deferred[rows[other][0]]}
            if shared and other > wait:
                head[other] = head[wait]
    members: dict[int, list[int]] = {}
    for wait in sorted(rows):
        members.setdefault(head[wait], []).append(wait)
    made = []
    for waits in members.values():
        own_rows = [row for wait in waits for row in rows[wait]]
        hoists = tuple(
            Hoist(
                wait=wait,
                loads=tuple(sorted(int(found.load[row]) for row in rows[wait])),
                before=place[wait],
                deferred=found.deferred[rows[wait][0]],
                until=found.until[rows[wait][0]],
                registers=sum(int(found.registers[row]) for row in rows[wait]),
            )
            for wait in waits
        )
        made.append(HoistGroup(hoists, tuple(own_rows)))
    return sorted(made, key=lambda one: -sum(int(found.bound[row]) for row in one.rows))


def goes_with(found: LoadOrder) -> dict[int, list[int]]:
    """Return for each inverted wait (code row) the other waits of its group."""
    every = [[hoist.wait for hoist in group.hoists] for group in groups(found)]
    return {wait: [other for other in waits if other != wait] for waits in every for wait in waits}


class Tried(Value):
    """Predictions of moves."""

    of_row: dict[int, Prediction]  # by row of the load order; only rows that were tried
    together: Prediction | None  # for all tried moves; None: nothing was tried


def predicted_moves(player: Player, found: LoadOrder, most: int = EACH) -> Tried:
    """Predict the gain of the moves with the largest bounds, group by group and all together."""
    made = groups(found)[:most]
    of_row: dict[int, Prediction] = {}
    for group in made:
        of_row |= dict.fromkeys(group.rows, player.predict(group.hoists))
    every = [hoist for group in made for hoist in group.hoists]
    return Tried(of_row, player.predict(every) if every else None)
