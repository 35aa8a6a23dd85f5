"""The tables of hotspot_analyzer.py by the rules of one of its generations, including their mistakes."""

from typing import Any

from msgspec.structs import replace

from rcv_py.features.compat.script_numbers import LegacyReport
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE, STALL
from rcv_py.results.field import DATA, Field, Kind, of_analysis, only, record_field, rows_field
from rcv_py.results.table import Schema, Spec

_LATENCY = kinds.CYCLES("latency", "Latency", key="total")
_USED = Kind(json=json_types.plain("integer", "string"))
SOURCES = Spec(
    "hotspot like sources",
    "Source lines by stall.",
    "source line",
    *(SOURCE_PLACE, STALL, _LATENCY),
    kinds.NUMBER("stall_percent_of_latency", "Stall in percent of the line's latency", digits=4, key="rate"),
    kinds.TEXT("dominant_class", "Class with most stall", key="dominant"),
)
ROWS = Spec(
    "hotspot like",
    "Instructions by stall.",
    "instruction",
    replace(INSTRUCTION_INDEX, key="row"),
    INSTRUCTION_TEXT,
    kinds.TEXT("class", "Class by the rules", key="name"),
    *(STALL, _LATENCY, SOURCE_PLACE),
)
_OCCUPANCY = only(
    DATA,
    kinds.WHOLE("arch", "Architectural vector registers of a wave"),
    kinds.WHOLE("accum", "Accumulation registers of a wave"),
    kinds.WHOLE("allocated", "Vector registers allocated to a wave, rounded up", key="given"),
    kinds.WHOLE("pool", "Vector registers that the rules divide among waves"),
    rows_field(
        "limits",
        "One row per resource",
        kinds.TEXT("name", "Name of the resource"),
        _USED("used", "What is used, in units of the resource, or as text"),
        kinds.WAVES("waves", "Waves that fit on a SIMD"),
    ),
    kinds.WAVES("waves", "Waves that fit on a SIMD by all resources"),
    kinds.TEXT("binding", "Name of the limiting resource", key="bound"),
    kinds.WHOLE.maybe("next_registers", "Most vector registers that allow one more wave"),
)
FACTS = (
    CAPTURE,
    Field("like", kinds.choice("old", "new"), "The generation of the rules"),
    kinds.COUNT("instructions", "Instructions that the rules count"),
    kinds.CYCLES("latency", "Latency of all these instructions"),
    kinds.CYCLES("stall", "Total stall"),
    kinds.TEXT("target", "Name of the GPU that the rules guess"),
    record_field("occupancy", "Registers and waves as the rules count them", *_OCCUPANCY),
    kinds.TEXT("warning", "What is doubtful about the launch that was found; empty if nothing is"),
    kinds.mapping(kinds.COUNT, (), "Instructions")("mix", "Instructions of the program by what they are"),
    Field("classes", kinds.mapping(kinds.CYCLES, (), "Stall"), "Stall by class"),
)
SCHEMA = Schema(
    "hotspot_like",
    "The tables of hotspot_analyzer.py by the rules of one generation, mistakes included (--like).",
    (*FACTS, SOURCES.field("sources"), ROWS.field()),
)


def facts(trace: Trace, report: LegacyReport, like: str) -> dict[str, Any]:
    """Return the scripts' facts about the whole program."""
    found = report.occupancy
    occupancy = of_analysis(_OCCUPANCY, found) | {
        "limits": [{"name": name, "used": used, "waves": waves} for name, used, waves in found.limits],
        "next_registers": found.next_registers if found.next_registers >= 0 else None,
    }
    return {
        "capture": trace.path.name,
        "like": like,
        "instructions": len(report.instructions),
        "latency": report.total,
        "stall": report.stall,
        "target": report.target,
        "occupancy": occupancy,
        "warning": report.launch.warning,
        "mix": dict(report.mix),
        "classes": dict(report.classes),
    }
