"""What a panel is, and how panels are found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QSplitter, QWidget

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.problems import Affects, Problem
from rcv_py.base.registry import Registry
from rcv_py.base.text import translated
from rcv_py.model.trace import Trace
from rcv_py.results.table import Table
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.plain_text import allow
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.visibility import Coalesce, Visibility

COPY_AS_COMMAND = "Copy as command"
READING = "Waves are still being read."
NO_COST = "No instruction was executed while the trace was recorded."


def entries(trace: Trace) -> int:
    """Return how many dispatches, hardware events and values of the kernel there are."""
    events = 0 if trace.events is None else len(trace.events.time)
    return events + len(trace.dispatches) + sum(len(data.time) for data in trace.shader_data)


MISSING: dict[
    Affects, tuple[Callable[[Trace], int], str]
] = {  # what panels show: how much of it a capture has, and why it may have none
    Affects.CODE: (
        lambda trace: len(trace.code),
        "This capture has no instructions: code.json is missing or empty. Record the trace again.",
    ),
    Affects.WAVES: (
        lambda trace: len(trace.waves),
        "No instruction detail: no wave ran on the traced compute unit. "
        "Record again with a larger grid, or choose another compute unit to trace.",
    ),
    Affects.OCCUPANCY: (
        lambda trace: len(trace.occupancy),
        "The capture does not say when waves began and ended: its occupancy file is missing or empty. "
        "Record again with occupancy enabled.",
    ),
    Affects.MARKERS: (
        entries,
        "The capture holds no dispatches, hardware events or shader data. Dispatches and events are written "
        "with format 3.1; markers need a kernel that is instrumented with s_ttracedata, and shader data "
        "enabled when recording.",
    ),
}
ELSEWHERE = "Problems says what to do."  # of what most panels lack; one of them tells it in full
NO_TRACE = "No capture is open. Open a ui_output folder with Ctrl+O, or drop one here."


def has(trace: Trace, what: Affects) -> bool:
    """Return whether a capture has what panels show."""
    return what not in MISSING or MISSING[what][0](trace) > 0


Result = TypeVar("Result")
Kind = TypeVar("Kind", bound="type[Panel]")
APanel = TypeVar("APanel", bound="Panel")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for CSV and the clipboard: headers, and rows of plain values."""

    title: str
    headers: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]

    @classmethod
    def of(cls, title: str, table: Table) -> Sheet:
        """Return a declared table as CSV has it: the names of its fields, and plain values."""
        names, rows = table.csv()
        return cls(title, tuple(names), rows)

    def csv(self, separator: str = ",") -> str:
        """The table as CSV with a line of headings; plain numbers, no grouping."""
        from rcv_py.base.csv_text import csv_text  # noqa: PLC0415 - once something is copied or written

        return csv_text(self.headers, self.rows, separator)


@runtime_checkable
class Remembers(Protocol):
    """A widget that keeps what the user did to it; it ignores a state that does not fit."""

    def save_state(self) -> Any:
        """Return it as plain JSON values."""

    def load_state(self, state: Any) -> None:
        """Take back what `save_state` returned."""


@dataclass(frozen=True, slots=True)
class Late(Generic[APanel]):
    """A panel of a kind that may not have been made yet, as commands know it."""

    kind: type[APanel]
    made: Callable[[], Panel | None]
    need: Callable[[], Panel]  # makes it if need be

    @classmethod
    def of(cls, panel: APanel) -> Late[APanel]:
        """Return one that is made."""
        return cls(type(panel), lambda: panel, lambda: panel)

    @property
    def now(self) -> APanel | None:
        """The panel, None if it is not made or could not be."""
        panel = self.made()
        return panel if isinstance(panel, self.kind) else None

    def then(self, action: Callable[[APanel], object]) -> Callable[[], None]:
        """Return what makes the panel if need be and does something with it; one that is broken is shown."""

        def run() -> None:
            panel = self.need()
            if isinstance(panel, self.kind):
                action(panel)
            else:
                panel.wants.emit(self.kind.panel_id)

        return run


