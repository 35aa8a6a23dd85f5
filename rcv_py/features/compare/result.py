"""The comparison of two captures: its changes, both programs side by side, and the differences as frames."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.compare.changes import most_changed, ranked, side_places
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.flame import compare_flame
from rcv_py.analysis.compare.verdict import LaunchDelta, why_not_per_wave
from rcv_py.analysis.compare.work import WorkCosts
from rcv_py.base.text import Message, percent, short_paths, short_place
from rcv_py.features.flame.result import frame_names, visible_frames
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import TOTAL_ROWS
from rcv_py.results.field import DATA, ORDER, PEOPLE, TEXT, WINDOW, Field, ShownIn, only, record, unknown
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

MANY_TIMES = 4  # noise as large as the cycles: noise is then unknown
UNITS = {"instruction": "instruction", "source": "source line", "block": "block", "class": "class"}
_ROW = replace(kinds.ROW_OR_NONE, text=lambda line: "" if line < 0 else str(line))
_CYCLES = replace(kinds.MEAN_CYCLES, digits=3, text=lambda value: f"{value:,.1f}")
_PART = replace(kinds.SHARE, text=lambda value: percent(value, 1))


def _noise(row: Mapping[str, Any]) -> str:
    return f"{row['noise']:,.1f}" if row["noise"] is not None and row["is_noise_known"] else "unknown"


_NOISE = _CYCLES.maybe("noise", "Uncertainty of the difference")
_REAL = kinds.YES_NO("is_beyond_noise", "Whether it exceeds noise", "beyond noise", key="is_real")
_LINE_A = _ROW("instruction_a", "Index of the instruction of A; -1 if there is none", "# A")
_LINE_B = _ROW("instruction_b", "Index of the instruction of B; -1 if there is none", "# B")
_STATUS = replace(kinds.TEXT, width=8)(
    "status", "Match of the instruction: same, changed, moved, inserted or removed"
)
_MATCH = (_LINE_A, _LINE_B, _STATUS)
_SOURCES = tuple(
    kinds.SOURCE(
        f"source_{side}",
        Message("Source place of instruction_{0} as file:line; empty if there is none", side),
        Message("source {0}", side.upper()),
    )
    for side in "ab"
)
_FIELDS = (
    kinds.SOURCE("label", "Name of the row", at=TEXT),
    kinds.TEXT("name", "Name of the row"),
    kinds.CODE("text", "Instruction or source text"),
    *_MATCH,
    kinds.COUNT("hits_a", "Executions in A", "hits A"),
    kinds.COUNT("hits_b", "Executions in B", "hits B"),
    _CYCLES("cycles_a", "Cost per wave of A", "cycles A", key="cost_a"),
    _CYCLES("cycles_b", "Cost per wave of B, at the executions of A", "cycles B", key="cost_b"),
    _PART("share_of_cycles_a", "Part of all cycles of A", "share A"),
    _PART("share_of_cycles_b", "Part of all cycles of B", "share B"),
    Field("delta", replace(_CYCLES, text=lambda value: f"{value:+,.1f}"), "B minus A, per wave"),
    replace(kinds.RATIO, text=lambda value: f"{100 * value:+.1f} %").maybe(
        "ratio", "Delta divided by the cycles of A", "delta %", at=ORDER | TEXT
    ),
    _NOISE,
    replace(_NOISE, name="noise_text", title="noise ±", at=TEXT, of=_noise),
    kinds.FLAG("is_noise_known", "Whether the noise is not many times the cost", at=ShownIn(0)),
    _REAL,
    *_SOURCES,
    kinds.SOURCE("place", "Source place in B, or in A where B lacks the instruction", "source", at=TEXT),
    kinds.SOURCE("most", "What changed most in B, and its place", "changed most at", at=TEXT),
)
NUMBERS = ("hits_a", "hits_b", "cycles_a", "cycles_b", "delta", "ratio", "noise_text")  # of all tables
_NUMBERS = (*NUMBERS, "share_of_cycles_a", "share_of_cycles_b", "is_beyond_noise")
_TEXT = {  # what people see, in this order
    "instruction": ("instruction_a", "instruction_b", "status", *_NUMBERS, "text", "place"),
    "source": ("label", *_NUMBERS),
    "block": ("label", *_NUMBERS, "most"),
    "class": ("label", *_NUMBERS, "text", "most"),
}
_TITLES = {"instruction": {"text": "instruction"}, "class": {"text": "what it is"}}


def _people(name: str, by: str) -> ShownIn:
    """Where people see a field: the window draws differences beyond noise, and sorts by noise as a number."""
    if name == "noise":
        return WINDOW
    shown = TEXT if name in ("noise_text", "is_beyond_noise") else TEXT | WINDOW
    return shown if name in _TEXT[by] else ShownIn(0)


def _spec(by: str) -> Spec:
    titles = {"label": UNITS[by], **_TITLES.get(by, {})}
    fields = (
        replace(one, title=titles.get(one.name, one.title), at=(one.at & ~PEOPLE) | _people(one.name, by))
        for one in _FIELDS
    )
    names = ["noise" if name == "noise_text" else name for name in _TEXT[by] if name != _REAL.name]
    return Spec(
        "compare",
        "Differences, the largest first.",
        UNITS[by],
        *fields,
        order=" ".join(_TEXT[by]),
        window=" ".join(sorted(names, key=lambda name: name != "text")),  # the instruction is read first
    )


CHANGES = {by: _spec(by) for by in UNITS}


def change_table(found: Comparison, by: str) -> ResultTable:
    """Return one row per change, changes beyond noise first; no row if nothing can be compared.

    Cycles are per wave, at A's executions.  People see source places as short as is unambiguous.
    """
    if by == "instruction":
        table, (line_a, line_b) = found.rows, found.listing
        pairs = list(zip(line_a.tolist(), line_b.tolist(), strict=True))
        names: Sequence[str] = [
            Message("instruction {0}", b) if b >= 0 else Message("instruction {0} of A", a) for a, b in pairs
        ]
        said: Sequence[str] = [found.b.code.text[b] if b >= 0 else found.a.code.text[a] for a, b in pairs]
        fates = found.fate_texts
    else:
        groups, table = found.grouped(by)
        names, said, fates = groups.names, groups.texts, [""] * len(groups.names)
        line_b = most_changed(found, groups.of, len(names))
        line_a = np.full_like(line_b, -1)
    order = ranked(table) if found.kernel is not None else np.zeros(0, dtype=np.int64)
    totals = [max(float(column.sum()), 1e-9) for column in (table.cost_a, table.cost_b)]
    line_a, line_b, table = line_a[order], line_b[order], table.at(order)
    names, said, fates = ([column[at] for at in order.tolist()] for column in (names, said, fates))
    places_a, places_b = side_places(found.a), side_places(found.b)
    short = short_paths(source.path for side in (found.a, found.b) for source in side.sources)
    sources_a, sources_b = [places_a[row] for row in line_a], [places_b[row] for row in line_b]
    short_b = [short_place(place, short) for place in sources_b]
    columns: Columns = {
        "label": [short_place(name, short) if by == "source" else name for name in names],
        "name": names,
        "text": said,
        "instruction_a": line_a,
        "instruction_b": line_b,
        "status": fates,
        "share_of_cycles_a": table.cost_a / totals[0],
        "share_of_cycles_b": table.cost_b / totals[1],
        # With one or two groups of waves, noise is many times the cost.
        "is_noise_known": table.noise <= MANY_TIMES * np.maximum(table.cost_a, table.cost_b),
        "source_a": sources_a,
        "source_b": sources_b,
        "place": [b or short_place(a, short) for a, b in zip(sources_a, short_b, strict=True)],
        "most": [
            f"{row}  {place}".rstrip() if row >= 0 else ""
            for row, place in zip(line_b.tolist(), short_b, strict=True)
        ],
    }
    return ResultTable.of(CHANGES[by], table, columns)


_COST = replace(kinds.MEAN_CYCLES, digits=3, text=lambda value: f"{value:,.1f}" if value else "")
LISTING = Spec(
    "compare listing",
    "One row per instruction or pair, in the order of B.",
    "instruction",
    *_MATCH,
    kinds.INSTRUCTION("text_a", "Instruction of A; empty if there is none", "text A"),
    kinds.INSTRUCTION("text_b", "Instruction of B; empty if there is none", "text B"),
    _COST("cycles_a", "Cost per wave of A", "cycles A", key="cost_a"),
    _COST("cycles_b", "Cost per wave of B, at the executions of A", "cycles B", key="cost_b"),
    _COST("delta", "B minus A, per wave"),
    replace(kinds.RATIO, digits=None, text=lambda value: f"{100 * value:+.1f} %").maybe(
        "ratio", "Delta divided by the cost in A; null if that is 0", "delta %", at=DATA | WINDOW
    ),
    replace(_REAL, at=DATA),
    *_SOURCES,
    order="instruction_a instruction_b cycles_a cycles_b delta status",
    window="instruction_a text_a cycles_a instruction_b text_b cycles_b delta ratio status",
)


def _indented(row: Mapping[str, Any]) -> str:
    return f"{'  ' * row['depth']}{row['name']}"


SHADES = ("fewer", "within noise", "more")
FRAMES = Spec(
    "compare flame",
    "Frames row by row, from left to right.",
    "frame",
    *only(
        DATA,
        kinds.TEXT("name", "Label of the frame"),
        kinds.TEXT("full_name", "Unabbreviated label"),
        kinds.WHOLE("depth", "Enclosing frames, as a count"),
    ),
    kinds.CYCLES("cycles_a", "Cost per wave of A", "cycles A"),
    kinds.CYCLES("cycles_b", "Cost per wave of B, at the executions of A", "cycles B"),
    kinds.CYCLES(
        "delta",
        "B less A",
        at=PEOPLE,
        of=lambda row: (
            f"{row['cycles_b'] - row['cycles_a']:+,}" if row["cycles_b"] != row["cycles_a"] else ""
        ),
    ),
    Field("change", kinds.choice("within noise", "more", "fewer"), "Match of the frame"),
    kinds.NOTE("frame", "Label of the frame, indented below the enclosing frames", at=PEOPLE, of=_indented),
    kinds.SOURCE("source", "Place of an instruction or a source line as file:line; else empty", at=DATA),
    kinds.SOURCE(
        "place",
        "Place, if the label does not name it",
        "source",
        at=PEOPLE,
        of=lambda row: "" if row["name"].endswith(row["source"]) else row["source"],
    ),
)
_SIDES = (
    kinds.TEXT("a", "Name of the capture before the change"),
    kinds.TEXT("b", "Name of the capture after the change"),
    kinds.TEXT("verdict", "The verdict in one word"),
    kinds.TEXT("sentence", "The verdict in a sentence"),
    Field("measure", kinds.choice("cost", "latency", "stall"), "Which cycles are compared"),
)
VIEW_FACTS = (*_SIDES, TOTAL_ROWS)


def side_facts(found: Comparison) -> dict[str, Any]:
    """Return the fields of every document: both captures, the verdict, and which cycles are compared."""
    return {
        "a": found.a.name,
        "b": found.b.name,
        "verdict": found.verdict.value,
        "sentence": found.judgement.sentence,
        "measure": found.measure,
    }


def listing_table(found: Comparison) -> ResultTable:
    """Return one row per instruction of both programs, in the order of B."""
    table, (row_a, row_b) = found.rows, found.listing
    side_a, side_b = row_a.tolist(), row_b.tolist()
    places_a, places_b = side_places(found.a), side_places(found.b)
    columns: Columns = {
        "instruction_a": row_a,
        "instruction_b": row_b,
        "status": found.fate_texts,
        "text_a": [found.a.code.text[row] if row >= 0 else "" for row in side_a],
        "text_b": [found.b.code.text[row] if row >= 0 else "" for row in side_b],
        "source_a": [places_a[row] for row in side_a],
        "source_b": [places_b[row] for row in side_b],
    }
    return ResultTable.of(LISTING, table, columns)


def frame_table(found: Comparison, trace: Trace) -> ResultTable:
    """Return the frames of B, each with its cycles per wave in both; instructions only in A are left out."""
    made = compare_flame(trace, found)
    if made is None:
        return ResultTable(FRAMES, {field.name: () for field in FRAMES.at(DATA)})
    tree, boxes, texts, before, shade = made
    shown = visible_frames(boxes)
    columns = {
        "depth": boxes.row[shown],
        "cycles_a": before[shown],
        "cycles_b": boxes.width[shown],
        "change": [SHADES[sign + 1] for sign in np.sign(shade[shown]).astype(int).tolist()],
    }
    return ResultTable(FRAMES, frame_names(trace, tree, shown, texts) | columns)


def widest(table: ResultTable, top: int) -> ResultTable:
    """Return the frames with most cycles in either capture, in their order; 0: all."""
    widths = np.maximum(np.asarray(table.columns["cycles_a"]), np.asarray(table.columns["cycles_b"]))
    return table[np.sort(np.argsort(-widths, kind="stable")[: top or None])]


_AMOUNT = replace(kinds.NUMBER, text="{:,.5g}".format, digits=6)
_WORK_ROWS = (  # attribute of WorkCosts, what it is, and its unit
    ("duration", "Launch", "cycles"),
    ("duration_ns", "Launch", "ns"),
    ("clock_mhz", "Clock during the launch", "MHz"),
    ("launch_flop", "MFMA or WMMA operations of the launch", "FLOP"),
    ("launch_cycles_per_mflop", "Launch per million of these operations", "cycles"),
    ("cycles", "Latency and idle per wave", "cycles"),
    ("instructions", "Executions per wave", "executions"),
    ("flop", "MFMA or WMMA operations per wave", "FLOP"),
    ("bytes", "Bytes requested per wave, at most", "bytes"),
    ("cycles_per_kflop", "Cycles per 1,000 operations of a wave", "cycles"),
    ("cycles_per_kb", "Cycles per 1,000 requested bytes of a wave", "cycles"),
    ("cycles_per_instruction", "Cycles per execution of a wave", "cycles"),
)
WORK = Spec(
    "compare work",
    "One row per measure: the work of waves and of the launch, and its cost.",
    "measure",
    kinds.TEXT("name", "Name of the measure", at=DATA),
    kinds.NOTE("measure", "What is measured"),
    *unknown(_AMOUNT("a", "Of A", "A"), _AMOUNT("b", "Of B", "B")),
    kinds.TEXT("unit", "Unit"),
    replace(kinds.RATIO, text=lambda value: f"{100 * (value - 1):+.1f} %").maybe(
        "ratio", "B divided by A", "B against A"
    ),
    nothing="No instruction ran.",
    note="The launch covers the traced shader engines; its operations are the operations per "
    "counted wave times the number of its waves.",
)


def work_table(a: WorkCosts, b: WorkCosts) -> ResultTable:
    """Return one row per measure that at least one side has."""
    rows = [(name, text, getattr(a, name), getattr(b, name), unit) for name, text, unit in _WORK_ROWS]
    known = [row for row in rows if row[2] > 0 or row[3] > 0]
    return ResultTable.of_rows(WORK, [(*row, row[3] / row[2] if row[2] > 0 else np.nan) for row in known])


_PAIR = kinds.pair(kinds.NUMBER, "A, then B")
_NOISY = record(
    kinds.RATIO("value", "B divided by A"),
    kinds.NUMBER.maybe("noise", "Uncertainty from noise; null if unknown"),
)
_WORK = kinds.listed(_PAIR, "Minimum and maximum over groups of traced waves")
_LAUNCH = record(
    _PAIR("duration", "Cycles from the first start of a wave to the last end"),
    _PAIR("waves", "Waves that were launched"),
    _PAIR("wave_cycles", "Lifetimes of all these waves, summed"),
    Field("shader_engines", kinds.listed(kinds.listed(kinds.COUNT, "Number"), "Shader engines"), "A, then B"),
    _WORK.maybe("work_per_wave", "A, then B; null if no unit of work is known"),
    kinds.TEXT.maybe("work_unit", "Unit of work"),
    kinds.FLAG(
        "is_comparable_per_wave",
        "Whether both launches have the same number of waves and their waves do the same work",
    ),
    _NOISY("ratio", "Duration of B divided by the duration of A"),
)
_KERNEL = record(
    _PAIR("waves", "Waves"),
    _PAIR("hits_per_wave", "Executions per wave"),
    _PAIR("cycles_per_wave", "Cycles per wave, without the end-of-kernel drain under s_endpgm"),
    _PAIR("cycles_per_hit", "The same cycles per execution"),
    _PAIR(
        "common_share_of_cycles", "Part of the cycles on instructions that both programs have, from 0 to 1"
    ),
    _NOISY("ratio_at_equal_hits", "Cycles at equal executions"),
    _NOISY("ratio_per_wave", "Cycles per wave"),
    _LAUNCH.maybe("launch", "The launches on the traced shader engines; null if a capture does not say"),
)
FACTS = (
    *_SIDES,
    kinds.TEXT("per", "What the cycles are divided by"),
    Field("notes", kinds.texts("A sentence."), "Caveats"),
    kinds.FLAG("is_same_program", "Whether both ran the same program"),
    Field("by", kinds.choice(*UNITS), "What a row is"),
    TOTAL_ROWS,
    kinds.COUNT("rows_beyond_noise", "Rows whose difference exceeds noise"),
    _KERNEL.maybe("kernel", "The kernel as a whole; null if nothing can be compared"),
)
LISTING_SCHEMA = Schema(
    "compare.listing", "Both programs side by side (--by listing).", (*VIEW_FACTS, LISTING.field())
)
WORK_SCHEMA = Schema(
    "compare.work",
    "What an operation, a byte and the launch cost in A and in B (--by work).",
    (*VIEW_FACTS, WORK.field()),
    version=1,
)
FLAME_SCHEMA = Schema(
    "compare.flame",
    "The flamegraph of B with the cost of each frame in both (--by flame).",
    (*VIEW_FACTS, FRAMES.field("frames")),
)
SCHEMA = Schema(
    "compare",
    "Whether B takes more or fewer cycles than A, beyond noise, and where.",
    (*FACTS, CHANGES["instruction"].field()),
)


def facts(found: Comparison, table: ResultTable, by: str) -> dict[str, Any]:
    """Return the fields of the document besides the shown rows; `table` has all changes."""
    kernel, numbers = found.kernel, None
    if kernel is not None:
        numbers = {
            "waves": kernel.waves,
            "hits_per_wave": kernel.hits_per_wave,
            "cycles_per_wave": kernel.per_wave,
            "cycles_per_hit": kernel.per_hit,
            "common_share_of_cycles": kernel.covered,
            "ratio_at_equal_hits": asdict(kernel.at_equal_hits),
            "ratio_per_wave": asdict(kernel.a_wave),
            "launch": None if kernel.launch is None else _launch(kernel.launch),
        }
    return {
        **side_facts(found),
        **_judged(found),
        "by": by,
        "total_rows": len(table),
        "rows_beyond_noise": sum(table.plain("is_beyond_noise")),
        "kernel": numbers,
    }


def _judged(found: Comparison) -> dict[str, Any]:
    judged = {"per": found.judgement.basis, "notes": list(found.notes)}
    return {**judged, "is_same_program": found.align.is_same}


def flat_facts(found: Comparison) -> dict[str, Any]:
    """Return the verdict and the numbers of the kernel, without nesting and noise, for the API."""
    facts = {"verdict": found.verdict.value, "sentence": found.judgement.sentence, **_judged(found)}
    if found.kernel is None:
        return facts
    facts |= {
        "cycles_per_wave": found.kernel.per_wave,
        "cycles_per_hit": found.kernel.per_hit,
        "ratio_at_equal_hits": found.kernel.at_equal_hits.value,
        "ratio_per_wave": found.kernel.a_wave.value,
    }
    launch = found.kernel.launch
    if launch is not None:
        facts |= {
            "launch_duration": (launch.a.duration, launch.b.duration),
            "launched_waves": (launch.a.waves, launch.b.waves),
            "ratio_of_launches": launch.duration.value,
        }
    return facts


def _launch(launch: LaunchDelta) -> dict[str, Any]:
    work = launch.wave_work
    return {
        "duration": [launch.a.duration, launch.b.duration],
        "waves": [launch.a.waves, launch.b.waves],
        "wave_cycles": [launch.a.wave_cycles, launch.b.wave_cycles],
        "shader_engines": [list(launch.a.engines), list(launch.b.engines)],
        "work_per_wave": None if work is None else [[one.low, one.high] for one in work],
        "work_unit": None if work is None else work[0].unit,
        "is_comparable_per_wave": not why_not_per_wave(launch),
        "ratio": asdict(launch.duration),
    }
