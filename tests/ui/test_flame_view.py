"""Moving and searching in a flamegraph, with the mouse and with keys alone."""

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtTest import QTest

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.flame.flame import Metric, code_costs, code_flame
from rcv_py.analysis.flame.flame_layout import labels, layout
from rcv_py.features.flame.panel import FlamegraphPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import LatencyMode
from rcv_py.ui.flame.flame_scene import FlameScene
from rcv_py.ui.timeline.items import Rects
from tests.support.code_samples import code_table, trace
from tests.support.flames import (
    LOAD,
    WAIT,
    Settled,
    box_of,
    choose,
    double_click,
    flames,
    frame,
    go_back,
    key,
    opened,
    way,
    wheel,
)
from tests.support.mouse import move_mouse

__all__ = ["flames", "opened"]


# -- zooming ------------------------------------------------------------------------------------------


def test_a_double_click_zooms_and_the_way_back_is_on_buttons(opened: FlamegraphPanel) -> None:
    assert way(opened) == ["All"]
    double_click(opened, "lib/attn.py:2")
    left, _, width, _ = box_of(opened.view, frame(opened, "lib/attn.py:2"))
    assert left <= 0
    assert left + width >= opened.view.viewport().width() - 1 - 1e-6  # of rounding
    assert way(opened) == ["All", "lib/attn.py", "lib/attn.py:2"]
    double_click(opened, LOAD)
    assert way(opened)[-1] == LOAD
    go_back(opened, 1)
    assert way(opened) == ["All", "lib/attn.py"]
    go_back(opened, 0)
    assert way(opened) == ["All"]
    assert not opened.view.is_zoomed


def test_keys_walk_zoom_and_go_back(opened: FlamegraphPanel) -> None:
    view = opened.view
    view.setFocus()
    key(opened, Qt.Key.Key_Down)
    assert view.scene.labels[view.focus_frame] == "kernels/attn.py", "the heaviest root"
    key(opened, Qt.Key.Key_Down)
    key(opened, Qt.Key.Key_Right)
    key(opened, Qt.Key.Key_Right)
    assert view.scene.labels[view.focus_frame] == "lib/attn.py:2"
    assert "of its parent" in opened.detail.text()
    key(opened, Qt.Key.Key_Return)
    assert view.is_zoomed
    key(opened, Qt.Key.Key_Escape)
    assert not view.is_zoomed, "its parent is as wide, so that everything is next"
    key(opened, Qt.Key.Key_End)
    assert view.scene.labels[view.focus_frame] == "s_endpgm"
    key(opened, Qt.Key.Key_Up)
    assert view.scene.labels[view.focus_frame] == "<no source>"
    key(opened, Qt.Key.Key_Home)
    key(opened, Qt.Key.Key_Return)
    key(opened, Qt.Key.Key_Backspace)
    assert not view.is_zoomed
    key(opened, Qt.Key.Key_W)
    assert view.is_zoomed
    key(opened, Qt.Key.Key_0)
    assert not view.is_zoomed
    key(opened, Qt.Key.Key_Down)
    key(opened, Qt.Key.Key_Space)
    assert opened.session.selection.value.source == (0, 3)


def test_keys_that_mean_something_here_do_not_reach_the_window(opened: FlamegraphPanel) -> None:
    for code, is_taken in ((Qt.Key.Key_0, True), (Qt.Key.Key_W, True), (Qt.Key.Key_Escape, False)):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, code, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        opened.view.event(event)
        assert event.isAccepted() is is_taken, code


def test_the_wheel_zooms_about_the_mouse_and_a_drag_pans(opened: FlamegraphPanel) -> None:
    camera = opened.view.camera
    at = camera.cost_at(700)
    wheel(opened, 700, 3, Qt.KeyboardModifier.NoModifier)
    assert camera.end - camera.begin == pytest.approx(3110 * 0.8**3)
    assert camera.cost_at(700) == pytest.approx(at)
    before, selection = camera.begin, opened.session.selection.value
    port = opened.view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(500, 30))
    move_mouse(port, QPoint(450, 30))
    move_mouse(port, QPoint(400, 30))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=QPoint(400, 30))
    assert camera.begin == pytest.approx(before + 100 / camera.scale)
    assert opened.session.selection.value == selection, "a drag is not a click"
    for _ in range(200):
        wheel(opened, 10, 1, Qt.KeyboardModifier.NoModifier)
    assert camera.end > camera.begin
    opened.view.viewport().grab()
    for _ in range(400):
        wheel(opened, 10, -1, Qt.KeyboardModifier.NoModifier)
    assert (camera.begin, camera.end) == (0, 3110)


