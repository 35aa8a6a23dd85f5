"""The instruction panel: all executions with why, the median one selected, and one unit for all times."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.attribution.causes import CAUSE_TEXT
from rcv_py.features.line.token_facts import LATER
from rcv_py.ui.app import App
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.times import Times
from rcv_py.work import findings
from tests.support.equal import differences
from tests.support.samples import sample_path, write_sample
from tests.ui.window import open_sample, run_command, settle, window

LINE = 113  # s_waitcnt vmcnt(3) of the sample: many executions, of very different length
FULL_HD = (1920, 1080)


@pytest.fixture(scope="module")
def opened(qapp: object) -> Iterator[App]:
    with window(size=FULL_HD) as app:
        yield app


@pytest.fixture
def app(opened: App) -> Iterator[App]:
    if opened.ui.session.trace.value is None:
        open_sample(opened)
    opened.ui.session.select_line(LINE)
    settle(opened)
    yield opened
    opened.ui.settings["timeline.units"] = "cycles"


def latencies(app: App) -> np.ndarray:
    """How long each execution took, of all waves, ascending."""
    store, index = app.ui.session.store, app.ui.session.trace.value.waves
    tokens = [store.wave(row).tokens for row in range(len(index))]
    return np.sort(np.concatenate([one.duration[one.line == LINE] for one in tokens]))


def test_nothing_is_said_twice_and_no_time_of_zero_is_listed(app: App) -> None:
    panel, session = app.window.workspace.docks["token_details"].panel, app.ui.session
    code, shown = session.trace.value.code, set()
    for line in (LINE, *np.flatnonzero(code.hits)[:40].tolist()):
        session.select_line(line)
        settle(app)
        wave, row = session.token()
        stall, busy = int(wave.tokens.stall[row]), int(wave.tokens.busy[row])
        said, every = panel.text.toPlainText(), panel.all.toPlainText()
        spent = f"stall + issue\n{stall:,} + {busy:,} = {stall + busy:,}"
        spent = spent if stall and busy else f"stall\n{stall:,}" if stall else f"issue\n{busy:,}"
        assert spent in said
        assert "idle before\n0" not in said + every
        assert ("idle before" in every) == (code.idle[line] > 0)
        shown.add((stall > 0, busy > 0))
        if code.text[line].startswith("s_waitcnt "):
            assert panel.head.toPlainText().lower().count("waits until") == code.text[line].count("cnt(")
    assert len(shown) > 1


def test_all_executions_are_told_in_numbers_and_with_why(app: App) -> None:
    panel, length = app.window.workspace.docks["token_details"].panel, latencies(app)
    assert panel.hits.text() == f"ALL {len(length):,} hits"
    said = panel.all.toPlainText()
    assert f"median {float(np.median(length)):,g}" in said
    assert f"p90 {length[-(-len(length) * 90 // 100) - 1]:,}" in said
    assert f"max {length[-1]:,} cycles" in said
    table = app.ui.results.cell("attribution").value
    own = table.at(table.line == LINE)
    assert sum(one.stall for one in panel.causes) == int(own.stall.sum())
    assert sum(one.idle for one in panel.causes) == int(own.idle.sum())
    first = own.by_cause()
    assert CAUSE_TEXT[panel.causes[0].cause].name in said
    assert panel.causes[0].cycles == int(first.cycles[0])
    blamed = panel.causes[0].blamed[0]
    name = f"{blamed.line} {app.ui.session.trace.value.code.text[blamed.line]}"
    assert f"← {name}" in said.replace("perhaps ", "")
    assert int(panel.chart.totals.sum()) == len(length)


def test_the_selected_execution_is_the_median_and_the_buttons_choose_others(app: App) -> None:
    panel, length = app.window.workspace.docks["token_details"].panel, latencies(app)

    def selected() -> int:
        settle(app)
        wave, row = app.ui.session.token()
        assert panel.chart.token == wave.tokens.duration[row]
        return int(wave.tokens.duration[row])

    assert abs(selected() - np.median(length)) == np.abs(length - np.median(length)).min()
    for name, expected in (("slowest", length[-1]), ("fastest", length[0])):
        panel.speeds[name].click()
        assert selected() == expected
        assert panel.speeds[name].accessibleName()
    app.ui.commands.run("go.slower_hit")
    assert selected() == length[1]
    app.ui.commands.run("go.median_hit")
    assert abs(selected() - np.median(length)) == np.abs(length - np.median(length)).min()
    full = np.flatnonzero(panel.chart.totals)
    panel.chart.chosen.emit(int(full[-1]))
    assert selected() >= panel.view.histogram.edges[full[-1]]


def test_hits_count_from_one_everywhere(app: App) -> None:
    panel = app.window.workspace.docks["token_details"].panel
    app.ui.session.select_hit(4)
    settle(app)
    assert panel.hit.text() == "5"


def test_links_of_why_lead_to_the_one_to_blame(app: App) -> None:
    panel = app.window.workspace.docks["token_details"].panel
    blamed = panel.causes[0].blamed[0].line
    panel.all.anchorClicked.emit(QUrl(f"line:{blamed}"))
    settle(app)
    assert app.ui.session.selection.value.line == blamed
    assert app.ui.session.token() is not None


def test_causes_come_after_the_findings(app: App, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = app.window.workspace.docks["token_details"].panel
    whole = panel.facts.causes
    assert whole
    with monkeypatch.context() as patched:
        patched.setattr(SharedResults, "is_finding", True)
        app.ui.session.select_line(LINE + 1)
        app.ui.session.select_line(LINE)
        qtbot.waitUntil(lambda: panel.facts is not None and LATER in panel.facts.doubts)
        assert LATER in panel.text.toPlainText()
        assert not panel.facts.causes
    qtbot.waitUntil(lambda: panel.facts.causes == whole)
    assert LATER not in panel.text.toPlainText()


def test_one_key_turns_all_times_into_nanoseconds(app: App) -> None:
    docks, trace = app.window.workspace.docks, app.ui.session.trace.value
    panel, wave = docks["token_details"].panel, docks["wave_picker"].panel
    token = panel.facts.token
    assert f"{token.start:,}" in panel.text.toPlainText()
    run_command(app, "view.units")
    times = Times.of(trace, app.ui.settings)
    assert times.unit == ""
    for text in (panel.text.toPlainText(), panel.all.toPlainText()):
        assert not re.search(r"\d cycles", text)
        assert "ns" in text
    assert times.at(token.start) in panel.text.toPlainText()
    assert f"{token.start:,}" not in panel.text.toPlainText()
    assert times.at(trace.waves.span(app.ui.session.wave_row).begin) in wave.life.text()


def test_steps_by_time_say_why_they_cannot_run_and_never_wait_for_a_panel(app: App) -> None:
    command, action = app.ui.commands["go.faster_hit"], app.window.actions_["go.faster_hit"]
    assert app.window.workspace.docks["distribution"].made is None
    assert command.why_not() == ""
    assert action.isEnabled()
    label = int(np.flatnonzero(app.ui.session.trace.value.code.is_label)[0])
    app.ui.session.select_line(label)
    settle(app)
    assert command.why_not() == "No traced wave ran the selected instruction."
    assert not action.isEnabled()


def test_what_never_ran_is_never_executed(tmp_path: Path) -> None:
    write_sample("vector_add", tmp_path)
    document = json.loads((tmp_path / "code.json").read_text())
    *_, last = document["code"]
    _, _, number, source, codeobj, address, *costs = last
    document["code"].append(["s_code_end", 0, number + 1, source, codeobj, address + 4, *(0 for _ in costs)])
    (tmp_path / "code.json").write_text(json.dumps(document))
    with window() as app:
        open_sample(app, tmp_path)
        panel, session = app.window.workspace.docks["token_details"].panel, app.ui.session
        code = session.trace.value.code
        session.select_line(len(code) - 1)
        settle(app)
        assert code.hits[-1] == 0
        said = panel.all.toPlainText()
        assert "Never executed" in said
        assert "Computing" not in said
        assert not panel._computing.isActive(), "nothing is awaited"
        session.select_line(int(np.argmax(code.hits)))
        settle(app)
        assert "Never executed" not in panel.all.toPlainText()


def test_recorded_addresses_are_told_of_the_instruction() -> None:
    """60 active lanes on average read a column of LDS: all want one bank, in two groups of 32 lanes."""
    with window(size=FULL_HD) as app:
        open_sample(app, sample_path("addresses"))
        texts = app.ui.session.trace.value.code.text
        panel = app.window.workspace.docks["token_details"].panel
        for text, told in {
            "ds_read_b32": ("stride\n256 bytes", "passes\n60.0", "bank conflicts: 60.0 passes, 2.0 needed"),
            "global_load": ("stride\n4 bytes", "lines\n2.0", "used of a line\n120.0 bytes"),
        }.items():
            app.ui.session.select_line(next(at for at, one in enumerate(texts) if one.startswith(text)))
            settle(app)
            shown = panel.all.toPlainText()
            assert all(one in shown for one in (*told, "Addresses of its lanes, as recorded")), shown
        app.ui.session.select_line(next(at for at, one in enumerate(texts) if one.startswith("s_endpgm")))
        settle(app)
        assert "Addresses of its lanes" not in panel.all.toPlainText()


def test_causes_are_those_that_findings_have(app: App) -> None:
    results, whole = app.ui.results, ATTRIBUTION.of(app.ui.session.trace.value, app.ui.session.store.batches)
    assert results.cell("attribution").value is results.cell("findings").value.attribution
    assert not differences(results.cell("attribution").value, whole)


def test_causes_of_a_sample_say_so_until_a_panel_wants_those_of_all_waves(
    qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "SMALL_BYTES", -1)
    monkeypatch.setattr(findings, "chosen_rows", lambda index: list(range(len(index) // 2)))
    with window(size=FULL_HD) as app:
        open_sample(app)
        app.ui.session.select_line(LINE)
        settle(app)
        store, panel = app.ui.session.store, app.window.workspace.docks["token_details"].panel
        table, waves = app.ui.results.cell("attribution").value, len(store.trace.waves)
        part = [wave for batch in store.batches for wave in batch.waves if wave.row < waves // 2]
        own = table.line == LINE
        stalled = sum(int(wave.tokens.stall[wave.tokens.line == LINE].sum()) for wave in part)
        assert table.waves == waves // 2
        assert int(table.stall[own].sum()) == stalled
        cycles = int(table.cycles[own].sum())
        said = f"Why, over the hits of {waves // 2} of {waves} waves: of {cycles:,} cycles"
        assert said in panel.all.toPlainText()
        app.ui.results.want("attribution")
        settle(app)
        table = app.ui.results.cell("attribution").value
        assert not differences(table, ATTRIBUTION.of(store.trace, store.batches))
        assert "Why, over all hits: of" in panel.all.toPlainText()
