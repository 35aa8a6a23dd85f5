"""Instruction texts of other code: the window says so above everything, whatever panel is in front."""

import shutil
from pathlib import Path

import orjson
import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from rcv_py.base.problems import Severity
from tests.ui.window import SAMPLE, open_sample, settle, window


class ShownWindows(QObject):
    """Notes the object name of each window that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, shown: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(shown, QWidget) and shown.isWindow():
            self.names.append(shown.objectName())
        return False


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A capture whose instruction texts moved down by three."""
    folder = tmp_path / SAMPLE.name
    shutil.copytree(SAMPLE, folder)
    path = folder / "code.json"
    content = orjson.loads(path.read_bytes())
    texts = [row[0] for row in content["code"]]
    for row, text in zip(content["code"], texts[-3:] + texts[:-3], strict=True):
        row[0] = text
    path.write_bytes(orjson.dumps(content))
    return folder


def test_texts_of_other_code_raise_an_alarm_that_stays(wrong, qtbot):
    with window() as app:
        alarm = app.window.alarm
        assert not alarm.isVisible()
        open_sample(app, wrong)
        qtbot.waitUntil(alarm.isVisible)
        assert alarm.text.text().count(".") == alarm.text.text().count(" %") + 1, "one sentence and a share"
        assert "do not belong to this trace" in alarm.text.text()
        assert "Take code.json from the same recording" in alarm.toolTip()
        for name in ("isa", "timelines", "counters", "summary"):
            app.window.workspace.show_panel(name)
            assert alarm.isVisible()
            assert alarm.visibleRegion().boundingRect().height() > 10
        told = [one for one in app.ui.session.problems.value if "do not belong" in one.text]
        assert [(one.severity, one.where) for one in told] == [(Severity.ERROR, "code.json")]
        open_sample(app)  # one whose texts fit
        qtbot.waitUntil(lambda: app.ui.results.cell("match").value is not None)
        assert app.ui.results.cell("match").value.judged > 0
        assert not alarm.isVisible()
        assert not [one for one in app.ui.session.problems.value if "do not belong" in one.text]


def test_the_alarm_is_never_a_window_of_its_own(wrong):
    with window() as app:
        seen = ShownWindows()
        QApplication.instance().installEventFilter(seen)
        open_sample(app, wrong)
        settle(app)
        QApplication.instance().removeEventFilter(seen)
        assert app.window.alarm.isVisible()
        assert "alarm" not in seen.names
