"""The program data of the instruction panel besides costs: structure, notes next to rows, analyses."""

from collections.abc import Callable
from functools import cached_property, partial
from operator import is_not

import numpy as np
from PySide6.QtCore import QObject

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, why_not
from rcv_py.analysis.program.blocks import Blocks, blocks, by_label
from rcv_py.analysis.program.branches import Branches, BranchTable, branch_table, branches, flow
from rcv_py.analysis.program.loops import Loops, loops
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, plural, short_count
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import Panel, UiContext

FOLD_BY = {"block": "Basic blocks", "label": "Labels and kernels"}


class Heading(Value):
    """The heading that stays at the top of the listing: a block whose first row is above the visible rows.

    It covers the topmost row, and looks like the folded row of the block, with its sums.
    """

    section: int
    row: int  # its first code row
    text: str
    note: str  # its loop, "" for none


class ProgramStructure(Record):
    """Blocks, loops and branches of a capture's code; `branches` is None until waves are analyzed."""

    trace: Trace
    blocks: Blocks
    sections: Blocks  # from label to label
    loops: Loops
    table: BranchTable
    branches: Branches | None

    def parts(self, by: str) -> Blocks:
        """Return the foldable parts: basic blocks or sections."""
        return self.sections if by == "label" else self.blocks

    @cached_property
    def branch_notes(self) -> dict[int, str]:
        """Return a short note for each branch that ran, and for each branch target."""
        if self.branches is None:
            return {}
        notes: dict[int, str] = {}
        table = self.table
        columns = (table.row, table.target, table.taken, table.not_taken)
        for row, target, yes, no in zip(*(column.tolist() for column in columns), strict=True):
            if yes or no:
                goal = "?" if target < 0 else target
                notes[row] = Message("→ {0} taken {1}, not {2}", goal, short_count(yes), short_count(no))
        for target in ascending(self.branches.target).tolist():
            is_here = self.branches.target == target
            sources, times = self.branches.source[is_here], int(self.branches.taken[is_here].sum())
            whence = str(sources[0]) if len(sources) == 1 else plural(len(sources), "branch", "branches")
            note = Message("from {0} ×{1}", whence, short_count(times))
            notes[target] = f"{notes[target]} · {note}" if target in notes else note
        return notes

    @cached_property
    def loop_notes(self) -> dict[int, str]:
        """Return how many iterations each loop took per entry, at the first row of its header."""
        loops, notes = self.loops, dict[int, str]()
        columns = (self.blocks.head[loops.header], loops.entries, loops.rounds)
        for row, entries, took in zip(*(column.tolist() for column in columns), strict=True):
            notes[row] = Message("loop ×{0:.4g}", took / entries) if entries else "loop"
        return notes

    def ran(self, loop: int) -> bool:
        """Return whether a loop is known to have run, or it is unknown (a capture of samples)."""
        return self.branches is None or bool(self.loops.rounds[loop])

    def heading(self, by: str, row: int) -> Heading:
        """Return the heading of a visible row that does not begin its block or section."""
        parts = self.parts(by)
        section = int(parts.of_row[row])
        first, stop = int(parts.first[section]), int(parts.stop[section])
        text = Message("{0} · {1} to {2}", parts.name[section], first, stop - 1)
        return Heading(section, first, text, self.loop_text(row))

    def innermost(self, row: int) -> int:
        """Return the innermost loop around a row, -1 if there is none."""
        around = np.flatnonzero((self.loops.first <= row) & (row < self.loops.stop))
        return int(around[np.argmax(self.loops.depth[around])]) if len(around) else -1

    def loop_text(self, row: int) -> str:
        """Return a text for the innermost loop around a row, "" if there is none."""
        loops, inner = self.loops, self.innermost(row)
        if inner < 0:
            return ""
        rounds, entries = int(loops.rounds[inner]), int(loops.entries[inner])
        times = f" ×{rounds / entries:.4g}" if entries else ""
        return Message("loop {0} to {1}{2}", loops.first[inner], loops.stop[inner] - 1, times)

    def block_text(self, row: int) -> str:
        """Return a text about the block of a row."""
        at = int(self.blocks.of_row[row])
        first, stop = int(self.blocks.first[at]), int(self.blocks.stop[at])
        depth = int(self.loops.depth_of_block[at])
        ring = Message(", in {0}", plural(depth, "loop")) if depth else ""
        return Message("{0}: instructions {1} to {2}{3}", self.blocks.name[at], first, stop - 1, ring)


