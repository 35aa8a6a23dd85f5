"""Write a whole capture: as one packed file, or as a folder of the decoded form."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rcv_py import __version__
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.base.whole_files import check_new, whole_folder
from rcv_py.formats.locate import PACKED
from rcv_py.formats.open import origin_of
from rcv_py.formats.packed.capture import write_packed
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.formats.uiout.write import write_folder
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns
from rcv_py.work.load import plan

SUFFIXES = (PACKED, ".zip")


def columns_of(trace: Trace) -> Iterator[WaveColumns]:
    """Read all waves in order, a batch at a time."""
    return map(trace.reader.columns, plan(trace.waves))


def pack(
    trace: Trace, out: Path, columns: Iterable[WaveColumns], *, has_sources: bool = True, notes: bytes = b""
) -> None:
    """Write a capture as one file, with its names, the tables of its run and a file of notes.

    Raise UsageError for a name without a known ending, and ExportError if it cannot be written.
    """
    if out.suffix.lower() not in SUFFIXES:
        known = " or ".join(SUFFIXES)
        text = Message("{0} would not be opened as a capture: its name must end in {1}.", out, known)
        raise UsageError(text, hint=Message("Call it {0}{1}.", out.name, SUFFIXES[0]))
    write_packed(
        out,
        trace,
        columns,
        program=Message("rcv {0}", __version__),
        facts=facts_about(trace),
        origin=origin_of(trace.path),
        has_sources=has_sources,
        notes=notes,
    )


def unpack(trace: Trace, out: Path, columns: Iterable[WaveColumns]) -> None:
    """Write a capture into a folder, all of it or nothing.

    Raise UsageError unless the folder is new or empty, so that no file of the user is lost, and ExportError
    if it cannot be written.
    """
    check_new(out, "Remove it, or choose another folder.")
    with whole_folder(out) as part:
        write_folder(trace, (some.batch() for some in columns), part)
