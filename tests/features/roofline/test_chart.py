"""The picture of a roofline."""

from math import inf

import pytest
from pytestqt.qtbot import QtBot

from rcv_py.features.roofline.chart import Point, RooflineChart
from rcv_py.ui.core.export import svg_bytes
from rcv_py.ui.core.panel import UiContext

ABOVE, ON, BELOW = (
    Point(0, 2.0, 50.0, "kernel"),
    Point(1, 2.0, 20.0, "loop 1–9"),
    Point(2, 2.0, 5.0, "loop 2–3"),
)


@pytest.fixture
def chart(ui: UiContext, qtbot: QtBot) -> RooflineChart:
    made = RooflineChart(ui.theme)
    qtbot.addWidget(made)
    made.memory = 10.0  # bytes a cycle: its roof is 20 FLOP a cycle at the intensity of all points
    return made


def test_it_says_why_a_point_lies_above_the_memory_line(chart: RooflineChart) -> None:
    chart.points = [ABOVE, ON, BELOW]
    assert chart.why_above == "kernel above the memory line: caches served bytes"
    chart.points = [ON, BELOW]
    assert chart.why_above == ""
    chart.points, chart.memory = [ABOVE], inf
    assert chart.why_above == "", "without a known memory there is no line"


def test_the_reason_is_in_the_picture(chart: RooflineChart, ui: UiContext) -> None:
    chart._paint_points = lambda *_: None  # points without scopes
    chart.points = [ABOVE]
    chart.resize(500, 300)
    assert "caches served bytes" in svg_bytes(chart, ui.theme, "").decode()
    chart.points = [BELOW]
    assert "caches" not in svg_bytes(chart, ui.theme, "").decode()


def test_roofs_at_one_rate_have_one_label(chart: RooflineChart, ui: UiContext) -> None:
    chart.roofs = {"MFMA/WMMA f16": 2048.0, "VALU f16": 256.0, "VALU f32": 256.0}
    chart.resize(500, 300)
    drawn = svg_bytes(chart, ui.theme, "").decode()
    assert "VALU f16, VALU f32, 256" in drawn
    assert "MFMA/WMMA f16, 2.05 k" in drawn
