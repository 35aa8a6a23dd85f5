"""`rcv export`: files for other tools: Perfetto, speedscope, CSV, Parquet."""

from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, plural
from rcv_py.base.whole_files import whole_file
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.opening import markers
from rcv_py.cli.options.program import ExportOptions
from rcv_py.cli.terminal import progress
from rcv_py.export.tables import TABLES, write_tables
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.export.traces.speedscope import write_speedscope
from rcv_py.model.trace import Trace
from rcv_py.results.written import EXPORT_SCHEMA
from rcv_py.work.load import batches
from rcv_py.work.opening import open_trace


def run(options: ExportOptions) -> CommandAnswer:
    """Write the file, or the folder of tables, and print its name and what is in it."""
    if options.table and options.to not in ("csv", "parquet"):
        text = Message("{0} has no tables.", options.to)
        raise UsageError(text, hint="Use --table with --to csv or --to parquet.")
    if options.cycles and options.to != "perfetto":
        raise UsageError(Message("Times of {0} are cycles anyway.", options.to), hint="Leave --cycles out.")
    if options.out.is_dir() and (options.table or options.to in ("perfetto", "speedscope")):
        raise UsageError(Message("{0} is a folder.", options.out), hint="Name a file to write.")
    trace = open_trace(options.folder, cache=options.cache)
    rows = sorted({trace.wave_row(name) for name in options.waves}) if options.waves else None
    said = _WRITERS[options.to](trace, rows, options)
    return CommandAnswer(
        schema=EXPORT_SCHEMA,
        document=lambda: {"to": options.to, "file": str(options.out), "text": said},
        text=lambda: [f"{options.out}: {said}"],
        of=trace,
        is_written=True,
    )


def _markers(trace: Trace) -> MarkerSpans | None:
    """The scopes of markers, None without shader data."""
    return markers(trace) if trace.has_shader_data else None


def _perfetto(trace: Trace, rows: list[int] | None, options: ExportOptions) -> str:
    with progress() as report, whole_file(options.out) as target:
        read, spans = batches(trace, rows), _markers(trace)
        done = write_perfetto(
            trace, read, target, rows=rows, spans=spans, cycles=options.cycles, report=report
        )
    lost = Message(", {0} could not be read", plural(done.missing, "wave")) if done.missing else ""
    return Message("{0}, {1}{2}", plural(done.waves, "wave"), plural(done.tokens, "instruction"), lost)


def _speedscope(trace: Trace, rows: list[int] | None, options: ExportOptions) -> str:
    if rows is None and len(trace.waves):
        rows = [0]
    with progress() as report, whole_file(options.out) as target:
        read = batches(trace, rows, report=report) if rows else ()
        waves = [wave for batch in read for wave in batch.waves]
        profiles = write_speedscope(trace, waves, target)
    return Message("{0}, {1:,} of them of a wave", plural(profiles, "profile"), len(waves))


def _tables(trace: Trace, rows: list[int] | None, options: ExportOptions) -> str:
    form, out = options.to, options.out
    paths = {options.table: out} if options.table else {name: out / f"{name}.{form}" for name in TABLES}
    with progress() as report:
        spans = _markers(trace) if "events" in paths else None
        done = write_tables(trace, batches(trace, rows), paths, form, rows=rows, spans=spans, report=report)
    return ", ".join(f"{name} {count(number)}" for name, number in done.items()) + " rows"


_WRITERS = {"perfetto": _perfetto, "speedscope": _speedscope, "csv": _tables, "parquet": _tables}
