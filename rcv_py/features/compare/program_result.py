"""Two builds of a kernel, before any GPU has run the second: what each takes, and what differs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.compare.align import Fate
from rcv_py.analysis.compare.programs import ProgramChange, block_changes
from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.instruction_classes import InstructionClass
from rcv_py.base.text import Message, capitalized, some
from rcv_py.features.compare.result import LISTING
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import Field, unknown
from rcv_py.results.places import sources
from rcv_py.results.table import ResultTable, Schema, Spec, form

_CHANGES = (Fate.CHANGED, Fate.MOVED, Fate.INSERTED, Fate.REMOVED)
WORSE = {"registers": "more registers", "spills": "more spills", "waves": "fewer waves of a SIMD"}
_WORSE = kinds.texts("One of registers, spills and waves.")("worse", "What B is worse in")
_MEASURES = (  # attribute of ProgramFacts, what it is
    ("instructions", "Instructions"),
    ("vgprs", "Vector registers of a lane"),
    ("held", "Vector registers that must be held, at most"),
    ("sgprs", "Scalar registers of a wave"),
    ("lds", "LDS of a workgroup, in bytes"),
    ("scratch", "Scratch memory of a lane, in bytes"),
    ("spills", "Instructions that access scratch memory"),
    ("spilled_vgprs", "Spilled vector registers"),
    ("spilled_sgprs", "Spilled scalar registers"),
    ("waves", "Waves that a SIMD has room for"),
)
_AB = unknown(kinds.COUNT("a", "Of A; null if unknown", "A"), kinds.COUNT("b", "Of B; null if unknown", "B"))
MEASURES = Spec(
    "compare build measures",
    "One row per measure of the kernel, and per class of instructions that either build has.",
    "measure",
    kinds.NOTE("measure", "What is counted"),
    *_AB,
    replace(kinds.NUMBER, text="{:+,.0f}".format).maybe("delta", "B less A; null if either is unknown"),
)
_SIDES = {
    "instructions": "instructions",
    "vgprs": "VGPRs",
    "sgprs": "SGPRs",
    "lds": "LDS",
    "scratch": "scratch",
    "waves": "waves",
}
ROWS = Spec(
    "compare build instructions",
    "One row per instruction that differs, in the order of B; of a recorded A the costliest first.",
    "instruction",
    *(LISTING[name] for name in ("instruction_a", "instruction_b", "status", "text_a", "text_b")),
    kinds.COUNT.maybe("cycles_a", "Recorded latency and idle of A; null if A has not run", "cycles A"),
    kinds.SHARE.maybe("share_of_a", "Part of all recorded cycles of A", "of A"),
    common.SOURCE_PLACE,
    nothing="Both builds have the same instructions.",
)
BLOCKS = Spec(
    "compare build blocks",
    "One row per block of B with the block of A that it comes from, then blocks only in A.",
    "block",
    kinds.TEXT("name_a", "Block of A; empty if there is none", "block A"),
    kinds.TEXT("name_b", "Block of B; empty if there is none", "block B"),
    kinds.COUNT.maybe("instructions_a", "Instructions of it in A", "instructions A"),
    kinds.COUNT.maybe("instructions_b", "Instructions of it in B", "instructions B"),
    kinds.MEAN_CYCLES.maybe("cycles_a", "Modelled time of one execution in A", "cycles A"),
    kinds.MEAN_CYCLES.maybe("cycles_b", "Modelled time of one execution in B", "cycles B"),
    common.SOURCE_PLACE,
    note="Cycles are modelled: one wave alone, usual latencies of loads.",
)
KERNELS = Spec(
    "compare builds",
    "One row per kernel that both builds have, changed ones first.",
    "kernel",
    kinds.CODE("kernel", "Name of the kernel"),
    kinds.TEXT("target", "GPU that both are for"),
    _WORSE,
    *unknown(
        *(
            kinds.COUNT(
                f"{name}_{side}", f"{title} of {side.upper()}; null if unknown", f"{title} {side.upper()}"
            )
            for name, title in _SIDES.items()
            for side in "ab"
        )
    ),
    kinds.COUNT("changed", "Instructions that differ"),
    nothing="The builds have no kernel in common.",
)
FACTS = (
    kinds.TEXT("a", "Path of build A, or of the capture"),
    kinds.TEXT("b", "Path of build B"),
    kinds.TEXT("sentence", "What differs, in a sentence"),
    _WORSE,
    Field("unknown", kinds.texts("One of registers, spills and waves."), "What could not be compared"),
    kinds.FLAG("is_same_program", "Whether both have the same instructions"),
    MEASURES.field("measures"),
)
BY = {"instruction": ROWS, "block": BLOCKS, "class": MEASURES}
SCHEMA = Schema(
    "compare.build",
    "Two builds of a kernel, of which B has not run (rcv compare BUILD_A BUILD_B).",
    forms=tuple(form(f"--by {by}.", FACTS, "by", by, spec) for by, spec in BY.items()),
)
SEVERAL_SCHEMA = Schema(
    "compare.builds",
    "The kernels of two builds with several (rcv compare BUILD_A BUILD_B).",
    (
        *FACTS[:3],
        Field("only_a", kinds.texts("Name and target."), "Kernels only in A"),
        Field("only_b", kinds.texts("Name and target."), "Kernels only in B"),
        KERNELS.field("kernels"),
    ),
    command="compare",
)


def verdict(found: ProgramChange) -> str:
    """Return what differs, in a sentence."""
    if found.align.is_same:
        return "Both builds have the same instructions."
    parts = {fate.name.lower(): found.count(fate) for fate in _CHANGES}
    changes = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count) or "0 changed"
    worse = some([WORSE[name] for name in found.worse], len(WORSE))
    text = Message("Instructions of B: {0}.", changes)
    return Message("{0} B has {1}.", text, worse) if worse else text


def measure_table(found: ProgramChange) -> ResultTable:
    """Return one row per measure, and per class of instructions."""
    a, b = found.facts
    rows = [(text, getattr(a, name), getattr(b, name)) for name, text in _MEASURES]
    classes = [at for at in InstructionClass if a.classes[at] or b.classes[at]]
    rows += [(capitalized(at.text), int(a.classes[at]), int(b.classes[at])) for at in classes]
    return ResultTable.of_rows(
        MEASURES, [(text, old, new, new - old if min(old, new) >= 0 else np.nan) for text, old, new in rows]
    )


def row_table(found: ProgramChange) -> ResultTable:
    """Return one row per instruction that differs; recorded costs of A first, where A has run."""
    row_a, row_b = found.align.listing
    fate = np.where(row_b >= 0, found.align.fate_b[row_b], found.align.fate_a[row_a])
    is_label = np.where(row_b >= 0, found.code[1].is_label[row_b], found.code[0].is_label[row_a])
    kept = (fate != Fate.SAME) & ~is_label
    row_a, row_b, fate = row_a[kept], row_b[kept], fate[kept]
    cost = np.full(len(row_a), np.nan)
    total = np.nan
    if not found.a.is_static:
        costs = cost_columns(found.a.code)
        total = max(1, int(np.where(found.a.code.is_label, 0, costs.cost).sum()))
        cost = np.where(row_a >= 0, costs.cost[row_a], np.nan)
        order = np.argsort(-np.nan_to_num(cost, nan=-1.0), kind="stable")
        row_a, row_b, fate, cost = row_a[order], row_b[order], fate[order], cost[order]
    places = sources(found.a, row_a.clip(0)).values(), sources(found.b, row_b.clip(0)).values()
    return ResultTable(
        ROWS,
        {
            "instruction_a": row_a,
            "instruction_b": row_b,
            "status": [Fate(one).name.lower() for one in fate.tolist()],
            "text_a": _texts(found.a, row_a),
            "text_b": _texts(found.b, row_b),
            "cycles_a": cost,
            "share_of_a": cost / total,
            "source": np.where(row_b >= 0, places[1], places[0]),
        },
    )


def _texts(trace: Trace, rows: np.ndarray) -> list[str]:
    return [trace.code.text[row].strip() if row >= 0 else "" for row in rows.tolist()]


def block_table(found: ProgramChange) -> ResultTable:
    """Return one row per block of B, and per block only in A."""
    a, b = (blocks(code) for code in found.code)
    rows = block_changes(found, a.of_row, b.of_row)
    sides = tuple(zip((found.a, found.b), found.code, (a, b), (rows.block_a, rows.block_b), strict=True))
    numbers = [
        np.append(np.bincount(table.of_row[~code.is_label], minlength=len(table)), -1)[at]
        for _, code, table, at in sides
    ]
    places = [sources(trace, np.append(table.head, 0)[at]).values() for trace, _, table, at in sides]
    return ResultTable(
        BLOCKS,
        {
            "name_a": [a.name[at] if at >= 0 else "" for at in rows.block_a.tolist()],
            "name_b": [b.name[at] if at >= 0 else "" for at in rows.block_b.tolist()],
            "instructions_a": numbers[0],
            "instructions_b": numbers[1],
            "cycles_a": rows.cycles_a,
            "cycles_b": rows.cycles_b,
            "source": np.where(rows.block_b >= 0, places[1], places[0]),
        },
    )


TABLES = {"instruction": row_table, "block": block_table, "class": measure_table}


def build_facts(found: ProgramChange) -> dict[str, Any]:
    """Return the fields of the document besides the rows."""
    return {
        "a": str(found.a.path),
        "b": str(found.b.path),
        "sentence": verdict(found),
        "worse": list(found.worse),
        "unknown": list(found.unknown),
        "is_same_program": found.align.is_same,
        "measures": measure_table(found).rows(),
    }


def kernel_table(found: Sequence[ProgramChange]) -> ResultTable:
    """Return one row per pair of kernels, worse ones first, then changed ones."""
    changed = [0 if one.align.is_same else sum(map(one.count, _CHANGES)) for one in found]
    order = sorted(range(len(found)), key=lambda at: (-len(found[at].worse), -changed[at]))
    pairs = [found[at] for at in order]
    columns: dict[str, Any] = {
        "kernel": [one.b.kernel_name for one in pairs],
        "target": [one.b.target for one in pairs],
        "worse": [list(one.worse) for one in pairs],
        "changed": [changed[at] for at in order],
    }
    for name in _SIDES:
        for side, at in (("a", 0), ("b", 1)):
            columns[f"{name}_{side}"] = [getattr(one.facts[at], name) for one in pairs]
    return ResultTable(KERNELS, columns)
