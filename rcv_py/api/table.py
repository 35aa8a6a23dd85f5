"""A table: named columns of equal length, read-only arrays; and answers of analyses, which are tables."""

from __future__ import annotations  # the reference prints them as they are written

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from html import escape
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

import numpy as np

from rcv_py.api.errors import MissingPackage, NoColumn, NoRow, UnequalColumns
from rcv_py.base.text import Message, count, elide_left, elide_right, encodable, plural
from rcv_py.export.tables import Column, arrow_table, wide
from rcv_py.results import table as results
from rcv_py.results.field import DATA
from rcv_py.results.table import ColumnMeaning, DictionaryColumn, Spec, read_only
from rcv_py.results.tables import HELP, ROWS

if TYPE_CHECKING:
    import pandas
    import pyarrow

SHOWN = 10  # rows at a prompt and in a notebook
MAX_CELL = 48  # characters
MAX_LINE = 160  # characters; columns that do not fit are counted
_ENDS = ("source", "path")  # columns whose texts end with what matters: the file and its line
Rows = slice | np.ndarray | Sequence[int]
T = TypeVar("T")


class Table(dict[str, np.ndarray | DictionaryColumn]):
    """Named columns of equal length.

    `table["stall"]` is a column as a read-only numpy array: whole numbers, floats (nan: not known), bool, or
    `object` for texts.  `table["line", "stall"]` is a table of fewer columns, `table[mask]`, `table[:10]` and
    `table[places]` one of fewer rows, `table[0]` a row: its values by column.  `len` counts rows.  Texts that
    repeat are kept as numbers until they are read.

    A table is an immutable dictionary, because pandas takes columns only from a dictionary;
    `pandas.DataFrame(table)`, `polars.DataFrame(table)` and Arrow readers accept it directly.
    """

    def __init__(self, columns: Mapping[str, Column], name: str = "", spec: Spec | None = None) -> None:
        super().__init__({key: _frozen(column) for key, column in columns.items()})
        self._texts: dict[str, np.ndarray] = {}  # columns of texts that were read
        self._spec = spec or Spec("", "", "")  # that declares the columns
        self.name = name or self._spec.name  # in the reference, "" if it is not there
        lengths = {len(column) for column in super().values()}
        if len(lengths) > 1:
            raise UnequalColumns(name, sorted(lengths))
        self._length = max(lengths, default=0)

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.keys())

    def __iter__(self) -> Iterator[str]:
        # With an iterator of its own, dict(table) and the like read columns as table[name] does.
        return iter(self.keys())

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: tuple[str, ...] | list[str] | Rows) -> Table: ...
    def __getitem__(
        self, key: str | int | tuple[str, ...] | list[str] | Rows
    ) -> np.ndarray | dict[str, Any] | Table:
        """Return a column by its name, a row by its place, a table of some columns, or of some rows."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, int | np.integer):
            return self.row(int(key))
        if not isinstance(key, slice | np.ndarray) and len(key) and all(isinstance(one, str) for one in key):
            return Table({str(one): self.raw(str(one)) for one in key}, self.name, self._spec)
        return self._at(key)  # type: ignore[arg-type]  # names went above

    def get(self, name: str, default: Any = None) -> Any:
        """Return a column, or the default if there is none of that name."""
        return self._column(name) if name in self else default

    def items(self) -> ItemsView[str, np.ndarray]:  # type: ignore[override]  # dict has its own
        """Return names and columns."""
        return {name: self._column(name) for name in self}.items()

    def values(self) -> ValuesView[np.ndarray]:  # type: ignore[override]  # dict has its own
        """Return the columns."""
        return dict(self.items()).values()

    def raw(self, name: str) -> np.ndarray | DictionaryColumn:
        """Return a column as stored: an array, or `DictionaryColumn` (`texts`, and a `code` per row)."""
        if name not in self:
            raise NoColumn(name, self.columns)
        return super().__getitem__(name)

    def _raw(self) -> dict[str, np.ndarray | DictionaryColumn]:
        return {name: self.raw(name) for name in self}

    def _column(self, name: str) -> np.ndarray:
        column = self.raw(name)
        if isinstance(column, np.ndarray):
            return column
        if name not in self._texts:
            texts = DictionaryColumn([encodable(text) for text in column.texts], column.code)
            self._texts[name] = read_only(texts.values())
        return self._texts[name]

    def _type(self, name: str) -> str:
        column = self.raw(name)
        kind = "text" if isinstance(column, DictionaryColumn) or column.dtype == object else str(column.dtype)
        return "list" if name in self._spec.lists() else kind

    @property
    def help(self) -> Table:
        """What each column is: its type, unit and meaning, as a table."""
        return of_rows(HELP, [(name, self._type(name), *means) for name, means in self.meanings.items()])

    @property
    def meanings(self) -> dict[str, ColumnMeaning]:
        """Unit and meaning of each column."""
        return {name: self._spec.meaning(name) for name in self}

    def row(self, number: int) -> dict[str, Any]:
        """Return one row as plain values; negative numbers count from the end.  Raises NoRow."""
        if not -len(self) <= number < len(self):
            raise NoRow(number, len(self))
        return {name: column[0] for name, column in self._at([number]).to_dict().items()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as plain values; meant for a few hundred rows."""
        columns = self.to_dict()
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    def where(self, mask: np.ndarray | None = None, **equal: Any) -> Table:
        """Return the rows where `mask` (bool) holds and columns equal the given values.

        `tokens.where(kind="VALU", line=[3, 4])`: a list stands for any of its values.
        Where a column holds lists, one of their values is enough.
        """
        keep = np.ones(len(self), dtype=bool) if mask is None else np.asarray(mask, dtype=bool)
        if keep.shape != (len(self),):
            raise UnequalColumns(self.name, [len(self), keep.size])
        for name, value in equal.items():
            keep = keep & self._equals(name, value)
        return self._at(np.flatnonzero(keep))

    def _equals(self, name: str, value: Any) -> np.ndarray:
        column = self.raw(name)
        is_many = isinstance(value, np.ndarray | list | tuple | set | frozenset | range)
        values = set(value if not isinstance(value, np.ndarray) else value.tolist()) if is_many else {value}
        if isinstance(column, DictionaryColumn):
            return np.isin(column.code, [i for i, text in enumerate(column.texts) if text in values])
        if column.dtype == object:
            held = (one if isinstance(one, list) else (one,) for one in column.tolist())
            return np.fromiter((not values.isdisjoint(one) for one in held), dtype=bool, count=len(column))
        return np.isin(column, list(values))

    def sort(self, by: str, *, descending: bool = False) -> Table:
        """Return the rows sorted by a column, texts alphabetically; the sort is stable."""
        column = self._column(by)
        if column.dtype == object:
            column = column.astype(str)
        rank = np.unique(column, return_inverse=True)[1].reshape(-1)
        return self._at(np.argsort(-rank if descending else rank, kind="stable"))

    def head(self, rows: int = 10) -> Table:
        """Return the first rows."""
        return self._at(slice(0, max(0, rows)))

    def sums(self, by: str, *names: str) -> Table:
        """Return one row per value of `by`, with the number of `rows` and the sums of the named columns."""
        column = self.raw(by)
        key = column.code if isinstance(column, DictionaryColumn) else column
        if key.dtype == object:
            key = key.astype(str)
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        sums: dict[str, Column] = {by: self._at(first).raw(by)}
        sums[ROWS.name] = np.bincount(group, minlength=len(first))
        for name in names:
            values = self._column(name)
            total = np.zeros(len(first), dtype=np.float64 if values.dtype.kind == "f" else np.int64)
            np.add.at(total, group, values)
            sums[name] = total
        return Table(sums, self.name, self._spec.with_field(ROWS))

    def _at(self, rows: Rows) -> Table:
        if not isinstance(rows, slice):
            rows = np.asarray(rows) if len(rows) else np.zeros(0, dtype=np.int64)
        return Table({name: column[rows] for name, column in self._raw().items()}, self.name, self._spec)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values."""
        return {name: self._column(name).tolist() for name in self}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a copy as a data frame, repeating texts as categories; MissingPackage without pandas.

        Whole numbers have 64 bits.
        """
        package = _package("A data frame", "pandas", "pandas")
        return package.DataFrame({name: _series(package, column) for name, column in self._raw().items()})

    def to_arrow(self) -> pyarrow.Table:
        """Return a copy as an Arrow table, repeating texts as dictionaries; MissingPackage without it."""
        package = _package("A table of Arrow", "pyarrow", "arrow")
        return arrow_table(package, self._raw(), self.meanings, self.name, lists=self._spec.lists())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream for its PyCapsule interface; MissingPackage without pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        width, left = MAX_LINE, list(self)
        aligned: list[list[str]] = []
        for name, column in self._shown().items():
            cells = [name, *column]
            longest = max(map(len, cells))
            width -= longest + 2
            if width < 0 and aligned:
                break
            align = str.ljust if self._type(name) == "text" else str.rjust
            aligned.append([align(cell, longest) for cell in cells])
            left.remove(name)
        lines = [self._caption, *("  ".join(row).rstrip() for row in zip(*aligned, strict=True))]
        if left:
            lines.append(Message("… and {0}: {1}", plural(len(left), "column"), ", ".join(left)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tips = {name: " ".join(filter(None, reversed(meaning))) for name, meaning in self.meanings.items()}
        heads = "".join(f'<th title="{escape(tip)}">{escape(name)}</th>' for name, tip in tips.items())
        types = map(self._type, self)
        styles = ["" if kind == "text" else ' style="text-align:right"' for kind in types]
        body = ""
        for row in zip(*self._shown().values(), strict=True):
            cells = zip(styles, row, strict=True)
            body += f"<tr>{''.join(f'<td{style}>{escape(cell)}</td>' for style, cell in cells)}</tr>"
        head = f"<caption>{escape(self._caption)}</caption><thead><tr>{heads}</tr></thead>"
        return f"<table>{head}<tbody>{body}</tbody></table>"

    @property
    def _caption(self) -> str:
        more = Message(", the first {0}", SHOWN) if len(self) > SHOWN else ""
        name, rows = f"{self.name}: " if self.name else "", plural(len(self), "row")
        return Message("{0}{1} of {2}{3}", name, rows, plural(len(self.columns), "column"), more)

    def _shown(self) -> dict[str, list[str]]:
        """The first rows of each column as text; only numbers with a unit are grouped."""
        first, means = self.head(SHOWN).to_dict(), self.meanings
        return {name: [_cell(name, value, means[name].unit) for value in first[name]] for name in self}

    def _never(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("A table cannot be changed; Table({**table, name: column}) makes a new table.")

    __setitem__ = __delitem__ = __ior__ = __or__ = __ror__ = _never
    clear = pop = popitem = setdefault = update = _never
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none

    def copy(self) -> Table:
        """Return the table itself."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._raw(), {**vars(self), "_texts": {}})


class Answer(Table, Generic[T]):
    """The answer of an analysis: a table of its rows.

    `facts` has the values about the whole answer: totals, assumptions, why there are no rows.  `result` is
    the object of the analysis, with everything that the table leaves out.
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, Column],
        result: T,
        facts: Mapping[str, Any] | None = None,
        spec: Spec | None = None,
    ) -> None:
        super().__init__(columns, name, spec)
        self.result = result
        self.facts: dict[str, Any] = dict(facts or {})

    @classmethod
    def of(cls, table: results.ResultTable, result: T, facts: Mapping[str, Any] | None = None) -> Answer[T]:
        """Return a result; numbers by name become columns `name_key`, if they occur, the largest first."""
        return cls(table.spec.name, flat(table), result, facts, table.spec)


def _rebuilt(kind: type[Table], columns: dict[str, Column], state: dict[str, Any]) -> Table:
    table = kind.__new__(kind)
    Table.__init__(table, columns)
    vars(table).update(state)
    return table


def flat(table: results.ResultTable) -> dict[str, Column]:
    """Return the columns of a result, without nested values."""
    columns: dict[str, Column] = {}
    for field in table.fields(DATA):
        if field.kind.names:
            columns |= table.by_key(field, f"{field.name}_")
            continue
        column = table.columns[field.name]
        if field.kind.document is not None:
            objects = column.values() if isinstance(column, DictionaryColumn) else column
            columns[field.name] = [*map(field.kind.text, objects)]
        elif field.is_nan and isinstance(column, np.ndarray) and not np.isnan(column).any():
            columns[field.name] = column.astype(np.int64)  # nothing is unknown here
        else:
            columns[field.name] = column
    return columns


def of_rows(spec: Spec, rows: Sequence[Sequence[object]]) -> Table:
    """Return a table of rows of plain values, in the order of the fields."""
    return Table(flat(results.ResultTable.of_rows(spec, rows)), spec=spec)


def joined(tables: Sequence[Table]) -> Table:
    """Return the concatenation of tables with the same columns; there must be at least one."""
    columns: dict[str, Column] = {}
    for name in tables[0]:
        parts = [table.raw(name) for table in tables]
        words = [part for part in parts if isinstance(part, DictionaryColumn)]
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        columns[name] = _joined_words(words) if words else np.concatenate(arrays)
    return Table(columns, tables[0].name, tables[0]._spec)


def _joined_words(parts: Sequence[DictionaryColumn]) -> DictionaryColumn:
    """Concatenated columns of texts; each text is kept once."""
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        new = np.array([places.setdefault(text, len(places)) for text in part.texts], dtype=np.int32)
        codes.append(new[part.code] if len(part) else np.zeros(0, dtype=np.int32))
    return DictionaryColumn(tuple(places), np.concatenate(codes))


def _cell(name: str, value: Any, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, int):
        return count(value) if unit else str(value)
    flat = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return elide_left(flat, MAX_CELL) if name.endswith(_ENDS) else elide_right(flat, MAX_CELL)


def _package(what: str, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackage(what, name, extra) from error


def _series(package: Any, column: np.ndarray | DictionaryColumn) -> Any:
    if isinstance(column, np.ndarray):
        return wide(column).copy()
    # Two numbers may stand for one text; categories must differ.
    texts, place = np.unique([encodable(text) for text in column.texts] or [""], return_inverse=True)
    return package.Categorical.from_codes(place.reshape(-1)[column.code], categories=texts.astype(object))


def _frozen(column: Column) -> np.ndarray | DictionaryColumn:
    if isinstance(column, DictionaryColumn):
        return DictionaryColumn(column.texts, read_only(column.code))
    if isinstance(column, list):
        texts = np.empty(len(column), dtype=object)
        texts[:] = [encodable(text) for text in column]
        return read_only(texts)
    return read_only(column)
