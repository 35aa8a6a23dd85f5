"""The tables of a capture, as `rcv export` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.analysis.health.check import check_waves
from rcv_py.analysis.overview.summary import problems
from rcv_py.api.answer import by_row
from rcv_py.api.errors import TooLarge, noted
from rcv_py.api.reading import Reading, Waves
from rcv_py.api.table import Table, joined
from rcv_py.base.errors import UsageError
from rcv_py.base.problems import Problem
from rcv_py.export.table_files import NO_WAVES
from rcv_py.export.tables import TABLES, Column
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import Words

_OF_WAVES = tuple(name for name, table in TABLES.items() if table.part is not None)


class Tables(Reading):
    """Tables of the program, the waves and the device.  Cycles are on one clock for the whole capture."""

    @property
    def code(self) -> Table:
        """The program: one row a line, with its costs over all traced waves and its source."""
        return self._whole("code")

    @property
    def waves(self) -> Table:
        """One row a traced wave; no wave file is opened for it."""
        return self._whole("waves")

    @property
    def occupancy(self) -> Table:
        """One row for each time a wave began or ended, anywhere on the traced shader engines."""
        return self._whole("occupancy")

    @property
    def events(self) -> Table:
        """Dispatches, hardware events, markers and values of shader data, by time."""
        return self._whole("events")

    @property
    def counters(self) -> Table:
        """One row a sample of a hardware counter."""
        return self._whole("counters")

    @property
    def sources(self) -> Table:
        """The source files that instructions come from; `Capture.source` gives the lines of one."""
        files = self.trace.sources
        rows = [
            (one.path, 0 if one.lines is None else len(one.lines), one.lines is not None, one.note)
            for one in files
        ]
        return Table(by_row(("path", "lines", "has_text", "note"), rows), "sources")

    def source(self, path: str) -> tuple[str, ...]:
        """Return the lines of a source file by its path, or the end of it; UsageError if there is no copy."""
        found = [one for one in self.trace.sources if one.path == path or one.path.endswith(f"/{path}")]
        if len(found) != 1 or found[0].lines is None:
            why = "several files end so" if len(found) > 1 else "the capture holds no copy of it"
            raise noted(
                UsageError(f"{path} cannot be shown: {why}.", hint="The table sources lists what there is.")
            )
        return found[0].lines

    @property
    def problems(self) -> Table:
        """What is wrong with the capture's files, and the waves that could not be read so far."""
        lost = [
            ("warning", str(self.trace.waves.id(row)), text, "") for row, text in sorted(self._lost.items())
        ]
        return _problems(problems(self.trace), lost)

    def verify(self) -> Table:
        """Read every wave and return what contradicts itself, as `rcv info --check` tells."""
        return self._once("verify", None, lambda: _problems(check_waves(self.trace, self.batches())))

    def tokens(self, waves: Waves = None) -> Table:
        """One row an executed instruction, wave after wave, in order of time."""
        return self._of_waves("tokens", waves)

    def states(self, waves: Waves = None) -> Table:
        """One row a segment of a wave's timeline: what the wave was doing."""
        return self._of_waves("states", waves)

    def waits(self, waves: Waves = None) -> Table:
        """One row for each executed wait and each instruction that it waited for."""
        return self._of_waves("waits", waves)

    def parts(self, name: str, waves: Waves = None) -> Iterator[Table]:
        """Yield `tokens`, `states` or `waits` piece by piece, for captures larger than memory."""
        if name not in _OF_WAVES:
            raise noted(
                UsageError(f"{name} is no table of waves.", hint=f"There are: {', '.join(_OF_WAVES)}.")
            )
        for batch in self.batches(waves):
            if batch.waves:
                yield self._part(name, batch)

    # -- making them -------------------------------------------------------------------------------------

    def _whole(self, name: str) -> Table:
        make = TABLES[name].whole
        assert make is not None
        return self._once(
            name, None, lambda: Table(make(self.trace, self.markers if name == "events" else None), name)
        )

    @property
    def markers(self) -> MarkerSpans:
        """Scopes and points of markers; waves are read for them if there is any shader data."""
        has_data = any(len(data.time) for data in self.trace.shader_data)
        return self._once("markers", None, lambda: marker_spans(self.trace, self._all() if has_data else ()))

    def _of_waves(self, name: str, waves: Waves) -> Table:
        return self._once(name, waves, lambda: self._joined(name, waves))

    def _joined(self, name: str, waves: Waves) -> Table:
        found, size = [self._part(name, NO_WAVES)], 0
        for batch in self._all(waves):
            found.append(self._part(name, batch))
            size += sum(_size(found[-1].raw(column)) for column in found[-1])
            if size > self.budget:
                raise noted(TooLarge(name, self.budget))
        # Columns of a table without rows would widen those of the others.
        return joined(found[1:] or found)

    def _part(self, name: str, batch: WaveBatch) -> Table:
        part = TABLES[name].part
        assert part is not None
        return Table({key: _tight(column) for key, column in part(self.trace, batch).items()}, name)

    def _line(self, lines: np.ndarray, prefix: str = "") -> dict[str, Column]:
        """Text and source of code rows; -1 is no line."""
        code, places = self.trace.code, self._places
        row = np.where((lines >= 0) & (lines < len(code)), lines, len(code)).astype(np.int64)
        return {
            f"{prefix}text": Words((*code.text, ""), row),
            f"{prefix}source": Words((*places, ""), row),
        }

    @property
    def _places(self) -> Any:
        return self._once("places", None, lambda: tuple(self.code["source"].tolist()))


def _tight(column: Column) -> Column:
    """Numbers of texts take no more bytes than they need."""
    if not isinstance(column, Words):
        return column
    kind = np.uint8 if len(column.texts) < 256 else np.int32
    return Words(column.texts, column.code.astype(kind))


def _size(column: np.ndarray | Words) -> int:
    return column.code.nbytes if isinstance(column, Words) else column.nbytes


def _problems(found: tuple[Problem, ...], more: list[tuple[str, str, str, str]] | None = None) -> Table:
    rows = [(str(one.severity), one.where, one.text, one.hint) for one in found]
    return Table(by_row(("severity", "where", "text", "hint"), rows + (more or [])), "problems")
