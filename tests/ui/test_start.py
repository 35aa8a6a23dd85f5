"""What a window imports and makes before anybody asks for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from PySide6.QtCore import QSettings

from rcv_py.ui.app import start
from tests.support.captures import ROOT

SAMPLE = ROOT / "sample_traces" / "matmul_tiled"
UNUSED = (  # rooms and modules that no window needs before somebody asks for what they do
    "analysis.compare",
    "analysis.counters.formula",
    "analysis.flame",
    "analysis.health.capture_health",
    "analysis.latency.bubbles",
    "analysis.latency.hidden_latency",
    "analysis.overview.device_summary",
    "analysis.overview.library",
    "api",
    "export",
    "formats.pmc_files",
    "results.compare",
    "results.summary",
    "synth",
    "ui.flame",
    "ui.panels.why.bubbles",
    "ui.panels.compare",
    "ui.panels.counters",
    "ui.panels.distribution",
    "ui.panels.flamegraph",
    "ui.panels.trust.health",
    "ui.panels.latency",
    "ui.panels.summary",
    "ui.panels.why.waits",
    "work.cluster",
    "work.executors",
    "work.library",
)
CHILD = f"""
import json, sys
from PySide6.QtCore import QEventLoop
from rcv_py.ui.app import start

def ours():
    return sorted(name.removeprefix("rcv_py.") for name in sys.modules if name.startswith("rcv_py."))

app = start(None, has_capture=True)
app.window.resize(1600, 900)
app.window.show()
app.window.opener.open({str(SAMPLE)!r})
while app.ui.results.cell("findings").value is None or not app.window.idle:
    app.qt.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
settled = ours()
docks = app.window.workspace.docks
reason = app.ui.commands["go.faster_hit"].why_not()
app.ui.commands.run("analyze.formulas")
more = sorted(set(ours()) - set(settled))
print(json.dumps([settled, reason, docks["counters"].made is not None, more]))
app.close()
"""


@pytest.fixture(scope="module")
def said() -> Any:
    """What a window in a process of its own says."""
    words = [sys.executable, "-c", CHILD]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_settled_window_has_not_imported_what_nobody_asked_for(said: Any) -> None:
    rooms = tuple(f"{unused}." for unused in UNUSED)
    loaded = [name for name in said[0] if name in UNUSED or name.startswith(rooms)]
    assert not loaded


def test_an_action_of_a_panel_that_is_not_imported_imports_it(said: Any) -> None:
    _, reason, is_made, more = said
    assert reason == "Select an instruction that was executed first."
    assert is_made
    assert "ui.panels.counters.panel" in more


def test_what_was_seen_last_is_made_before_the_window_is_shown(tmp_path: Any) -> None:
    store = QSettings(str(tmp_path / "rcv.ini"), QSettings.Format.IniFormat)
    store.setValue("memory/seen", "waits nonsense")
    app = start(store, has_capture=True)
    try:
        made = {name for name, dock in app.window.workspace.docks.items() if dock.made is not None}
        assert made == {"overview", "why"}
    finally:
        app.close()
