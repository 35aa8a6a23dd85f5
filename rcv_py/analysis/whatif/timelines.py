"""The predicted instructions of waves, and the course of the critical path, in aligned cycles."""

from collections.abc import Iterable, Sequence

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.critical_path import critical_path
from rcv_py.analysis.whatif.event_loop import Played
from rcv_py.analysis.whatif.path_line import PathLine
from rcv_py.analysis.whatif.predict import Player
from rcv_py.analysis.whatif.recording import Recording
from rcv_py.model.columns import joined
from rcv_py.model.tokens import Tokens
from rcv_py.model.waves import TracedWave


def predicted_tokens(
    player: Player, changes: Sequence[Change], waves: Iterable[TracedWave]
) -> dict[int, Tokens]:
    """Return the predicted instructions of waves with some changes, by row of the wave index.

    Waves whose compute unit was not played are left out.  Times are aligned cycles, as in `waves`.
    """
    wanted = {wave.row: wave for wave in waves}
    found: dict[int, Tokens] = {}
    for base, recorded, played in player.changed(changes):
        lengths = np.diff(recorded.first)
        for place in np.flatnonzero(np.isin(recorded.row, list(wanted))).tolist():
            wave = wanted[int(recorded.row[place])]
            if wave.row not in found and lengths[place] == len(wave.tokens):
                found[wave.row] = _tokens(base, recorded, played, place, wave)
    return found


def path_line(player: Player) -> PathLine:
    """Return the critical paths of the played compute units, one after the other."""
    parts = []
    for base, recorded, played in player.changed(()):
        if not len(played.end):
            continue
        path = critical_path(recorded, played)
        line = np.where(path.token >= 0, recorded.line[path.token], -1)
        part = PathLine(
            wave=recorded.row[path.wave].astype(np.int64),
            line=np.where(line >= recorded.rows, -1, line).astype(np.int64),
            cause=path.cause,
            begin=path.begin + base,
            end=path.end + base,
        )
        parts.append(part)
    return joined([PathLine.empty(), *parts])


def _tokens(base: int, recorded: Recording, played: Played, place: int, wave: TracedWave) -> Tokens:
    low, high = int(recorded.first[place]), int(recorded.first[place + 1])
    order = recorded.order[low:high]
    issue, pace = played.issue[order], recorded.pace[order]
    start = issue.copy()
    start[1:] = np.minimum(issue[1:], issue[:-1] + pace[:-1])
    start[:1] = np.minimum(issue[:1], played.begin[place] + recorded.lead[place])
    busy = recorded.busy[order]
    if wave.tokens.lane is None:  # in such a generation, the next instruction begins when this one has issued
        busy[:-1] = np.clip(start[1:] - issue[:-1], 0, busy[:-1])
    own = order - low
    return Tokens(
        base=base,
        offset=start,
        stall=issue - start,
        busy=busy,
        kind=wave.tokens.kind[own],
        line=wave.tokens.line[own],
        lane=None if wave.tokens.lane is None else lanes(start, issue + busy, 0),
    )
