"""Waves: where and when they ran, what they did, their paths through the code, and the units they used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import wave_lines
from rcv_py.analysis.core.occupancy import Residencies, traced_waves
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.analysis.device.utilization import UnitBusy, unit_title
from rcv_py.analysis.waves.populations import Populations
from rcv_py.analysis.waves.wave_facts import WaveStates, states_within
from rcv_py.base.text import Message, count
from rcv_py.model.kinds import TokenKind, WaveState, kind_name
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.results import common, kinds
from rcv_py.results.field import DATA, TEXT, Field, of_analysis, record_field, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

STATE_MEANING = {
    WaveState.EXEC: "Part of the lifetime in which it executed",
    WaveState.WAIT: "Part in which it waited",
    WaveState.STALL: "Part in which it stalled",
    WaveState.IDLE: "Part in which it was idle",
}
UNIT = kinds.PLACE("cu", "Number of the compute unit; -1 if unknown")
LIVED = kinds.CYCLES("cycles", "From begin to end")
_KERNEL = kinds.CODE("kernel", "Name of the kernel; empty if it is not known")
HEAD = (common.CAPTURE, common.RANGE, common.TOTAL_ROWS)


def _states(meaning: str) -> tuple[Field, ...]:
    cycles = ((state.name.lower(), Message(meaning, part)) for state, part in STATE_MEANING.items())
    return unknown(*(kinds.CYCLES(*one) for one in cycles))


WAVES = Spec(
    "waves",
    "One row per wave, by place and start; with a range, the waves that touch it.",
    "wave",
    common.WAVE_NAME,
    UNIT,
    _KERNEL,
    common.WAVE_START,
    common.WAVE_END,
    LIVED,
    kinds.COUNT.maybe("hits", "Instructions it ran; null if its file cannot be read"),
    *_states("{0}, inside of the range; null without a timeline"),
    nothing="The capture has no traced waves.",
)
_OR_EMPTY = replace(kinds.PLACE, text=lambda number: "" if number < 0 else count(number))
RESIDENT = Spec(
    "waves resident",
    "One row per wave, by place and start.",
    "wave",
    Field("se", replace(kinds.WHOLE, text=str), "Number of the shader engine"),
    kinds.PLACE("sa", "Number of the shader array"),
    kinds.PLACE("cu", "Number of the compute unit"),
    kinds.PLACE("simd", "Number of the SIMD"),
    kinds.PLACE("slot", "Number of the slot in the SIMD"),
    common.WAVE_START,
    common.WAVE_END,
    Field("workgroup", _OR_EMPTY, "Number of its workgroup; -1 if it is not known"),
    LIVED,
    _KERNEL,
    kinds.WAVE("wave", "Name of the wave if its instructions were traced, else empty"),
    nothing="The capture does not say when waves began and ended.",
)
_MEDIAN = replace(kinds.FROM_0, digits=None, text=lambda value: f"{value:,.1f}".removesuffix(".0"))
POPULATIONS = Spec(
    "populations",
    "One row per population: working populations first, then by executions.",
    "population",
    kinds.TEXT("id", "What `--waves` takes"),
    kinds.NOTE("name", "Displayed name"),
    kinds.TEXT("kernel", "Symbol of the kernel; empty if it is not known", at=DATA),
    kinds.YES_NO("is_working", "Whether these waves do the work of the kernel", "works", at=DATA | TEXT),
    kinds.WHOLE("waves", "Waves that took this path; loop counts may differ"),
    kinds.WHOLE("cut", "Of them: waves whose record does not reach the end of the program"),
    _MEDIAN("median_hits", "Median executions per wave", "executions", key="instructions"),
    kinds.WHOLE.maybe("instructions", "Distinct instructions in the basic blocks of the path", key="reached"),
    kinds.CYCLES("cycles", "Sum of the lifetimes of these waves"),
    kinds.SHARE(
        "share_of_wave_cycles", "Part of the lifetimes of all waves that were read", "share", key="share"
    ),
    order="id is_working waves cut median_hits instructions cycles share_of_wave_cycles name",
    nothing="The capture has no traced waves.",
)
POPULATION_FACTS = (
    common.CAPTURE,
    kinds.WHOLE("read", "Waves that could be read"),
    kinds.WHOLE("traced", "Waves that the capture names"),
    kinds.WHOLE.maybe("executed", "Distinct instructions that one of these waves reached"),
    kinds.WHOLE.maybe("instructions", "Instructions of the kernels that they executed"),
    common.TOTAL_ROWS,
)
TOKENS = Spec(
    "wave instructions",
    "Instructions that touch the range, in order of their starts: --tokens.",
    "instruction",
    *common.TOKEN,
    replace(kinds.TEXT, text=kind_name)("kind", "Kind of the instruction"),
    replace(common.INSTRUCTION_INDEX, is_unknown=True),
    replace(common.INSTRUCTION_TEXT, meaning="Text of the instruction; empty if it is not known"),
    common.SOURCE_PLACE,
)
_STATES_COVER = "The range that states and instructions cover; the whole lifetime if none was given"
WAVE = (
    common.CAPTURE,
    common.WAVE_NAME,
    UNIT,
    common.WAVE_START,
    common.WAVE_END,
    LIVED,
    kinds.CYCLE_RANGE("range", _STATES_COVER),
    record_field("states", "What it did in that range", *_states("{0}; null without a timeline")),
    kinds.COUNT("hits", "Instructions of its whole life"),
    kinds.CYCLES("latency", "Latency of all these instructions"),
    kinds.CYCLES("stall", "Total stall"),
    kinds.CYCLES("idle", "Total of the gaps before instructions"),
    kinds.WAVES("counted", "Traced waves that touch the range of --clock; without it all"),
    kinds.WAVES("traced", "Traced waves"),
    replace(TOKENS.field("instructions"), is_optional=True),
)
SCHEMA = Schema("waves", "Traced waves: where and when they ran, and what they did.", (*HEAD, WAVES.field()))
RESIDENT_SCHEMA = Schema(
    "waves.resident",
    "Every wave that was on the device, traced or not (--resident).",
    (*HEAD, RESIDENT.field()),
)
POPULATIONS_SCHEMA = Schema(
    "waves.populations",
    "Paths that waves took through the code, and which of them work (--populations).",
    (*POPULATION_FACTS, POPULATIONS.field()),
)
WAVE_SCHEMA = Schema("wave", "What one wave did; with --tokens also its instructions.", WAVE, command="waves")


def wave_facts(
    trace: Trace, wave: TracedWave, within: TimeWindow | None, clock: TimeWindow | None
) -> dict[str, Any]:
    """Return the document of a wave without its instructions; states are those `within` a range."""
    cycles = states_within(wave, within)
    part = within or TimeWindow(wave.begin, wave.end)
    whole = wave_lines(wave, len(trace.code))
    return {
        "capture": trace.name,
        "wave": str(wave.id),
        "cu": wave.cu,
        "start": wave.begin,
        "end": wave.end,
        "cycles": wave.end - wave.begin,
        "range": [part.begin, part.end],
        "states": {state.name.lower(): None if cycles is None else cycles[state] for state in STATE_MEANING},
        "hits": len(wave.tokens),
        "latency": int(whole.latency.sum()),
        "stall": int(whole.stall.sum()),
        "idle": int(whole.idle.sum()),
        "counted": len(counted_rows(trace.waves, None, clock)),
        "traced": len(trace.waves),
    }


def token_table(trace: Trace, wave: TracedWave, part: TimeWindow) -> ResultTable:
    """Return the instructions of a wave that touch the range, in order of their starts."""
    piece = of_waves([wave])
    inside = (piece.start < part.end) & (piece.start + np.maximum(piece.duration, 1) > part.begin)
    rows = np.flatnonzero(inside)
    names, line = {kind.value: kind.name for kind in TokenKind}, piece.line[rows]
    columns: Columns = {
        "token": rows,
        **{name: column[rows] for name, column in of_analysis(common.TOKEN[1:], piece).items()},
        "kind": [names.get(kind, str(kind)) for kind in piece.kind[rows].tolist()],
        **placed(trace, line),
    }
    return ResultTable(TOKENS, columns)


def waves(trace: Trace, rows: Sequence[int], read: WaveStates, kernels: Sequence[str]) -> ResultTable:
    """Return one row per wave of these rows of the index; `read` has the waves that could be read.

    `kernels` names the kernel of each row.
    """
    index, row = trace.waves, np.array(rows, dtype=np.int64)
    known = np.full((len(index), 1 + read.cycles.shape[1]), -1, dtype=np.int64)
    known[read.row] = np.column_stack([read.tokens, read.cycles])
    hits, *cycles = known[row].T
    columns: Columns = {
        "wave": [str(index.id(at)) for at in rows],
        "cu": index.cu[row],
        "kernel": kernels,
        "start": index.begin[row],
        "end": index.end[row],
        "cycles": index.end[row] - index.begin[row],
        "hits": hits,
        **{state.name.lower(): cycles[state] for state in STATE_MEANING},
    }
    return ResultTable(WAVES, columns)


def resident(trace: Trace, lives: Residencies, kernels: Sequence[str]) -> ResultTable:
    """Return one row per wave of the occupancy record; `kernels` names the kernel of each."""
    columns: Columns = {
        "start": lives.begin,
        "cycles": lives.end - lives.begin,
        "kernel": kernels,
        "wave": [str(trace.waves.id(row)) if row >= 0 else "" for row in traced_waves(trace, lives).tolist()],
    }
    return ResultTable.of(RESIDENT, lives, columns)


def population_facts(trace: Trace, found: Populations) -> dict[str, int | None]:
    """Return how many waves were read, and how many instructions they ran, None if that is not known."""
    ran = common.known({"executed": found.ran, "instructions": found.of}, found.ran > 0)
    return {"read": found.read, "traced": len(trace.waves), **ran}


_UNIT = replace(kinds.TEXT, text=unit_title)
_BUSY = "Time in which any instruction issued (gfx9) or executed on it; of a matrix pipe, passes"
UNITS = Spec(
    "units",
    "One row per unit that was used.",
    "unit",
    _UNIT("unit", "Name of the unit with the number of its SIMD; shared units have none"),
    kinds.CYCLES("busy", _BUSY),
    kinds.CYCLES("cycles", "Length of the range", at=DATA),
    kinds.SHARE("share_of_range", "Busy part of the range", "share"),
)
_UNITS_FACTS = (
    common.CAPTURE,
    kinds.TEXT("place", "The compute unit, such as SE1 CU3"),
    kinds.WAVES("waves", "Traced waves of it that could be read"),
    kinds.TEXT("missing", "Which of its waves could not be read, a sentence; empty if all could"),
    kinds.CYCLE_RANGE.maybe("range", "The range that counts, by default all; null without traced waves"),
)
UNITS_SCHEMA = Schema(
    "units",
    "For how long each unit of a compute unit was busy with traced waves.",
    (*_UNITS_FACTS, UNITS.field()),
    command="summary",
)


def units(found: UnitBusy, window: TimeWindow) -> ResultTable:
    """Return one row per used unit, from the result of `unit_busy` in the window."""
    busy = np.array([cycles for _, cycles in found], dtype=np.int64)
    columns: Columns = {
        "unit": [name for name, _ in found],
        "busy": busy,
        "cycles": np.full(len(busy), window.width),
        "share_of_range": busy / max(1, window.width),
    }
    return ResultTable(UNITS, columns)
