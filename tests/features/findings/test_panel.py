"""The triage page: in front when a capture opens, and one click from a finding to the place."""

import pickle
from collections.abc import Callable
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from rcv_py.analysis.findings.detect import NO_CODE
from rcv_py.analysis.findings.finding import CONTEXT, Evidence, Finding, Findings, Predicted
from rcv_py.base.progress import Report, Stage
from rcv_py.features.findings.panel import TriagePanel, go_to
from rcv_py.features.findings.widgets import finding_html, fitting_numbers
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import UiContext
from tests.support.fixtures import fixture_of
from tests.support.mouse import left_click
from tests.support.opened import all_waves, sample_trace, whole_sample
from tests.support.plain_capture import plain
from tests.support.plain_samples import reasons
from tests.support.samples import sample_path, write_sample
from tests.support.source_places import on_one_line
from tests.support.window_fixtures import Reused, opened_fixture, panel_fixture
from tests.ui.window import SAMPLE, open_sample, run_command, settle, show_panel

LABELS = ("What", "Where", "Fix", "Gain")


def page(app: App) -> TriagePanel:
    return app.window.workspace.docks["triage"].panel


def in_front(app: App, name: str) -> bool:
    return not app.window.workspace.docks[name].panel.visibleRegion().isEmpty()


def choose(panel: TriagePanel, kind: str) -> int:
    """Go to the first finding with evidence of a kind; return its place among the evidence."""
    for row, one in enumerate(panel.findings.in_full):
        for number, place in enumerate(one.evidence):
            if place.kind == kind:
                panel.list.setCurrentRow(row)
                return number
    raise AssertionError(kind)


path = fixture_of(lambda: SAMPLE)  # The capture that is opened


@pytest.fixture
def with_all_kinds(tmp_path: Path) -> Path:
    """A capture with evidence of every kind: its code is mapped to the declaration of another kernel."""
    place = "/src/matmul/matmul.hip:13"
    return on_one_line("matmul_small", tmp_path / "ui_output_agent_1_dispatch_1", place)


def test_open_then_one_click_selects_everywhere(blank: App, path: Path) -> None:
    open_sample(blank, path)
    panel = page(blank)
    assert in_front(blank, "triage")
    blank.window.activateWindow()
    blank.ui.commands.run("triage.show")
    assert panel.list.hasFocus(), "keys choose a finding at once"
    first = panel.current
    assert first is panel.findings.findings[0]
    assert first.title in panel.page.toPlainText()
    assert panel.headline.text() == panel.findings.bound_class.sentence
    rows = [row for row, one in enumerate(panel.findings.in_full) if one.evidence[0].kind == "instruction"]
    panel.list.setCurrentRow(rows[0])
    first = panel.current
    panel.list.setFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    settle(blank)
    selection = blank.ui.session.selection.value
    assert selection.line == first.evidence[0].line
    isa = blank.window.workspace.docks["isa"].panel
    assert isa.view.current == selection.line
    assert blank.ui.session.token() is not None, "an execution is selected with its line"


def test_evidence_of_every_kind_leads_to_its_place(blank: App, with_all_kinds: Path) -> None:
    open_sample(blank, with_all_kinds)
    panel, session = page(blank), blank.ui.session
    number = choose(panel, "token")
    place = panel.current.evidence[number]
    panel.page.anchorClicked.emit(QUrl(f"evidence:{number}"))
    settle(blank)
    wave, row = session.token()
    assert (wave.id, row) == (place.wave, place.token)
    assert session.view.value.contains(place.begin)
    assert in_front(blank, "compute_unit"), "an execution is only drawn there"
    run_command(blank, "triage.show")
    assert in_front(blank, "triage")
    panel.go(choose(panel, "wave"))
    assert session.selection.value.wave == panel.current.evidence[choose(panel, "wave")].wave
    number = choose(panel, "window")
    place = panel.current.evidence[number]
    panel.go(number)
    assert session.view.value.begin <= place.begin
    assert session.view.value.end >= place.end
    number = choose(panel, "source")
    panel.go(number)
    assert session.selection.value.source == panel.current.evidence[number].source
    panel.go(99)  # there is no such evidence: nothing happens


