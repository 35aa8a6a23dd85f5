"""What the instruction panel asks other analyses for: branches, hidden latency, memory latency."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, why_not
from rcv_py.analysis.program.branches import Branches
from rcv_py.model.trace import Trace
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.shared_results import JOBS
from rcv_py.ui.panels.isa.program import Program, program

# Which shared result a mode is drawn from, and the ingredient it becomes.
NEEDS = {
    Annotation.NONHIDDEN: ("hidden", "hidden"),
    Annotation.KINDS: ("kinds", "kinds"),
    Annotation.CAUSES: ("attribution", "causes"),
    Annotation.MEMORY: ("memory", "memory"),
    Annotation.MEMORY_WAITS: ("waits", "waits"),
}


class IsaFacts(QObject):
    """Wants shared results while their mode is on, and keeps the structure of the program.

    `changed` is called when an answer arrives that matters for what is shown.
    """

    def __init__(self, ui: UiContext, panel: Panel, changed: Callable[[], None]) -> None:
        super().__init__()
        self._ui, self._panel, self._changed = ui, panel, changed
        self.mode = Annotation.TOTAL
        self._program: Program | None = None
        for name in dict.fromkeys(["branches", *(need for need, _ in NEEDS.values())]):
            if name in JOBS:
                ui.results.cell(name).watch(self._arrived)

    def open(self) -> None:
        """Want what the listing always shows, and what the mode needs."""
        self._program = None
        trace = self._ui.session.trace.value
        if trace is not None and trace.has_thread_trace:
            self._want("branches")
            self.set_mode(self.mode)

    def set_mode(self, mode: Annotation) -> None:
        """Choose what the bars show; what it needs is computed if it can be."""
        self.mode = mode
        if mode in NEEDS and self._ui.session.trace.value is not None:
            self._want(NEEDS[mode][0])

    @property
    def branches(self) -> Branches | None:
        """Jumps of all loaded waves, None until they are known."""
        return self._value("branches")

    def structure(self, trace: Trace) -> Callable[[], Program]:
        """Return a function for a thread that gives the structure of the code, made once."""
        found, known = self.branches, self._program

        def job() -> Program:
            if known is not None and known.trace is trace and known.found is found:
                return known
            return program(trace, found)

        return job

    def keep(self, structure: Program) -> None:
        """Remember a structure that was made."""
        self._program = structure

    def ingredients(self) -> dict[str, Any]:
        """What is known for the bars, by name."""
        return {ingredient: self._value(name) for name, ingredient in NEEDS.values()}

    def objections(self, trace: Trace, costs: CostColumns) -> dict[Annotation, str]:
        """Return for each mode why it cannot be chosen, "" if it can (it may still have to be computed)."""
        has = Ingredients(trace.code, costs, **self.ingredients())
        why = {mode: why_not(mode, has) for mode in Annotation}
        for mode, (name, ingredient) in NEEDS.items():
            if name not in JOBS:
                why[mode] = "This version cannot compute it."
            elif trace.has_thread_trace and getattr(has, ingredient) is None:
                why[mode] = ""  # choosing it starts the computation
        return why

    def why_not(self, mode: Annotation, trace: Trace, costs: CostColumns) -> str:
        """Why the bars do not show a mode that is chosen."""
        if mode in NEEDS and NEEDS[mode][0] not in JOBS:
            return "This version cannot compute it."
        return why_not(mode, Ingredients(trace.code, costs, **self.ingredients()))

    def _want(self, name: str) -> None:
        if name in JOBS:
            self._panel.want_result(name)

    def _value(self, name: str) -> Any:
        if name not in JOBS:
            return None
        value = self._ui.results.cell(name).value
        if name == "waits" and value is not None and not hasattr(value, "p90"):
            return getattr(value, "latency", None)
        return value

    def _arrived(self) -> None:
        if self._ui.session.trace.value is not None:
            self._changed()
