"""Costs of the program: a ranking, a histogram over its rows, and places with the cost charged to each."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.cost.explorer import CostNode, label_tree, source_tree
from rcv_py.analysis.cost.hotspot import HotspotBins
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.cost.ranking import Ranked, ranking
from rcv_py.analysis.cost.source_costs import source_costs
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, join_texts, percent
from rcv_py.features.occupancy.result import LIMITS_IN_SHORT
from rcv_py.features.source.result import text_of
from rcv_py.model.kinds import TokenKind, kind_name
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.common import CAPTURE, COSTS, MEASURE, RANGE, SHARE_BASE, SUMS, TOTAL_ROWS
from rcv_py.results.field import DATA, EVERYWHERE, PEOPLE, REPORT, TEXT, Field, only, record_field, unknown
from rcv_py.results.table import ResultTable, Schema, Spec

NOUNS = {"instruction": "instruction", "source": "source line", "kind": "kind", "class": "class"}
_TEXT_TITLES = {"instruction": "instruction", "source": "text"}
_ISSUED = kinds.COUNT(
    "issued", "Samples in which it issued", at=TEXT, of=lambda row: count(row["latency"] - row["stall"])
)
_NAME = "Name of the row: an instruction, a source place, a kind or a class"
_RANKED = "Part of the total of the column that ranks the rows"
_NO_WINDOW = DATA | TEXT | REPORT
_SHARES = {"latency": "of latency", "stall": "of stall", "idle": "of idle", "hits": "of hits"}


def ranking_spec(by: str, measure: str, sort: str = "latency") -> Spec:
    """Return the fields of a ranking; people see a name and its meaning, or a row and its instruction."""
    is_line = by == "instruction"
    of_line, of_others = (EVERYWHERE, DATA) if is_line else (DATA, EVERYWHERE)
    first, issued = "instruction" if is_line else "name", (_ISSUED,) if measure == SAMPLES else ()
    name = kinds.SOURCE if by == "source" else replace(kinds.TEXT, text=kind_name)
    text, title = kinds.INSTRUCTION if by in _TEXT_TITLES else kinds.NOTE, _TEXT_TITLES.get(by, "meaning")
    rows_at, share = of_others & _NO_WINDOW, "share" if measure == SAMPLES else _SHARES[sort]
    spec = Spec(
        "hotspot",
        "The ranking, the largest first.",
        NOUNS[by],
        Field("name", name, _NAME, title=by, at=of_others),
        Field("text", text, "Instruction, source text, or meaning of the kind", title=title),
        replace(common.INDEX_OR_NONE, at=of_line),
        kinds.COUNT("instructions", "Instructions in the row", at=rows_at, key="rows"),
        *COSTS,
        *issued,
        kinds.SHARE("share_of_total", _RANKED, share, key="share"),
        kinds.SOURCE("source", "Innermost source place as file:line; empty if there is none", at=of_line),
        order=f"{first} hits latency{' issued' * len(issued)} stall idle share_of_total instructions text",
    )
    return common.measured_in(spec, measure)


RANKING_FACTS = (
    CAPTURE,
    LIMITS_IN_SHORT("occupancy", "How many waves fit on a SIMD, as in the header of the text"),
    Field("by", kinds.choice(*NOUNS), "What a row is"),
    Field("sort", kinds.choice(*_SHARES), "Column that ranks the rows, the largest first"),
    MEASURE,
    SHARE_BASE,
    record_field("totals", "Sums over the whole program; null without instructions", *unknown(*COSTS)),
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


def totals(costs: CostColumns) -> dict[str, int | None]:
    """Return sums over the whole program; None without instructions."""
    return common.known({name: int(getattr(costs, name).sum()) for name in SUMS}, len(costs.hits) > 0)


def _kinds(row: Mapping[str, Any]) -> str:
    total = sum(row["kinds"].values())
    shares = ((kind_name(kind), percent(value, total)) for kind, value in row["kinds"].items())
    return join_texts(", ", (Message("{0} {1}", *one) for one in shares))


_KINDS = kinds.mapping(kinds.CYCLES, [kind.name for kind in TokenKind], "Latency of the kind", is_spread=True)
BINS = Spec(
    "hotspot bins",
    "One row per range, in program order.",
    "range",
    kinds.ROW("first_instruction", "First instruction, counted from 0", "first"),
    kinds.ROW("last_instruction", "Last instruction, counted from 0", "last"),
    kinds.CYCLES("total", "Latency of these instructions", title="cycles"),
    Field("kinds", _KINDS, "The same by kind of instruction", at=DATA),
    kinds.TEXT("parts", "The same by kind of instruction", title="kinds", at=TEXT, of=_kinds),
)
BINS_FACTS = (
    CAPTURE,
    kinds.WHOLE.maybe("se", "Shader engine whose waves count; null for all"),
    RANGE,
    kinds.COUNT("step", "Instructions per range"),
    kinds.CYCLES.maybe("total", "All ranges; null without instructions"),
)


def bins_table(found: HotspotBins) -> ResultTable:
    """Return one row per bin; kinds are unknown without waves."""
    columns = {"first_instruction": found.first, "last_instruction": found.stop - 1, "total": found.totals}
    return ResultTable(BINS, columns | {"kinds": found.cycles[:, : len(TokenKind)]})


_PLACE = "Source place of an instruction or a line as file:line; empty if none"


def places_spec(by: str, unit: str) -> Spec:
    """Return the fields of places; `unit` is what costs are counted in."""

    def indented(row: Mapping[str, Any]) -> str:
        return Message("{0}{1}", "  " * row["depth"], row["name"])

    return Spec(
        "hotspot places",
        "Places by cost; with one file, in the order of the file; in a tree, parents before children.",
        "place",
        *only(
            DATA,
            kinds.TEXT("name", "Name of the place"),
            kinds.NAME("path", "Path of the source file, or instructions of a block; empty if there is none"),
            common.INDEX_OR_NONE,
            kinds.ROW_OR_NONE("source_line", "Line of the source file, counted from 1; -1 if none"),
            kinds.WHOLE("depth", "Enclosing places, as a count; 0 without a tree"),
        ),
        kinds.WHOLE("cost", "Cost charged to it, in the unit", title=unit),
        kinds.SHARE("share_of_total", "Part of the whole program", "share"),
        kinds.NOTE("place", "Name of the place, indented below the enclosing places", at=TEXT, of=indented),
        kinds.NAME("text", "Source text or instruction; empty if it is not known"),
        kinds.SOURCE("source", _PLACE, at=DATA if by == "source" else EVERYWHERE),
    )


_CHARGE = "Which places are charged: the innermost place, or the whole inline chain"
PLACES_FACTS = (
    CAPTURE,
    Field("by", kinds.choice("instruction", "source", "tree"), "What a row is"),
    Field("charge", kinds.choice("self", "inclusive"), _CHARGE),
    kinds.FLAG("is_idle_charged", "Whether gaps before instructions are charged as well"),
    RANGE,
    Field("unit", kinds.choice("cycles", "samples"), "What the numbers count"),
    kinds.WHOLE.maybe("total", "The whole program, in the unit; null without instructions"),
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


class _Row(Value):
    name: str
    cost: int
    path: str = ""
    line: int = -1
    source_line: int = -1
    depth: int = 0
    text: str = ""
    source: str = ""


def places_table(
    trace: Trace, cost: np.ndarray, by: str, how: SourceCost, *, unit: str, file: str | None = None
) -> ResultTable:
    """Return places with their charge of `cost`, which is per code row; UsageError for an unknown file."""
    makers = {"source": _source_lines, "instruction": _code_lines, "tree": _tree}
    places = list(makers[by](trace, cost, how, file))
    shares = np.array([row.cost for row in places], dtype=np.float64) / max(1, int(cost.sum()))
    return ResultTable.of(places_spec(by, unit), places, {"share_of_total": shares})


def _source_lines(trace: Trace, cost: np.ndarray, how: SourceCost, path: str | None) -> Iterator[_Row]:
    """Source lines with a cost, the costliest first; for one file, all lines with code, in order."""
    table = source_costs(trace.code, cost, how, len(trace.sources))
    if path is None:
        chosen = np.argsort(-table.cost, kind="stable")
        chosen = chosen[table.cost[chosen] > 0]
    else:
        paths = [source.path for source in trace.sources]
        if path not in paths:
            hint = "Name a file as `rcv hotspot --by source` does."
            raise UsageError(Message("No code came from {0}.", path), hint=hint)
        chosen = np.arange(len(table))[table.lines_of(paths.index(path))]
    columns = (column[chosen].tolist() for column in (table.file, table.line, table.cost))
    for file, line, own in zip(*columns, strict=True):
        name, text = trace.sources[file].path, text_of(trace, file, line).strip()
        place = f"{name}:{line}"
        yield _Row(place, own, path=name, source_line=line, text=text, source=place)


def _code_lines(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[_Row]:
    for row in np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))].tolist():
        name, text, source = Message("instruction {0}", row), trace.code.text[row], source_of(trace, row)
        yield _Row(name, int(cost[row]), line=row, text=text, source=source)


def _tree(trace: Trace, cost: np.ndarray, how: SourceCost, file: str | None) -> Iterator[_Row]:
    has_sources = len(trace.code.chain_file) > 0
    root = source_tree(trace.code, trace.sources, cost, how) if has_sources else label_tree(trace, cost)
    return _walk(root, -1)


def _walk(place: CostNode, depth: int) -> Iterator[_Row]:
    if depth >= 0:
        row = _Row(place.name, place.cost, path=place.tip, depth=depth)
        yield replace(row, line=place.line) if place.file < 0 else replace(row, source_line=place.line)
    for child in place.children:
        yield from _walk(child, depth + 1)
