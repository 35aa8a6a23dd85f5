"""What a capture shows when it is opened: its hottest row, selected in a wave that stands for its kernel."""

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from rcv_py.features.isa.panel import IsaPanel
from rcv_py.model.trace import Trace
from rcv_py.ui.app import App
from tests.support.samples import markers_alone
from tests.support.window_fixtures import Reused
from tests.ui.window import SAMPLES, open_sample, settings_in, settle, window


@pytest.fixture
def size() -> tuple[int, int]:
    return 1920, 1080


@pytest.fixture
def paths() -> list[Path]:
    """The captures to open one after the other in the same window."""
    return [SAMPLES / name for name in ("matmul_tiled", "pc_sampling", "placeholder", "matmul_tiled")]


def cost_of(trace: Trace) -> np.ndarray:
    code = trace.code
    cost = code.latency + code.idle
    if code.samples_issued is not None and code.samples_stalled is not None and not cost.any():
        cost = code.samples_issued + code.samples_stalled
    return np.where(code.is_label, 0, cost)


def expected_wave(app: App, line: int) -> int:
    """The row of the median wave of those of the kernel in the title that worked and ran a line."""
    trace, found = app.ui.session.trace.value, app.ui.session.populations.value
    names, kernel = trace.occupancy.names, trace.code.main_kernel.name
    index, store = trace.waves, app.ui.session.store
    own = [row for row in range(len(index)) if names.get(int(index.kernel[row])) == kernel]
    own = [row for row in own if row in found.working] or own
    own = [row for row in own if line in store.wave(row).tokens.line] or own
    life = {row: int(index.end[row] - index.begin[row]) for row in own}
    middle = np.median(list(life.values()))
    return min(own, key=lambda row: (abs(life[row] - middle), life[row], row))


def test_the_hottest_row_is_selected_a_third_from_the_top(blank: App, paths: list[Path]) -> None:
    for path in paths:
        open_sample(blank, path)
        check(blank)


def test_so_it_is_in_a_small_window_and_when_it_is_opened_again(reused: Reused) -> None:
    with reused(size=(1280, 800)) as app:
        for path in (SAMPLES / "matmul_tiled", SAMPLES / "pc_sampling"):
            open_sample(app, path)
            check(app)
            app.window.opener.open(path)  # the place is that of the first time
            settle(app)
            check(app)


def test_the_next_start_shows_the_same_rows(tmp_path: Path) -> None:
    store = settings_in(tmp_path)
    seen = []
    for _ in range(3):
        with window(store, (1280, 800)) as app:
            open_sample(app)
            check(app)
            seen.append(app.window.workspace.docks["isa"].panel.view.verticalScrollBar().value())
    assert seen[0] > 0
    assert seen == seen[:1] * 3


def check(app: App) -> None:
    session, panel = app.ui.session, app.window.workspace.docks["isa"].panel
    assert isinstance(panel, IsaPanel)
    trace, place, view = session.trace.value, session.selection.value, panel.view
    cost = cost_of(trace)
    if not cost.any():
        assert place.line is None
        return
    hot = int(np.argmax(cost))
    assert place.line == view.current == hot, trace.name
    chain = trace.code.chain(hot)
    assert place.source == (chain[0] if chain else None)
    page = view.viewport().height() // view.row_height
    top = view.row_top(view.table.view_row(hot)) // view.row_height
    bar = view.verticalScrollBar()
    assert top == page // 3 or bar.value() in (0, bar.maximum()), (trace.name, top, page)
    assert 0 < top < page
    assert session.view.value == session.outer(trace), "the whole kernel in time"
    if not len(trace.waves):
        return
    wave = session.wave()
    assert wave.row == expected_wave(app, hot), trace.name
    hits = np.flatnonzero(wave.tokens.line == hot)
    durations = wave.tokens.duration[hits]
    assert abs(durations[place.hit] - np.median(durations)) == abs(durations - np.median(durations)).min()
    assert len(panel.walk.arrows.rows) or not len(wave.dependencies.waits)
    facts = app.window.workspace.docks["token_details"].panel
    assert facts.visibility.is_asleep or trace.code.text[hot] in facts.head.toPlainText()


def test_what_was_selected_before_all_waves_were_read_stays(blank: App, qtbot: QtBot) -> None:
    session = blank.ui.session
    blank.window.opener.open(SAMPLES / "matmul_tiled")
    qtbot.waitUntil(lambda: session.trace.value is not None)
    other = session.trace.value.waves.id(3)
    session.select_wave(other)
    settle(blank)
    assert session.selection.value.wave == other
    assert not session.history.can_go(-1) or session.history.visits[-1].selection.wave == other


def test_markers_alone_begin_with_the_whole_device(blank: App, tmp_path: Path) -> None:
    open_sample(blank, markers_alone(tmp_path))
    assert blank.window.workspace.docks["global_timeline"].is_seen


def test_a_small_window_shows_most_rows_of_a_compute_unit(reused: Reused) -> None:
    with reused(size=(1280, 800), sample=True) as app:
        docks = app.window.workspace.docks
        plot, listing = docks["compute_unit"].panel.timeline.plot, docks["isa"].panel.view
        assert plot.box.height() // plot.rows.source.shape.pitch >= 6
        assert listing.viewport().height() // listing.row_height >= 18
