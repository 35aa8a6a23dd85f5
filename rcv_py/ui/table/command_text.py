"""The view of a panel as `rcv` command words: "Copy as command" joins them for a shell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.manifest import follows_waves
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import SearchQuery
from rcv_py.state.session import Session
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.table.table_model import TableModel

if TYPE_CHECKING:  # the first visible panels have no tree
    from rcv_py.ui.table.tree_table import TreeModel

CommandWords = tuple[str, ...]


def rcv(session: Session, command: str, *words: str) -> CommandWords | None:
    """Return `rcv COMMAND FOLDER --name=value …`, None without a capture; a value may begin with a minus."""
    trace, wanted = session.trace.value, session.waves.value
    follows = follows_waves(command) and "--by=memory" not in words  # of no waves
    chosen = (f"--waves={wanted}",) if follows and wanted != WORKING else ()
    files = session.run_files if command == "triage" else ()
    tables = [f"--run-files={path.absolute()}" for path in files]
    return None if trace is None else ("rcv", command, path_word(trace), *chosen, *tables, *words)


def path_word(trace: Trace) -> str:
    """Return the absolute path of a capture's folder."""
    return str(trace.path.absolute())


def clock(session: Session) -> CommandWords:
    """Return the clock range: waves that touch it count."""
    return _range("clock", session.clock_range.value)


def within(session: Session) -> CommandWords:
    """Return the time range in view in the timelines."""
    return _range("within", session.window.value)


def _range(name: str, window: TimeWindow | None) -> CommandWords:
    return () if window is None else (f"--{name}={window.begin}:{window.end}",)


def idle(ui: UiContext) -> CommandWords:
    """Return whether idle time is charged."""
    return () if ui.settings["isa.show_idle"] else ("--no-idle",)


def charge(ui: UiContext) -> CommandWords:
    """Return the mode by which places are charged, and the measure."""
    return (f"--charge={ui.session.source_cost.value.value}", *idle(ui), *clock(ui.session))


def wave(session: Session, option: str) -> CommandWords:
    """Return the selected wave as the value of an option."""
    selected = session.selection.value.wave
    return () if selected is None else (f"--{option}={selected}",)


def matching(query: SearchQuery) -> CommandWords:
    """Return the text of the search or the filter."""
    if not query.text:
        return ()
    flags = (("--regex", query.is_regex), ("--case", query.is_case_sensitive))
    return (f"--match={query.text}", *(word for word, is_on in flags if is_on))


def each(option: str, values: Iterable[object]) -> CommandWords:
    """Return an option once per value."""
    return tuple(f"--{option}={value}" for value in values)


def only(names: Iterable[str], shown: Iterable[str], of: Mapping[str, str] | None = None) -> CommandWords:
    """Return the shown curves, if not all are shown; `of` gives their names on the command line."""
    every, chosen = list(names), set(shown)
    named = [name for name in every if name in chosen]
    is_all = len(named) in (0, len(every))
    return () if is_all else each("only", (name if of is None else of[name] for name in named))


def sorting(table: TableModel | TreeModel[Any], keys: Mapping[str, str] | None = None) -> CommandWords:
    """Return the order of a table or a tree; `keys` names columns that have no name of their own."""
    if table.sorting is None:
        return ()
    name, order = table.sorting
    key = table.sort_name if keys is None else keys.get(name, "")
    direction = () if order == Qt.SortOrder.DescendingOrder else ("--ascending",)
    return (f"--sort={key}", *direction) if key else ()