class Panel(QWidget):
    """A view of the session.  It sets the session and watches the session, and calls no other panel.

    Subclasses are made with the `UiContext`, computed data comes through `run_job` and `want_result`, colours
    from `ui.theme`.  All methods below are optional.
    """

    panel_id: ClassVar[str] = ""  # under which it is registered
    commands_wait: ClassVar[bool] = False  # why a command cannot run does not change before there is a panel
    tells_all: ClassVar[bool] = False  # says in full what is wrong with a whole capture; others point there
    wants = Signal(str)  # id of a panel, or of an area, that should come to the front
    copy_asked = Signal()  # copy what the panel shows as a command

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui = ui
        self.session = ui.session
        self.remembered: dict[str, Remembers | QAbstractButton | QSplitter] = {}  # parts that keep a state
        self.visibility = Visibility(self)
        if ui.is_docked:
            self.visibility.allow_sleep()
        self.session.trace.watch(self.visibility.forget)

    @property
    def declared(self) -> PanelInfo:
        """What is said of the panel, or of the part of it that is shown."""
        return DECLARED[self.panel_id]

    # -- computing while somebody can see it --------------------------------------------------------

    def run_job(
        self,
        job: Callable[[], Result],
        done: Callable[[Result], None],
        topic: str = "",
        *,
        stream: Coalesce | None = None,
    ) -> None:
        """Run `job` in a thread and give its answer to `done`, of which `stream` waits for the end.

        No answer comes if a newer job of the topic was run, or another capture is open.  While nobody can
        see the panel the job is put off.
        """
        trace = self.session.trace.value

        def take(result: Result) -> None:
            if self.session.trace.value is trace:
                if stream is not None:
                    stream.finished()
                done(result)

        if stream is not None:
            stream.started()
        self.ui.tasks.run(self, job, take, topic, visibility=self.visibility)

    def so_far(
        self,
        name: str,
        reduction: Reduction[Any, Result],
        key: Hashable = None,
        expected: frozenset[int] | None = None,
    ) -> Callable[[Collection[int] | None], Result]:
        """Return a function of rows that count, for a job: the answer for all waves that were read.

        A capture must be open.  While somebody sees the panel, waves that arrive are mapped where they are
        read.  The other arguments are those of `Snapshot.so_far`.
        """
        read = self.session.snapshot()
        return read.so_far(name, reduction, key, watcher=self.visibility, expected=expected)

    def want_result(self, name: str) -> None:
        """Keep a shared result up to date for as long as this capture is open and somebody sees the panel."""
        self.ui.results.want(name, self.visibility)

    def coalesced(self, call: Callable[[], None], every_ms: int = 0) -> Coalesce:
        """Return what makes one call of a burst, and none while nobody can see the panel."""
        return Coalesce(
            self, call, every_ms, visibility=self.visibility, is_over=lambda: not self.session.is_streaming
        )

    def puts_off(self, call: Callable[[], None]) -> bool:
        """Whether nobody can see the panel; if so, `call` is made as soon as somebody can."""
        return self.visibility.puts_off(call)

    def showEvent(self, event: QShowEvent) -> None:
        """Soon do what was put off while nobody could see it."""
        super().showEvent(event)
        self.visibility.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Put off from now on what can wait."""
        super().hideEvent(event)
        self.visibility.look()

    def reason(self, otherwise: str, *more: Affects) -> str:
        """Return why the panel is empty: what the problems say of the data it needs, else the sentence.

        It may need `more` than it declares.  What most panels lack is told in full by one of them.
        """
        trace = self.session.trace.value
        if trace is None:
            return NO_TRACE
        problems = trace.problems_about(*self.declared.needs, *more)
        return "\n\n".join(map(self._reason_of, problems)) or otherwise

    def _reason_of(self, problem: Problem) -> str:
        return f"{problem.brief} {ELSEWHERE}" if problem.brief and not self.tells_all else str(problem)

    def why_missing(self, what: Affects | str) -> str:
        """Return why there is none of what the panel shows, "" if there is."""
        trace, (amount, sentence) = self.session.trace.value, MISSING[Affects(what)]
        return "" if trace is not None and amount(trace) else self.reason(sentence)

    # -- what a panel offers ------------------------------------------------------------------------

    @classmethod
    def commands(cls, ui: UiContext, late: Late[Self]) -> tuple[Command, ...]:
        """Extra actions for menus and palette, known before there is a panel."""
        return ()

    def sheet(self) -> Sheet | None:
        """The panel's table, for CSV export and copying; None if it has none."""
        return None

    def command_line(self) -> tuple[str, ...] | None:
        """The words of the `rcv` command that prints the numbers shown now; None if nothing is shown.

        Every panel has one: made by `ui/table/command_text.py` from filters, order, range, wave and modes.
        """
        return None

    def add_copy(self, menu: QMenu) -> None:
        """Add "Copy as command" to a menu of the panel."""
        action = menu.addAction(translated(COPY_AS_COMMAND), self.copy_asked.emit)
        allow(action, "" if self.command_line() is not None else "Nothing is shown that a command prints.")

    @property
    def copy_action(self) -> tuple[str, Callable[[], None]]:
        """The same as a title and what it does, for menus that timelines make."""
        return COPY_AS_COMMAND, self.copy_asked.emit

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the command where nothing inside of the panel has a menu of its own."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.add_copy(menu)
        menu.popup(event.globalPos())

    def canvas(self) -> QWidget:
        """The widget a picture of this panel shows."""
        return self

    @contextmanager
    def for_picture(self) -> Iterator[None]:
        """Look as a picture should while one is made."""
        yield

    def swatches(self) -> tuple[Swatch, ...]:
        """What colours mean that no legend in the panel's picture says."""
        return ()

    def caption(self) -> str:
        """What the picture's caption says besides trace, wave and range."""
        return ""

    def save_state(self) -> dict[str, Any]:
        """Return column widths, open branches and the like, as plain JSON values."""
        return {name: _saved(part) for name, part in self.remembered.items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned; ignore what does not fit."""
        for name, part in self.remembered.items():
            if name in state:
                _load(part, state[name])

    def focus_search(self) -> bool:
        """Put the cursor into the panel's own search field (Ctrl+F); False if it has none."""
        return False

    def first_focus(self) -> QWidget | None:
        """What keys go to when somebody comes to the panel; None: to what had them last, else to its list."""
        return None

    # -- panels that are several ---------------------------------------------------------------------

    @property
    def chosen_panel(self) -> Panel:
        """What a panel of several parts shows of them; any other is its own part."""
        return self

    @property
    def chosen_part(self) -> str:
        """The id of that part, "" if it has none."""
        return ""

    def part(self, name: str) -> Panel:
        """Return a part, made now if nobody needed it before; KeyError if there is none."""
        raise KeyError(name)

    def made_part(self, name: str) -> Panel | None:
        """Return a part, None if it is not made."""
        return None

    def show_part(self, name: str) -> None:
        """Show another part, if there is one of that id."""


def _saved(part: Remembers | QAbstractButton | QSplitter) -> Any:
    if isinstance(part, Remembers):
        return part.save_state()
    return part.sizes() if isinstance(part, QSplitter) else part.isChecked()


def _load(part: Remembers | QAbstractButton | QSplitter, state: Any) -> None:
    if isinstance(part, Remembers):
        part.load_state(state)
    elif not isinstance(part, QSplitter):
        part.setChecked(state is True)
    elif isinstance(state, list) and len(state) == part.count() and all(isinstance(px, int) for px in state):
        part.setSizes(state)


Made = Callable[[], Panel | None]  # what has the panel if it is made
Need = Callable[[], Panel]  # what makes it
PanelCommands = Callable[[UiContext, Made, Need], tuple[Command, ...]]


@dataclass(frozen=True, slots=True)
class PanelInfo:
    """A panel class with its place.

    `area`: left, wave, details, time, time_below, code, source, bottom; apart: a window of its own.  `needs`
    is the data that it cannot do without.  One that is not there at the start is shown when it is asked for,
    or when a capture has what it needs (`appears`).  One `within` another has no place of its own: that one
    shows it as a part, and it is known by its name all the same.
    """

    id: str
    title: str
    area: str
    order: int
    make: Callable[[UiContext], Panel]
    tip: str
    needs: tuple[Affects, ...] = ()
    icon: str = "line"
    is_at_start: bool = True
    appears: bool = False
    within: str = ""  # id of the panel that shows it as a part
    keys: tuple[str, ...] = ()  # that show it, before those that go by the places of panels
    is_listed: bool = True  # whether it has a command; a part that its panel shows first needs none
    commands: PanelCommands = lambda ui, made, need: ()
    load: Callable[[], object] = lambda: None  # imports what `make` needs
    parts: tuple[str, ...] = ()  # modules that this imports, each of which takes a turn of the event loop

    @property
    def missing(self) -> str | None:
        """The first part that is not imported."""
        return next((name for name in self.parts if name not in sys.modules), None)


PANELS: Registry[PanelInfo] = Registry("panel")  # all that there are, from `discover` on
DECLARED: Registry[PanelInfo] = Registry("panel")  # those whose modules are imported


def panel(
    *,
    id: str,
    title: str,
    area: str,
    order: int = 50,
    needs: Iterable[str] = (),
    icon: str = "line",
    is_at_start: bool = True,
    appears: bool = False,
    within: str = "",
    keys: tuple[str, ...] = (),
    is_listed: bool = True,
) -> Callable[[Kind], Kind]:
    """Class decorator: register a panel under `id`; its docstring is the tip of its tab.

    Panels of an area are tabs sorted by `order`, parts `within` one are listed behind it.  `make docs` writes
    what is said here into the table of `rcv_py/ui/panels`, from which a window knows the panel before its
    module is imported.
    """

    def register(kind: Kind) -> Kind:
        # Of its own dictionary: for help about a class of Qt, signatures of all its functions would be read.
        tip = (vars(kind).get("__doc__") or "").split("\n")[0]
        DECLARED.add(
            id,
            PanelInfo(
                id=id,
                title=title,
                area=area,
                order=order,
                make=kind,
                tip=tip,
                needs=tuple(map(Affects, needs)),
                icon=icon,
                is_at_start=is_at_start,
                appears=appears,
                within=within,
                keys=keys,
                is_listed=is_listed,
                commands=lambda ui, made, need: kind.commands(ui, Late(kind, made, need)),
            ),
        )
        kind.panel_id = id
        return kind

    return register


def discover() -> Registry[PanelInfo]:
    """Return the registry of all panels; a panel's module is imported when the panel is made.

    One whose actions must look at more than the panel is imported for these.
    """
    package = import_module("rcv_py.ui.panels")
    for row in package.TABLE:
        if row["id"] not in PANELS:
            PANELS.add(row["id"], _from_table(**row, parts=package.PARTS.get(row["module"], ())))
    return PANELS


def _from_table(
    *, module: str, needs: Iterable[str], commands: Iterable[tuple[Any, ...]] | None, **row: Any
) -> PanelInfo:
    def declared() -> PanelInfo:
        import_module(f"rcv_py.ui.panels.{module}")
        return DECLARED[row["id"]]

    def made_commands(ui: UiContext, made: Made, need: Need) -> tuple[Command, ...]:
        if commands is None:
            return declared().commands(ui, made, need)
        return tuple(_waiting(line, lambda: declared().commands(ui, made, need), made) for line in commands)

    return PanelInfo(
        **row,
        needs=tuple(map(Affects, needs)),
        make=lambda ui: declared().make(ui),
        commands=made_commands,
        load=declared,
    )


def _waiting(line: tuple[Any, ...], declared: Callable[[], tuple[Command, ...]], made: Made) -> Command:
    """Return a command of a panel whose module is imported when the command is run, or the panel made."""
    id, title, menu, shortcuts, tip, until = line

    def itself() -> Command:
        return next(command for command in declared() if command.id == id)

    return Command(
        id=id,
        title=title,
        menu=menu,
        run=lambda: itself().run(),
        shortcuts=shortcuts,
        tip=tip,
        why_not=lambda: until if made() is None else itself().why_not(),
    )