def test_global_is_one_click_away(app: App) -> None:
    assert [dock.info.id for dock in app.window.workspace.group("time")][:2] == [
        "compute_unit",
        "global_timeline",
    ]
    show_panel(app, "global_timeline")
    assert in_front(app, "global_timeline")


def test_evidence_of_a_wave_or_a_range_keeps_the_timeline_that_is_in_front(blank: App) -> None:
    open_sample(blank, sample_path("matmul_small"))
    panel = page(blank)
    blank.window.workspace.show_panel("utilization")
    for kind in ("wave", "window"):
        panel.go(choose(panel, kind))
        settle(blank)
        assert in_front(blank, "utilization"), kind


def test_an_execution_is_40_px_wide_in_the_compute_unit(reused: Reused) -> None:
    with reused(size=(1280, 800)) as app:
        app.window.workspace.fold("left", False)
        open_sample(app, sample_path("matmul_small"))
        session = app.ui.session
        wave = session.wave()
        width = wave.tokens.stall + wave.tokens.busy
        shortest = int(np.argmin(np.where((width > 0) & (wave.tokens.line >= 0), width, width.max())))
        token = wave.tokens.span(shortest)
        place = Evidence("token", "", wave=wave.id, token=shortest, begin=token.begin, end=token.end)
        assert go_to(session, place) == "compute_unit"
        show_panel(app, "compute_unit")
        plot = app.window.workspace.panel("compute_unit").timeline.plot
        assert token.width <= 4
        assert token.width / session.view.value.width * plot.width() >= 40


def of(name: str, cycles: int, gain: float, rank: str = "ranked") -> Finding:
    return Finding(
        name=name,
        title=f"About {name}",
        cycles=cycles,
        is_upper_bound=True,
        share=gain,
        sentence="It is so.",
        remedy="Do less.",
        gain=gain,
        rank=rank,
    )


def test_one_bound_is_one_bar(ui: UiContext, qtbot: QtBot) -> None:
    """Two findings that say of the same cycles what they could win are not two things to win."""
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    found = (
        of("roof", 900, 0.5), of("loads", 900, 0.5), of("drain", 450, 0.25), of("small", 9, 0.01),
        of("busy", 900, 0.0, CONTEXT),
    )  # fmt: skip
    findings = Findings(numbers=(), findings=found)
    assert findings.same_bound == (0, 0, 2, 3), "what is small is in one line, context is not a bound"
    panel.list.show_findings(findings.in_full, "", findings.same_bound)
    panel.resize(330, 500)
    panel.show()
    image = panel.list.viewport().grab().toImage()
    red = ui.theme.role("stall").rgb()

    def length(row: int) -> int:
        box = panel.list.visualItemRect(panel.list.item(row))
        middle = box.center().y() + box.height() // 4 - 1  # of the line of numbers
        return sum(image.pixel(x, middle) == red for x in range(box.left(), box.right()))

    assert length(0) > 20
    assert length(1) == length(3) == 0
    assert length(2) == pytest.approx(length(0) / 2, abs=1), "bars have one scale"
    assert "The same bound as 1" in panel.list.item(1).text()
    assert "≤ 50 %" in panel.list.item(1).text()
    assert "About roof" in finding_html(found[1], is_open=False, first="About roof")
    assert "The same bound" not in finding_html(found[0], is_open=False)


shown = panel_fixture(TriagePanel, 850, 280)
small = opened_fixture("shown", lambda: whole_sample("matmul_small"))


def test_keys_digits_and_copying(shown: TriagePanel, open_settled: Callable) -> None:
    open_settled(*whole_sample("vector_add"))  # whose second finding has an instruction
    QTest.keyClick(shown.list, Qt.Key.Key_Down)
    assert shown.list.currentRow() == 1
    asked: list[str] = []
    shown.wants.connect(asked.append)
    QTest.keyClick(shown.list, Qt.Key.Key_1)
    assert shown.session.selection.value.line == shown.current.evidence[0].line
    assert asked == ["isa"]
    shown.list.copied.emit()
    assert QGuiApplication.clipboard().text().startswith(f"## 2. {shown.current.title}")
    shown.copy.click()
    assert QGuiApplication.clipboard().text().count("\n## ") == len(shown.findings.in_full)
    assert shown.list.count() == len(shown.findings.in_full) + 1, "small findings are one row"
    shown.list.setCurrentRow(len(shown.findings.in_full))
    assert shown.current is None
    assert all(one.title in shown.page.toPlainText() for one in shown.findings.small)
    sheet = shown.sheet()
    assert len(list(sheet.rows)) == len(shown.findings.findings)


