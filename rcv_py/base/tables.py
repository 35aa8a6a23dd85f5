"""Tables of texts and rules that people edit: TOML files in `resources/tables`."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.base.resources import resource


@cache
def table(name: str) -> dict[str, Any]:
    """Return what `resources/tables/NAME.toml` holds, in its order; the caller does not change it."""
    return tomllib.loads(Path(resource(f"tables/{name}.toml") or "").read_text(encoding="utf-8"))
