"""A field of a result: its name, its kind of values, what it is, and where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import Any

import numpy as np

from rcv_py.results import json_types
from rcv_py.results.json_types import Shape


class At(Flag):
    """Where a field is shown."""

    DATA = auto()  # JSON, CSV, the API, and what `--sort` takes
    TEXT = auto()  # the text of a command
    WINDOW = auto()  # tables of the window
    REPORT = auto()  # tables of reports
    ORDER = auto()  # what `--sort` takes besides
    PEOPLE = TEXT | WINDOW | REPORT
    EVERYWHERE = DATA | PEOPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a value is: unit, JSON type, type in memory, and how it reads; a field adds which value."""

    json: Callable[[str], Shape]  # its JSON type, described by a sentence
    ending: str = "."  # what makes a sentence of a meaning: it names the unit
    unit: str = ""  # "" for names and places, which are not grouped by thousands
    dtype: type[np.generic] | None = None  # of a column; None: texts, or values with an inside
    text: Callable[[Any], str] = str  # for people, of a value that is known
    is_number: bool = False  # aligned to the right, the largest first
    elastic: str = ""  # the end that may be cut to fit: "", "left" (paths keep their end) or "right"
    is_trimmed: bool = False  # a whole value is written without a point
    digits: int | None = None  # to which documents round, unless the field says otherwise
    is_spread: bool = False  # CSV has a column for each name of a mapping
    is_data: bool = False  # its texts are of the capture, and the same in every language
    width: int = 8  # characters that a column of it usually needs
    has_minus_one: bool = False  # it stands for "none", in columns too, and is no number of the kind
    is_signed: bool = True  # less than 0 is a value; else, where it may be unknown, it is not known
    names: tuple[str, ...] = ()  # of the second axis of a column: a mapping in documents
    is_nested: bool = False  # a record, or rows, inside of a value
    document: Callable[[Any], Any] | None = None  # makes plain values of objects that a column holds

    @property
    def is_plain(self) -> bool:
        """Whether values are single ones, which can be sorted and written into a cell."""
        return not self.names and not self.is_nested

    def __call__(
        self,
        name: str,
        meaning: str,
        title: str = "",
        *,
        at: At = At.EVERYWHERE,
        digits: int | None = None,
        is_unknown: bool = False,
        is_optional: bool = False,
        of: Callable[[Mapping[str, Any]], str] | None = None,
        key: str = "",
    ) -> Field:
        """Return a field of the kind."""
        return Field(
            name=name,
            kind=self,
            meaning=meaning,
            title=title,
            at=at,
            digits=digits,
            is_unknown=is_unknown,
            is_optional=is_optional,
            of=of,
            key=key,
        )


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a table, or a fact of a document.

    `meaning` is a sentence without its end: the kind adds the unit and the full stop.
    """

    name: str  # in documents, CSV, the API and `--sort`
    kind: Kind
    meaning: str
    title: str = ""  # for people; the name if it is empty
    at: At = At.EVERYWHERE
    digits: int | None = None  # to which documents round; None: as the kind says
    is_unknown: bool = False  # may be null: nan, and -1 of code rows
    is_optional: bool = False  # a table may lack it
    of: Callable[[Mapping[str, Any]], str] | None = None  # its text, made of the plain values of a row
    key: str = ""  # the attribute of an analysis that holds it; the name if it is empty

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " "))

    def of_analysis(self, found: object) -> Any:
        """Return its value, or its column, of what an analysis returned."""
        return getattr(found, self.key or self.name)

    @property
    def sentence(self) -> str:
        """The meaning with its unit."""
        return f"{self.meaning}{self.kind.ending}"

    @property
    def shape(self) -> Shape:
        """Its JSON type."""
        shape = self.kind.json(self.sentence)
        return json_types.maybe(shape) if self.is_unknown else shape

    @property
    def is_number(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind.is_number

    @property
    def is_nan(self) -> bool:
        """Whether it is a whole number that is kept as a float, for the nan of cells that are not known."""
        return self.is_unknown and self.kind.dtype is np.int64 and not self.kind.has_minus_one

    @property
    def dtype(self) -> type[np.generic] | None:
        """The type of a column, None of texts and of values with an inside."""
        return np.float64 if self.is_nan else self.kind.dtype

    @property
    def is_sortable(self) -> bool:
        """Whether rows can be sorted by it."""
        return bool((At.DATA | At.ORDER) & self.at) and self.kind.is_plain

    def text(self, value: Any, unknown: str = "") -> str:
        """Return how a plain value reads; `unknown` stands for None."""
        return unknown if value is None else self.kind.text(value)

    def plain(self, column: np.ndarray) -> list[Any]:
        """Return the values of a column as documents have them: plain, rounded, None for unknown ones."""
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
    """Return the values of fields by name, of what an analysis returned."""
    return {field.name: field.of_analysis(found) for field in fields}


def only(where: At, *fields: Field) -> tuple[Field, ...]:
    """Return fields that are shown there only."""
    return tuple(replace(field, at=where) for field in fields)


def unknown(*fields: Field) -> tuple[Field, ...]:
    """Return fields that may be null."""
    return tuple(replace(field, is_unknown=True) for field in fields)


def record(*fields: Field) -> Kind:
    """Return the kind of a value with fields inside."""
    left_out = optional(fields)
    return Kind(json=lambda sentence: json_types.record(sentence, shapes(fields), left_out), is_nested=True)


def rows(*fields: Field, row: str = "One row.") -> Kind:
    """Return the kind of rows inside of a row, each of which a sentence describes."""
    one = record(*fields).json(row)
    return Kind(json=lambda sentence: json_types.listed(sentence, one), is_nested=True)


def record_field(
    name: str, meaning: str, *fields: Field, is_unknown: bool = False, is_optional: bool = False
) -> Field:
    """Return a field with fields inside."""
    return record(*fields)(name, meaning, is_unknown=is_unknown, is_optional=is_optional)


def rows_field(name: str, meaning: str, *fields: Field, is_optional: bool = False) -> Field:
    """Return a field with rows inside."""
    return rows(*fields)(name, meaning, is_optional=is_optional)


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
