"""Actions of the instruction panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcv_py.state.commands import Command
from rcv_py.ui.panels.isa.bar import next_of

NO_ROWS = "Open a capture with instructions first."
NO_COST = "No instruction has a cost."


def isa_commands(panel: Any) -> tuple[Command, ...]:
    """Return the actions of an instruction panel: hottest rows, bars, arrows, folds."""
    view, bar, settings = panel.view, panel.bar, panel.ui.settings

    def no_cost() -> str:
        return "" if panel.has_costs else NO_COST

    def no_rows() -> str:
        return "" if panel.has_rows else NO_ROWS

    def next_bars() -> None:
        bar.annotation.setCurrentIndex(next_of(bar.annotation))
        panel.set_annotation(bar.annotation.currentData())

    def next_arrows() -> None:
        bar.gutter.setCurrentIndex(next_of(bar.gutter))
        bar.gutter.activated.emit(bar.gutter.currentIndex())

    def other_folds() -> None:
        view.set_fold_by("label" if view.fold_by == "block" else "block")

    rows: tuple[tuple[str, str, str, str, Callable[[], None], str, Callable[[], str]], ...] = (
        ("next_hottest", "Next hottest instruction", "Go", "M", lambda: panel.step_hottest(+1),
         "Select the instruction that costs most after the selected one.", no_cost),
        ("previous_hottest", "Previous hottest instruction", "Go", "Shift+M",
         lambda: panel.step_hottest(-1), "Select the instruction that costs most before the selected one.",
         no_cost),
        ("next_bars", "Next kind of bars", "Analyze/Listing", "Ctrl+Alt+A", next_bars,
         "Show something else in the bars beside the instructions.", no_rows),
        ("next_scale", "Next scale of bars", "Analyze/Listing", "Ctrl+Alt+S", bar.next_scale,
         "Draw the bars beside the instructions on another scale.", no_rows),
        ("next_arrows", "Next kind of arrows", "Analyze/Listing", "Ctrl+Alt+W", next_arrows,
         "Show arrows of waits, of branches, both or none.", no_rows),
        ("fold_all", "Fold all blocks", "Analyze/Listing", "Ctrl+Alt+-", view.fold_all,
         "Show one row for each block.", no_rows),
        ("unfold_all", "Unfold all blocks", "Analyze/Listing", "Ctrl+Alt+=", lambda: view.fold_all(False),
         "Show every instruction.", no_rows),
        ("fold_cold", "Fold cold blocks", "Analyze/Listing", "Ctrl+Alt+F",
         lambda: view.fold_cold(settings["isa.cold_permille"] / 1000),
         "Fold what never ran or costs next to nothing, and unfold the rest.", no_rows),
        ("fold_by", "Fold by blocks or by labels", "Analyze/Listing", "Ctrl+Alt+B", other_folds,
         "Change what is folded: basic blocks, or everything from a label to the next.", no_rows),
    )  # fmt: skip
    return (
        *(
            Command(f"isa.{name}", title, menu, run, (keys,), tip, why)
            for name, title, menu, keys, run, tip, why in rows
        ),
        Command(
            "isa.color_text",
            "Colour instructions by unit",
            "Analyze/Listing",
            lambda: settings.__setitem__("isa.color_text", not settings["isa.color_text"]),
            ("Ctrl+Alt+X",),
            "Colour mnemonics by the unit they run on, and their operands.",
            is_checked=lambda: settings["isa.color_text"],
        ),
    )
