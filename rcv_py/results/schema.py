"""Schemas of documents: what every document begins with, and the fields of each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rcv_py.results import json_types
from rcv_py.results.field import DATA, Field, Kind, only, optional, record, shapes
from rcv_py.results.json_types import Shape, named
from rcv_py.results.kinds import TEXT, WHOLE, fixed, texts
from rcv_py.results.table import Spec

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
    Kind(json=lambda sentence: named(sentence, _VALUE))(
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


class Form(NamedTuple):
    """One form of the content of a document."""

    words: str  # its option: a sentence
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Schema:
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
            object.__setattr__(self, "command", re.split("[._]", self.short)[0])

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
        return {**head, "oneOf": [self._record(form.words[:], form.fields) for form in self.forms]}

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
