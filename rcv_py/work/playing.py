"""Thread jobs of panels that predict: read waves once, play experiments, lay out rows of waves.

The player is imported in the thread: it imports a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from rcv_py.analysis.timeline.raster import RowSegment, TokenRow
from rcv_py.analysis.whatif.changes import Change
from rcv_py.analysis.whatif.path_line import PathLine
from rcv_py.base.record import Record
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.model.window import TimeWindow

if TYPE_CHECKING:
    from rcv_py.analysis.whatif.predict import Player, Prediction


class PlayedWaves(Record):
    """Waves as recorded and as predicted: for each slot rows recorded, and rows predicted."""

    rows: tuple[TokenRow, ...]
    slots: tuple[str, ...]  # of each row, as a timeline names them
    is_recorded: tuple[bool, ...]  # of each row
    before: int  # cycles from the first instruction to the end of the last, of the waves that were played
    after: int  # the same, predicted; 0: none of them was played


NOTHING = PlayedWaves((), (), (), 0, 0)


class Recordings:
    """The played waves of a capture, read on first use; for threads."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._lock = Lock()
        self._player: Player | None = None
        self._path: tuple[tuple[int, ...], PathLine] | None = None  # of the unit of the last request

    def player(self, held: Sequence[WaveBatch]) -> Player:
        """Return the player; waves in memory are not read again."""
        from rcv_py.work.whatif import quick_player  # noqa: PLC0415 - as above

        with self._lock:
            if self._player is None:
                self._player = quick_player(self.trace, held)
            return self._player

    def predict(self, held: Sequence[WaveBatch], changes: Sequence[Change]) -> Prediction:
        """Return the predicted gain of changes."""
        return self.player(held).predict(changes)

    def path(self, held: Sequence[WaveBatch], rows: Sequence[int]) -> PathLine:
        """Return the critical path of the compute unit whose waves are these rows of the wave index."""
        from rcv_py.analysis.whatif.timelines import path_line  # noqa: PLC0415 - as above
        from rcv_py.work.whatif import player_of_waves  # noqa: PLC0415 - as above

        key = tuple(rows)
        if self._path is None or self._path[0] != key:
            self._path = key, path_line(player_of_waves(self.trace, rows, held))
        return self._path[1]

    def rows(
        self, held: Sequence[WaveBatch], changes: Sequence[Change], waves: Sequence[TracedWave]
    ) -> PlayedWaves:
        """Return waves of a compute unit as recorded and as predicted, slot by slot."""
        from rcv_py.analysis.whatif.timelines import predicted_tokens  # noqa: PLC0415 - as above

        found = predicted_tokens(self.player(held), changes, waves)
        slots: dict[tuple[int, int], list[TracedWave]] = {}
        for wave in sorted(waves, key=lambda one: (one.id.simd, one.id.slot, one.begin)):
            slots.setdefault((wave.id.simd, wave.id.slot), []).append(wave)
        rows: list[tuple[TokenRow, str, bool]] = []
        for (simd, slot), own in slots.items():
            lives = [(wave, TimeWindow(wave.begin, wave.end)) for wave in own]
            ran = [RowSegment.of(wave.tokens, wave.states, None, life, wave.row) for wave, life in lives]
            would = [_predicted(wave, found[wave.row]) for wave in own if len(found.get(wave.row, ()))]
            name = f"simd{simd}/{slot}"
            rows.append((TokenRow(tuple(ran)), name, True))
            rows += [(TokenRow(tuple(line)), name, False) for line in _apart(would)]
        played = [wave.tokens for wave in waves if len(found.get(wave.row, ()))]
        return PlayedWaves(
            rows=tuple(row for row, _, _ in rows),
            slots=tuple(name for _, name, _ in rows),
            is_recorded=tuple(is_ran for _, _, is_ran in rows),
            before=_span(played),
            after=_span([tokens for tokens in found.values() if len(tokens)]),
        )


def _predicted(wave: TracedWave, tokens: Tokens) -> RowSegment:
    states = States(tokens.base, tokens.offset[:0], tokens.kind[:0], 0)
    life = TimeWindow(int(tokens.start[0]), int(tokens.end.max()))
    return RowSegment.of(tokens, states, None, life, wave.row)


def _apart(segments: Sequence[RowSegment]) -> list[list[RowSegment]]:
    """Distribute segments of a slot over the fewest rows without overlap: predicted waves may overlap."""
    rows: list[list[RowSegment]] = []
    for segment in sorted(segments, key=lambda one: one.begin):
        free = next((row for row in rows if row[-1].end <= segment.begin), None)
        if free is None:
            rows.append([segment])
        else:
            free.append(segment)
    return rows


def _span(played: Sequence[Tokens]) -> int:
    if not played:
        return 0
    return max(int(one.end.max()) for one in played) - min(int(one.start[0]) for one in played)
