"""Evidence of findings: the most costly instructions, a worst execution, waves and ranges of time."""

from rcv_py.analysis.cost.place_text import known_place
from rcv_py.analysis.findings.finding import Evidence
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.situation import FindingContext
from rcv_py.analysis.findings.worst import WorstExecution
from rcv_py.base.text import Message, count, plural

LINES = 3  # instructions that a finding names


def line_of(inputs: FindingInputs, line: int, why: str = "") -> Evidence:
    """An instruction with its text and its source line."""
    text = inputs.trace.code.text[line]
    shown = Message("{0}, {1}", text, why) if why else text
    return Evidence("instruction", shown, line=line, beside=known_place(inputs.trace, line))


def lines_of(case: FindingContext) -> list[Evidence]:
    """The instructions of a pattern with most at stake."""
    columns = (case.claimed.line, case.claimed.attributed, case.claimed.stake)
    evidence = []
    for line, attributed, stake in zip(*(column[:LINES].tolist() for column in columns), strict=True):
        exposed = "all" if attributed == stake else count(stake)  # no other wave of the SIMD covers them
        why = Message("{0}, {1} exposed", plural(attributed, "cycle"), exposed) if attributed else ""
        evidence.append(line_of(case.inputs, line, why))
    return evidence


def producers_of(case: FindingContext) -> list[Evidence]:
    """The instructions that others waited for; marked as a guess if several fit in half of the cycles."""
    table, rows, evidence = case.inputs.attribution, case.claimed.rows, []
    for line, cycles in case.inputs.producers(rows, 2):
        mine = rows[table.producer[rows] == line]
        is_guess = 2 * table.guessed[mine].sum() >= table.cycles[mine].sum()
        waited = "perhaps waited for, {0} stalled cycles" if is_guess else "waited for, {0} stalled cycles"
        evidence.append(line_of(case.inputs, line, Message(waited, count(cycles))))
    return evidence


def worst_of(case: FindingContext) -> list[Evidence]:
    """The worst execution, for the causes of a finding, of the instruction with most at stake.

    If that instruction has none, another one's is taken: its cycles must belong to the finding.
    """
    table, rows = case.inputs.attribution, case.claimed.rows
    for line in case.claimed.line.tolist():
        worst = case.inputs.worst.of(line, table.cause[rows[table.line[rows] == line]])
        if worst is not None and worst.cycles:
            how = "idle before it" if worst.is_idle else "stalled"
            text = Message("the worst execution, {0} {1} for this cause", plural(worst.cycles, "cycle"), how)
            return [execution(case.inputs, worst, text)]
    return []


def execution(inputs: FindingInputs, one: WorstExecution, text: str) -> Evidence:
    """One execution of an instruction by a wave."""
    wave, beside = inputs.trace.waves.id(one.wave), known_place(inputs.trace, one.line)
    return Evidence(
        "token", text, one.line, wave=wave, token=one.token, begin=one.begin, end=one.end, beside=beside
    )


def wave_of(inputs: FindingInputs, row: int, text: str) -> Evidence:
    """A wave by its index row, with its begin and end."""
    index = inputs.trace.waves
    return Evidence("wave", text, wave=index.id(row), begin=int(index.begin[row]), end=int(index.end[row]))


def window_of(begin: int, end: int, text: str) -> Evidence:
    """A range of time."""
    return Evidence("window", text, begin=begin, end=max(end, begin + 1))


def of_pattern(case: FindingContext) -> tuple[Evidence, ...]:
    """Evidence of most findings: instructions, the worst execution of the first, and their producers."""
    shown = lines_of(case)
    own = {place.line for place in shown}
    blamed = [place for place in producers_of(case) if place.line not in own]
    return (*shown, *worst_of(case), *blamed)
