"""A table: named columns of equal length, each a read-only numpy array; tables never change."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from rcv_py.api import frames, show
from rcv_py.api.errors import NoColumn, NoRow, UnequalColumns, noted
from rcv_py.export.meanings import Meaning, meaning
from rcv_py.export.table_files import valid_text
from rcv_py.export.tables import Column
from rcv_py.results.table import Spec, Words

if TYPE_CHECKING:
    import pandas
    import pyarrow

Rows = slice | np.ndarray | Sequence[int]


class Table(dict[str, np.ndarray | Words]):
    """Named columns of equal length.

    `table["stall"]` is a column as a read-only numpy array: whole numbers, floats (nan: not known), bool, or
    `object` for texts.  `table["line", "stall"]` is a table of fewer columns, `table[mask]`, `table[:10]` and
    `table[places]` one of fewer rows, `table[0]` a row: its values by column.  `len` counts rows.  Texts that
    repeat are kept as numbers until they are asked for.

    A table is a dictionary that cannot be changed, because pandas takes columns from nothing else;
    `pandas.DataFrame(table)`, `polars.DataFrame(table)` and what reads Arrow take it as it is.
    """

    def __init__(self, columns: Mapping[str, Column], name: str = "", spec: Spec | None = None) -> None:
        super().__init__({key: _frozen(column) for key, column in columns.items()})
        self._texts: dict[str, np.ndarray] = {}  # columns of texts that were read
        self._spec = spec  # that declares the columns, None: `meanings` has them
        self.name = name  # which of the tables of the reference it is, "" if it is none
        lengths = {len(column) for column in super().values()}
        if len(lengths) > 1:
            raise UnequalColumns(name, sorted(lengths))
        self._length = max(lengths, default=0)

    # -- looking -------------------------------------------------------------------------------------

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
        """Return a column, or what is given if there is none of that name."""
        return self._column(name) if name in self else default

    def items(self) -> ItemsView[str, np.ndarray]:  # type: ignore[override]
        """Return names and columns."""
        return {name: self._column(name) for name in self}.items()

    def values(self) -> ValuesView[np.ndarray]:  # type: ignore[override]
        """Return the columns."""
        return dict(self.items()).values()

    def raw(self, name: str) -> np.ndarray | Words:
        """Return a column as it is kept: an array, or `Words` (`texts` and, for each row, a `code`)."""
        if name not in self:
            raise noted(NoColumn(name, self.columns))
        return super().__getitem__(name)

    def _raw(self) -> dict[str, np.ndarray | Words]:
        return {name: self.raw(name) for name in self}

    def _column(self, name: str) -> np.ndarray:
        column = self.raw(name)
        if isinstance(column, np.ndarray):
            return column
        if name not in self._texts:
            texts = Words([valid_text(text) for text in column.texts], column.code)
            self._texts[name] = _read_only(texts.values())
        return self._texts[name]

    @property
    def help(self) -> Table:
        """What each column is: its type, unit and meaning, as a table."""
        means = self.meanings
        return Table(
            {
                "column": list(self),
                "type": [_type(column) for column in self._raw().values()],
                "unit": [means[name].unit for name in self],
                "meaning": [means[name].text for name in self],
            },
            "help",
        )

    @property
    def meanings(self) -> dict[str, Meaning]:
        """Unit and meaning of each column."""
        return {name: meaning(self.name, name, self._spec) for name in self}

    def row(self, number: int) -> dict[str, Any]:
        """Return one row as plain values; negative numbers count from the end.  Raises NoRow."""
        if not -len(self) <= number < len(self):
            raise noted(NoRow(number, len(self)))
        return {name: column[0] for name, column in self._at([number]).to_dict().items()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as plain values: for a few hundred of them."""
        columns = self.to_dict()
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))

    # -- fewer rows, other order ------------------------------------------------------------------------

    def where(self, mask: np.ndarray | None = None, **equal: Any) -> Table:
        """Return the rows where `mask` (bool) holds and columns equal what is given.

        `tokens.where(kind="VALU", line=[3, 4])`: a list stands for any of its values.
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
        if isinstance(column, Words):
            codes = [i for i, text in enumerate(column.texts) if text in values]
            return np.isin(column.code, codes)
        if column.dtype == object:
            return np.fromiter((one in values for one in column.tolist()), dtype=bool, count=len(column))
        return np.isin(column, list(values))

    def sort(self, by: str, *, descending: bool = False) -> Table:
        """Return the rows in order of a column, texts by the alphabet; equal ones stay as they were."""
        column = self._column(by)
        if column.dtype == object:
            column = np.unique(column.astype(str), return_inverse=True)[1].reshape(-1)
        if not descending:
            return self._at(np.argsort(column, kind="stable"))
        backwards = np.argsort(column[::-1], kind="stable")[::-1]
        return self._at(len(column) - 1 - backwards)

    def head(self, rows: int = 10) -> Table:
        """Return the first rows."""
        return self._at(slice(0, max(0, rows)))

    def sums(self, by: str, *names: str) -> Table:
        """Return one row a value of `by` with how many `rows` have it and the sums of the named columns."""
        column = self.raw(by)
        key = column.code if isinstance(column, Words) else column
        if key.dtype == object:
            key = key.astype(str)
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        found: dict[str, Column] = {by: self._at(first).raw(by)}
        found["rows"] = np.bincount(group, minlength=len(first))
        for name in names:
            values = self._column(name)
            total = np.zeros(len(first), dtype=np.float64 if values.dtype.kind == "f" else np.int64)
            np.add.at(total, group, values)
            found[name] = total
        return Table(found, self.name, self._spec)

    def _at(self, rows: Rows) -> Table:
        if not isinstance(rows, slice):
            rows = np.asarray(rows) if len(rows) else np.zeros(0, dtype=np.int64)
        return Table({name: column[rows] for name, column in self._raw().items()}, self.name, self._spec)

    # -- for others ---------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values."""
        return {name: self._column(name).tolist() for name in self}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a copy as a data frame, texts that repeat as categories; MissingPackage without pandas."""
        return frames.to_pandas(self._raw())

    def to_arrow(self) -> pyarrow.Table:
        """Return a copy as a table of Arrow, texts that repeat as dictionaries; MissingPackage without it."""
        return frames.to_arrow(self._raw(), self.meanings, self.name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a stream of Arrow, as its PyCapsule interface wants it; MissingPackage without pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return show.text(self.name, self._raw(), self.meanings)

    def _repr_html_(self) -> str:
        return show.html(self.name, self._raw(), self.meanings)

    # -- a dictionary that never changes ------------------------------------------------------------------

    def _never(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("A table cannot be changed; Table({**table, name: column}) is another one.")

    __setitem__ = __delitem__ = __ior__ = __or__ = __ror__ = _never
    clear = pop = popitem = setdefault = update = _never
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def copy(self) -> Table:
        """Return the table itself."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._raw(), {**vars(self), "_texts": {}})


