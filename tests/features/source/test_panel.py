"""The source panel: costs beside lines, chains, files without a copy, and the way to and from code."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox

from rcv_py.features.source import locate
from rcv_py.features.source.highlight import LANGUAGES, expanded, headings, spans
from rcv_py.features.source.locate import LocateDialog
from rcv_py.features.source.panel import SourcePanel
from rcv_py.model.code import SourceFile
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Hover
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.table.column_widths import PAD
from tests.support.code_samples import SOURCES, code_table, trace, two_waves
from tests.support.mouse import left_click, move_mouse
from tests.support.window_fixtures import Settled, opened_fixture, panel_fixture

source = panel_fixture(SourcePanel, 700, 300, "view.table")
opened = opened_fixture("source", lambda: (trace(), [two_waves()]))
unread = opened_fixture("source", lambda: (trace(),))  # Its waves are not read


def cell(panel: SourcePanel, row: int, column: str) -> str:
    return panel.view.table.text(row, panel.view.table.column_of(column))


def test_without_debug_information_it_says_what_to_do(source: SourcePanel, open_settled: Callable) -> None:
    assert "Ctrl+O" in source.empty.sentence.text()
    open_settled(trace(code_table(has_source=False), sources=()))
    assert source.empty.is_empty
    assert "-g" in source.empty.sentence.text()


def test_the_hottest_file_is_shown_with_its_costs(unread: SourcePanel) -> None:
    assert unread.files.currentText().split()[0] == "kernels/attn.py"
    assert unread.files.toolTip() == "/src/kernels/attn.py"
    assert unread.view.table.rowCount() == 4
    assert cell(unread, 2, "cost") == "2,310"  # 2000 + 10 idle, and 300
    assert cell(unread, 2, "share") == "74.3"
    assert cell(unread, 0, "cost") == ""


def test_inclusive_charges_every_place_of_a_chain(
    unread: SourcePanel, settled: Settled, qtbot: object
) -> None:
    unread.show_file(1)
    settled()
    assert cell(unread, 1, "cost") == "600"
    unread.session.source_cost.set(SourceCost.INCLUSIVE)
    qtbot.waitUntil(lambda: cell(unread, 1, "cost") == "900")
    assert unread.how.currentText() == "Inclusive"


def test_clicks_go_to_the_code_and_come_back(opened: SourcePanel, settled: Settled) -> None:
    port = opened.view.viewport()
    left_click(port, opened.view.cell_rect(2, "text").center())
    assert opened.session.selection.value.source == (0, 3)
    assert opened.session.selection.value.line == 3, "the most expensive instruction of the line"
    left_click(port, opened.view.cell_rect(0, "text").center())
    assert opened.session.selection.value.source == (0, 3), "a line without code selects nothing"
    assert opened.view.current == 0
    opened.session.select_line(4)
    settled()
    assert opened.files.currentText().split()[0] == "lib/attn.py"
    assert opened.view.current == 1


def test_an_inline_chain_is_a_breadcrumb(opened: SourcePanel, settled: Settled) -> None:
    opened.session.select_line(2)
    settled()
    assert not opened.chain.isHidden()
    assert opened.chain.text().index("attn.py:2") < opened.chain.text().index("attn.py:3")
    opened.chain.linkActivated.emit("1:2")
    settled()
    assert opened.files.currentText().split()[0] == "lib/attn.py"
    assert opened.view.current == 1
    assert opened.session.selection.value.source == (0, 3), "looking at a caller selects nothing"


def test_hover_is_shared(unread: SourcePanel, ui: UiContext) -> None:
    move_mouse(unread.view.viewport(), unread.view.cell_rect(2, "text").center())
    assert ui.session.hover.value == Hover(source=(0, 3))
    ui.session.hover.set(Hover(line=1))
    assert unread.view.tinted == {1}


def test_a_file_without_a_copy_lists_its_lines(
    source: SourcePanel, ui: UiContext, open_settled: Callable
) -> None:
    code = code_table()
    code = replace(code, chain_file=np.where(code.chain_file == 0, 2, code.chain_file).astype(np.int32))
    open_settled(trace(code), [two_waves()])
    assert source.view.table.rowCount() == 2
    assert cell(source, 1, "line") == "3"
    assert source.note.text().startswith("The copy of lost.py is missing.")
    port = source.view.viewport()
    left_click(port, source.view.cell_rect(1, "line").center())
    assert ui.session.selection.value.source == (2, 3)


def test_a_line_behind_the_end_of_the_file_is_safe(source: SourcePanel, open_settled: Callable) -> None:
    short = (replace(SOURCES[0], lines=("import math",)), *SOURCES[1:])
    open_settled(trace(sources=short), [two_waves()])
    assert [cell(source, row, "line") for row in range(3)] == ["1", "2", "3"]
    source.session.select_line(3)
    assert source.view.current == 2
    source.view.viewport().grab()


def test_finding_marks_and_walks(unread: SourcePanel) -> None:
    assert unread.focus_search()
    QTest.keyClicks(unread.find_bar.field, "a")
    assert unread.find_bar.count.text() == "3 found"
    QTest.keyClick(unread.find_bar.field, Qt.Key.Key_Return)
    assert unread.view.current == 0
    QTest.keyClick(unread.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert unread.view.current == 2


def test_the_hottest_lines_come_one_after_the_other(opened: SourcePanel) -> None:
    opened.step_hottest(+1)
    assert opened.session.selection.value.source == (0, 3)
    opened.step_hottest(+1)
    assert opened.session.selection.value.source == (0, 2)
    opened.step_hottest(-1)
    assert opened.session.selection.value.source == (0, 3)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_are_stacked_by_kind_and_text_is_coloured(
    source: SourcePanel, ui: UiContext, open_settled: Callable, theme: str
) -> None:
    ui.settings["look.theme"] = theme
    open_settled(trace())
    image = source.view.viewport().grab().toImage()
    bar = source.view.cell_rect(2, "bar")
    colors = {image.pixelColor(x, bar.center().y()).rgb() for x in range(bar.left(), bar.right())}
    assert ui.theme.kind(TokenKind.IMMED).rgb() in colors
    assert ui.theme.kind(TokenKind.LDS).rgb() in colors
    text = source.view.cell_rect(2, "text")
    inks = {
        image.pixelColor(x, y).rgb()
        for x in range(text.left(), text.left() + 260)
        for y in range(text.top(), text.bottom())
    }
    assert ui.theme.syntax("keyword").rgb() in inks
    assert ui.theme.syntax("comment").rgb() in inks


def test_spans_are_told_line_by_line() -> None:
    lines = ('x = """one', 'two"""', "def f(): return 1  # why")
    found = spans("a.py", lines)
    assert (4, 10, "string") in found[0]
    assert found[1] == ((0, 6, "string"),)
    assert (0, 3, "keyword") in found[2]
    assert found[2][-1] == (19, 24, "comment")
    assert spans("a.unheard-of", ("x = 1",)) == ((),)
    assert spans("a.py", ()) == ()


def test_tabs_and_control_characters_are_made_visible() -> None:
    assert expanded("\tx\ty\r\n") == "    x   y"
    assert expanded("a\x00b\u2028c") == "a·b·c"


def test_a_source_of_another_trace_is_forgotten(source: SourcePanel, open_settled: Callable) -> None:
    open_settled(trace())
    other = (SourceFile("/src/z.py", ("z = 1",) * 3), *SOURCES[1:])
    open_settled(trace(sources=other))
    assert source.view.table.rowCount() == 3
    assert cell(source, 0, "text") == "z = 1"


@pytest.mark.parametrize("next_one", [trace(code_table(has_source=False), sources=()), trace(sources=())])
def test_nothing_of_a_source_of_another_trace_is_offered(
    next_one: Trace, unread: SourcePanel, settled: Settled
) -> None:
    """Menus ask what they can copy as soon as another capture is open."""

    def offers() -> list[object]:
        return [unread.command_line(), unread.sheet(), unread.shown_file, unread.lines]

    assert None not in offers()
    unread.session.open(next_one)
    assert offers() == [None] * 4
    unread.step_hottest(+1)
    unread.open_in_editor()
    settled()
    assert offers() == [None] * 4
    assert unread.session.selection.value.source is None


def with_lines(*lines: str) -> Trace:
    base = trace()
    return replace(base, sources=(replace(base.sources[0], lines=lines), *base.sources[1:]))


def test_numbers_beside_the_bar_take_no_room_of_80_characters(unread: SourcePanel) -> None:
    view = unread.view
    assert [column.id for column in view.table.columns] == ["line", "share", "bar", "cost", "text"]

    def shown() -> list[str]:
        return [one.id for at, one in enumerate(view.table.columns) if not view.isColumnHidden(at)]

    for width, expected in ((1000, "line share bar cost text"), (330, "line bar text")):
        unread.resize(width, 300)
        assert shown() == expected.split(), width
    unread.resize(740, 300)
    assert shown() == ["line", "bar", "text"]
    assert view.cell_rect(0, "text").left() <= 85
    assert view.chars_in(view.cell_rect(0, "text").width() - 2 * PAD) >= 80


def test_a_long_line_is_read_by_scrolling_sideways_while_numbers_stay(
    source: SourcePanel, open_settled: Callable
) -> None:
    long = "x = " + "value + " * 100 + "last"
    open_settled(with_lines("short", long))
    view = source.view
    assert view.tip(0, "text") == ""
    assert "last" in view.tip(1, "text")
    cell_box = view.cell_rect(1, "text")
    image = view.viewport().grab(cell_box).toImage()
    blank = view.theme.role("base").rgb()
    inked = [x for x in range(image.width()) for y in range(image.height()) if image.pixel(x, y) != blank]
    assert max(inked) > cell_box.width() - 4, "up to the edge, without a sign that there is more"
    number = view.viewport().grab(view.cell_rect(1, "line")).toImage()
    start = view.viewport().grab(cell_box).toImage()
    assert source.view.across.isVisible()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.viewport().grab(cell_box).toImage() != start
    view.across.setValue(view.across.maximum())
    image = view.viewport().grab(cell_box).toImage()
    inked = [x for x in range(image.width()) for y in range(image.height()) if image.pixel(x, y) != blank]
    assert cell_box.width() - 16 < max(inked) < cell_box.width(), "the end of the line"
    assert view.viewport().grab(view.cell_rect(1, "line")).toImage() == number
    open_settled(with_lines("short", "shorter"))
    assert not source.view.across.isVisible()


def test_a_selected_line_half_below_the_heading_comes_out_at_a_resize(
    source: SourcePanel, open_settled: Callable
) -> None:
    open_settled(with_lines("import fx", "def first():", *(f"    copy({n})" for n in range(60))))
    view = source.view
    view.set_current(30)
    view.verticalScrollBar().setValue(round(29.5 * view.row_height))
    assert view.heading == 1
    source.resize(700, source.height() + 10)
    assert view.row_top(30) >= view.row_height
    assert view.row_top(30) + view.row_height <= view.viewport().height()


def test_the_heading_has_the_letters_of_its_line(source: SourcePanel, open_settled: Callable) -> None:
    open_settled(with_lines("import fx", "def first(iiii, WWWW):", *(f"    copy({n})" for n in range(60))))
    view = source.view

    def inked() -> list[int]:
        """Return the columns of pixels with ink in the text of the row at the top."""
        box = view.cell_rect(1, "text")
        box.moveTop(0)
        box.setHeight(view.row_height - 1)
        image = view.viewport().grab(box).toImage()
        blank = image.pixel(image.width() - 1, 2)
        return [
            x for x in range(image.width()) if any(image.pixel(x, y) != blank for y in range(image.height()))
        ]

    view.verticalScrollBar().setValue(view.row_height)
    assert view.heading == -1
    as_line = inked()
    view.verticalScrollBar().setValue(30 * view.row_height)
    assert view.heading == 1
    assert inked() == as_line


def test_the_function_in_view_keeps_its_heading(source: SourcePanel, open_settled: Callable) -> None:
    body = [f"    copy({n})" for n in range(60)]
    open_settled(with_lines("import fx", "def first():", *body, "", "def second(a,", "           b):", *body))
    view = source.view
    view.verticalScrollBar().setValue(0)
    assert view.heading == -1
    view.verticalScrollBar().setValue(30 * view.row_height)
    assert view.heading == 1
    view.verticalScrollBar().setValue(80 * view.row_height)
    assert view.heading == 63
    left_click(view.viewport(), view.viewport().rect().topLeft())
    assert source.session.selection.value.source is None, "it is a way back, no line"


def test_functions_are_told_by_their_indentation() -> None:
    python = ("a = 1", "class A:", "    x = 2", "", "    def f(self):", "        return 3", "", "b = 4")
    assert headings(python).tolist() == [0, 0, 0, 2, 2, 2, 5, 5, 0]
    c = (
        "#pragma once", "__global__ void k(float* a,", "                  int n)", "{", "  for (;;) {",
        "    call(a,", "         n);", "  }", "}", "int main() {", "  return 0;", "}", "int g(int);",
        "int x;",
    )  # fmt: skip
    assert headings(c).tolist() == [0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 0, 10, 10, 0, 0]
    assert headings(()).tolist() == [0]


def test_spaces_that_all_lines_in_sight_begin_with_are_not_shown(
    source: SourcePanel, open_settled: Callable
) -> None:
    deep = ("def f():", *(" " * 24 + f"copy({n})" for n in range(60)), "", " " * 28 + "end()")
    base = trace()
    open_settled(replace(base, sources=(replace(base.sources[0], lines=deep), *base.sources[1:])))
    view = source.view
    view.verticalScrollBar().setValue(0)
    assert view.dedent == 0, "the first line begins at the edge"
    view.verticalScrollBar().setValue(20 * view.row_height)
    assert view.dedent == 24
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.dedent == 24, "a line without text has no indentation"
    view.verticalScrollBar().setValue(20 * view.row_height)
    place = view.cell_rect(25, "text")
    picture, blank = view.viewport().grab(place).toImage(), view.theme.role("base").rgb()
    inked = [x for x in range(picture.width()) for y in range(2, 14) if picture.pixel(x, y) != blank]
    assert min(inked) < 4 * view.char_px


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_usual_language_is_what_pygments_takes_such_a_file_for(suffix: str) -> None:
    by_name, by_file = get_lexer_by_name(LANGUAGES[suffix]), get_lexer_for_filename(f"kernel{suffix}")
    assert type(by_name) is type(by_file)


def test_a_usual_language_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """All patterns of pygments and all packages of the machine take a twentieth of a second."""
    monkeypatch.setattr("pygments.lexers.get_lexer_for_filename", None)
    assert [name for _, _, name in spans("a/kernel.py", ["def f():"])[0]] == ["keyword", "function"]


def test_a_file_without_a_copy_is_located(
    source: SourcePanel, open_settled: Callable, settled: Settled, tmp_path: Path
) -> None:
    lost = tuple(SourceFile(one.path, None, "There is no copy.") for one in SOURCES)
    name = Path(lost[0].path).name
    (tmp_path / name).write_text("found\n")
    open_settled(trace(sources=lost))
    source.show_file(0)
    settled()
    assert source.locate.isVisible()
    source.locate.click()
    (dialog,) = source.findChildren(LocateDialog)
    accept = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not accept.isEnabled()
    dialog.choose(tmp_path / "nowhere")
    dialog.choose(tmp_path)
    assert dialog.rule.text() == f"{lost[0].path.removesuffix('/' + name)}={tmp_path}"
    assert dialog.count_label.text().startswith("It finds 1 of ")
    accept.click()
    assert source.ui.settings["sources.map"] == dialog.rule.text()
    source.ui.settings["sources.map"] = ""


def test_a_file_with_a_copy_needs_no_place(unread: SourcePanel) -> None:
    assert not unread.locate.isVisible()


def test_the_selected_line_opens_in_the_editor_of_the_settings(
    source: SourcePanel,
    open_settled: Callable,
    settled: Settled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(locate, "start", lambda words, waits: started.append(words))
    path = Path(SOURCES[0].path)
    open_settled(trace())
    source.show_file(0)
    settled()
    source.open_in_editor()
    assert not started
    assert str(path) in source.note.text()
    (tmp_path / path.name).write_text("x\n")
    settings = source.ui.settings
    settings["sources.map"], settings["sources.editor"] = f"{path.parent}={tmp_path}", "clion"
    lines = source.view.lines
    assert lines is not None
    source.view.set_current(2)
    source.open_in_editor()
    assert started == [["clion", "--line", str(lines.number[2]), str(tmp_path / path.name)]]
    settings["sources.editor"] = "'"
    source.open_in_editor()
    assert "quote" in source.note.text()
    settings["sources.map"] = settings["sources.editor"] = ""
