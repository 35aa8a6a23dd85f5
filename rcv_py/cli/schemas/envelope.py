"""What every document begins with, and how a table of fields becomes a JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rcv_py.results.json_types import Fields, Shape, fixed, listed, named, record, text, whole

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VALUE: Shape = {
    "type": ["string", "number", "boolean", "null", "array"],
    "description": "The value; null if the option was not given and has no default.",
}
ABOUT = record(
    "How the document came about.",
    {
        "command": text("Name of the command that printed it, without `rcv`."),
        "arguments": named(
            "What the command was asked, defaults included, without the output format.", VALUE
        ),
        "captures": listed("Names of the captures that were read.", text("Name of a capture.")),
        "problems": listed(
            "What is wrong with the files of these captures, and so with numbers below.",
            text("A sentence; of several captures it begins with the name of the capture."),
        ),
        "waves": record(
            "Whose costs are summed, in documents of which `--waves` chooses the waves; "
            "of both sides together in a comparison, of all captures together in a list of reports.",
            {
                "chosen": text("What was asked for: `working`, `all`, or the id of a population."),
                "counted": whole("Waves whose costs are summed."),
                "read": whole("Waves that could be read; those that do not count still occupy units."),
                "traced": whole("Waves that the capture names; more than were read if files are missing."),
                "text": text("The choice in words."),
            },
        ),
        "run_files": listed(
            "Tables of the run that were used, where the command uses them; empty if none was found.",
            text("Path of a file."),
        ),
        "alarm": text(
            "That the instruction texts are missing, or belong to other code than was traced, so that "
            "nothing said of them holds; empty if they fit. In documents of commands that look."
        ),
    },
    optional=("waves", "run_files", "alarm"),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One form that the content of a document can have."""

    fields: Fields
    optional: tuple[str, ...] = ()
    words: str = ""  # the option that asks for it


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind of document.

    The version grows when a reader of the old document could misread the new one: a field that is gone, is
    named otherwise or means something else.  A new field does not count.
    """

    name: str  # such as rcv.hotspot
    version: int
    command: str  # that prints it
    meaning: str  # what the document tells: a sentence
    variants: tuple[Variant, ...]

    @property
    def id(self) -> str:
        """Name and version as documents carry them: `rcv.hotspot/1`."""
        return f"{self.name}/{self.version}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON Schema of the whole document, envelope included."""
        forms = [self._form(variant) for variant in self.variants]
        head = {
            "$schema": DIALECT,
            "$id": f"urn:{self.name.replace('.', ':')}:{self.version}",
            "title": self.id,
            "description": self.meaning,
        }
        if len(forms) == 1:
            return {**head, **{name: value for name, value in forms[0].items() if name != "description"}}
        return {**head, "oneOf": forms}

    def _form(self, variant: Variant) -> Shape:
        fields = {**envelope(self.id), **variant.fields}
        return record(variant.words or self.meaning, fields, variant.optional)


def envelope(identity: str = "") -> dict[str, Shape]:
    """Return the fields that every document has; `identity` is the value of `schema`, "" for any."""
    meaning = "Name of the schema and its version, joined by a slash."
    name = (
        fixed(meaning, identity) if identity else {**text(meaning), "pattern": r"^rcv\.[a-z_.]+/[1-9][0-9]*$"}
    )
    return {"schema": name, "rcv": text("Version of rcv that printed it."), "about": ABOUT}


def envelope_schema() -> dict[str, Any]:
    """Return the JSON Schema of what all documents have in common."""
    shape = record("What every document of rcv begins with.", envelope())
    head = {"$schema": DIALECT, "$id": "urn:rcv:envelope:1", "title": "rcv.envelope/1"}
    return {**head, **shape, "additionalProperties": True}


def schema(name: str, command: str, meaning: str, fields: Fields, **more: Any) -> Schema:
    """Return a schema with one variant; `more`: `version` and the names of `optional` fields."""
    variant = Variant(fields, tuple(more.get("optional", ())))
    return Schema(name, more.get("version", 1), command, meaning, (variant,))
