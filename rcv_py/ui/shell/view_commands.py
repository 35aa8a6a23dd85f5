"""Commands that change how things look: panels, theme, units, sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from rcv_py.base.settings import BY_NAME
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.state.cell import Cell
from rcv_py.state.commands import Command
from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.docks import Dock, Workspace
from rcv_py.ui.shell.go_commands import NO_TRACE

T = TypeVar("T")

BAR_SCALES = {"linear": "Linear bars", "sqrt": "Square root bars", "log": "Logarithmic bars"}


def view_commands(ui: UiContext, workspace: Workspace) -> tuple[Command, ...]:
    """Return the menu View, the panels apart."""
    settings = ui.settings
    bars = tuple(
        Command(
            f"view.bars_{name}",
            title,
            "View/Cost bars",
            _set(settings, "isa.bar_scale", name),
            (f"Ctrl+Alt+{number}",),
            f"Draw {title.lower()} for costs.",
            is_checked=_is(settings, "isa.bar_scale", name),
        )
        for number, (name, title) in enumerate(BAR_SCALES.items(), start=1)
    )
    return (
        Command(
            "view.theme",
            "Switch light and dark",
            "View",
            ui.theme.toggle,
            ("Ctrl+Shift+L",),
            "Switch the colours of the window; everything else stays.",
        ),
        Command(
            "view.units",
            "Time in nanoseconds",
            "View",
            _flip(settings, "timeline.units", "cycles", "ns"),
            ("U",),
            "Label times in nanoseconds or in cycles.",
            is_checked=_is(settings, "timeline.units", "ns"),
        ),
        Command(
            "view.colors",
            "Colours of the reference viewer",
            "View",
            _flip(settings, "look.preset", "rcv", "reference"),
            ("Ctrl+Alt+C",),
            "Paint instructions and states in the colours of rocprof-compute-viewer.",
            is_checked=_is(settings, "look.preset", "reference"),
        ),
        *bars,
        Command(
            "view.idle",
            "Count idle time in cost bars",
            "View/Cost bars",
            lambda: _toggle(settings, "isa.show_idle"),
            ("Ctrl+Alt+I",),
            "Count the time in front of an instruction in its bar.",
            is_checked=lambda: settings["isa.show_idle"],
        ),
        _step(settings, "view.font_bigger", "Bigger code", "look.font_size", by=1, keys=("Ctrl++", "Ctrl+=")),
        _step(settings, "view.font_smaller", "Smaller code", "look.font_size", by=-1, keys=("Ctrl+-",)),
        _step(
            settings,
            "view.rows_taller",
            "Taller wave rows",
            "timeline.row_height",
            by=2,
            keys=("Ctrl+Shift+Up",),
        ),
        _step(
            settings,
            "view.rows_shorter",
            "Shorter wave rows",
            "timeline.row_height",
            by=-2,
            keys=("Ctrl+Shift+Down",),
        ),
        _step(
            settings,
            "view.global_taller",
            "Taller rows of the global timeline",
            "timeline.global_row_height",
            by=1,
            keys=("Alt+Shift+Up",),
        ),
        _step(
            settings,
            "view.global_shorter",
            "Shorter rows of the global timeline",
            "timeline.global_row_height",
            by=-1,
            keys=("Alt+Shift+Down",),
        ),
        Command(
            "view.fold_bottom",
            "Fold the bottom tabs",
            "View",
            lambda: workspace.fold_bottom(not workspace.is_bottom_folded),
            ("Ctrl+J",),
            "Show only the titles of the bottom tabs, or all of them.",
            is_checked=lambda: workspace.is_bottom_folded,
        ),
        Command(
            "view.reset_layout",
            "Reset the layout",
            "View",
            workspace.reset_layout,
            ("Ctrl+Alt+0",),
            "Put every panel back to where it was at first.",
        ),
    )


PANEL_KEYS = (
    "Alt",
    "Ctrl+Shift",
    "Alt+Shift",
    "Ctrl+Alt+Shift",
)  # with 1 to 9: the first nine panels, the next nine, …


def panel_commands(workspace: Workspace) -> tuple[Command, ...]:
    """Return a command a panel that shows or hides it."""
    return tuple(
        Command(
            f"view.panel_{name}",
            dock.info.title,
            "View/Panels",
            _toggle_panel(workspace, name),
            (f"{PANEL_KEYS[number // 9]}+{number % 9 + 1}",),
            f"Show or hide: {dock.info.tip}",
            is_checked=_is_shown(workspace, name),
        )
        for number, (name, dock) in enumerate(_movable(workspace))
    )


def analyze_commands(session: Session) -> tuple[Command, ...]:
    """Return the menu Analyze: what a cost means and which waves count."""

    def needs_trace() -> str:
        return "" if session.trace.value is not None else NO_TRACE

    modes = tuple(
        Command(
            f"analyze.{mode.name.lower()}",
            f"Latency: {mode.value.lower()}",
            "Analyze/Latency",
            _set_cell(session.latency_mode, mode),
            (f"Ctrl+{number}",),
            f"Cost columns show: {mode.value.lower()}.",
            why_not=needs_trace,
            is_checked=_is_cell(session.latency_mode, mode),
        )
        for number, mode in enumerate(LatencyMode, start=1)
    )
    costs = tuple(
        Command(
            f"analyze.{cost.value}",
            f"{cost.value.capitalize()} source cost",
            "Analyze/Source cost",
            _set_cell(session.source_cost, cost),
            (f"Ctrl+{number}",),
            _COST_TIPS[cost],
            why_not=needs_trace,
            is_checked=_is_cell(session.source_cost, cost),
        )
        for number, cost in enumerate(SourceCost, start=len(LatencyMode) + 1)
    )
    return modes + costs


_COST_TIPS = {
    SourceCost.SELF: "Charge an instruction to the innermost source line it came from.",
    SourceCost.INCLUSIVE: "Charge an instruction to every source line it was inlined through.",
}


def _movable(workspace: Workspace) -> list[tuple[str, Dock]]:
    docks = [(name, dock) for name, dock in workspace.docks.items() if not dock.is_strip]
    order = ("left", "top", "center", "center_right", "bottom", "right")
    rank = {area: place for place, area in enumerate(order)}
    return sorted(docks, key=lambda item: (rank.get(item[1].info.area.split("_b")[0], 9), item[1].info.order))


def _step(
    settings: Settings, name: str, title: str, option: str, *, by: int, keys: tuple[str, ...]
) -> Command:
    bounds = BY_NAME[option]

    def run() -> None:
        settings[option] = min(max(settings[option] + by, bounds.low), bounds.high)

    def why_not() -> str:
        at_end = settings[option] >= bounds.high if by > 0 else settings[option] <= bounds.low
        return f"It is as {'big' if by > 0 else 'small'} as it gets." if at_end else ""

    return Command(name, title, "View", run, keys, f"{title}: {bounds.text}", why_not)


def _set(settings: Settings, option: str, value: object) -> Callable[[], None]:
    return lambda: settings.__setitem__(option, value)


def _is(settings: Settings, option: str, value: object) -> Callable[[], bool]:
    return lambda: settings[option] == value


def _flip(settings: Settings, option: str, one: str, other: str) -> Callable[[], None]:
    return lambda: settings.__setitem__(option, one if settings[option] == other else other)


def _toggle(settings: Settings, option: str) -> None:
    settings[option] = not settings[option]


def _set_cell(cell: Cell[T], value: T) -> Callable[[], None]:
    return lambda: cell.set(value)


def _is_cell(cell: Cell[T], value: T) -> Callable[[], bool]:
    return lambda: cell.value is value


def _toggle_panel(workspace: Workspace, name: str) -> Callable[[], None]:
    # All these keys hold a modifier; who clicks in the menu holds none.
    return lambda: workspace.toggle_panel(
        name, by_key=QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier
    )


def _is_shown(workspace: Workspace, name: str) -> Callable[[], bool]:
    return lambda: workspace.is_shown(name)
