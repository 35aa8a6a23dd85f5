"""The bars above and below the panels: the open capture, commands and problems; facts and work."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices, QHideEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QProgressBar, QSizePolicy, QStatusBar, QToolButton, QWidget

from rcv_py.base.problems import Severity
from rcv_py.base.text import (
    Message,
    byte_size,
    elide_left,
    elide_right,
    join_texts,
    joined_texts,
    plural,
    short_count,
    translated,
)
from rcv_py.model.trace import Trace
from rcv_py.ui.core.frame_budget import one_shot
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, row
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import (
    MIN_PX,
    ElidedLabel,
    RichLabel,
    add_action,
    allow,
    button_text,
    copy_text,
    named,
    push_button,
    rich,
    tooltip,
    with_tip,
)
from rcv_py.ui.core.scheduler import Visibility
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.shell.menu_commands import WavesButton
from rcv_py.ui.shell.menus import Actions
from rcv_py.ui.shell.opener import Opener

NAME_LENGTH, NAME_SHARE = 90, 0.38  # letters of the capture's name at most, and the bar's width for them
CAPTURE_PX = 120  # at least
FIELD_PX = 420
MAX_SIBLINGS = 18  # captures in the menu; the page that lists a folder has all of them
SAVED_LENGTH = 48  # maximum letters of a saved file's name
FACTS_PX = 900  # width of a window that shows facts of the capture beside the verdict
SAVED_MS = 30_000  # time for which a saved file is named
UPDATE_MS = 100  # batches arrive faster than the text can be read


class TopBar(QWidget):
    """Next to the menus: back and forward, the open capture, the palette's field, the theme."""

    def __init__(
        self, ui: UiContext, actions: Actions, opener: Opener, open_palette: Callable[[], None]
    ) -> None:
        super().__init__()
        self._ui, self._opener = ui, opener
        keys = actions["view.panel_trust"].shortcut().toString()
        self._trust_keys = f"  ({keys})" if keys else ""
        self._actions = {"back": actions["go.back"], "forward": actions["go.forward"]}
        steps = [_action_button(action) for action in self._actions.values()]
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        mode = QToolButton.ToolButtonPopupMode.InstantPopup
        self.capture = QToolButton(toolButtonStyle=style, popupMode=mode)
        self.capture.setObjectName("capture")
        self.capture.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow goes after the name
        self.capture.setMenu(QMenu(self.capture, toolTipsVisible=True))
        self.capture.menu().aboutToShow.connect(self._fill)
        self.capture.setMinimumWidth(CAPTURE_PX)
        tip = "Find commands, settings, instructions, labels, waves, files and paths  (Ctrl+K)"
        field = push_button("Search or run a command …      Ctrl+K", tip, open_palette)
        self.field = named(field, "Search or run a command")
        self.field.setObjectName("command_field")
        self.field.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Fixed)
        self.trust = QToolButton(toolButtonStyle=style)
        self.trust.clicked.connect(actions["view.panel_trust"].trigger)
        self.theme = _action_button(actions["view.theme"])
        parts = (*steps, self.capture, None, (self.field, 4), None, self.trust, self.theme)
        row(*parts, margins=(4, 2, 8, 2), spacing=4, of=self)
        ui.session.trace.watch(self._update)
        ui.theme.changed.connect(self._update)
        self._soon = ui.scheduler.request(self, self._show_trust, UPDATE_MS, always_rests=True)
        for cell in (ui.session.problems, ui.results.cell("health")):
            cell.watch(self._soon.update)
        self._update()

    def _show_trust(self) -> None:
        session, notes = self._ui.session, self._ui.results.cell("health").value
        problems = session.problems.value
        wrong = [problem for problem in problems if problem.severity is not Severity.INFO]
        doubts = [note for note in notes or () if note.severity is not Severity.INFO]
        number = len(wrong) + len(doubts)
        self.trust.setText(f" {number}" if number else "")
        self.trust.setIcon(icon(self._ui.theme, "warning", "warning" if number else "muted"))
        parts = [plural(len(wrong), "problem")] if wrong else []
        parts += [plural(len(doubts), "warning") + " of health"] if doubts else []
        if hints := len(problems) - len(wrong) + len(notes or ()) - len(doubts):
            parts.append(plural(hints, "note"))
        said = join_texts(", ", parts) or "No problem was found."
        if session.trace.value is not None and notes is None:
            said += " Health was not looked at yet."
        first = [one.text for one in wrong[:4]] + [note.title for note in doubts[:4]]
        click = Message("Click to see what to do{0}.", self._trust_keys)
        self.trust.setToolTip(tooltip(join_texts("\n", [said, *first, click])))
        self.trust.setAccessibleName(translated(Message("Problems and health: {0}", said)))

    def _update(self) -> None:
        self._show_trust()
        self.field.setMaximumWidth(grown(FIELD_PX))
        theme, trace = self._ui.theme, self._ui.session.trace.value
        name = "No capture" if trace is None else trace.title
        self._name = name
        self._fit()
        tip = "Open a capture." if trace is None else f"{trace.path}\n{trace.kernel_name}"
        self.capture.setToolTip(tooltip(tip))
        self.capture.setAccessibleName(translated(Message("Capture: {0}", name)))
        self.capture.setIcon(icon(theme, "chevron", "muted"))
        for name, action in self._actions.items():
            action.setIcon(icon(theme, name))
        self.theme.defaultAction().setIcon(icon(theme, "sun" if theme.is_dark else "moon"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        letters = self.width() * NAME_SHARE // self.capture.fontMetrics().averageCharWidth()
        self.capture.setText(button_text(elide_right(self._name, int(min(letters, NAME_LENGTH)))))

    def _fill(self) -> None:
        menu, trace = self.capture.menu(), self._ui.session.trace.value
        menu.clear()
        beside = self._opener.siblings
        path = None if trace is None else trace.path
        at = next((place for place, entry in enumerate(beside) if entry.path == path), 0)
        first = max(0, min(at - MAX_SIBLINGS // 2, len(beside) - MAX_SIBLINGS))
        for entry in beside[first : first + MAX_SIBLINGS]:  # the nearest to the open capture
            is_on = entry.path == path
            call, tip = partial(self._opener.open, entry.path), entry.note or str(entry.path)
            size = Message("{0}, {1} cycles", plural(entry.waves, "wave"), short_count(entry.latency))
            size = Message("not decoded, {0}", byte_size(entry.size)) if entry.is_part else size
            title = f"{entry.title}   ({entry.note or size})"
            allow(add_action(menu, title, call, tip=tip, is_on=is_on), entry.note)
        if len(beside) > MAX_SIBLINGS:
            menu.addSeparator()
            folder = beside[0].path.parent
            title = Message("All {0:,} captures …", len(beside))
            tip = Message("Show all captures in {0}.", folder)
            add_action(menu, title, partial(self._opener.open, folder), tip=tip)
        if not beside:
            for path in self._opener.recent:
                add_action(menu, self._opener.title(path), partial(self._opener.open, path), tip=str(path))
        if menu.isEmpty():
            allow(menu.addAction(translated("No other capture")), "The folder holds no other capture.")


def _action_button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    return button


class VerdictLine(ElidedLabel):
    """The first sentence of the findings, while they are out of sight; it computes them only then."""

    clicked = Signal()

    def __init__(self, ui: UiContext) -> None:
        super().__init__(role="heading")
        self._ui = ui
        self.setContentsMargins(8, 0, 8, 0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # else what is beside it would move
        self.setSizePolicy(policy)
        self.hide()
        self._visibility = Visibility(self)
        self._visibility.allow_sleep()
        ui.session.trace.watch(self._want)
        ui.results.cell("findings").watch(self._update)

    def _want(self) -> None:
        if self._ui.session.trace.value is not None:
            self._ui.results.want("findings", self._visibility)
        self._update()

    def _update(self) -> None:
        findings = self._ui.results.cell("findings").value
        sentence = "" if findings is None else findings.sentence
        self.setText(joined_texts(sentence, " ")[0])  # what to do about it has no room in a narrow window
        self.setToolTip(tooltip(sentence))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._visibility.update()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._visibility.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()


class StatusBar(QStatusBar):
    """Facts at the left, work at the right."""

    def __init__(self, ui: UiContext, cancel: Callable[[], None], show_findings: Callable[[], None]) -> None:
        super().__init__()
        self._ui = ui
        self.setSizeGripEnabled(False)
        self.verdict = VerdictLine(ui)
        self.verdict.clicked.connect(show_findings)
        self.facts = ElidedLabel()
        self.facts.setContentsMargins(8, 0, 8, 0)
        self.waves = WavesButton(ui.session)
        # In one box: a message hides the widgets of the bar, and a button shown alone would overlap the
        # message.
        self.addWidget(boxed(row(self.facts, self.waves, (self.verdict, 1), spacing=6)), 1)
        self.saved = named(RichLabel(), "Saved file")
        self.saved.setMinimumWidth(MIN_PX)  # no message may widen the window
        self.saved.hide()
        self.saved.linkActivated.connect(self._use_saved)
        self._saved: Path | None = None
        self._fades = one_shot(self, self.saved.hide, SAVED_MS)
        self.stage = ElidedLabel()
        self.bar = named(QProgressBar(textVisible=False), "Progress")
        self.bar.setFixedWidth(120)
        tip = "Stop it; waves that have been read stay, a file that is half written does not."
        self.cancel = with_tip(QToolButton(), tip)
        self.cancel.setText(translated("Cancel"))
        self.cancel.clicked.connect(cancel)
        for widget in (self.saved, self.stage, self.bar, self.cancel):
            self.addPermanentWidget(widget)
        self._soon = ui.scheduler.request(self, self._update, UPDATE_MS, always_rests=True)
        for cell in (ui.session.trace, ui.session.loaded):
            cell.watch(self._soon.update)
        ui.session.busy.watch(self._show_stage)
        self._update()
        self._show_stage()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the room of a narrow window to the verdict."""
        super().resizeEvent(event)
        self.facts.setVisible(event.size().width() >= FACTS_PX)

    def show_saved(self, path: Path) -> None:
        """Report for a while that a file was written, with links to it, its folder and its path."""
        self._saved = path
        name = elide_left(path.name, SAVED_LENGTH)
        self.saved.setText(
            rich(
                'Saved {} · <a href="file">open</a> · <a href="folder">open its folder</a>'
                ' · <a href="path">copy path</a>',
                name,
            )
        )
        self.saved.setToolTip(tooltip(str(path)))
        self.saved.show()
        self._fades.start()

    def _use_saved(self, what: str) -> None:
        if self._saved is None:
            return
        if what == "path":
            copy_text(str(self._saved.absolute()))
            self.showMessage(translated("Copied the path."), 3000)
        else:
            place = self._saved if what == "file" else self._saved.parent
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(place)))

    def _update(self) -> None:
        trace, store = self._ui.session.trace.value, self._ui.session.store
        said, tip = "No capture is open.", "Open a capture with Ctrl+O."
        if trace is not None and store is not None:
            said = join_texts(" · ", facts(trace, store.tokens))
            tip = Message("{0:,} waves in memory, {1}", store.count, byte_size(store.nbytes))
        self.facts.setText(said)
        self.facts.setToolTip(tooltip(tip))

    def _show_stage(self) -> None:
        stage = next(reversed(self._ui.session.busy.value), None)
        for widget in (self.stage, self.bar, self.cancel):
            widget.setVisible(stage is not None)
        if stage is not None:
            self.stage.setText(str(stage))
            self.bar.setUpdatesEnabled(False)  # else Qt would paint at once, and the whole window with it
            self.bar.setRange(0, stage.total)
            self.bar.setValue(stage.done)
            self.bar.setUpdatesEnabled(True)


def facts(trace: Trace, tokens: int) -> list[str]:
    """Return the main facts of a trace, a few words each."""
    if not trace.has_thread_trace and trace.code.samples is not None:
        samples = plural(int(trace.code.samples.sum()), "PC sample")
        return [part for part in (trace.target, samples) if part]
    if trace.is_static:
        return [trace.target, plural(int((~trace.code.is_label).sum()), "instruction"), "not run"]
    engines = len({*trace.waves.se.tolist(), *trace.occupancy.se.tolist()})
    hz = trace.clock.shader_hz
    parts = [trace.target, plural(len(trace.waves), "wave")]
    parts += [Message("{0} tokens", short_count(tokens))] if tokens else []
    parts += [f"{engines} SE"] if engines else []
    return [*filter(None, parts), Message("{0:.2f} GHz", hz / 1e9) if hz else "clock unknown"]
