"""Events: dispatches, hardware events, markers and values of shader data, by time; costs of scopes."""

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EventTable
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.events.scope_costs import ScopeCosts, UnitCosts
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import MARKER_TEXT, MarkerKind
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field
from rcv_py.results.table import Columns, DictionaryColumn, ResultTable, Schema, Spec

EVENTS = Spec(
    "events",
    "Entries by time.",
    "event",
    kinds.CYCLE("start", "When it began", key="time"),
    kinds.CYCLES.maybe("duration", "Duration; null for an instant"),
    Field("kind", kinds.choice(*ENTRY_TEXT.values()), "What it is"),
    kinds.NOTE("name", "Its name"),
    kinds.TEXT("place", "Where it happened"),
    kinds.NOTE("detail", "Further details"),
    nothing="There is no event of these kinds.",
)
PROBLEMS = Field("problems", kinds.texts("A sentence."), "Inconsistent markers")
_KINDS = Field("kinds", kinds.texts("dispatch, event, marker or shader."), "Kinds that are listed")
_COSTS = (
    kinds.COUNT("entries", "Times that it was entered"),
    kinds.CYCLES("cycles", "Sum of its entries, inner scopes included"),
    kinds.CYCLES("own", "Of these, outside of inner scopes"),
    kinds.MEAN_CYCLES("mean", "Mean entry"),
    kinds.CYCLES("shortest", "Shortest entry"),
    kinds.CYCLES("longest", "Longest entry"),
)
SCOPES = Spec(
    "scopes",
    "Scopes and points of markers, most own cycles first.",
    "scope",
    kinds.NOTE("name", "Its name"),
    Field("kind", kinds.choice(*MARKER_TEXT.values()), "What it marks"),
    *_COSTS,
    kinds.COUNT("units", "Compute units on which it was entered"),
    kinds.TEXT("fastest", "Compute unit with the least mean"),
    kinds.MEAN_CYCLES("fastest_mean", "Mean entry there"),
    kinds.TEXT("slowest", "Compute unit with the greatest mean"),
    kinds.MEAN_CYCLES("slowest_mean", "Mean entry there"),
    replace(kinds.RATIO, text="{:.2f}".format)("spread", "Greatest mean of a unit divided by the least"),
    kinds.INDEX("fastest_engine", "Shader engine with the least mean", key="fast_engine"),
    kinds.MEAN_CYCLES("fastest_engine_mean", "Mean entry there", key="fast_engine_mean"),
    kinds.INDEX("slowest_engine", "Shader engine with the greatest mean", key="slow_engine"),
    kinds.MEAN_CYCLES("slowest_engine_mean", "Mean entry there", key="slow_engine_mean"),
    kinds.SOURCE("source", "Where it begins, with callers outwards"),
    nothing="The capture has no scope of markers.",
)
UNITS = Spec(
    "scope_units",
    "Scopes and points on each compute unit.",
    "row",
    kinds.NOTE("name", "Name of the scope"),
    kinds.TEXT("unit", "The compute unit"),
    *_COSTS,
    nothing="The capture has no scope of markers.",
)
SCOPE_SCHEMA = Schema(
    "events.scopes", "Costs of scopes of markers (--by scope).", (CAPTURE, PROBLEMS, SCOPES.field())
)
UNIT_SCHEMA = Schema(
    "events.units", "Costs of scopes by compute unit (--by unit).", (CAPTURE, PROBLEMS, UNITS.field())
)
SCHEMA = Schema(
    "events",
    "Dispatches, hardware events, markers and shader data by time.",
    (CAPTURE, _KINDS, PROBLEMS, EVENTS.field()),
)


def events(found: EventTable) -> ResultTable:
    """Return one row per entry; the duration of a moment is below 0."""
    words = {of: DictionaryColumn(found.texts, getattr(found, of)) for of in ("name", "place", "detail")}
    kind = DictionaryColumn(tuple(ENTRY_TEXT.values()), found.kind)
    return ResultTable.of(EVENTS, found, {"kind": kind, **words})


def scope_rows(trace: Trace, spans: MarkerSpans, found: ScopeCosts) -> ResultTable:
    """Return one row per scope or point."""
    units = found.by_unit
    columns: Columns = {
        "name": DictionaryColumn(spans.names, found.name_id),
        "kind": DictionaryColumn([MARKER_TEXT[kind] for kind in MarkerKind], found.kind),
        "source": DictionaryColumn(spans.sources, found.name_id),
        "fastest": _places(trace, units, found.fastest),
        "fastest_mean": units.mean[found.fastest],
        "slowest": _places(trace, units, found.slowest),
        "slowest_mean": units.mean[found.slowest],
    }
    return ResultTable.of(SCOPES, found, columns)


def unit_rows(trace: Trace, spans: MarkerSpans, found: ScopeCosts) -> ResultTable:
    """Return one row per scope and compute unit, scopes with most own cycles first."""
    units = found.by_unit
    rank = np.zeros(len(spans.names), dtype=np.int64)
    rank[found.name_id] = np.arange(len(found))
    rows = np.argsort(rank[units.name_id], kind="stable")
    names, places = DictionaryColumn(spans.names, units.name_id), _places(trace, units, np.arange(len(units)))
    return ResultTable.of(UNITS, units, {"name": names, "unit": places})[rows]


def _places(trace: Trace, units: UnitCosts, rows: np.ndarray) -> DictionaryColumn:
    places = zip(units.se.tolist(), units.sa.tolist(), units.cu.tolist(), strict=True)
    unit = trace.architecture.unit_name
    return DictionaryColumn([place_name(se, sa, cu, unit=unit) for se, sa, cu in places], rows)
