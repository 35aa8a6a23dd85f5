"""Fields that several results share."""

from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.results import kinds
from rcv_py.results.field import PEOPLE, Field
from rcv_py.results.table import Spec

NO_INSTRUCTIONS = "The capture has no instructions."
CAPTURE = kinds.NAME("capture", "Name of the capture, which is the name of its folder")
INSTRUCTION_INDEX = kinds.ROW(
    "instruction", "Index of the instruction in the program, counted from 0", "#", key="line"
)
_OR_NONE = "Index of the instruction in the program, counted from 0; -1 if there is none"
INDEX_OR_NONE = kinds.ROW_OR_NONE("instruction", _OR_NONE, "#", key="line")
INSTRUCTION_TEXT = kinds.INSTRUCTION("text", "Text of the instruction", "instruction")
SOURCE_PLACE = kinds.SOURCE("source", "Innermost source place as file:line; empty if there is none")
PLACE = (INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE)
WAVE_NAME = kinds.WAVE("wave", "A wave, such as se0/simd2/slot5/wv3")
WAVE_START = kinds.CYCLE("start", "When the wave started")
WAVE_END = kinds.CYCLE("end", "When it ended")
TOKEN = (  # one execution
    kinds.INDEX("token", "Row among the wave's instructions, counted from 0"),
    kinds.CYCLE("start", "When the wave first tried to issue it"),
    kinds.CYCLES("stall", "Time until it could issue"),
    kinds.CYCLES("issue", "Time of issue (gfx9) or execution", key="busy"),
    kinds.CYCLES("idle", "Gap before it in its wave"),
)
STALL = kinds.CYCLES("stall", "Stall")
IDLE = kinds.CYCLES("idle", "Gaps between instructions")
COSTS = (
    kinds.COUNT("hits", "Executions by all traced waves"),
    kinds.CYCLES("latency", "Stall and issue (gfx9) or stall and execution, summed over all traced waves"),
    kinds.CYCLES(
        "stall", "Part of the latency in which the instruction could not issue, summed over all waves"
    ),
    kinds.CYCLES("idle", "Gaps before the instruction in its own wave, summed over all waves"),
)
SUMS = tuple(field.name for field in COSTS)
COST_SHARE = kinds.SHARE(
    "share_of_total", "Part of latency and idle time of all rows (PC samples: of all samples)", "share"
)
MEASURE = kinds.TEXT(
    "measure", "What the numbers count: cycles of latency in one of its modes, or PC samples"
)
LATENCY_AND_IDLE = "latency and idle"
SHARE_BASE = kinds.TEXT("share_base", "What shares are parts of: a sum over the whole program")
WAVE_ASKED = kinds.TEXT.maybe("wave", "The wave that was chosen; null for all")
WAVES_READ = kinds.WAVES("waves", "Waves that could be read")
RANGE = kinds.CYCLE_RANGE.maybe("range", "The range that was chosen; null for all")
TOTAL_ROWS = kinds.COUNT("total_rows", "All rows, including rows that --top omits")
_NOT_SAMPLED = ("hits", "idle")
_SAMPLED = {"latency": "samples", "stall": "stalled"}  # the titles of costs that are PC samples


def measured_in(spec: Spec, measure: str) -> Spec:
    """Return the spec of costs in a measure: for PC samples, people see no executions and no cycles."""
    return spec.but(fields=tuple(map(_sampled, spec.fields))) if measure == SAMPLES else spec


def _sampled(field: Field) -> Field:
    if field.name in _NOT_SAMPLED:
        return replace(field, at=field.at & ~PEOPLE)
    return replace(field, title=_SAMPLED.get(field.name, field.title))


def known(facts: dict[str, Any], is_known: bool) -> dict[str, Any]:
    """Return the facts, each None if they are not known."""
    return {**facts} if is_known else dict.fromkeys(facts)
