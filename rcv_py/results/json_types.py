"""Building blocks of schemas: each function returns a piece of JSON Schema with a description.

A record has exactly its fields: output has no field that the schema does not name.  Units are part of the
description, since a script cannot use a number without its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Shape = dict[str, Any]
Fields = Mapping[str, Shape]


def text(meaning: str) -> Shape:
    """A text; unknown is "" unless the meaning says otherwise."""
    return {"type": "string", "description": meaning}


def flag(meaning: str) -> Shape:
    """True or false."""
    return {"type": "boolean", "description": meaning}


def whole(meaning: str, *, least: int | None = 0) -> Shape:
    """A whole number; `least` None: also negative ones."""
    limit = {} if least is None else {"minimum": least}
    return {"type": "integer", **limit, "description": meaning}


def number(meaning: str, *, least: float | None = None) -> Shape:
    """A number, whole or not."""
    limit = {} if least is None else {"minimum": least}
    return {"type": "number", **limit, "description": meaning}


def choice(meaning: str, *values: Any) -> Shape:
    """One of some values."""
    return {"enum": list(values), "description": meaning}


def fixed(meaning: str, value: Any) -> Shape:
    """Always this value: it distinguishes variants of a document."""
    return {"const": value, "description": meaning}


def maybe(shape: Shape) -> Shape:
    """The same, or null if it is unknown or does not exist."""
    meaning = shape["description"]
    if "type" in shape:
        return {**shape, "type": [shape["type"], "null"]}
    if "enum" in shape:
        return {**shape, "enum": [*shape["enum"], None]}
    return {"oneOf": [shape, {"type": "null"}], "description": meaning}


def either(meaning: str, *types: str) -> Shape:
    """A plain value of one of some types."""
    return {"type": list(types), "description": meaning}


def listed(meaning: str, item: Shape) -> Shape:
    """A list of items of one shape, in the order that the meaning says."""
    return {"type": "array", "items": item, "description": meaning}


def named(meaning: str, value: Shape) -> Shape:
    """An object whose names are data, such as counters by name."""
    return {"type": "object", "additionalProperties": value, "description": meaning}


def record(meaning: str, fields: Fields, optional: Sequence[str] = ()) -> Shape:
    """An object with exactly these fields; `optional` ones may be left out."""
    return {
        "type": "object",
        "description": meaning,
        "properties": dict(fields),
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }
