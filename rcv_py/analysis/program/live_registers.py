"""Which registers hold a value that is still needed, at every instruction of a program.

```
                               live after it
 v_mov_b32   v0, 1             v0
 v_mov_b32   v1, 2             v0 v1        pressure 2: the peak
 v_add_f32   v2, v0, v1        v2
 global_store v[4:5], v2       nothing
```
A register is live if some path through the program reads it before it is overwritten (backward data flow
over the control-flow graph), and if something may have written it: a launch value (arguments, ids) counts
from the begin of the program to its last use.  If some lanes may be disabled, writing a vector register keeps
the values of the other lanes, so the register stays live.

The pressure of an instruction is the number of registers that must be held at a time: those needed before it,
or those needed after it and those it writes, whichever is more.  No allocation needs fewer there.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise

import numpy as np

from rcv_py.analysis.program.blocks import backward, blocks, forward, ways
from rcv_py.analysis.program.branches import flow
from rcv_py.analysis.program.registers import SPECIAL, A, S, V, bits, registers
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import memoized

RegisterFile = IntEnum("RegisterFile", "VGPR AGPR SGPR", start=0)  # the kinds that are allocated
FILE_NAMES = ("VGPR", "AGPR", "SGPR")
_BEGINS = (V, A, S, SPECIAL["vcc"])
_MASKS = tuple(((1 << stop - first) - 1) << first for first, stop in pairwise(_BEGINS))
_VECTOR = _MASKS[RegisterFile.VGPR] | _MASKS[RegisterFile.AGPR]
_CHECKED = 4096  # rows between two checkpoints
_KEEPS = re.compile(r"\S*_d16|\S*_mix(lo|hi)|.*UNUSED_PRESERVE")  # writes half a register
_ALL_LANES = re.compile(r"s_mov_b(?:32|64)\s+exec(?:_lo)?,\s*-1\b|s_or_saveexec_b(?:32|64)\s+\S+,\s*-1\b")
_RESTORES = re.compile(
    r"s_(?:or_b(?:32|64)\s+exec(?:_lo)?,\s*exec(?:_lo)?|mov_b(?:32|64)\s+exec(?:_lo)?),\s*(\S+)"
)
_SAVES = re.compile(r"s_\w*saveexec_b(?:32|64)\s+(\S+?),|s_mov_b(?:32|64)\s+(s\S+),\s*exec")
_EXEC = 1 << SPECIAL["exec"]


class LiveRegisters(Value):
    """Rows are the rows of the code table."""

    held: tuple[int, ...]  # sets of registers that are needed before or after each row, or written by it
    pressure: np.ndarray  # int32 [rows, files], how many of each file must be held at a time

    def peak(self, *files: RegisterFile, first: int = 0, stop: int | None = None) -> int:
        """Return the first row with the highest pressure of these files together, -1: none."""
        part = self.pressure[first:stop, list(files)].sum(axis=1)
        return first + int(part.argmax()) if part.any() else -1


def numbers(found: int, file: RegisterFile) -> tuple[int, ...]:
    """Return the numbers of the registers of a file in a set, ascending."""
    return tuple(bits((found & _MASKS[file]) >> _BEGINS[file]))


def ranges_text(found: tuple[int, ...], letter: str) -> str:
    """Return registers as an assembler writes them: `v[0:3], v7`; "" for none."""
    parts: list[list[int]] = []
    for number in found:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{letter}{low}" if low == high else f"{letter}[{low}:{high}]" for low, high in parts)


@memoized
def live_registers(code: CodeTable) -> LiveRegisters:
    """Return the registers held at every row of a program; computed once per table."""
    flow = _Flow(code)
    # A register that is read before it is written gets its value at launch.
    given = flow.needed([known.writes for known in flow.known])
    kills = [
        known.writes & ~_VECTOR if is_partial or _KEEPS.match(text) else known.writes
        for known, is_partial, text in zip(flow.known, _partial(flow.texts, code), flow.texts, strict=True)
    ]
    return flow.held(kills, flow.needed(kills), flow.written(given))


class _Flow:
    """Blocks of a program, and what each row reads and writes."""

    def __init__(self, code: CodeTable) -> None:
        pairs = zip(code.text, code.is_label.tolist(), strict=True)
        self.texts = ["" if is_label else text.strip() for text, is_label in pairs]
        self.known = [registers(text) for text in self.texts]
        self.table = blocks(code)
        self.ways = ways(self.table)

    def __iter__(self) -> Iterator[tuple[int, range]]:
        """The blocks: number and rows."""
        for number, rows in enumerate(map(range, self.table.first.tolist(), self.table.stop.tolist())):
            if number % _CHECKED == 0:
                checkpoint()
            yield number, rows

    def needed(self, kills: Sequence[int]) -> list[int]:
        """Return what is needed after each block; `kills` are the registers whose values each row ends."""
        uses, ends = [], []
        for _, rows in self:
            use = end = 0
            for row in reversed(rows):
                use = self.known[row].reads | (use & ~kills[row])
                end |= kills[row]
            uses.append(use)
            ends.append(end)
        return backward(uses, ends, *self.ways)

    def written(self, needed_after: Sequence[int]) -> list[int]:
        """Return what may have been written before each block, or was set at launch.

        `needed_after` is what is needed after each block if every write ends the previous value.
        """
        makes, begins = [], []
        for number, rows in self:
            made = begin = 0
            if self.table.is_entry[number] or not self.ways[0][number]:
                begin = needed_after[number]
                for row in reversed(rows):
                    begin = self.known[row].reads | (begin & ~self.known[row].writes)
            for row in rows:
                made |= self.known[row].writes
            makes.append(made | begin)
            begins.append(begin)
        handed = forward(makes, [0] * len(makes), *self.ways)
        return [before | begin for before, begin in zip(handed, begins, strict=True)]

    def held(
        self, kills: Sequence[int], needed_after: Sequence[int], written: Sequence[int]
    ) -> LiveRegisters:
        """Return the registers that are needed and may have been written."""
        held = [0] * len(self.texts)
        pressure = np.zeros((len(held), len(FILE_NAMES)), dtype=np.int32)
        for number, rows in self:
            there, before = [], written[number]
            for row in rows:
                there.append(before)
                before |= self.known[row].writes
            needed = needed_after[number]
            for row in reversed(rows):
                known, was = self.known[row], there.pop()
                after = (needed & (was | known.writes)) | known.writes
                needed = known.reads | (needed & ~kills[row])
                ahead = needed & (was | known.reads)
                held[row] = after | ahead
                pressure[row] = [max((after & m).bit_count(), (ahead & m).bit_count()) for m in _MASKS]
        return LiveRegisters(tuple(held), pressure)


def _partial(texts: Sequence[str], code: CodeTable) -> list[bool]:
    """Whether some lanes may be disabled at each row, by the order of the text.

    Compilers nest the instructions that narrow the lane mask and those that restore it; a loop that continues
    with some lanes disabled counts as having them disabled from its begin.
    """
    begins = {kernel.first for kernel in code.kernels}
    depth, deep = 0, []
    saved: dict[str, int] = {}
    for row, text in enumerate(texts):
        if row in begins:
            depth, saved = 0, {}
        if _ALL_LANES.match(text):
            depth = 0
        elif restored := _RESTORES.match(text):
            depth = saved.get(restored[1], max(0, depth - 1))
        else:
            if save := _SAVES.match(text):
                saved[save[1] or save[2]] = depth
            if registers(text).writes & _EXEC:
                depth += 1
        deep.append(depth > 0)
    how = flow(code)
    loops = np.flatnonzero((how.target >= 0) & (how.target <= np.arange(len(texts))) & np.array(deep, bool))
    edges = np.zeros(len(texts) + 1, dtype=np.int64)
    np.add.at(edges, how.target[loops], 1)
    np.add.at(edges, loops + 1, -1)
    return (np.array(deep, dtype=bool) | (np.cumsum(edges)[:-1] > 0)).tolist()
