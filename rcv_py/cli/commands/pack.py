"""`rcv pack`: a capture as one file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.options.program import PackOptions
from rcv_py.cli.packing import written
from rcv_py.formats.locate import PACKED
from rcv_py.formats.notes.store import NotePlaces
from rcv_py.results.written import PACK_SCHEMA
from rcv_py.work.opening import open_trace


def run(options: PackOptions) -> CommandAnswer:
    """Write the file, including facts from the tables of the run, and report what it contains."""
    from rcv_py.work.packing import pack  # noqa: PLC0415 - what is wrong with a path is said before

    trace = open_trace(options.folder, cache=options.cache)
    out = options.out or Path(f"{trace.path.absolute().name.removesuffix(PACKED)}{PACKED}")
    places = NotePlaces.of(trace) if options.with_notes else None
    book = None if places is None else places.read()
    notes = places.packed(book.notes) if places is not None and book is not None else b""
    into = partial(pack, has_sources=not options.without_sources, notes=notes)
    return written(into, trace, out).answer(PACK_SCHEMA, notes=0 if book is None else len(book.notes))
