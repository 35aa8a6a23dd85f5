"""The panels with curves, on whole captures: pictures in both themes, texts, tables, empty states."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import dispatch_curves
from rcv_py.features.occupancy.panel import OccupancyPanel
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.device import Dispatch
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core import export
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.plot import curves
from tests.support.fixtures import fixture_of
from tests.support.opened import all_waves, sample_trace
from tests.support.plain_capture import Plain, plain
from tests.support.samples import sample_path, write_sample
from tests.support.traces import made_trace
from tests.ui.canvas_bot import CanvasBot
from tests.ui.window import SAMPLE

GROUPS = ("se", "kernel", "state")
SHOWN = ("matmul_small", "vector_add", "gfx12")
STATES = {"exec": 2, "wait": 3, "stall": 4, "idle": 1}  # as they stand in files


@pytest.fixture
def make(ui: UiContext, settled: Callable, qtbot: Any) -> Callable[..., Any]:
    """Show a panel over what is open."""

    def shown(group: str = "se", size: tuple[int, int] = (900, 260), theme: str = "light") -> OccupancyPanel:
        ui.settings["look.theme"] = theme
        panel = OccupancyPanel(ui)
        qtbot.addWidget(panel)
        panel.remembered["group"].choose(group)
        panel.resize(*size)
        panel.show()
        QApplication.processEvents()
        settled()
        panel.plot.canvas.point_out("")
        return panel

    return shown


def load(open_in: Callable, trace: Trace) -> Trace:
    rows = list(range(len(trace.waves)))
    open_in(trace, [trace.reader.read(rows)] if rows else [])
    return trace


def colors(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}


def check_texts(panel: OccupancyPanel) -> None:
    """Nothing that is written is cut: axis, legend and choices have the room they want."""
    values = panel.plot.canvas.values
    font = panel.font()
    font.setPixelSize(11)
    assert QFontMetricsF(font).horizontalAdvance(values.title) < values.size().height()
    assert panel.plot.legend.is_whole
    for box in panel.findChildren(QComboBox):
        assert box.width() >= box.minimumSizeHint().width()
        assert box.accessibleName()
    assert panel.plot.canvas.accessibleName()


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(make: Callable, open_in: Callable, group: str, theme: str, name: str) -> None:
    load(open_in, sample_trace(name))
    panel = make(group, theme=theme)
    assert not panel.page.is_empty
    check_texts(panel)
    image = export.picture(panel.canvas(), panel.ui.theme, export.caption(panel.session, panel.caption()))
    found = colors(image)
    curve = panel.plot.canvas.curves.set.curves[0]
    assert panel.ui.theme.role("canvas").rgb() in found
    from rcv_py.ui.plot.curves import curve_color

    assert curve_color(panel.ui.theme, curve.color).rgb() in found
    assert panel.caption()
    rows = panel.sheet().csv().splitlines()
    assert rows[0].startswith("cycle,")
    assert len(rows) > 10


@pytest.mark.parametrize("group", GROUPS)
def test_narrow_panels_keep_their_place(make: Callable, open_in: Callable, group: str) -> None:
    load(open_in, sample_trace("matmul_small"))
    panel = make(group, (340, 160))
    assert panel.width() <= 480
    assert panel.plot.canvas.box.height() > 20
    panel.grab()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("sample", ["pc_sampling", "placeholder"])
def test_empty_states_say_why(
    make: Callable, open_in: Callable, tmp_path: Path, group: str, sample: str
) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample(sample, folder, 0)
    trace = load(open_in, open_trace(folder))
    panel = make(group)
    has_curves = len(trace.occupancy) > 0 and group != "state"
    assert panel.page.is_empty == (not has_curves)
    if not has_curves:
        sentence = panel.page.sentence.text()
        assert ("PC samples" if sample == "pc_sampling" else "Not in this capture") in sentence
        assert panel.sheet() is None
        assert panel.canvas() is panel.page


@pytest.mark.parametrize("group", GROUPS)
def test_no_capture_and_a_closed_one(
    make: Callable, open_in: Callable, settled: Callable, group: str
) -> None:
    panel = make(group)
    assert "Ctrl+O" in panel.page.sentence.text()
    load(open_in, sample_trace("vector_add"))
    settled()
    panel.session.close()
    assert "Ctrl+O" in panel.page.sentence.text()
    assert panel.sheet() is None


def test_without_an_occupancy_file(make: Callable, open_in: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    copytree(SAMPLE, folder)
    (folder / "occupancy.json").unlink()
    load(open_in, open_trace(folder))
    for group in ("se", "kernel"):
        assert "occupancy.json is missing" in make(group).page.sentence.text()
    assert not make("state").page.is_empty


def crowd(read: Plain) -> str:
    """The caption about all waves together, counted event by event."""
    changes = sorted([(one.begin, 1) for one in read.stays] + [(one.end, -1) for one in read.stays])
    begin, end = changes[0][0], changes[-1][0]
    here = 0
    counts = {}
    for time, change in changes:
        here += change
        counts[time] = here
    peak = max(counts.values())
    low = min(time for time in counts if all(2 * counts[later] <= peak for later in counts if later >= time))
    mean = sum(one.end - one.begin for one in read.stays) / (end - begin)
    last = 100 * (end - low) / (end - begin)
    return f"mean {mean:.1f} of at most {peak} waves · at most half of that for the last {last:.1f} %"


def shares(read: Plain) -> str:
    """The caption about the states of waves."""
    cycles = Counter[int]()
    for wave in read.waves:
        for state, duration in wave.timeline:
            cycles[state] += duration
    return ", ".join(f"{name} {100 * cycles[at] / cycles.total():.1f} %" for name, at in STATES.items())


# -- occupancy ------------------------------------------------------------------------------------------


def test_occupancy_by_place(make: Callable, open_in: Callable, settled: Callable) -> None:
    trace = load(open_in, sample_trace("matmul_small"))
    units = sorted({(wave.se, wave.cu) for wave in plain(trace.path).waves})
    panel = make()
    assert [curve.name for curve in panel.plot.curves] == ["SE0", "SE1"]
    assert "32 wave slots per compute unit" in panel.caption()
    panel.remembered["group"].choose("all")
    settled()
    assert [curve.name for curve in panel.plot.curves] == ["all waves"]
    assert panel.caption().startswith(crowd(plain(trace.path)))
    panel.remembered["group"].choose("cu")
    settled()
    assert [curve.name for curve in panel.plot.curves] == [f"SE{se} CU{cu}" for se, cu in units]
    panel.remembered["group"].choose("simd")
    settled()
    assert len(panel.plot.curves) == 8
    state = panel.save_state()
    other = make()
    other.load_state(state | {"else": 3})
    settled()
    assert other.chosen("group") == "simd"


def test_occupancy_reads_what_the_table_says(make: Callable, open_in: Callable) -> None:
    trace = load(open_in, sample_trace("vector_add"))
    panel = make()
    time = trace.span.begin + trace.span.width // 2
    events = trace.occupancy
    _, readings = panel.plot.canvas.readings(time)
    for se, reading in enumerate(readings):
        own = (events.se == se) & (events.time <= time)
        assert reading.value == f"{int(np.where(events.is_start[own], 1, -1).sum())} waves"


# -- kernels --------------------------------------------------------------------------------------------


def test_a_click_on_a_kernel_tells_about_it(make: Callable, open_in: Callable) -> None:
    trace = load(open_in, sample_trace("vector_add"))
    (symbol,) = {kernel.name for kernel in trace.code.kernels}
    spread = replace(
        trace.occupancy,
        kernel=1 + np.arange(len(trace.occupancy), dtype=np.int32) % 7,
        names=dict.fromkeys(range(1, 8), symbol),
    )
    records = (Dispatch(trace.span.begin, 0, 3, symbol),)
    open_in(replace(trace, occupancy=spread, dispatches=records))
    panel = make("kernel")
    name = "vector_add"
    assert [curve.name for curve in panel.plot.curves] == [name]
    assert panel.caption().startswith(f"{name} · ids 1, 2, 3, 4, 5, 6, 7 · 1 dispatch")
    panel.say("")
    curve = panel.plot.curves[0]
    middle = trace.span.begin + trace.span.width // 2
    bot = CanvasBot(panel.plot.canvas)
    bot.click(curve.steps.at(middle), middle)
    assert panel.caption().startswith(name)
    assert [line.role for line in panel.plot.canvas._marks().lines] == ["accent"]
    panel.session.set_view(TimeWindow(middle - 100, middle + 100))
    bot.double_click(curve.steps.at(middle), middle)
    assert panel.session.view.value.width >= trace.span.width


def test_kernels_without_a_name_and_of_one_short_name(make: Callable, open_in: Callable) -> None:
    trace, batches = made_trace(("v" * 40, "s" * 40))
    events = replace(trace.occupancy, names={1: "_ZN2ns3addIfEEvPf", 2: "_ZN2ns3addIdEEvPd"})
    open_in(replace(trace, occupancy=events), batches)
    panel = make("kernel")
    assert [curve.name for curve in panel.plot.curves] == ["ns::add #1", "ns::add #2"]
    open_in(replace(trace, occupancy=replace(events, names={1: "only_one"})), batches)
    panel = make("kernel")
    assert {curve.name for curve in panel.plot.curves} == {"only_one", "kernel without a name"}
    assert len(dispatch_curves(events)) == 2


# -- wave states ----------------------------------------------------------------------------------------


def test_states_of_all_waves(make: Callable, open_in: Callable) -> None:
    trace = load(open_in, sample_trace("matmul_small"))
    panel = make("state")
    assert [curve.name for curve in panel.plot.curves] == ["exec", "wait", "stall", "idle"]
    assert panel.plot.canvas.curves.set.stacked
    read = plain(trace.path)
    assert panel.caption() == f"{shares(read)} · {len(read.waves)} waves"
    panel.filter.set_on(["exec"], False)
    assert [curve.name for curve in panel.plot.curves] == ["wait", "stall", "idle"]


def test_states_while_waves_arrive_and_without_any(
    make: Callable, open_in: Callable, settled: Callable
) -> None:
    trace = sample_trace("matmul_small")
    open_in(trace)
    panel = make("state")
    assert panel.page.sentence.text() == "Waves are still being read."
    panel.session.store.add(trace.reader.read([0, 1]))
    panel.session.wave_loaded()
    panel._states.now()
    settled()
    assert panel.caption().endswith(f"2 of {len(trace.waves)} waves read")


source = fixture_of(sample_path, "vector_add")  # A capture with states as its writer counted them


def test_states_as_the_writer_counted_when_wave_files_are_gone(
    make: Callable, open_in: Callable, tmp_path: Path, source: Path
) -> None:
    for file in source.iterdir():
        if not file.name.startswith("se"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    trace = open_folder(tmp_path)
    assert trace.state_curves
    open_in(trace, [all_waves(trace)])
    panel = make("state")
    assert "clocks are not aligned" in panel.caption()
    assert panel.caption().startswith(shares(plain(source)))


def test_plots_and_timelines_stand_above_each_other(make: Callable, open_in: Callable, ui: UiContext) -> None:
    from rcv_py.features.time.global_panel import GlobalTimelinePanel

    trace = load(open_in, sample_trace("vector_add"))
    panel = make()
    timeline = GlobalTimelinePanel(ui)
    timeline.resize(panel.size())
    timeline.show()
    QApplication.processEvents()
    for time in (trace.span.begin, trace.span.end):
        assert panel.plot.canvas.x_of(time) == pytest.approx(timeline.timeline.plot.x_of(time), abs=1)
    timeline.close()


def test_states_are_added_up_once_in_a_thread(
    make: Callable, open_in: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, add_up = [], curves.total

    def noted(parts: list[StepCurve]) -> StepCurve:
        threads.append(threading.current_thread())
        return add_up(parts)

    monkeypatch.setattr(curves, "total", noted)
    load(open_in, sample_trace("matmul_small"))
    panel = make("state")
    assert threads
    assert threading.main_thread() not in threads
    together = panel.plot.canvas.curves.set.__dict__["total"]
    for is_on in (False, True):
        panel.filter.set_on(["wait"], is_on)
    assert panel.plot.canvas.curves.set.total is together, "it is added up once"


@pytest.mark.parametrize("group", GROUPS)
def test_the_whole_capture_stays_in_view(group: str, make: Callable, open_in: Callable) -> None:
    trace = load(open_in, sample_trace("matmul_small"))
    panel = make(group)
    outer = panel.session.outer(trace)
    panel.session.set_view(TimeWindow(trace.span.middle, trace.span.middle + 100))
    assert panel.plot.canvas.axis.shown == panel.plot.canvas.curves.shown == outer
    canvas, y = panel.plot.canvas, panel.plot.canvas.y_of(0) - 3
    start, stop = (round(canvas.x_of(trace.span.begin + trace.span.width * part)) for part in (0.1, 0.3))
    port = canvas.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(start, round(y)))
    QTest.mouseMove(port, QPoint(stop, round(y)))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(stop, round(y)))
    view = panel.session.view.value
    assert abs(canvas.x_of(view.begin) - start) <= 2
    assert abs(canvas.x_of(view.end) - stop) <= 2
    assert canvas.axis.shown == outer
