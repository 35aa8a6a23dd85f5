"""Waits: what each waited for, and the memory latency that waits show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.wait_costs import WaitSummary
from rcv_py.analysis.waits.load_order import LoadOrder
from rcv_py.base.runs import ranges
from rcv_py.base.text import count
from rcv_py.features.whatif.result import CHANGE
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, REPORT, WINDOW, of_analysis, record_field, rows_field, unknown
from rcv_py.results.places import instructions, placed, sources
from rcv_py.results.table import Column, Columns, Form, ResultTable, Schema, Spec

if TYPE_CHECKING:  # the window shows waits without trying moves
    from rcv_py.analysis.whatif.hoist import Tried

_LATENCY = replace(kinds.MEAN_CYCLES, digits=1, text=lambda cycles: count(round(cycles)))
_SAMPLED = (
    kinds.COUNT("exact", "Samples in which a wait stalled until the result arrived"),
    kinds.COUNT(
        "bounds",
        "Samples in which the result arrived before the wait, which only bounds the latency",
        key="censored",
    ),
    _LATENCY.maybe("p10", "10th percentile of the exact samples"),
    _LATENCY.maybe("median", "Median of the exact samples"),
    _LATENCY.maybe("p90", "90th percentile of the exact samples"),
    _LATENCY.maybe("mean", "Mean of the exact samples"),
)
_NOTHING = "No wave waited for an operation of memory, LDS or messages."
TIMES = kinds.COUNT("hits", "Executions")
STALL = kinds.CYCLES.maybe("stall", "Stall")
SHARE_OF_STALL = kinds.SHARE("share_of_stall", "Part of the stall of all waits", "of stall")
WAITS = Spec(
    "wait_costs",
    "Waits by stall, the largest first.",
    "wait",
    *(*common.PLACE, TIMES, STALL, SHARE_OF_STALL),
    kinds.COUNT("exact", "Executions that stalled for an operation", key="blocked"),
    nothing=_NOTHING,
)
_N = kinds.COUNT("hits", "Executions of the wait that required it", key="n")
_CHARGED = kinds.CYCLES("stall", "Stall charged to it as the operation that ended the wait", key="charged")
_GUESSED = kinds.CYCLES("guessed", "Part of that stall for which another operation of the wait fits as well")
_PART = kinds.SHARE("share_of_wait_stall", "Part of the stall of the wait")
_PRODUCER_LINE = kinds.ROW.maybe("producer", "Index of what it waited for", key="line")
_PRODUCER_TEXT = kinds.INSTRUCTION("producer_text", "What it waited for")
MEDIAN = _LATENCY.maybe("median_latency", "Median of the exact samples of what it waited for")
PRODUCERS = Spec(
    "wait_producers",
    "One row per wait and instruction that it waited for.",
    "instruction that was waited for",
    *(*common.PLACE, _PRODUCER_LINE, _PRODUCER_TEXT),
    kinds.SOURCE("producer_source", "Source place of what it waited for; empty if it has none"),
    *(_N, _CHARGED, _GUESSED, _PART, MEDIAN),
    nothing=_NOTHING,
)
FLAT = Spec(
    "waits and producers",
    "One row per wait and instruction that it waited for; a wait that waited for "
    "nothing has one row without an instruction.",
    "instruction that was waited for",
    *(*common.PLACE[:2], *WAITS.fields[3:], _PRODUCER_LINE, _PRODUCER_TEXT),
    replace(_N, name="producer_hits"),
    replace(_CHARGED, name="producer_stall"),
    replace(_GUESSED, name="producer_guessed"),
    MEDIAN,
    replace(common.SOURCE_PLACE, name="producer_source", meaning="Source place of what it waited for"),
    common.SOURCE_PLACE,
)
LATENCIES = Spec(
    "wait_latency",
    "Instructions by exact samples.",
    "instruction",
    *(*common.PLACE[:2], *_SAMPLED, common.SOURCE_PLACE),
    order="instruction exact bounds p10 median p90 mean",
    nothing=_NOTHING,
)
DOCUMENT = WAITS.with_field(
    rows_field(
        "producers",
        "What it waited for, by stall",
        *(*common.PLACE, _N, _CHARGED, _GUESSED, _PART),
        record_field("latency", "From issue to result, in cycles", *_SAMPLED),
    )
)
_TOTALS = (
    kinds.COUNT("waits", "Wait instructions that waited for something"),
    kinds.COUNT("hits", "Their executions"),
    kinds.CYCLES("stall", "Their stall"),
    kinds.CYCLES("charged", "Part of it that is charged to a producer"),
)
FACTS = (
    *(common.CAPTURE, common.WAVE_ASKED, common.WAVES_READ),
    record_field("totals", "Sums over all waits; null if nothing was read", *unknown(*_TOTALS)),
)


def totals(found: WaitSummary) -> dict[str, int]:
    """Return the sums over all waits."""
    table = found.blocking
    sums = {name: int(getattr(table, name).sum()) for name in ("hits", "stall", "charged")}
    return {"waits": len(table), **sums}


def wait_table(trace: Trace, found: WaitSummary) -> ResultTable:
    """Return one row per wait instruction that ran, most stall first."""
    waits = found.blocking
    share: dict[str, Column] = {"share_of_stall": waits.stall / max(1, int(waits.stall.sum()))}
    return ResultTable.of(WAITS, waits, placed(trace, waits.line) | share)


def waits_about(found: WaitSummary, line: int | None) -> np.ndarray:
    """Return the rows of `wait_table` that are at a line or waited for it; None: all.  int64."""
    table = found.blocking
    if line is None:
        return np.arange(len(table))
    waited = np.zeros(len(table), dtype=bool)
    waited[_wait_of(found)[table.producer == line]] = True
    return np.flatnonzero(waited | (table.line == line))


def producer_table(trace: Trace, found: WaitSummary) -> ResultTable:
    """Return one row per wait and an instruction that it waited for, in the order of waits."""
    table, wait = found.blocking, _wait_of(found)
    blamed = placed(trace, table.producer, "producer_")
    share, latency = table.charged / np.maximum(1, table.stall[wait]), _latency(found, table.producer)
    numbers = {"share_of_wait_stall": share, "median_latency": latency["median"]}
    return ResultTable.of(PRODUCERS, table, placed(trace, table.line[wait]) | blamed | numbers)


def latency_table(trace: Trace, found: WaitSummary) -> ResultTable:
    """Return one row per instruction that a wait required, most exact samples first."""
    line = found.latency.line
    return ResultTable(LATENCIES, {**placed(trace, line), **_latency(found, line)})


def flat_table(trace: Trace, found: WaitSummary, waits: np.ndarray) -> ResultTable:
    """Return waits, by rows of `wait_table`, each followed by what it waited for, for spreadsheets."""
    table = found.blocking
    counts = np.maximum(1, np.diff(table.first)[waits])
    wait = np.repeat(waits, counts)
    has = np.diff(table.first)[wait] > 0
    at = np.where(has, table.first[wait] + ranges(0, counts), 0)
    numbers = (table.producer, table.n, table.charged, table.guessed)
    line, n, charged, guessed = (np.where(has, np.append(one, 0)[at], 0) for one in numbers)
    line = np.where(has, line, -1)
    columns: Columns = {
        **wait_table(trace, found)[wait].columns,
        "producer": line,
        "producer_text": instructions(trace, line),
        "producer_hits": n,
        "producer_stall": charged,
        "producer_guessed": guessed,
        "median_latency": _latency(found, line)["median"],
        "producer_source": sources(trace, line),
    }
    return ResultTable(FLAT, columns)


def wait_documents(
    trace: Trace, found: WaitSummary, waits: np.ndarray, most: int | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a document, by rows of `wait_table`, each with at most `most` producers."""
    line = found.blocking.producer
    producers = producer_table(trace, found)
    samples = ResultTable(LATENCIES, {**placed(trace, line), **_latency(found, line)})

    def waited_for(row: int) -> list[dict[str, Any]]:
        own = found.blocking.producers(row)
        part = own if most is None else slice(own.start, min(own.stop, own.start + most))
        places = samples[part].records(field.name for field in common.PLACE)
        numbers = producers[part].records(("hits", "stall", "guessed", "share_of_wait_stall"))
        rows = zip(places, numbers, samples[part].records(field.name for field in _SAMPLED), strict=True)
        return [place | own | {"latency": sample} for place, own, sample in rows]

    heads = wait_table(trace, found)[waits].rows()
    return [head | {"producers": waited_for(row)} for head, row in zip(heads, waits.tolist(), strict=True)]