def test_more_opens_and_closes(small: TriagePanel) -> None:
    small.list.setCurrentRow(1)
    one = small.current
    page = small.page.toPlainText()
    labels = [line.partition(":")[0] for line in page.splitlines() if line.startswith(LABELS)]
    assert labels == list(LABELS)
    assert one.key_sentence in page
    assert one.sentence not in page
    assert one.assumption not in page
    assert page.count(one.evidence[0].place) == 1, "evidence is listed once"
    assert one.evidence[-1].place not in page
    small.page.anchorClicked.emit(QUrl("more:0"))
    page = small.page.toPlainText()
    assert one.sentence in page
    assert one.assumption in page
    assert all(page.count(str(place)) <= 1 and place.place in page for place in one.evidence)
    small.page.anchorClicked.emit(QUrl("more:0"))
    assert one.assumption not in small.page.toPlainText()


def test_three_numbers_are_enough_at_first(small: TriagePanel) -> None:
    assert [number.id for number in small.strip.numbers] == ["duration", "nothing", "matrix"]
    assert small.detail.isHidden()
    assert len(small.headline.text().split()) <= 12
    small.more.click()
    assert small.strip.numbers == small.findings.numbers
    assert small.detail.text() == small.findings.bound_class.detail


def test_the_list_takes_the_height_that_the_page_leaves(
    shown: TriagePanel, open_settled: Callable, qtbot: QtBot
) -> None:
    shown.resize(380, 900)
    open_settled(*whole_sample("matmul_small"))
    qtbot.waitUntil(lambda: not shown.list.verticalScrollBar().isVisible())
    assert not shown.page.verticalScrollBar().isVisible()


@pytest.mark.parametrize("width", [330, 900])
def test_a_picture_ends_where_the_findings_end(
    shown: TriagePanel, open_settled: Callable, qtbot: QtBot, width: int
) -> None:
    shown.resize(width, 1400)
    open_settled(*whole_sample("matmul_small"))
    qtbot.waitUntil(lambda: shown.split.isVisible() and not shown.list.verticalScrollBar().isVisible())
    with shown.for_picture():
        pass  # what is above the list has its place now, whenever Qt would have given it
    size, sizes = shown.size(), shown.split.sizes()
    with shown.for_picture():
        seen = shown.size()
        assert shown.list.height() >= shown.list.rows_px
        text = shown.page.document().size().height()
        assert text <= shown.page.viewport().height()
        assert seen.height() < 1200
        assert min(shown.list.height() - shown.list.rows_px, shown.page.viewport().height() - text) < 4
    assert (shown.size(), shown.split.sizes()) == (size, sizes)


def test_partial_results_are_called_partial(shown: TriagePanel, open_in, qtbot: QtBot) -> None:
    trace = sample_trace("matmul_small")
    count = len(plain(trace.path).waves)
    open_in(trace, [])
    assert shown.empty.sentence.text() == f"Reading waves, 0 of {count}, for findings …"
    assert shown.copy.isHidden(), "there is nothing to copy"
    shown.session.store.add(trace.reader.read([0, 1, 2]))
    shown.session.wave_loaded()
    qtbot.waitUntil(lambda: shown.findings is not None)
    assert shown.note.text() == f"partial: 3 of {count} waves"
    shown.list.setCurrentRow(1)
    name = shown.current.name
    shown.session.store.add(trace.reader.read(list(range(3, count))))
    shown.session.wave_loaded()
    qtbot.waitUntil(lambda: not shown.findings.partial)
    assert shown.note.text() == ""
    names = [one.name for one in shown.findings.findings]
    assert name not in names or shown.current.name == name, "the chosen finding stays chosen"


