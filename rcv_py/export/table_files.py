"""Tables as files: CSV always, Parquet if pyarrow is installed."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rcv_py import __version__
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.csv_text import CsvWriter, csv_cell
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.text import Message, encodable
from rcv_py.base.whole_files import whole_file, whole_path
from rcv_py.export.tables import TABLES, Column, Columns
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import ColumnMeaning, DictionaryColumn

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
        writers = {
            name: tables.enter_context(_WRITERS[form](files, path, name, trace.name))
            for name, path in paths.items()
        }
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
    arrow, target = parquet(), files.enter_context(whole_path(path))
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
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed.",
            hint="Install it with `pip install pyarrow`, or use --to csv.",
        ) from error
    return pyarrow


def arrow_table(
    arrow: Any,
    columns: Mapping[str, Column],
    meanings: Mapping[str, ColumnMeaning],
    name: str,
    capture: str = "",
) -> Any:
    """Return a table of `arrow`, the package pyarrow; texts that repeat become dictionaries.

    Its metadata are the names of table and capture and our version; a field's are its unit and meaning.
    """
    arrays = [_arrow_column(arrow, column) for column in columns.values()]
    fields = []
    for column, array in zip(columns, arrays, strict=True):
        unit, text = meanings[column]
        fields.append(arrow.field(column, array.type, metadata={"unit": unit, "meaning": text}))
    facts = {"rcv.capture": capture, "rcv.table": name, "rcv.version": __version__}
    return arrow.table(arrays, schema=arrow.schema(fields, metadata=facts))


def _arrow_column(arrow: Any, column: Column) -> Any:
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
        texts = np.array([*map(csv_cell, column.texts), ""], dtype=object)
        return texts[column.code[rows]].tolist()
    if isinstance(column, np.ndarray):
        part = column[rows]
        return (part.astype(np.int8) if part.dtype.kind == "b" else part).tolist()
    return [csv_cell(text) for text in column[rows]]
