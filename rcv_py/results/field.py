"""A field of a result: its name, kind of values, meaning, and where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Flag, auto
from typing import Any

import numpy as np
from msgspec.structs import force_setattr, replace

from rcv_py.base.record import Value
from rcv_py.base.text import join_texts
from rcv_py.results import json_types
from rcv_py.results.json_types import Shape


class ShownIn(Flag):
    """Where a field is shown."""

    DATA = auto()  # JSON, CSV, the API, and what `--sort` takes
    TEXT = auto()  # the text of a command
    WINDOW = auto()  # tables of the window
    REPORT = auto()  # tables of reports
    ORDER = auto()  # additional columns of `--sort`
    PEOPLE = TEXT | WINDOW | REPORT
    EVERYWHERE = DATA | PEOPLE


DATA, TEXT, WINDOW, REPORT = ShownIn.DATA, ShownIn.TEXT, ShownIn.WINDOW, ShownIn.REPORT
ORDER, PEOPLE, EVERYWHERE = ShownIn.ORDER, ShownIn.PEOPLE, ShownIn.EVERYWHERE


class Kind(Value):
    """The kind of a value: unit, JSON type, type in memory, and text form; a field adds its meaning."""

    json: Callable[[str], Shape]  # its JSON type for a description
    ending: str = "."  # completes a meaning to a sentence: names the unit
    unit: str = ""  # "" for names and places, which are not grouped by thousands
    dtype: type[np.generic] | None = None  # of a column; None: texts or nested values
    text: Callable[[Any], str] = str  # text of a known value, for people
    is_number: bool = False  # aligned to the right, the largest first
    elastic: str = ""  # the end that may be cut to fit: "", "left" (paths keep their end) or "right"
    is_trimmed: bool = False  # a whole value is written without a point
    digits: int | None = None  # to which documents round, unless the field says otherwise
    is_spread: bool = False  # CSV has a column for each name of a mapping
    is_data: bool = False  # its texts come from the capture and are never translated
    width: int = 8  # usual width of a column, in characters
    has_minus_one: bool = False  # -1 stands for "none", in columns too
    is_signed: bool = True  # negative numbers are values; else they mean unknown, where that may be
    names: tuple[str, ...] = ()  # names of the second axis of a column: a mapping in documents
    is_nested: bool = False  # fields of a nested record or of nested rows
    items: str = ""  # of a list: "string" or "int64"
    document: Callable[[Any], Any] | None = None  # makes plain values of objects that a column holds

    @property
    def is_plain(self) -> bool:
        """Whether values are scalars, which can be sorted and written into a cell."""
        return not self.names and not self.is_nested

    def __call__(self, name: str, meaning: str, title: str = "", **more: Any) -> Field:
        """Return a field of the kind; `more` are further attributes of it."""
        return Field(name=name, kind=self, meaning=meaning, title=title, **more)

    def maybe(self, name: str, meaning: str, title: str = "", **more: Any) -> Field:
        """Return a field of the kind whose values may be unknown: null in documents."""
        return self(name, meaning, title, is_unknown=True, **more)


class Field(Value):
    """A column of a table, or a fact of a document.

    `meaning` is a sentence without its end: the kind adds the unit and the full stop.
    """

    name: str  # in documents, CSV, the API and `--sort`
    kind: Kind
    meaning: str
    title: str = ""  # for people; the name if it is empty
    at: ShownIn = EVERYWHERE
    digits: int | None = None  # to which documents round; None: as the kind says
    is_unknown: bool = False  # may be null: nan, and -1 of code rows
    is_optional: bool = False  # a table may lack it
    of: Callable[[Mapping[str, Any]], str] | None = None  # its text, made of the plain values of a row
    key: str = ""  # attribute of the analysis result; the name if empty

    def __post_init__(self) -> None:
        if not self.title:
            force_setattr(self, "title", self.name.replace("_", " "))

    def of_analysis(self, found: object) -> Any:
        """Return its value, or its column, from the result of an analysis."""
        return getattr(found, self.key or self.name)

    @property
    def sentence(self) -> str:
        """The meaning with its unit."""
        return join_texts("", (self.meaning, self.kind.ending))

    @property
    def shape(self) -> Shape:
        """Its JSON type."""
        shape = self.kind.json(self.sentence[:])  # a schema holds plain text
        return json_types.maybe(shape) if self.is_unknown else shape

    @property
    def is_number(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind.is_number

    @property
    def is_nan(self) -> bool:
        """Whether it is a whole number stored as a float, so that unknown cells can be nan."""
        return self.is_unknown and self.kind.dtype is np.int64 and not self.kind.has_minus_one

    @property
    def dtype(self) -> type[np.generic] | None:
        """The type of a column; None for texts and nested values."""
        return np.float64 if self.is_nan else self.kind.dtype

    @property
    def is_sortable(self) -> bool:
        """Whether rows can be sorted by it."""
        return bool((DATA | ORDER) & self.at) and self.kind.is_plain

    def text(self, value: Any, unknown: str = "") -> str:
        """Return the text of a plain value; `unknown` stands for None."""
        return unknown if value is None else self.kind.text(value)

    def plain(self, column: np.ndarray) -> list[Any]:
        """Return the values of a column as in documents: plain, rounded, None for unknown ones."""
        if self.kind.document is not None:
            return list(map(self.kind.document, column))
        if self.kind.names:
            return [_by_size(self.kind.names, values) for values in column]
        values = column.tolist()
        if self.is_nan:
            return [None if np.isnan(value) else int(value) for value in values]
        if self.kind.dtype is np.float64:
            digits = self.kind.digits if self.digits is None else self.digits
            return [_rounded(value, digits, self.kind.is_trimmed) for value in values]
        if self.is_unknown and self.kind.dtype is np.int64:
            return [None if value < 0 else value for value in values]
        return values


def shapes(fields: Iterable[Field]) -> dict[str, Shape]:
    """Return the JSON types of fields by their names."""
    return {field.name: field.shape for field in fields}


def of_analysis(fields: Iterable[Field], found: object) -> dict[str, Any]:
    """Return the values of fields by name, from the result of an analysis."""
    return {field.name: field.of_analysis(found) for field in fields}


def only(where: ShownIn, *fields: Field) -> tuple[Field, ...]:
    """Return the fields, shown only there."""
    return tuple(replace(field, at=where) for field in fields)


def unknown(*fields: Field) -> tuple[Field, ...]:
    """Return fields that may be null."""
    return tuple(replace(field, is_unknown=True) for field in fields)


def record(*fields: Field) -> Kind:
    """Return the kind of a record: a value with nested fields."""
    left_out = optional(fields)
    return Kind(json=lambda sentence: json_types.record(sentence, shapes(fields), left_out), is_nested=True)


def rows(*fields: Field, row: str = "One row.") -> Kind:
    """Return the kind of nested rows; `row` is the sentence that describes one."""
    one = record(*fields).json(row)
    return Kind(json=lambda sentence: json_types.listed(sentence, one), is_nested=True)


def record_field(name: str, meaning: str, *fields: Field, **more: Any) -> Field:
    """Return a field that is a record; `more` are further attributes of it."""
    return record(*fields)(name, meaning, **more)


def rows_field(name: str, meaning: str, *fields: Field) -> Field:
    """Return a field of nested rows."""
    return rows(*fields)(name, meaning)


def optional(fields: Iterable[Field]) -> tuple[str, ...]:
    """Return the names of the fields that may be left out."""
    return tuple(field.name for field in fields if field.is_optional)


def _rounded(value: float, digits: int | None, is_trimmed: bool) -> float | None:
    if not np.isfinite(value):
        return None
    if is_trimmed and value.is_integer():
        return int(value)
    return value if digits is None else round(value, digits)


def _by_size(names: tuple[str, ...], values: np.ndarray) -> dict[str, Any]:
    order = np.argsort(-values, kind="stable").tolist()
    return {names[at]: values[at].item() for at in order if values[at]}
