"""What the bars of the instruction table show, on which scale, and why not."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QImage

from rcv_py.analysis.cost.annotations import Annotation
from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.base import colors
from rcv_py.features.isa.ink import pieces
from rcv_py.features.isa.panel import IsaPanel
from rcv_py.features.isa.rows import IsaRows, isa_rows
from rcv_py.model.kinds import TokenKind
from rcv_py.state.selection import Selection
from rcv_py.ui.core import shared_results
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.shared_results import SharedResults
from tests.support.code_samples import trace, two_waves
from tests.support.window_fixtures import Settled, opened_fixture, panel_fixture
from tests.ui.window import legend_names

isa_alone = panel_fixture(IsaPanel, 1000, 400)
isa = opened_fixture("isa_alone", lambda: (trace(), [two_waves()]))


def choose(panel: IsaPanel, mode: Annotation) -> None:
    """Pick an entry of the menu in the header."""
    menu = panel.view.header.column_menu("cost")
    next(action for action in menu.actions() if action.text() == mode.value).trigger()


def lengths(panel: IsaPanel, row: int, color) -> int:
    """How many pixels of a colour a row's bar has."""
    image: QImage = panel.view.viewport().grab().toImage()
    box = panel.view.cell_rect(row, "cost")
    return sum(
        image.pixelColor(x, box.center().y() - 2).rgb() == color.rgb() for x in range(box.left(), box.right())
    )


def test_the_menu_names_every_mode_and_says_why_not(isa: IsaPanel) -> None:
    actions = {action.text(): action for action in isa.view.header.column_menu("cost").actions()}
    assert [name for name in actions if name in {mode.value for mode in Annotation}] == [
        mode.value for mode in Annotation
    ]
    assert not actions[Annotation.REASONS.value].isEnabled()
    assert "PC samples" in actions[Annotation.REASONS.value].toolTip()
    assert actions[Annotation.KINDS.value].isEnabled()
    assert actions[Annotation.TOTAL.value].isChecked()


def test_kinds_have_the_colours_of_kinds(isa: IsaPanel, ui: UiContext, qtbot: object) -> None:
    choose(isa, Annotation.KINDS)
    qtbot.waitUntil(lambda: isa.view.bars.bars.mode is Annotation.KINDS)
    assert "MFMA/WMMA" in legend_names(isa.view.legend)
    assert lengths(isa, 4, ui.theme.kind(TokenKind.MATRIX)) > 10
    assert "MFMA/WMMA 12 (100.0 % of the instruction)" in isa.view.tip(4, "cost")
    assert isa.view.table.columns[isa.view.table.column_of("cost")].heading == "kinds"


def test_latency_above_stall(isa: IsaPanel, ui: UiContext, settled: Settled, qtbot: object) -> None:
    choose(isa, Annotation.LATENCY_STALL)
    qtbot.waitUntil(lambda: isa.view.bars.bars.lanes == 2)
    settled()
    image = isa.view.viewport().grab().toImage()
    box = isa.view.cell_rect(3, "cost")
    x = box.left() + 12
    assert image.pixelColor(x, box.center().y() - 3).rgb() == ui.theme.kind(TokenKind.IMMED).rgb()
    assert image.pixelColor(x, box.center().y() + 4).rgb() == ui.theme.role("stall").rgb()


def test_numbers_of_a_row_are_exact_and_have_shares(isa: IsaPanel) -> None:
    tip = isa.view.tip(3, "cost")
    assert "stall 1,990 (99.0 % of the instruction)" in tip
    assert "together 2,010, 64.6 % of all" in tip
    assert "block 1: instructions 2 to 6, in 1 loop" in tip
    assert "attn.py:3 <tt>return a" in tip
    assert "0x1018 in object 4" in tip
    assert "hit 2 of 2 in se0/simd0/slot0/wv0" in tip, "the median"
    assert "2 hits in se0/simd0/slot0/wv0" in isa.view.tip(2, "cost")


def test_the_tip_counts_the_selected_hit(isa: IsaPanel, ui: UiContext) -> None:
    ui.session.select(Selection(ui.session.selection.value.wave, 3, 1))
    assert "hit 2 of 2 in se0/simd0/slot0/wv0" in isa.view.tip(3, "text")


def test_the_choice_is_remembered(isa: IsaPanel, ui: UiContext, settled: Settled, qtbot: object) -> None:
    choose(isa, Annotation.LATENCY_STALL)
    isa.view.set_fold_by("label")
    state = isa.save_state()
    other = IsaPanel(ui)
    qtbot.addWidget(other)
    other.load_state(state)
    settled()
    assert other.facts.mode is Annotation.LATENCY_STALL
    assert other.view.fold_by == "label"
    other.load_state({"bars": "nonsense", "fold_by": 3, "gutter": None})
    assert other.facts.mode is Annotation.LATENCY_STALL


