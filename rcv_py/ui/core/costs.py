"""The costs of instructions in the session's mode, as a job for a thread."""

from collections.abc import Callable

import numpy as np

from rcv_py.analysis.core.cost_columns import LINES, CostColumns, cost_columns
from rcv_py.analysis.cost.hotspot import counted_rows
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import Panel, UiContext

OF_ALL_WAVES = (LatencyMode.SUM_ALL, LatencyMode.MEAN_ALL)


def rows_in(trace: Trace, window: TimeWindow | None) -> frozenset[int] | None:
    """Return the index rows of the waves that touch a window; None means all waves."""
    return None if window is None else frozenset(counted_rows(trace.waves, None, window))


def cost_job(session: Session, mode: LatencyMode | None = None) -> Callable[[], CostColumns] | None:
    """Return a function that computes the costs of all instructions, None if no capture is open.

    The mode defaults to the session's.  With a clock range, the waves that touch it and have been read count.
    The function touches no mutable state.
    """
    trace, store = session.trace.value, session.store
    if trace is None or store is None:
        return None
    mode = mode or session.latency_mode.value
    window = session.clock_range.value
    wave, hit = session.wave(), session.selection.value.hit
    rows, read = rows_in(trace, window), session.snapshot()
    lines = read.incremental("lines of a range", LINES, window, expected=rows)

    def job() -> CostColumns:
        counted = lines(rows) if window is not None and mode in OF_ALL_WAVES else None
        return cost_columns(trace.code, mode, wave, hit, counted)

    return job


def charged_job(ui: UiContext) -> Callable[[], np.ndarray] | None:
    """Return a function that computes the cycles charged to each instruction, None if no capture is open."""
    job, show_idle = cost_job(ui.session, LatencyMode.SUM_ALL), ui.settings["isa.show_idle"]
    return None if job is None else lambda: charged(job(), show_idle)


class CostUpdates:
    """Calls a panel when its costs change, and at intervals while waves of a clock range arrive."""

    def __init__(self, panel: Panel, compute: Callable[[], None], every_ms: int) -> None:
        self._session = session = panel.session
        self.request = panel.request(compute, every_ms)
        self.ask, self.run = self.request.ask, self.request.run
        for cell in (session.clock_range, panel.ui.settings.cell("isa.show_idle")):
            cell.watch(self.ask)
        session.loaded.watch(self.more_waves)

    def more_waves(self) -> None:
        """Request an update if the waves of a clock range count; totals of all waves come with the code."""
        if self._session.clock_range.value is not None:
            self.request.update()


def charged(costs: CostColumns, show_idle: bool) -> np.ndarray:
    """Return the cycles charged to each instruction: latency, plus the idle time before it if that counts."""
    return costs.latency + costs.idle if show_idle else costs.latency


def unit_of(trace: Trace | None) -> str:
    """Return the unit of the costs."""
    return "cycles" if trace is None or trace.has_thread_trace else "samples"


def has_sources(trace: Trace | None) -> bool:
    """Return whether any instruction has a source line."""
    return trace is not None and len(trace.code.chain_file) > 0
