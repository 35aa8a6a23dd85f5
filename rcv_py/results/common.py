"""Fields that several results share."""

from __future__ import annotations

from dataclasses import replace

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec
from rcv_py.results.unit import (
    COUNT,
    CYCLE,
    CYCLE_RANGE,
    CYCLES,
    INDEX,
    INSTRUCTION,
    ROW,
    ROW_OR_NONE,
    SHARE,
    SOURCE,
    TEXT,
    WAVE,
    WAVES,
)

CAPTURE = Field("capture", TEXT, "Name of the capture: that of its folder")
INSTRUCTION_INDEX = Field("instruction", ROW, "Index of the instruction in the program, counted from 0", "#")
INDEX_OR_NONE = Field(
    "instruction",
    ROW_OR_NONE,
    "Index of the instruction in the program, counted from 0; -1 if there is none",
    "#",
)
INSTRUCTION_TEXT = Field("text", INSTRUCTION, "Text of the instruction", "instruction")
SOURCE_PLACE = Field("source", SOURCE, "Innermost source place as file:line; empty if there is none")
PLACE_OR_NONE = Field("source", SOURCE, "Place of an instruction or a source line as file:line; else empty")
PLACE = (INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE)
WAVE_NAME = Field("wave", WAVE, "A wave, such as se0/simd2/slot5/wv3")
WAVE_START = Field("start", CYCLE, "When the wave started")
WAVE_END = Field("end", CYCLE, "When it ended")
TOKEN = (  # one execution
    Field("token", INDEX, "Row among the wave's instructions, counted from 0"),
    Field("start", CYCLE, "When it was first tried"),
    Field("stall", CYCLES, "Time until it could issue"),
    Field("issue", CYCLES, "Time of issue (gfx9) or execution"),
    Field("idle", CYCLES, "Gap in front of it in its wave"),
)
STALL = Field("stall", CYCLES, "Stall")
IDLE = Field("idle", CYCLES, "Gaps between instructions")
COSTS = (
    Field("hits", COUNT, "Executions by all traced waves"),
    Field("latency", CYCLES, "Stall and issue (gfx9) or stall and execution, summed over all traced waves"),
    Field(
        "stall", CYCLES, "Part of the latency in which the instruction could not issue, summed over all waves"
    ),
    Field("idle", CYCLES, "Gaps in front of the instruction in its own wave, summed over all waves"),
)
SUMS = tuple(field.name for field in COSTS)
COST_SHARE = Field(
    "share_of_total", SHARE, "Part of latency and idle time of all rows (PC samples: of all samples)", "share"
)
MEASURE = Field(
    "measure", TEXT, "What the numbers count: cycles of latency in one of its modes, or PC samples"
)
WAVE_ASKED = Field("wave", TEXT, "The wave that was chosen; null for all", is_unknown=True)
WAVES_READ = Field("waves", WAVES, "Waves that could be read")
RANGE = Field("range", CYCLE_RANGE, "The range that was chosen; null for all", is_unknown=True)
TOTAL_ROWS = Field("total_rows", COUNT, "Rows there are, of which --top may have left some out")
_NOT_SAMPLED = ("hits", "idle")
_SAMPLED = {"latency": "samples", "stall": "stalled"}  # the titles of costs that are PC samples


def measured_in(spec: Spec, measure: str) -> Spec:
    """Return the spec of costs in a measure: of PC samples people see no executions and no cycles."""
    return replace(spec, fields=tuple(map(_sampled, spec.fields))) if measure == SAMPLES else spec


def _sampled(field: Field) -> Field:
    if field.name in _NOT_SAMPLED:
        return replace(field, at=field.at & ~At.PEOPLE)
    return replace(field, title=_SAMPLED.get(field.name, field.title))
