"""Write a whole capture as one file, piece by piece, so that memory depends on a piece, not the capture."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson

from rcv_py.base.runs import borders
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.packed import records
from rcv_py.formats.packed.archive import NOTES, Writer, packed_arrays
from rcv_py.formats.packed.pieces import cut, packed_piece
from rcv_py.formats.packed.read import FORMAT, INDEX, MANIFEST, TABLES, TRACE, piece_name
from rcv_py.model.code import SourceFile
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import UNKNOWN, Origin, Trace
from rcv_py.model.waves import WaveColumns

ELSEWHERE = ("path", "reader", "facts")  # of a trace: not in the file, or with its waves
PIECE_TOKENS = 1 << 16  # about half a megabyte to unpack for one wave
NO_SOURCE = "The source was left out when the capture was packed."


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

    Each wave comes once, in any order; `row` is its place in the trace's wave index, whose reader is not
    used.  `program` is the writing program, `facts` come from tables of the run, `origin` from names and
    dates of its files; `notes` is a file of notes about it, which is no part of the fingerprint.  The file
    exists once all is written, or not at all.

    An uncompressed file is far larger, and its columns are mapped instead of unpacked: right for a file that
    processes of this machine read once and at once.
    """
    if not has_sources:
        trace = replace(trace, sources=tuple(SourceFile(one.path, None, NO_SOURCE) for one in trace.sources))
    digest = sha256()
    pieces: list[np.ndarray] = []  # rows of the waves in each
    missing: list[tuple[int, str]] = []
    doubts: list[tuple[int, str]] = []
    with whole_file(path) as stream, Writer(stream, is_compressed=is_compressed) as archive:

        def put(name: str, data: bytes) -> None:
            if is_compressed:  # the fingerprint; a file that is never passed on needs none
                digest.update(data)
            archive.add(name, data)

        for some in columns:
            missing += some.missing
            doubts += some.notes
            for part in _pieces(some):
                put(piece_name(len(pieces)), packed_piece(part, is_narrow=is_compressed))
                pieces.append(part.facts["row"])
        place = np.full((2, len(trace.waves)), -1, dtype=np.int32)
        for number, rows in enumerate(pieces):
            place[:, rows] = np.full(len(rows), number), np.arange(len(rows))
        arrays: list[np.ndarray] = []
        tables = records.written(trace, arrays, ELSEWHERE)
        put(INDEX, packed_arrays([*place]))
        put(TABLES, packed_arrays(arrays))
        put(TRACE, orjson.dumps(tables))
        said = facts if facts is not None else trace.facts
        manifest = {
            "format": FORMAT,
            "program": program,
            "fingerprint": digest.hexdigest() if is_compressed else "",
            "pieces": len(pieces),
            "columns": len(arrays),
            "is_narrow": is_compressed,
            "missing": missing,
            "notes": doubts,
            "facts": None if said is None else records.written(said, []),
            "origin": records.written(origin, []),
        }
        archive.add(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        if notes:
            archive.add(NOTES, notes)


def _pieces(columns: WaveColumns) -> Iterator[WaveColumns]:
    """The columns as pieces of about PIECE_TOKENS; a wave is in one."""
    weight = np.diff(columns.token_first) + np.diff(columns.state_first)
    which = borders(weight)[:-1] // PIECE_TOKENS
    edges = [*np.flatnonzero(np.diff(which, prepend=-1)).tolist(), len(weight)]
    yield from (cut(columns, first, stop) for first, stop in pairwise(edges))
