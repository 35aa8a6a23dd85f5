"""Every table of a capture as plain columns, and as files: CSV always, Parquet if pyarrow is installed.

Tables of tokens, states and waits come batch by batch, all others at once.  Cycles are aligned; `instruction`
is the index in the program, as in every command.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rcv_py import __version__
from rcv_py.analysis.core.token_columns import columns_of, states_of
from rcv_py.analysis.cost.place_text import leaf_texts
from rcv_py.analysis.counters.counters import Samples, counters
from rcv_py.analysis.events.event_table import ENTRY_TEXT, NO_DURATION, EntryKind, event_table
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.base.csv_text import CsvWriter, csv_cell
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.record import Value
from rcv_py.base.text import Message, encodable
from rcv_py.base.whole_files import whole_file
from rcv_py.model.columns import joined
from rcv_py.model.kinds import KIND_COUNT, TokenKind, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results import tables
from rcv_py.results.table import ColumnMeaning, DictionaryColumn, Spec

Column = np.ndarray | DictionaryColumn | list[str]
Columns = dict[str, Column]


class ExportTable(Value):
    """One table: `make` returns all of it, or `part` the rows of one batch of waves."""

    text: str
    spec: Spec
    make: Callable[[Trace, MarkerSpans | None], Columns] | None = None
    part: Callable[[Trace, WaveBatch], Columns] | None = None


def _named(spec: Spec, *columns: Column | None) -> Columns:
    """Columns in the order of the fields, by name; None is one that the capture lacks."""
    pairs = zip(spec.fields, columns, strict=True)
    return {field.name: column for field, column in pairs if column is not None}


def _code(trace: Trace, spans: MarkerSpans | None) -> Columns:
    code = trace.code
    table = blocks(code)
    kernels = [kernel.demangled for kernel in code.kernels]
    paths, chained = [source.path for source in trace.sources], map(code.chain, range(len(code)))
    chains = [" -> ".join(f"{paths[file]}:{line}" for file, line in chain) for chain in chained]
    return _named(
        tables.CODE,
        np.arange(len(code)), code.number, code.codeobj, code.address,
        list(code.text), _kinds(code.kind),
        DictionaryColumn([*kernels, ""], np.where(code.kernel >= 0, code.kernel, len(kernels))),
        DictionaryColumn(table.name, table.of_row) if len(table) else [""] * len(code),
        code.is_label, code.hits, code.latency, code.stall, code.idle,
        list(leaf_texts(code, trace.sources)), chains,
        code.samples_issued, code.samples_stalled, code.samples_unsure, code.sample_lanes, code.sample_waves,
    )  # fmt: skip


def _waves(trace: Trace, spans: MarkerSpans | None) -> Columns:
    index, names = trace.waves, trace.occupancy.names
    return _named(
        tables.WAVES,
        [str(index.id(row)) for row in range(len(index))],
        index.se, index.sa, index.cu, index.simd, index.slot, index.wid,
        index.begin, index.end, index.end - index.begin,
        [names.get(kernel, "") for kernel in index.kernel.tolist()],
        index.size, list(index.file),
    )  # fmt: skip


def _tokens(trace: Trace, batch: WaveBatch) -> Columns:
    own = columns_of(batch)
    kinds, hits = _kinds(batch.kind), _hits(own.owner, batch.line)
    waves = _wave_names(batch, own.owner)
    idle = own.idle.astype(np.int64)
    return _named(tables.TOKENS, waves, own.start, batch.stall, batch.busy, idle, kinds, batch.line, hits)


def _states(trace: Trace, batch: WaveBatch) -> Columns:
    owner, state, start, duration = segments(batch)
    names = [state.name for state in WaveState]
    states = DictionaryColumn([*names, "unknown"], np.minimum(state, len(names)))
    return _named(tables.STATES, _wave_names(batch, owner), start, duration, states)


def segments(batch: WaveBatch) -> np.ndarray:
    """Return the segments of all timelines: wave of the batch, state, start and duration; int64 [4, n]."""
    owner, state, begin, end = states_of(batch.waves)
    return np.stack([owner, state, begin, end - begin])


def _waits(trace: Trace, batch: WaveBatch) -> Columns:
    # The stall of a wait stands at each of its producers: only where `is_newest` may it be added up.
    links = replay(batch, trace.code, trace.architecture)
    row, start = links.row_of, columns_of(batch).start
    token, producer = links.token[row], links.producers
    newest_of_token = np.full(len(start), -1, dtype=np.int64)
    np.maximum.at(newest_of_token, links.token, links.newest)
    return _named(
        tables.WAITS,
        _wave_names(batch, links.wave[row]), start[token], batch.line[token], batch.stall[token],
        DictionaryColumn([f"{name}cnt" for name in COUNTERS], links.counter[row]), links.left[row],
        batch.line[producer], start[producer], newest_of_token[token] == producer,
    )  # fmt: skip


def _occupancy(trace: Trace, spans: MarkerSpans | None) -> Columns:
    events = trace.occupancy
    kernels = sorted(set(events.kernel.tolist()))
    names = [events.names.get(kernel, "") for kernel in kernels]
    return _named(
        tables.OCCUPANCY,
        events.time, events.se, events.sa, events.cu, events.simd, events.slot,
        events.is_start, events.kernel, events.workgroup, events.cluster,
        DictionaryColumn(names, np.searchsorted(kernels, events.kernel)),
    )  # fmt: skip


def _events(trace: Trace, spans: MarkerSpans | None) -> Columns:
    table = event_table(trace, spans)
    kinds = DictionaryColumn([ENTRY_TEXT[kind] for kind in EntryKind], table.kind)
    duration = np.where(table.duration < 0, NO_DURATION, table.duration)
    texts = (DictionaryColumn(table.texts, number) for number in (table.name, table.place, table.detail))
    return _named(tables.EVENTS, table.time, duration, kinds, *texts)


def _counters(trace: Trace, spans: MarkerSpans | None) -> Columns:
    raw = counters(trace).raw
    samples = joined([counter.samples for counter in raw]) if raw else Samples.empty()
    owner = np.repeat(np.arange(len(raw)), [len(counter.samples) for counter in raw])
    return _named(
        tables.COUNTERS,
        DictionaryColumn([counter.name for counter in raw], owner),
        DictionaryColumn([counter.family.value for counter in raw], owner),
        samples.time, samples.xcc, samples.se, samples.cu, samples.value.astype(np.float64),
    )  # fmt: skip


TABLES = {
    "code": ExportTable("instructions of the program with their costs and sources", tables.CODE, _code),
    "waves": ExportTable("traced waves", tables.WAVES, _waves),
    "tokens": ExportTable("executed instructions", tables.TOKENS, part=_tokens),
    "states": ExportTable("states of waves", tables.STATES, part=_states),
    "waits": ExportTable("waits, and what each waited for", tables.WAITS, part=_waits),
    "occupancy": ExportTable("begins and ends of waves everywhere", tables.OCCUPANCY, _occupancy),
    "events": ExportTable("dispatches, events, markers and shader data", tables.EVENTS, _events),
    "counters": ExportTable("samples of hardware counters", tables.COUNTERS, _counters),
}


def _wave_names(batch: WaveBatch, owner: np.ndarray) -> DictionaryColumn:
    return DictionaryColumn([str(wave.id) for wave in batch.waves], owner)


def _kinds(kind: np.ndarray) -> DictionaryColumn:
    code = np.where(kind < KIND_COUNT, kind, TokenKind.NONE).astype(np.int64)
    return DictionaryColumn([one.name for one in TokenKind], code)


def _hits(owner: np.ndarray, line: np.ndarray) -> np.ndarray:
    """How often the wave had executed the instruction before, int64."""
    key = owner.astype(np.int64) << 32 | (line.astype(np.int64) & 0xFFFFFFFF)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    hit = np.empty(len(key), dtype=np.int64)
    hit[order] = np.arange(len(key)) - np.searchsorted(ordered, ordered)
    return hit


FORMATS = ("csv", "parquet")
STAGE = "Writing tables"
_AT_ONCE = 1 << 16  # rows
NO_WAVES = WaveBatch.empty()
Write = Callable[[Columns], int]  # appends rows and returns how many; the first call has the columns


def write_tables(
    trace: Trace,
    batches: Iterable[WaveBatch],
    paths: Mapping[str, Path],
    form: str,
    *,
    rows: Sequence[int] | None = None,
    spans: MarkerSpans | None = None,
    report: Report = silent,
) -> dict[str, int]:
    """Write tables to `paths` (name to file); return how many rows each got.

    Files appear when all of them are complete.  Waves are read once for all tables, and only if a table needs
    them. Raises UsageError for Parquet without pyarrow, ExportError if a file cannot be written.
    """
    count = dict.fromkeys(paths, 0)
    with ExitStack() as files, ExitStack() as tables:  # all tables end before the first file appears
        made = {name: _WRITERS[form](files, path, name, trace.name) for name, path in paths.items()}
        writers = {name: tables.enter_context(writer) for name, writer in made.items()}
        for name, write in writers.items():
            make = TABLES[name].make
            if make is not None:
                report(Stage(Message("Writing {0}", name)))
                columns = make(trace, spans)
                count[name] = write(columns if rows is None or name != "waves" else _some(columns, rows))
        parts = {name: part for name in paths if (part := TABLES[name].part) is not None}
        done, total = 0, len(trace.waves) if rows is None else len(rows)
        # A batch without waves comes last: a table without rows still has columns.
        for batch in chain(batches, (NO_WAVES,)) if parts else ():
            for name, part in parts.items():
                count[name] += writers[name](part(trace, batch))
            done += len(batch.waves) + len(batch.missing)
            report(Stage(STAGE, done, total))
    return count


def _some(columns: Columns, rows: Sequence[int]) -> Columns:
    index = np.array(rows, dtype=np.int64)
    return {
        name: [column[row] for row in rows] if isinstance(column, list) else column[index]
        for name, column in columns.items()
    }


@contextmanager
def _csv(files: ExitStack, path: Path, name: str, capture: str) -> Iterator[Write]:
    binary = files.enter_context(whole_file(path))
    stream = io.TextIOWrapper(binary, "utf-8", errors="replace", newline="", write_through=True)
    table, head = CsvWriter(stream), list[str]()

    def write(columns: Columns) -> int:
        if not head:
            head.extend(columns)
            table.row(head)
        n = min(map(len, columns.values()), default=0)
        for first in range(0, n, _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            table.safe_rows(zip(*(_cells(column, rows) for column in columns.values()), strict=True))
        return n

    try:
        yield write
    finally:
        stream.detach()


@contextmanager
def _parquet(files: ExitStack, path: Path, name: str, capture: str) -> Iterator[Write]:
    arrow, target = parquet(), files.enter_context(whole_file(path))
    with ExitStack() as opened:
        writer: Any = None

        def write(columns: Columns) -> int:
            nonlocal writer
            meanings = {column: TABLES[name].spec.meaning(column) for column in columns}
            table = arrow_table(arrow, columns, meanings, name, capture)
            if writer is None:
                writer = opened.enter_context(arrow.parquet.ParquetWriter(target, table.schema))
            if len(table):
                writer.write_table(table)
            return len(table)

        yield write


_WRITERS = {"csv": _csv, "parquet": _parquet}


def parquet() -> Any:
    """Return pyarrow; raise UsageError with a hint if it is not installed."""
    try:
        import pyarrow  # noqa: PLC0415 - optional, and slow to load
        import pyarrow.parquet  # noqa: PLC0415 - the same package
    except ImportError as error:
        text = "Parquet needs the package pyarrow, which is not installed."
        raise UsageError(text, hint="Install it with `pip install pyarrow`, or use --to csv.") from error
    return pyarrow


def arrow_table(
    arrow: Any,
    columns: Mapping[str, Column],
    meanings: Mapping[str, ColumnMeaning],
    name: str,
    capture: str = "",
    *,
    lists: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return a table of `arrow`, the package pyarrow; texts that repeat become dictionaries.

    `lists` says what lists hold, `string` or `int64`, by the name of their column.
    Its metadata are the names of table and capture and our version; a field's are its unit and meaning.
    """
    arrays = [_arrow_column(arrow, column, items=lists.get(name, "")) for name, column in columns.items()]
    fields = []
    for column, array in zip(columns, arrays, strict=True):
        unit, text = meanings[column]
        fields.append(arrow.field(column, array.type, metadata={"unit": unit, "meaning": text}))
    facts = {"rcv.capture": encodable(capture), "rcv.table": name, "rcv.version": __version__}
    return arrow.table(arrays, schema=arrow.schema(fields, metadata=facts))


