"""A capture that is written whole: all its waves, read some at a time, as a file or as a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rcv_py.base.errors import UsageError
from rcv_py.base.text import byte_size, plural
from rcv_py.base.whole_files import unwritable, whole_folder
from rcv_py.cli.answer import Answer
from rcv_py.cli.terminal import watched
from rcv_py.formats.uiout.write import write_folder
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns


class Written:
    """What went into a file or folder."""

    def __init__(self, trace: Trace, out: Path) -> None:
        self._trace, self._out = trace, out
        self._waves = self._tokens = self._missing = 0

    def seen(self, columns: WaveColumns) -> WaveColumns:
        """Count waves that are written."""
        self._waves += len(columns.facts)
        self._tokens += len(columns.kind)
        self._missing += len(columns.missing)
        return columns

    def answer(self, command: str) -> Answer:
        """Say what there is now."""
        files = [self._out] if self._out.is_file() else list(self._out.iterdir())
        size = sum(file.stat().st_size for file in files)
        lost = f", {plural(self._missing, 'wave')} could not be read" if self._missing else ""
        counts = f"{plural(self._waves, 'wave')}, {plural(self._tokens, 'instruction')}"
        return Answer(
            schema=f"rcv.{command}/1",
            document=lambda: {
                "file": str(self._out),
                "waves": self._waves,
                "instructions": self._tokens,
                "missing": self._missing,
                "bytes": size,
            },
            csv=lambda: ((), ()),
            text=lambda: [f"{self._out}: {counts}, {byte_size(size)}{lost}"],
            of=self._trace,
            is_written=True,
        )


def columns_of(trace: Trace) -> Iterator[WaveColumns]:
    """Read all waves, some at a time and in order, and show how far it is."""
    from rcv_py.work import load  # noqa: PLC0415 - what is wrong with a path is said before

    jobs = load.plan(trace.waves)
    waves = map(trace.reader.columns, jobs)
    return watched(waves, load.STAGE, len(trace.waves), lambda one: len(one.facts) + len(one.missing))


def write_as_folder(trace: Trace, out: Path) -> Written:
    """Write a capture into a folder that is new or empty, so that nothing of the user's is lost."""
    try:
        if out.exists() and any(out.iterdir()):
            raise UsageError(f"{out} is there already.", hint="Remove it, or choose another --out.")
    except (OSError, ValueError) as error:
        raise unwritable(out, error) from error
    written = Written(trace, out)
    with whole_folder(out) as part:
        write_folder(trace, (written.seen(columns).batch() for columns in columns_of(trace)), part)
    return written
