"""What every document begins with, and how a table of fields becomes a JSON Schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rcv_py.results import json_types
from rcv_py.results.field import Field, Kind, optional, record, shapes
from rcv_py.results.json_types import Shape, fixed, named, text
from rcv_py.results.kinds import TEXT, WHOLE, texts

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VALUE = {
    "type": ["string", "number", "boolean", "null", "array"],
    "description": "The value; null if the option was not given and has no default.",
}
_WAVES = (
    Field("chosen", TEXT, "What was chosen: `working`, `all`, or the id of a population"),
    Field("counted", WHOLE, "Waves whose costs are summed"),
    Field("read", WHOLE, "Waves that could be read; those that do not count still occupy units"),
    Field("traced", WHOLE, "Waves that the capture names; more than were read if files are missing"),
    Field("text", TEXT, "The choice in words"),
)
_ABOUT = (
    Field("command", TEXT, "Name of the command that printed it, without `rcv`"),
    Field(
        "arguments",
        Kind(json=lambda sentence: named(sentence, _VALUE)),
        "The options of the command, defaults included, without the output format",
    ),
    Field("captures", texts("Name of a capture."), "Names of the captures that were read"),
    Field(
        "problems",
        texts("A sentence; of several captures it begins with the name of the capture."),
        "What is wrong with the files of these captures, and so with numbers below",
    ),
    Field(
        "waves",
        record(*_WAVES),
        "Whose costs are summed, in documents of which `--waves` chooses the waves; "
        "of both sides together in a comparison, of all captures together in a list of reports",
        is_optional=True,
    ),
    Field(
        "run_files",
        texts("Path of a file."),
        "Tables of the run that were used, where the command uses them; empty if none was found",
        is_optional=True,
    ),
    Field(
        "alarm",
        TEXT,
        "That the instruction texts are missing, or belong to other code than was traced, so that "
        "nothing said of them holds; empty if they fit. In documents of commands that look",
        is_optional=True,
    ),
)
_HEAD = (
    Field("rcv", TEXT, "Version of rcv that printed it"),
    Field("about", record(*_ABOUT), "How the document came about"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form that the content of a document can have."""

    words: str  # the option that asks for it: a sentence
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind of document.

    The version grows when a reader of the old document could misread the new one: a field that is gone, is
    named otherwise or means something else.  A new field does not count.
    """

    short: str  # its name without "rcv."
    meaning: str  # what the document tells: a sentence
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
        """Name and version as documents carry them: `rcv.hotspot/1`."""
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
        return {**head, "oneOf": [self._record(form.words, form.fields) for form in self.forms]}

    def _record(self, words: str, fields: tuple[Field, ...]) -> Shape:
        return json_types.record(words, {**envelope(self.id), **shapes(fields)}, optional(fields))


def envelope(identity: str = "") -> dict[str, Shape]:
    """Return the fields that every document has; `identity` is the value of `schema`, "" for any."""
    meaning = "Name of the schema and its version, joined by a slash."
    name = (
        fixed(meaning, identity) if identity else {**text(meaning), "pattern": r"^rcv\.[a-z_.]+/[1-9][0-9]*$"}
    )
    return {"schema": name, **shapes(_HEAD)}


def envelope_schema() -> dict[str, Any]:
    """Return the JSON Schema of what all documents have in common."""
    shape = json_types.record("What every document of rcv begins with.", envelope())
    head = {"$schema": DIALECT, "$id": "urn:rcv:envelope:1", "title": "rcv.envelope/2"}
    return {**head, **shape, "additionalProperties": True}
