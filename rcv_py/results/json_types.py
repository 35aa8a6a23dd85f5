"""Building blocks of schemas: each function returns a piece of JSON Schema with a description.

A record has exactly its fields: output has no field that the schema does not name.  Units are part of the
description, since a script cannot use a number without its unit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Shape = dict[str, Any]
Fields = Mapping[str, Shape]


def plain(*types: str, **limits: float) -> Callable[[str], Shape]:
    """Return the function that makes the shape of plain values of one of some types, given the meaning."""
    kind = types[0] if len(types) == 1 else list(types)
    return lambda meaning: {"type": kind, **limits, "description": meaning}


def maybe(shape: Shape) -> Shape:
    """The same, or null if it is unknown or does not exist."""
    if "type" in shape:
        return {**shape, "type": [shape["type"], "null"]}
    if "enum" in shape:
        return {**shape, "enum": [*shape["enum"], None]}
    return {"oneOf": [shape, {"type": "null"}], "description": shape["description"]}


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
