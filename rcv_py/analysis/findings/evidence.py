"""Evidence of findings: the lines that cost most, the worst execution of one, waves and ranges of time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rcv_py.analysis.findings.finding import Evidence
from rcv_py.analysis.findings.inputs import Claimed, FindingInputs
from rcv_py.base.text import count
from rcv_py.model.waves import Wave

LINES = 3  # that a finding names


def line_of(inputs: FindingInputs, line: int, why: str = "") -> Evidence:
    """A code row with its text."""
    text = inputs.trace.code.text[line]
    return Evidence("line", f"{text}, {why}" if why else text, line=line)


def lines_of(inputs: FindingInputs, claimed: Claimed, most: int = LINES) -> list[Evidence]:
    """The lines of a pattern that have most at stake."""
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
    """The instructions that made others late."""
    return [
        line_of(inputs, line, f"waited for, {count(cycles)} stalled cycles")
        for line, cycles in inputs.producers(rows, most)
    ]


def worst_of(inputs: FindingInputs, line: int) -> list[Evidence]:
    """The execution of a line that stalled longest, or was idle longest in front of it."""
    best: tuple[int, Wave | None, int] = (0, None, -1)
    for batch in inputs.batches:
        at = np.flatnonzero(batch.line == line)
        if not len(at):
            continue
        token = int(at[np.argmax(batch.stall[at])])
        if int(batch.stall[token]) > best[0] or best[1] is None:
            owner = int(np.searchsorted(batch.first, token, side="right")) - 1
            best = (int(batch.stall[token]), batch.waves[owner], token - int(batch.first[owner]))
    stall, wave, row = best
    return [] if wave is None else [token_of(wave, row, f"the longest, stalls {count(stall)} cycles")]


def token_of(wave: Wave, row: int, text: str) -> Evidence:
    """One execution."""
    span = wave.tokens.span(row)
    return Evidence(
        "token",
        text,
        line=int(wave.tokens.line[row]),
        wave=wave.id,
        token=row,
        begin=span.begin,
        end=span.end,
    )


def wave_of(inputs: FindingInputs, row: int, text: str) -> Evidence:
    """A wave by its index row, with its life."""
    index = inputs.trace.waves
    return Evidence("wave", text, wave=index.id(row), begin=int(index.begin[row]), end=int(index.end[row]))


def window_of(begin: int, end: int, text: str) -> Evidence:
    """A range of time."""
    return Evidence("window", text, begin=begin, end=max(end, begin + 1))


def of_pattern(inputs: FindingInputs, rows: np.ndarray, claimed: Claimed) -> tuple[Evidence, ...]:
    """What most findings show: lines, the longest execution of the first, and who is to blame."""
    shown: Iterable[Evidence] = lines_of(inputs, claimed)
    own = {one.line for one in shown}
    blamed = [one for one in producers_of(inputs, rows) if one.line not in own]
    return (*shown, *worst_of(inputs, int(claimed.line[0])), *blamed)
