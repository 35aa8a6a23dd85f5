"""The exported tables of a capture: the meaning of each column.

Their columns are made in `export/tables.py`, columns of waves batch by batch, with the dtypes of the reader.
"""

from msgspec.structs import replace

from rcv_py.analysis.events.event_table import ENTRY_TEXT
from rcv_py.model.kinds import WaveState
from rcv_py.results import kinds
from rcv_py.results.common import IDLE, INSTRUCTION_TEXT, SOURCE_PLACE, STALL
from rcv_py.results.field import Field
from rcv_py.results.table import Spec

_LINE = kinds.ROW_OR_NONE("instruction", "Index of the instruction in the program; -1: none")
_WAVE = kinds.WAVE("wave", "The wave: shader engine, SIMD, slot, and its number in the slot")
_KIND = kinds.TEXT("kind", "Unit that executes it")
_START = kinds.CYCLE("start", "When it began")
_SE = kinds.PLACE("se", "Shader engine")
_SA = kinds.PLACE("sa", "Shader array")
_CU = kinds.PLACE("cu", "Compute unit")
_SIMD = kinds.PLACE("simd", "SIMD")
_SLOT = kinds.PLACE("slot", "Slot of the SIMD")
_BUSY = kinds.CYCLES("busy", "Time after the stall: issuing, on gfx10 and later executing")
_KERNEL = kinds.NAME("kernel", "Name of the kernel")
_TIME = kinds.CYCLE("time", "Time")
CODE = Spec(
    "code",
    "One row per instruction of the program; costs are sums over all traced waves.",
    "instruction",
    _LINE,
    kinds.INDEX("number", "Number of the row in the file"),
    kinds.INDEX("code_object", "Id of the code object"),
    kinds.ADDRESS("address", "Address inside the code object"),
    *(INSTRUCTION_TEXT, _KIND, _KERNEL),
    kinds.TEXT("block", "Name of the basic block"),
    kinds.FLAG("is_label", "Whether it is a label instead of an instruction"),
    kinds.COUNT("hits", "Executions"),
    kinds.CYCLES("latency", "Stall and busy time"),
    replace(STALL, meaning="Time it waited to issue"),
    replace(IDLE, meaning="Time before it in which its wave did nothing"),
    SOURCE_PLACE,
    kinds.SOURCE("chain", "All source places, innermost first, each inlined into the next"),
    kinds.COUNT("samples_issued", "PC samples that issued", is_optional=True),
    kinds.COUNT("samples_stalled", "PC samples that did not", is_optional=True),
    kinds.COUNT("samples_unsure", "PC samples that do not record whether they issued", is_optional=True),
    kinds.NUMBER("sample_lanes", "Mean active lanes of its samples", is_optional=True, is_unknown=True),
    kinds.NUMBER("sample_waves", "Mean waves on the sampled unit", is_optional=True, is_unknown=True),
)
WAVES = Spec(
    "waves",
    "One row per traced wave, without reading its file.",
    "wave",
    *(_WAVE, _SE, _SA, _CU, _SIMD, _SLOT),
    kinds.INDEX("wid", "Number of the wave in its slot"),
    kinds.CYCLE("start", "When it began"),
    kinds.CYCLE("end", "When it ended"),
    kinds.CYCLES("duration", "Duration"),
    _KERNEL,
    kinds.BYTES("bytes", "Size of its file"),
    kinds.TEXT("file", "Name of its file"),
)
TOKENS = Spec(
    "tokens",
    "One row per executed instruction.",
    "instruction",
    *(_WAVE, _START),
    replace(STALL, meaning="Time it waited to issue"),
    _BUSY,
    replace(IDLE, meaning="Time before it in which its wave did nothing"),
    *(_KIND, _LINE),
    kinds.INDEX("hit", "How often its wave had executed the instruction before"),
)
STATES = Spec(
    "states",
    "One row per segment of a wave's timeline.",
    "segment",
    *(_WAVE, _START),
    kinds.CYCLES("duration", "Duration"),
    Field("state", kinds.choice(*(state.name for state in WaveState), "unknown"), "What the wave was doing"),
)
WAITS = Spec(
    "waits",
    "One row for each executed wait and each instruction it waited for.",
    "instruction",
    *(_WAVE, _START, _LINE),
    replace(STALL, meaning="Time it waited to issue, of the whole wait"),
    kinds.TEXT("counter", "Name of the counter"),
    kinds.INDEX("left", "How many operations may be outstanding after the wait"),
    kinds.ROW_OR_NONE("producer", "Index of the instruction that it waited for; -1: none is known"),
    kinds.CYCLE("producer_start", "When that instruction began"),
    kinds.FLAG(
        "is_newest", "Whether it was issued last of what the wait required; add up `stall` only there"
    ),
)
OCCUPANCY = Spec(
    "occupancy",
    "One row for each time a wave began or ended anywhere on the traced shader engines.",
    "change",
    *(_TIME, _SE, _SA, _CU, _SIMD, _SLOT),
    kinds.FLAG("is_start", "Whether the wave began; else it ended"),
    kinds.INDEX("kernel", "Id of the kernel"),
    kinds.PLACE("workgroup", "Number of the workgroup; -1: unknown"),
    kinds.PLACE("cluster", "Number of the cluster; -1: unknown"),
    kinds.TEXT("kernel_name", "Name of the kernel"),
)
EVENTS = Spec(
    "events",
    "One row per dispatch, hardware event, marker or value of shader data.",
    "event",
    _START,
    kinds.CYCLES("duration", "Duration; -1: an instant"),
    Field("kind", kinds.choice(*ENTRY_TEXT.values()), "What it is"),
    kinds.TEXT("name", "Its name"),
    kinds.TEXT("place", "Where it happened"),
    kinds.TEXT("detail", "Further details"),
)
COUNTERS = Spec(
    "counters",
    "One row per sample of a counter.",
    "sample",
    kinds.TEXT("counter", "Name of the counter"),
    kinds.TEXT("family", "Unit that counted"),
    _TIME,
    kinds.PLACE("xcc", "Die (accelerator complex)"),
    *(_SE, _CU),
    Field("value", replace(kinds.NUMBER, unit="counts"), "Count since the previous sample"),
)
SOURCES = Spec(
    "sources",
    "One row per source file that instructions come from.",
    "file",
    kinds.NAME("path", "Path as the debug information spells it"),
    kinds.COUNT("lines", "Lines of the copy, 0 if there is none"),
    kinds.FLAG("has_text", "Whether the capture holds a copy"),
    kinds.TEXT("note", "Why it holds none"),
)
PROBLEMS = Spec(
    "problems",
    "One row per problem.",
    "problem",
    kinds.TEXT("severity", "Severity: info, warning or error"),
    kinds.TEXT("where", "What it is about"),
    kinds.TEXT("text", "What is wrong"),
    kinds.TEXT("hint", "What to do"),
)
ROWS = kinds.COUNT("rows", "Rows that it represents")
HELP = Spec(
    "help",
    "One row per column of a table.",
    "column",
    kinds.TEXT("column", "Name of the column"),
    kinds.TEXT("type", "Type of its values"),
    kinds.TEXT("unit", "Unit of its values"),
    kinds.TEXT("meaning", "What it is"),
)
CURVE = Spec(
    "counter_curve",
    "One row per step of the curve of a counter or formula.",
    "step",
    _TIME,
    kinds.NUMBER("value", "Value until the next row"),
)
