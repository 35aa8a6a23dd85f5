"""Populations: waves that took the same path through the code, and which populations did the kernel's work.

```
 block            a  a  b  a  c
 0  entry         x  x  x  x  x
 1  ┐ loop        x  x  .  x  .
 2  ┘             x  x  .  .  .     cut: the buffer ended, the rest of its path is unknown
 3  stores        x  x  .  .  .
 4  s_endpgm      x  x  x  .  .
```
A path is the set of basic blocks that a wave executed; the number of loop iterations is ignored.  `a` works,
`b` left early; the fourth wave did not reach the end of the program, so it joins the path that begins with
its own.  `c` executed nothing but an end: it is empty.

A path that reached the end of the program left early if it did none of the work of others of its kernel (it
stores nothing to memory or LDS, runs no atomic and no matrix instruction, iterates no loop) and either
accesses no vector memory at all or executes less than half of the instructions that the others reach.  If no
wave of a kernel did any work, the program replaces the others in this rule: then all traced waves left early.

A choice selects the waves of a table: the working waves, all waves, or one population.  Of a large capture,
whole shader engines are read, or parts of the time of one engine, so that waves of a SIMD stay together.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.parcels import Parcel, WaveLifetimes, stretches
from rcv_py.analysis.core.reduction import Reduction, union
from rcv_py.analysis.core.token_columns import TokenColumns, batch_of
from rcv_py.analysis.program.blocks import Blocks, blocks
from rcv_py.analysis.program.branches import ends_of
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_classes
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, distinct, is_in, starts_run
from rcv_py.base.text import Message, plural
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable, joined, memoized
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch, WaveIndex

ALL = "all"
WORKING = "working"
EARLY = "early exit"
EMPTY = "empty"
MAIN = "main way"
LEFT_PART = 0.5  # a path that left early executes less than this part of the instructions that others reach
TINY_PART = 0.25  # the same if nothing in the program stores, loops or multiplies matrices
SUPERSETS = 16  # complete paths (those with most waves) that a cut wave is compared with

_C = InstructionClass
_STORES = (_C.VMEM_STORE, _C.ATOMIC, _C.LDS_DMA, _C.LDS)
_MEMORY = (*_STORES, _C.VMEM_LOAD)
_ENTRY = 4  # bytes: the first block of a path
_NOTHING = (_C.NOP,)  # besides ends of the program: what an empty wave may have executed


class Populations(ColumnTable):
    """One row per population: working ones first, then by cycles; `label` has one row per traced wave."""

    id: tuple[str, ...]  # short, for `--waves`: `working`, `early-exit`, `through-62`
    name: tuple[str, ...]  # display name: `early exit`, `through instruction 62`
    kernel: tuple[str, ...]  # symbol of the kernel, "" if unknown
    waves: np.ndarray  # int64, waves
    cut: np.ndarray  # int64, waves whose record does not reach the end of the program
    instructions: np.ndarray  # float64, executions per wave, median
    reached: np.ndarray  # int64, distinct instructions in its blocks
    cycles: np.ndarray  # int64, sum of the lives of its waves
    is_working: np.ndarray  # bool
    blocks: tuple[np.ndarray, ...]  # int32, the basic blocks of the path, ascending
    label: np.ndarray  # int32 [rows of the wave index], row of this table; -1: the wave was not read
    ran: int  # distinct instructions that any wave executed
    of: int  # instructions of the kernels that the waves executed

    @property
    def share(self) -> np.ndarray:
        """Part of the cycles of all waves that were read, float64, 0 to 1."""
        return self.cycles / max(1, int(self.cycles.sum()))

    @property
    def read(self) -> int:
        """The number of waves that were read."""
        return int(self.waves.sum())

    @cached_property
    def working(self) -> frozenset[int]:
        """Rows of the wave index whose waves worked; empty if all traced waves left early."""
        return self.rows(np.flatnonzero(self.is_working))

    @property
    def has_working(self) -> bool:
        """Whether any wave that was read worked."""
        return bool(self.is_working.any())

    def reaching(self, code: CodeTable, line: int) -> frozenset[int]:
        """Rows of the wave index whose path has an instruction, of working waves if there are any.

        If no path has it, rows of all working waves, or of all waves.
        """
        block = _program(code).table.of_row[line]
        is_on = np.array([block in way for way in self.blocks], dtype=bool)
        ranked = (self.is_working & is_on, is_on, self.is_working)
        return self.rows(np.flatnonzero(next((which for which in ranked if which.any()), is_on | True)))

    def rows(self, which: np.ndarray | list[int]) -> frozenset[int]:
        """Rows of the wave index of some populations."""
        return frozenset(np.flatnonzero(np.isin(self.label, np.asarray(which))).tolist())


def ran_text(table: Populations) -> str:
    """Return `17 of 4,948 instructions ran`."""
    return Message("{0:,} of {1} ran", table.ran, plural(table.of, "instruction"))


class _Program(Value):
    """Facts for judging paths; one row per block."""

    table: Blocks
    size: np.ndarray  # int64, instructions
    stores: np.ndarray  # bool
    matrix: np.ndarray  # bool
    memory: np.ndarray  # bool, accesses vector memory or LDS
    is_idle: np.ndarray  # bool [code rows], an end of the program or a nop
    is_end: np.ndarray  # bool [code rows]

    def reached(self, way: np.ndarray) -> int:
        """Distinct instructions in the blocks of a path."""
        return int(self.size[way].sum())

    def loops(self, way: np.ndarray) -> np.ndarray:
        """Header blocks of loops for which the path has both header and tail; int32, ascending."""
        here = np.zeros(len(self.table), dtype=bool)
        here[way] = True
        tail, head = self.table.edge_from, self.table.edge_to
        return ascending(head[(head <= tail) & here[head] & here[tail]])

    def works(self, way: np.ndarray) -> bool:
        """Whether a path stores, multiplies matrices or iterates a loop."""
        return bool(self.stores[way].any() or self.matrix[way].any() or len(self.loops(way)))

    def left(self, way: np.ndarray, whole: np.ndarray) -> bool:
        """Whether a path left early, given that the others (or the program) reach the blocks `whole`."""
        if len(way) == len(whole) or self.works(way):
            return False
        part = self.reached(way) / max(1, self.reached(whole))
        if not self.works(whole):
            return part < TINY_PART
        return part < LEFT_PART or bool(self.memory[whole].any() and not self.memory[way].any())

    def around(self, way: np.ndarray) -> np.ndarray:
        """All blocks of the kernels that a path is in, ascending."""
        return np.flatnonzero(np.isin(self.table.kernel, ascending(self.table.kernel[way])))


@dataclass(eq=False)
class _Way:
    """Waves with the same set of blocks."""

    kernel: str
    blocks: np.ndarray  # int32, ascending
    waves: list[int]  # rows of `_Waves`
    is_whole: bool  # at least one wave reached the end of the program
    is_empty: bool
    kind: str = WORKING


class _Waves(ColumnTable):
    """One row per wave that was read."""

    row: np.ndarray  # int64, row of the wave index
    tokens: np.ndarray  # int64
    life: np.ndarray  # int64, cycles
    at_end: np.ndarray  # bool, its last instruction ends the program
    is_empty: np.ndarray  # bool
    way: np.ndarray  # int64, index of its path in `_Read`


class _Read(Value):
    waves: _Waves
    ways: tuple[bytes, ...]  # int32, the blocks of each path, ascending; each path once
    ran: np.ndarray  # int64, code rows that any wave executed, ascending


def _map(trace: Trace, parcel: Parcel) -> _Read:
    program, tokens = _program(trace.code), parcel.own
    block = np.append(program.table.of_row, -1).take(tokens.code_rows(len(program.is_end)))
    is_new = starts_run(block) & (block >= 0)
    first = tokens.first[:-1][np.diff(tokens.first) > 0]
    is_new[first] = block[first] >= 0
    at = np.flatnonzero(is_new)
    count = max(1, len(program.table))
    owner = np.repeat(np.arange(len(tokens.waves)), np.diff(np.searchsorted(at, tokens.first)))
    executed = ascending(owner * count + block[at])
    stops = np.searchsorted(executed, np.arange(1, len(tokens.waves)) * count)
    sets = np.split((executed % count).astype(np.int32), stops)[: len(tokens.waves)]
    ways: dict[bytes, int] = {}
    way = np.array([ways.setdefault(blocks.tobytes(), len(ways)) for blocks in sets], dtype=np.int64)
    ran = np.flatnonzero(tokens.executions(len(program.is_end)))
    return _Read(_facts(program, tokens, way), tuple(ways), ran)


def _merge(parts: Sequence[_Read]) -> _Read:
    waves = [_Waves.empty(at_end=bool, is_empty=bool)]
    ways: dict[bytes, int] = {}
    for part in parts:
        place = np.array([ways.setdefault(blocks, len(ways)) for blocks in part.ways], dtype=np.int64)
        waves.append(replace(part.waves, way=place[part.waves.way]))
    return _Read(joined(waves), tuple(ways), union([part.ran for part in parts]))


def _finish(trace: Trace, read: _Read) -> Populations:
    program = _program(trace.code)
    waves = read.waves.at(np.argsort(read.waves.row))
    ways = _joined(_ways(trace, waves, read.ways))
    by_kernel: dict[str, list[_Way]] = {}
    for way in ways:
        by_kernel.setdefault(way.kernel, []).append(way)
    for group in by_kernel.values():
        _judge(program, group)
    ways.sort(key=lambda way: (way.kind != WORKING, -int(waves.tokens[way.waves].sum()), way.blocks.tolist()))
    everything, instructions = _union(ways), int(np.count_nonzero(~trace.code.is_label))
    label = np.full(len(trace.waves), -1, dtype=np.int32)
    for at, way in enumerate(ways):
        label[waves.row[way.waves]] = at
    names = _names(program, ways)

    def column(values: Iterable[float], dtype: type = np.int64) -> np.ndarray:
        return np.array(list(values), dtype=dtype)

    return Populations(
        id=tuple(id for id, _ in names),
        name=tuple(name for _, name in names),
        kernel=tuple(way.kernel for way in ways),
        waves=column(len(way.waves) for way in ways),
        cut=column(int(np.count_nonzero(~waves.at_end[way.waves])) for way in ways),
        instructions=column((median(waves.tokens[way.waves]) for way in ways), np.float64),
        reached=column(program.reached(way.blocks) for way in ways),
        cycles=column(int(waves.life[way.waves].sum()) for way in ways),
        is_working=column((way.kind == WORKING for way in ways), bool),
        blocks=tuple(way.blocks for way in ways),
        label=label,
        ran=int(np.count_nonzero(~trace.code.is_label[read.ran])),
        of=program.reached(program.around(everything)) if len(everything) else instructions,
    )


# Each kernel has its own populations.  A wave that the buffer cut joins the path that begins with its own.
POPULATIONS = Reduction(_map, _merge, _finish)


@memoized
def _program(code: CodeTable) -> _Program:
    table = blocks(code)
    kind, ends = instruction_classes(code), ends_of(code)

    def per_block(rows: np.ndarray) -> np.ndarray:
        return np.bincount(table.of_row, rows, len(table)).astype(np.int64)

    return _Program(
        table=table,
        size=per_block(~code.is_label),
        stores=per_block(np.isin(kind, _STORES)) > 0,
        matrix=per_block(kind == _C.MATRIX) > 0,
        memory=per_block(np.isin(kind, _MEMORY)) > 0,
        is_idle=ends | np.isin(kind, _NOTHING),
        is_end=ends,
    )


def _facts(program: _Program, tokens: TokenColumns, way: np.ndarray) -> _Waves:
    line = tokens.code_rows(len(program.is_end))
    does, is_end = np.append(~program.is_idle, True), np.append(program.is_end, False)
    some = np.flatnonzero(np.diff(tokens.first))
    at_end = np.zeros(len(tokens.waves), dtype=bool)
    at_end[some] = is_end[line[tokens.first[some + 1] - 1]]
    return _Waves(
        row=tokens.rows,
        tokens=np.diff(tokens.first),
        life=np.subtract(*tokens.lives[::-1]),
        at_end=at_end,
        is_empty=np.bincount(tokens.owner, does[line], len(tokens.waves)) == 0,
        way=way,
    )


def _ways(trace: Trace, waves: _Waves, sets: Sequence[bytes]) -> list[_Way]:
    """Return one path per kernel and set of blocks; waves of an unknown kernel join a path with their blocks.

    Kernels and paths are in the order in which they first occur in the wave index.
    """
    names = trace.occupancy.names
    ids = trace.waves.kernel[waves.row].astype(np.int64)
    first, group = distinct(ids, waves.is_empty, waves.way)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group)))[: len(first)]
    alike = sorted(zip(first.tolist(), members, strict=True), key=lambda one: one[0])
    known = ascending(ids).tolist()
    kernel_of = {id: names.get(id) or Message("kernel {0}", id) if id >= 0 else "" for id in known}
    by_blocks: dict[bytes, str] = {}
    by_entry: dict[bytes, str] = {}
    for at, _ in alike:
        if kernel := kernel_of[int(ids[at])]:
            blocks = sets[waves.way[at]]
            by_blocks.setdefault(blocks, kernel)
            if blocks:
                by_entry.setdefault(blocks[:_ENTRY], kernel)
    ways: dict[tuple[str, bool, bytes], _Way] = {}
    for at, rows in sorted(alike, key=lambda one: not kernel_of[int(ids[one[0]])]):
        blocks, is_empty = sets[waves.way[at]], bool(waves.is_empty[at])
        guess = by_blocks.get(blocks, by_entry.get(blocks[:_ENTRY], ""))
        kernel = kernel_of[int(ids[at])] or guess
        key = (kernel, is_empty, b"" if is_empty else blocks)
        way = _Way(kernel, np.frombuffer(blocks, dtype=np.int32), [], False, is_empty)
        home = ways.setdefault(key, way)
        home.waves.extend(rows.tolist())
        home.is_whole |= bool(waves.at_end[rows].any())
    return list(ways.values())


def _joined(ways: list[_Way]) -> list[_Way]:
    """Return the paths; each path that the buffer cut is joined with a path that begins with it.

    Among several such paths, the one with most waves is taken, complete paths before cut ones.
    """
    whole = [way for way in ways if way.is_whole and not way.is_empty]
    whole.sort(key=lambda way: -len(way.waves))
    kept = [way for way in ways if way.is_whole or way.is_empty]
    cut = [way for way in ways if not way.is_whole and not way.is_empty]
    longest: list[_Way] = []
    for way in sorted(cut, key=lambda way: (-len(way.blocks), -len(way.waves))):
        mine = [other for other in (*whole[:SUPERSETS], *longest[:SUPERSETS]) if other.kernel == way.kernel]
        home = next((other for other in mine if np.isin(way.blocks, other.blocks).all()), None)
        if home is None:
            longest.append(way)
        else:
            home.waves.extend(way.waves)
    return kept + longest


def _judge(program: _Program, ways: list[_Way]) -> None:
    """Decide for the paths of one kernel whether each works, left early or is empty."""
    for way in ways:
        way.kind = EMPTY if way.is_empty else WORKING
    full = [way for way in ways if not way.is_empty]
    whole = _union(full)
    all_left = all(way.is_whole for way in full) and program.left(whole, program.around(whole))
    for way in full:
        if all_left or (way.is_whole and program.left(way.blocks, whole)):
            way.kind = EARLY


def _union(ways: list[_Way]) -> np.ndarray:
    return ascending(np.concatenate([np.zeros(0, dtype=np.int32), *(way.blocks for way in ways)]))


def _names(program: _Program, ways: list[_Way]) -> list[tuple[str, str]]:
    """Return (id, name) of each path, all different; with several kernels both begin with the kernel."""
    alike: dict[tuple[str, str], list[_Way]] = {}
    for way in ways:
        alike.setdefault((way.kernel, way.kind), []).append(way)
    kernels = sorted({way.kernel for way in ways})
    names: list[tuple[str, str]] = []
    taken: set[str] = set()
    for way in ways:
        first, *others = alike[way.kernel, way.kind]
        name = MAIN if others and way.kind == WORKING else way.kind
        if way is not first:
            difference = _difference(program, way.blocks, first.blocks)
            name = difference if way.kind == WORKING else f"{way.kind} {difference}".strip()
        is_only = len(kernels) == 1
        prefix = "" if is_only else f"kernel{kernels.index(way.kernel) + 1}-"
        every = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 2)))
        name = next(text for text in every if prefix + _word(text) not in taken)
        taken.add(prefix + _word(name))
        shown = name if is_only else Message("{0}: {1}", way.kernel or "unknown kernel", name)
        names.append((prefix + _word(name), shown))
    return names


def _difference(program: _Program, way: np.ndarray, first: np.ndarray) -> str:
    """Describe what only the path or only the first one does; loops before blocks."""
    mine, theirs, head = program.loops(way), program.loops(first), program.table.head
    for word, loops in (("without", np.setdiff1d(theirs, mine)), ("with", np.setdiff1d(mine, theirs))):
        if len(loops):
            return Message("{0} the loop at instruction {1}", word, int(head[loops[0]]))
    for word, other in (("through", np.setdiff1d(way, first)), ("without", np.setdiff1d(first, way))):
        if len(other):
            return Message("{0} instruction {1}", word, int(head[other[np.argmax(program.size[other])]]))
    return "by another name"


def _word(name: str) -> str:
    """Return a name as a word of a command line: `through instruction 62` is `through-62`."""
    for phrase in (" the ", " at instruction ", " instruction "):
        name = name.replace(phrase, " ")
    return "-".join(re.findall(r"[^\W_]+", name.lower()))


def by_typicality(trace: Trace, rows: Collection[int]) -> list[int]:
    """Return rows of the wave index, those with the lifetime nearest to the median first.

    Only waves of the kernel in the title of the capture, or all where none is known to run it.
    """
    index, kernel = trace.waves, trace.code.main_kernel
    ids = [id for id, name in trace.occupancy.names.items() if kernel is not None and name == kernel.name]
    chosen = np.array(sorted(rows), dtype=np.int64)
    own = chosen[is_in(index.kernel[chosen], np.array(ids, dtype=np.int64))]
    chosen = own if len(own) else chosen
    life = index.end[chosen] - index.begin[chosen]
    return chosen[np.lexsort((life, np.abs(life - median(life))))].tolist()


class WaveChoice(Value):
    """The waves that a table covers."""

    name: str  # `working`, `all`, or the id of a population
    rows: frozenset[int] | None  # rows of the wave index whose costs count; None: all waves that were read
    waves: int
    of: int  # waves that were read
    text: str  # "3,598 working waves of 4,112"


def wave_choice(table: Populations, name: str = WORKING) -> WaveChoice:
    """Return the waves for a name: `working`, `all`, or the id or name of a population.

    If no wave works, `working` selects all waves, and the text says so.  Raise UsageError for an unknown
    name; its hint lists the known names.
    """
    whole = table.read
    if name == ALL or (name == WORKING and not table.has_working):
        text = Message("all {0}", plural(whole, "wave")) if whole != 1 else "the only wave"
        if name == WORKING and whole:
            text += Message(", none of which works: {0}", ran_text(table))
        return WaveChoice(name, None, whole, whole, text)
    if name == WORKING:
        which = np.flatnonzero(table.is_working)
    else:
        names = zip(table.id, table.name, strict=True)
        which = np.flatnonzero([name.lower() in (id.lower(), text.lower()) for id, text in names])[:1]
        if not len(which):
            known = Message("There are: {0}.", ", ".join(dict.fromkeys((WORKING, ALL, *table.id))))
            raise UsageError(Message("There is no population {0!r} of waves.", name), hint=known)
    rows = table.rows(which)
    of = "" if len(rows) == whole else Message(" of {0:,}", whole)
    text = plural(len(rows), "working wave" if name == WORKING else "wave") + of
    text = text if name == WORKING else Message("{0} ({1})", text, table.name[int(which[0])])
    return WaveChoice(name, None if len(rows) == whole else rows, len(rows), whole, text)


def chosen_or_working(table: Populations, name: str) -> WaveChoice:
    """Return the waves for a name; if there is no such population (yet), the working waves."""
    try:
        return wave_choice(table, name)
    except UsageError:
        return wave_choice(table)


MAX_READ_BYTES = 48 << 20  # of wave files: about one and a half million tokens
STRETCHES = 8  # parts of the time of an engine that is too large: each is about a slab of the waves read


def chosen_rows(index: WaveIndex, enough: int = MAX_READ_BYTES) -> list[int]:
    """Return index rows of the waves to analyse: all, if their files are not larger than `enough` bytes.

    Else the waves of some shader engines: the engines whose mean wave life is closest to the overall mean, as
    long as they fit.  If a single engine does not fit, the waves that begin in parts of its time.
    """
    if int(index.size.sum()) <= enough:
        return list(range(len(index)))
    engines, of = np.unique(index.se, return_inverse=True)
    count = np.bincount(of)
    mean = np.bincount(of, index.end - index.begin) / count
    size = np.bincount(of, index.size)
    whole = float((index.end - index.begin).mean())
    order = np.argsort(np.abs(mean - whole), kind="stable")
    fits = int(np.searchsorted(np.cumsum(size[order]), enough, side="right"))
    if fits:
        return np.flatnonzero(np.isin(index.se, engines[order[:fits]])).tolist()
    rows = np.flatnonzero(index.se == engines[order[0]])
    lives = WaveLifetimes(index.se[rows], index.begin[rows], index.end[rows], index.size[rows])
    return rows[stretches(lives, enough, STRETCHES)].tolist()


def only(batches: Iterable[WaveBatch], rows: Collection[int]) -> tuple[WaveBatch, ...]:
    """Return the batches with only the waves whose index row is in `rows`."""
    chosen = []
    for batch in batches:
        waves = [wave for wave in batch.waves if wave.row in rows]
        if len(waves) == len(batch.waves):
            chosen.append(batch)
        elif waves:
            chosen.append(batch_of(waves, tuple(gone for gone in batch.missing if gone[0] in rows)))
    return tuple(chosen)
