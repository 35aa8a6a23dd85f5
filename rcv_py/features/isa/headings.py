"""The heading that stays at the top of the listing: the block, and the loop, of the topmost row.

The heading covers the topmost row.  It looks like the folded row of the block, with its sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.base.text import Message
from rcv_py.features.isa.program import ProgramStructure


@dataclass(frozen=True, slots=True)
class Heading:
    """A block whose first row is above the visible rows."""

    section: int
    row: int  # its first code row
    text: str
    note: str  # its loop, "" for none


def heading(structure: ProgramStructure, by: str, row: int) -> Heading:
    """Return the heading of a visible row that does not begin its block or section."""
    parts = structure.parts(by)
    section = int(parts.of_row[row])
    first, stop = int(parts.first[section]), int(parts.stop[section])
    return Heading(
        section,
        first,
        Message("{0} · {1} to {2}", parts.name[section], first, stop - 1),
        loop_of(structure, row),
    )


def loop_of(structure: ProgramStructure, row: int) -> str:
    """Return a text for the innermost loop around a row, "" if there is none."""
    loops = structure.loops
    around = np.flatnonzero((loops.first <= row) & (row < loops.stop))
    if not len(around):
        return ""
    inner = int(around[np.argmax(loops.depth[around])])
    rounds, entries = int(loops.rounds[inner]), int(loops.entries[inner])
    times = f" ×{rounds / entries:.4g}" if entries else ""
    return Message("loop {0} to {1}{2}", loops.first[inner], loops.stop[inner] - 1, times)