def latency_documents(table: ResultTable) -> list[dict[str, Any]]:
    """Return the rows of a document of latencies."""
    return table.records((*(field.name for field in common.PLACE), *(field.name for field in _SAMPLED)))


def _wait_of(found: WaitSummary) -> np.ndarray:
    """The wait of each producer, as a row of `wait_table`."""
    return np.repeat(np.arange(len(found.blocking)), np.diff(found.blocking.first))


def _latency(found: WaitSummary, line: np.ndarray) -> dict[str, np.ndarray]:
    """The samples of each line; lines that no wait measures have none, and statistics of nan."""
    table = found.latency
    order = np.argsort(table.line, kind="stable")
    at = np.searchsorted(table.line[order], line)
    is_known = np.append(table.line[order], -2)[at] == line
    columns = of_analysis(_SAMPLED, table)
    return {
        name: np.where(is_known, np.append(column[order], 0)[at], np.nan if column.dtype.kind == "f" else 0)
        for name, column in columns.items()
    }


LOAD_ORDER = Spec(
    "load_order",
    "One row per inverted wait and load that it waits for, where the load was issued "
    "after loads that are needed later.",
    "inverted wait",
    *common.PLACE[:2],
    replace(common.SOURCE_PLACE, at=DATA),
    replace(_N, meaning="Executions of the wait that were inverted", key="hits"),
    kinds.CYCLES("stall", "Stall of these executions"),
    kinds.CYCLES("bound", "Cycles that the move can save at most, summed over waves", "at most"),
    kinds.SHARE("share_of_wave_cycles", "The bound as a part of all wave cycles", "of wave cycles"),
    CHANGE(
        "predicted",
        "Predicted change of the span of the traced compute units, with the moves of "
        "`goes_with`; null if not tried",
        is_unknown=True,
    ),
    CHANGE("low", "Minimum of the change under all guesses", "from", is_unknown=True),
    CHANGE("high", "Maximum of the change under all guesses", "to", is_unknown=True),
    kinds.ROW("load", "The load that is needed first"),
    kinds.INSTRUCTION("load_text", "Its text", at=DATA | WINDOW | REPORT),
    kinds.SOURCE("load_source", "Its source place as file:line; empty if it has none", "source of the load"),
    replace(kinds.ROW_OR_NONE, text=lambda row: str(row) if row >= 0 else "nowhere")(
        "before", "Instruction before which it should stand; -1: no earlier place is legal"
    ),
    kinds.COUNT("registers", "Additional registers that it takes there", "extra registers"),
    kinds.listed(kinds.ROW, "A load")("leaves", "Loads that the wait can leave outstanding then", at=DATA),
    kinds.listed(kinds.ROW, "A wait")(
        "goes_with",
        "Other inverted waits that leave the same loads outstanding: moves that help together",
        at=DATA,
    ),
    kinds.ROW("limit", "Instruction that the load cannot be moved above", at=DATA),
    kinds.NOTE("why", "Why not", "stops there because", at=DATA | WINDOW),
    nothing=("No wait is inverted: none waits for a load that was issued after loads that are needed later."),
)
LOAD_FACTS = (
    *(common.CAPTURE, common.WAVE_ASKED, common.WAVES_READ),
    kinds.CYCLES("wave_cycles", "Lifetimes of all these waves, summed"),
    CHANGE("predicted", "Predicted change with all moves that were tried; null: none", is_unknown=True),
    CHANGE("low", "Minimum of the change under all guesses", is_unknown=True),
    CHANGE("high", "Maximum of the change under all guesses", is_unknown=True),
)
SCHEMA = Schema(
    "waits",
    "What waits waited for, or the memory latency that waits show.",
    forms=(
        Form("Waits and what they waited for.", (*FACTS, DOCUMENT.field("waits"))),
        Form("Memory latency of instructions: --latency.", (*FACTS, LATENCIES.field("latency"))),
        Form("Inverted waits: --inverted.", (*LOAD_FACTS, LOAD_ORDER.field())),
    ),
)
_PREDICTED = {"predicted": "share", "low": "low", "high": "high"}  # attributes of predictions


