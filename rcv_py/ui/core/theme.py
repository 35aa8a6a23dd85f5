"""The colour tables as Qt colours, palette and style sheet (`resources/window.qss`), switched at run time."""

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partialmethod
from pathlib import Path
from shutil import rmtree
from string import Template
from tempfile import mkdtemp
from weakref import WeakSet

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from rcv_py.base import colors, resources
from rcv_py.base.colors import ROLES, Pair
from rcv_py.model.kinds import MarkerKind, TokenKind, WaveState
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.text_size import SMALLEST_PT, set_text_size

STALL_MIX = 0.52  # share of the background in the colour of a stall
PALE = 0.85  # share of the canvas in the palest colour of a scale
MONOSPACE = ("JetBrains Mono", "DejaVu Sans Mono", "Liberation Mono", "Menlo", "Consolas")
SIZE = 16  # px of an icon's drawing

ICONS = {
    "check": ("check", "accent"), "right": ("forward", "muted"), "close": ("close", "muted"),
    "chevron": ("chevron", "muted"), "chevron_up": ("chevron-up", "muted"),
    # Without our arrows, the style's own arrow points up when the largest is first.
    "sorted_down": ("chevron", "accent"), "sorted_up": ("chevron-up", "accent"),
}  # fmt: skip


class Theme(QObject):
    """Every colour a widget may use.  Watch `changed` and repaint; read colours anew, never store them."""

    changed = Signal()
    is_dark: bool  # whether the dark half of the tables is used

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._windows: WeakSet[QWidget] = WeakSet()
        self._is_always_light = False
        for option in ("look.theme", "look.preset", "look.font_size", "look.text_size"):
            settings.cell(option).watch(self._update)
        families = QFontDatabase.families() if QGuiApplication.instance() else []
        usual = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
        self.mono_family = next((name for name in MONOSPACE if name in families), usual)
        if isinstance(app := QApplication.instance(), QApplication):  # bars made before keep their size
            set_text_size(app, settings["look.text_size"])
        self._build()

    def role(self, name: str) -> QColor:
        """Return a colour of the interface by its role, e.g.  `accent`."""
        return self._roles[name]

    def _of(self, table: str, kind: int) -> QColor:
        """Return a colour of a table; unknown numbers look like the first."""
        found = self._tables[table]
        return found[kind] if 0 <= kind < len(found) else found[0]

    def _of_nth(self, table: str, number: int) -> QColor:
        return self._tables[table][number % len(self._tables[table])]

    kind = partialmethod(_of, "kind")  # of a token kind
    kind_text = partialmethod(_of, "kind_text")  # the same for text, readable on every row
    stalled = partialmethod(_of, "stalled")  # of the stalled part of a token
    state = partialmethod(_of, "state")  # of a wave state
    reason = partialmethod(_of, "reason")  # of a PC-sampling stall reason
    cause = partialmethod(_of, "cause")  # of a cause of stalled or idle cycles
    kernel = partialmethod(_of_nth, "kernel")  # of the n-th kernel
    arrow = partialmethod(_of_nth, "arrow")  # of the arrows of the n-th wait

    def marker(self, kind: int, name: int = 0) -> QColor:
        """Return the colour of a marker by its kind (`MarkerKind`) and the number of its name."""
        known = MarkerKind(kind) if 0 <= kind < len(MarkerKind) else MarkerKind.UNKNOWN
        pair, turn = colors.MARKERS[known.name], colors.MARKER_TURNS[name % len(colors.MARKER_TURNS)]
        return QColor(colors.turned(pair.dark if self.is_dark else pair.light, turn))

    def without_issue(self, share: float) -> QColor:
        """Return the colour of time of which a share passes without issue, from pale to strong."""
        return self.soft(self._roles["stall"], PALE * (1 - share))

    def syntax(self, name: str) -> QColor:
        """Return the colour of a class of source text, e.g.  `keyword`."""
        return self._syntax[name]

    def soft(self, color: QColor, share: float) -> QColor:
        """Return a colour with `share` of it replaced by the canvas."""
        return mix(color, self._roles["canvas"], share)

    @property
    def mono(self) -> QFont:
        """Return the font of code, addresses and numbers."""
        size = self._settings["look.font_size"] + self._settings["look.text_size"]
        font = QFont(self.mono_family, max(SMALLEST_PT, size))
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFixedPitch(True)
        with suppress(TypeError):  # Qt 6.8.0 has no features for Python
            font.setFeature(QFont.Tag("calt"), 0)  # ligatures would hide the actual characters
        return font

    def toggle(self) -> None:
        """Switch between light and dark."""
        self._settings["look.theme"] = "light" if self.is_dark else "dark"

    @contextmanager
    def always_light(self) -> Iterator[None]:
        """Be light during the block, for a picture; settings and other windows keep their theme."""
        self._is_always_light = True
        if was_dark := self.is_dark:
            self._update()
        try:
            yield
        finally:
            self._is_always_light = False
            if was_dark:
                self._update()

    def dress(self, window: QWidget) -> None:
        """Set palette and style sheet of a window and its children, now and whenever they change.

        The sheet is not set on the application: then Qt restyles a widget and all its children at every step
        of building a panel, half of the cost of making a panel.  A panel without a window has no sheet yet,
        and is styled once, when it gets its place.
        """
        self._windows.add(window)
        self._apply()

    def _apply(self) -> None:
        if not isinstance(app := QApplication.instance(), QApplication):
            return
        # Qt walks over all widgets and calls Python on the way: a garbage collection in between would delete
        # widgets of a closed window during the walk.
        was_on = gc.isenabled()
        gc.disable()
        try:
            is_other_size = set_text_size(app, self._settings["look.text_size"])
            if app.palette() != (palette := self._palette()):
                app.setPalette(palette)
            text = style_sheet(self.role)
            for window in filter(isValid, list(self._windows)):
                if window.styleSheet() != text or is_other_size:
                    if window.styleSheet():  # Qt would follow kept rules of deleted widgets: fatal
                        window.setStyleSheet("")
                    window.setStyleSheet(text)
        finally:
            if was_on:
                gc.enable()

    def _update(self) -> None:
        self._build()
        self._apply()
        self.changed.emit()

    def _build(self) -> None:
        wanted = "light" if self._is_always_light else self._settings["look.theme"]
        hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
        is_system_dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        self.is_dark = is_system_dark if wanted == "system" else wanted == "dark"

        def name(pair: Pair) -> str:
            return pair.dark if self.is_dark else pair.light

        def colors_of(pairs: Iterable[Pair]) -> list[QColor]:
            return [QColor(name(pair)) for pair in pairs]

        preset = colors.PRESETS[self._settings["look.preset"]]
        states, kinds = preset["wave_states"], [preset["token_kinds"][kind.name] for kind in TokenKind]
        self._roles = {role: QColor(name(pair)) for role, pair in colors.ROLES.items()}
        self._syntax = {part: QColor(name(pair)) for part, pair in colors.SYNTAX.items()}
        rows = [name(colors.ROLES[role]) for role in ("base", "hover", "accent_soft")]
        text, canvas = name(colors.ROLES["text"]), name(colors.ROLES["canvas"])
        self._tables = {
            "kind": colors_of(kinds),
            "kind_text": [QColor(colors.readable(name(kind), text, rows)) for kind in kinds],
            "stalled": [QColor(colors.mixed(name(kind), canvas, STALL_MIX)) for kind in kinds],
            "state": colors_of(states[state.name] for state in WaveState),
            "reason": colors_of(colors.STALL_REASONS.values()),
            "cause": colors_of(colors.CAUSES.values()),
            "kernel": colors_of(colors.KERNELS),
            "arrow": colors_of(colors.ARROWS),
        }

    def _palette(self) -> QPalette:
        palette, of = QPalette(), QPalette.ColorRole
        table = {
            "window": (of.Window,),
            "base": (of.Base,),
            "alternate": (of.AlternateBase,),
            "text": (of.WindowText, of.Text, of.ButtonText, of.ToolTipText, of.HighlightedText),
            "raised": (of.Button, of.ToolTipBase, of.Light),
            "muted": (of.PlaceholderText,),
            "accent_soft": (of.Highlight,),
            "accent": (of.Link,),
            "line": (of.Mid, of.Dark),
        }
        for name, roles in table.items():
            for role in roles:
                palette.setColor(role, self._roles[name])
        for role in (of.Text, of.ButtonText, of.WindowText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self._roles["muted"])
        return palette


