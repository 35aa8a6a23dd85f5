"""Costs of the program: a ranking, a histogram over its rows, and places with the cost charged to each."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.cost.explorer import CostNode, label_tree, source_tree
from rcv_py.analysis.cost.hotspot import HotspotBins
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.cost.ranking import Ranked, ranking
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, join_texts, percent
from rcv_py.features.occupancy.result import LIMITS_IN_SHORT
from rcv_py.features.source.result import text_of
from rcv_py.model.kinds import TokenKind, kind_name
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import (
    CAPTURE,
    COSTS,
    INDEX_OR_NONE,
    MEASURE,
    RANGE,
    SHARE_BASE,
    SUMS,
    TOTAL_ROWS,
    measured_in,
)
from rcv_py.results.field import DATA, EVERYWHERE, PEOPLE, REPORT, TEXT, Field, only, record_field
from rcv_py.results.schema import Schema
from rcv_py.results.table import ResultTable, Spec

NOUNS = {"instruction": "instruction", "source": "source line", "kind": "kind", "class": "class"}
_TEXT_TITLES = {"instruction": "instruction", "source": "text"}

# -- the ranking ---------------------------------------------------------------------------------------
_ISSUED = kinds.COUNT(
    "issued", "Samples in which it issued", at=TEXT, of=lambda row: count(row["latency"] - row["stall"])
)


_SHARES = {"latency": "of latency", "stall": "of stall", "idle": "of idle", "hits": "of hits"}


def ranking_spec(by: str, measure: str, sort: str = "latency") -> Spec:
    """Return the fields of a ranking; people see a name and its meaning, or a row and its instruction."""
    is_line = by == "instruction"
    data_or_all = EVERYWHERE if is_line else DATA
    first, issued = "instruction" if is_line else "name", (_ISSUED,) if measure == SAMPLES else ()
    spec = Spec(
        "hotspot",
        "The ranking, the largest first.",
        NOUNS[by],
        Field(
            "name",
            kinds.SOURCE if by == "source" else kinds.TEXT._replace(text=kind_name),
            "Name of the row: an instruction, a source place, a kind or a class",
            title=by,
            at=DATA if is_line else EVERYWHERE,
        ),
        Field(
            "text",
            kinds.INSTRUCTION if by in _TEXT_TITLES else kinds.NOTE,
            "Instruction, source text, or meaning of the kind",
            title=_TEXT_TITLES.get(by, "meaning"),
        ),
        replace(INDEX_OR_NONE, at=data_or_all),
        kinds.COUNT(
            "instructions",
            "Instructions in the row",
            at=DATA if is_line else DATA | TEXT | REPORT,
            key="rows",
        ),
        *COSTS,
        *issued,
        kinds.SHARE(
            "share_of_total",
            "Part of the total of the column that ranks the rows",
            "share" if measure == SAMPLES else _SHARES[sort],
            key="share",
        ),
        kinds.SOURCE("source", "Innermost source place as file:line; empty if there is none", at=data_or_all),
        order=f"{first} hits latency {' '.join(field.name for field in issued)} stall idle share_of_total "
        "instructions text",
    )
    return measured_in(spec, measure)


RANKING_FACTS = (
    CAPTURE,
    LIMITS_IN_SHORT("occupancy", "How many waves fit on a SIMD, as in the header of the text"),
    Field("by", kinds.choice(*NOUNS), "What a row is"),
    Field(
        "sort",
        kinds.choice("latency", "stall", "idle", "hits"),
        "Column that ranks the rows, the largest first",
    ),
    MEASURE,
    SHARE_BASE,
    record_field("totals", "Sums over the whole program", *COSTS),
    TOTAL_ROWS,
)


def ranking_table(
    trace: Trace, costs: CostColumns, by: str, sort: str
) -> tuple[ResultTable, tuple[Ranked, ...]]:
    """Return the rows whose `sort` column is not zero, the largest first, as a table and as ranked rows."""
    found = ranking(trace.code, trace.sources, costs, by, sort)
    spec = ranking_spec(by, costs.label, sort)
    if costs.label == SAMPLES and trace.code.samples_issued is None:
        spec = spec.hide(PEOPLE, "issued", "stall")  # host traps do not record it
    return ResultTable.of(spec, found), found


def totals(costs: CostColumns) -> dict[str, int]:
    """Return sums over the whole program."""
    return {name: int(getattr(costs, name).sum()) for name in SUMS}


# -- the histogram -------------------------------------------------------------------------------------


def _kinds(row: Mapping[str, Any]) -> str:
    total = sum(row["kinds"].values())
    return join_texts(
        ", ",
        (Message("{0} {1}", kind_name(kind), percent(value, total)) for kind, value in row["kinds"].items()),
    )


BINS = Spec(
    "hotspot bins",
    "One row per range, in program order.",
    "range",
    kinds.ROW("first_instruction", "First instruction, counted from 0", "first"),
    kinds.ROW("last_instruction", "Last instruction, counted from 0", "last"),
    kinds.CYCLES("total", "Latency of these instructions", title="cycles"),
    Field(
        "kinds",
        kinds.mapping(kinds.CYCLES, [kind.name for kind in TokenKind], "Latency of the kind", is_spread=True),
        "The same by kind of instruction",
        at=DATA,
    ),
    kinds.TEXT("parts", "The same by kind of instruction", title="kinds", at=TEXT, of=_kinds),
)
BINS_FACTS = (
    CAPTURE,
    kinds.WHOLE("se", "Shader engine whose waves count; null for all", is_unknown=True),
    RANGE,
    kinds.COUNT("step", "Instructions per range"),
    kinds.CYCLES("total", "All ranges"),
)


def bins_table(found: HotspotBins) -> ResultTable:
    """Return one row per bin; kinds are unknown without waves."""
    columns = {"first_instruction": found.first, "last_instruction": found.stop - 1, "total": found.totals}
    return ResultTable(BINS, columns | {"kinds": found.cycles[:, : len(TokenKind)]})


# -- places with a charge ------------------------------------------------------------------------------


def places_spec(by: str, unit: str) -> Spec:
    """Return the fields of places; `unit` is what costs are counted in."""
    return Spec(
        "hotspot places",
        "Places by cost; with one file, in the order of the file; in a tree, parents before children.",
        "place",
        *only(
            DATA,
            kinds.TEXT("name", "Name of the place"),
            kinds.NAME("path", "Path of the source file, or instructions of a block; empty if there is none"),
            INDEX_OR_NONE,
            kinds.ROW_OR_NONE("source_line", "Line of the source file, counted from 1; -1 if none"),
            kinds.WHOLE("depth", "Enclosing places, as a count; 0 without a tree"),
        ),
        kinds.WHOLE("cost", "Cost charged to it, in the unit", title=unit),
        kinds.SHARE("share_of_total", "Part of the whole program", "share"),
        kinds.NOTE(
            "place",
            "Name of the place, indented below the enclosing places",
            at=TEXT,
            of=lambda row: Message("{0}{1}", "  " * row["depth"], row["name"]),
        ),
        kinds.NAME("text", "Source text or instruction; empty if it is not known"),
        kinds.SOURCE(
            "source",
            "Source place of an instruction or a line as file:line; empty if none",
            at=DATA if by == "source" else EVERYWHERE,
        ),
    )


PLACES_FACTS = (
    CAPTURE,
    Field("by", kinds.choice("instruction", "source", "tree"), "What a row is"),
    Field(
        "charge",
        kinds.choice("self", "inclusive"),
        "Which places are charged: the innermost place, or the whole inline chain",
    ),
    kinds.FLAG("is_idle_charged", "Whether gaps before instructions are charged as well"),
    RANGE,
    Field("unit", kinds.choice("cycles", "samples"), "What the numbers count"),
    kinds.WHOLE("total", "The whole program, in the unit"),
    SHARE_BASE,
    TOTAL_ROWS,
)
SCHEMA = Schema(
    "hotspot",
    "Instructions, source lines, kinds or classes, ranked by what they cost.",
    (*RANKING_FACTS, ranking_spec("instruction", "").field()),
)
BINS_SCHEMA = Schema(
    "hotspot.bins",
    "A histogram of the program: cycles by range of instructions and kind (--bins).",
    (*BINS_FACTS, BINS.field()),
)
PLACES_SCHEMA = Schema(
    "hotspot.places",
    "Source lines, instructions, or the tree of places, with the cost charged to each (--charge).",
    (*PLACES_FACTS, places_spec("instruction", "cycles").field()),
)
PLACES_BY = ("source", "instruction", "tree")


class _Row(NamedTuple):
    name: str
    path: str
    line: int
    source_line: int
    depth: int
    cost: int
    text: str
    source: str


def places_table(
    trace: Trace, cost: np.ndarray, by: str, how: SourceCost, *, unit: str, file: str | None = None
) -> ResultTable:
    """Return places with their charge of `cost`, which is per code row; UsageError for an unknown file."""
    makers = {"source": _source_lines, "instruction": _code_lines, "tree": _tree}
    places = list(makers[by](trace, cost, how, file))
    whole = max(1, int(cost.sum()))
    return ResultTable.of(
        places_spec(by, unit), places, {"share_of_total": [row.cost / whole for row in places]}
    )


def _source_lines(trace: Trace, cost: np.ndarray, how: SourceCost, path: str | None) -> Iterator[_Row]:
    """Source lines with a cost, the costliest first; for one file, all lines with code, in order."""
    table = source_costs(trace.code, cost, how, len(trace.sources))
    if path is None:
        chosen = np.argsort(-table.cost, kind="stable")
        chosen = chosen[table.cost[chosen] > 0]
    else:
        chosen = np.arange(len(table))[table.lines_of(_file(trace, path))]
    for row in chosen.tolist():
        file, line = int(table.file[row]), int(table.line[row])
        place = f"{trace.sources[file].path}:{line}"
        yield _Row(
            place,
            trace.sources[file].path,
            -1,
            line,
            0,
            int(table.cost[row]),
            text_of(trace, file, line).strip(),
            place,
        )


def _file(trace: Trace, path: str) -> int:
    found = next((at for at, source in enumerate(trace.sources) if source.path == path), None)
    if found is None:
        raise UsageError(
            Message("No code came from {0}.", path), hint="Name a file as `rcv hotspot --by source` does."
        )
    return found


def _code_lines(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[_Row]:
    for row in np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))].tolist():
        text, source = trace.code.text[row], source_of(trace, row)
        yield _Row(Message("instruction {0}", row), "", row, -1, 0, int(cost[row]), text, source)


def _tree(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[_Row]:
    has_sources = len(trace.code.chain_file) > 0
    root = source_tree(trace.code, trace.sources, cost, how) if has_sources else label_tree(trace, cost)
    return _walk(root, -1)


def _walk(place: CostNode, depth: int) -> Iterator[_Row]:
    if depth >= 0:
        instruction, line = (place.line, -1) if place.file < 0 else (-1, place.line)
        yield _Row(place.name, place.tip, instruction, line, depth, place.cost, "", "")
    for child in place.children:
        yield from _walk(child, depth + 1)