@pytest.fixture
def measured() -> tuple[Trace, list[str]]:
    """A capture, and how long it took and how many waves a SIMD with any held, as its page says it."""
    trace = sample_trace("matmul_small")
    read = plain(trace.path)
    duration = max(stay.end for stay in read.stays) - min(stay.begin for stay in read.stays)
    held = [set().union(*(range(one.begin, one.end) for one in waves)) for waves in read.simds().values()]
    lives = sum(wave.end - wave.begin for wave in read.waves)
    return trace, [f"{duration:,} cycles", f"{lives / sum(map(len, held)):.1f} waves per SIMD"]


def test_numbers_are_never_cut(
    shown: TriagePanel, open_settled: Callable, qtbot: QtBot, measured: tuple
) -> None:
    trace, numbers = measured
    open_settled(trace, [all_waves(trace)])
    shown.more.click()
    for width in (760, 330, 260):  # beside the list, at the left, in a narrow window
        shown.resize(width, 600)
        qtbot.wait(0)
        cells = [cell for cell in shown.strip._cells if cell.isVisible()]
        assert [cell.value.text() for cell in cells][2:4] == numbers
        for label in (label for cell in cells[1:] for label in (cell.value, cell.name)):
            text = label.fontMetrics().horizontalAdvance(label.text())
            assert label.width() >= text, (width, label.text())


def test_without_larger_findings_the_small_ones_are_shown(shown: TriagePanel) -> None:
    shown.list.show_findings((), "Below 2 % of the kernel's duration: Ramp-up 0.1 %.")
    assert shown.list.currentRow() == 0
    shown.list.show_findings(())
    assert shown.list.currentRow() == -1


def test_without_instructions_nothing_is_concluded(
    shown: TriagePanel, tmp_path: Path, open_settled: Callable
) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("matmul_small", folder)
    (folder / "code.json").write_text("")
    trace = open_trace(folder)
    open_settled(trace, [all_waves(trace)])
    assert shown.findings.bound_class is None
    assert not shown.findings.findings
    assert shown.empty.sentence.text() == NO_CODE
    assert "nothing" not in [number.id for number in shown.findings.numbers], "its matrix work is not known"


def test_samples_and_placeholders(shown: TriagePanel, tmp_path: Path, open_settled: Callable) -> None:
    samples = sample_trace("pc_sampling")
    open_settled(samples, [])
    ((reason, _),) = reasons(samples.path).most_common(1)
    assert (reason, shown.current.name) == ("wait count", "samples-waitcnt")
    write_sample("placeholder", tmp_path / "ui_output_agent_1_dispatch_1", 0)
    open_settled(open_trace(tmp_path / "ui_output_agent_1_dispatch_1"), [])
    assert shown.empty.is_empty
    assert "Nothing ran" in shown.empty.sentence.text()


def test_clicking_a_row_shows_it(small: TriagePanel) -> None:
    box = small.list.visualItemRect(small.list.item(2))
    left_click(small.list.viewport(), QPoint(30, box.center().y()))
    assert small.findings.findings[2].title in small.page.toPlainText()


def test_a_click_or_a_key_on_a_finding_goes_to_its_first_evidence(app: App) -> None:
    panel, session = page(app), app.ui.session
    rows = [row for row, one in enumerate(panel.findings.in_full) if one.evidence[0].kind == "instruction"]
    panel.list.setFocus()
    row = next(row for row in rows if row > 0)
    panel.list.setCurrentRow(row - 1)
    session.select_line(0)
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    settle(app)
    place = panel.findings.in_full[row].evidence[0]
    assert panel.current is panel.findings.in_full[row]
    assert session.selection.value.line == place.line
    assert app.window.workspace.docks["isa"].panel.view.current == place.line
    assert session.token() is not None, "the time views follow"
    assert panel.list.hasFocus(), "keys go on to the next finding"
    session.select_line(0)
    panel.list.scrollToItem(panel.list.item(row))
    box = panel.list.visualItemRect(panel.list.item(row))
    click = QPoint(60, box.top() + 5)
    left_click(panel.list.viewport(), click)
    settle(app)
    assert session.selection.value.line == place.line, "a second click goes there again"


