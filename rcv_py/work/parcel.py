"""A batch as one block of bytes, to cross a process border; arrays are not copied when it is opened."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.model.lod import WaveLod
from rcv_py.model.wave_columns import columns_of, joined
from rcv_py.model.waves import WaveBatch

_ALIGN = 16
_HEAD = struct.Struct("<QQ")  # bytes of the pickle, number of arrays


@dataclass(frozen=True, slots=True, eq=False)
class LodColumns:
    """The level-of-detail tables of many waves as four arrays."""

    facts: np.ndarray  # int64 [waves, 3]: base, shift, levels
    sizes: np.ndarray  # int64, buckets of every level of every wave
    kind: np.ndarray  # uint8
    state: np.ndarray  # uint8 [buckets, 4]

    @classmethod
    def of(cls, lods: tuple[WaveLod, ...]) -> LodColumns:
        """Put the levels of all waves behind each other."""
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


def packed(batch: WaveBatch, mark: bytes = b"") -> bytes:
    """The batch as bytes: `mark`, a pickle, and behind it the columns, each at a multiple of 16."""
    arrays: list[pickle.PickleBuffer] = []
    content = (columns_of(batch), LodColumns.of(batch.lod), batch.nbytes)
    text = pickle.dumps(content, protocol=5, buffer_callback=arrays.append)
    views = [array.raw() for array in arrays]
    sizes = struct.pack(f"<{len(views)}Q", *(view.nbytes for view in views))
    parts: list[bytes | memoryview] = [mark, _HEAD.pack(len(text), len(views)), sizes, text]
    at = sum(map(len, parts))
    for view in views:
        gap = -at % _ALIGN
        parts += [bytes(gap), view]
        at += gap + view.nbytes
    return b"".join(parts)


def unpacked(data: bytes, skip: int = 0) -> WaveBatch:
    """The batch again, behind a mark of `skip` bytes; its arrays are read-only views of `data`."""
    size, count = _HEAD.unpack_from(data, skip)
    sizes = struct.unpack_from(f"<{count}Q", data, skip + _HEAD.size)
    whole = memoryview(data)
    begin = skip + _HEAD.size + 8 * count
    at = begin + size
    arrays = []
    for length in sizes:
        at += -at % _ALIGN
        arrays.append(whole[at : at + length])
        at += length
    columns, lods, nbytes = pickle.loads(whole[begin : begin + size], buffers=arrays)
    return replace(columns.batch(), lod=lods.tables(), nbytes=nbytes)
