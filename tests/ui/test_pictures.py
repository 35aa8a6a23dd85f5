"""Pictures of time views: shapes and text in SVG files, the legend below each, whole rows."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.ui.app import App
from rcv_py.ui.core import export
from rcv_py.ui.core.shapes import MAX_SHAPES, rectangles
from rcv_py.ui.core.swatches import AFTER_NAME, Swatch
from rcv_py.ui.shell.export_dialog import ExportDialog
from rcv_py.ui.shell.exporter import PictureLook
from rcv_py.ui.timeline.timeline_plot import TimelinePanel, not_picked
from rcv_py.ui.widgets.legend import Legend
from tests.support.mouse import left_click
from tests.ui.window import legend_names, settle, show_panel

IS_PAINTED = True
ROWS = ("compute_unit", "utilization", "global_timeline")
VIEWS = (*ROWS, "overview", "occupancy", "flamegraph")


def filled(found: dict[int, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    canvas = np.full(shape, -1)
    for code, rows in found.items():
        for left, top, width, height in rows.tolist():
            part = canvas[top : top + height, left : left + width]
            assert (part == -1).all(), "rectangles overlap"
            part[:] = code
    return canvas


@given(st.integers(0, 1 << 30), st.integers(1, 12), st.integers(1, 30), st.integers(1, 4))
def test_rectangles_are_just_the_pixels(seed: int, height: int, width: int, codes: int) -> None:
    picture = np.random.default_rng(seed).integers(0, codes, (height, width)).astype(np.int64)
    assert (filled(rectangles(picture), picture.shape) == picture).all()
    without = filled(rectangles(picture, nothing=0), picture.shape)
    assert (without == np.where(picture == 0, -1, picture)).all()


def test_a_picture_has_a_bounded_number_of_shapes() -> None:
    noise = np.random.default_rng(0).integers(0, 9, (400, 1500)).astype(np.uint8)
    found = rectangles(noise, most=MAX_SHAPES)
    assert sum(map(len, found.values())) <= MAX_SHAPES
    assert (filled(found, noise.shape) >= 0).all()


def panel_of(app: App, name: str) -> TimelinePanel:
    panel = app.window.workspace.docks[name].panel
    assert isinstance(panel, TimelinePanel)
    return panel


def show(app: App, name: str) -> None:
    show_panel(app, name)


@pytest.fixture
def shown(app: App) -> App:
    return app


def texts(svg: bytes) -> str:
    return " ".join("".join(one.itertext()).strip() for one in ET.fromstring(svg).iter() if "text" in one.tag)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_time_views_are_shapes_and_text_with_their_legend(shown: App, theme: str) -> None:
    shown.ui.settings["look.theme"] = theme
    settle(shown)
    for name in VIEWS:
        show(shown, name)
        svg = shown.window.exporter.content(name, ".svg")
        assert b"<image" not in svg, name
        assert svg.count(b"<path") + svg.count(b"<rect") > 3, name
        panel = shown.window.workspace.docks[name].panel
        named = [one.name for legend in panel.findChildren(Legend) for one in legend.swatches]
        assert named or name not in ROWS, name
        assert all(one in texts(svg) for one in named), name
        assert shown.ui.session.trace.value.name in texts(svg)


def test_a_file_of_shapes_looks_like_the_pixels(shown: App) -> None:
    exporter = shown.window.exporter
    show(shown, "compute_unit")
    renderer = QSvgRenderer(exporter.content("compute_unit", ".svg"))
    picture = exporter.image("compute_unit", PictureLook())
    drawn = QImage(picture.size(), QImage.Format.Format_RGB32)
    painter = QPainter(drawn)
    renderer.render(painter)
    painter.end()
    pixels = [pixels_of(one)[30:200, 120:] for one in (picture, drawn)]
    assert (np.abs(pixels[0] - pixels[1]).max(axis=2) < 12).mean() > 0.9


def pixels_of(image: QImage) -> np.ndarray:
    flat = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    return flat[:, : image.width(), :3].astype(np.int64)


def test_the_last_row_of_a_picture_is_whole_and_the_view_stays(shown: App) -> None:
    show(shown, "global_timeline")
    panel = panel_of(shown, "global_timeline")
    plot, pitch = panel.timeline.plot, panel.source.shape.pitch
    plot.set_scroll(pitch * 1.5)
    before = (plot.size(), plot.rows.scroll_px)
    with panel.for_picture():
        assert plot.rows.scroll_px % pitch == 0
        assert round(plot.box.height()) % pitch == 0
        assert plot.height() >= before[0].height() - pitch
    assert (plot.size(), plot.rows.scroll_px) == before


@pytest.mark.parametrize("scale", export.SCALES)
def test_a_picture_has_its_legend_at_every_scale(shown: App, scale: int, qtbot: QtBot) -> None:
    show(shown, "compute_unit")
    qtbot.waitUntil(lambda: "VALU" in legend_names(panel_of(shown, "compute_unit").legend))
    exporter = shown.window.exporter
    with exporter.posing("compute_unit") as legend:
        assert {"VALU", "SALU"} <= {one.name for one in legend}
        height = exporter.size("compute_unit").height()
    image = exporter.image("compute_unit", PictureLook(scale))
    assert image.height() == height * scale
    colors = {
        image.pixel(x, y)
        for x in range(0, image.width() // 2)
        for y in range(image.height() - 56 * scale, image.height())
    }
    assert all(one.color.rgb() in colors for one in legend[:3])


def test_looking_through_what_can_be_saved_shows_nothing(shown: App, tmp_path: Path) -> None:
    workspace = shown.window.workspace
    seen = [name for name, dock in workspace.docks.items() if dock.is_seen]
    sizes = [workspace.docks[name].size() for name in seen]
    dialog = ExportDialog(shown.window.exporter, shown.window)
    for at in range(dialog.what.count()):
        if dialog.what.itemData(at) is not None:
            dialog.what.setCurrentIndex(at)
    assert {dialog.what.itemData(at) for at in range(dialog.what.count())} >= {"isa", "compute_unit"}
    dialog.what.setCurrentIndex(dialog.what.findData("isa"))
    dialog.path.setText(str(tmp_path / "isa.png"))
    dialog.save()
    settle(shown)
    assert [name for name, dock in workspace.docks.items() if dock.is_seen] == seen
    assert [workspace.docks[name].size() for name in seen] == sizes
    picture = QImage(str(tmp_path / "isa.png"))
    rows = picture.scaled(200, 60)
    assert len({rows.pixel(x, y) for x in range(200) for y in range(20, 40)}) > 9, "rows are drawn"


def test_a_report_gets_a_light_picture_from_a_dark_window(shown: App) -> None:
    shown.ui.settings["look.theme"] = "dark"
    settle(shown)
    exporter = shown.window.exporter
    for name in ("isa", "triage", "compute_unit"):
        dark, light = (exporter.image(name, PictureLook(is_light=wanted)) for wanted in (False, True))
        assert np.median(pixels_of(dark)) < 80, name
        assert np.median(pixels_of(light)) > 180, name
    assert shown.ui.theme.is_dark
    assert shown.ui.settings["look.theme"] == "dark"


def test_a_cut_legend_is_in_a_picture_once(shown: App) -> None:
    show(shown, "why")
    legend = shown.window.workspace.panel("causes").legend
    legend.setMaximumWidth(150)  # of all names only the first fits
    settle(shown)
    assert not legend.is_whole
    svg = ET.fromstring(shown.window.exporter.content("causes", ".svg"))
    words = ["".join(one.itertext()).strip() for one in svg.iter() if one.tag.endswith("text")]
    legend.setMaximumWidth(16_777_215)
    assert words.count(legend_names(legend)[0]) == 2, "in the list and in one legend"
    assert "…" not in words


# -- the legend ---------------------------------------------------------------------------------------------


@pytest.fixture
def legend(qtbot: QtBot) -> Legend:
    made = Legend()
    qtbot.addWidget(made)
    made.resize(400, 20)
    red, blue = QColor("red"), QColor("blue")
    made.set_items([Swatch(red, "one", "the first", key="kind:1"), Swatch(blue, "two", key="kind:2")])
    made.show()
    return made


def test_a_click_on_a_name_picks_it_out_and_another_lets_go(legend: Legend) -> None:
    heard: list[str] = []
    legend.picked_changed.connect(heard.append)
    at = legend.rect().center()
    at.setX(4)
    left_click(legend, at)
    assert (legend.picked, heard) == ("kind:1", ["kind:1"])
    assert "highlighted: one" in legend.accessibleName()
    left_click(legend, at)
    assert heard == ["kind:1", ""]


def test_the_legend_goes_by_keys(legend: Legend) -> None:
    assert legend.focusPolicy() & Qt.FocusPolicy.TabFocus
    QTest.keyClick(legend, Qt.Key.Key_Right)
    QTest.keyClick(legend, Qt.Key.Key_Right)
    QTest.keyClick(legend, Qt.Key.Key_Space)
    assert legend.picked == "kind:2"
    QTest.keyClick(legend, Qt.Key.Key_Escape)
    assert legend.picked == ""


def test_what_is_picked_out_dims_the_rest(shown: App, qtbot: QtBot) -> None:
    show(shown, "compute_unit")
    panel = panel_of(shown, "compute_unit")
    qtbot.waitUntil(lambda: "VALU" in legend_names(panel.legend))
    valu = next(one for one in panel.legend.swatches if one.name == "VALU")
    panel.legend.pick(valu.key)
    assert panel.source.dimmed == not_picked(valu.key) != frozenset()
    panel.legend.pick(valu.key)
    assert panel.source.dimmed == frozenset()


def test_only_what_is_in_sight_is_named(shown: App, qtbot: QtBot) -> None:
    shown.window.workspace.show_panel("compute_unit")
    panel = panel_of(shown, "compute_unit")
    session = shown.ui.session
    session.fit_all()
    settle(shown)
    qtbot.waitUntil(lambda: len(legend_names(panel.legend)) > 4)
    every = len(legend_names(panel.legend))
    outer = session.outer(session.trace.value)
    session.set_view(type(outer)(outer.begin, outer.begin + 16))  # before the first wave
    qtbot.waitUntil(lambda: len(legend_names(panel.legend)) < every)
    assert not re.search("MFMA|VALU", " ".join(legend_names(panel.legend)))


def test_the_sign_for_more_names_is_whole(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    legend.set_items([(QColor("red"), name, "") for name in ("first", "second", "third", "fourth")])
    needed = legend.sizeHint().width() - AFTER_NAME  # nothing comes after the last name
    for width in range(needed // 2, needed):
        legend.resize(width, 24)
        assert not legend.is_whole
        image = legend.grab().toImage()
        edge = {image.pixel(width - 1, y) for y in range(image.height())}
        assert len(edge) == 1, f"something is cut at {width} px"