def test_shares_among_the_key_numbers_have_bars(small: TriagePanel) -> None:
    duration, *shares = [cell for cell in small.strip._cells if cell.isVisible()]
    assert duration.share is None
    assert len(shares) == 2
    for cell in shares:
        whole, part = cell.bar_rects()
        assert part.width() / whole.width() == pytest.approx(
            float(cell.value.text().removesuffix(" %")) / 100, abs=6e-4
        )
        image = cell.grab().toImage()
        y = round(whole.center().y())
        assert image.pixelColor(round(part.right() / 2), y) == small.ui.theme.role("accent")
        assert image.pixelColor(round(whole.right()) - 2, y) == small.ui.theme.role("line")


def test_numbers_of_a_narrow_row_end_at_a_whole_number(shown: TriagePanel) -> None:
    one = replace(of("a", 10, 0.03), predicted=Predicted(0.01, 0.0, 0.011), limit=Predicted(0.21, 0.21, 0.21))
    metrics = shown.list.fontMetrics()
    wanted = ("≤ 3 % → 1 % (0–1.1); limit 21 %", "≤ 3 % → 1 %; limit 21 %", "limit 21 %")
    for text in wanted:
        width = metrics.horizontalAdvance(text)
        assert fitting_numbers(one, 0, metrics, width) == text
    for width in range(metrics.horizontalAdvance("limit 21 %"), 300):
        assert fitting_numbers(one, 0, metrics, width) in wanted
    with_first = fitting_numbers(one, 1, metrics, 400)
    assert with_first == "≤ 3 % → 1 % (0–1.1); limit 21 %, as 1"


