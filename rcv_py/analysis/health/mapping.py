"""Quality of the source mapping: whether cost spreads over source lines or collapses onto one."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.health.note import HealthNote, Measured, number, part, share
from rcv_py.base.problems import Severity
from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, percent
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace

# Of the instructions that ran, on one line: a hot line has few but costly instructions, a collapsed line has
# many, at any cost.
COLLAPSED = 0.5
MANY_LINES = 50  # a kernel with fewer instructions may well be one line
INCOMPLETE = 0.9  # of the instructions that ran have a source line; compilers always lose a few

_HEADS = (
    (re.compile(r"@\w"), "a decorator"),
    (re.compile(r"(async\s+)?def\s"), "the head of a function"),
    (re.compile(r".*__global__"), "the head of a kernel"),
    (re.compile(r"class\s"), "the head of a class"),
    (re.compile(r"extern\s"), "a declaration"),
)
# Names are possessive: a source line may be megabytes long.
_ONE_LINE = re.compile(r"(async\s+)?def\s+(\w++).*:\s*\S+")
_DEF = re.compile(r"(async\s+)?def\s+(\w++).*:\s*$")


class Mapping(Value):
    """Spread of executed code lines over source lines."""

    code_lines: int  # executed code lines with a source place
    source_lines: int  # their distinct innermost places
    top_file: int  # the place with most code lines, -1 if there is none
    top_line: int
    top_share: float  # of the code lines, 0 to 1
    top_cost: float  # of their cost, 0 to 1
    effective: float  # e to the entropy of the shares: the equivalent number of evenly used lines

    @property
    def is_collapsed(self) -> bool:
        """Whether the compiler put most instructions on one line."""
        return self.code_lines >= MANY_LINES and self.top_share >= COLLAPSED


def mapping(code: CodeTable) -> Mapping:
    """Return the spread of executed code lines (all lines if none ran) over their innermost places."""
    rows = np.flatnonzero((code.leaf >= 0) & ~code.is_label)
    ran = rows[code.hits[rows] > 0]
    rows = ran if len(ran) else rows
    if not len(rows):
        return Mapping(0, 0, top_file=-1, top_line=0, top_share=0.0, top_cost=0.0, effective=0.0)
    places, size = _by_line(code, rows)
    top = int(np.argmax(size))
    _, cost = _by_line(code, rows, cost_columns(code).cost[rows])
    return Mapping(
        code_lines=len(rows),
        source_lines=len(places),
        top_file=int(places[top] >> 32),
        top_line=int(places[top] & 0xFFFFFFFF),
        top_share=float(size[top] / len(rows)),
        top_cost=float(cost[top] / max(int(cost.sum()), 1)),
        effective=_effective(size),
    )


def _by_line(
    code: CodeTable, rows: np.ndarray, weight: np.ndarray | None = None, file: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The innermost places of code rows that have one, file << 32 | line, and the weight of each; int64.

    `file` is the number that each source file counts as.
    """
    leaf = code.leaf[rows]
    files = code.chain_file[leaf].astype(np.int64) if file is None else file[code.chain_file[leaf]]
    places, group = np.unique(files << 32 | code.chain_line[leaf], return_inverse=True)
    return places, np.bincount(group.reshape(-1), weight, len(places))


def _effective(weight: np.ndarray) -> float:
    """E to the entropy of the shares: the equivalent number of evenly used lines; 0 without any."""
    share = weight[weight > 0] / max(weight.sum(), 1)
    return float(np.exp(-(share * np.log(share)).sum())) if len(share) else 0.0


def effective_lines(trace: Trace) -> float:
    """Return the equivalent number of evenly used source lines; 0 without weight.

    A line weighs the sum of executions plus stall cycles of its instructions, as in the script that kernel
    authors use for this; files count by their last name.
    """
    code = trace.code
    rows = np.flatnonzero((code.leaf >= 0) & ~code.is_label)
    names = [source.path.rsplit("/", 1)[-1] for source in trace.sources]
    first = np.array([names.index(name) for name in names], dtype=np.int64)
    return _effective(_by_line(code, rows, (code.hits + code.stall)[rows], first)[1])


