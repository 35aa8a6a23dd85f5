"""The compare panel: a baseline beside the open capture, differences beyond noise, one click to the line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QFileDialog

from rcv_py.analysis.compare.costs import sums_from
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.analysis.device.wave_states import STRIP
from rcv_py.base.errors import RcvError
from rcv_py.features.compare.panel import MODES, NO_BASELINE, NO_COSTS, SIDE_BY_SIDE, TIME, ComparePanel
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Baseline
from rcv_py.ui.app import App
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.shell.opener import read
from tests.analysis import build
from tests.analysis.compare_cases import PROGRAM, STALLS, table, tokens
from tests.analysis.in_memory import capture_costs
from tests.support.command_runs import run
from tests.support.samples import sample, write_sample
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import SAMPLE, open_sample, run_command, settle

WAIT = 3


def capture(text: list[str], stalls: list[int], seed: int = 1) -> tuple[Trace, WaveBatch]:
    """Sixteen waves, each a workgroup that starts on its own; they run a program three times and end."""
    code, rng = table(text), np.random.default_rng(seed)
    waves = []
    for row in range(16):
        lines = [line for _ in range(3) for line in range(1, len(code) - 1)] + [len(code) - 1]
        factor = 1 + 0.02 * rng.standard_normal()
        begin = 100 + 16 * row
        one = tokens(lines, [round(stalls[line] * factor) for line in lines], begin)
        end = int(one.end.max())
        waves.append(build.of_tokens(one, row=row, begin=begin, end=end, place=(row % 2, 0, row, 0)))
    return build.trace(code, waves), build.batch(*waves)


BEFORE = capture(list(PROGRAM), list(STALLS))
AFTER = capture(
    [*PROGRAM[:2], "v_new v9, v9", *PROGRAM[2:]],
    [*STALLS[:2], 8, STALLS[2], STALLS[3] + 60, *STALLS[4:]],
    seed=2,
)
MOVED_WAIT = WAIT + 1  # its row in AFTER


panel = panel_fixture(ComparePanel, 1100, 320, "view.table")


@pytest.fixture
def compared(panel: ComparePanel, open_in: Callable, ui: UiContext, settled: Settled) -> ComparePanel:
    open_in(AFTER[0], [AFTER[1]])
    ui.session.baseline.set(
        Baseline(BEFORE[0], capture_costs(BEFORE[0], [BEFORE[1]]), STRIP.of(BEFORE[0], [BEFORE[1]]))
    )
    settled()
    return panel


def choose(panel: ComparePanel, mode: str, settled: Settled) -> None:
    panel.mode.choose(mode)
    settled()


def shown(panel: ComparePanel, *names: str) -> list[tuple[str, ...]]:
    """The texts of columns, in the order in which rows are shown."""
    model = panel.view.table
    at = [model.column_of(name) for name in names]
    return [tuple(model.text(row, column) for column in at) for row in model.data_rows.tolist()]


def test_without_a_baseline_it_says_how_to_get_one(panel: ComparePanel, open_in: Callable) -> None:
    assert "No capture is open" in panel.empty.sentence.text()
    open_in(BEFORE[0], [BEFORE[1]])
    assert panel.empty.sentence.text() == NO_BASELINE
    assert panel.sheet() is None


def test_an_empty_comparison_has_buttons(
    panel: ComparePanel, open_in: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(type(panel.ui.commands), "run", lambda _, name: ran.append(name))
    assert panel.choose.isHidden(), "nothing can be compared without a capture"
    open_in(BEFORE[0], [BEFORE[1]])
    assert panel.choose.isVisibleTo(panel)
    panel.choose.click()
    panel.list_all.click()
    assert ran == ["file.compare", "file.open"]


def test_the_instruction_comes_first_and_the_same_status_is_not_repeated(compared: ComparePanel) -> None:
    titles = [column.title for column in compared.view.table.columns]
    assert titles[0] == "instruction"
    assert {row[0] for row in shown(compared, "status")} == {"", "inserted"}
    assert not compared.choose.isVisibleTo(compared)


def test_the_verdict_and_the_rows_beyond_noise(compared: ComparePanel) -> None:
    assert compared.verdict.text().startswith("The launch of B takes ")
    assert "more cycles per wave" in compared.notes.text()
    top = shown(compared, "instruction_a", "instruction_b", "status")[:2]
    assert top == [(str(WAIT), str(MOVED_WAIT), ""), ("", "2", "inserted")]
    compared.only.setChecked(True)
    assert shown(compared, "instruction_b") == [(str(MOVED_WAIT),), ("2",)]
    compared.only.setChecked(False)
    assert len(shown(compared, "instruction_b")) == 7


def test_a_click_selects_the_line_everywhere(compared: ComparePanel, ui: UiContext) -> None:
    compared.view.chosen.emit(0)
    assert ui.session.selection.value.line == MOVED_WAIT
    ui.session.select_line(2)
    assert compared.view.current == 1


def test_what_only_the_baseline_has_cannot_be_selected(
    panel: ComparePanel, open_in: Callable, ui: UiContext, settled: Settled
) -> None:
    open_in(BEFORE[0], [BEFORE[1]])
    ui.session.baseline.set(Baseline(AFTER[0], capture_costs(AFTER[0], [AFTER[1]])))
    settled()
    fates = [row[0] for row in shown(panel, "status")]
    old = ui.session.selection.value
    panel.view.chosen.emit(int(panel.view.table.data_rows[fates.index("removed")]))
    assert ui.session.selection.value == old


@pytest.mark.parametrize(("mode", "name"), [("source", "no source line"), ("class", "WAIT_LOAD")])
def test_groups_select_the_line_that_changed_most(
    mode: str, name: str, compared: ComparePanel, ui: UiContext, settled: Settled
) -> None:
    choose(compared, mode, settled)
    assert shown(compared, "label")[0] == (name,)
    compared.view.chosen.emit(0)
    assert ui.session.selection.value.line == MOVED_WAIT


def test_side_by_side_leaves_gaps(compared: ComparePanel, settled: Settled) -> None:
    choose(compared, SIDE_BY_SIDE, settled)
    rows = shown(compared, "text_a", "text_b", "status")
    assert rows[2] == ("", "v_new v9, v9", "inserted")
    assert [row[0] for row in rows if row[0]] == list(PROGRAM)
    assert all(a == b for a, b, fate in rows if fate == "same")


def test_both_captures_are_shown_over_one_time(compared: ComparePanel, settled: Settled) -> None:
    choose(compared, TIME, settled)
    canvases = [plot.canvas for plot in compared.plots.values()]
    trace, before = AFTER[0], BEFORE[0]
    for canvas, (_, batch) in zip(canvases, (BEFORE, AFTER), strict=True):
        curves = canvas.curves.set
        assert curves.stacked
        assert {int(curve.time[0]) for curve in curves.curves} == {trace.span.begin}, "both begin together"
        spent = sum(float((np.diff(curve.time) * curve.value[:-1]).sum()) for curve in curves.curves)
        lived = sum(int(wave.states.duration.sum()) for wave in batch.waves)
        assert spent == pytest.approx(lived)
    assert canvases[0].view == canvases[1].view
    assert canvases[0].view.width >= max(trace.span.width, before.span.width)
    wide = canvases[1].view
    canvases[0]._set_view(wide.zoomed(0.25, wide.middle))
    assert canvases[1].view == canvases[0].view != wide
    canvases[0]._set_view(wide.zoomed(10.0, wide.middle))
    assert canvases[0].view == wide, "all of the longer one"
    assert not compared.only.isEnabled()
    assert compared.command_line() is None


def test_every_mode_paints_in_both_themes(compared: ComparePanel, ui: UiContext, settled: Settled) -> None:
    for theme in ("dark", "light"):
        ui.settings["look.theme"] = theme
        for mode in MODES:
            choose(compared, mode, settled)
            assert not compared.grab().isNull()


def test_the_sheet_has_what_is_shown(compared: ComparePanel) -> None:
    compared.only.setChecked(True)
    sheet = compared.sheet()
    rows = list(sheet.rows)
    assert len(rows) == 2
    line, delta = sheet.headers.index("# B"), sheet.headers.index("delta")
    assert [row[line] for row in rows] == [MOVED_WAIT, 2]
    assert rows[0][delta] == pytest.approx(180, rel=0.2)


def test_another_capture_is_compared_with_the_same_baseline(
    compared: ComparePanel, open_settled: Callable
) -> None:
    open_settled(BEFORE[0], [BEFORE[1]])
    assert compared.verdict.text().startswith(
        "No difference beyond noise: the launch of B takes as many cycles"
    )


def test_no_baseline_no_comparison(compared: ComparePanel, ui: UiContext) -> None:
    ui.session.baseline.set(None)
    assert compared.empty.sentence.text() == NO_BASELINE
    assert compared.sheet() is None


def test_mode_and_filter_are_remembered(compared: ComparePanel, settled: Settled) -> None:
    choose(compared, "block", settled)
    compared.only.setChecked(True)
    state = compared.save_state()
    choose(compared, "instruction", settled)
    compared.load_state(state)
    settled()
    assert (compared.by, compared.only.isChecked()) == ("block", True)
    compared.load_state({"by": "nonsense"})
    settled()
    assert compared.by == "block"


def test_the_menu_opens_a_baseline(blank: App, qtbot: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(SAMPLE))
    commands, session = blank.ui.commands, blank.ui.session
    assert commands["file.compare"].why_not()
    open_sample(blank)
    assert commands["file.forget_baseline"].why_not()
    run_command(blank, "file.compare")
    assert session.baseline.value is not None
    panel = blank.window.workspace.docks["compare"].panel
    qtbot.waitUntil(lambda: panel.result is not None)
    assert panel.verdict.text().startswith("No difference beyond noise: the launch of B takes as many cycles")
    assert panel.isVisible()
    commands.run("file.forget_baseline")
    assert panel.empty.sentence.text() == NO_BASELINE
    settle(blank)


def test_a_replicate_tells_the_noise(compared: ComparePanel, qtbot: object, settled: Settled) -> None:
    """A replicate that differs from A as B does: what was a difference is noise."""
    baseline = compared.session.baseline.value
    assert baseline is not None
    assert compared.result.judgement.verdict is Verdict.MORE
    longer = capture(list(PROGRAM), [*STALLS[:3], STALLS[3] + 90, *STALLS[4:]], seed=3)
    replicate = Baseline(longer[0], capture_costs(longer[0], [longer[1]]))
    compared.session.baseline.set(replace(baseline, replicate=replicate))
    qtbot.waitUntil(lambda: compared.result is not None and compared.result.noise_of is replicate.costs)
    settled()
    assert compared.verdict.text().startswith("No difference beyond noise")
    assert "differs from A by" in compared.notes.text()
    compared.session.baseline.set(baseline)
    qtbot.waitUntil(lambda: compared.result is not None and compared.result.noise_of is None)
    settled()
    assert compared.verdict.text().startswith("The launch of B takes ")


def test_the_menu_opens_a_replicate(blank: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    replicate = shutil.copytree(SAMPLE, tmp_path / SAMPLE.name)
    chosen = [SAMPLE, SAMPLE, replicate]
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(chosen.pop(0)))
    commands, session = blank.ui.commands, blank.ui.session
    open_sample(blank)
    assert commands["file.twin"].why_not()
    run_command(blank, "file.compare")
    assert commands["file.forget_twin"].why_not()
    run_command(blank, "file.twin")
    assert "is the baseline itself" in str(blank.window.shown_errors.pop())
    assert session.baseline.value.replicate is None
    run_command(blank, "file.twin")
    assert session.baseline.value is not None
    assert session.baseline.value.replicate is not None
    commands.run("file.forget_twin")
    assert session.baseline.value.replicate is None
    commands.run("file.forget_baseline")
    assert session.baseline.value is None
    settle(blank)


def test_a_baseline_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for number in (1, 2):
        write_sample("straggler", tmp_path / f"ui_output_agent_1_dispatch_{number}")
    for path, why in (
        (Path("/nowhere/at/all"), "no such file"),
        (tmp_path, "holds several captures"),
        (Path(__file__).parent, "no capture lies in it"),
    ):
        with pytest.raises(RcvError, match=why):
            read(path, sums_from)


def test_a_baseline_is_read_whole() -> None:
    path, truth = sample("matmul_small")
    baseline = read(path, sums_from, 1)
    assert baseline.costs.wave_count == len(truth.waves)
    assert baseline.name == path.name


def test_another_kind_of_row_is_shown_from_its_top(compared: ComparePanel, settled: Settled) -> None:
    compared.resize(700, 130)
    compared.show()
    settled()
    bar = compared.view.verticalScrollBar()
    bar.setValue(bar.maximum())
    choose(compared, "class", settled)
    assert bar.maximum() > 0
    assert bar.value() == 0
    bar.setValue(bar.maximum())
    choose(compared, "class", settled)
    assert bar.value() == bar.maximum()


BUILDS = SAMPLE.parent / "compiled_rms_norm"
PLACEHOLDER = SAMPLE.parent / "placeholder"
NO_INSTRUCTIONS = "placeholder has no instructions, and builds are compared by them."
FIRST, SECOND = (BUILDS / f"rms_norm_{name}gfx942.co" for name in ("", "unrolled_"))


@pytest.mark.parametrize("opened", [SECOND, SAMPLE.parent / "raw_rms_norm"], ids=["build", "capture"])
def test_a_build_that_has_not_run_is_compared_by_the_file_menu(
    blank: App, opened: Path, qtbot: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel says what `rcv compare` prints; a capture comes first, as its costs say what matters."""
    chosen = FIRST if opened == SECOND else SECOND
    sides = (FIRST, SECOND) if opened == SECOND else (opened, SECOND)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(chosen), ""))
    commands, session = blank.ui.commands, blank.ui.session
    assert commands["file.compare_build"].why_not()
    blank.window.opener.open(opened)
    qtbot.waitUntil(lambda: session.trace.value is not None)
    settle(blank)
    run_command(blank, "file.compare_build")
    panel = blank.window.workspace.docks["compare"].panel
    assert isinstance(panel, ComparePanel)
    qtbot.waitUntil(lambda: panel.change is not None)
    settle(blank)
    for by in ("instruction", "block", "class"):
        panel.mode.choose(by)
        settle(blank)
        document = json.loads(run("compare", *map(str, sides), "--by", by, "--top=0", "--json").out)
        assert panel.verdict.text() == document["sentence"]
        assert panel.program.table.rowCount() == len(document["rows"]) > 0
        assert panel.sheet() is not None
    panel.mode.choose("instruction")
    settle(blank)
    row = next(at for at, one in enumerate(document_rows(sides)) if one[opened == SECOND] >= 0)
    panel.program.chosen.emit(row)
    assert session.selection.value.line == document_rows(sides)[row][opened == SECOND]
    panel.mode.choose(TIME)
    settle(blank)
    assert panel.inner.sentence.text() == NO_COSTS
    settle(blank)


