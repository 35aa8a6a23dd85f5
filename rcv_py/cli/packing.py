"""Writing a whole capture: all its waves, read in batches, as a file or as a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from rcv_py.base.text import Message, byte_size, plural
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.terminal import watched
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns
from rcv_py.results.schema import Schema


class PackedCounts:
    """Counts of what was written into a file or folder."""

    def __init__(self, trace: Trace, out: Path) -> None:
        self._trace, self._out = trace, out
        self._waves = self._tokens = self._missing = 0

    def seen(self, columns: WaveColumns) -> WaveColumns:
        """Count written waves."""
        self._waves += len(columns.facts)
        self._tokens += len(columns.kind)
        self._missing += len(columns.missing)
        return columns

    def answer(self, schema: Schema, notes: int = 0) -> CommandAnswer:
        """Report what was written, and the number of notes."""
        files = [self._out] if self._out.is_file() else list(self._out.iterdir())
        size = sum(file.stat().st_size for file in files)
        lost = Message(", {0} could not be read", plural(self._missing, "wave")) if self._missing else ""
        counts = Message("{0}, {1}", plural(self._waves, "wave"), plural(self._tokens, "instruction"))
        counts += Message(", {0}", plural(notes, "note")) if notes else ""
        return CommandAnswer(
            schema=schema,
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


def written(
    write: Callable[[Trace, Path, Iterator[WaveColumns]], None], trace: Trace, out: Path
) -> PackedCounts:
    """Write all waves of a capture, and show progress."""
    from rcv_py.work import load, packing  # noqa: PLC0415 - what is wrong with a path is said before

    found = PackedCounts(trace, out)
    waves = watched(
        packing.columns_of(trace), load.STAGE, len(trace.waves), lambda one: len(one.facts) + len(one.missing)
    )
    write(trace, out, map(found.seen, waves))
    return found
