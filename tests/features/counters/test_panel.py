"""The panel of counters and the editor of formulas: choices, exact curves, mistakes, files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from rcv_py.analysis.counters.counters import counters
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.features.counters.formula_dialog import FormulaDialog, FormulaEditor
from rcv_py.features.counters.panel import CountersPanel
from rcv_py.formats.open import open_trace
from rcv_py.model.device import CounterSamples
from rcv_py.model.trace import Trace
from rcv_py.state.formula_files import FOLDER, FormulaFiles
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.settings_store import Settings
from tests.support.code_samples import trace as small_trace
from tests.support.samples import write_sample
from tests.support.window_fixtures import Settled, panel_fixture
from tests.ui.window import settings_in

OpenIn = Callable[..., None]


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("units")
    write_sample("counters_units", path, seed=3)
    return open_trace(path)


@pytest.fixture
def settled(settled: Settled, qtbot: object) -> Settled:
    """Wait for tasks, and for what is put together once Qt is idle."""

    def wait() -> None:
        settled()
        qtbot.wait(5)
        settled()

    return wait


panel = panel_fixture(CountersPanel, 1000, 400)


@pytest.fixture
def dialog(
    panel: CountersPanel, units: Trace, open_settled: OpenIn, settled: Settled
) -> Iterator[FormulaDialog]:
    """The editor, with a file of its own, over a capture with counters."""
    open_settled(units)
    panel.edit_formulas()
    panel.dialog.new_file()
    settled()
    yield panel.dialog
    panel.dialog.confirm = lambda question: False  # drafts are not asked for when the test is over


def listed(panel: CountersPanel) -> tuple[str, ...]:
    """The names that match the filter."""
    return tuple(name for name, item in panel.tree.items.items() if not item.isHidden())


def editor_of(dialog: FormulaDialog) -> FormulaEditor:
    """The visible editor."""
    return dialog.editors[dialog.name]


def write(dialog: FormulaDialog, text: str, settled: Settled, qtbot: object) -> None:
    editor_of(dialog).setPlainText(text)
    qtbot.waitUntil(lambda: not dialog._typing.isActive())
    settled()


def drawn(panel: CountersPanel) -> dict[str, np.ndarray]:
    return {curve.name: curve.value for curve in panel.plot.curves}


# -- the panel ----------------------------------------------------------------------------------------


def test_it_says_how_to_record_counters(panel: CountersPanel, open_settled: OpenIn) -> None:
    assert "Ctrl+O" in panel.page.sentence.text()
    open_settled(small_trace())
    assert "--att-perfcounter-ctrl 8 --att-perfcounters" in panel.page.sentence.text()
    broken = Problem(Severity.WARNING, "se0_perfcounter.json", "It is cut.", "Again.", (Affects.COUNTERS,))
    open_settled(replace(small_trace(), gfxip=12, problems=(broken,)))
    assert panel.page.sentence.text().startswith("It is cut. Again.\n\n")
    assert "--spm" in panel.page.sentence.text()
    assert panel.sheet() is None


def test_what_a_formula_uses_is_off_at_first(
    panel: CountersPanel, units: Trace, open_settled: OpenIn, settled: Settled
) -> None:
    open_settled(units)
    names = set(drawn(panel))
    assert {"INST_LEVEL_VMEM", "VALU_util", "GPUutil"} <= names
    assert not names & {"BUSY_CU_CYCLES", "ACTIVE_INST_VALU", "VALU_MFMA_BUSY_CYCLES"}
    assert panel.note.text().startswith(f"{len(names)} of 14 curves")
    panel.tree.items["BUSY_CU_CYCLES"].setCheckState(0, Qt.CheckState.Checked)
    settled()
    assert drawn(panel)["BUSY_CU_CYCLES"].max() == 240, "quad-cycles of two engines, three units, four SIMDs"
    assert drawn(panel)["BUSY_CU_CYCLES"].dtype == np.int64


def test_engines_and_units_are_chosen(
    panel: CountersPanel, units: Trace, open_settled: OpenIn, settled: Settled
) -> None:
    open_settled(units)
    whole = drawn(panel)["INST_LEVEL_VMEM"].max()
    first = counters(units).units()[0]
    assert [panel.units.itemData(row) for row in range(4)] == ["all", *map(str, range(first, first + 3))]
    panel.remembered["engine"].choose("1")
    panel.remembered["unit"].choose(str(first + 1))
    settled()
    assert 0 < 2 * drawn(panel)["INST_LEVEL_VMEM"].max() < whole
    assert not panel.simds.isVisible(), "no counter has a mask"


def masked() -> Trace:
    time = np.arange(40, 400, 40, dtype=np.int64)
    value = np.arange(36, dtype=np.int32).reshape(9, 4)
    place = np.zeros(9, np.int16)
    names = ("SQ_A:1", "SQ_A:2", "SQ_B", "SQ_C:0xC")
    table = CounterSamples(0, time, value, place, place)
    return replace(small_trace(), counter_names=names, counters=(table,))


def test_simds_are_chosen_by_their_masks(
    panel: CountersPanel, open_settled: OpenIn, settled: Settled
) -> None:
    open_settled(masked())
    assert panel.simds.isVisible()
    assert listed(panel) == ("A:1", "A:2", "B", "C:0xC")
    panel.remembered["simd"].choose("1")
    settled()
    assert listed(panel) == ("A:2", "B")
    assert "SIMD1" in panel.tree.items["A:2"].toolTip(0)


def test_the_filter_and_the_search_key(panel: CountersPanel, open_settled: OpenIn) -> None:
    assert not panel.focus_search()
    open_settled(masked())
    assert panel.focus_search()
    panel.tree.field.setText("a:")
    assert listed(panel) == ("A:1", "A:2")


def test_the_sheet_has_exact_values(panel: CountersPanel, open_settled: OpenIn) -> None:
    open_settled(masked())
    panel.session.fit_all()
    sheet = panel.sheet()
    assert sheet.headers[:3] == ("cycle", "A:1 (per 40 cycles)", "A:2 (per 40 cycles)")
    rows = {row[0]: row[1:] for row in sheet.rows}
    assert rows[40] == (4, 5, 6, 7), "the sample at 80 tells of the cycles from 40 on"


def test_state_is_kept(panel: CountersPanel, units: Trace, open_settled: OpenIn, settled: Settled) -> None:
    open_settled(units)
    panel.tree.items["GPUutil"].setCheckState(0, Qt.CheckState.Unchecked)
    settled()
    state = panel.save_state()
    other = CountersPanel(panel.ui)
    other.load_state({**state, "nonsense": 3, "engine": "77"})
    settled()
    assert "GPUutil" not in drawn(other)
    other.load_state({"ticks": 5, "sizes": "x"})
    other.deleteLater()


def test_it_is_drawn_in_both_themes(
    panel: CountersPanel, units: Trace, open_settled: OpenIn, settled: Settled, ui: UiContext
) -> None:
    open_settled(units)
    seen = []
    for theme in ("light", "dark"):
        ui.settings["look.theme"] = theme
        settled()
        picture = panel.grab().toImage()
        found = {picture.pixelColor(x, y).name() for x in range(400, 980) for y in range(100, 380, 3)}
        colors = {ui.theme.kernel(curve.color).name() for curve in panel.plot.curves}
        assert len(colors & found) >= 4
        assert ui.theme.role("canvas").name() in found
        seen.append(found)
    assert seen[0] != seen[1]


# -- the editor -----------------------------------------------------------------------------------------


def test_a_formula_becomes_a_curve_while_it_is_typed(
    dialog: FormulaDialog, panel: CountersPanel, settled: Settled, qtbot: object
) -> None:
    write(dialog, "busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]  # [quads] Mine.", settled, qtbot)
    assert drawn(panel)["busy"].max() == 240
    assert not dialog.mistakes.count()
    assert dialog.tabs.tabText(1) == "formulas.txt •"
    assert "busy" in listed(panel)
    assert panel.plot.curves[-1].unit == "quads"


def test_mistakes_are_underlined_at_their_characters(
    dialog: FormulaDialog, settled: Settled, qtbot: object
) -> None:
    write(dialog, "# é 😀\n_a := 1 + NOPE\nb := (2\nc := 3", settled, qtbot)
    texts = [dialog.mistakes.item(row).text() for row in range(dialog.mistakes.count())]
    assert texts[0] == "formulas.txt, line 2, column 11: There is no counter or formula NOPE."
    assert texts[1].startswith("formulas.txt, line 3, column 8: Here the line ends")
    marked = [mark.cursor.selectedText() for mark in editor_of(dialog).extraSelections()]
    assert marked == ["NOPE", "2"], "where the line ends, the character before is marked"
    dialog.mistakes.itemClicked.emit(dialog.mistakes.item(0))
    assert editor_of(dialog).textCursor().block().text() == "_a := 1 + NOPE"
    assert editor_of(dialog).textCursor().positionInBlock() == 10
    editor_of(dialog).insertPlainText(" ")
    assert not editor_of(dialog).extraSelections(), "the text has changed since"


def test_closing_offers_to_save(dialog: FormulaDialog, settled: Settled, qtbot: object) -> None:
    write(dialog, "a := 1", settled, qtbot)
    asked: list[str] = []
    dialog.confirm = lambda question: bool(asked.append(question))
    dialog.close()
    assert asked == ["Save formulas.txt?"]
    assert not dialog.isVisible()
    assert dialog.files.is_changed("formulas.txt"), "kept as a draft"
    dialog.show()
    dialog.confirm = lambda question: True
    dialog.close()
    assert not dialog.files.is_changed("formulas.txt")
    assert dialog.tabs.tabText(1) == "formulas.txt"


def test_the_built_in_set_is_shown_but_not_changed(dialog: FormulaDialog) -> None:
    dialog.tabs.setCurrentIndex(0)
    assert editor_of(dialog).isReadOnly()
    assert "VALU_util := 100 * _valu" in editor_of(dialog).toPlainText()
    assert "TFLOPS" in editor_of(dialog).toPlainText()
    assert not any(dialog.buttons[name].isEnabled() for name in ("Save", "Delete"))
    assert "select[x, i" in dialog.help.toPlainText()


def test_files_are_saved_and_deleted(dialog: FormulaDialog, settled: Settled, qtbot: object) -> None:
    write(dialog, "a := 1", settled, qtbot)
    dialog.buttons["Save"].click()
    assert dialog.tabs.tabText(1) == "formulas.txt"
    dialog.confirm = lambda question: False
    dialog.buttons["Delete"].click()
    assert "formulas.txt" in dialog.editors
    dialog.confirm = lambda question: True
    dialog.buttons["Delete"].click()
    assert list(dialog.editors) == ["built-in"]
    settled()


def test_later_files_replace_formulas_of_earlier_ones(
    dialog: FormulaDialog, panel: CountersPanel, settled: Settled, qtbot: object
) -> None:
    write(dialog, "VALU_util := linear(NUM_SAMPLES) * 0 + 7", settled, qtbot)
    assert set(drawn(panel)["VALU_util"].tolist()) == {0, 7}
    assert panel.tree.items["VALU_util"].parent().text(0) == "Formulas: formulas.txt"


def test_without_counters_the_language_is_checked(
    panel: CountersPanel, open_settled: OpenIn, settled: Settled, qtbot: object
) -> None:
    panel.edit_formulas()
    panel.dialog.new_file()
    write(panel.dialog, "a := NOPE\nb := (", settled, qtbot)
    assert panel.dialog.mistakes.count() == 1
    open_settled(masked())
    assert panel.dialog.mistakes.count() == 2
    panel.dialog.confirm = lambda question: False


# -- files ----------------------------------------------------------------------------------------------


def test_files_lie_in_the_folder_of_settings(tmp_path: Path) -> None:
    settings = Settings(settings_in(tmp_path))
    assert settings.folder == tmp_path
    assert Settings(None).folder is None
    files = FormulaFiles(settings.folder)
    name = files.new()
    files.edit(name, "a := 1\n")
    assert not (tmp_path / FOLDER).exists(), "nothing is written before it is saved"
    files.save(name)
    assert (tmp_path / FOLDER / name).read_text() == "a := 1\n"
    (tmp_path / FOLDER / name).rename(tmp_path / FOLDER / "b.def")
    (tmp_path / FOLDER / "a.txt").write_text("x := 1")
    (tmp_path / FOLDER / "notes.md").write_text("no")
    (tmp_path / FOLDER / "bad.txt").write_bytes(b"\xff\xfe\x00")
    again = FormulaFiles(tmp_path)
    assert again.names == ("a.txt", "b.def")
    assert "bad.txt cannot be read" in again.problems[0]
    again.delete("b.def")
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == ["a.txt", "bad.txt", "notes.md"]
