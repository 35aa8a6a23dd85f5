"""The summary: a capture on one page."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.cost.activity import SHOWN
from rcv_py.analysis.cost.pc_samples import reason_name
from rcv_py.analysis.device.occupancy_curves import UnitTable
from rcv_py.analysis.device.pipe_use import PIPES
from rcv_py.analysis.overview.device_summary import DeviceSummary
from rcv_py.base.text import Message
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA, Field, Kind, of_analysis, only, record, rows_field
from rcv_py.results.json_types import Shape
from rcv_py.results.table import ResultTable, Schema, Spec

SUMMARY = Spec(
    "summary",
    "One row per number.",
    "number",
    kinds.TEXT("section", "What it belongs to"),
    kinds.TEXT("name", "Displayed name"),
    kinds.VALUE("value", "The value"),
    kinds.TEXT("unit", "Unit, or what it is a part of"),
)


def _open_rows(each: str, fields: tuple[Field, ...], more: Shape) -> Kind:
    """Rows with these fields and additional ones by name."""
    row = record(*fields).json(each) | {"additionalProperties": more}
    return Kind(json=lambda sentence: json_types.listed(sentence, row), is_nested=True)


SIMD = (
    kinds.TEXT("place", "Where it is, such as SE0 CU1 SIMD2", "SIMD"),
    kinds.CYCLES("simd_cycles", "Time with a traced wave", "cycles"),
    kinds.CYCLES("busy", "Time in which any instruction issued or executed"),
    kinds.CYCLES("working", "The same without waits, branches, barriers and messages"),
    kinds.CYCLES.maybe("mfma_busy", "Time in which the MFMA unit worked, by its passes", "MFMA unit busy"),
    kinds.CYCLES("no_issue", "Time in which no traced wave issued", "no-issue"),
    kinds.CYCLES.maybe("bubbles", "Part of that in which the MFMA unit did not work", "nothing happens"),
)
_PIPE = kinds.CYCLES("", "Time in which the pipe of that name issued")
_COUNTER = kinds.NUMBER.maybe(
    "", "A counter: its sum, or a busy share in percent if the name begins with share_"
)
_UNIT = (
    kinds.WHOLE("se", "Number of the shader engine", "SE"),
    kinds.WHOLE("sa", "Number of the shader array", "SA", is_optional=True),
    kinds.WHOLE("cu", "Number of the compute unit", "CU"),
    *(
        kinds.NUMBER.maybe(name, meaning, title, is_optional=True)
        for name, title, meaning in (
            ("waves", "", "Waves that ran on it, a count"),
            ("traced", "", "Waves whose instructions were recorded, a count"),
            ("mean", "mean waves", "Mean over the whole duration, in waves"),
            ("peak", "", "Maximum at a time, in waves"),
            ("cycles", "wave-cycles", "Sum of the lifetimes of its waves, in cycles"),
            ("start", "first start", "First start, in cycles after the first start on any compute unit"),
            ("end", "last end", "Last end, in cycles after the first start on any compute unit"),
        )
    ),
)


def unit_text(name: str) -> tuple[str, str]:
    """Return the title and the meaning of a column of the table of compute units."""
    kind, _, of = name.partition("_")
    if kind == "share":
        return f"{of} %", Message("Busy share of {0}, of the unit's busy time.", of)
    if kind == "sum":
        return of, Message("Sum of {0} over all samples.", of)
    return next((field.title, field.sentence) for field in _UNIT if field.name == name)


_FACT = only(
    DATA,
    kinds.TEXT("id", "Stable name"),
    kinds.TEXT("name", "Displayed name"),
    kinds.VALUE("value", "The value, in the unit of `unit` or of the name; a name is a text"),
    kinds.TEXT("unit", "Unit, or what it is a part of", key="of"),
)
DOCUMENT = (
    CAPTURE,
    rows_field("facts", "Single numbers", *_FACT),
    record(kinds.WAVES("traced", "Recorded"), kinds.WAVES("read", "Waves that could be read"))(
        "waves", "Waves"
    ),
    kinds.mapping(kinds.SIGNED_CYCLES, (), "Latency and idle time of all waves")(
        "activity",
        "Where the time of all waves went, by activity; in samples for PC samples",
        is_optional=True,
    ),
    kinds.mapping(kinds.CYCLES, (), "Recorded states of all waves")(
        "states", "Time of the traced waves by state, as their files record it", is_optional=True
    ),
    kinds.mapping(kinds.COUNT, (), "Samples")("stall_reasons", "PC samples by reason", is_optional=True),
    _open_rows("One SIMD.", SIMD, _PIPE.shape)(
        "simds",
        "One row per SIMD with traced waves; in addition to these fields, one field per pipe used",
        is_optional=True,
    ),
    kinds.mapping(kinds.NUMBER, (), "In percent of the busy time")(
        "counters", "Busy shares by hardware counters", is_optional=True
    ),
    _open_rows("One compute unit.", _UNIT, _COUNTER.shape)(
        "units",
        "One row per compute unit; in addition to these fields, one field per counter",
        is_optional=True,
    ),
)
SCHEMA = Schema("summary", "The capture on one page.", DOCUMENT)
_PLACES = ("se", "sa", "cu")


def summary_table(found: DeviceSummary) -> ResultTable:
    """Return every number in one long table."""
    columns = zip(*_numbers(found), strict=True)
    names = (field.name for field in SUMMARY.fields)
    return ResultTable(SUMMARY, dict(zip(names, columns, strict=False)) or dict.fromkeys(names, ()))


def summary_document(name: str, found: DeviceSummary) -> dict[str, Any]:
    """Return the page of the capture of that name, as `DOCUMENT` declares it."""
    document: dict[str, Any] = {
        "capture": name,
        "facts": [of_analysis(_FACT, fact) for fact in found.facts],
        "waves": {"traced": found.waves, "read": found.read},
    }
    document |= {title.replace(" ", "_"): dict(rows) for title, rows in parts(found)}
    if found.pipes is not None:
        lost = dict.fromkeys(() if found.fact("nothing_happens") else ("mfma_busy", "bubbles"))
        simds = pipe_rows(found)
        document["simds"] = [{"place": at, "simd_cycles": life, **own, **lost} for at, life, own in simds]
    if found.counters is not None:
        document["counters"] = {bar.name[:]: round(bar.value, 4) for bar in found.counters.bars}
    if found.units is not None:
        columns, rows = found.units.columns.items(), range(len(found.units))
        document["units"] = [{name: plain_number(own[row]) for name, own in columns} for row in rows]
    return document


def _numbers(found: DeviceSummary) -> Iterator[tuple[Any, ...]]:
    yield from (("capture", fact.name, fact.value, fact.of) for fact in found.facts)
    for title, split in parts(found):
        whole = sum(value for _, value in split)
        yield from ((title, name, value, whole) for name, value in split)
    for place, resident, columns in pipe_rows(found):
        for name, cycles in columns.items():
            yield place, Message("{0} cycles", name), cycles, resident
    if found.counters is not None:
        bars = found.counters.bars
        yield from (("counters", f"{bar.name} %", round(bar.value, 4), "busy time") for bar in bars)
    if found.units is not None:
        for row in range(len(found.units)):
            name = _unit(found.units, row)
            for column, values in found.units.columns.items():
                if column not in _PLACES:
                    yield name, unit_text(column)[0], plain_number(values[row]), ""


def parts(found: DeviceSummary) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield each breakdown of a total: its title, and names with cycles or samples."""
    if found.activity is not None:
        yield "activity", [(name, getattr(found.activity, name)) for name in ("issue", "stall", "idle")]
    if found.states is not None:
        yield "states", [(state.name, int(found.states.cycles[state])) for state in SHOWN]
    if found.reasons is not None:
        ranked = [(reason_name(reason), samples) for reason, samples in found.reasons.ranked()]
        others = (("no reason given", found.reasons.unknown), ("not recorded", found.reasons.unsure))
        rest = [(name, samples) for name, samples in others if samples]
        yield "stall reasons", [("issued", found.reasons.issued), *ranked, *rest]


