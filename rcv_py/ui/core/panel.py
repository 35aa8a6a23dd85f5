"""The base class of panels, the context that each receives, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, Unpack, runtime_checkable

from msgspec.structs import asdict
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QSplitter, QWidget

from rcv_py.analysis.core.reduction import Reduction
from rcv_py.base.manifest import PanelCommand, PanelEntry, panel_entries
from rcv_py.base.problems import Affects
from rcv_py.base.record import Value
from rcv_py.base.text import Message, join_texts, translated
from rcv_py.model.trace import Trace
from rcv_py.results.field import ShownIn
from rcv_py.results.table import ResultTable
from rcv_py.state.commands import Command, Commands, commands
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import allow
from rcv_py.ui.core.scheduler import LateVisibility, Request, RequestOptions, Scheduler, Visibility
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import Times


class UiContext(Value):
    """Session, scheduler, theme, settings, commands and shared results; made in `ui/app.py`."""

    session: Session
    scheduler: Scheduler
    theme: Theme
    settings: Settings
    commands: Commands
    results: SharedResults
    is_docked: bool = False  # panels made with this context stand in a dock, and sleep while they are hidden

    @property
    def tasks(self) -> Tasks:
        """Return the worker threads."""
        return self.scheduler.tasks


COPY_AS_COMMAND = "Copy as command"
PART = "part"  # key of the chosen part in the saved state of a panel of several
READING = "Waves are still being read."
UNREAD = "No wave could be read, so nothing is known about {topic}. Problems says why."
MAX_PX = 10_000  # of a saved size
NO_COST = "No instruction was executed while the trace was recorded."


def entries(trace: Trace) -> int:
    """Return how many dispatches, hardware events and kernel values there are."""
    events = 0 if trace.events is None else len(trace.events.time)
    return events + len(trace.dispatches) + sum(len(data.time) for data in trace.shader_data)


# Data that panels show: how much of it a capture has, and why it may be missing.
MISSING: dict[Affects, tuple[Callable[[Trace], int], str]] = {
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
NO_TRACE = "No capture is open. Open a ui_output folder with Ctrl+O, or drop one here."


def has(trace: Trace, what: Affects) -> bool:
    """Return whether a capture has the data of a panel."""
    return what not in MISSING or MISSING[what][0](trace) > 0


Result = TypeVar("Result")
APanel = TypeVar("APanel", bound="Panel")


class Sheet(Value):
    """A table for CSV and the clipboard: headers, and rows of plain values."""

    title: str
    headers: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]

    @classmethod
    def of(cls, title: str, table: ResultTable) -> Sheet:
        """Return a declared table for CSV: the names of its fields, and plain values."""
        names, rows = table.csv()
        return cls(title, tuple(names), rows)

    @classmethod
    def as_shown(cls, title: str, table: ResultTable) -> Sheet:
        """Return a declared table in the columns and under the titles of the window."""
        fields = table.fields(ShownIn.WINDOW)
        rows = table.flat([field.name for field in fields])
        return cls(title, tuple(field.title for field in fields), rows)

    def csv(self, separator: str = ",") -> str:
        """Return the table as CSV with a header line and plain numbers, without grouping."""
        from rcv_py.base.csv_text import csv_text  # noqa: PLC0415 - only needed to copy or write

        return csv_text(self.headers, self.rows, separator)


@runtime_checkable
class Remembers(Protocol):
    """A widget that keeps what the user changed; it ignores a state that does not fit."""

    def save_state(self) -> Any:
        """Return the state as plain JSON values."""

    def load_state(self, state: Any) -> None:
        """Restore what `save_state` returned."""


class LazyPanel(Value, Generic[APanel]):
    """A handle that commands use for a panel that may not exist yet."""

    kind: type[APanel]
    made: Callable[[], Panel | None]
    need: Callable[[], Panel]  # makes the panel if needed

    @classmethod
    def of(cls, panel: APanel) -> LazyPanel[APanel]:
        """Return a handle of an existing panel."""
        return cls(type(panel), lambda: panel, lambda: panel)

    @property
    def existing(self) -> APanel | None:
        """Return the panel, None if it does not exist or could not be made."""
        panel = self.made()
        return panel if isinstance(panel, self.kind) else None

    def with_panel(self, action: Callable[[APanel], object]) -> Callable[[], None]:
        """Return a function that makes the panel if needed and acts on it; a broken panel is shown."""

        def run() -> None:
            panel = self.need()
            if isinstance(panel, self.kind):
                action(panel)
            else:
                panel.wants.emit(info_of(self.kind).id)

        return run


class Panel(QWidget):
    """A view of the session.  It sets and watches the session, and calls no other panel.

    Subclasses are constructed with the `UiContext`.  Computed data comes through `run_job` and `want_result`,
    colours from `ui.theme`.  All methods below are optional.
    """

    reports_all: ClassVar[bool] = False  # reports problems of the whole capture in full; others refer to it
    captioned: QLabel | None = None  # what a caption repeats
    wants = Signal(str)  # id of a panel or an area to bring to the front
    copy_asked = Signal()  # copy what the panel shows as a command

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui, self.session = ui, ui.session
        self.remembered: dict[str, Remembers | QAbstractButton | QSplitter] = {}  # parts that keep a state
        self.visibility = Visibility(self)
        rest = ui.scheduler.importer.the_rest
        self.late = LateVisibility(self.visibility, lambda: rest.is_shut, rest.after)
        if ui.is_docked:
            self.visibility.allow_sleep()
        self._jobs: dict[str, Request] = {}  # by topic

    @property
    def declared(self) -> PanelInfo:
        """Return the registry entry of the panel, or of its visible part."""
        return info_of(type(self))

    @property
    def times(self) -> Times:
        """Return the present format of moments and lengths."""
        return Times.of(self.session.trace.value, self.ui.settings)

    def run_job(self, job: Callable[[], Result], done: Callable[[Result], None], topic: str = "") -> None:
        """Run `job` in a thread and pass its answer to `done`, once the panel is visible.

        No answer comes if a newer job of the topic ran, or another capture is open.
        """
        if topic not in self._jobs:
            self._jobs[topic] = self.request(lambda: None)
        self._jobs[topic].run(job, done)

    def incremental(
        self,
        name: str,
        reduction: Reduction[Any, Result],
        key: Hashable = None,
        expected: frozenset[int] | None = None,
    ) -> Callable[[Collection[int] | None], Result]:
        """Return a function of counted rows, for a job: the answer for all waves read.

        A capture must be open. While the panel is visible, arriving waves are mapped where they are read. The
        other arguments are the arguments of `Snapshot.incremental`.
        """
        read = self.session.snapshot()
        return read.incremental(name, reduction, key, watcher=self.visibility, expected=expected)

    def chosen_rows(self) -> Callable[[], frozenset[int] | None]:
        """Return a function for a job: the rows of the waves that count, None for all waves."""
        name, choose = self.session.waves.value, self.ui.results.populations.of(self.session.snapshot())
        return lambda: choose(name).rows

    def want_result(self, name: str) -> None:
        """Keep a shared result up to date while this capture is open and the panel is visible."""
        self.ui.results.want(name, self.visibility)

    def request(
        self, call: Callable[[], object], every_ms: int = 0, **options: Unpack[RequestOptions]
    ) -> Request:
        """Return a new request, which waits while the panel is hidden; updates are `every_ms` apart."""
        options = {"visibility": self.visibility, **options}
        return self.ui.scheduler.request(self, call, every_ms, **options)

    def showEvent(self, event: QShowEvent) -> None:
        """Soon run the requests that waited while the panel was hidden."""
        super().showEvent(event)
        self.visibility.update()

    def hideEvent(self, event: QHideEvent) -> None:
        """From now on let requests wait."""
        super().hideEvent(event)
        self.visibility.update()

    def reason(self, otherwise: str, *more: Affects) -> str:
        """Return why the panel is empty: what the problems say about the data it needs, else the sentence.

        It may need `more` than it declares.  One panel gives the reason in full for data that most panels
        lack.
        """
        trace = self.session.trace.value
        if trace is None:
            return NO_TRACE
        problems = trace.problems_about(*self.declared.needs, *more)
        is_brief = not self.reports_all
        reasons = (problem.brief if problem.brief and is_brief else str(problem) for problem in problems)
        return join_texts("\n\n", reasons) or otherwise

    def why_missing(self, what: Affects | str) -> str:
        """Return why the panel's data is missing, "" if it is not."""
        trace, (amount, sentence) = self.session.trace.value, MISSING[Affects(what)]
        return "" if trace is not None and amount(trace) else self.reason(sentence, Affects(what))

    def why_unread(self, topic: str = "") -> str:
        """Return that no wave can be read, "" as long as one may be; the topic is by default the title."""
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None or len(store.missing) < len(trace.waves):
            return ""
        return Message(UNREAD, topic=topic or self.declared.title.lower())

    @classmethod
    def commands(cls, ui: UiContext, lazy: LazyPanel[Self]) -> tuple[Command, ...]:
        """Return extra actions for menus and palette, known before the panel exists."""
        return ()

    def sheet(self) -> Sheet | None:
        """Return the panel's table, for CSV export and copying; None if it has none."""
        return None

    def command_line(self) -> tuple[str, ...] | None:
        """Return the `rcv` command line that prints the numbers shown now; None if nothing is shown.

        Every panel has such a command; `ui/table/command_text.py` makes it from filters, order, range, wave
        and modes.
        """
        return None

    def add_copy(self, menu: QMenu) -> None:
        """Add "Copy as command" to a menu of the panel."""
        action = menu.addAction(translated(COPY_AS_COMMAND), self.copy_asked.emit)
        allow(action, "" if self.command_line() is not None else "Nothing is shown that a command prints.")

    @property
    def copy_action(self) -> tuple[str, Callable[[], None]]:
        """Return the title and the function of that action, for menus of timelines."""
        return COPY_AS_COMMAND, self.copy_asked.emit

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the command where no child of the panel has its own menu."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.add_copy(menu)
        menu.popup(event.globalPos())

    def canvas(self) -> QWidget:
        """Return the widget that a picture of this panel shows."""
        return self

    @contextmanager
    def for_picture(self) -> Iterator[None]:
        """Look as a picture should during the block."""
        yield

    def swatches(self) -> tuple[Swatch, ...]:
        """Return swatches of colours that no legend in the panel's picture explains."""
        return ()

    def caption(self) -> str:
        """Return what a picture's caption adds to capture, wave and range: the text of `captioned`."""
        return "" if self.captioned is None else self.captioned.text()

    def save_state(self) -> dict[str, Any]:
        """Return column widths, open branches and similar state, as plain JSON values."""
        return {name: _saved(part) for name, part in self.remembered.items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `save_state` returned; ignore what does not fit."""
        for name, part in self.remembered.items():
            if name in state:
                _load(part, state[name])

    def focus_search(self) -> bool:
        """Put the cursor into the panel's own search field (Ctrl+F); return False if it has none."""
        return False

    def first_focus(self) -> QWidget | None:
        """Return the widget to focus on entering the panel; None: the last focused, else its list."""
        return None

    @property
    def chosen_panel(self) -> Panel:
        """Return the visible part of a panel of several parts; any other panel is its own part."""
        return self

    @property
    def chosen_part(self) -> str:
        """Return the id of that part, "" if it has none."""
        return ""

    def part(self, name: str) -> Panel:
        """Return a part, making it if needed; KeyError if there is none."""
        raise KeyError(name)

    def made_part(self, name: str) -> Panel | None:
        """Return a part, None if it does not exist yet."""
        return None

    def show_part(self, name: str) -> None:
        """Show another part, if there is a part with that id."""


def _saved(part: Remembers | QAbstractButton | QSplitter) -> Any:
    if isinstance(part, Remembers):
        return part.save_state()
    return part.sizes() if isinstance(part, QSplitter) else part.isChecked()


def _load(part: Remembers | QAbstractButton | QSplitter, state: Any) -> None:
    if isinstance(part, Remembers):
        part.load_state(state)
    elif not isinstance(part, QSplitter):
        part.setChecked(state is True)
    elif (
        isinstance(state, list)
        and len(state) == part.count()
        and all(isinstance(px, int) and 0 <= px < MAX_PX for px in state)
    ):
        part.setSizes(state)


class PanelInfo(PanelEntry):
    """A panel of a manifest; its module is imported when the panel is first needed."""

    @property
    def about(self) -> str:
        """Return what the panel shows, and how to read it."""
        return join_texts("\n", filter(None, (self.tip, self.reading)))

    def load(self) -> type[Panel]:
        """Import the panel's module and return its class."""
        kind: type[Panel] = resolve_name(self.target)
        return kind

    def actions(
        self, ui: UiContext, made: Callable[[], Panel | None], need: Callable[[], Panel]
    ) -> tuple[Command, ...]:
        """Return the actions of manifest and class; `made` gives the panel if it exists, `need` makes it."""
        declared = tuple(self._action(command, made, need) for command in self.commands)
        if not self.has_commands:
            return declared
        kind = self.load()
        return declared + kind.commands(ui, LazyPanel(kind, made, need))

    def _action(
        self, command: PanelCommand, made: Callable[[], Panel | None], need: Callable[[], Panel]
    ) -> Command:
        def run() -> None:
            panel = need()
            if hasattr(panel, command.method):
                getattr(panel, command.method)()
            else:  # it could not be made, and says why
                panel.wants.emit(self.id)

        def why_not() -> str:
            panel = made()
            if panel is None:
                return command.until
            return str(getattr(panel, command.why_not)()) if hasattr(panel, command.why_not) else ""

        id_, title, keys = command.id, command.title, " ".join(command.keys)
        return commands(command.menu, [(id_, title, keys, run, command.tip, why_not)])[0]


@cache
def discover() -> dict[str, PanelInfo]:
    """Return the panels of all manifests by their ids."""
    return {entry.id: PanelInfo(**asdict(entry)) for entry in panel_entries()}


def info_of(kind: type[Panel]) -> PanelInfo:
    """Return the registry entry of a panel's class, the first if it shows several."""
    targets = {f"{one.__module__}:{one.__name__}" for one in kind.__mro__}
    return next(info for info in discover().values() if info.target in targets)
