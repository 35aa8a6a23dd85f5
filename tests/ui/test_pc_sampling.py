"""Captures without waves: every panel shows something or says in a sentence why not."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.features.isa.arrows import BARE_PX, MIN_PX
from rcv_py.features.time.overview_panel import OverviewPanel
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.widgets.empty_state import with_whole_options
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.plain_samples import reasons, sampled
from tests.support.samples import write_sample
from tests.ui.window import SAMPLES, open_sample, settle, show_panel

IS_PAINTED = True

TIMES = (
    "overview", "global_timeline", "compute_unit", "utilization", "occupancy", "wave_picker",
    "distribution",
)  # fmt: skip
CODE = ("isa", "source", "explorer", "hotspot", "summary")


def shown(app: App, name: str) -> Panel:
    show_panel(app, name)
    return app.window.workspace.panel(name)


def sentence(panel: Panel) -> str:
    """What an empty panel says, "" if it shows something."""
    said = [label.text() for label in panel.findChildren(QLabel, "empty_state") if label.isVisible()]
    strip = panel.strip if isinstance(panel, OverviewPanel) else None
    return " ".join([*said, "" if strip is None else strip.sentence]).strip()


def content(panel: Panel) -> bool:
    """Whether the panel has rows, or is not of one colour."""
    sheet = panel.sheet()
    if sheet is not None and next(iter(sheet.rows), None) is not None:
        return True
    image = panel.grab().toImage()
    step = max(1, image.width() // 97)
    return len({image.pixel(x, y) for x in range(0, image.width(), step) for y in range(image.height())}) > 2


samples = fixture_of(lambda: SAMPLES / "pc_sampling")  # A capture of PC samples
# A capture without waves
without_waves = fixture_of_each(lambda name: SAMPLES / name, ["pc_sampling", "placeholder"])


@pytest.fixture
def barrier(samples: Path) -> int:
    """The instruction at which most samples waited at a barrier."""
    rows = sampled(samples)
    return max(range(len(rows)), key=lambda row: rows[row].reasons["barrier"])


def test_every_panel_shows_something_or_says_why_not(blank: App, without_waves: Path) -> None:
    has_samples = without_waves.name != "placeholder"
    open_sample(blank, without_waves)
    for panel_name in blank.window.workspace.names():
        panel = shown(blank, panel_name)
        said = sentence(panel)
        assert said or content(panel), panel_name
        assert not said or said.rstrip().endswith((".", "?")), (panel_name, said)
        if has_samples and panel_name in TIMES:
            assert "PC samples" in said, panel_name
            assert "time" in said, panel_name
        if has_samples and panel_name in CODE:
            assert not said, (panel_name, said)


def test_no_panel_waits_for_waves_that_cannot_be_read(blank: App, tmp_path: Path) -> None:
    write_sample("vector_add", tmp_path)
    for path in tmp_path.glob("se*_wv*.json"):
        path.write_text("")
    open_sample(blank, tmp_path)
    blank.ui.session.select_line(1)
    said = {}
    for name in blank.window.workspace.names():
        panel = shown(blank, name)
        settle(blank)
        said[name] = sentence(panel)
    waiting = ("Waves are still", "Computing", "Reading")
    assert not {name: text for name, text in said.items() if text.startswith(waiting)}
    for name in ("utilization", "distribution", "roofline"):
        assert "No wave could be read" in said[name]


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_views_of_time_without_time_take_little_room_and_say_all(
    blank: App, size: tuple[int, int], samples: Path
) -> None:
    open_sample(blank, samples)
    panel = shown(blank, "compute_unit")
    (label,) = (one for one in panel.findChildren(QLabel, "empty_state") if one.isVisible())
    assert label.height() >= label.heightForWidth(label.width()), "no line is cut"
    assert panel.height() < 70


def test_what_nearly_all_panels_lack_is_told_in_full_by_one(blank: App) -> None:
    for path in (SAMPLES / "placeholder", SAMPLES / "pc_sampling"):
        open_sample(blank, path)
        (problem,) = (one for one in blank.ui.session.trace.value.problems if one.brief)
        said = {name: sentence(shown(blank, name)) for name in ("compute_unit", "utilization", "loops")}
        assert said.pop("compute_unit") == str(problem)
        assert "No wave ran" not in "".join(said.values()), "said once"
        assert set(said.values()) == {problem.brief}


def test_options_are_not_broken_at_their_hyphens_and_commands_stay_one_line(qtbot: QtBot) -> None:
    label = PlainLabel()
    qtbot.addWidget(label)
    text = "Choose another --att-target-cu, or more engines."
    wide = label.fontMetrics().horizontalAdvance("Choose another --att-target")
    assert with_whole_options(label, text, wide) == text.replace("another ", "another\n")
    assert with_whole_options(label, text, 10 * wide) == text
    command = "rocprofv3 --att --att-perfcounter-ctrl 8"
    assert with_whole_options(label, f"{text}\n{command}", 10) == f"{text}\n{command}", (
        "a line too narrow for any"
    )
    assert with_whole_options(label, command, wide) == command


def test_bars_show_what_the_kind_of_capture_has(blank: App) -> None:
    isa = blank.window.workspace.docks["isa"].panel
    open_sample(blank, SAMPLES / "pc_sampling")
    assert isa.facts.mode is Annotation.REASONS
    open_sample(blank)
    assert isa.facts.mode is Annotation.TOTAL
    isa.set_annotation(Annotation.KINDS)
    open_sample(blank, SAMPLES / "pc_sampling")
    assert isa.facts.mode is Annotation.KINDS, "what fits both is kept"


def test_samples_reach_every_view_of_code(blank: App, samples: Path, barrier: int) -> None:
    rows = sampled(samples)
    count = sum(row.issued + row.stalled for row in rows)
    open_sample(blank, samples)
    blank.ui.session.select_line(barrier)
    settle(blank)
    isa = shown(blank, "isa")
    headers = list(isa.sheet().headers)
    assert {"samples", "issued", "stalled", "main stall reason"} <= set(headers)
    row = list(isa.sheet().rows)[barrier]
    assert row[headers.index("samples")] == rows[barrier].issued + rows[barrier].stalled
    assert "barrier" in row[headers.index("main stall reason")]
    hotspot = shown(blank, "hotspot")
    assert sum(row[2] for row in hotspot.sheet().rows) == count
    top = shown(blank, "explorer")
    assert "samples" in top.sheet().headers
    details = shown(blank, "token_details")
    assert f"{rows[barrier].stalled:,}" in details.all.toPlainText()
    assert "PC samples of this instruction" in details.all.toPlainText()
    assert "latency" not in details.all.toPlainText() + details.text.toPlainText()
    assert blank.window.status.facts.text() == f"gfx942 · {count:,} PC samples"
    assert isa.view.column_rect("gutter").width() == BARE_PX, "no waits are known that could be drawn"
    isa.set_arrows("branches")
    settle(blank)
    assert isa.view.column_rect("gutter").width() >= MIN_PX
    isa.set_arrows("waits")


def test_reasons_of_the_kernel(blank: App, samples: Path) -> None:
    rows, found = sampled(samples), reasons(samples)
    total = sum(row.issued + row.stalled for row in rows)
    open_sample(blank, samples)
    summary = shown(blank, "summary")
    assert "no times" in summary.note.text()
    assert [meter.name for meter in summary.reasons.meters] == ["issued", *dict(found.most_common())]
    for at, times in enumerate((sum(row.issued for row in rows), *dict(found.most_common()).values())):
        assert summary.reasons.meters[at].value == pytest.approx(100 * times / total)
        assert f"{times:,} of {total:,} samples" in summary.reasons.tip(at)
    assert not summary.card_of[summary.pipes].isVisible()