def test_hidden_cycles_come_from_the_shared_result(
    ui: UiContext,
    qtbot: object,
    settled: Settled,
    open_settled: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = np.zeros(8, dtype=np.int64)
    hidden = HiddenLatency(none, np.array([0, 0, 0, 990, 0, 0, 0, 0]), none, "")
    jobs = shared_results.JOBS | {"hidden": lambda trace, batches: hidden}
    monkeypatch.setattr(shared_results, "JOBS", jobs)

    ui = replace(ui, results=SharedResults(ui.session, ui.scheduler))
    panel = IsaPanel(ui)
    qtbot.addWidget(panel)
    panel.resize(1000, 400)
    panel.show()
    open_settled(trace(), [two_waves()])
    choose(panel, Annotation.NONHIDDEN)
    qtbot.waitUntil(lambda: panel.view.bars.bars.mode is Annotation.NONHIDDEN)
    settled()
    assert panel.note.text() == ""
    stall = lengths(panel, 3, ui.theme.role("stall"))
    covered = lengths(panel, 3, ui.theme.role("hidden"))
    assert abs(stall / covered - 1000 / 990) < 0.05
    assert "hidden 990" in panel.view.tip(3, "cost")


def test_a_mode_that_cannot_be_shown_is_explained(isa: IsaPanel, settled: Settled, qtbot: object) -> None:
    isa.set_annotation(Annotation.REASONS)
    qtbot.waitUntil(isa.note.isVisible)
    assert "PC samples" in isa.note.text()
    assert isa.view.bars.bars.mode is Annotation.TOTAL
    isa.set_annotation(Annotation.TOTAL)
    settled()
    qtbot.waitUntil(lambda: not isa.note.isVisible())


def test_instructions_are_cut_into_pieces() -> None:
    text = "buffer_load_dwordx4 v[10:13], v1, s[4:7], 0 offen offset:16 // 00"
    found = [(text[start:stop], name) for start, stop, name in pieces(text) if name != "plain"]
    assert found == [
        ("buffer_load_dwordx4", "mnemonic"),
        ("v[10:13]", "vector"),
        ("v1", "vector"),
        ("s[4:7]", "scalar"),
        ("0", "number"),
        ("offen", "word"),
        ("offset:", "modifier"),
        ("16", "number"),
        ("// 00", "comment"),
    ]
    for text in ("", "s_endpgm", "s_branch .LBB0_3", "x  ::[", "s_waitcnt vmcnt(0) & lgkmcnt(1)", "é ü"):
        joined = "".join(text[start:stop] for start, stop, _ in pieces(text))
        assert joined == text
    dual = "v_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6"
    named = [dual[start:stop] for start, stop, name in pieces(dual) if name == "mnemonic"]
    assert named == ["v_dual_add_f32", "v_dual_mul_f32"]
    assert "label" in {name for _, _, name in pieces("s_branch .LBB0_3")}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("preset", ["rcv", "reference"])
def test_mnemonics_can_be_read_on_every_row(ui: UiContext, theme: str, preset: str) -> None:
    ui.settings["look.theme"], ui.settings["look.preset"] = theme, preset
    for kind in TokenKind:
        for background in ("base", "hover", "accent_soft"):
            ratio = colors.contrast(ui.theme.kind_text(kind).name(), ui.theme.role(background).name())
            assert ratio >= 4.5, (kind, background)


def test_mnemonics_have_colours_and_rows_that_never_ran_are_dim(isa: IsaPanel, ui: UiContext) -> None:
    def inks(row: int) -> set[int]:
        image, box = isa.view.viewport().grab().toImage(), isa.view.cell_rect(row, "text")
        return {
            image.pixelColor(x, y).rgb()
            for x in range(box.left(), box.right(), 1)
            for y in range(box.top() + 2, box.bottom() - 2)
        }

    matrix, valu = ui.theme.kind_text(TokenKind.MATRIX).rgb(), ui.theme.kind_text(TokenKind.VALU).rgb()
    assert matrix in inks(4)
    assert valu not in inks(5), "row 5 never ran"
    assert ui.theme.role("muted").rgb() in inks(5)


def shown_width(panel: IsaPanel, column: str) -> int:
    """How many pixels of a column are in sight."""
    view = panel.view
    at = view.table.column_of(column)
    left = view.columnViewportPosition(at)
    return min(view.columnWidth(at), view.viewport().width() - left)


def test_bars_are_in_sight_when_there_is_little_room_and_wide_when_there_is_much(isa: IsaPanel) -> None:
    isa.resize(545, 400)
    assert shown_width(isa, "cost") >= 40
    assert shown_width(isa, "text") >= 270
    isa.resize(1400, 400)
    assert shown_width(isa, "cost") >= 250


def test_a_result_that_the_bars_do_not_show_takes_no_rows_again(
    isa: IsaPanel, ui: UiContext, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Annotation] = []
    monkeypatch.setattr(
        "rcv_py.features.isa.panel.isa_rows",
        lambda *given: taken.append(given[3]) or isa_rows(*given),
    )
    settled()
    ui.results.want("attribution")
    settled()
    assert ui.results.cell("attribution").value is not None
    assert taken == []
    choose(isa, Annotation.CAUSES)
    settled()
    assert taken == [Annotation.CAUSES]
    ui.results.cell("attribution").notify()
    settled()
    assert taken == [Annotation.CAUSES]


def test_the_first_rows_are_taken_once_with_branches(
    isa_alone: IsaPanel,
    ui: UiContext,
    open_settled: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[IsaRows] = []
    take = isa_alone._take_rows
    monkeypatch.setattr(isa_alone, "_take_rows", lambda rows: taken.append(rows) or take(rows))
    open_settled(trace(), [two_waves()])
    assert len(taken) == 1
    assert taken[0].program.branches is not None
    assert taken[0].program.branches is ui.results.cell("branches").value
