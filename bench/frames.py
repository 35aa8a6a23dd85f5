"""What a frame of the compute unit timeline costs at every zoom, from made-up waves in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from bench.table import Options, Row, measure
from rcv_py.analysis.timeline.lod import build
from rcv_py.analysis.timeline.raster import Segment, TokenRow
from rcv_py.model.tokens import States, Tokens
from rcv_py.model.window import TimeWindow
from rcv_py.state.commands import Commands
from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import RowName, RowShape
from rcv_py.ui.timeline.time_overlay import Marks
from rcv_py.ui.timeline.timeline_plot import TimelinePlot
from rcv_py.ui.timeline.token_rows import TokenRows

ROWS = 64
STEPS = 60  # pans and zooms
LIMIT_MS = 16.0
SIZE = QSize(1600, 800)
COUNTS = (15_625, 100_000, 156_250, 937_500)  # tokens a row: 1, 6.4, 10 and 60 million in all


class NoGuide:
    """Rows that say nothing."""

    def marks(self) -> Marks:
        return Marks()


def segment(tokens: int, seed: int) -> Segment:
    """Build a wave of short instructions with waits between, 28 cycles an instruction on average."""
    random = np.random.default_rng(seed)
    length = random.integers(1, 12, tokens) * 4
    stall = (length * random.random(tokens)).astype(np.int64) // 4 * 4
    offset = np.cumsum(length + random.integers(0, 3, tokens) * 4) - length
    end = int(offset[-1] + length[-1])
    kind = random.choice([2, 3, 5, 6, 6, 6, 9, 13], tokens).astype(np.uint8)
    columns = (offset, stall, length - stall)
    made = Tokens(0, *(column.astype(np.int32) for column in columns), kind, np.zeros(tokens, np.int16))
    edges = np.append(0, np.sort(random.integers(1, end, tokens // 2))).astype(np.int32)
    states = States(0, edges, random.integers(1, 5, len(edges)).astype(np.uint8), end)
    return Segment(0, end, made, states, build(made, states))


def frame_times(tokens: int, distinct: int = 8) -> dict[float, list[float]]:
    """Milliseconds of each new picture, by cycles a pixel.  Rows repeat after `distinct`, to save memory."""
    application = QApplication.instance() or QApplication([])
    settings, session = Settings(None), Session()
    tasks = Tasks(1)
    results = SharedResults(session, tasks)
    context = UiContext(session, tasks, Theme(settings), settings, Commands(), results)
    made = [segment(tokens, seed) for seed in range(distinct)]
    source = TokenRows(context.theme, RowShape(6, 5, 1))
    rows = [TokenRow((made[i % distinct],)) for i in range(ROWS)]
    source.set_rows(rows, [RowName(f"{i // 16}-{i % 16}", "SE0 CU0") for i in range(ROWS)])
    source.texts = ["v_add_f32 v0, v1, v2"]
    plot = TimelinePlot(context, source, NoGuide())  # type: ignore[arg-type]
    plot.resize(SIZE)
    plot.show()
    times: dict[float, list[float]] = {}
    for window in windows(made[0].end):
        plot.rows.shown = plot.axis.shown = plot.overlay.shown = window
        application.processEvents()
        start = perf_counter()
        plot.viewport().repaint()
        times.setdefault(round(window.width / SIZE.width(), 2), []).append((perf_counter() - start) * 1e3)
    plot.close()
    plot.deleteLater()
    tasks.close()
    return times


def windows(end: int) -> Iterator[TimeWindow]:
    """Pan over every zoom level, from everything to a few tokens."""
    levels = np.geomspace(end * 0.9, 160, 12).astype(int).tolist()
    for width in levels:
        for step in range(STEPS // len(levels)):
            begin = (end - width) * (2 * step + 1) // (2 * STEPS // len(levels))
            yield TimeWindow(begin, begin + width)


@measure("frame")
def frames(options: Options) -> Iterator[Row]:
    """Each size twice, and the better run: other programs only ever make it slower."""
    medians = []
    for tokens in COUNTS:
        frame_times(100, 1)  # fonts and the like
        runs = [np.percentile(np.concatenate(list(frame_times(tokens).values())), [50, 95]) for _ in range(2)]
        p50, p95 = np.min(runs, axis=0).tolist()
        medians.append(p50)
        name = f"frame, {ROWS} rows, {ROWS * tokens / 1e6:,.1f} M tokens, all zooms"
        yield Row(f"{name}, p50", p50, None, "ms", 1)
        yield Row(f"{name}, p95", p95, LIMIT_MS, "ms", 1)
    yield Row(f"frame, {COUNTS[-1] / COUNTS[0]:.0f} times the tokens", medians[-1] / medians[0], 2.0, "×")