def _rebuilt(kind: type[Table], columns: dict[str, Column], state: dict[str, Any]) -> Table:
    table = kind.__new__(kind)
    Table.__init__(table, columns)
    vars(table).update(state)
    return table


def joined(tables: Sequence[Table]) -> Table:
    """Return tables of the same columns below each other; there must be at least one."""
    found: dict[str, Column] = {}
    for name in tables[0]:
        parts = [table.raw(name) for table in tables]
        words = [part for part in parts if isinstance(part, Words)]
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        found[name] = _joined_words(words) if words else np.concatenate(arrays)
    return Table(found, tables[0].name, tables[0]._spec)


def _joined_words(parts: Sequence[Words]) -> Words:
    """Columns of texts below each other; each text is kept once."""
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        new = np.array([places.setdefault(text, len(places)) for text in part.texts], dtype=np.int32)
        codes.append(new[part.code] if len(part) else np.zeros(0, dtype=np.int32))
    return Words(tuple(places), np.concatenate(codes))


def _type(column: np.ndarray | Words) -> str:
    return "text" if isinstance(column, Words) or column.dtype.kind == "O" else str(column.dtype)


def _frozen(column: Column) -> np.ndarray | Words:
    if isinstance(column, Words):
        return Words(column.texts, _read_only(column.code))
    if isinstance(column, list):
        texts = np.empty(len(column), dtype=object)
        texts[:] = [valid_text(text) for text in column]
        return _read_only(texts)
    return _read_only(column)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