@pytest.mark.parametrize("opened", ["placeholder", "build"])
def test_a_build_and_a_capture_without_instructions_are_a_sentence(blank: App, opened: str) -> None:
    """What a capture does not hold is not known: no row of the build was inserted."""
    sides = [PLACEHOLDER, FIRST] if opened == "placeholder" else [FIRST, PLACEHOLDER]
    open_sample(blank, sides[0])
    blank.window.baseline.open(sides[1])
    settle(blank)
    panel = blank.window.workspace.docks["compare"].panel
    assert panel.change is None
    assert panel.empty.sentence.text() == NO_INSTRUCTIONS
    for by in ("instruction", "block", "class"):
        found = run("compare", str(PLACEHOLDER), str(FIRST), "--by", by)
        assert found.code != 0
        assert NO_INSTRUCTIONS in found.err


def document_rows(sides: tuple[Path, Path]) -> list[tuple[int, int]]:
    """Instructions of A and B in the rows that `rcv compare` prints."""
    found = json.loads(run("compare", *map(str, sides), "--by", "instruction", "--top=0", "--json").out)
    return [(one["instruction_a"], one["instruction_b"]) for one in found["rows"]]


def test_of_a_file_with_several_kernels_the_one_of_the_open_kernel_is_the_baseline() -> None:
    built = SAMPLE.parents[1] / "tests" / "formats" / "isa" / "built"
    file, other = (built / "calls_gfx942_O0_dwarf5_wave64.co", built / "calls_gfx950_O0_dwarf4_wave64.co")
    like = open_trace(file / "gfx942" / "copy")
    assert read(file, sums_from, 1, like).trace.kernel_name == "copy"
    for one, trace in ((other, like), (file, None)):
        with pytest.raises(RcvError, match="a baseline is one"):
            read(one, sums_from, 1, trace)
