"""`rcv pack`, `rcv unpack` and `rcv decode`: a whole capture as one file, or as a ui_output folder."""

from collections import Counter
from functools import partial
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, byte_size, plural
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.options.program import DecodeOptions, PackOptions, UnpackOptions
from rcv_py.cli.terminal import watched
from rcv_py.formats.locate import PACKED, is_packed
from rcv_py.formats.notes.store import NotePlaces
from rcv_py.model.notes import Note
from rcv_py.model.waves import WaveColumns
from rcv_py.results.written import DECODE_SCHEMA, PACK_SCHEMA, UNPACK_SCHEMA
from rcv_py.work.opening import open_trace

_SCHEMAS = {"pack": PACK_SCHEMA, "unpack": UNPACK_SCHEMA, "decode": DECODE_SCHEMA}


def run(options: PackOptions | UnpackOptions | DecodeOptions) -> CommandAnswer:
    """Write all waves of the capture, read in batches, and report what the file or folder contains."""
    from rcv_py.work import load, packing  # noqa: PLC0415 - what is wrong with a path is said before

    trace = open_trace(options.folder, cache=options.cache)
    if isinstance(options, UnpackOptions) and not is_packed(trace.path):
        text = Message("{0} is not a packed capture.", options.folder)
        raise UsageError(text, hint="`rcv decode CAPTURE --out FOLDER` writes any capture as a folder.")
    write, notes = packing.unpack, tuple[Note, ...]()
    if isinstance(options, PackOptions):
        places = NotePlaces.of(trace)
        notes = places.read().notes if options.with_notes else ()
        packed = places.packed(notes) if options.with_notes else b""
        write = partial(packing.pack, has_sources=not options.without_sources, notes=packed)
    out = options.out or Path(f"{trace.path.absolute().name.removesuffix(PACKED)}{PACKED}")
    counts: Counter[str] = Counter()

    def counted(columns: WaveColumns) -> WaveColumns:
        counts.update(waves=len(columns.facts), instructions=len(columns.kind), missing=len(columns.missing))
        return columns

    read, many = packing.columns_of(trace), len(trace.waves)
    waves = watched(read, load.STAGE, many, lambda one: len(one.facts) + len(one.missing))
    write(trace, out, map(counted, waves))
    size = sum(file.stat().st_size for file in ([out] if out.is_file() else out.iterdir()))
    lost = Message(", {0} could not be read", plural(counts["missing"], "wave")) if counts["missing"] else ""
    said = Message("{0}, {1}", plural(counts["waves"], "wave"), plural(counts["instructions"], "instruction"))
    said += Message(", {0}", plural(len(notes), "note")) if notes else ""
    numbers = {name: counts[name] for name in ("waves", "instructions", "missing")}
    return CommandAnswer(
        schema=_SCHEMAS[options.command],
        document=lambda: {"file": str(out), **numbers, "bytes": size},
        text=lambda: [f"{out}: {said}, {byte_size(size)}{lost}"],
        of=trace,
        is_written=True,
    )
