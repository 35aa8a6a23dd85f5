"""What a window imports and makes before anybody asks for it."""

import builtins
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from rcv_py.tuning import shiboken_import
from rcv_py.ui.app import App, start
from rcv_py.ui.core.panel import Panel, info_of
from rcv_py.ui.core.tasks import Tasks
from tests.support.limits import HANG_MS
from tests.support.paths import ROOT
from tests.support.programs import finished
from tests.ui.window import settings_in

MOST_MS = 2 * HANG_MS  # more than tests wait
SAMPLE = ROOT / "sample_traces" / "matmul_tiled"
UNUSED = (
    "analysis.compare", "api", "export", "features.compare.panel", "formats.compiled", "formats.sqtt",
    "model.profile", "synth", "ui.flame", "ui.shell.palette", "ui.timeline.critical_path",
)  # fmt: skip
NOT_FIRST = ("analysis.findings.detect", "analysis.waits.wait_latency", "features.findings.result")
CHILD = """
import json, linecache, sys
import rcv_py.ui
from PySide6.QtCore import QEventLoop
from rcv_py.ui.app import start
from rcv_py.ui.core.panel import discover

def ours():
    return sorted(name.removeprefix("rcv_py.") for name in sys.modules if name.startswith("rcv_py."))

app = start(None, has_capture=True)
app.ui.settings["findings.predict"] = False  # predictions load a compiler, soon after this looks
app.window.resize(1600, 900)
first = []
app.ui.scheduler.importer.first_picture.after(lambda: first.extend([*ours(), *sys.modules]))
app.window.show_with(sys.argv[1])
wanted = [app.ui.results.cell(name) for name in ("findings", "health")]  # whatever the order of these jobs
while any(cell.value is None for cell in wanted) or not app.window.idle:
    app.qt.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
settled = ours()
from rcv_py.tuning import shiboken_import
explained = sorted(shiboken_import.LATE - shiboken_import.waiting())
masked = [name for name in sys.modules if name == "numpy.ma"]  # it reads help, which explains functions of Qt
docks = app.window.workspace.docks
reason = app.ui.commands["go.faster_hit"].why_not()
app.ui.commands.run("analyze.formulas")
more = sorted(set(ours()) - set(settled))
plots = sorted(name for name in sys.modules if name.startswith("pyqtgraph"))
read = sorted(name for name in linecache.cache if "rcv_py" in name or "pyqtgraph" in name)
for info in discover().values():
    info.load()
compiler = [name for name in ("numba", "rcv_py.base.machine.compiled") if name in sys.modules]
is_made = docks["counters"].made is not None
print(json.dumps({
    "settled": settled, "reason": reason, "is made": is_made, "more": more, "first": first, "plots": plots,
    "modules whose source is read": read, "compilers": compiler, "explained functions of Qt": explained,
    "masked arrays": masked,
}))
app.close()
"""


AHEAD = """
import sys
from pathlib import Path
from rcv_py.work import ahead
ahead.has_spare_core = lambda: True
small = ahead.SmallPreload.of(Path(sys.argv[1]))
from PySide6.QtCore import QEventLoop
from rcv_py.ui.app import start
app = start(None, has_capture=True)
app.ui.settings["findings.predict"] = False
app.loader.ahead, app.ui.results.findings.ahead = small, small.findings
app.window.show_with(sys.argv[1])
while app.ui.results.cell("findings").value is None or not app.window.idle:
    app.qt.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
found = app.ui.results.cell("findings").value.findings
print(len(found) > 0, "rcv_py.analysis.findings.detect" in sys.modules)
app.close()
small.close()
"""


LATER = """
import numpy
from rcv_py.tuning.pyqtgraph_import import import_pyqtgraph
alone = import_pyqtgraph()
import pyqtgraph
x = numpy.arange(4.0)
path = alone.functions.arrayToQPath(x, x, connect=numpy.array([1, 1, 0, 1], dtype=numpy.int32))
polygon = alone.functions.arrayToQPolygonF(x[1:], x[1:])
print(pyqtgraph.PlotWidget.__name__, path.elementCount(), polygon.size())
"""


