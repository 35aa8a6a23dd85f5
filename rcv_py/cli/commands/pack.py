"""`rcv pack`: a capture as one file."""

from __future__ import annotations

from pathlib import Path

from rcv_py import __version__
from rcv_py.cli.answer import Answer
from rcv_py.cli.options.other_options import PackOptions
from rcv_py.cli.packing import Written, columns_of
from rcv_py.formats.locate import PACKED
from rcv_py.formats.packed.write import write_packed
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.work.opening import open_trace


def run(options: PackOptions) -> Answer:
    """Write the file, with what tables of the run tell beside the capture, and say what is in it."""
    trace = open_trace(options.folder, cache=options.cache)
    out = options.out or Path(f"{trace.path.absolute().name.removesuffix(PACKED)}{PACKED}")
    written = Written(trace, out)
    write_packed(
        out,
        trace,
        map(written.seen, columns_of(trace)),
        program=f"rcv {__version__}",
        facts=facts_about(trace),
        has_sources=not options.without_sources,
    )
    return written.answer("pack")
