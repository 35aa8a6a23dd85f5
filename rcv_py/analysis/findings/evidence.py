"""Evidence of findings: instructions that cost most, the worst execution of one, waves and ranges of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rcv_py.analysis.cost.place_text import NO_PLACE, instruction_place
from rcv_py.analysis.findings.finding import Evidence
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.base.text import count
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave

LINES = 3  # that a finding names


def line_of(inputs: FindingInputs, line: int, why: str = "") -> Evidence:
    """An instruction with its text and its source line."""
    text = inputs.trace.code.text[line]
    return Evidence(
        "instruction", f"{text}, {why}" if why else text, line=line, beside=source_line(inputs.trace, line)
    )


def source_line(trace: Trace, line: int) -> str:
    """The source line of an instruction, `file.py:186`; "" if it has none."""
    place = instruction_place(trace, line)
    return "" if place == NO_PLACE else place


def lines_of(inputs: FindingInputs, claimed: Claimed, most: int = LINES) -> list[Evidence]:
    """The instructions of a pattern that have most at stake."""
    columns = (claimed.line, claimed.attributed, claimed.stake)
    rows = zip(*(column[:most].tolist() for column in columns), strict=True)
    return [line_of(inputs, line, _costs(attributed, stake)) for line, attributed, stake in rows]


def _costs(attributed: int, exposed: int) -> str:
    """Cycles of all waves, and how many of them no other wave of the SIMD covers."""
    if not attributed:
        return ""
    if attributed == exposed:
        return f"{count(attributed)} cycles, all exposed"
    return f"{count(attributed)} cycles, {count(exposed)} exposed"


def producers_of(inputs: FindingInputs, rows: np.ndarray, most: int = 2) -> list[Evidence]:
    """The instructions that made others late; a guess says so."""
    return [
        line_of(inputs, line, f"{_sure(inputs, rows, line)}waited for, {count(cycles)} stalled cycles")
        for line, cycles in inputs.producers(rows, most)
    ]


def _sure(inputs: FindingInputs, rows: np.ndarray, line: int) -> str:
    """ "perhaps " if the producer is one of several that fit, in half of the cycles or more."""
    table = inputs.attribution
    mine = rows[table.producer[rows] == line]
    return "perhaps " if 2 * int(table.guessed[mine].sum()) >= int(table.cycles[mine].sum()) else ""


def worst_of(inputs: FindingInputs, rows: np.ndarray, claimed: Claimed) -> list[Evidence]:
    """The worst execution, for the causes of these rows, of the instruction with most at stake.

    Of another instruction if that one has none: what counts is that the cycles are those of the finding.
    """
    table = inputs.attribution
    for line in claimed.line.tolist():
        worst = inputs.worst.of(line, table.cause[rows[table.line[rows] == line]])
        if worst is not None and worst.cycles:
            how = "idle before it" if worst.is_idle else "stalled"
            text = f"the worst execution, {count(worst.cycles)} cycles {how} for this cause"
            return [token_of(inputs, worst.wave, worst.token, text)]
    return []


def worst_end_of(inputs: FindingInputs, ends: Sequence[int]) -> list[Evidence]:
    """The end of a program that took longest."""
    best: tuple[int, Wave | None, int] = (0, None, -1)
    for batch in inputs.counted_batches:
        at = np.flatnonzero(np.isin(batch.line, ends))
        if not len(at):
            continue
        token = int(at[np.argmax(batch.busy[at])])
        if int(batch.busy[token]) > best[0]:
            owner = int(np.searchsorted(batch.first, token, side="right")) - 1
            best = (int(batch.busy[token]), batch.waves[owner], token - int(batch.first[owner]))
    busy, wave, row = best
    return [] if wave is None else [token_of(inputs, wave, row, f"the longest, {count(busy)} cycles")]


def token_of(inputs: FindingInputs, wave: Wave, row: int, text: str) -> Evidence:
    """A place: one execution of an instruction by a wave."""
    span = wave.tokens.span(row)
    line = int(wave.tokens.line[row])
    return Evidence(
        "token",
        text,
        line=line,
        wave=wave.id,
        token=row,
        begin=span.begin,
        end=span.end,
        beside=source_line(inputs.trace, line),
    )


def wave_of(inputs: FindingInputs, row: int, text: str) -> Evidence:
    """A wave by its index row, with its life."""
    index = inputs.trace.waves
    return Evidence("wave", text, wave=index.id(row), begin=int(index.begin[row]), end=int(index.end[row]))


def window_of(begin: int, end: int, text: str) -> Evidence:
    """A range of time."""
    return Evidence("window", text, begin=begin, end=max(end, begin + 1))


def of_pattern(inputs: FindingInputs, rows: np.ndarray, claimed: Claimed) -> tuple[Evidence, ...]:
    """What most findings show: instructions, the worst execution of the first, and who is to blame."""
    shown: Iterable[Evidence] = lines_of(inputs, claimed)
    own = {one.line for one in shown}
    blamed = [one for one in producers_of(inputs, rows) if one.line not in own]
    return (*shown, *worst_of(inputs, rows, claimed), *blamed)
