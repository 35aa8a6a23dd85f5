"""`rcv decode`: a capture of any kind as a ui_output folder, or where two decoders of it differ."""

from __future__ import annotations

from rcv_py.analysis.compare.decoders import differences
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.cli.answer import Answer, Shown
from rcv_py.cli.options.other_options import DecodeOptions
from rcv_py.cli.packing import written
from rcv_py.formats.locate import Shape, locate, shape_of
from rcv_py.formats.raw.options import OFFICIAL, OWN, choosing
from rcv_py.results.decoders import decoder_rows
from rcv_py.work.opening import open_trace


def run(options: DecodeOptions) -> Answer:
    """Write the folder, and say what is in it; or compare."""
    if options.compare:
        return _compared(options)
    if options.out is None:
        hint = "Add --out FOLDER, or --compare for where two decoders differ."
        raise UsageError("It is not said where the capture is to be written.", hint=hint)
    from rcv_py.work.packing import unpack  # noqa: PLC0415 - what is wrong with a path is said before

    trace = open_trace(options.folder, cache=options.cache)
    return written(unpack, trace, options.out).answer("decode")


def _compared(options: DecodeOptions) -> Answer:
    if shape_of(locate(options.folder).capture()) is not Shape.RAW:
        raise UsageError(
            f"{options.folder} is decoded already, so that there is nothing to compare.",
            hint="Name a folder with .att files, or one of them.",
        )
    traces = []
    for decoder in (OWN, OFFICIAL):
        with choosing(decoder, options.source_map or ()):
            traces.append(open_trace(options.folder))
    ours, official = traces
    found = list(differences(ours, official))
    names = {str(trace.waves.id(row)) for trace in traces for row in range(len(trace.waves))}
    equal = len(names - {one.wave for one in found})
    table = decoder_rows(found)
    return Answer(
        schema="rcv.decoders/1",
        document=lambda: {"waves": len(names), "equal": equal, "differences": table.rows()},
        csv=table.csv,
        text=lambda: [
            *((Shown(table), "") if found else ()),
            f"{equal:,} of {plural(len(names), 'wave')} are the same by both decoders.",
        ],
        of=ours,
    )