OTHER_PYQTGRAPH = """
import sys
class Fails:  # as if a name were missing that another release needs
    asked = 0
    def find_spec(self, name, path, target=None):
        if name == "pyqtgraph.Qt.internals" and not self.asked:
            self.asked += 1
            raise ImportError(name)
fails = Fails()
sys.meta_path.insert(0, fails)
from rcv_py.tuning.pyqtgraph_import import import_pyqtgraph
pyqtgraph = import_pyqtgraph()
print(fails.asked, pyqtgraph is sys.modules["pyqtgraph"], hasattr(pyqtgraph, "PlotWidget"))
"""


EXPLAINS = """
import sys
if sys.argv[1:] == ["late"]:
    from rcv_py.tuning.shiboken_import import import_shiboken
    import_shiboken()
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QWidget
wrongs = (lambda: QPoint("1"), lambda: QTimer().start("1"), lambda: QTimer(no=1), lambda: QPoint().no)
for wrong in wrongs:
    try:
        wrong()
    except (TypeError, AttributeError) as error:
        print(type(error).__name__, error)
from PySide6.support.signature import get_signature
from PySide6.support.signature.lib import pyi_generator
import PySide6.support.feature as feature
print(get_signature(QWidget), QTimer.start.__doc__, pyi_generator.indent, feature.info())
print(hasattr(feature, "update_mapping"), hasattr(feature, "nothing"))
"""


def printed(code: str, *words: str, is_plain: bool = False) -> str:
    """What a process prints that has the import hooks, or has them switched off."""
    variables = os.environ | {"RCV_PLAIN_IMPORTS": "1" if is_plain else ""}
    return finished([sys.executable, "-c", code, *words], check=True, env=variables).stdout


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a window in a process of its own says, with no capture beside the open one."""
    alone = tmp_path_factory.mktemp("alone") / SAMPLE.name
    shutil.copytree(SAMPLE, alone)
    return json.loads(printed(CHILD, str(alone)).splitlines()[-1])


def test_a_settled_window_has_not_imported_what_nobody_asked_for(said: Any) -> None:
    assert not [name for name in said["settled"] if name.startswith(UNUSED)]


@pytest.mark.parametrize(
    "what", ["modules whose source is read", "masked arrays", "explained functions of Qt", "compilers"]
)
def test_a_start_does_without(what: str, said: Any) -> None:
    """No panel needs a compiler before it plays waves."""
    assert said[what] == []


def test_the_first_picture_does_not_wait_for_what_finds(said: Any) -> None:
    assert said["first"]
    assert {*NOT_FIRST, "pyqtgraph"}.isdisjoint(said["first"])


@pytest.mark.skipif(sys.platform != "linux", reason="only a copy of a process is ready at once")
def test_a_small_capture_is_shown_with_findings_that_the_window_did_not_find() -> None:
    assert printed(AHEAD, str(SAMPLE)).split() == ["True", "False"]


def test_functions_of_qt_are_explained_as_they_are_without_us() -> None:
    late, plain = printed(EXPLAINS, "late"), printed(EXPLAINS, "as it is")
    assert late == plain
    assert "Supported signatures" in late
    assert "msec: int" in late


def test_one_variable_switches_both_hooks_off() -> None:
    code = (
        "import sys\n"
        "from rcv_py.tuning import pyqtgraph_import, shiboken_import\n"
        "pyqtgraph_import.import_pyqtgraph()\n"
        "print(len(shiboken_import.waiting()), 'pyqtgraph.parametertree' in sys.modules)\n"
    )
    assert printed(code, is_plain=True).split() == ["0", "True"]
    waiting, is_whole = printed(code).split()
    assert int(waiting) > 0
    assert is_whole == "False"


@pytest.mark.parametrize("tried", [frozenset({(6, 2)}), shiboken_import.TRIED])
def test_only_releases_on_which_it_was_tried_wait_with_explaining(
    tried: frozenset[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    monkeypatch.setattr(shiboken_import, "TRIED", tried)
    monkeypatch.setattr(shiboken_import, "HAS_PLAIN_IMPORTS", False)
    monkeypatch.delitem(sys.modules, "shiboken6")
    monkeypatch.setattr(shiboken_import, "import_module", lambda _: compiled.append(builtins.compile))
    shiboken_import.import_shiboken()
    assert [one is builtins.compile for one in compiled] == [(6, 2) in tried]


def test_an_action_of_a_panel_that_is_not_imported_imports_it(said: Any) -> None:
    assert said["reason"] == "", "the hottest instruction is selected at first"
    assert said["is made"]
    assert "features.counters.panel" in said["more"]


def test_of_pyqtgraph_only_two_modules_are_imported_and_all_of_it_later(said: Any) -> None:
    assert not said["plots"], "they are not what others import by these names"
    assert printed(LATER).split() == ["PlotWidget", "4", "3"]


def test_a_pyqtgraph_that_needs_more_is_imported_as_it_is() -> None:
    assert printed(OTHER_PYQTGRAPH).split() == ["1", "True", "True"]


def test_what_was_seen_last_is_made_before_the_window_is_shown(tmp_path: Any) -> None:
    store = settings_in(tmp_path)
    store.setValue("memory/seen", "waits nonsense")
    app = start(store, has_capture=True)
    try:
        made = {name for name, dock in app.window.workspace.docks.items() if dock.made is not None}
        assert made == {"overview", "why"}
    finally:
        app.close()


class Paints(QObject):
    """What the code had when it was painted."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self.view, self.rows = app.window.workspace.docks["isa"].panel.view, []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count rows; nothing is kept from anybody."""
        if event.type() is QEvent.Type.Paint and watched is self.view.viewport():
            self.rows.append(self.view.table.rowCount())
        return False


