"""Findings from program and costs: over-conservative waits, end-of-kernel drain, collapsed source mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import registers
from rcv_py.analysis.findings.bounds import Bound
from rcv_py.analysis.findings.evidence import line_of, worst_end_of
from rcv_py.analysis.findings.finding import CAUTION, Evidence, Finding
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.analysis.findings.remedies import remedy_fields
from rcv_py.analysis.findings.situation import PRECONDITIONS, Situation
from rcv_py.analysis.findings.waiting import BOUND, situation
from rcv_py.analysis.health.mapping import costliest_line
from rcv_py.analysis.program.program_ends import ends_of
from rcv_py.base.text import count, percent, plural
from rcv_py.model.code import CodeTable

AHEAD = 12  # instructions after a wait within which a result has to be read to count as needed
MAX_WAITS = 8  # waits that are looked at
_ZERO = re.compile(r"s_wait(?:cnt.*\b(?:vmcnt|lgkmcnt)\(0\)|_(?:load|ds|km|x)cnt 0x0\b)")


def drain(inputs: FindingInputs) -> Iterator[Finding]:
    """End-of-kernel drain: waves that end while stores are in flight."""
    exposure, rows = inputs.exposure, inputs.rows_of(Cause.DRAIN)
    cycles = exposure.nothing_ending
    if not cycles:
        return
    ends = np.flatnonzero(ends_of(inputs.trace.code)).tolist()
    blamed = inputs.producers(rows, 2)
    yield Finding(
        name="drain-at-end",
        title="End-of-kernel drain",
        cycles=cycles,
        is_upper_bound=True,
        share=cycles / exposure.resident if exposure.resident else 0.0,
        exposed=exposure.exposed_ending,
        attributed=exposure.ending,
        sentence=f"{count(exposure.ending)} cycles of all waves "
        f"({percent(exposure.ending, max(1, exposure.lives))} of their lives) are spent under s_endpgm, "
        "where a wave keeps its slot while its last operations are on the way.",
        **remedy_fields("drain-at-end", situation(inputs, rows, inputs.claimed(rows))),
        evidence=(
            *(line_of(inputs, line) for line in ends[:1]),
            *worst_end_of(inputs, ends),
            *(line_of(inputs, line, "the last one before") for line, _ in blamed),
        ),
        assumption="Doubtful: the trace gives s_endpgm a long latency that need not cost anything, since the "
        f"slot may be free before. {BOUND}",
    )


def redundant(inputs: FindingInputs) -> Iterator[Finding]:
    """Over-conservative waits: for everything, where what follows needs only the older part of it.

    Only of counters that return in order: after a scalar load, 0 is the only count that proves anything.
    """
    found = [wait for wait in _waits(inputs) if _is_redundant(inputs.trace.code, *wait)]
    found = [wait for wait in found if _in_order(inputs, wait[0], (wait[1], *wait[2]))]
    if not found:
        return
    lines = np.array([wait for wait, *_ in found])
    table = inputs.attribution
    rows = np.flatnonzero(np.isin(table.line, lines) & np.isin(table.producer, [new for _, new, _ in found]))
    claimed = inputs.claimed(rows)
    if not len(claimed):
        return
    first_wait, newest, olds = found[0]
    named = ", ".join(map(str, olds[:3]))
    yield Finding(
        name="redundant-wait",
        title="Over-conservative s_waitcnt",
        cycles=claimed.bound.cycles,
        is_upper_bound=True,
        share=claimed.bound.share,
        exposed=claimed.bound.exposed,
        sentence=f"{plural(len(found), 'wait')} for a count of 0 wait also for an operation whose result "
        f"none of the next {AHEAD} instructions reads: instruction {first_wait} waits for {newest}, but what "
        f"follows reads only results of {named}.",
        **remedy_fields("redundant-wait", Situation(inputs, claimed, (newest, *olds))),
        evidence=tuple(
            line_of(inputs, line, why)
            for wait, new, _ in found[:2]
            for line, why in ((wait, "the wait"), (new, "waited for, not read soon"))
        ),
        assumption="Derived from the text of the instructions that follow in the program; a branch may lead "
        "elsewhere. These cycles are counted under the wait's own finding as well.",
        attributed=int(claimed.attributed.sum()),
    )


def _in_order(inputs: FindingInputs, wait: int, producers: tuple[int, ...]) -> bool:
    """Whether everything that a wait requires comes back in the order of issue."""
    only = Claimed(np.array([wait]), np.zeros(1, np.int64), np.zeros(1, np.int64), 0, Bound(0, 0.0, 0))
    return PRECONDITIONS["in-order"].holds(Situation(inputs, only, producers))


def _waits(inputs: FindingInputs) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (wait, newest producer, older ones) of the costly waits for a count of zero."""
    table, code, uses = inputs.attribution, inputs.trace.code, inputs.uses
    rows = inputs.rows_of(Cause.WAIT_LOAD, Cause.WAIT_SCALAR, Cause.WAIT_LDS)
    claimed = inputs.claimed(rows)
    for wait in claimed.line[:MAX_WAITS].tolist():
        if not _ZERO.match(code.text[wait]):
            continue
        blamed = rows[(table.line[rows] == wait) & (table.producer[rows] >= 0)]
        if not len(blamed):
            continue
        newest = int(table.producer[blamed[np.argmax(table.cycles[blamed])]])
        older = [int(line) for line in np.sort(uses.line[uses.wait == wait]) if line < newest < wait]
        if older:
            yield wait, newest, older


def _is_redundant(code: CodeTable, wait: int, newest: int, older: list[int]) -> bool:
    """Whether the instructions after a wait read results of older operations, but not of the newest."""
    wanted = registers(code.text[newest]).writes
    other = 0
    for line in older:
        other |= registers(code.text[line]).writes
    if not wanted or not other & ~wanted:
        return False
    reads = 0
    for row in range(wait + 1, min(len(code), wait + 1 + AHEAD)):
        if code.is_label[row] or code.text[row].startswith(
            ("s_barrier", "s_cbranch", "s_branch", "s_endpgm")
        ):
            break
        reads |= registers(code.text[row]).reads
    return bool(reads & other & ~wanted) and not reads & wanted


def collapsed(inputs: FindingInputs) -> Iterator[Finding]:
    """Source mapping collapsed: costs on a line that has no instructions of its own."""
    found = costliest_line(inputs.trace)
    if found is None or not found.is_declaration:
        return
    path = inputs.trace.sources[found.file].path
    yield Finding(
        name="source-collapse",
        title="Source mapping collapsed",
        cycles=0,
        is_upper_bound=False,
        share=0.0,
        sentence=f"{percent(found.cycles, found.total)} of the latency is mapped to line {found.line} of "
        f"{path.rsplit('/', 1)[-1]} ({found.text.strip()[:60] or 'no line'}), one of "
        f"{plural(found.lines, 'line')}: the debug information, not the kernel, is the cause.",
        remedy="Read costs by instruction, not by source line; build with line tables (-gline-tables-only) "
        "or a compiler that keeps locations of inlined calls, and record again.",
        evidence=(Evidence("source", f"{path}:{found.line}", source=(found.file, found.line)),),
        rank=CAUTION,
    )
