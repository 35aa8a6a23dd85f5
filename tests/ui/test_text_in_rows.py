"""Texts in rows of time views and around bars are as large as other text, and there is room for them."""

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from rcv_py.ui.app import App
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.plot import bar_chart, distribution_chart
from rcv_py.ui.timeline.items import TEXT_PX, name_font
from rcv_py.ui.timeline.unit_markers import LANE_PX, lane_px
from tests.ui.window import settle, show_panel


def test_names_and_rows_follow_the_size_of_text(app: App) -> None:
    settings, theme = app.ui.settings, app.ui.theme
    view = app.window.workspace.panel("global_timeline")
    before = view.source.shape.spans
    assert before == settings["timeline.global_row_height"]
    try:
        settings["look.text_size"] = 5
        settle(app)
        assert view.source.shape.spans == grown(before) > before
        assert lane_px() == grown(LANE_PX) > LANE_PX
        assert name_font(theme, 40, 1.0).pixelSize() == grown(TEXT_PX) > TEXT_PX
        assert name_font(theme, 12, 1.0).pixelSize() == 12, "no larger than there is room for"
        assert name_font(theme, 40, 2.0).pixelSize() == 2 * grown(TEXT_PX), "device pixels"
    finally:
        settings["look.text_size"] = 0
    settle(app)
    assert view.source.shape.spans == before
    assert name_font(theme, 40, 1.0).pixelSize() == TEXT_PX


@pytest.mark.parametrize("more", [0, 14])
@pytest.mark.parametrize("name", ["hotspot", "distribution", "token_details"])
def test_texts_around_bars_do_not_overlap(
    app: App, name: str, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: list[QRectF] = []

    def note(painter: QPainter, place: QPointF | QRectF, *said: object) -> None:
        text, metrics = str(said[-1]), QFontMetricsF(painter.font())
        width, height = metrics.horizontalAdvance(text), metrics.capHeight()
        if isinstance(place, QPointF):  # of its base line
            boxes.append(QRectF(place.x(), place.y() - height, width, height))
            return
        box = QRectF(0, 0, width, height)
        box.moveCenter(place.center())
        if said[0] & Qt.AlignmentFlag.AlignRight:
            box.moveRight(place.right())
        elif said[0] & Qt.AlignmentFlag.AlignLeft:
            box.moveLeft(place.left())
        boxes.append(box)

    chart = show_panel(app, name).findChild(bar_chart.BarChart)
    try:
        app.ui.settings["look.text_size"] = more
        settle(app)
        chart.setMaximumWidth(420)
        chart.resize(420, max(chart.minimumHeight(), chart.minimumSizeHint().height()))
        for module in (bar_chart, distribution_chart):
            monkeypatch.setattr(module, "draw_text", note)
        chart.grab()
        height = chart.height()
    finally:
        app.ui.settings["look.text_size"] = 0
    assert len(boxes) > 1
    for at, box in enumerate(boxes):
        assert box.top() >= 0
        assert box.bottom() <= height
        assert not any(box.intersects(other) for other in boxes[:at]), (box, boxes[:at])