def load_table(trace: Trace, found: LoadOrder, tried: Tried | None = None) -> ResultTable:
    """Return one row per inverted wait and load, with the predictions that were run."""
    from rcv_py.analysis.whatif.hoist import goes_with  # noqa: PLC0415 - as above

    of_row = {} if tried is None else tried.of_row
    known = [of_row.get(row) for row in range(len(found))]
    mates = goes_with(found)
    columns: Columns = {
        "share_of_wave_cycles": found.share,
        **{
            field: [np.nan if one is None else getattr(one, name) for one in known]
            for field, name in _PREDICTED.items()
        },
        "load_text": instructions(trace, found.load),
        "load_source": sources(trace, found.load),
        "leaves": [list(rows) for rows in found.deferred],
        "goes_with": [mates.get(wait, []) for wait in found.wait.tolist()],
    }
    return ResultTable.of(LOAD_ORDER, found, {**placed(trace, found.wait), **columns})


def load_facts(found: LoadOrder, tried: Tried | None) -> dict[str, Any]:
    """Return the facts about all inverted waits."""
    one = None if tried is None else tried.together
    said = {key: None if one is None else round(getattr(one, name), 4) for key, name in _PREDICTED.items()}
    return {"waves": found.waves, "wave_cycles": found.cycles, **said}


def load_rows(found: LoadOrder, line: int | None) -> np.ndarray:
    """Return the rows of `load_table` about an instruction: the wait, the load or its place; None: all."""
    if line is None:
        return np.arange(len(found))
    return np.flatnonzero((found.wait == line) | (found.load == line) | (found.before == line))
