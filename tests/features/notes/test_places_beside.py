"""The source place stands behind the text of an instruction: at hits of the search and at wait arrows."""

from collections.abc import Callable
from typing import Any

from rcv_py.features.isa.panel import IsaPanel
from rcv_py.features.notes.search_panel import MatchesPanel
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.table.column_widths import PAD
from tests.support import code_samples
from tests.support.window_fixtures import Settled


def place(row: int) -> str:
    """The place behind the text of a row of the sample, by the table it was made from."""
    chain = code_samples.ROWS[row][6]
    if not chain:
        return ""
    file, line = chain[0]
    return f"  {('kernels/attn.py', 'lib/attn.py', 'lost.py')[file]}:{line}"


def test_hits_of_the_search_name_the_places_of_instructions(
    ui: UiContext, open_in: Callable, settled: Settled, qtbot: Any
) -> None:
    panel = MatchesPanel(ui)
    qtbot.addWidget(panel)
    open_in(code_samples.trace())
    ui.session.query.set(SearchQuery("a"))
    panel._soon.now()
    settled()
    rows = list(panel.sheet().rows)
    expected = [
        f"{code_samples.ROWS[line][0]}{place(line)}" if line >= 0 else text
        for line, text in zip(panel.hits.lines, panel.hits.text, strict=True)
    ]
    assert [text for _, text in rows] == expected
    assert any(line >= 0 and place(line) for line in panel.hits.lines)
    assert any(line < 0 for line in panel.hits.lines)  # lines of the sources, which are places themselves


def test_the_number_of_a_hit_is_whole(
    new_panel: Callable, ui: UiContext, open_in: Callable, settled: Settled
) -> None:
    panel = new_panel(MatchesPanel, 260, 300)
    open_in(code_samples.trace())
    ui.session.query.set(SearchQuery("a"))
    panel._soon.now()
    settled()
    table = panel.view.table
    at = table.column_of("where")
    room = panel.view.chars_in(panel.view.columnWidth(at) - 2 * PAD)
    shown = [table.shown_text(row, at) for row in range(table.rowCount())]
    assert [text for text, line in zip(shown, panel.hits.lines, strict=True) if line >= 0] == [
        str(line) for line in panel.hits.lines if line >= 0
    ]
    assert all(len(text) <= room for text in shown), "file and line of a source are whole, too"


def test_wait_arrows_name_both_places(
    new_panel: Callable, open_in: Callable, settled: Settled, qtbot: Any
) -> None:
    panel = new_panel(IsaPanel, 900, 400)
    open_in(code_samples.trace(), [code_samples.two_waves()])
    qtbot.waitUntil(lambda: len(panel.view.arrows) > 0)
    settled()
    arrows = panel.view.arrows
    for tip, source, target in zip(
        panel.view.arrow_tips, arrows.source.tolist(), arrows.target.tolist(), strict=True
    ):
        lines = tip.splitlines()
        assert lines[0] == f"{source}  {code_samples.ROWS[source][0]}{place(source)}"
        assert lines[1] == f"→ {target}  {code_samples.ROWS[target][0]}{place(target)}"
    assert any(place(row) for row in (*arrows.source.tolist(), *arrows.target.tolist()))
