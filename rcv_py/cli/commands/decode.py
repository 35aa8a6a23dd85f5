"""`rcv decode`: a capture of any kind as a ui_output folder."""

from __future__ import annotations

from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.options.program import DecodeOptions
from rcv_py.cli.packing import written
from rcv_py.results.written import DECODE_SCHEMA
from rcv_py.work.opening import open_trace


def run(options: DecodeOptions) -> CommandAnswer:
    """Write the folder, and report what it contains."""
    from rcv_py.work.packing import unpack  # noqa: PLC0415 - what is wrong with a path is said before

    trace = open_trace(options.folder, cache=options.cache)
    return written(unpack, trace, options.out).answer(DECODE_SCHEMA)
