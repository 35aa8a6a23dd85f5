"""Tables as files: CSV for everybody, Parquet where pyarrow is installed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rcv_py import __version__
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.csv_text import CsvWriter, csv_cell
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import CancelFlag, Report, Stage, silent
from rcv_py.base.text import encodable
from rcv_py.base.whole_files import whole_file, whole_path
from rcv_py.export.tables import TABLES, Column, Columns
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.table import Meaning, Words

FORMATS = ("csv", "parquet")
STAGE = "Writing tables"
_AT_ONCE = 1 << 16  # rows
_NONE = np.zeros(0, dtype=np.int32)
NO_WAVES = WaveBatch.empty()


class _Writer(Protocol):
    rows: int

    def write(self, columns: Columns) -> None:
        """Append rows; the first call tells the columns."""

    def close(self) -> None:
        """Finish the file."""


def write_tables(
    trace: Trace,
    batches: Iterable[WaveBatch],
    paths: Mapping[str, Path],
    form: str,
    *,
    rows: Sequence[int] | None = None,
    spans: MarkerSpans | None = None,
    report: Report = silent,
    cancel: CancelFlag | None = None,
) -> dict[str, int]:
    """Write tables to `paths` (name to file); return how many rows each got.

    Files appear when all of them are whole.  Waves are read once for all tables, and only if one needs them.
    Raises UsageError for Parquet without pyarrow, ExportError where a file cannot be written.
    """
    with ExitStack() as stack:
        writers = {name: _writer(stack, path, form, name, trace.name) for name, path in paths.items()}
        for name, writer in writers.items():
            make = TABLES[name].whole
            if make is not None:
                report(Stage(f"Writing {name}"))
                writer.write(_chosen(make(trace, spans), name, rows))
        parts = {name: TABLES[name].part for name in paths if TABLES[name].part is not None}
        done, total = 0, len(trace.waves) if rows is None else len(rows)
        for batch in _with_empty(batches) if parts else ():
            if cancel is not None:
                cancel.check()
            for name, part in parts.items():
                assert part is not None
                writers[name].write(part(trace, batch))
            done += len(batch.waves) + len(batch.missing)
            report(Stage(STAGE, done, total))
        for writer in writers.values():
            writer.close()
    return {name: writer.rows for name, writer in writers.items()}


def _with_empty(batches: Iterable[WaveBatch]) -> Iterator[WaveBatch]:
    """The batches, and one without waves behind them: a table without rows still has columns."""
    yield from batches
    yield NO_WAVES


def _chosen(columns: Columns, name: str, rows: Sequence[int] | None) -> Columns:
    """The table of waves holds only those that are asked for."""
    if rows is None or name != "waves":
        return columns
    return {key: _at(column, rows) for key, column in columns.items()}


def _at(column: Column, rows: Sequence[int]) -> Column:
    return (
        [column[row] for row in rows] if isinstance(column, list) else column[np.array(rows, dtype=np.int64)]
    )


def _writer(stack: ExitStack, path: Path, form: str, name: str, capture: str) -> _Writer:
    return _Csv(stack, path) if form == "csv" else _Parquet(stack, path, name, capture)


def parquet() -> Any:
    """Return pyarrow; raise UsageError with what to do where it is not installed."""
    try:
        import pyarrow  # noqa: PLC0415 - optional, and slow to load
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed.",
            hint="Install it with `pip install pyarrow`, or use --to csv.",
        ) from error
    return pyarrow


class _Csv:
    def __init__(self, stack: ExitStack, path: Path) -> None:
        binary = stack.enter_context(whole_file(path))
        self._stream = io.TextIOWrapper(binary, "utf-8", errors="replace", newline="", write_through=True)
        stack.callback(self._stream.detach)
        self._csv = CsvWriter(self._stream)
        self._has_head = False
        self.rows = 0

    def write(self, columns: Columns) -> None:
        if not self._has_head:
            self._csv.row(columns)
            self._has_head = True
        n = min(map(len, columns.values()), default=0)
        for first in range(0, n, _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            self._csv.safe_rows(zip(*(_cells(column, rows) for column in columns.values()), strict=True))
        self.rows += n

    def close(self) -> None:
        self._stream.flush()


class _Parquet:
    def __init__(self, stack: ExitStack, path: Path, name: str, capture: str) -> None:
        self._name = name
        self._capture = capture
        self._arrow = parquet()
        self._path = stack.enter_context(whole_path(path))
        self._stack = stack
        self._writer: Any = None
        self.rows = 0

    def write(self, columns: Columns) -> None:
        meanings = {name: TABLES[self._name].spec.meaning(name) for name in columns}
        table = arrow_table(self._arrow, columns, meanings, self._name, self._capture)
        if self._writer is None:
            self._writer = self._arrow.parquet.ParquetWriter(self._path, table.schema)
            self._stack.callback(self._writer.close)
        if len(table):
            self._writer.write_table(table)
        self.rows += len(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def arrow_table(
    arrow: Any, columns: Mapping[str, Column], meanings: Mapping[str, Meaning], name: str, capture: str = ""
) -> Any:
    """Return a table of `arrow`, the package pyarrow; texts that repeat become dictionaries.

    Its metadata are names of table and capture and our version; those of a field its unit and meaning.
    """
    arrays = [_arrow_column(arrow, column) for column in columns.values()]
    fields = []
    for column, array in zip(columns, arrays, strict=True):
        unit, text = meanings[column]
        fields.append(arrow.field(column, array.type, metadata={"unit": unit, "meaning": text}))
    facts = {"rcv.capture": capture, "rcv.table": name, "rcv.version": __version__}
    return arrow.table(arrays, schema=arrow.schema(fields, metadata=facts))


def _arrow_column(arrow: Any, column: Column) -> Any:
    if isinstance(column, Words):
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
    """Some rows of a column as cells of CSV; truth is 0 or 1, and no text can be taken for a formula."""
    if isinstance(column, Words):
        texts = np.array([*map(csv_cell, column.texts), ""], dtype=object)
        return texts[column.code[rows]].tolist()
    if isinstance(column, np.ndarray):
        part = column[rows]
        return (part.astype(np.int8) if part.dtype.kind == "b" else part).tolist()
    return [csv_cell(text) for text in column[rows]]