def pipe_rows(found: DeviceSummary) -> Iterator[tuple[str, int, dict[str, int]]]:
    """Yield the place of each SIMD, its resident cycles, and the cycles of other known columns by name."""
    pipes, work = found.pipes, found.work
    if pipes is None or work is None:
        return
    place = pipes.se * 256 + pipes.simd
    of = np.searchsorted(work.place, place)
    of[np.append(work.place, -1)[of] != place] = -1  # a SIMD whose waves were all left out
    columns_of = {"mfma_busy": work.matrix, "no_issue": work.no_issue, "bubbles": work.nothing}
    if found.fact("nothing_happens") is None:  # nor the work of the matrix unit
        columns_of = {"no_issue": work.no_issue}
    more = {name: np.append(column, 0)[of] for name, column in columns_of.items()}
    for row in range(len(pipes)):
        place = f"SE{pipes.se[row]} CU{pipes.cu[row]} SIMD{pipes.simd[row]}"
        columns = {"busy": int(pipes.busy[row]), "working": int(pipes.working[row])}
        columns |= {name: int(column[row]) for name, column in more.items()}
        columns |= {name: int(pipes.pipes[row, PIPES.index(name)]) for name in pipes.used}
        yield place, int(pipes.resident[row]), columns


def _unit(units: UnitTable, row: int) -> str:
    place = {name: int(values[row]) for name, values in units.columns.items() if name in _PLACES}
    array = f" SA{place['sa']}" if "sa" in place else ""
    return f"SE{place['se']}{array} CU{place['cu']}"


def plain_number(value: np.generic) -> Any:
    """Return a number for programs: rounded to four digits; None stays None."""
    plain = value.item()
    if isinstance(plain, float):
        return None if np.isnan(plain) else round(plain, 4)
    return plain
