"""How many waves were resident over time."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout

from rcv_py.analysis.occupancy import steps
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.curve_plot import Curve, CurvePlot
from rcv_py.ui.kit.panel import Panel, panel


@panel(id="occupancy", title="Occupancy", area="top", order=40)
class OccupancyPanel(Panel):
    """How many waves were resident on each shader engine."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.plot = CurvePlot(ui, "Occupancy over time")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot)
        self.session.trace.watch(self._trace_changed)
        self._trace_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        if trace is None:
            return
        found = steps(trace.occupancy, "se")
        self.plot.set_curves(
            tuple(
                Curve(f"SE{se}", one.time, one.waves, i, "waves") for i, (se, one) in enumerate(found.items())
            ),
            "resident waves",
        )
