"""A table: named columns of equal length, each a read-only numpy array; tables never change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rcv_py.api import frames, show
from rcv_py.api.errors import NoColumn, UnequalColumns, noted
from rcv_py.api.meanings import Meaning, meaning
from rcv_py.export.tables import Column
from rcv_py.results.table import Spec, Words

if TYPE_CHECKING:
    import pandas
    import pyarrow

Rows = slice | np.ndarray | Sequence[int]


class Table:
    """Named columns of equal length.

    `table["stall"]` is a column as a read-only numpy array: whole numbers, floats (nan: not known), bool, or
    `object` for texts.  `table["line", "stall"]` is a table of fewer columns, `table[mask]`, `table[:10]` and
    `table[places]` one of fewer rows.  Texts that repeat are kept as numbers until they are asked for.
    """

    def __init__(self, columns: Mapping[str, Column], name: str = "", spec: Spec | None = None) -> None:
        self._columns: dict[str, np.ndarray | Words] = {key: _kept(one) for key, one in columns.items()}
        self._texts: dict[str, np.ndarray] = {}  # columns of texts that somebody asked for
        self._spec = spec  # that declares the columns, None: `meanings` has them
        self.name = name  # which of the tables of the reference it is, "" if it is none
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) > 1:
            raise UnequalColumns(name, sorted(lengths))
        self._length = max(lengths, default=0)

    # -- looking -------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: tuple[str, ...] | list[str] | Rows) -> Table: ...
    def __getitem__(self, key: str | tuple[str, ...] | list[str] | Rows) -> np.ndarray | Table:
        """Return a column by its name, a table of some columns by their names, or of some rows."""
        if isinstance(key, str):
            return self._column(key)
        if not isinstance(key, slice | np.ndarray) and len(key) and all(isinstance(one, str) for one in key):
            return Table({str(one): self.raw(str(one)) for one in key}, self.name, self._spec)
        return self._at(key)  # type: ignore[arg-type]

    def raw(self, name: str) -> np.ndarray | Words:
        """Return a column as it is kept: an array, or `Words` (`texts` and, for each row, a `code`)."""
        if name not in self._columns:
            raise noted(NoColumn(name, self.columns))
        return self._columns[name]

    def _column(self, name: str) -> np.ndarray:
        column = self.raw(name)
        if isinstance(column, np.ndarray):
            return column
        if name not in self._texts:
            texts = np.empty(len(column.texts), dtype=object)
            texts[:] = list(column.texts)
            self._texts[name] = _read_only(texts[column.code] if len(column) else texts[:0])
        return self._texts[name]

    @property
    def help(self) -> Table:
        """What each column is: its type, unit and meaning, as a table."""
        means = self.meanings
        types = ["text" if self._is_text(name) else str(self.raw(name).dtype) for name in self]  # type: ignore[union-attr]
        return Table(
            {
                "column": list(self),
                "type": types,
                "unit": [means[name].unit for name in self],
                "meaning": [means[name].text for name in self],
            },
            "help",
        )

    @property
    def meanings(self) -> dict[str, Meaning]:
        """Unit and meaning of each column."""
        return {name: meaning(self.name, name, self._spec) for name in self}

    def _is_text(self, name: str) -> bool:
        column = self._columns[name]
        return isinstance(column, Words) or column.dtype == object

    def row(self, number: int) -> dict[str, Any]:
        """Return one row as plain values; negative numbers count from the end."""
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
        found: dict[str, Column] = {}
        for name, column in self._columns.items():
            if isinstance(column, Words):
                found[name] = Words(column.texts, column.code[rows])
            else:
                found[name] = column[rows]
        return Table(found, self.name, self._spec)

    # -- for others ---------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values."""
        return {name: self._column(name).tolist() for name in self}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a copy as a data frame, texts that repeat as categories; MissingPackage without pandas."""
        return frames.to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return a copy as a table of Arrow, texts that repeat as dictionaries; MissingPackage without it."""
        return frames.to_arrow(self)

    def __repr__(self) -> str:
        return show.text(self)

    def _repr_html_(self) -> str:
        return show.html(self)


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


def _kept(column: Column) -> np.ndarray | Words:
    if isinstance(column, Words):
        return Words(column.texts, _read_only(column.code))
    if isinstance(column, list):
        texts = np.empty(len(column), dtype=object)
        texts[:] = column
        return _read_only(texts)
    return _read_only(column)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
