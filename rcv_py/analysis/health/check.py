"""Consistency checks of a capture: every violated rule becomes a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rcv_py.analysis.core.cost_columns import LINES, LineStats
from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, unchanged, union
from rcv_py.analysis.health.buffer import ENDS, Cut, cut
from rcv_py.analysis.health.missing import UNMATCHED, Unmatched
from rcv_py.analysis.health.traced_units import missing_lives, traced_lives
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_classes
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.runs import ascending, starts_run
from rcv_py.base.text import Message, count, plural
from rcv_py.model.kinds import KIND_COUNT, STATE_NAME, STATE_TEXT
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

_C = InstructionClass
WAITS = range(_C.WAIT_LOAD, _C.WAIT_OTHER + 1)
INSTANT = (_C.MATRIX, _C.VALU, _C.TRANSCENDENTAL, _C.SALU, _C.BRANCH, _C.NOP)  # no wait counter counts them
RAGGED_END = 28  # cycles that the last instruction may end before or after its wave

_TOTALS = ("hits", "latency", "stall", "idle")
_CUT = "The record may have been cut off or have lost packets: record again with a larger buffer."
_TWICE = "The folder may hold files of two recordings: record again into an empty folder."


class WaveChecks(NamedTuple):
    """Results of the checks of the waves that were read; waves are rows of the wave index, ascending."""

    waves: int
    kinds: np.ndarray  # int64, unknown kinds of tokens, ascending
    outside: int  # tokens that lie outside the life of their wave
    outside_waves: int  # waves with such tokens
    moved: np.ndarray  # int64, waves whose begin or end differs between file and index
    states: np.ndarray  # int64, waves whose states do not add up to their duration
    places: np.ndarray  # int64 [n, 3], distinct engine, compute unit and SIMD of the waves
    listed: int  # waves with a list of waits
    lists: np.ndarray  # int64, of them: waves whose list does not match their instructions


def _map(trace: Trace, parcel: Parcel) -> WaveChecks:
    tokens = parcel.own
    waves, owner = tokens.waves, tokens.owner
    lives = np.array([(wave.begin, wave.end) for wave in waves], dtype=np.int64).reshape(-1, 2)
    begin, end = lives[owner].T
    outside = (tokens.start < begin) | (tokens.start + tokens.duration > end + RAGGED_END)
    rows = np.array([wave.row for wave in waves], dtype=np.int64)
    known = np.stack([trace.waves.begin[rows], trace.waves.end[rows]], axis=1)
    places = [(wave.id.se, wave.cu, wave.id.simd) for wave in waves]
    listed = [wave for wave in waves if wave.waits is not None and len(wave.waits)]
    return WaveChecks(
        waves=len(waves),
        kinds=ascending(tokens.kind[tokens.kind >= KIND_COUNT]).astype(np.int64),
        outside=int(np.count_nonzero(outside)),
        outside_waves=len(ascending(owner[outside])),
        moved=rows[(lives != known).any(axis=1)],
        states=rows[[_has_wrong_states(wave) for wave in waves]] if waves else rows,
        places=np.unique(np.array(places, dtype=np.int64).reshape(-1, 3), axis=0),
        listed=len(listed),
        lists=_with_wrong_lists(trace, listed),
    )


def _has_wrong_states(wave: TracedWave) -> bool:
    last = int(wave.tokens.end.max()) if len(wave.tokens) else wave.end
    return len(wave.states) > 0 and wave.states.length != max(wave.end, last) - wave.begin


def _with_wrong_lists(trace: Trace, listed: Sequence[TracedWave]) -> np.ndarray:
    classes = instruction_classes(trace.code)
    # Lines that match no instruction, -1, index the last entry: unknown.
    is_wait = np.append(np.isin(classes, WAITS), True)
    is_awaited = np.append(~np.isin(classes, (*WAITS, *INSTANT)) & ~trace.code.is_label, True)
    wrong = [
        wave.row
        for wave in listed
        if (waits := wave.waits) is not None
        and (
            not (is_wait[waits.line].all() and is_awaited[waits.depends_on].all())
            or not np.isin(np.append(waits.line, waits.depends_on), np.append(wave.tokens.line, -1)).all()
        )
    ]
    return np.array(wrong, dtype=np.int64)


def _places(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.zeros((0, 3), dtype=np.int64), *parts]), axis=0)


_merge = by_field(
    WaveChecks,
    waves=sum,
    kinds=union,
    outside=sum,
    outside_waves=sum,
    moved=union,
    states=union,
    places=_places,
    listed=sum,
    lists=union,
)


CHECKS = Reduction(_map, _merge, unchanged)
OF_WAVES = (CHECKS, ENDS, UNMATCHED, LINES)  # reductions over waves


def wave_problems(
    trace: Trace, ask: Callable[[Reduction[Any, Any]], Any], unread: Mapping[int, str]
) -> tuple[Problem, ...]:
    """Return the errors in the waves that were read, one problem a rule.

    ```
    waves      of one slot follow each other; files agree with the index; states last as long as the wave
    tokens     have a code line and a known kind; lie inside their wave; s_endpgm is the last
    waits      the lists of the files name executed waits, and executed operations that a wait can wait for
    code       totals are the sums over the tokens (checked only if every wave was read)
    occupancy  every wave on a traced compute unit has a file, every file a wave
    ```

    `ask` returns the result of each of OF_WAVES; `unread` holds the waves that could not be read, by index
    row, and why.
    """
    seen: WaveChecks = ask(CHECKS)
    problems = [*_unread(unread)]
    if seen.waves:
        signs = cut(trace, ask(ENDS))
        problems += [
            *_unmatched(ask(UNMATCHED)),
            *_of_tokens(seen, signs),
            *_disagreeing(trace, seen),
            *_crowded(trace),
            *_timelines(trace, seen),
            *_totals(trace, ask(LINES), seen.waves),
            *_residents(trace, seen, signs),
            *_wait_lists(trace, seen),
        ]
    else:
        problems += _crowded(trace)
    return tuple(problems)


def _problem(where: str, text: str, hint: str = "", severity: Severity = Severity.WARNING) -> Problem:
    return Problem(severity, where, text, hint)


def _unread(missing: Mapping[int, str]) -> Iterator[Problem]:
    if missing:
        first = f"{'The first: ' if len(missing) > 1 else ''}{missing[min(missing)]}"
        text = Message("{0} could not be read. {1}", plural(len(missing), "wave"), first)
        yield _problem("waves", text, "Copy the whole capture folder again.", Severity.ERROR)


def _unmatched(lost: Unmatched) -> Iterator[Problem]:
    if lost.executions:
        of = count(lost.all_executions)
        text = Message(
            "{0} of {1} match no line of code.json", plural(lost.executions, "executed instruction"), of
        )
        yield _problem(
            "code.json",
            Message("{0}: {1} cycles are charged to no code.", text, count(lost.cycles)),
            "The code object they ran in was not captured; they are drawn, but counted nowhere.",
        )


def _of_tokens(seen: WaveChecks, signs: Cut) -> Iterator[Problem]:
    if len(seen.kinds):
        numbers = ", ".join(map(str, seen.kinds.tolist()))
        text = Message("Instructions have kinds that are not known: {0}.", numbers)
        yield _problem("waves", text, "They are shown as kind NONE.", Severity.INFO)
    if signs.unfinished:
        which = "does" if signs.unfinished == 1 else "do"
        text = Message(
            "{0} of {1} {2} not end with s_endpgm.", plural(signs.unfinished, "wave"), count(signs.of), which
        )
        yield _problem("waves", text, _CUT)
    if seen.outside:
        tokens, owners = plural(seen.outside, "instruction"), plural(seen.outside_waves, "wave")
        text = Message("{0} of {1} lie outside the life of their wave.", tokens, owners)
        yield _problem("waves", text, _TWICE)


def _disagreeing(trace: Trace, seen: WaveChecks) -> Iterator[Problem]:
    if len(seen.moved):
        text = Message(
            "{0} and filenames.json disagree on when the wave lived", plural(len(seen.moved), "wave file")
        )
        yield _problem(
            "filenames.json", Message("{0}, first {1}.", text, trace.waves.id(int(seen.moved[0]))), _TWICE
        )


def _crowded(trace: Trace) -> Iterator[Problem]:
    index = trace.waves
    order = np.lexsort((index.begin, index.slot, index.simd, index.se))
    units = (index.cu,) if index.cu.max(initial=-1) >= 0 else ()
    is_same = ~starts_run(*(column[order] for column in (index.se, index.simd, index.slot, *units)))
    crowded = order[1:][is_same[1:] & (index.begin[order[1:]] < index.end[order[:-1]])]
    if len(crowded):
        text = Message("{0} began in a slot that was still in use, first", plural(len(crowded), "wave"))
        yield _problem("filenames.json", f"{text} {index.id(int(crowded[0]))}.", _TWICE)


def _timelines(trace: Trace, seen: WaveChecks) -> Iterator[Problem]:
    if len(seen.states):
        text = Message(
            "The states of {0} do not last as long as the wave, first", plural(len(seen.states), "wave")
        )
        states = ", ".join(map(STATE_NAME.__getitem__, STATE_TEXT))
        first = trace.waves.id(int(seen.states[0]))
        yield _problem("waves", f"{text} {first}.", Message("Do not trust the strip of {0} there.", states))


def _totals(trace: Trace, sums: LineStats, read: int) -> Iterator[Problem]:
    code = trace.code
    if read == 0 or read < len(trace.waves) or not len(code):
        return
    differ = {name: np.flatnonzero(getattr(code, name) != getattr(sums, name)) for name in _TOTALS}
    wrong = {name: rows for name, rows in differ.items() if len(rows)}
    if wrong:
        column, rows = max(wrong.items(), key=lambda item: len(item[1]))
        row = int(rows[0])
        text = Message(
            "code.json and the waves disagree on {0} of {1}: {2} of instruction {3} is {4} in "
            "one and {5} in the other.",
            " and ".join(wrong),
            plural(len(rows), "code line"),
            column,
            row,
            count(int(getattr(code, column)[row])),
            count(int(getattr(sums, column)[row])),
        )
        yield _problem("code.json", text, _TWICE)


def _residents(trace: Trace, seen: WaveChecks, signs: Cut) -> Iterator[Problem]:
    if not len(trace.occupancy):
        return
    if signs.without_file:
        text = Message(
            "{0} ran on a traced compute unit but left no wave file.", plural(signs.without_file, "wave")
        )
        yield _problem("occupancy.json", text, _CUT)
    lives = residencies(trace.occupancy)
    unknown = missing_lives(trace.waves, lives, other_rows=traced_lives(trace, lives, seen.places))
    if unknown:
        text = Message("occupancy.json does not know {0} that left a file.", plural(unknown, "wave"))
        yield _problem("occupancy.json", text, "The Global view does not show them.")


def _wait_lists(trace: Trace, seen: WaveChecks) -> Iterator[Problem]:
    if len(seen.lists):
        which = Message("The wait lists of {0} of {1}", plural(len(seen.lists), "wave"), count(seen.listed))
        text = Message(
            "{0} do not belong to their instructions, first {1}.", which, trace.waves.id(int(seen.lists[0]))
        )
        hint = "They are not used: waits are replayed from the instructions."
        yield _problem("waves", text, hint, Severity.INFO)
