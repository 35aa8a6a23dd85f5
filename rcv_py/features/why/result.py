"""Causes: why waves stalled and idled, by cause, by late instruction, or by the instruction to blame."""

from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.base.text import Message
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, of_analysis, only, record_field, rows_field, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Column, DictionaryColumn, ResultTable, Schema, Spec, form

_CAUSE = kinds.TEXT("cause", "Stable name of the cause")
SHARE_OF_STALL = kinds.SHARE.maybe("share_of_stall", "Part of all stall; null without stall", "of stall")
TIMES = kinds.COUNT("hits", "Executions", key="count")
GUESSED = kinds.CYCLES("guessed", "Stall and gaps whose producer is a guess among several that fit")
_COSTS = (common.STALL, SHARE_OF_STALL, common.IDLE, TIMES, GUESSED)
_PLACE = (replace(common.INSTRUCTION_INDEX, is_unknown=True), common.INSTRUCTION_TEXT, common.SOURCE_PLACE)
_NONE = "No wave ever stalled or idled."
_BY_CAUSE = Spec(
    "causes by cause",
    "Causes by stall and idle.",
    "cause",
    _CAUSE,
    kinds.TEXT("name", "The cause in a few words"),
    kinds.NOTE("because", 'Reason; completes the phrase "stalled because"'),
    kinds.NOTE("evidence", "Evidence required to attribute a cycle to this cause"),
    kinds.FLAG("is_certain", "Whether the instruction or a replay proves it"),
    *_COSTS,
    nothing=_NONE,
)
_BY_LINE = Spec(
    "causes by instruction", "Instructions by stall and idle.", "instruction", *_PLACE, *_COSTS, nothing=_NONE
)
BY = {"cause": _BY_CAUSE, "instruction": _BY_LINE, "producer": _BY_LINE}
WORDS = {  # the option of each document
    "cause": "By cause.",
    "instruction": "By the instruction that stalled: --by instruction.",
    "producer": "By the instruction to blame: --by producer.",
}
_PRODUCER = "The instruction to blame"
_BLAMED = (
    kinds.ROW.maybe("producer", "Index of the instruction to blame", key="line"),
    kinds.INSTRUCTION("producer_text", _PRODUCER),
    kinds.SOURCE(
        "producer_source", Message("{0}, its source place as file:line; empty if it has none", _PRODUCER)
    ),
)
_PART = (_CAUSE, *_PLACE, *_BLAMED, *_COSTS)
_PARTS = rows_field("parts", "What the row consists of", *_PART)
DOCUMENTS = {by: spec.with_field(_PARTS) for by, spec in BY.items()}
BLAMED = _BY_LINE.but(name="causes by producer", fields=(*_BLAMED, *_COSTS))
EACH = Spec(
    "causes by each",
    "One row per late instruction, cause and instruction to blame.",
    "attributed cause",
    *_PLACE[:2],
    _CAUSE,
    *_BLAMED[:2],
    common.STALL,
    common.IDLE,
    TIMES,
    common.SOURCE_PLACE,
    _BLAMED[2],
    GUESSED,
    SHARE_OF_STALL,
    nothing=_NONE,
    csv="instruction text cause producer producer_text stall idle hits source producer_source guessed",
)
_CYCLES = kinds.CYCLES("cycles", "Stall and gaps")
_TOTALS = only(
    DATA,
    *unknown(
        replace(common.STALL, key="total_stall"),
        replace(common.IDLE, key="total_idle"),
        kinds.SHARE(
            "explained_share_of_stall", "Part of the stall with a cause; null without stall", key="explained"
        ),
        kinds.SHARE(
            "explained_share_of_idle",
            "Part of the gaps with a cause; null without gaps",
            key="explained_idle",
        ),
    ),
)
FACTS = (
    *(common.CAPTURE, common.WAVES_READ, common.SHARE_BASE),
    record_field("totals", "Sums over all waves; null if no wave was read", *_TOTALS),
    kinds.TEXT("assumption", "What the attribution assumes, as a sentence"),
)
SCHEMA = Schema(
    "causes",
    "Why waves stalled and idled; cycles of waves, not elapsed time.",
    forms=tuple(form(WORDS[by], FACTS, "by", by, spec) for by, spec in DOCUMENTS.items()),
    version=3,
)


