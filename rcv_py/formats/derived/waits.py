"""Compute the `waitcnt` list of a wave file with the rules of AMD's writer.

Outstanding operations queue up per counter; a wait releases the oldest ones.  The writer's rules are simpler
than the hardware: a queue with a scalar load counts as out of order and releases nothing until a wait for
zero.  `analysis/waits/waitcnt` has the hardware's rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.base.tables import table
from rcv_py.formats.derived.totals import compiled

_HEX = re.compile(r"\s*(0x[0-9a-fA-F]+|\d+)")
_DECIMAL = re.compile(r"\s*(\d+)")
OLDEST, NEWEST = 9, 12  # generations that have rules
_TEXTS = 1 << 16  # of instructions whose effects are cached
_DIGITS = 16  # of a number that are read: texts are untrusted


class QueueEffect(NamedTuple):
    """The effect of an instruction on the queues."""

    pushes: tuple[str, ...] = ()  # queues that get it; shared ones belong to several counters
    unorders: tuple[str, ...] = ()  # counters that are out of order from here on
    waits: tuple[tuple[str, int], ...] = ()  # counters it checks, in this order, and operations that may stay
    empties: bool = False  # all its waits release into one row


class WaitLists(NamedTuple):
    """One row per wait and counter that released something, in order of execution.

    Row i is of token `token[i]` and released tokens `producers[first[i]:first[i + 1]]`; wave i owns rows
    `wave_first[i]:wave_first[i + 1]`.
    """

    token: np.ndarray  # int64 [n]
    first: np.ndarray  # int64 [n + 1]
    producers: np.ndarray  # int64, in the order of the file
    wave_first: np.ndarray  # int64 [waves + 1]


def wait_lists(row: np.ndarray, first: np.ndarray, texts: Sequence[str], generation: int) -> WaitLists:
    """Return the operations that the waits of waves released.

    `row` is the index into `texts` of each executed instruction, -1 if unknown; wave i owns
    `row[first[i]:first[i + 1]]`.  `generation` is the major version of the graphics IP.
    """
    return _listed(compiled(_walk), row, first, texts, generation)


def replay(texts: Sequence[str], generation: int) -> list[tuple[int, list[int]]]:
    """Return (position of a wait, positions that it released) of the executed instructions of a wave."""
    number: dict[str, int] = {}
    row = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int32)

    def plain(*columns: np.ndarray) -> None:  # importing a compiler takes longer than one wave
        _walk(*(column.data for column in columns))  # type: ignore[arg-type] # memory is indexed alike

    found = _listed(plain, row, np.array([0, len(row)]), tuple(number), generation)
    parts = np.split(found.producers, found.first[1:-1])
    return [(wait, part.tolist()) for wait, part in zip(found.token.tolist(), parts, strict=False)]


def _listed(
    walk: Callable[..., None], row: np.ndarray, first: np.ndarray, texts: Sequence[str], generation: int
) -> WaitLists:
    steps = _Steps.of(row, texts, generation)
    longest = int(np.diff(first).max(initial=0))
    most = len(row) * steps.most
    token, producers = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    ends, wave_first = np.zeros(most + 1, dtype=np.int64), np.zeros(len(first), dtype=np.int64)
    queues = np.empty((steps.queues, longest * steps.most), dtype=np.int64)
    state = np.zeros((3, steps.queues), dtype=np.int64)
    walk(
        row.astype(np.int32, copy=False), first, steps.effect, steps.first, steps.table,
        queues, state, token, ends, producers, wave_first,
    )  # fmt: skip
    count = int(wave_first[-1])
    return WaitLists(token[:count], ends[: count + 1], producers[: ends[count]], wave_first)


class _Steps(NamedTuple):
    """Effects of executed rows as steps; equal effects once."""

    effect: np.ndarray  # int64 [texts], which effect each row has; 0: none
    first: np.ndarray  # int64 [effects + 1], where the steps of each effect begin
    table: np.ndarray  # int64 [steps, 3]: kind, queue or counter, and operations that may stay
    queues: int
    most: int  # maximum operations that one instruction queues; at least 1

    @classmethod
    def of(cls, row: np.ndarray, texts: Sequence[str], generation: int) -> _Steps:
        """The steps of the rows that were executed."""
        generation = min(max(generation, OLDEST), NEWEST)
        rules = _rules(generation)
        counters, shared = tuple(rules.counters.values()), rules.shared
        lists = tuple(sorted({name for names in shared.values() for name in names}))
        queue = {name: number for number, name in enumerate((*counters, *lists))}
        is_there = np.zeros(len(texts) + 1, dtype=bool)  # and an unknown one
        is_there[row] = True
        effect, number = np.zeros(len(texts), dtype=np.int64), {NOTHING: 0}
        for at in np.flatnonzero(is_there[:-1]).tolist():
            effect[at] = number.setdefault(effect_of(texts[at], generation), len(number))
        parts = [_steps_of(one, queue, shared) for one in number]
        return cls(
            effect=effect,
            first=borders([len(part) for part in parts]),
            table=np.array([step for part in parts for step in part], dtype=np.int64).reshape(-1, 3),
            queues=len(queue),
            most=max(1, *(len(one.pushes) for one in number)),
        )


# Steps of an instruction.
_PUSH = 0  # it joins a queue
_UNORDER = 1  # a counter is out of order from here on
_LOOK = 2  # a wait checks a counter; later takes have no effect while it is out of order
_TAKE = 3  # a queue's operations are released, except the latest
_LIST = 4  # the taken operations become a row
# Rows of the state of queues and counters.
_PUSHED, _TAKEN, _IS_UNORDERED = range(3)


def _steps_of(
    effect: QueueEffect, queue: Mapping[str, int], shared: Mapping[str, tuple[str, ...]]
) -> list[tuple[int, int, int]]:
    steps = [(_PUSH, queue[name], 0) for name in effect.pushes]
    steps += [(_UNORDER, queue[name], 0) for name in effect.unorders]
    if effect.empties:
        steps += [(_LOOK, queue[name], keep) for name, keep in effect.waits]
        lists = {name for counter, _ in effect.waits for name in shared.get(counter, ())}
        steps += [(_TAKE, queue[name], 0) for name in sorted(lists)]
        steps += [(_TAKE, queue[name], keep) for name, keep in effect.waits]
        return [*steps, (_LIST, 0, 0)]
    for name, keep in effect.waits:
        steps.append((_LOOK, queue[name], keep))
        steps += [(_TAKE, queue[one], 0) for one in sorted(shared.get(name, ()))]
        steps += [(_TAKE, queue[name], keep), (_LIST, 0, 0)]
    return steps


def _walk(  # noqa: C901, PLR0917 - one branch per kind of step; compiled
    row: np.ndarray,
    first: np.ndarray,
    effect: np.ndarray,
    step_first: np.ndarray,
    steps: np.ndarray,
    queues: np.ndarray,
    state: np.ndarray,
    token: np.ndarray,
    ends: np.ndarray,
    producers: np.ndarray,
    wave_first: np.ndarray,
) -> None:
    """Let waves queue operations and wait for them: fill `token`, `ends`, `producers` and `wave_first`.

    An instruction joins a queue no more often than rows of `queues` have room for each token of a wave.
    """
    rows, taken = 0, 0
    for wave in range(len(first) - 1):
        for queue in range(len(queues)):
            state[_PUSHED, queue] = state[_TAKEN, queue] = state[_IS_UNORDERED, queue] = 0
        for at in range(int(first[wave]), int(first[wave + 1])):
            which = int(effect[int(row[at])]) if row[at] >= 0 else 0
            listed, is_vain = taken, 0
            for step in range(int(step_first[which]), int(step_first[which + 1])):
                what, queue, keep = int(steps[step, 0]), int(steps[step, 1]), int(steps[step, 2])
                if what == _PUSH:
                    queues[queue, int(state[_PUSHED, queue])] = at
                    state[_PUSHED, queue] += 1
                elif what == _UNORDER:
                    state[_IS_UNORDERED, queue] = 1
                elif what == _LOOK:
                    if keep == 0:
                        state[_IS_UNORDERED, queue] = 0
                    is_vain = int(state[_IS_UNORDERED, queue])
                elif what == _TAKE and is_vain == 0:
                    while state[_TAKEN, queue] < state[_PUSHED, queue] - keep:
                        producers[taken] = queues[queue, int(state[_TAKEN, queue])]
                        state[_TAKEN, queue] += 1
                        taken += 1
                elif what == _LIST and taken > listed:
                    token[rows] = at
                    rows += 1
                    ends[rows] = listed = taken
        wave_first[wave + 1] = rows


NOTHING = QueueEffect()


class _Rules(NamedTuple):
    """The rules of a generation."""

    effects: tuple[
        tuple[str, QueueEffect], ...
    ]  # of instructions other than waits, by the begin of their text
    counters: dict[str, str]  # by their names in a wait, in the order in which they are checked
    shared: dict[str, tuple[str, ...]]  # queues that several counters count: a wait takes the whole queue


@cache
def _rules(generation: int) -> _Rules:
    known = table("waits")
    effects, counters = (
        [row for row in known[name] if str(generation) in row["of"].split()]
        for name in ("instructions", "counters")
    )
    return _Rules(
        effects=tuple(
            (row["text"], QueueEffect(tuple(row["joins"]), tuple(row.get("unorders", ())))) for row in effects
        ),
        counters={row["sign"]: row["name"] for row in counters},
        shared={row["name"]: tuple(row["shared"]) for row in counters if "shared" in row},
    )


@lru_cache(_TEXTS)
def effect_of(text: str, generation: int) -> QueueEffect:
    """Return the effect of the instruction on the queues."""
    if not text.startswith("s_wait"):
        rules = _rules(generation).effects
        return next((effect for pattern, effect in rules if re.match(pattern, text)), NOTHING)
    if generation == 12 and "s_wait_idle" in text:
        return QueueEffect(waits=tuple((name, 0) for name in _rules(12).counters), empties=True)
    named = {} if "s_wait_alu" in text else _rules(generation).counters
    waits = tuple((counter, _number(text, counter)) for sign, counter in named.items() if sign in text)
    return QueueEffect(waits=waits) if waits else NOTHING


def _number(text: str, name: str) -> int:
    """Read the number after a counter's name and one more character; 0 if there is none."""
    _, found, rest = text.partition(name)
    match = (_HEX if "0x" in text else _DECIMAL).match(rest[1:]) if found else None
    digits = match.group(1)[:_DIGITS] if match else "0"
    return int(digits, 16 if digits.startswith("0x") else 10)
