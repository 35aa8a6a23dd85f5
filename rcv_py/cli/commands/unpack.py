"""`rcv unpack`: a packed capture as a folder."""

from __future__ import annotations

from rcv_py.base.errors import NotATrace
from rcv_py.cli.answer import Answer
from rcv_py.cli.options.other_options import UnpackOptions
from rcv_py.cli.packing import write_as_folder
from rcv_py.formats.locate import is_packed
from rcv_py.work.opening import open_trace


def run(options: UnpackOptions) -> Answer:
    """Write the folder, and say what is in it."""
    trace = open_trace(options.folder, cache=options.cache)
    if not is_packed(trace.path):
        raise NotATrace(
            options.folder, "it is no packed capture; `rcv decode` writes any capture as a folder"
        )
    return write_as_folder(trace, options.out).answer("unpack")
