"""The document of loops: one variant a table that `rcv loops --show` has."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import Schema, Variant
from rcv_py.results.field import shapes
from rcv_py.results.json_types import fixed
from rcv_py.results.loops import FACTS, HEAD, TABLES

LOOPS = Schema(
    "rcv.loops",
    1,
    "loops",
    "Iterations of loops, phases of waves, and what costs cycles in and around them.",
    tuple(
        Variant(
            {**shapes(HEAD + FACTS), "show": fixed("Which table.", name), "rows": spec.shape},
            words=f"{spec.row[:-1]}: --show {name}.",
        )
        for name, (spec, _) in TABLES.items()
    ),
)

LOOP_SCHEMAS = (LOOPS,)
