"""What the instruction table knows of the structure of a program, and the notes it writes beside rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.program.blocks import Blocks, blocks, by_label
from rcv_py.analysis.program.branches import Branches, BranchTable, branch_table, flow
from rcv_py.analysis.program.loops import Loops, loops
from rcv_py.base.text import count, plural, short_count
from rcv_py.model.trace import Trace

FOLD_BY = {"block": "Basic blocks", "label": "Labels and kernels"}


@dataclass(frozen=True, eq=False)
class Program:
    """Blocks, loops and branches of a capture's code; `found` is None until the waves have been looked at."""

    trace: Trace
    blocks: Blocks
    sections: Blocks  # from label to label
    loops: Loops
    table: BranchTable
    found: Branches | None

    def parts(self, by: str) -> Blocks:
        """What is folded: basic blocks or sections."""
        return self.sections if by == "label" else self.blocks

    @cached_property
    def branch_notes(self) -> dict[int, str]:
        """A few characters for each branch that ran, and for each row that branches lead to."""
        if self.found is None:
            return {}
        notes: dict[int, str] = {}
        for row, target, yes, no, _ in self._branches():
            if yes or no:
                notes[row] = f"{_arrow(row, target)} taken {short_count(yes)}, not {short_count(no)}"
        for target, (sources, times) in self._arrivals().items():
            whence = str(sources[0]) if len(sources) == 1 else plural(len(sources), "branch", "branches")
            note = f"from {whence} ×{short_count(times)}"
            notes[target] = f"{notes[target]} · {note}" if target in notes else note
        return notes

    @cached_property
    def loop_notes(self) -> dict[int, str]:
        """How many rounds each loop took, at the first row of its header."""
        table = self.loops
        notes = {}
        for loop, header in enumerate(table.header.tolist()):
            entries, rounds = int(table.entries[loop]), int(table.rounds[loop])
            row = int(self.blocks.head[header])
            notes[row] = f"loop ×{rounds / entries:.4g}" if entries else "loop"
        return notes

    def ran(self, loop: int) -> bool:
        """Whether a loop is known to have run, or nothing tells (a capture of samples)."""
        return self.found is None or bool(self.loops.rounds[loop])

    def loop_tip(self, loop: int) -> str:
        """What a loop is and how often it ran."""
        table = self.loops
        lines = f"Loop of rows {count(int(table.first[loop]))} to {count(int(table.stop[loop]) - 1)}"
        rounds, entries = int(table.rounds[loop]), int(table.entries[loop])
        if self.found is None:
            return f"{lines}."
        if not rounds:
            return f"{lines}.\nNo loaded wave ran it."
        each = f", {rounds / entries:.4g} each" if entries else ""
        inner = f", {table.depth[loop]} deep" if table.depth[loop] > 1 else ""
        return f"{lines}{inner}.\n{plural(rounds, 'round')}{each}, entered {plural(entries, 'time')}."

    def block_text(self, row: int) -> str:
        """Which block a row is in."""
        at = int(self.blocks.of_row[row])
        first, stop = int(self.blocks.first[at]), int(self.blocks.stop[at])
        depth = int(self.loops.depth_of_block[at])
        ring = f", in {plural(depth, 'loop')}" if depth else ""
        return f"{self.blocks.name[at]}: rows {count(first)} to {count(stop - 1)}{ring}"

    def _branches(self) -> list[tuple[int, ...]]:
        table = self.table
        columns = (table.row, table.target, table.taken, table.not_taken, table.elsewhere)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _arrivals(self) -> dict[int, tuple[list[int], int]]:
        assert self.found is not None
        arrivals: dict[int, tuple[list[int], int]] = {}
        columns = (self.found.source, self.found.target, self.found.taken)
        for source, target, times in zip(*(column.tolist() for column in columns), strict=True):
            sources, sum_ = arrivals.get(target, ([], 0))
            arrivals[target] = ([*sources, source], sum_ + times)
        return arrivals


def program(trace: Trace, found: Branches | None) -> Program:
    """Return the structure of a capture's code."""
    how, table = flow(trace.code), blocks(trace.code, found)
    empty = np.zeros(0, dtype=np.int32)
    seen = found if found is not None else Branches(empty, empty, empty, empty)
    rows = branch_table(seen, how.is_branch, how.target)
    return Program(trace, table, by_label(table), loops(table, found), rows, found)


def _arrow(row: int, target: int) -> str:
    return "→ ?" if target < 0 else f"→ {target}"