def collapsed(trace: Trace) -> HealthNote | None:
    """Return a note if one source line has most of the instructions."""
    spread = mapping(trace.code)
    if not spread.is_collapsed:
        return None
    source = trace.sources[spread.top_file]
    what = what_line(source.lines or (), spread.top_line)
    place = f"{source.path.rsplit('/', 1)[-1]}:{spread.top_line}"
    code = trace.code
    leaf = np.maximum(code.leaf, 0)
    here = (code.leaf >= 0) & (code.chain_file[leaf] == spread.top_file)
    here &= (code.chain_line[leaf] == spread.top_line) & ~code.is_label
    sites = len({tuple(code.chain(row)) for row in np.flatnonzero(here).tolist()})  # chains of calls to it
    effective = effective_lines(trace)
    counted = Message("{0:.2f} by executions and stall", effective)
    text = "{0} of the instructions are on one source line, {1}"
    return HealthNote(
        name="mapping",
        title=Message(text, percent(spread.top_share, 1), place) + (Message(", {0}", what) if what else ""),
        evidence=(
            share("instructions on it", spread.top_share),
            share("their cost", spread.top_cost, " of the latency"),
            Measured("what it is", what, what or "not a decorator, a head or a one-line helper"),
            number("source lines", spread.source_lines),
            Measured("effective lines", round(effective, 2), counted),
            Measured(
                "effective lines by instructions", round(spread.effective, 2), f"{spread.effective:.2f}"
            ),
            number("call sites of that line", sites),
        ),
        consequence="Costs by source line are blurred: many instructions carry a line that is not their own, "
        "because the compiler lost theirs.",
        remedy=_remedy(sites, source.path),
    )


def _remedy(sites: int, path: str) -> str:
    if sites > 1:
        return (
            "Read costs at the call sites: the chain of inlined calls is recorded, so the outer lines "
            "distinguish them."
        )
    if path.endswith(".py"):
        return (
            "Let the compiler that turns Python into code keep the location of every operation; until then "
            "rank instructions and basic blocks instead of lines."
        )
    return "Build with line information and less inlining; until then rank instructions instead of lines."


def head_of(text: str) -> str:
    """Return the kind of declaration of a source line (`a decorator`); "" if it is a statement."""
    return next((name for head, name in _HEADS if head.match(text.strip())), "")


class LineCost(NamedTuple):
    """The source line with most of the latency."""

    file: int  # index of the source file
    line: int
    cycles: int  # latency on it
    total: int  # latency of all instructions, mapped or not
    lines: int  # distinct source lines that ran
    text: str  # "" if the file was not copied

    @property
    def is_declaration(self) -> bool:
        """Whether most of the latency is on a line that has no instructions of its own, or on no line."""
        return self.cycles >= COLLAPSED * self.total and (not self.line or bool(head_of(self.text)))


def costliest_line(trace: Trace) -> LineCost | None:
    """Return the source line with most latency; None if no executed instruction is mapped or has latency."""
    code = trace.code
    rows = np.flatnonzero((code.leaf >= 0) & ((code.latency > 0) | (code.hits > 0)))
    total = int(code.latency.sum())
    if not len(rows) or not total:
        return None
    places, cost = _by_line(code, rows, code.latency[rows])
    best = int(np.argmax(cost))
    file, line = int(places[best] >> 32), int(places[best] & 0xFFFFFFFF)
    lines = trace.sources[file].lines or ()
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return LineCost(file=file, line=line, cycles=int(cost[best]), total=total, lines=len(places), text=text)


def what_line(lines: Sequence[str], line: int) -> str:
    """Return the kind of a line that can hardly have own instructions; "" if it can, or is unknown."""
    if not 0 < line <= len(lines):
        return ""
    text = lines[line - 1].strip()
    helper = _ONE_LINE.match(text)
    if helper:
        return Message("the only line of {0}", helper[2])
    if head := head_of(text):
        return head
    before = _DEF.match(lines[line - 2].strip()) if line > 1 else None
    return Message("the only line of {0}", before[2]) if before and text.startswith("return") else ""


def debug_info(trace: Trace) -> HealthNote | None:
    """Return a note if instructions that ran have no source line."""
    code = trace.code
    rows = ~code.is_label
    if code.hits.any():
        rows = rows & (code.hits > 0)
    total, mapped = int(np.count_nonzero(rows)), int(np.count_nonzero(rows & (code.leaf >= 0)))
    if not total or mapped >= INCOMPLETE * total:
        return None
    return HealthNote(
        name="debug_info",
        severity=Severity.INFO if not mapped else Severity.WARNING,
        title="No instruction has a source line" if not mapped else "Some instructions have no source line",
        evidence=(part("instructions with a line", mapped, total),),
        consequence=(
            "Costs by source line are too low."
            if mapped
            else "Costs by source line are not known: the views Source and Files are empty, the "
            "flamegraph names instructions only."
        ),
        remedy="Build with debug information: -g for hipcc; FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1 for FlyDSL; "
        "no TRITON_DISABLE_LINE_INFO for Triton, and an empty cache of compiled kernels for both.",
    )


def sources(trace: Trace) -> HealthNote | None:
    """Return a note if source files that the code names were not copied."""
    lost = [source for source in trace.sources if source.lines is None]
    if not lost:
        return None
    files = Message("{0} of {1}", count(len(lost)), count(len(trace.sources)))
    return HealthNote(
        name="sources",
        severity=Severity.INFO,
        title="Source files were not copied into the capture",
        evidence=(Measured("files", len(lost), Message("{0}, such as {1}", files, lost[0].path)),),
        consequence="Their lines have costs, but no text.",
        remedy="Record on a machine that has the files at these paths, or put them there and decode again.",
    )
