"""The schemas as Markdown: a table of fields a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rcv_py.cli.schemas import SCHEMAS
from rcv_py.results.table import Schema, envelope, envelope_schema

_HEAD = ("| field | type | meaning |", "|---|---|---|")


def schema_sections() -> list[str]:
    """Return the lines of a page: what all documents have in common, then every document."""
    lines = ["## What every document begins with", "", *_HEAD, *_rows(envelope_schema(), ""), ""]
    for schema in SCHEMAS:
        lines += _section(schema)
    return lines


def _section(schema: Schema) -> list[str]:
    lines = [f"## {schema.id}", "", f"`rcv {schema.command}`: {schema.meaning}", ""]
    variants = schema.as_json().get("anyOf") or [schema.as_json()]
    for variant in variants:
        if len(variants) > 1:
            lines += [f"### {schema.name}: {variant['description'].rstrip('.')}", ""]
        own = {name: shape for name, shape in variant["properties"].items() if name not in envelope()}
        lines += [*_HEAD, *_rows({**variant, "properties": own}, ""), ""]
    return lines


def _rows(shape: dict[str, Any], place: str) -> Iterator[str]:
    required = shape.get("required", ())
    for name, below in shape.get("properties", {}).items():
        inner = f"{place}.{name}" if place else name
        rest = "" if name in required else " May be left out."
        yield f"| `{inner}` | {_type(below)} | {below['description']}{rest} |".replace("`|", "`\\|")
        yield from _below(below, inner)


def _below(shape: dict[str, Any], place: str) -> Iterator[str]:
    """The fields of a record, or of the records in a list; of a field that may be null as well."""
    for form in (shape, *shape.get("oneOf", ())):
        yield from _rows(form, place)
        if isinstance(form.get("items"), dict):
            yield from _below(form["items"], f"{place}[]")
        values = form.get("additionalProperties")
        if isinstance(values, dict):
            yield f"| `{place}.*` | {_type(values)} | {values['description']} |"
            yield from _below(values, f"{place}.*")


def _type(shape: dict[str, Any]) -> str:
    if "const" in shape:
        return f"`{shape['const']}`"
    if "enum" in shape:
        return ", ".join("null" if value is None else f"`{value}`" for value in shape["enum"])
    if "oneOf" in shape:
        return " or ".join(_type(form) for form in shape["oneOf"])
    found = shape["type"]
    return found if isinstance(found, str) else " or ".join(found)
