"""Window, text, report, JSON, API and MCP say the same about findings: order, bound, prediction, words."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import rcv_py
from rcv_py.analysis.findings.finding import RANKED, Findings
from rcv_py.cli.main import main
from rcv_py.cli.mcp.handler import CommandRunner
from rcv_py.features.findings.panel import TriagePanel
from rcv_py.formats.open import open_trace
from rcv_py.ui.core.panel import UiContext
from tests.support.command_runs import printed, printed_json, run
from tests.support.fixtures import fixture_of_each
from tests.support.samples import sample_path

# Findings of each rank, small ones too, with and without bound, prediction, range and limit; `vector_add` has
# waves that left early and do not count, and of PC samples nothing is predicted.
NAMES = ("matmul_small", "gfx12", "vector_add", "pc_sampling")
OWN = {"memory-bound", "issue-bound"}  # findings that restate the class of the kernel
Captured = pytest.CaptureFixture[str]


folder = fixture_of_each(sample_path, NAMES)


def test_commands_and_pages_say_the_same(folder: Path, tmp_path: Path) -> None:
    document = json.loads(run("triage", str(folder), "--top", "0", "--json").out)  # once for both tests
    rows = document["findings"]
    full = [(one["title"], one["gains"]) for one in rows if not one["is_small"]]
    assert rows
    assert document == printed_json("triage", folder, "--top", 0, "--predict") | {"about": document["about"]}
    agent = CommandRunner()(["triage", str(folder), "--top", "0", "--json"], 0).document
    assert agent["findings"] == rows
    table = csv.DictReader(io.StringIO(printed("triage", folder, "--top", 0, "--csv")))
    assert [row["name"] for row in table] == [one["name"] for one in rows]

    capture = rcv_py.open(folder)
    found = capture.triage().result
    assert [(one.title, one.gain_row) for one in found.in_full] == full

    text = printed("triage", folder)
    numbered = re.findall(r"(?m)^ ?(\d+)  (.*)$", text)
    assert [line for _, line in numbered] == [f"{title}  {gains}".rstrip() for title, gains in full]
    markdown = printed("triage", folder, "--markdown").replace("\\", "")
    assert re.findall(r"(?m)^## \d+\. (.*)$", markdown) == [line for _, line in numbered]

    for ending in ("html", "md"):
        page = tmp_path / f"page.{ending}"
        assert main(["report", str(folder), "--out", str(page)]) == 0
        said = re.sub(r"<[^>]*>", " ", page.read_text()).replace("\\", "").replace("&lt;", "<")
        places = [said.index(gains) for _, gains in full if gains]
        assert places == sorted(places)
        assert document["headline"] in said
        if document["class"]:
            assert document["class"]["sentence"] in said
    hold(found)


def test_the_window_says_what_the_command_prints(
    folder: Path, ui: UiContext, open_in: Callable[..., None], qtbot: QtBot
) -> None:
    document = json.loads(run("triage", str(folder), "--top", "0", "--json").out)
    rows = document["findings"]
    full = [(one["title"], one["gains"]) for one in rows if not one["is_small"]]
    ui.settings["findings.predict"] = True
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    panel.show()
    trace = open_trace(folder)
    rows_of = list(range(len(trace.waves)))
    open_in(trace, [trace.reader.read(rows_of)] if rows_of else [])
    has_predictions = any(one["predicted_gain"] is not None for one in rows)
    qtbot.waitUntil(lambda: panel.findings is not None and bool(panel.findings.guesses) == has_predictions)
    assert [(one.title, one.gain_row) for one in panel.findings.in_full] == full
    assert [one.sentence for one in panel.findings.findings] == [one["sentence"] for one in rows]
    assert [one.remedy for one in panel.findings.findings] == [one["remedy"] for one in rows]
    for place, (title, gains) in enumerate(full):
        assert panel.list.item(place).text().startswith(f"{place + 1}. {title}")
        assert gains in panel.list.item(place).text()
    if document["class"]:
        assert panel.headline.text() == document["class"]["sentence"]


def hold(found: Findings) -> None:
    """No prediction is above its bound, and the first sentence agrees with the first finding."""
    for one in found.findings:
        assert one.hot == () or not one.is_small
        if one.predicted is not None and one.is_upper_bound:
            assert one.predicted.low <= one.predicted.gain <= one.predicted.high <= one.gain
            assert one.limit is None or one.limit.high <= one.gain
    if found.bound_class is None or not any(one.rank == RANKED for one in found.in_full):
        return
    assert len(found.bound_class.sentence.split()) <= 12
    names = [one.name for one in found.in_full]
    if found.bound_class.name in OWN & set(names):
        assert names[0] == found.bound_class.name
