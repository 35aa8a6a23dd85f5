"""A schema as a flat list of fields and types, which people can compare line by line."""

import json
from collections.abc import Iterator
from typing import Any


def outline(schema: dict[str, Any]) -> dict[str, str]:
    """Return the type of every field by its place; `[]` stands for an item, `*` for any name."""
    return dict(sorted(_lines(schema, "")))


def _lines(shape: dict[str, Any], place: str) -> Iterator[tuple[str, str]]:
    for at, variant in enumerate(shape.get("anyOf", shape.get("oneOf", ()))):
        yield from _lines(variant, f"{place}|{at}")
    required = set(shape.get("required", ()))
    for name, below in shape.get("properties", {}).items():
        inner = f"{place}.{name}"
        yield inner, _type(below) + ("" if name in required else ", may be left out")
        yield from _lines(below, inner)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        below = shape.get(key)
        if isinstance(below, dict):
            yield place + mark, _type(below)
            yield from _lines(below, place + mark)


def _type(shape: dict[str, Any]) -> str:
    for key in ("const", "enum"):
        if key in shape:
            return f"{key} {json.dumps(shape[key])}"
    found = shape.get("type", "one of")
    return found if isinstance(found, str) else " or ".join(found)
