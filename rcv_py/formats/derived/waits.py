"""The `waitcnt` list of a wave file, made as the tool that writes real files makes it.

Outstanding operations queue up behind counters; a wait releases the oldest ones.  The tool's rules are
simpler than the hardware: a queue that got a scalar load counts as out of order and releases nothing until
it is waited for down to zero.  `analysis/waits/waitcnt` has the hardware's rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders, ranges, run_starts

_HEX = re.compile(r"\s*(0x[0-9a-fA-F]+|\d+)")
_DECIMAL = re.compile(r"\s*(\d+)")
_TEXTS = 1 << 16  # of instructions, whose effects are remembered


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction does to the queues."""

    pushes: tuple[
        str, ...
    ] = ()  # queues that get the instruction; those in _SHARED belong to several counters
    unorders: tuple[str, ...] = ()  # counters that are out of order from here on
    waits: tuple[tuple[str, int], ...] = ()  # counters it looks at, in this order, and how many may stay
    empties: bool = False  # what all its waits release is one row


@dataclass(frozen=True, slots=True, eq=False)
class WaitLists:
    """One row a wait and counter that released something, in order of execution.

    Row i is of token `token[i]` and released tokens `producers[first[i]:first[i + 1]]`.
    """

    token: np.ndarray  # int64 [n]
    first: np.ndarray  # int64 [n + 1]
    producers: np.ndarray  # int64, in the order in which the file has them


def wait_lists(row: np.ndarray, first: np.ndarray, texts: Sequence[str], generation: int) -> WaitLists:
    """Return what the waits of waves released.

    `row` is the place in `texts` of each executed instruction, -1 if it is not known; wave i owns
    `row[first[i]:first[i + 1]]`.  `generation` is the major version of the graphics IP.
    """
    table = _Table.of(row, texts, generation)
    tokens = np.flatnonzero(table.matters[row])
    # Every wave begins with a wait for everything, which nobody is told of.
    at = np.concatenate([first[:-1] * 2, tokens * 2 + 1])
    order = np.argsort(at, kind="stable")
    of = np.concatenate([np.full(len(first) - 1, len(texts)), row[tokens]])[order]
    token, place = at[order] >> 1, np.arange(len(of))
    parts: list[np.ndarray] = []  # rows of event, counter, order within the row, first operation, operations
    operations, before = [np.zeros(0, dtype=np.int64)], 0
    lists = {name: number for number, name in enumerate(table.lists)}
    takers: dict[str, list[np.ndarray]] = {name: [] for name in lists}

    def note(wait: np.ndarray, counter: np.ndarray, queue: str, begin: np.ndarray, stop: np.ndarray) -> None:
        nonlocal before
        times = table.pushes[queue][of]
        within = np.full(len(wait), lists.get(queue, len(lists)))
        parts.append(np.stack([wait, counter, within, begin + before, stop - begin]))
        operations.append(np.repeat(token, times))
        before += len(operations[-1])

    for number, name in enumerate(table.keep):
        keep = table.keep[name][of]
        unordered = np.maximum.accumulate(np.where(table.unorders[name][of], place, -1))
        emptied = np.maximum.accumulate(np.where(keep == 0, place, -1))
        wait = np.flatnonzero((keep >= 0) & (emptied >= unordered))
        stop = np.maximum.accumulate(np.cumsum(table.pushes[name][of])[wait] - keep[wait])
        counter = np.full(len(wait), number)
        note(wait, counter, name, np.append(0, stop[:-1])[: len(stop)], stop)
        for shared in _SHARED[table.generation].get(name, ()):
            takers[shared].append(np.stack([wait, counter]))
    for name, taking in takers.items():
        wait, counter = np.concatenate(taking, axis=1)
        in_turn = np.lexsort((counter, wait))
        wait, counter = wait[in_turn], counter[in_turn]
        stop = np.cumsum(table.pushes[name][of])[wait]
        note(wait, counter, name, np.append(0, stop[:-1])[: len(stop)], stop)
    event, counter, within, begin, count = np.concatenate(parts, axis=1)
    counter[table.empties[of[event]]] = 0  # all that it releases is one row
    kept = np.flatnonzero((count > 0) & (of[event] < len(texts)))
    kept = kept[np.lexsort((within[kept], counter[kept], event[kept]))]
    heads = run_starts(event[kept], counter[kept])
    counts = np.add.reduceat(count[kept], heads) if len(kept) else count[kept]
    return WaitLists(
        token=token[event[kept][heads]],
        first=borders(counts),
        producers=np.concatenate(operations)[ranges(begin[kept], count[kept])],
    )