def _arrow_column(arrow: Any, column: Column, *, items: str) -> Any:
    if items and isinstance(column, np.ndarray):
        lists = [[encodable(one) for one in row] if items == "string" else row for row in column.tolist()]
        return arrow.array(lists, arrow.list_(getattr(arrow, items)()))
    if isinstance(column, DictionaryColumn):
        texts = arrow.array([encodable(text) for text in column.texts] or [""], arrow.string())
        return arrow.DictionaryArray.from_arrays(arrow.array(column.code.astype(np.int32)), texts)
    if isinstance(column, np.ndarray) and column.dtype != object:
        return arrow.array(wide(column))
    return arrow.array([encodable(text) for text in column], arrow.string())


def wide(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers with 64 bits: sums of a data frame keep their type and would overflow."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize == 8:
        return numbers
    return numbers.astype(np.int64)


def _cells(column: Column, rows: slice) -> list[Any]:
    """Some rows of a column as CSV cells; booleans are 0 or 1, no text can be read as a formula."""
    if isinstance(column, DictionaryColumn):
        return np.array([*map(csv_cell, column.texts), ""], dtype=object)[column.code[rows]].tolist()
    if isinstance(column, np.ndarray):
        part = column[rows]
        return (part.astype(np.int8) if part.dtype.kind == "b" else part).tolist()
    return [csv_cell(text) for text in column[rows]]
