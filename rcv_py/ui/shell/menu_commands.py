"""Commands of the menus Go, View and Analyze, and the choice of the waves that panels explain."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup, QGuiApplication
from PySide6.QtWidgets import QMenu, QToolButton

from rcv_py.analysis.waves.populations import ALL, WORKING, Populations, ran_text
from rcv_py.base.settings import BY_NAME
from rcv_py.base.text import Message, percent, plural, translated
from rcv_py.model.modes import LatencyMode, SourceCost, Which
from rcv_py.state.cell import Cell
from rcv_py.state.commands import Command, always, commands
from rcv_py.state.note_places import place_of_selection, why_no_note
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import add_action, button_text, tooltip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.shell.layouts import LAYOUTS, Layout
from rcv_py.ui.shell.workspace import Workspace
from rcv_py.ui.timeline.time_plot import FAR
from rcv_py.ui.timeline.time_plot import KEY_PAN as PAN
from rcv_py.ui.timeline.time_plot import KEY_ZOOM as ZOOM

NO_TRACE = "Open a capture first."


def needs(
    session: Session, has: Callable[[], object] = lambda: True, otherwise: str = ""
) -> Callable[[], str]:
    """Return a function that gives the reason why a command cannot run: no capture, or `has` is missing."""
    return lambda: NO_TRACE if session.trace.value is None else "" if has() else otherwise


def holds(cell: Cell[Any], value: object) -> Callable[[], bool]:
    """Return a function that tests whether a cell has a value."""
    return lambda: cell.value == value


EXECUTIONS = (  # of the selected instruction, in any wave that counts
    ("go.fastest_hit", "Fastest hit of this instruction", "Alt+Home", Which.FASTEST,
     "Select the fastest execution of this instruction in any wave that counts."),
    ("go.median_hit", "Median hit of this instruction", "Alt+\\", Which.MEDIAN,
     "Select the execution of this instruction whose latency is nearest to the median of all."),
    ("go.slowest_hit", "Slowest hit of this instruction", "Alt+End", Which.SLOWEST,
     "Select the slowest execution of this instruction in any wave that counts."),
    ("go.faster_hit", "Next faster hit of this instruction", "Alt+[", Which.FASTER,
     "Select the hit of this instruction that took next less time, in any wave."),
    ("go.slower_hit", "Next slower hit of this instruction", "Alt+]", Which.SLOWER,
     "Select the hit of this instruction that took next more time, in any wave."),
)  # fmt: skip


def go_commands(session: Session) -> tuple[Command, ...]:
    """Return the menu Go."""

    def fit_wave() -> None:
        if (wave := session.selection.value.wave) is not None:
            session.fit_wave(wave)

    def is_marked() -> bool:
        marks = (session.measure, session.between, session.isolated_wait)
        return any(mark.value is not None for mark in marks)

    def dismiss() -> None:
        if session.measure.value is None and session.between.value is None:
            session.isolated_wait.set(None)
        session.measure.set(None)
        session.between.set(None)

    trace = needs(session)
    wave = needs(session, lambda: session.wave() is not None, "Select a wave whose instructions are loaded.")
    line = needs(session, session.hits, "Select an instruction that the wave ran.")
    past = needs(session, lambda: session.history.can_go(-1), "There is no earlier place.")
    future = needs(session, lambda: session.history.can_go(1), "There is no later place.")
    place = needs(session, lambda: str(session.selection.value), "Select something first.")
    execution = partial(why_no_execution, session)
    mark = needs(session, is_marked, "Nothing is measured or isolated.")
    return (
        *commands("Go", (
            ("go.back", "Back", "Alt+Left", session.back, "Go to the previous place.", past),
            ("go.forward", "Forward", "Alt+Right", session.forward, "Undo going back.", future),
        )),
        *commands("Go/Time", (
            ("go.zoom_in", "Zoom in", "W =", lambda: session.zoom(ZOOM), "Show less time.", trace),
            ("go.zoom_out", "Zoom out", "S -", lambda: session.zoom(1 / ZOOM), "Show more time.", trace),
            ("go.earlier", "Earlier", "A Left", lambda: session.pan(-PAN), "Move to earlier time.", trace),
            ("go.later", "Later", "D Right", lambda: session.pan(PAN), "Move to later time.", trace),
            ("go.fit", "Fit the selection", "F", session.fit_selection,
             "Show the measured range, the selected instruction or the selected wave.", trace),
            ("go.fit_wave", "Fit the wave", "Shift+F", fit_wave, "Show the whole selected wave.", trace),
            ("go.all", "Fit everything", "0", session.fit_all, "Show the whole capture.", trace),
            ("go.start", "Begin", "Home", lambda: session.pan(-FAR), "Move to the begin of the capture.",
             trace),
            ("go.end", "End", "End", lambda: session.pan(FAR), "Move to the end of the capture.", trace),
        )),
        *commands("Go/Executions", (
            ("go.previous_token", "Previous instruction", ",", lambda: session.step_token(-1),
             "Select the instruction the wave ran before.", wave),
            ("go.next_token", "Next instruction", ".", lambda: session.step_token(1),
             "Select the instruction the wave ran next.", wave),
            ("go.previous_hit", "Previous hit", "[", lambda: session.step_hit(-1),
             "Select the previous execution of this instruction.", line),
            ("go.next_hit", "Next hit", "]", lambda: session.step_hit(1),
             "Select the next execution of this instruction.", line),
            *(
                (name, title, keys, partial(session.select_execution, which), tip, execution)
                for name, title, keys, which, tip in EXECUTIONS
            ),
        )),
        *commands("Go/Waves", (
            ("go.previous_wave", "Previous wave", "Ctrl+Up", lambda: _step_wave(session, -1),
             "Select the wave before; the instruction stays selected.", trace),
            ("go.next_wave", "Next wave", "Ctrl+Down", lambda: _step_wave(session, 1),
             "Select the wave after; the instruction stays selected.", trace),
        )),
        *commands("Go", (
            ("go.bookmark", "Bookmark this place", "B", session.toggle_bookmark,
             "Keep this place in the history, or forget it.", place),
            ("go.note", "Write a note …", "Shift+N", lambda: session.notes.write(place_of_selection(session)),
             "Write a note about the measured range, else about what is selected.",
             lambda: why_no_note(session)),
            ("go.dismiss", "Dismiss measure or isolation", "Esc", dismiss,
             "Take away the measured range, then the isolated arrows.", mark),
        )),
    )  # fmt: skip


def why_no_execution(session: Session) -> str:
    """Return why there is no execution of the selected instruction, "" if there is one."""
    trace, line = session.trace.value, session.selection.value.line
    if trace is None:
        return NO_TRACE
    if not len(trace.waves):
        return "The capture has no traced waves."
    if line is None or not 0 <= line < len(trace.code):
        return "Select an instruction that was executed first."
    is_run = trace.code.hits[line] > 0 or session.hits() > 0
    return "" if is_run else "No traced wave ran the selected instruction."


def _step_wave(session: Session, direction: int) -> None:
    """Select the next (+1) or previous (-1) wave of the index."""
    trace, row = session.trace.value, session.wave_row
    if trace is not None and row is not None and 0 <= row + direction < len(trace.waves):
        session.select_wave(trace.waves.id(row + direction))


STEP_PX = 40
SIZES = (  # id, title, option, step, keys
    ("view.font_bigger", "Bigger text", "look.text_size", 1, " ".join(("Ctrl++", "Ctrl+="))),
    ("view.font_smaller", "Smaller text", "look.text_size", -1, "Ctrl+-"),
    ("view.code_bigger", "Bigger code", "look.font_size", 1, "Ctrl+Alt++"),
    ("view.code_smaller", "Smaller code", "look.font_size", -1, "Ctrl+Alt+Shift+-"),
    ("view.rows_taller", "Taller wave rows", "timeline.row_height", 2, "Ctrl+Shift+Up"),
    ("view.rows_shorter", "Shorter wave rows", "timeline.row_height", -2, "Ctrl+Shift+Down"),
    ("view.global_taller", "Taller rows of the global timeline", "timeline.global_row_height", 1,
     "Alt+Shift+Up"),
    ("view.global_shorter", "Shorter rows of the global timeline", "timeline.global_row_height", -1,
     "Alt+Shift+Down"),
)  # fmt: skip
AREA_SIZES = (  # what a handle between panels does: direction, key, px across and down
    ("wider", "Right", (STEP_PX, 0)), ("narrower", "Left", (-STEP_PX, 0)),
    ("taller", "Down", (0, STEP_PX)), ("lower", "Up", (0, -STEP_PX)),
)  # fmt: skip
AREAS = {  # in the order of the panels' keys, and of the menus that list them
    "left": "Left side", "time": "Time", "code": "Code", "source": "Code", "wave": "Right side",
    "details": "Right side", "bottom": "Bottom", "apart": "Windows of their own",
}  # fmt: skip
COST_TIPS = {
    SourceCost.SELF: "Charge an instruction to the innermost source line it came from.",
    SourceCost.INCLUSIVE: "Charge an instruction to every source line it was inlined through.",
}


def view_commands(ui: UiContext, workspace: Workspace) -> tuple[Command, ...]:
    """Return the commands of the menu View, without the panels."""
    settings = ui.settings

    def switch(option: str, on: object, off: object, tip: str) -> tuple[Any, ...]:
        """Return the end of the row of a command that gives an option one of two values."""

        def run() -> None:
            settings[option] = off if settings[option] == on else on

        return run, tip, always, lambda: settings[option] == on

    def fold(side: str, tip: str) -> tuple[Any, ...]:
        def run() -> None:
            workspace.fold(side, side not in workspace.folded)

        return run, tip, always, lambda: side in workspace.folded

    def is_layout(layout: Layout) -> bool:
        return workspace.layout_.id == layout.id

    return (
        *commands("View", (
            ("view.theme", "Switch light and dark", "Ctrl+Shift+L", ui.theme.toggle,
             "Switch the colours of the window; everything else stays."),
            ("view.units", "Time in nanoseconds", "U",
             *switch("timeline.units", "ns", "cycles", "Label times in nanoseconds or in cycles.")),
            ("view.colors", "Colours of the reference viewer", "Ctrl+Alt+C",
             *switch("look.preset", "reference", "rcv",
                     "Paint instructions and states in the colours of rocprof-compute-viewer.")),
        )),
        *commands("View/Cost bars", (
            ("view.idle", "Count idle time in cost bars", "Ctrl+Alt+I",
             *switch("isa.show_idle", True, False,
                     "Count the idle time before an instruction in its bar.")),
        )),
        *commands("View/Sizes", (_size_row(settings, size) for size in SIZES)),
        *commands("View/Sizes", (
            (f"view.area_{name}", Message("{0} panel", name.capitalize()), f"Ctrl+Alt+{key}",
             partial(workspace.grow, *by), Message("Make the panel that has the focus {0}.", name))
            for name, key, by in AREA_SIZES
        )),
        *commands("View", (
            ("view.fold_bottom", "Fold the bottom tabs", "Ctrl+J",
             *fold("bottom", "Show only the titles of the bottom tabs, or all of them.")),
            ("view.fold_left", "Fold the left side", "Ctrl+B",
             *fold("left", "Show only icons at the left, or the panels there.")),
            ("view.fold_right", "Fold the right side", "Ctrl+Shift+B",
             *fold("right", "Show only icons at the right, or the panels there.")),
            ("view.only_code", "Only code", "F8", workspace.toggle_only_code,
             "Give instructions and source the whole window, or put everything back.", always,
             lambda: workspace.is_only_code),
            ("view.pin_time", "A second time view", "Ctrl+Alt+T", workspace.pin_time,
             "Show a second time view below the first, with the same range, or put it back.", always,
             lambda: bool(workspace.group("time_below"))),
        )),
        *commands("View/Layout", (
            (f"view.layout_{layout.id}", layout.title, f"Alt+{number}",
             partial(workspace.use_layout, layout), layout.tip, always, partial(is_layout, layout))
            for number, layout in enumerate(LAYOUTS, start=1)
        )),
        *commands("View", (
            ("view.move_panel", "Move the panel …", "Ctrl+Alt+P", workspace.move_focused,
             "Move the panel that has the focus to another place, or to a window of its own."),
            ("view.reopen_panel", "Reopen the closed panel", "Ctrl+Shift+T", workspace.reopen_panel,
             "Show the panel that was closed last where it was.",
             lambda: "" if workspace.closed else "No panel was closed."),
            ("view.reset_layout", "Reset the layout", "Ctrl+Alt+0", workspace.reset_layout,
             "Put every panel, and every column of a table, back to where it was at first."),
        )),
    )  # fmt: skip


def _size_row(settings: Settings, size: tuple[str, str, str, int, str]) -> tuple[Any, ...]:
    name, title, option, by, keys = size
    bounds = BY_NAME[option]

    def run() -> None:
        settings[option] = min(max(settings[option] + by, bounds.low), bounds.high)

    def why_not() -> str:
        at_end = settings[option] >= bounds.high if by > 0 else settings[option] <= bounds.low
        return Message("It is as {0} as it gets.", "big" if by > 0 else "small") if at_end else ""

    return name, title, keys, run, Message("{0}: {1}", title, bounds.text), why_not


def panel_commands(workspace: Workspace) -> tuple[Command, ...]:
    """Return one command per panel that shows or hides it; a menu per area keeps each menu short."""

    def toggle(name: str) -> None:  # all these keys include a modifier; a click in the menu has none
        is_key = QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier
        workspace.toggle_panel(name, by_key=is_key)

    rank = {area: place for place, area in enumerate(AREAS)}
    docks = [dock for dock in workspace.docks.values() if not dock.is_strip]
    infos = (info for dock in docks for info in (dock.info, *dock.parts))
    return tuple(
        Command(id=f"view.panel_{info.id}", title=info.title,
                menu=Message("View/Panels/{0}", AREAS.get(info.area, AREAS["bottom"])),
                run=partial(toggle, info.id), shortcuts=info.keys,
                tip=Message("Show or hide: {0}", info.tip),
                is_checked=partial(workspace.is_shown, info.id))
        for info in sorted(infos, key=lambda info: (rank.get(info.area, 9), info.order))
        if info.is_listed
    )  # fmt: skip


def analyze_commands(session: Session) -> tuple[Command, ...]:
    """Return the menu Analyze: the meaning of a cost and the waves that count."""
    modes, costs = session.latency_mode, session.source_cost
    rows: list[tuple[str, str, str, Cell[Any], Any, str]] = [
        (mode.name, Message("Latency: {0}", mode.value.lower()), "Latency", modes, mode,
         Message("Cost columns show: {0}.", mode.value.lower()))
        for mode in LatencyMode
    ]  # fmt: skip
    for cost, tip in COST_TIPS.items():
        title = Message("{0} source cost", cost.value.capitalize())
        rows.append((cost.value, title, "Source cost", costs, cost, tip))
    return tuple(
        Command(id=f"analyze.{name.lower()}", title=title, menu=Message("Analyze/{0}", menu),
                run=partial(cell.set, value), shortcuts=(f"Ctrl+{number}",), tip=tip,
                why_not=needs(session), is_checked=holds(cell, value))
        for number, (name, title, menu, cell, value, tip) in enumerate(rows, start=1)
    )  # fmt: skip


TIP = "Panels that explain (Triage, Causes, Waits, Loops, Bubbles, Latency, Summary) are about these waves."

TITLES = {WORKING: "Working waves", ALL: "All waves"}


def wave_commands(session: Session) -> tuple[Command, ...]:
    """Return the commands that choose waves; the menu also lists populations of the open capture."""

    def unread() -> str:
        waves = session.populations.value
        return "" if waves is not None and waves.read else "No waves have been read."

    def all_alike() -> str:
        several = len(session.populations.value or ()) > 1
        return "" if several else "All waves that were read took the same path."

    def step() -> None:
        names = choices(session.populations.value)
        at = names.index(session.waves.value) if session.waves.value in names else -1
        session.waves.set(names[(at + 1) % len(names)])

    rows = (
        (WORKING, "Ctrl+Alt+Shift+W", "Explain what waves cost that do the work of the kernel."),
        (ALL, "Ctrl+Alt+Shift+A", "Explain what all waves cost, including waves that left early."),
    )
    return commands("View/Waves", (
        *(
            (f"waves.{name}", TITLES[name], key, partial(session.waves.set, name), tip, unread,
             holds(session.waves, name))
            for name, key, tip in rows
        ),
        ("waves.next", "Next population of waves", "Ctrl+Alt+Shift+P", step,
         "Explain what the waves of the next population cost: waves that took the same path.", all_alike),
    ))  # fmt: skip


def choices(populations: Populations | None) -> list[str]:
    """Return the choices: working waves, all waves, and the populations if there are several."""
    own = [] if populations is None or len(populations) < 2 else populations.id
    return list(dict.fromkeys((WORKING, ALL, *own)))


def add_populations(menu: QMenu, session: Session) -> None:
    """Append the populations of the open capture to the menu; each entry chooses a population."""
    populations = session.populations.value
    if populations is None or len(populations) < 2:
        return
    menu.addSeparator()
    group = QActionGroup(menu)
    for at, name in enumerate(populations.id):
        if name == WORKING:  # a separate entry above stands for it
            continue
        share = percent(int(populations.cycles[at]), int(populations.cycles.sum()))
        title = Message("{0}, {1}", populations.name[at], plural(int(populations.waves[at]), "wave"))
        runs, is_on = populations.instructions[at], session.waves.value == name
        tip = Message("{0} of the cycles of waves, {1:,.0f} executions per wave.", share, runs)
        group.addAction(add_action(menu, title, partial(session.waves.set, name), tip=tip, is_on=is_on))


class WavesButton(QToolButton):
    """Shows which waves are explained; its menu is View › Waves; hidden where all took the same path."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName(translated("Waves that are explained"))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for cell in (session.populations, session.waves):
            cell.watch(self._update)
        self._update()

    def _update(self) -> None:
        waves, choice = self._session.populations.value, self._session.choice
        is_known = waves is not None and choice is not None and bool(waves.read)
        self.setVisible(is_known and (len(waves or ()) > 1 or not (waves and waves.has_working)))
        if waves is not None and choice is not None:
            self.setText(button_text(choice.text) if waves.has_working else translated("no wave works"))
            reason = Message("All waves left early or are empty: {0}.\n", ran_text(waves))
            self.setToolTip(tooltip(Message("{0}{1}", "" if waves.has_working else reason, TIP)))
