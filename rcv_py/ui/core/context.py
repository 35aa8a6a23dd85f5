"""The context that every panel receives."""

from typing import NamedTuple

from rcv_py.state.commands import Commands
from rcv_py.state.session import Session
from rcv_py.ui.core.scheduler import Scheduler
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.shared_results import SharedResults
from rcv_py.ui.core.tasks import Tasks
from rcv_py.ui.core.theme import Theme


class UiContext(NamedTuple):
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
