"""`rcv unpack`: a packed capture as a folder."""

from __future__ import annotations

from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.options.program import UnpackOptions
from rcv_py.cli.packing import written
from rcv_py.formats.locate import is_packed
from rcv_py.results.written import UNPACK_SCHEMA
from rcv_py.work.opening import open_trace


def run(options: UnpackOptions) -> CommandAnswer:
    """Write the folder, and report what it contains."""
    from rcv_py.work.packing import unpack  # noqa: PLC0415 - what is wrong with a path is said before

    trace = open_trace(options.folder, cache=options.cache)
    if not is_packed(trace.path):
        raise UsageError(
            Message("{0} is no packed capture.", options.folder),
            hint="`rcv decode CAPTURE --out FOLDER` writes any capture as a folder.",
        )
    return written(unpack, trace, options.out).answer(UNPACK_SCHEMA)
