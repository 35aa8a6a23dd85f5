"""Waves as slices of a Perfetto trace: instructions, states, and arrows of waits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rcv_py.analysis.core.lanes import lanes
from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.export.traces.perfetto_names import Argument, Names, track
from rcv_py.export.traces.perfetto_rows import NO_ARROWS, Arrows, Slices
from rcv_py.model.kinds import KIND_COUNT, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

FIRST_WAVE = 1 << 20  # uuid of the first wave's thread; below are places, markers and curves
STRIDE = 16  # uuids of a wave: its thread, 7 more lanes, its states
STATES = 8
_MAX_LANES = 8


class Waves:
    """Turns batches into slices; numbers the arrows over all of them."""

    def __init__(self, trace: Trace, texts: Names) -> None:
        self._trace = trace
        code = trace.code
        nameless = texts.number("instruction without a code line")
        self._name = np.array([*texts.numbers(code.text), nameless], dtype=np.int64)
        places = leaf_texts(code, trace.sources)
        self._source = np.array([*(texts.number(one) if one else 0 for one in places), 0], dtype=np.int64)
        self._state = np.array([texts.number(state.name) for state in WaveState], dtype=np.int64)
        self._arrows = 0

    def tokens(self, batch: WaveBatch) -> Slices:
        """Return the instructions of a batch, ordered by wave, lane and time.

        On a lane a slice ends where the next one begins: tokens may overlap by a step of the clock.
        """
        columns = columns_of(batch)
        start, owner = columns.start, columns.owner
        row = np.array([wave.row for wave in batch.waves], dtype=np.int64)
        track_ = FIRST_WAVE + row[owner] * STRIDE + self._lanes(batch)
        duration = batch.stall.astype(np.int64) + batch.busy
        line = np.where((batch.line >= 0) & (batch.line < len(self._trace.code)), batch.line, -1)
        leaves, arrives = self._links(batch)
        slices = Slices(
            track_,
            self._name[line],
            np.where(batch.kind < KIND_COUNT, batch.kind, 0).astype(np.int64) + 1,
            start,
            start + duration,
            {
                Argument.LINE: line.astype(np.int64),
                Argument.STALL: batch.stall.astype(np.int64),
                Argument.CYCLE: start,
                Argument.CYCLES: duration,
                Argument.SOURCE: self._source[line],
            },
            leaves,
            arrives,
        )
        order = np.argsort(track_, kind="stable")
        return _trimmed(slices.at(order) if (track_[1:] < track_[:-1]).any() else slices)

    def states(self, batch: WaveBatch) -> Slices:
        """Return the states of the waves of a batch; EMPTY and what has no length is left out."""
        counts = [len(wave.states) for wave in batch.waves]
        uuid = [FIRST_WAVE + wave.row * STRIDE + STATES for wave in batch.waves]
        state = _joined([wave.states.state for wave in batch.waves]).astype(np.int64)
        begin = _joined([wave.states.start for wave in batch.waves])
        end = begin + _joined([wave.states.duration for wave in batch.waves])
        track_ = np.repeat(np.array(uuid, dtype=np.int64), counts)
        keep = np.flatnonzero((end > begin) & (state > WaveState.EMPTY) & (state < len(self._state)))
        names, begin, end = self._state[state[keep]], begin[keep], end[keep]
        return _trimmed(Slices.on(track_[keep], names, begin, end, category="state"))

    def _links(self, batch: WaveBatch) -> tuple[Arrows, Arrows]:
        """Number an arrow for each instruction that each wait waited for; counters may name one twice."""
        if not batch.waves:
            return NO_ARROWS, NO_ARROWS
        links = replay(batch, self._trace.code, self._trace.gfxip, self._trace.target)
        edges = np.unique(np.stack([links.token[links.row_of], links.producers], axis=1), axis=0)
        numbers = self._arrows + 1 + np.arange(len(edges), dtype=np.int64)
        self._arrows += len(edges)
        return Arrows.on(edges[:, 1], numbers), Arrows.on(edges[:, 0], numbers)

    def _lanes(self, batch: WaveBatch) -> np.ndarray:
        """The lane of each instruction, int64; 0 where none overlap."""
        slack = self._trace.base_clock if self._trace.base_clock > 1 else 0
        found = []
        for tokens in (wave.tokens for wave in batch.waves):
            lane = lanes(tokens.start, tokens.end, slack) if tokens.lane is None else tokens.lane
            found.append(np.zeros(len(tokens), dtype=np.int64) if lane is None else lane.astype(np.int64))
        return np.minimum(_joined(found), _MAX_LANES - 1)


def lane_tracks(tokens: Slices) -> bytes:
    """Announce the lanes of waves whose instructions overlap."""
    tracks = ((uuid, uuid % STRIDE) for uuid in np.unique(tokens.track).tolist())
    return b"".join(track(uuid, uuid - lane, f"lane {lane + 1}") for uuid, lane in tracks if lane)


def _trimmed(slices: Slices) -> Slices:
    """Let no slice reach into the next one of its track."""
    end = slices.end.copy()
    same = slices.track[1:] == slices.track[:-1]
    end[:-1][same] = np.minimum(end[:-1], slices.begin[1:])[same]
    return replace(slices, end=np.maximum(end, slices.begin))


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
