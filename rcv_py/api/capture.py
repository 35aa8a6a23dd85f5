"""A capture, opened: its tables, its analyses, and the files that can be written from it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.api.choice import one_of
from rcv_py.api.errors import noted
from rcv_py.api.judging import Judging
from rcv_py.api.reading import Waves
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.base.whole_files import whole_file
from rcv_py.export.report.files import write_report
from rcv_py.export.report.inputs import report_inputs
from rcv_py.export.table_files import FORMATS, write_tables
from rcv_py.export.tables import TABLES
from rcv_py.export.traces.perfetto import TraceChoices, write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope

_TO = ("perfetto", "speedscope", *FORMATS)


class Capture(Judging):
    """One capture.  Tables are read-only; waves are read when they are first needed.

    `trace` is the loader's object, for what has no table.
    """

    def report(self, path: str | PathLike[str], *, waves: str = WORKING) -> Path:
        """Write the report, a name ending in .html or .md; raise UsageError or ExportError.

        `waves` says whose costs are explained: `working`, `all`, or the id of a population.
        """
        target = Path(path)
        write_report(report_inputs(self.trace, self._all(), self.facts, waves), target)
        return target

    def export(
        self,
        path: str | PathLike[str],
        to: str,
        *,
        waves: Waves = None,
        table: str = "",
        cycles: bool = False,
    ) -> Path:
        """Write what other tools read: `perfetto`, `speedscope`, `csv` or `parquet`.

        Tables go into a folder, or into one file if `table` names one.  speedscope gets profiles of the
        chosen waves, by default of the first; `cycles` writes a cycle of Perfetto's trace as one nanosecond.
        Raises UsageError, ExportError.
        """
        one_of("to", to, _TO)
        if table:
            one_of("table", table, tuple(TABLES))
        target = Path(path)
        if to in FORMATS:
            self._export_tables(target, to, waves, table)
            return target
        with whole_file(target) as stream:
            if to == "perfetto":
                rows, choices = self.chosen(waves), TraceChoices(cycles=cycles)
                write_perfetto(
                    self.trace, self.batches(waves), stream, rows=rows, spans=self._spans(), choices=choices
                )
            else:
                chosen = self._all(waves if waves is not None or not len(self.waves) else [0])
                write_speedscope(self.trace, [wave for batch in chosen for wave in batch.waves], stream)
        return target

    def _export_tables(self, target: Path, form: str, waves: Waves, table: str) -> None:
        if table and target.is_dir():
            raise noted(UsageError(f"{target} is a folder.", hint="Name a file to write."))
        paths = {table: target} if table else {name: target / f"{name}.{form}" for name in TABLES}
        spans = self._spans() if "events" in paths else None
        write_tables(self.trace, self._all(waves), paths, form, rows=self.chosen(waves), spans=spans)

    def _spans(self) -> MarkerSpans | None:
        return self.markers if any(len(data.time) for data in self.trace.shader_data) else None

    def __repr__(self) -> str:
        kernel = f", {self.kernel}" if self.kernel else ""
        return f"<Capture {self.name}{kernel}: {plural(len(self.trace.waves), 'wave')}>"
