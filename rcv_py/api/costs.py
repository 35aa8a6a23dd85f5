"""Tables of what instructions cost: rankings, listings, single lines, flamegraphs, and the summary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.cost.distribution import LineHits, line_hits
from rcv_py.analysis.cost.ranking import BY, SORT, Ranked
from rcv_py.analysis.cost.stall_reasons import StallReasons, stall_reasons
from rcv_py.analysis.flame.flame import FlameTree
from rcv_py.analysis.flame.flame_frames import CONTENTS, METRICS, flame_tree
from rcv_py.analysis.flame.flame_layout import Order
from rcv_py.analysis.overview.device_summary import DeviceSummary, device_summary
from rcv_py.api.answer import Answer
from rcv_py.api.arguments import one_of
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.results.flame import frames
from rcv_py.results.hotspot import ranking_table, totals
from rcv_py.results.isa import LISTED, Listing, listing
from rcv_py.results.line import hit_table, sample_table, spread_facts, spreads
from rcv_py.results.summary import summary_table
from rcv_py.results.table import Table


def summary(
    trace: Trace, batches: Sequence[WaveBatch], rows: Collection[int] | None
) -> Answer[DeviceSummary]:
    """Return the page of `rcv summary` as one table; lives and cycles of the waves of `rows`."""
    found = device_summary(trace, batches, rows)
    table = summary_table(found)
    texts = {name: [*map(str, table.plain(name))] for name in ("value", "of")}
    facts = {fact.id: fact.value for fact in found.facts}
    return Answer.of(Table(table.spec, {**table.columns, **texts}), found, facts)


def hotspot(trace: Trace, code: CodeTable, by: str, sort: str) -> Answer[tuple[Ranked, ...]]:
    """Return the ranking; `code` has the costs of the chosen waves."""
    one_of("by", by, BY)
    one_of("sort", sort, SORT)
    costs = cost_columns(code, LatencyMode.SUM_ALL, None, None)
    table, found = ranking_table(trace, costs, by, sort)
    return Answer.of(table, found, {"measure": costs.label, "totals": totals(costs)})


def isa(trace: Trace, kind: str, batches: Callable[[], Sequence[WaveBatch]]) -> Answer[Listing]:
    """Return `lines`, `blocks` or `branches`; batches are read for branches only."""
    one_of("kind", kind, LISTED)
    found = listing(trace, kind, batches)
    return Answer.of(found.table, found, {"measure": found.measure})


def line(trace: Trace, batches: Sequence[WaveBatch], row: int) -> Answer[LineHits]:
    """Return every execution of a code row."""
    hits = line_hits(batches, row)
    return Answer.of(hit_table(trace, hits), hits, spread_facts(spreads(hits)))


def samples(code: CodeTable, row: int | None) -> Answer[StallReasons]:
    """Return the PC samples of a code row (None: of all) by what they show."""
    found = stall_reasons(code, slice(None) if row is None else slice(row, row + 1))
    return Answer.of(sample_table(found), found, {"stalled": found.stalled})


def flame(
    trace: Trace, content: str, metric: str, order: str, batches: Callable[[], Sequence[WaveBatch]]
) -> Answer[FlameTree]:
    """Return the flamegraph, one row a frame."""
    one_of("content", content, CONTENTS)
    one_of("metric", metric, tuple(METRICS))
    one_of("order", order, tuple(known.value for known in Order))
    tree, note = flame_tree(trace, content, METRICS[metric], batches)
    facts = {"total": tree.whole(METRICS[metric]), "unit": tree.unit, "note": note}
    return Answer.of(frames(trace, tree, METRICS[metric], Order(order)), tree, facts)
