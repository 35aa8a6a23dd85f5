"""A batch of waves as a few long arrays, to cross a process border without an object a wave."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcv_py.model.lod import WaveLod
from rcv_py.model.wave_columns import WaveColumns, columns_of, joined
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, slots=True, eq=False)
class LodColumns:
    """The level-of-detail tables of many waves as four arrays."""

    facts: np.ndarray  # int64 [waves, 3]: base, shift, levels
    sizes: np.ndarray  # int64, buckets of every level of every wave
    kind: np.ndarray  # uint8
    state: np.ndarray  # uint8 [buckets, 4]

    @classmethod
    def of(cls, lods: tuple[WaveLod, ...]) -> LodColumns:
        """Put the levels of all waves one after the other."""
        facts = np.array([(lod.base, lod.shift, len(lod.kind)) for lod in lods], dtype=np.int64)
        kinds = [level for lod in lods for level in lod.kind]
        states = [level for lod in lods for level in lod.state]
        sizes = np.array([len(level) for level in kinds], dtype=np.int64)
        return cls(
            facts.reshape(len(lods), 3),
            sizes,
            joined(kinds, np.uint8),
            joined(states, np.uint8).reshape(-1, 4),
        )

    def tables(self) -> tuple[WaveLod, ...]:
        """The tables again; their arrays are views."""
        ends = np.cumsum(self.sizes).tolist()
        parts = [slice(end - size, end) for end, size in zip(ends, self.sizes.tolist(), strict=True)]
        kinds, states = [self.kind[part] for part in parts], [self.state[part] for part in parts]
        tables, at = [], 0
        for base, shift, levels in self.facts.tolist():
            mine = slice(at, at + levels)
            tables.append(WaveLod(base, shift, tuple(kinds[mine]), tuple(states[mine])))
            at += levels
        return tuple(tables)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch:
    """A WaveBatch as arrays."""

    waves: WaveColumns
    lods: LodColumns
    nbytes: int


def encode(batch: WaveBatch) -> EncodedBatch:
    """Return the batch as arrays."""
    return EncodedBatch(columns_of(batch), LodColumns.of(batch.lod), batch.nbytes)


def decode(encoded: EncodedBatch) -> WaveBatch:
    """Return the batch again; its arrays are read-only views of those that were encoded."""
    return replace(encoded.waves.batch(), lod=encoded.lods.tables(), nbytes=encoded.nbytes)
