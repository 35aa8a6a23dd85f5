"""The pages of the window: the workspace, the first page, the captures of a folder, the profile of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from rcv_py.model.trace import CaptureEntry
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.shell.opener import Opener, Profiled
from rcv_py.ui.shell.workspace import Workspace

if TYPE_CHECKING:  # each is made when it is first shown
    from rcv_py.ui.shell.chooser import Chooser
    from rcv_py.ui.shell.profile_page import ProfilePage
    from rcv_py.ui.shell.welcome import Welcome

Page = TypeVar("Page", bound=QWidget)


class Pages(QStackedWidget):
    """One page at a time, at first the workspace; the others are made when they are first shown."""

    compared = Signal(object, object)  # paths of a capture and its baseline

    def __init__(
        self,
        ui: UiContext,
        opener: Opener,
        workspace: Workspace,
        browse: Callable[[], None],
        learn: Callable[[], None],
    ) -> None:
        """`browse` asks for a folder, and `learn` shows the tutorial."""
        super().__init__()
        self._ui, self._opener, self._workspace = ui, opener, workspace
        self._browse, self._learn = browse, learn
        self.addWidget(workspace)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        opener.choose.connect(self._choose)
        opener.profiled.connect(self._show_profile)

    @cached_property
    def welcome(self) -> Welcome:
        """Return the first page, which a window started with a capture does not need."""
        from rcv_py.ui.shell.welcome import Welcome  # noqa: PLC0415 - as it says

        return self._page(Welcome(self._ui, self._opener, self._browse, self._learn))

    @cached_property
    def chooser(self) -> Chooser:
        """Return the page with the captures of a folder."""
        from rcv_py.ui.shell.chooser import Chooser  # noqa: PLC0415 - most windows start with a capture

        chooser = self._page(Chooser(self._leave, self._ui.theme))
        self._opener.judged.connect(chooser.show_known)
        chooser.chosen.connect(self._opener.open)
        chooser.deeper.connect(self._opener.open)
        chooser.compared.connect(self.compared)
        return chooser

    @cached_property
    def profile(self) -> ProfilePage:
        """Return the page of a run without a thread trace."""
        from rcv_py.ui.shell.profile_page import ProfilePage  # noqa: PLC0415 - rarely used

        return self._page(ProfilePage(self._leave))

    def _page(self, page: Page) -> Page:
        self.addWidget(page)
        return page

    @property
    def is_at_work(self) -> bool:
        """Return whether the workspace is shown."""
        return self.currentWidget() is self._workspace

    def show_welcome(self) -> None:
        """Show recent captures and samples."""
        self.welcome.refresh()
        self.setCurrentWidget(self.welcome)

    def _leave(self) -> None:
        """Go back from a page to the open capture, or to the first page."""
        is_open = self._ui.session.trace.value is not None
        self.setCurrentWidget(self._workspace if is_open else self.welcome)

    def _choose(self, folder: Path, entries: tuple[CaptureEntry, ...], depth: int) -> None:
        self.chooser.show_entries(folder, entries, depth)
        self.setCurrentWidget(self.chooser)

    def _show_profile(self, found: Profiled) -> None:
        self.profile.show_profile(found.profile, found.tables, found.trace)
        self.setCurrentWidget(self.profile)
