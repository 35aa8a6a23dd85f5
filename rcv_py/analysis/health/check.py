"""What must hold in every capture, looked up in this one: whatever does not becomes a problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rcv_py.analysis.core.cost_columns import all_lines
from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves, token_columns
from rcv_py.analysis.health.buffer import Cut, cut
from rcv_py.analysis.health.missing import unmatched_executions
from rcv_py.analysis.health.traced_units import missing_lives, traced_lives
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_classes
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.runs import starts_run
from rcv_py.base.text import count, plural
from rcv_py.model.kinds import KIND_COUNT, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch

_C = InstructionClass
WAITS = range(_C.WAIT_LOAD, _C.WAIT_OTHER + 1)
INSTANT = (_C.MATRIX, _C.VALU, _C.TRANSCENDENTAL, _C.SALU, _C.BRANCH, _C.NOP)  # no counter counts them
RAGGED_END = 28  # cycles that the last instruction may end before or after its wave

_TOTALS = ("hits", "latency", "stall", "idle")
_CUT = "The record may have been cut off or have lost packets: record again with a larger buffer."
_TWICE = "The folder may hold files of two recordings: record again into an empty folder."


def check_waves(trace: Trace, batches: Iterable[WaveBatch]) -> tuple[Problem, ...]:
    """Return what is wrong in the waves that were read, one problem a rule.

    ```
    waves      of one slot follow each other; files agree with the index; states last as long as the wave
    tokens     have a code line and a known kind; lie inside their wave; s_endpgm is the last
    waits      the lists of the files name executed waits, and executed operations that one can wait for
    code       totals are the sums over the tokens (looked at only if every wave was read)
    occupancy  every wave on a traced compute unit has a file, every file a wave
    ```
    """
    batches = tuple(batches)
    waves = [wave for piece in token_columns(batches) for wave in piece.waves]
    problems = [*_unread(batches)]
    if waves:
        piece, signs = of_waves(waves), cut(trace, batches)
        problems += [
            *_unmatched(trace, batches),
            *_of_tokens(piece, signs),
            *_disagreeing(trace, waves),
            *_crowded(trace),
            *_timelines(waves),
            *_totals(trace, batches, len(waves)),
            *_residents(trace, waves, signs),
            *_wait_lists(trace, waves),
        ]
    else:
        problems += _crowded(trace)
    return tuple(problems)


def _problem(where: str, text: str, hint: str = "", severity: Severity = Severity.WARNING) -> Problem:
    return Problem(severity, where, text, hint)


def _unread(batches: Sequence[WaveBatch]) -> Iterator[Problem]:
    missing = {row: text for batch in batches for row, text in batch.missing}
    if missing:
        first = f"{'The first: ' if len(missing) > 1 else ''}{missing[min(missing)]}"
        text = f"{plural(len(missing), 'wave')} could not be read. {first}"
        yield _problem("waves", text, "Copy the whole capture folder again.", Severity.ERROR)


def _unmatched(trace: Trace, batches: Sequence[WaveBatch]) -> Iterator[Problem]:
    lost = unmatched_executions(trace, batches)
    if lost.executions:
        of = count(lost.all_executions)
        text = f"{plural(lost.executions, 'executed instruction')} of {of} match no line of code.json"
        yield _problem(
            "code.json",
            f"{text}: {count(lost.cycles)} cycles are charged to no code.",
            "The code object they ran in was not captured; they are drawn, but counted nowhere.",
        )


def _of_tokens(piece: TokenColumns, signs: Cut) -> Iterator[Problem]:
    strange = np.unique(piece.kind[piece.kind >= KIND_COUNT])
    if len(strange):
        numbers = ", ".join(map(str, strange.tolist()))
        text = f"Instructions have kinds that are not known: {numbers}."
        yield _problem("waves", text, "They are shown as kind NONE.", Severity.INFO)
    if signs.unfinished:
        which = "does" if signs.unfinished == 1 else "do"
        text = f"{plural(signs.unfinished, 'wave')} of {count(signs.of)} {which} not end with s_endpgm."
        yield _problem("waves", text, _CUT)
    owner = piece.owner
    begin = np.array([wave.begin for wave in piece.waves], dtype=np.int64)[owner]
    end = np.array([wave.end for wave in piece.waves], dtype=np.int64)[owner]
    outside = (piece.start < begin) | (piece.start + piece.duration > end + RAGGED_END)
    if outside.any():
        tokens = plural(int(np.count_nonzero(outside)), "instruction")
        owners = plural(len(np.unique(owner[outside])), "wave")
        text = f"{tokens} of {owners} lie outside the life of their wave."
        yield _problem("waves", text, _TWICE)


def _disagreeing(trace: Trace, waves: Sequence[Wave]) -> Iterator[Problem]:
    lives = list(zip(trace.waves.begin.tolist(), trace.waves.end.tolist(), strict=True))
    moved = [wave for wave in waves if (wave.begin, wave.end) != lives[wave.row]]
    if moved:
        text = f"{plural(len(moved), 'wave file')} and filenames.json disagree on when the wave lived"
        yield _problem("filenames.json", f"{text}, first {moved[0].id}.", _TWICE)


def _crowded(trace: Trace) -> Iterator[Problem]:
    index = trace.waves
    order = np.lexsort((index.begin, index.slot, index.simd, index.se))
    units = (index.cu,) if index.cu.max(initial=-1) >= 0 else ()
    is_same = ~starts_run(*(column[order] for column in (index.se, index.simd, index.slot, *units)))
    crowded = order[1:][is_same[1:] & (index.begin[order[1:]] < index.end[order[:-1]])]
    if len(crowded):
        text = f"{plural(len(crowded), 'wave')} began in a slot that was still in use, first"
        yield _problem("filenames.json", f"{text} {index.id(int(crowded[0]))}.", _TWICE)


def _timelines(waves: Sequence[Wave]) -> Iterator[Problem]:
    lasts = [int(wave.tokens.end.max()) if len(wave.tokens) else wave.end for wave in waves]
    wrong = [
        wave
        for wave, last in zip(waves, lasts, strict=True)
        if len(wave.states) and wave.states.length != max(wave.end, last) - wave.begin
    ]
    if wrong:
        text = f"The states of {plural(len(wrong), 'wave')} do not last as long as the wave, first"
        states = ", ".join(state.name for state in list(WaveState)[1:])
        yield _problem("waves", f"{text} {wrong[0].id}.", f"Do not trust the strip of {states} there.")


def _totals(trace: Trace, batches: Sequence[WaveBatch], read: int) -> Iterator[Problem]:
    code = trace.code
    if read == 0 or read < len(trace.waves) or not len(code):
        return
    sums = all_lines(batches, len(code))
    differ = {name: np.flatnonzero(getattr(code, name) != getattr(sums, name)) for name in _TOTALS}
    wrong = {name: rows for name, rows in differ.items() if len(rows)}
    if wrong:
        column, rows = max(wrong.items(), key=lambda item: len(item[1]))
        row = int(rows[0])
        text = (
            f"code.json and the waves disagree on {' and '.join(wrong)} of {plural(len(rows), 'code line')}: "
            f"{column} of instruction {row} is {count(int(getattr(code, column)[row]))} in one "
            f"and {count(int(getattr(sums, column)[row]))} in the other."
        )
        yield _problem("code.json", text, _TWICE)


def _residents(trace: Trace, waves: Sequence[Wave], signs: Cut) -> Iterator[Problem]:
    if not len(trace.occupancy):
        return
    if signs.without_file:
        text = f"{plural(signs.without_file, 'wave')} ran on a traced compute unit but left no wave file."
        yield _problem("occupancy.json", text, _CUT)
    lives = residencies(trace.occupancy)
    unknown = missing_lives(trace.waves, lives, other_rows=traced_lives(trace, lives, waves))
    if unknown:
        text = f"occupancy.json does not know {plural(unknown, 'wave')} that left a file."
        yield _problem("occupancy.json", text, "The Global view does not show them.")


def _wait_lists(trace: Trace, waves: Sequence[Wave]) -> Iterator[Problem]:
    classes = instruction_classes(trace.code)
    # Lines that match no instruction, -1, are the last entry: nothing is known of them.
    is_wait = np.append(np.isin(classes, WAITS), True)
    is_awaited = np.append(~np.isin(classes, (*WAITS, *INSTANT)) & ~trace.code.is_label, True)
    listed = [(wave, wave.waits) for wave in waves if wave.waits is not None and len(wave.waits)]
    wrong = [
        wave
        for wave, waits in listed
        if not (is_wait[waits.line].all() and is_awaited[waits.depends_on].all())
        or not np.isin(np.append(waits.line, waits.depends_on), np.append(wave.tokens.line, -1)).all()
    ]
    if wrong:
        text = (
            f"The wait lists of {plural(len(wrong), 'wave')} of {count(len(listed))} are not those of their"
        )
        hint = "They are not used: waits are replayed from the instructions."
        yield _problem("waves", f"{text} instructions, first {wrong[0].id}.", hint, Severity.INFO)