def totals_of(found: Attribution) -> dict[str, Any]:
    """Return the sums over all waves, exact."""
    return of_analysis(_TOTALS, found)


def facts(found: Attribution) -> dict[str, Any]:
    """Return the fields of a document besides the rows."""
    sums = totals_of(found)
    totals = {name: round(sum_, 6) if isinstance(sum_, float) else sum_ for name, sum_ in sums.items()}
    return {
        "waves": found.waves,
        "share_base": "stall",
        "totals": common.known(totals, found.waves > 0),
        "assumption": found.assumption,
    }


def cause_table(trace: Trace, groups: Attribution, by: str, total_stall: int) -> ResultTable:
    """Return one row per cause, instruction or producer of `groups`; shares are of `total_stall`."""
    about = _causes(groups.cause) if by == "cause" else placed(trace, keys(groups, by))
    return ResultTable.of(BY[by], groups, about | _share(groups, total_stall))


def each_table(trace: Trace, found: Attribution, total_stall: int) -> ResultTable:
    """Return one row per late instruction, cause and instruction to blame; shares are of `total_stall`."""
    columns = placed(trace, found.line) | placed(trace, found.producer, "producer_")
    cause = DictionaryColumn([cause.name.lower() for cause in Cause], found.cause.astype(np.int64))
    return ResultTable.of(EACH, found, columns | {"cause": cause} | _share(found, total_stall))


def blamed_table(trace: Trace, groups: Attribution, total_stall: int) -> ResultTable:
    """Return one row per instruction to blame; shares are of `total_stall`."""
    columns = placed(trace, groups.producer, "producer_") | _share(groups, total_stall)
    return ResultTable.of(BLAMED, groups, columns)


def flat_table(trace: Trace, found: Attribution, groups: Attribution, by: str) -> ResultTable:
    """Return the rows of `each_table` as spreadsheets have them, in the order of `groups`."""
    own = [np.flatnonzero(keys(found, by) == one) for one in keys(groups, by).tolist()]
    part = found.at(np.concatenate(own) if own else np.zeros(0, dtype=np.int64))
    return each_table(trace, part, found.total_stall)


def grouped(table: Attribution, by: str) -> Attribution:
    """Return sums by cause, by late instruction or by the instruction to blame, the most cycles first."""
    return {"cause": table.by_cause, "instruction": table.by_line, "producer": table.by_producer}[by]()


def keys(table: Attribution, by: str) -> np.ndarray:
    """Return the groups of the rows: causes, or indices of instructions."""
    return {"cause": table.cause, "instruction": table.line, "producer": table.producer}[by]


def in_order(groups: Attribution, table: ResultTable, by: str, *, descending: bool) -> Attribution:
    """Return the rows of a table by one of its fields, or by `cycles`: stall and gaps."""
    ranked = ResultTable(table.spec.with_field(_CYCLES), {**table.columns, "cycles": groups.cycles})
    return groups.at(ranked.order(by, descending=descending))


def documents(
    trace: Trace, found: Attribution, groups: Attribution, by: str, most: int | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a document, each with its parts, most cycles first, at most `most`."""
    rows = cause_table(trace, groups, by, found.total_stall).rows()
    own = [found.at(np.flatnonzero(keys(found, by) == one)[:most]) for one in keys(groups, by).tolist()]
    parts = [each_table(trace, part, found.total_stall) for part in own]
    names = [field.name for field in _PART]
    return [row | {"parts": part.records(names)} for row, part in zip(rows, parts, strict=True)]


def _causes(cause: np.ndarray) -> dict[str, Column]:
    texts, number = [CAUSE_TEXT[one] for one in Cause], cause.astype(np.int64)
    return {
        "cause": DictionaryColumn([one.name.lower() for one in Cause], number),
        "name": DictionaryColumn([text.name for text in texts], number),
        "because": DictionaryColumn([text.sentence for text in texts], number),
        "evidence": DictionaryColumn([text.evidence for text in texts], number),
        "is_certain": np.array([text.is_certain for text in texts], dtype=bool)[number],
    }


def _share(groups: Attribution, total_stall: int) -> dict[str, Column]:
    return {"share_of_stall": groups.stall / (total_stall or np.nan)}