@pytest.fixture
def app() -> Iterator[App]:
    made = start(None, has_capture=True)
    yield made
    made.close()


def test_a_window_is_first_painted_with_its_capture(
    app: App, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.ui.shell.curtain.HIDDEN_MS", MOST_MS)  # however busy the machine is
    monkeypatch.setattr(
        app.window._show_timer, "start", lambda: QTimer.start(app.window._show_timer, MOST_MS)
    )
    paints, application = Paints(app), QApplication.instance()
    application.installEventFilter(paints)
    try:
        app.window.show_with(SAMPLE)
        assert not app.window.isVisible()
        qtbot.waitUntil(app.window.isVisible)
        assert app.window.workspace.updatesEnabled(), "what is not painted at all is a black hole on a screen"
        qtbot.waitUntil(lambda: bool(paints.rows))
    finally:
        application.removeEventFilter(paints)
    assert paints.rows[0] > 0
    assert "welcome" not in vars(app.window), "a page that nobody sees"
    qtbot.waitUntil(lambda: app.window.idle)


def test_findings_come_before_what_nobody_looks_at_first(
    app: App, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither details of an instruction nor colours of a source, nor a look around."""
    monkeypatch.setattr("rcv_py.ui.shell.curtain.HIDDEN_MS", MOST_MS)  # however busy the machine is
    monkeypatch.setattr("rcv_py.ui.shell.curtain.LATEST_MS", MOST_MS)
    order: list[str] = []
    run = Tasks.run

    def noted(tasks: Tasks, owner: object, *others: Any, **options: Any) -> None:
        order.append(info_of(type(owner)).id if isinstance(owner, Panel) else type(owner).__name__)
        run(tasks, owner, *others, **options)

    monkeypatch.setattr(Tasks, "run", noted)
    found = Found(app, order)
    app.window.resize(1600, 900)  # px: the panels have room
    app.window.show_with(SAMPLE)
    qtbot.waitUntil(lambda: app.ui.results.cell("findings").value is not None)
    qtbot.waitUntil(lambda: app.window.idle)
    before, after = found.before, order[len(found.before) :]
    assert before.count("source") == 1, "costs"
    assert not {"token_details", "NotesKeeper"} & {*before}
    assert before.count("Opener") == 1, "the capture"
    assert {"token_details", "source", "Opener"} <= {*after}


class Found:
    """The jobs that ran before the findings stood."""

    def __init__(self, app: App, order: list[str]) -> None:
        self.before: list[str] = []
        self._order = order
        app.ui.results.cell("findings").watch(self._found)

    def _found(self) -> None:
        self.before = self.before or list(self._order)


def test_a_window_whose_capture_cannot_be_opened_shows_the_first_page_and_why(
    app: App, qtbot: QtBot, tmp_path: Path
) -> None:
    app.window.show_with(tmp_path)
    qtbot.waitUntil(lambda: app.window.errors.last is not None)  # a slow look at the folder: after the window
    assert app.window.isVisible()
    assert app.window.pages.currentWidget() is app.window.pages.welcome
    app.window.errors.last.close()


def test_a_window_does_not_wait_long(app: App, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.window.opener, "open", lambda path: None)
    app.window.show_with(SAMPLE)
    qtbot.waitUntil(app.window.isVisible)
    assert app.window.pages.currentWidget() is app.window.pages.welcome
