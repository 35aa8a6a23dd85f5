"""A result as columns, the declaration of the columns, and the documents that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import force_setattr, replace

from rcv_py.base.errors import UsageError
from rcv_py.base.record import Record, Value
from rcv_py.base.text import Message
from rcv_py.results import json_types
from rcv_py.results.field import DATA, Field, ShownIn, of_analysis, only, optional, record, rows_field, shapes
from rcv_py.results.json_types import Shape, named
from rcv_py.results.kinds import TEXT, WHOLE, fixed, texts


class DictionaryColumn(Record):
    """A column of texts that repeat: row i holds `texts[code[i]]`."""

    texts: Sequence[str]
    code: np.ndarray  # whole numbers

    def __len__(self) -> int:
        return len(self.code)

    def __getitem__(self, rows: slice | np.ndarray) -> DictionaryColumn:
        return DictionaryColumn(self.texts, self.code[rows])

    def values(self) -> np.ndarray:
        """Return the text of each row, dtype object."""
        texts = np.empty(len(self.texts), dtype=object)
        texts[:] = list(self.texts)
        return texts[self.code] if len(self) else texts[:0]


class ColumnMeaning(NamedTuple):
    """Unit and meaning of a column; numbers without a unit are names of places."""

    unit: str
    text: str


UNKNOWN = ColumnMeaning("", "")
Column = np.ndarray | DictionaryColumn
Columns = Mapping[str, Column | Sequence[Any]]


class Spec:
    """The declaration of a table: what its rows are, and every field; it never changes.

    Orders are names with spaces between them: the fields that come first.
    """

    def __init__(
        self,
        name: str,
        row: str,
        noun: str,
        *fields: Field,
        order: str = "",
        window: str = "",
        nothing: str = "",
        note: str = "",
        csv: str = "",
    ) -> None:
        self.name = name  # such as "loops iterations": how the reference of the API calls it
        self.row = row  # a sentence: "One row per loop."
        self.noun = noun  # what one row is: "loop"
        self.fields = fields  # in the order of documents and CSV
        self.order = tuple(order.split())  # for people, if different
        self.window = tuple(window.split())  # the same for tables of the window, if different
        self.nothing = nothing  # a sentence: why there may be no rows
        self.note = note  # a sentence for people: how the numbers are meant
        self.csv = tuple(csv.split())  # columns of CSV, if not the plain ones of documents

    def but(self, **changes: Any) -> Spec:
        """Return the same spec with some other attributes."""
        spec = Spec.__new__(Spec)
        vars(spec).update({**vars(self), **changes})
        return spec

    def __getstate__(self) -> dict[str, Any]:
        # The functions that write values cannot be pickled; units, meanings and types remain.
        fields = []
        for field in self.fields:
            kind = replace(field.kind, json=dict, text=str, document=field.kind.document and dict)
            may_lack = field.is_optional or field.of is not None
            fields.append(replace(field, kind=kind, of=None, is_optional=may_lack))
        return {**vars(self), "fields": tuple(fields)}

    def __getitem__(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)

    def __contains__(self, name: str) -> bool:
        return any(field.name == name for field in self.fields)

    def at(self, where: ShownIn) -> tuple[Field, ...]:
        """Return the fields shown there, in the order for people or for documents."""
        order = self.window or self.order if where is ShownIn.WINDOW else self.order
        order = () if where is DATA else order
        first = [self[name] for name in order]
        rest = [field for field in self.fields if field.name not in order]
        return tuple(field for field in (*first, *rest) if where in field.at)

    def hide(self, where: ShownIn, *names: str) -> Spec:
        """Return a spec that does not show these fields there."""
        fields = (replace(one, at=one.at & ~where) if one.name in names else one for one in self.fields)
        return self.but(fields=tuple(fields))

    def field(self, name: str = "rows") -> Field:
        """Return the field of a document that holds its rows."""
        return rows_field(name, self.row.removesuffix("."), *self.at(DATA))

    def meaning(self, column: str) -> ColumnMeaning:
        """Return the unit and meaning of a column, or of a column `field_key` of numbers by name."""
        for field in self.fields:
            if field.name == column:
                return ColumnMeaning(field.kind.unit, field.meaning)
            if field.kind.names and column.startswith(f"{field.name}_"):
                key = column.removeprefix(f"{field.name}_")
                return ColumnMeaning(field.kind.unit, f"{field.meaning}: {key}")
        return UNKNOWN

    def lists(self) -> dict[str, str]:
        """Return the columns that hold lists, and what is in them: `string` or `int64`."""
        return {field.name: field.kind.items for field in self.fields if field.kind.items}

    def with_field(self, field: Field) -> Spec:
        """Return a spec with one more field."""
        return self.but(fields=(*self.fields, field))


class ResultTable:
    """Columns of equal length, described by the fields of the spec; a table never changes.

    A column is an array of its kind's dtype ([n], or [n, names] of a mapping), an array of texts, or
    `DictionaryColumn`.  Unknown cells are nan, -1 for code rows, and "".
    """

    def __init__(self, spec: Spec, columns: Columns) -> None:
        self.spec = spec
        made = {one.name: _column(one, columns[one.name]) for one in spec.fields if one.name in columns}
        self.columns: Mapping[str, Column] = MappingProxyType(made)
        needed = [field.name for field in spec.fields if field.of is None and not field.is_optional]
        lacking = [name for name in needed if name not in made]
        unknown = set(columns) - set(made)
        lengths = {len(column) for column in made.values()}
        if lacking or unknown or len(lengths) > 1:
            raise ValueError(f"{spec.name}: lacking {lacking}, unknown {sorted(unknown)}, lengths {lengths}")
        self._length = max(lengths, default=0)

    @classmethod
    def of(cls, spec: Spec, found: object, columns: Columns = MappingProxyType({})) -> ResultTable:
        """Return the table of an analysis result: columns as attributes, or a sequence of rows.

        A field is not read if it is in `columns`, is optional or is derived from others.
        """
        fields = [field for field in spec.fields if not (field.of or field.is_optional)]
        fields = [field for field in fields if field.name not in columns]
        if not isinstance(found, Sequence) or hasattr(found, "_fields"):  # the latter is a NamedTuple
            return cls(spec, {**of_analysis(fields, found), **columns})
        return cls(spec, {field.name: [*map(field.of_analysis, found)] for field in fields} | {**columns})

    @classmethod
    def of_rows(cls, spec: Spec, rows: Sequence[Sequence[object]]) -> ResultTable:
        """Return the table of rows of plain values, in the order of the fields."""
        columns = zip(*rows, strict=True) if rows else [()] * len(spec.fields)
        return cls(spec, dict(zip((field.name for field in spec.fields), columns, strict=True)))

    def __reduce__(self) -> tuple[Any, ...]:
        return ResultTable, (self.spec, {**self.columns})

    def __len__(self) -> int:
        return self._length

    def fields(self, where: ShownIn) -> tuple[Field, ...]:
        """Return the fields that are shown there, without optional ones that the table lacks."""
        return tuple(one for one in self.spec.at(where) if one.name in self.columns or one.of is not None)

    def __getitem__(self, rows: np.ndarray | slice) -> ResultTable:
        """Return the table of some rows, given as a mask, indices or a slice."""
        return ResultTable(self.spec, {name: column[rows] for name, column in self.columns.items()})

    def head(self, rows: int | None) -> ResultTable:
        """Return the first rows; None or 0: all of them."""
        return self if not rows else self[:rows]

    def sorted(self, by: str | None, *, descending: bool = True) -> ResultTable:
        """Return the rows sorted by a field, stable, unknown values last; without a field, unchanged.

        Raise UsageError if there is no such field, or it has no order.
        """
        return self[self.order(by, descending=descending)] if by else self

    def order(self, by: str, *, descending: bool = True) -> np.ndarray:
        """Return the numbers of the rows in order of a field."""
        names = [field.name for field in self.spec.fields if field.is_sortable and field.name in self.columns]
        if by not in names:
            text = Message("There is no column {0!r} to sort by.", by)
            raise UsageError(text, hint=Message("Columns: {0}.", ", ".join(names)))
        rank, is_known = self._ranks(by)
        order = np.argsort(-rank if descending else rank, kind="stable")
        return np.concatenate([order[is_known[order]], order[~is_known[order]]])

    def _ranks(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers that sort like the values (equal for equal values), and which values are known."""
        column = self.columns[name]
        if isinstance(column, DictionaryColumn):
            _, rank = np.unique(np.array([*column.texts, ""], dtype=object), return_inverse=True)
            return rank.reshape(-1)[column.code], np.ones(len(self), dtype=bool)
        is_known = np.ones(len(self), dtype=bool)
        if column.dtype.kind == "f":
            is_known = np.isfinite(column)
        elif self.spec[name].is_unknown and column.dtype.kind == "i":
            is_known = column >= 0
        return np.unique(column, return_inverse=True)[1].reshape(-1), is_known

    def plain(self, name: str) -> list[Any]:
        """Return a column as documents have it."""
        column = self.columns[name]
        if isinstance(column, DictionaryColumn):
            return [column.texts[code] for code in column.code.tolist()]
        return self.spec[name].plain(column)

    def csv(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names and the rows of a spreadsheet; nested values are omitted."""
        if self.spec.csv:
            return [*self.spec.csv], self.flat(self.spec.csv)
        columns: dict[str, list[Any]] = {}
        for field in self.fields(DATA):
            if field.kind.is_plain:
                columns[field.name] = self._flat(field.name)
            elif field.kind.is_spread:
                columns |= self.by_key(field, "")
        return list(columns), list(zip(*columns.values(), strict=True))

    def by_key(self, field: Field, prefix: str) -> dict[str, Any]:
        """Return a column for each name that occurs in a mapping, the largest sum first."""
        values = self.columns[field.name]
        assert isinstance(values, np.ndarray)
        sums = values.sum(axis=0)
        order = [at for at in np.argsort(-sums, kind="stable").tolist() if sums[at]]
        return {f"{prefix}{field.kind.names[at]}": values[:, at] for at in order}

    def flat(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return rows of these columns for a spreadsheet: objects become text."""
        return list(zip(*map(self._flat, names), strict=True))

    def _flat(self, name: str) -> list[Any]:
        kind, column = self.spec[name].kind, self.columns[name]
        if kind.document is None or isinstance(column, DictionaryColumn):
            return self.plain(name)
        return [*map(kind.text, column)]

    def markdown(self) -> str:
        """Return the fields that reports show, as a Markdown table."""
        from rcv_py.base.markdown import md_table, md_text  # noqa: PLC0415 - a window does without

        fields = [(field.title, field.is_number) for field in self.fields(ShownIn.REPORT)]
        rows = [[*map(md_text, cells)] for cells in self.cells(ShownIn.REPORT)]
        return "".join(f"{line}\n" for line in md_table(fields, rows))

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of documents: plain values by the names of fields."""
        return self.records(field.name for field in self.fields(DATA))

    def cells(self, where: ShownIn, unknown: str = "") -> list[list[str]]:
        """Return rows of texts for people, in the order of `fields(where)`."""
        fields = self.fields(where)
        return [
            [field.of(row) if field.of else field.text(row[field.name], unknown) for field in fields]
            for row in self.records()
        ]

    def records(self, names: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Return rows of plain values of these columns; without names, of all, including text for people."""
        names = tuple(names) or tuple(self.columns)
        columns = [self.plain(name) for name in names]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _column(field: Field, values: Column | Sequence[Any]) -> Column:
    if isinstance(values, DictionaryColumn):
        return DictionaryColumn(values.texts, read_only(values.code))
    if field.dtype is not None:
        shape = (len(values), len(field.kind.names)) if field.kind.names else (len(values),)
        column = np.asarray(values, dtype=field.dtype).reshape(shape)
        if field.is_nan and not field.kind.is_signed:
            column = np.where(column < 0, np.nan, column)
        return read_only(column)
    texts = np.empty(len(values), dtype=object)
    texts[:] = values if isinstance(values, np.ndarray) else list(values)
    return read_only(texts)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VALUE = {
    "type": ["string", "number", "boolean", "null", "array"],
    "description": "The value; null if the option was not given and has no default.",
}
_WAVES = only(
    DATA,
    TEXT("chosen", "What was chosen: `working`, `all`, or the id of a population"),
    WHOLE("counted", "Waves whose costs are summed"),
    WHOLE("read", "Waves that could be read; waves that are not counted still occupy units"),
    WHOLE("traced", "Waves that the capture names; more than were read if files are missing"),
    TEXT("text", "The choice in words"),
)
_ABOUT = only(
    DATA,
    TEXT("command", "Name of the command that printed it, without `rcv`"),
    replace(TEXT, json=lambda sentence: named(sentence, _VALUE))(
        "arguments", "The options of the command, defaults included, without the output format"
    ),
    texts("Name of a capture.")("captures", "Names of the captures that were read"),
    texts("A sentence; of several captures it begins with the name of the capture.")(
        "problems", "Problems of the files of these captures, which affect the numbers below"
    ),
    record(*_WAVES)(
        "waves",
        "Waves whose costs are summed, in documents whose waves `--waves` chooses; over "
        "both sides in a comparison, over all captures in a list of reports",
        is_optional=True,
    ),
    texts("Path of a file.")(
        "run_files",
        "Tables of the run that were used, where the command uses them; empty if none was found",
        is_optional=True,
    ),
    TEXT(
        "alarm",
        "Warning that the instruction texts are missing or belong to other code than was traced, so that no "
        "statement about them holds; empty if they fit. In documents of commands that check this",
        is_optional=True,
    ),
)
_HEAD = only(
    DATA,
    TEXT("rcv", "Version of rcv that printed it"),
    record(*_ABOUT)("about", "How the document came about"),
)


class Form(Value):
    """One form of the content of a document."""

    words: str  # its option: a sentence
    fields: tuple[Field, ...]


class Schema(Value):
    """One kind of document.

    The version grows when a reader of the old document could misread the new one: a field was removed,
    renamed or changed its meaning.  A new field does not count.
    """

    short: str  # its name without "rcv."
    meaning: str  # what the document contains: a sentence
    fields: tuple[Field, ...] = ()  # of a document that has one form
    forms: tuple[Form, ...] = ()  # of one that has several
    version: int = 2
    command: str = ""  # that prints it; by default the first word of its name

    def __post_init__(self) -> None:
        if not self.command:
            force_setattr(self, "command", re.split("[._]", self.short)[0])

    @property
    def name(self) -> str:
        """Its name: `rcv.hotspot`."""
        return f"rcv.{self.short}"

    @property
    def id(self) -> str:
        """Name and version as in documents: `rcv.hotspot/1`."""
        return f"{self.name}/{self.version}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON Schema of the whole document, envelope included."""
        head = {
            "$schema": DIALECT,
            "$id": f"urn:{self.name.replace('.', ':')}:{self.version}",
            "title": self.id,
            "description": self.meaning,
        }
        if not self.forms:
            return {**self._record(self.meaning, self.fields), **head}
        return {**head, "anyOf": [self._record(form.words[:], form.fields) for form in self.forms]}

    def _record(self, words: str, fields: tuple[Field, ...]) -> Shape:
        return json_types.record(words, {**envelope(self.id), **shapes(fields)}, optional(fields))


def envelope(identity: str = "") -> dict[str, Shape]:
    """Return the fields that every document has; `identity` is the value of `schema`, "" for any."""
    meaning = "Name of the schema and its version, joined by a slash."
    any_name = {"type": "string", "description": meaning, "pattern": r"^rcv\.[a-z_.]+/[1-9][0-9]*$"}
    name = {"const": identity, "description": meaning} if identity else any_name
    return {"schema": name, **shapes(_HEAD)}


def envelope_schema() -> dict[str, Any]:
    """Return the JSON Schema of the fields common to all documents."""
    shape = json_types.record("What every document of rcv begins with.", envelope())
    head = {"$schema": DIALECT, "$id": "urn:rcv:envelope:1", "title": "rcv.envelope/2"}
    return {**head, **shape, "additionalProperties": True}


def form(words: str, facts: Iterable[Field], name: str, kind: str, spec: Spec) -> Form:
    """Return the form that the value `kind` of this field distinguishes from the others."""
    return Form(words, (*facts, fixed(kind)(name, "What a row is"), spec.field()))
