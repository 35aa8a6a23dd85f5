"""A flamegraph panel with a small trace, and gestures at its frames."""

import re
from collections.abc import Callable
from enum import Enum
from html import unescape

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from rcv_py.analysis.flame.flame import Metric
from rcv_py.features.flame.panel import FlamegraphPanel
from rcv_py.ui.flame.flame_view import FlameView
from tests.support.code_samples import trace, two_waves
from tests.support.mouse import move_mouse
from tests.support.window_fixtures import Settled, panel_fixture

WAIT, LOAD, MFMA = "s_waitcnt lgkmcnt(0)", "ds_read_b128 v[0:3], v9", "v_mfma"


flames = panel_fixture(FlamegraphPanel, 1000, 300)


@pytest.fixture
def opened(flames: FlamegraphPanel, open_settled: Callable) -> FlamegraphPanel:
    open_settled(trace(), [two_waves()])
    return flames


def frame(panel: FlamegraphPanel, text: str) -> int:
    """The first frame whose label begins with a text."""
    return next(at for at, label in enumerate(panel.view.scene.labels) if label.startswith(text))


def box_of(view: FlameView, at: int) -> list[float]:
    """Left, top, width and height of a frame in the viewport."""
    return view.camera.rectangles(view.scene, np.array([at]))[0].tolist()


def middle(panel: FlamegraphPanel, at: int) -> QPoint:
    left, top, width, height = box_of(panel.view, at)
    return QPoint(round(left + width / 2), round(top + height / 2))


def click(panel: FlamegraphPanel, text: str) -> None:
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=middle(panel, frame(panel, text)))


def double_click(panel: FlamegraphPanel, text: str) -> None:
    at = middle(panel, frame(panel, text))
    QTest.mouseDClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def hover(panel: FlamegraphPanel, text: str) -> None:
    move_mouse(panel.view.viewport(), middle(panel, frame(panel, text)))


def wheel(panel: FlamegraphPanel, x: float, notches: float, held: Qt.KeyboardModifier) -> None:
    at = QPointF(x, 10)
    screen = QPointF(panel.view.mapToGlobal(at.toPoint()))
    delta = QPoint(0, round(120 * notches))
    event = QWheelEvent(
        at, screen, QPoint(), delta, Qt.MouseButton.NoButton, held, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(panel.view.viewport(), event)


def key(panel: FlamegraphPanel, code: Qt.Key) -> None:
    QTest.keyClick(panel.view, code)


def choose(panel: FlamegraphPanel, settled: Settled, **chosen: Enum) -> None:
    for name, value in chosen.items():
        getattr(panel.choices, name).choose(value.name.lower() if isinstance(value, Metric) else value.value)
    settled()


def way(panel: FlamegraphPanel) -> list[str]:
    return [unescape(text) for text in re.findall(r">(.*?)</a>", panel.crumbs.text())]


def go_back(panel: FlamegraphPanel, place: int) -> None:
    """Follow a link of the path to the frame in view."""
    panel.crumbs.linkActivated.emit(re.findall(r"href='(.*?)'", panel.crumbs.text())[place])