def replay(texts: Sequence[str], generation: int) -> list[tuple[int, list[int]]]:
    """Return (position of a wait, positions of what it released) of the executed instructions of a wave."""
    number: dict[str, int] = {}
    row = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)
    found = wait_lists(row, np.array([0, len(row)]), tuple(number), generation)
    parts = np.split(found.producers, found.first[1:-1])
    return [(wait, part.tolist()) for wait, part in zip(found.token.tolist(), parts, strict=False)]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What each row does, as columns by name of a queue; the last row is the beginning of a wave."""

    generation: int
    lists: tuple[str, ...]  # that several counters share
    matters: np.ndarray  # bool
    empties: np.ndarray  # bool
    pushes: dict[str, np.ndarray]  # int64: how often it is queued
    unorders: dict[str, np.ndarray]  # bool
    keep: dict[str, np.ndarray]  # int64: how many a wait leaves, -1: it does not look

    @classmethod
    def of(cls, row: np.ndarray, texts: Sequence[str], generation: int) -> _Table:
        """The table of the rows that were executed."""
        generation = min(max(generation, min(_EFFECTS)), max(_EFFECTS))
        counters = tuple(_COUNTERS[generation].values())
        lists = tuple(sorted({name for names in _SHARED[generation].values() for name in names}))
        size = len(texts) + 1
        table = cls(
            generation=generation,
            lists=lists,
            matters=np.zeros(size, dtype=bool),
            empties=np.zeros(size, dtype=bool),
            pushes={name: np.zeros(size, dtype=np.int64) for name in (*counters, *lists)},
            unorders={name: np.zeros(size, dtype=bool) for name in counters},
            keep={name: np.full(size, -1) for name in counters},
        )
        for keep in table.keep.values():
            keep[-1] = 0
        for at in np.flatnonzero(np.bincount(row[row >= 0], minlength=1)).tolist():
            table._learn(at, effect_of(texts[at], generation))
        return table

    def _learn(self, at: int, effect: Effect) -> None:
        self.matters[at] = effect is not NOTHING
        self.empties[at] = effect.empties
        for name in effect.pushes:
            self.pushes[name][at] += 1
        for name in effect.unorders:
            self.unorders[name][at] = True
        for name, keep in effect.waits:
            self.keep[name][at] = keep


NOTHING = Effect()
_MEMORY = r"(?:global_|scratch_|.?buffer_)"
_SCALAR = (
    (r"ds_|s_sendmsg", Effect(("lgkmcnt",))),
    (r"s_load|s_store", Effect(("lgkmcnt",), unorders=("lgkmcnt",))),
)
_BEFORE_GFX12 = (
    (r"s_sendmsg_rtn", Effect(("lgkmcnt", "lgkmcnt"))),
    (r"flat_.*store", Effect(("flat store",), unorders=("lgkmcnt", "vscnt"))),
    (r"flat_", Effect(("flat load",), unorders=("lgkmcnt", "vmcnt"))),
    (_MEMORY + r".*store", Effect(("vscnt",))),
    (_MEMORY, Effect(("vmcnt",))),
    *_SCALAR,
)
# What instructions other than waits do, by how their text begins; the first row that fits counts.
_EFFECTS = {
    9: (
        *_SCALAR,
        (r"flat_", Effect(("flat",), unorders=("lgkmcnt", "vmcnt"))),
        (_MEMORY, Effect(("vmcnt",))),
    ),
    10: _BEFORE_GFX12,
    11: _BEFORE_GFX12,
    12: (
        (r".*_bvh", Effect(("bvhcnt",))),
        (r"(?=.?ds_).*(?:param_load|ds_direct)", Effect(("expcnt",))),
        (r".?ds_", Effect(("dscnt",))),
        (r"s_load|s_store", Effect(("kmcnt",), unorders=("kmcnt",))),
        (r"s_sendmsg_rtn", Effect(("kmcnt", "kmcnt"))),
        (r"s_sendmsg", Effect(("kmcnt",))),
        (r"flat_store", Effect(("flat store",), unorders=("storecnt", "dscnt"))),
        (r"flat_", Effect(("flat load",), unorders=("loadcnt", "dscnt"))),
        (_MEMORY + r".*store|global_wb", Effect(("storecnt",))),
        (_MEMORY, Effect(("loadcnt",))),
    ),
}
# What a wait names, and the counter that it means, in the order in which they are looked at.
_COUNTERS = {
    9: {"lgk": "lgkmcnt", "vmcnt": "vmcnt"},
    10: {"vs": "vscnt", "vm": "vmcnt", "lgkm": "lgkmcnt"},
    11: {"vs": "vscnt", "vm": "vmcnt", "lgkm": "lgkmcnt"},
    12: {name: name for name in ("bvhcnt", "expcnt", "samplecnt", "kmcnt", "storecnt", "loadcnt", "dscnt")},
}
# Lists of operations that several counters count: who looks at one of them takes all of the list.
_BEFORE_SPLIT = {"vscnt": ("flat store",), "vmcnt": ("flat load",), "lgkmcnt": ("flat load", "flat store")}
_SHARED: dict[int, dict[str, tuple[str, ...]]] = {
    9: {"lgkmcnt": ("flat",), "vmcnt": ("flat",)},
    10: _BEFORE_SPLIT,
    11: _BEFORE_SPLIT,
    12: {"storecnt": ("flat store",), "loadcnt": ("flat load",), "dscnt": ("flat load", "flat store")},
}


@lru_cache(_TEXTS)
def effect_of(text: str, generation: int) -> Effect:
    """Return what the instruction does to the queues."""
    if not text.startswith("s_wait"):
        rules = _EFFECTS[generation]
        return next((effect for pattern, effect in rules if re.match(pattern, text)), NOTHING)
    if generation == 12 and "s_wait_idle" in text:
        return Effect(waits=tuple((name, 0) for name in _COUNTERS[12]), empties=True)
    named = {} if "s_wait_alu" in text else _COUNTERS[generation]
    waits = tuple((counter, _number(text, counter)) for sign, counter in named.items() if sign in text)
    return Effect(waits=waits) if waits else NOTHING


def _number(text: str, name: str) -> int:
    """Read the number after a counter's name and one more character; 0 if there is none."""
    _, found, rest = text.partition(name)
    match = (_HEX if "0x" in text else _DECIMAL).match(rest[1:]) if found else None
    return int(match.group(1), 0) if match else 0
