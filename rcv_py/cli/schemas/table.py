"""All schemas, and how to find one: by command, by name, or by name and version."""

from __future__ import annotations

import difflib
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.cli.schemas.capture_schemas import CAPTURE_SCHEMAS
from rcv_py.cli.schemas.cost_schemas import COST_SCHEMAS
from rcv_py.cli.schemas.depth_schemas import DEPTH_SCHEMAS
from rcv_py.cli.schemas.envelope import DIALECT, Schema, envelope_schema
from rcv_py.cli.schemas.info_schemas import INFO_SCHEMAS
from rcv_py.cli.schemas.library_schemas import LIBRARY_SCHEMAS
from rcv_py.cli.schemas.loop_schemas import LOOP_SCHEMAS
from rcv_py.cli.schemas.panel_schemas import PANEL_SCHEMAS
from rcv_py.cli.schemas.source_schemas import SOURCE_SCHEMAS
from rcv_py.cli.schemas.wait_schemas import WAIT_SCHEMAS
from rcv_py.cli.schemas.wave_schemas import WAVE_SCHEMAS

SCHEMAS: tuple[Schema, ...] = (
    *INFO_SCHEMAS,
    *CAPTURE_SCHEMAS,
    *COST_SCHEMAS,
    *DEPTH_SCHEMAS,
    *PANEL_SCHEMAS,
    *WAVE_SCHEMAS,
    *SOURCE_SCHEMAS,
    *WAIT_SCHEMAS,
    *LOOP_SCHEMAS,
    *LIBRARY_SCHEMAS,
)
ENVELOPE = "envelope"
BY_ID = {schema.id: schema for schema in SCHEMAS}


def of_command(command: str) -> tuple[Schema, ...]:
    """Return the schemas of the documents that a command prints with --json."""
    return tuple(schema for schema in SCHEMAS if schema.command == command)


def schema_document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command or of a schema; of a command with several: any of them.

    Raise UsageError for a name that is neither.
    """
    if name in (ENVELOPE, "rcv.envelope", "rcv.envelope/1"):
        return envelope_schema()
    found = list(of_command(name)) or [
        schema for schema in SCHEMAS if name in (schema.id, schema.name, schema.name.removeprefix("rcv."))
    ]
    if not found:
        _unknown(name)
    if len(found) == 1:
        return found[0].as_json()
    return {
        "$schema": DIALECT,
        "$id": f"urn:rcv:command:{name}",
        "title": f"rcv {name} --json",
        "description": f"Any document that rcv {name} prints with --json.",
        "oneOf": [schema.as_json() for schema in found],
    }


def _unknown(name: str) -> None:
    names = sorted({ENVELOPE, *(one.command for one in SCHEMAS), *(one.name for one in SCHEMAS)})
    near = difflib.get_close_matches(name, names, 1)
    hint = f"Did you mean `rcv schema {near[0]}`?" if near else "`rcv schema` lists what there is."
    raise UsageError(f"There is no schema called {name}.", hint=hint)
