"""Branch arrows and counts of the instruction table: those of the next instructions in the files."""

import json
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from rcv_py.features.isa.panel import IsaPanel
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.panel import UiContext
from tests.support import code_samples
from tests.support.fixtures import fixture_of
from tests.support.mouse import left_click
from tests.support.opened import load_all, sample_trace
from tests.support.plain_capture import PlainWave, plain
from tests.support.window_fixtures import Settled


def show(panel: IsaPanel, mode: str) -> None:
    panel.set_arrows(mode)


def steps(trace: Trace) -> Counter[tuple[int, int]]:
    """How often each branch was followed by each instruction, in any wave."""
    read = plain(trace.path)
    pairs = (
        (before.line, after.line)
        for wave in read.waves
        for before, after in zip(wave.tokens, wave.tokens[1:], strict=False)
    )
    return Counter(pair for pair in pairs if "branch" in read.text(pair[0]))


def jumps(trace: Trace) -> dict[tuple[int, int], int]:
    """The same without those that fell through."""
    return {(start, goal): times for (start, goal), times in steps(trace).items() if goal != start + 1}


def by_operands(trace: Trace) -> list[tuple[int, int]]:
    """Where branches lead: to the word that many words after the next instruction."""
    code = json.loads((trace.path / "code.json").read_text())["code"]
    rows = {row[5]: number for number, row in enumerate(code) if not row[0].startswith(";")}
    found = []
    for number, (text, *_, address) in enumerate(row[:6] for row in code):
        if "branch" in text:
            words = (int(text.split()[1]) + 0x8000) % 0x10000 - 0x8000
            found.append((number, rows[address + 4 + 4 * words]))
    return found


def waits(wave: PlainWave) -> set[tuple[int, int]]:
    return {(line, producer) for line, producers in wave.waits for producer in producers}


def ends(panel: IsaPanel) -> list[tuple[int, int]]:
    """Where arrows begin and end."""
    return list(zip(panel.view.arrows.source.tolist(), panel.view.arrows.target.tolist(), strict=True))


trace = fixture_of(sample_trace, "matmul_small")  # A loop in a loop
sampled = fixture_of(sample_trace, "pc_sampling")  # A capture without executions


@pytest.fixture
def isa(new_panel: Callable, open_settled: Callable, trace: Trace) -> IsaPanel:
    panel = new_panel(IsaPanel, 1000, 400)
    open_settled(trace, load_all(trace, workers=0))
    return panel


def test_counts_are_over_all_waves_and_stand_beside_the_rows(
    isa: IsaPanel, settled: Settled, trace: Trace
) -> None:
    show(isa, "branches")
    settled()
    expected = jumps(trace)
    assert set(ends(isa)) == expected.keys()
    assert len(ends(isa)) == len(expected) > 0
    for (start, goal), tip in zip(ends(isa), isa.view.arrow_tips, strict=True):
        taken, passed = expected[start, goal], steps(trace)[start, start + 1]
        assert f"jumped {taken} times ({100 * taken / (taken + passed):.1f} %)" in tip
        assert f"not taken {passed} times" in tip
        assert f"→ {goal} taken {taken}, not {passed}" in " ".join(isa.view.notes(start))
        whence = [one for one in expected if one[1] == goal]
        source = str(start) if len(whence) == 1 else f"{len(whence)} branches"
        assert f"from {source} ×{sum(expected[one] for one in whence)}" in " ".join(isa.view.notes(goal))


def test_branches_that_lead_to_one_row_are_counted_together(
    ui: UiContext, qtbot: object, settled: Settled, open_in: Callable
) -> None:
    """One jump of the first, two of the second."""
    panel = IsaPanel(ui)
    qtbot.addWidget(panel)
    row = ("s_cbranch_scc1 4", TokenKind.JUMP, 2, 8, 0, 0, ())
    code = code_samples.code_table((row, row, *(3 * code_samples.ROWS[-2:-1]), code_samples.ROWS[-1]))
    made = [
        code_samples.wave(0, "J|I", [0, 5]),
        code_samples.wave(1, "N|J|I", [0, 1, 5]),
        code_samples.wave(2, "N|J|I", [0, 1, 5]),
    ]
    open_in(code_samples.trace(code, waves=code_samples.waves_of(3)), [code_samples.batch(*made)])
    show(panel, "branches")
    settled()
    assert panel.view.notes(5) == ("from 2 branches ×3",)


def test_waits_branches_both_and_none(isa: IsaPanel, settled: Settled, ui: UiContext, trace: Trace) -> None:
    name = str(ui.session.selection.value.wave)
    (wave,) = (one for one in plain(trace.path).waves if one.name == name)
    wait, branch = len(waits(wave)), len(jumps(trace))
    noted = min(jumps(trace))[0]
    counts = {}
    for mode in ("waits", "branches", "both", "none"):
        show(isa, mode)
        settled()
        counts[mode] = len(isa.view.arrows)
        assert len(isa.view.arrow_tips) == counts[mode]
        assert any("taken" in note for note in isa.view.notes(noted)) == (mode in ("branches", "both"))
    assert counts == {"waits": wait, "branches": branch, "both": wait + branch, "none": 0}
    assert min(wait, branch) > 0
    assert "switched off" in isa.view.tip(0, "gutter")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_branches_have_a_colour_of_their_own_and_lead(
    isa: IsaPanel, ui: UiContext, settled: Settled, theme: str, trace: Trace
) -> None:
    source, target = min(jumps(trace))
    ui.settings["look.theme"] = theme
    show(isa, "both")
    settled()
    ui.session.select_line(source)
    settled()
    placed = isa.view.placed_arrows()
    sources = isa.view.arrows.source[placed.number]
    at = int(np.flatnonzero(sources == source)[0])
    x, y = float(placed.x[at]), float(placed.y_source[at])
    image = isa.view.viewport().grab().toImage()
    ink = ui.theme.role("text")
    # A thin line lies on one pixel or the next, as rows are high, and has gaps.
    found = [image.pixelColor(round(x) + to, round(y) + step) for to in range(2, 9) for step in (-1, 0, 1)]

    def apart(color: QColor) -> int:
        return min(
            sum(abs(a - b) for a, b in zip(one.getRgb(), color.getRgb(), strict=True)) for one in found
        )

    assert apart(ink) < 60
    assert min(apart(ui.theme.arrow(number)) for number in range(13)) > apart(ink)
    port = isa.view.viewport()
    left_click(port, QPointF(x + 1, y).toPoint())
    assert ui.session.selection.value.line == target


def test_a_sampling_capture_has_branches_by_their_operands(
    new_panel: Callable, open_settled: Callable, settled: Settled, sampled: Trace
) -> None:
    panel = new_panel(IsaPanel, 900, 400)
    open_settled(sampled)
    show(panel, "branches")
    settled()
    assert sorted(ends(panel)) == by_operands(sampled)
    assert len(panel.view.arrows) > 0
    assert "does not record how often" in panel.view.arrow_tips[0]
    show(panel, "waits")
    settled()
    assert panel.view.gutter_note