def program(trace: Trace, found: Branches | None) -> ProgramStructure:
    """Return the structure of a capture's code."""
    how, table = flow(trace.code), blocks(trace.code, found)
    rows = branch_table(branches((), trace.code) if found is None else found, how)
    return ProgramStructure(trace, table, by_label(table), loops(table, found), rows, found)


# The shared result that holds the data of each kind of bars.
NEEDS = {
    Annotation.NONHIDDEN: "hidden",
    Annotation.KINDS: "kinds",
    Annotation.CAUSES: "attribution",
    Annotation.MEMORY: "memory",
    Annotation.MEMORY_WAITS: "waits",
}


class IsaFacts(QObject):
    """Requests shared results while their mode is on, and keeps the structure of the program.

    `changed` is called when an answer arrives that affects the display.
    """

    def __init__(self, ui: UiContext, panel: Panel, changed: Callable[[], None]) -> None:
        super().__init__()
        self._ui, self._panel, self._changed = ui, panel, changed
        self.mode = Annotation.TOTAL
        self.program: ProgramStructure | None = None  # the structure that was made last
        self._shown: list[object] = [None, None]  # branches, and what the mode needed, at the last structure
        for name in ("branches", *NEEDS.values()):
            ui.results.cell(name).watch(self._arrived)

    def open(self) -> None:
        """Request the results that the listing always shows, and those that the mode needs."""
        self.program = None
        trace = self._ui.session.trace.value
        if trace is not None and trace.has_thread_trace:
            self._panel.want_result("branches")
            self.set_mode(self.mode)

    def set_mode(self, mode: Annotation) -> None:
        """Choose the content of the bars and compute the data that it needs, if possible."""
        self.mode = mode
        if mode in NEEDS and self._ui.session.trace.value is not None:
            self._panel.want_result(NEEDS[mode])

    def structure(self, trace: Trace) -> Callable[[], ProgramStructure]:
        """Return a function for a thread that returns the structure of the code, made once."""
        self._shown = self._shown_now
        found, known = self._ui.results.cell("branches").value, self.program
        if known is not None and known.trace is trace and known.branches is found:
            return lambda: known
        return lambda: program(trace, found)

    def ingredients(self) -> Callable[[CodeTable, CostColumns, bool], Ingredients]:
        """Return a function for a thread that makes the data of bars from the present answers."""
        known = {name: self._ui.results.cell(name).value for name in NEEDS.values()}
        waits, causes = known.pop("waits"), known.pop("attribution")
        return partial(Ingredients, **known, waits=None if waits is None else waits.latency, causes=causes)

    def objections(self, trace: Trace, costs: CostColumns) -> dict[Annotation, str]:
        """Return for each mode why it is disabled, "" if it is not: choosing it starts its computation."""
        why = {mode: self.why_not(mode, trace, costs) for mode in Annotation}
        for mode, name in NEEDS.items():
            if trace.has_thread_trace and self._ui.results.cell(name).value is None:
                why[mode] = ""
        return why

    def why_not(self, mode: Annotation, trace: Trace, costs: CostColumns) -> str:
        """Return why the bars do not show a chosen mode."""
        return why_not(mode, self.ingredients()(trace.code, costs, True))

    def _arrived(self) -> None:
        """Report an answer that is shown: other panels want some of these results, too."""
        if self._ui.session.trace.value is not None and any(map(is_not, self._shown_now, self._shown)):
            self._changed()

    @property
    def _shown_now(self) -> list[object]:
        return [self._ui.results.cell(name).value for name in ("branches", NEEDS.get(self.mode, "branches"))]

    @property
    def is_due(self) -> bool:
        """Return whether branches of all waves come in a moment: until then rows would be made twice."""
        store, results = self._ui.session.store, self._ui.results
        is_over = store is not None and store.is_complete and not self._ui.session.is_streaming
        return is_over and results.cell("branches").value is None and results.is_due("branches")
