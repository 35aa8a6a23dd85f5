"""The waves of the open trace that are in memory."""

from __future__ import annotations

from rcv_py.model.ids import WaveId
from rcv_py.model.lod import WaveLod
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch


class WaveStore:
    """Loaded waves by row of the wave index.  Batches are added by the loader, on the UI thread."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.batches: tuple[WaveBatch, ...] = ()
        self.missing: dict[int, str] = {}  # index row: why it could not be read
        self.nbytes = 0
        self._waves: dict[int, Wave] = {}
        self._lods: dict[int, WaveLod] = {}

    def add(self, batch: WaveBatch) -> None:
        """Keep the waves of a batch; a wave that is here already stays."""
        new = {wave.row: wave for wave in batch.waves if wave.row not in self._waves}
        self.missing.update(batch.missing)
        if not new and batch.waves:
            return
        self._waves.update(new)
        self._lods.update(zip((wave.row for wave in batch.waves), batch.lod, strict=False))
        self.nbytes += batch.nbytes
        self.batches = (*self.batches, batch)

    def wave(self, row: int) -> Wave | None:
        """The wave at a row of the index, None while it is not loaded."""
        return self._waves.get(row)

    def wave_by_id(self, wave: WaveId | None) -> Wave | None:
        """The wave of that name, None while it is not loaded."""
        row = None if wave is None else self.trace.waves.row(wave)
        return None if row is None else self._waves.get(row)

    def lod(self, row: int) -> WaveLod | None:
        """The level-of-detail tables of a wave, None while it is not loaded."""
        return self._lods.get(row)

    @property
    def count(self) -> int:
        """How many waves are loaded."""
        return len(self._waves)

    @property
    def is_complete(self) -> bool:
        """Whether every wave of the index was read or found unreadable."""
        return len(self._waves) + len(self.missing) >= len(self.trace.waves)
