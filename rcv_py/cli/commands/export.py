"""`rcv export`: what other tools read: Perfetto, speedscope, CSV, Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, plural
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.about import about
from rcv_py.cli.options.output_options import ExportOptions
from rcv_py.cli.progress import progress
from rcv_py.cli.report import json_text
from rcv_py.export.table_files import write_tables
from rcv_py.export.tables import TABLES
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.load import batches, load_all


def run(arguments: ExportOptions) -> int:
    """Write the file, or the folder of tables, and print its name and what is in it."""
    _check(arguments)
    trace = open_trace(arguments.folder, cache=arguments.cache)
    rows = wave_rows(trace, arguments.waves)
    text = _WRITERS[arguments.to](trace, rows, arguments)
    if arguments.json:
        content = {"capture": trace.name, "to": arguments.to, "file": str(arguments.out), "text": text}
        print(json_text("rcv.export/1", content, about(arguments, trace)))
    else:
        print(f"{arguments.out}: {text}")
    return 0


def _check(arguments: ExportOptions) -> None:
    if arguments.table and arguments.to not in ("csv", "parquet"):
        raise UsageError(f"{arguments.to} has no tables.", hint="Use --table with --to csv or --to parquet.")
    if arguments.cycles and arguments.to != "perfetto":
        raise UsageError(f"Times of {arguments.to} are cycles anyway.", hint="Leave --cycles out.")
    if arguments.out.is_dir() and (arguments.table or arguments.to in ("perfetto", "speedscope")):
        raise UsageError(f"{arguments.out} is a folder.", hint="Name a file to write.")


def wave_rows(trace: Trace, names: Iterable[str] | None) -> list[int] | None:
    """Return the rows of the wave index that are named, None for all; raise UsageError for unknown ones."""
    if not names:
        return None
    return sorted({trace.wave_row(name) for name in names})


def markers(trace: Trace) -> MarkerSpans | None:
    """Return the scopes of markers; all waves are read for them, if there is shader data at all."""
    return marker_spans(trace, load_all(trace)) if any(len(data.time) for data in trace.shader_data) else None


def _perfetto(trace: Trace, rows: list[int] | None, arguments: ExportOptions) -> str:
    with progress() as report, whole_file(arguments.out) as target:
        done = write_perfetto(
            trace,
            batches(trace, rows),
            target,
            rows=rows,
            spans=markers(trace),
            cycles=arguments.cycles,
            report=report,
        )
    lost = f", {plural(done.missing, 'wave')} could not be read" if done.missing else ""
    return f"{plural(done.waves, 'wave')}, {plural(done.tokens, 'instruction')}{lost}"


def _speedscope(trace: Trace, rows: list[int] | None, arguments: ExportOptions) -> str:
    chosen: tuple[WaveBatch, ...] = ()
    if rows is None and len(trace.waves):
        rows = [0]
    with progress() as report, whole_file(arguments.out) as target:
        if rows:
            chosen = tuple(batches(trace, rows, report=report))
        waves = [wave for batch in chosen for wave in batch.waves]
        profiles = write_speedscope(trace, waves, target)
    return f"{plural(profiles, 'profile')}, {len(waves):,} of them of a wave"


def _tables(trace: Trace, rows: list[int] | None, arguments: ExportOptions) -> str:
    form = arguments.to
    one: Path = arguments.out
    paths = {arguments.table: one} if arguments.table else {name: one / f"{name}.{form}" for name in TABLES}
    with progress() as report:
        spans = markers(trace) if "events" in paths else None
        read = batches(trace, rows)
        done = write_tables(trace, read, paths, form, rows=rows, spans=spans, report=report)
    return ", ".join(f"{name} {count(number)}" for name, number in done.items()) + " rows"


_WRITERS = {"perfetto": _perfetto, "speedscope": _speedscope, "csv": _tables, "parquet": _tables}
