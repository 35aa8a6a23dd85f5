"""The tables of a capture as they are exported: what each of their columns is.

Their columns are made in `export/tables.py`, those of waves batch by batch, as wide as they were read.
"""

from __future__ import annotations

from dataclasses import replace

from rcv_py.analysis.events.event_table import ENTRY_TEXT
from rcv_py.model.kinds import WaveState
from rcv_py.results.common import IDLE, INSTRUCTION_TEXT, SOURCE_PLACE, STALL
from rcv_py.results.field import Field
from rcv_py.results.table import Spec
from rcv_py.results.unit import (
    ADDRESS,
    BYTES,
    COUNT,
    CYCLE,
    CYCLES,
    FLAG,
    INDEX,
    NUMBER,
    PLACE,
    ROW_OR_NONE,
    SOURCE,
    TEXT,
    WAVE,
    choice,
)

_LINE = Field("instruction", ROW_OR_NONE, "Index of the instruction in the program; -1: none")
_WAVE = Field("wave", WAVE, "The wave: shader engine, SIMD, slot, and its number in the slot")
_KIND = Field("kind", TEXT, "Unit that executes it")
_START = Field("start", CYCLE, "When it began")
_SE = Field("se", PLACE, "Shader engine")
_SA = Field("sa", PLACE, "Shader array")
_CU = Field("cu", PLACE, "Compute unit")
_SIMD = Field("simd", PLACE, "SIMD")
_SLOT = Field("slot", PLACE, "Slot of the SIMD")
_BUSY = Field("busy", CYCLES, "Time after the stall: issuing, on gfx10 and later executing")
_KERNEL = Field("kernel", TEXT, "Name of the kernel")
_TIME = Field("time", CYCLE, "When it was")

CODE = Spec(
    "code",
    "One row an instruction of the program; costs are sums over all traced waves.",
    "line",
    (
        _LINE,
        Field("number", INDEX, "Number of the row in the file"),
        Field("code_object", INDEX, "Id of the code object"),
        Field("address", ADDRESS, "Address inside the code object"),
        INSTRUCTION_TEXT,
        _KIND,
        _KERNEL,
        Field("block", TEXT, "Name of the basic block"),
        Field("is_label", FLAG, "Whether it is a label instead of an instruction"),
        Field("hits", COUNT, "How often it was executed"),
        Field("latency", CYCLES, "Stall and busy time"),
        replace(STALL, meaning="Time it waited to issue"),
        replace(IDLE, meaning="Time before it in which its wave did nothing"),
        SOURCE_PLACE,
        Field("chain", SOURCE, "All source places, innermost first, each inlined into the next"),
        Field("samples_issued", COUNT, "PC samples that issued", is_optional=True),
        Field("samples_stalled", COUNT, "PC samples that did not", is_optional=True),
    ),
)
WAVES = Spec(
    "waves",
    "One row a traced wave, without opening it.",
    "wave",
    (
        *(_WAVE, _SE, _SA, _CU, _SIMD, _SLOT),
        Field("wid", INDEX, "Number of the wave in its slot"),
        Field("start", CYCLE, "When it began"),
        Field("end", CYCLE, "When it ended"),
        Field("duration", CYCLES, "How long it took"),
        _KERNEL,
        Field("bytes", BYTES, "Size of its file"),
        Field("file", TEXT, "Name of its file"),
    ),
)
TOKENS = Spec(
    "tokens",
    "One row an executed instruction.",
    "instruction",
    (
        *(_WAVE, _START),
        replace(STALL, meaning="Time it waited to issue"),
        _BUSY,
        replace(IDLE, meaning="Time before it in which its wave did nothing"),
        *(_KIND, _LINE),
        Field("hit", INDEX, "How often its wave had executed the instruction before"),
    ),
)
STATES = Spec(
    "states",
    "One row a segment of a wave's timeline.",
    "segment",
    (
        *(_WAVE, _START),
        Field("duration", CYCLES, "How long it took"),
        Field("state", choice(*(state.name for state in WaveState), "unknown"), "What the wave was doing"),
    ),
)
WAITS = Spec(
    "waits",
    "One row for each executed wait and each instruction it waited for.",
    "instruction",
    (
        *(_WAVE, _START, _LINE),
        replace(STALL, meaning="Time it waited to issue, of the whole wait"),
        Field("counter", TEXT, "Name of the counter"),
        Field("left", INDEX, "How many operations may be outstanding after the wait"),
        Field("producer", ROW_OR_NONE, "Index of the instruction that it waited for; -1: none is known"),
        Field("producer_start", CYCLE, "When that began"),
        Field("is_newest", FLAG, "Whether the wait's stall is charged to this one"),
    ),
)
OCCUPANCY = Spec(
    "occupancy",
    "One row for each time a wave began or ended anywhere on the traced shader engines.",
    "change",
    (
        *(_TIME, _SE, _SA, _CU, _SIMD, _SLOT),
        Field("is_start", FLAG, "Whether the wave began; else it ended"),
        Field("kernel", INDEX, "Id of the kernel"),
        Field("workgroup", PLACE, "Number of the workgroup; -1: unknown"),
        Field("cluster", PLACE, "Number of the cluster; -1: unknown"),
        Field("kernel_name", TEXT, "Name of the kernel"),
    ),
)
EVENTS = Spec(
    "events",
    "One row a dispatch, hardware event, marker or value of shader data.",
    "event",
    (
        _START,
        Field("duration", CYCLES, "How long it took; -1: a moment"),
        Field("kind", choice(*ENTRY_TEXT.values()), "What it is"),
        Field("name", TEXT, "Its name"),
        Field("place", TEXT, "Where it was"),
        Field("detail", TEXT, "What else is known"),
    ),
)
COUNTERS = Spec(
    "counters",
    "One row a sample of a counter.",
    "sample",
    (
        Field("counter", TEXT, "Name of the counter"),
        Field("family", TEXT, "Which unit counted"),
        _TIME,
        Field("xcc", PLACE, "Die, the accelerator complex"),
        *(_SE, _CU),
        Field("value", replace(NUMBER, unit="counts"), "What was counted since the sample before"),
    ),
)

SOURCES = Spec(
    "sources",
    "One row a source file that instructions come from.",
    "file",
    (
        Field("path", TEXT, "Path as the debug information spells it"),
        Field("lines", COUNT, "Lines of the copy, 0 if there is none"),
        Field("has_text", FLAG, "Whether the capture holds a copy"),
        Field("note", TEXT, "Why it does not"),
    ),
)
PROBLEMS = Spec(
    "problems",
    "One row a problem.",
    "problem",
    (
        Field("severity", TEXT, "How much it costs the reader: info, warning or error"),
        Field("where", TEXT, "What it is about"),
        Field("text", TEXT, "What is wrong"),
        Field("hint", TEXT, "What to do"),
    ),
)
ROWS = Field("rows", COUNT, "Rows that it stands for")
HELP = Spec(
    "help",
    "One row a column of a table.",
    "column",
    (
        Field("column", TEXT, "Name of the column"),
        Field("type", TEXT, "Type of its values"),
        Field("unit", TEXT, "Unit of its values"),
        Field("meaning", TEXT, "What it is"),
    ),
)
CURVE = Spec(
    "counter_curve",
    "One row a step of the curve of a counter or formula.",
    "step",
    (_TIME, Field("value", NUMBER, "What is counted until the next row")),
)