def paint_focus(painter: QPainter, widget: QWidget, theme: Theme) -> None:
    """Draw a frame inside a widget that paints itself, if it has the keyboard focus."""
    if widget.hasFocus():
        painter.setPen(theme.role("accent"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(widget.rect().adjusted(0, 0, -1, -1))


def mix(color: QColor, other: QColor, share: float) -> QColor:
    """Return a colour with `share` of it replaced by another colour."""
    return QColor(colors.mixed(color.name(), other.name(), share))


@cache
def _sheet() -> Template:
    path = resources.resource("window.qss")
    return Template("" if path is None else path.read_text("utf-8"))


def style_sheet(role: Callable[[str], QColor]) -> str:
    """Return the style sheet of a window from the colours of roles; "" if the program came without it."""
    values = {name: role(name).name() for name in ROLES}
    for key, (name, color) in ICONS.items():
        path = _folder() / f"{name}-{role(color).name()[1:]}.svg"
        if not path.exists():
            path.write_text(colored(name, role(color)), "utf-8")
        values[key] = path.as_posix()  # style sheets need slashes
    return _sheet().substitute(values)


@cache
def drawing(name: str) -> str:
    """Return the SVG text of an icon; an empty drawing if the program came without it."""
    path = resources.resource(f"icons/{name}.svg")
    if path is None:
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"/>'
    return path.read_text("utf-8")


def colored(name: str, color: QColor) -> str:
    """Return the SVG text of an icon with its lines in a colour."""
    return drawing(name).replace("currentColor", color.name())


@cache
def _folder() -> Path:
    # One per process: a window's style sheet still names its files after a theme is gone.
    folder = Path(mkdtemp(prefix="rcv-icons-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder
