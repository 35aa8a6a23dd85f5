"""Write a whole capture as one file, piece by piece, so that memory depends on a piece, not the capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson

from rcv_py.base.runs import borders
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.packed import npy, records
from rcv_py.formats.packed.archive import NOTES, Writer
from rcv_py.formats.packed.pieces import cut, packed_piece
from rcv_py.formats.packed.stored import INDEX, piece_name
from rcv_py.model.code import SourceFile
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import UNKNOWN, Origin, Trace
from rcv_py.model.waves import WaveColumns

FORMAT = 1
MANIFEST = "manifest.json"
TRACE, TABLES = "trace.json", "tables.columns"
ELSEWHERE = ("path", "reader", "facts")  # of a trace: not in the file, or with its waves
PIECE_TOKENS = 1 << 16  # about half a megabyte to unpack for one wave
NO_SOURCE = "The source was left out when the capture was packed."


class PackedWriter:
    """Takes the waves of a capture, then its tables; `packed_file` makes it."""

    def __init__(self, archive: Writer, program: str, *, is_compressed: bool) -> None:
        self._archive, self._program, self._is_compressed = archive, program, is_compressed
        self._rows: list[np.ndarray] = []  # of each piece
        self._missing: list[tuple[int, str]] = []
        self._notes: list[tuple[int, str]] = []
        self._digest = sha256()

    def add(self, columns: WaveColumns) -> None:
        """Write waves: each once, in any order; `row` is their place in the trace's wave index.

        They become pieces of about PIECE_TOKENS; a wave is in one.
        """
        self._missing += columns.missing
        self._notes += columns.notes
        weight = np.diff(columns.token_first) + np.diff(columns.state_first)
        which = borders(weight)[:-1] // PIECE_TOKENS
        for first, stop in pairwise([*np.flatnonzero(np.diff(which, prepend=-1)).tolist(), len(weight)]):
            part = cut(columns, first, stop)
            self._put(piece_name(len(self._rows)), packed_piece(part, is_narrow=self._is_compressed))
            self._rows.append(part.facts["row"])

    def finish(
        self, trace: Trace, facts: RunFacts | None = None, origin: Origin = UNKNOWN, notes: bytes = b""
    ) -> None:
        """Write everything else; the trace's reader is not used.

        `notes` are a file of notes, which is no part of the fingerprint: it is about the capture.
        """
        place = np.full((2, len(trace.waves)), -1, dtype=np.int32)
        for number, rows in enumerate(self._rows):
            place[:, rows] = np.full(len(rows), number), np.arange(len(rows))
        columns: list[np.ndarray] = []
        tables = records.written(trace, columns, ELSEWHERE)
        self._put(INDEX, npy.packed([*place]))
        self._put(TABLES, npy.packed(columns))
        self._put(TRACE, orjson.dumps(tables))
        said = facts if facts is not None else trace.facts
        manifest = {
            "format": FORMAT,
            "program": self._program,
            "fingerprint": self._digest.hexdigest() if self._is_compressed else "",
            "pieces": len(self._rows),
            "columns": len(columns),
            "is_narrow": self._is_compressed,
            "missing": self._missing,
            "notes": self._notes,
            "facts": None if said is None else records.written(said, []),
            "origin": records.written(origin, []),
        }
        self._archive.add(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        if notes:
            self._archive.add(NOTES, notes)

    def _put(self, name: str, data: bytes) -> None:
        if self._is_compressed:  # the fingerprint; a file that is never passed on needs none
            self._digest.update(data)
        self._archive.add(name, data)


@contextmanager
def packed_file(path: Path, program: str = "", *, is_compressed: bool = True) -> Iterator[PackedWriter]:
    """Give the writer of a packed capture; the file exists once the block has ended, or not at all.

    An uncompressed file is far larger, and its columns are mapped instead of unpacked: right for a file that
    processes of this machine read once and at once.
    """
    with whole_file(path) as stream, Writer(stream, is_compressed=is_compressed) as archive:
        yield PackedWriter(archive, program, is_compressed=is_compressed)


def write_packed(
    path: Path,
    trace: Trace,
    columns: Iterable[WaveColumns],
    *,
    program: str = "",
    facts: RunFacts | None = None,
    origin: Origin = UNKNOWN,
    is_compressed: bool = True,
    has_sources: bool = True,
    notes: bytes = b"",
) -> None:
    """Write a capture: its tables, and the columns of all its waves; raise ExportError on failure.

    `program` is the writing program, `facts` come from tables of the run, `origin` from names and dates of
    its files; `notes` is a file of notes about it.
    """
    if not has_sources:
        trace = replace(trace, sources=tuple(SourceFile(one.path, None, NO_SOURCE) for one in trace.sources))
    with packed_file(path, program, is_compressed=is_compressed) as writer:
        for some in columns:
            writer.add(some)
        writer.finish(trace, facts, origin, notes)