def test_predictions_come_when_nothing_else_is_computed(
    ui: UiContext, open_settled: Callable, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.features.findings.panel.PREDICT_MS", 1)
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    panel.resize(850, 280)
    open_settled(*whole_sample("matmul_small"))
    plain = panel.findings
    assert not plain.guesses, "first what is known at once"
    assert "--no-predict" in panel.command_line()
    assert panel.note.text() == ""
    shown: list[tuple[str, ...]] = []
    panel.list.model().rowsInserted.connect(
        lambda: shown.append(tuple(one.name for one in panel.findings.in_full))
    )
    ui.settings["findings.predict"] = True
    qtbot.waitUntil(lambda: bool(panel.findings.guesses))
    assert {one.name for one in panel.findings.findings} == {one.name for one in plain.findings}
    assert "--predict" in panel.command_line()
    was, now = ([one.name for one in found.in_full] for found in (plain, panel.findings))
    assert was != now
    assert len(dict.fromkeys(shown)) <= 2, "the order changes once"
    for place, name in enumerate(now):
        text = panel.list.item(place).text()
        up = was.index(name) - place
        assert ("Up" in text, "Down" in text) == (up > 0, up < 0), "what moved is marked"
    assert panel.note.text().endswith("≤ at most · → predicted (range) · ▲ ▼ moved")
    row = next(at for at, one in enumerate(panel.findings.in_full) if one.predicted is not None)
    panel.list.setCurrentRow(row)
    page, told = panel.page.toPlainText(), panel.current.predicted.text
    assert panel.current.gain_row in page.partition("Gain:")[2]
    assert "not a promise" not in page
    span = np.ptp(ui.session.trace.value.occupancy.time)
    assert f"≤ {round(panel.current.gain * span):,} cycles of the kernel's duration" in page
    ui.settings["timeline.units"] = "ns"
    assert "cycles" not in panel.page.toPlainText().partition("Gain:")[2]
    ui.settings["timeline.units"] = "cycles"
    panel.page.anchorClicked.emit(QUrl("more:0"))
    assert "not a promise" in panel.page.toPlainText(), "what predictions take for true"
    assert told in panel.page.toPlainText()
    assert "→" in panel.current.gain_row
    assert panel.current.gain_row in panel.list.currentItem().text()
    assert "≤" in panel.list.currentItem().text(), "the bound stands beside it"
    ui.settings["findings.predict"] = False
    assert not panel.findings.guesses, "findings as they are"


class Ahead:
    """Another process that makes the findings of a capture, which are no trouble, and predictions."""

    def __init__(self, trace: Trace, predicted: Findings | None) -> None:
        self._trace, self.predicted = trace, lambda: predicted

    def is_of(self, trace: Trace, waves: str, run_files: tuple[Path, ...]) -> bool:
        return trace is self._trace

    def pickled(self) -> bytes:
        return pickle.dumps(Findings((), why="made ahead"))


@pytest.mark.parametrize("predicted", [Findings((), why="predicted ahead"), None])
def test_predictions_that_were_made_ahead_are_taken(
    predicted: Findings | None, ui: UiContext, qtbot: QtBot, open_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.features.findings.panel.PREDICT_MS", 1)
    here: list[Findings] = []

    def with_predictions(trace: Trace, found: Findings, held: object, report: Report) -> Findings:
        here.append(found)
        return Findings((), why="predicted here")

    monkeypatch.setattr("rcv_py.work.whatif.with_predictions", with_predictions)
    trace, batches = whole_sample("matmul_small")
    ui.results.findings.ahead = Ahead(trace, predicted)
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    ui.settings["findings.predict"] = True
    open_in(trace, batches)
    why = "predicted here" if predicted is None else predicted.why
    qtbot.waitUntil(lambda: panel.findings is not None and panel.findings.why == why)
    assert [one.why for one in here] == (["made ahead"] if predicted is None else [])


def test_on_battery_nothing_is_predicted_unasked(
    ui: UiContext, qtbot: QtBot, open_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.features.findings.panel.PREDICT_MS", 1)
    monkeypatch.setattr("rcv_py.features.findings.panel.on_battery", lambda: True)
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    ui.settings["findings.predict"] = True
    ui.settings["findings.predict_on_battery"] = False
    open_in(*whole_sample("matmul_small"))
    qtbot.waitUntil(lambda: panel.note.text() == "On battery: gains are not predicted")
    assert not panel.findings.guesses
    ui.settings["findings.predict_on_battery"] = True
    qtbot.waitUntil(lambda: bool(panel.findings.guesses))
    assert "On battery" not in panel.note.text()


def test_progress_of_predictions_is_that_of_the_shown_findings(
    ui: UiContext, qtbot: QtBot, open_in, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rcv_py.features.findings.panel.PREDICT_MS", 1)
    begun, goes_on = [], Event()

    def with_predictions(_trace: Trace, found: Findings, _held: object, report: Report) -> Findings:
        report(Stage("Predicting gains", 7, 11))
        begun.append(report)
        assert goes_on.wait(60)
        return found

    monkeypatch.setattr("rcv_py.work.whatif.with_predictions", with_predictions)
    panel = TriagePanel(ui)
    qtbot.addWidget(panel)
    ui.settings["findings.predict"] = True
    open_in(*whole_sample("matmul_small"))
    qtbot.waitUntil(lambda: panel.note.text() == "Predicting gains 7 of 11 …")
    ui.settings["findings.predict"] = False
    begun[0](Stage("Predicting gains", 8, 11))
    panel._show_note()
    assert panel.note.text() == "", "a thread that still runs says nothing"
    goes_on.set()


def test_the_button_of_a_row_opens_its_experiment(app: App, qtbot: QtBot) -> None:
    panel = page(app)
    rows = [row for row, one in enumerate(panel.findings.in_full) if one.trial is not None]
    others = [row for row, one in enumerate(panel.findings.in_full) if one.trial is None]
    model = panel.list.model()
    assert rows
    assert all(panel.list.button_rect(model.index(row, 0)).isEmpty() for row in others)
    row = rows[-1]
    panel.list.scrollTo(model.index(row, 0))
    place = panel.list.button_rect(model.index(row, 0)).center()
    left_click(panel.list.viewport(), place)
    settle(app)
    assert in_front(app, "whatif")
    tried = app.window.workspace.docks["whatif"].panel
    qtbot.waitUntil(lambda: tried._chosen is not None)
    assert tried._chosen.origin == panel.findings.in_full[row].title