def test_the_zoom_stays_when_the_measure_changes(opened: FlamegraphPanel, settled: Settled) -> None:
    double_click(opened, "lib/attn.py:2")
    choose(opened, settled, metrics=Metric.STALL)
    assert way(opened) == ["All", "lib/attn.py", "lib/attn.py:2"]
    assert opened.view.camera.end - opened.view.camera.begin == 200


# -- searching ----------------------------------------------------------------------------------------


def test_a_search_marks_matches_dims_the_rest_and_tells_their_share(opened: FlamegraphPanel) -> None:
    assert opened.focus_search()
    QTest.keyClicks(opened.find_bar.field, "lib")
    assert opened.find_bar.count.text() == "2 frames, 28.9 %"
    image = opened.view.viewport().grab().toImage()
    _, top, _, height = box_of(opened.view, frame(opened, "lib/attn.py"))
    x, y = round(sum(box_of(opened.view, frame(opened, "lib/attn.py"))[::2])) - 4, round(top + height - 3)
    search = opened.ui.theme.role("search")
    assert image.pixelColor(x, y).name() == search.name()
    left, top, width, height = box_of(opened.view, frame(opened, WAIT))
    dimmed = image.pixelColor(round(left + width - 4), round(top + height - 3))
    assert distance(dimmed, opened.ui.theme.role("canvas")) < distance(
        opened.ui.theme.kind(TokenKind.IMMED), opened.ui.theme.role("canvas")
    )
    QTest.keyClick(opened.find_bar.field, Qt.Key.Key_Return)
    assert opened.view.scene.labels[opened.view.focus_frame] == "lib/attn.py"
    QTest.keyClick(opened.find_bar.field, Qt.Key.Key_Return)
    assert opened.view.scene.labels[opened.view.focus_frame] == "lib/attn.py:2"
    QTest.keyClick(opened.find_bar.field, Qt.Key.Key_Return)
    assert opened.view.scene.labels[opened.view.focus_frame] == "lib/attn.py", "round the corner"
    QTest.keyClick(opened.find_bar.field, Qt.Key.Key_Escape)
    assert opened.view._matched is None


def distance(one: QColor, other: QColor) -> int:
    return sum(abs(a - b) for a, b in zip(one.getRgb()[:3], other.getRgb()[:3], strict=True))


def test_a_search_that_is_no_expression_says_so(opened: FlamegraphPanel) -> None:
    opened.find_bar.regex.setChecked(True)
    QTest.keyClicks(opened.find_bar.field, "v_(")
    assert opened.find_bar.count.text() == "not an expression"
    QTest.keyClick(opened.find_bar.field, Qt.Key.Key_Backspace)
    assert opened.find_bar.count.text().startswith("1 frame")


def test_a_large_flamegraph_draws_no_more_boxes_than_pixels(
    flames: FlamegraphPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = flames.view
    view.show_scene(scene_of(20_000))
    assert len(view.scene) > 20_000
    drawn: list[int] = []
    draw = Rects.draw_by_code

    def count(self: Rects, painter: QPainter, boxes: np.ndarray, *rest: Any) -> None:
        drawn.append(len(boxes))
        draw(self, painter, boxes, *rest)

    monkeypatch.setattr(Rects, "draw_by_code", count)
    width, rows = view.viewport().width(), int(view.scene.boxes.row.max()) + 1
    for step in range(5):
        view.scale_about(0.9, 100 * step)
        drawn.clear()
        view.viewport().grab()
        assert 0 < sum(drawn) <= rows * (width + 2), "a box a pixel and row, wide or thin"


def scene_of(rows: int):
    row = ("v_add_u32_e32 v1, 32, v34", TokenKind.VALU, 1)
    big = trace(
        code_table(tuple((*row, 40 + at % 97, 0, 0, ((at % 2, 1 + at % 500),)) for at in range(rows)))
    )
    own = code_costs(cost_columns(big.code, LatencyMode.SUM_ALL, None, None), True)
    tree = code_flame(big.code, own)
    texts = labels(big, tree)
    return FlameScene(big, tree, layout(tree, Metric.TOTAL), texts, Metric.TOTAL)
