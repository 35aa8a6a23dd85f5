"""The published schemas of `--json`, collected from the modules that declare them."""

import difflib
from importlib import import_module
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.base.manifest import schema_modules
from rcv_py.base.text import Message
from rcv_py.results.table import DIALECT, Schema, envelope_schema

ENVELOPE = "envelope"
OF_THE_PROGRAM = ("rcv_py.results.profile", "rcv_py.results.written")
_MODULES = map(import_module, (*OF_THE_PROGRAM, *schema_modules()))
_FOUND = [one for module in _MODULES for one in vars(module).values() if isinstance(one, Schema)]
BY_ID = {schema.id: schema for schema in sorted(_FOUND, key=lambda schema: schema.short)}
SCHEMAS = tuple(BY_ID.values())


def schema_document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command or of a schema; for a command with several, any of them.

    Raise UsageError for a name that is neither.
    """
    if name in (ENVELOPE, "rcv.envelope", "rcv.envelope/2"):
        return envelope_schema()
    found = [one for one in SCHEMAS if one.command == name]
    found = found or [one for one in SCHEMAS if name in (one.id, one.name, one.name.removeprefix("rcv."))]
    if not found:
        names = sorted({ENVELOPE, *(one.command for one in SCHEMAS), *(one.name for one in SCHEMAS)})
        near = difflib.get_close_matches(name, names, 1)
        hint = Message("Did you mean `rcv schema {0}`?", *near) if near else "`rcv schema` lists all of them."
        raise UsageError(Message("There is no schema called {0}.", name), hint=hint)
    if len(found) == 1:
        return found[0].as_json()
    return {
        "$schema": DIALECT,
        "$id": f"urn:rcv:command:{name}",
        "title": Message("rcv {0} --json", name),
        "description": Message("Any document that rcv {0} prints with --json.", name),
        "oneOf": [schema.as_json() for schema in found],
    }
