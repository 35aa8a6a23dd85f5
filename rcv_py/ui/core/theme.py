"""The colour tables as Qt colours, palette and style sheet; switched live."""

from __future__ import annotations

import gc

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from rcv_py.base import colors
from rcv_py.base.colors import Pair
from rcv_py.model.kinds import KIND_COUNT, MarkerKind, TokenKind, WaveState
from rcv_py.model.lod import NOTHING, STALLED
from rcv_py.ui.core.icon_files import IconFiles
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.style_sheet import style_sheet

STALL_MIX = 0.52  # share of the background in the colour of a stall


class Theme(QObject):
    """Every colour a widget may use.  Watch `changed` and repaint; ask again, never keep a colour."""

    changed = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        settings.cell("look.theme").watch(self._update)
        settings.cell("look.preset").watch(self._update)
        settings.cell("look.font_size").watch(self._update)
        self.mono_family = _mono_family()
        self._icon_files = IconFiles()
        self._build()

    # -- asking -------------------------------------------------------------------------------------

    def role(self, name: str) -> QColor:
        """A colour of the interface by its role, e.g. `accent`."""
        return self._roles[name]

    def kind(self, kind: int) -> QColor:
        """The colour of a token kind; unknown numbers look like NONE."""
        return self._kinds[kind] if 0 <= kind < KIND_COUNT else self._kinds[0]

    def kind_text(self, kind: int) -> QColor:
        """The colour of a token kind for text, readable on plain, hovered and selected rows."""
        return self._kind_texts[kind] if 0 <= kind < KIND_COUNT else self._kind_texts[0]

    def stalled(self, kind: int) -> QColor:
        """The colour of the stalled part of a token."""
        return self._stalled[kind] if 0 <= kind < KIND_COUNT else self._stalled[0]

    def state(self, state: int) -> QColor:
        """The colour of a wave state."""
        return self._states[state] if 0 <= state < len(self._states) else self._states[0]

    def kernel(self, number: int) -> QColor:
        """The colour of the n-th kernel."""
        return self._kernels[number % len(self._kernels)]

    def marker(self, kind: int, name: int = 0) -> QColor:
        """The colour of a marker by its kind (`MarkerKind`) and the number of its name."""
        turns = self._markers[kind if 0 <= kind < len(self._markers) else MarkerKind.UNKNOWN]
        return turns[name % len(turns)]

    def arrow(self, number: int) -> QColor:
        """The colour of the n-th wait's arrows."""
        return self._arrows[number % len(self._arrows)]

    def syntax(self, name: str) -> QColor:
        """The colour of a class of source text, e.g. `keyword`."""
        return self._syntax[name]

    def reason(self, reason: int) -> QColor:
        """The colour of a PC-sampling stall reason."""
        return self._reasons[reason] if 0 <= reason < len(self._reasons) else self._reasons[0]

    def soft(self, color: QColor, share: float) -> QColor:
        """Return a colour with `share` of it replaced by the canvas."""
        return QColor(colors.mixed(color.name(), self._roles["canvas"].name(), share))

    @property
    def lod_table(self) -> np.ndarray:
        """uint32 [256] ARGB: the colour of every code of a level-of-detail bucket; NOTHING is transparent."""
        return self._lod_table

    @property
    def mono(self) -> QFont:
        """The font of code, addresses and numbers."""
        font = QFont(self.mono_family, int(self._settings["look.font_size"]))
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFixedPitch(True)
        font.setFeature(QFont.Tag("calt"), 0)  # ligatures would hide what the code really says
        return font

    @property
    def is_dark(self) -> bool:
        """Whether the dark half of the tables is in use."""
        return self._is_dark

    # -- changing -----------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Switch between light and dark."""
        self._settings["look.theme"] = "light" if self._is_dark else "dark"

    def apply(self) -> None:
        """Give palette and style sheet to the application."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        # Qt walks over all widgets and calls Python on the way: a garbage collection in between would delete
        # widgets of a closed window under its feet.
        was_on = gc.isenabled()
        gc.disable()
        try:
            app.setPalette(self._palette())
            if app.styleSheet() != (text := self._style_sheet()):
                app.setStyleSheet(text)
        finally:
            if was_on:
                gc.enable()

    def _update(self) -> None:
        self._build()
        self.apply()
        self.changed.emit()

    def _build(self) -> None:
        wanted = self._settings["look.theme"]
        self._is_dark = _system_is_dark() if wanted == "system" else wanted == "dark"
        preset = colors.PRESETS[self._settings["look.preset"]]
        kinds, states = preset["token_kinds"], preset["wave_states"]
        background = self._pick(colors.ROLES["canvas"])
        self._roles = {name: QColor(self._pick(pair)) for name, pair in colors.ROLES.items()}
        self._kinds = [QColor(self._pick(kinds[kind.name])) for kind in TokenKind]
        rows = [self._pick(colors.ROLES[name]) for name in ("base", "hover", "accent_soft")]
        text = self._pick(colors.ROLES["text"])
        self._kind_texts = [
            QColor(colors.readable(self._pick(kinds[kind.name]), text, rows)) for kind in TokenKind
        ]
        self._stalled = [
            QColor(colors.mixed(self._pick(kinds[kind.name]), background, STALL_MIX)) for kind in TokenKind
        ]
        self._states = [QColor(self._pick(states[state.name])) for state in WaveState]
        self._kernels = [QColor(self._pick(pair)) for pair in colors.KERNELS]
        self._markers = [
            [
                QColor(colors.turned(self._pick(colors.MARKERS[kind.name]), turn))
                for turn in colors.MARKER_TURNS
            ]
            for kind in MarkerKind
        ]
        self._arrows = [QColor(self._pick(pair)) for pair in colors.ARROWS]
        self._syntax = {name: QColor(self._pick(pair)) for name, pair in colors.SYNTAX.items()}
        self._reasons = [QColor(self._pick(pair)) for pair in colors.STALL_REASONS.values()]
        table = np.full(256, self._kinds[0].rgba(), dtype=np.uint32)
        for kind in range(KIND_COUNT):
            table[kind] = self._kinds[kind].rgba()
            table[kind | STALLED] = self._stalled[kind].rgba()
        table[NOTHING] = 0
        self._lod_table = table

    def _pick(self, pair: Pair) -> str:
        return pair.dark if self._is_dark else pair.light

    def _palette(self) -> QPalette:
        palette = QPalette()
        table = {
            QPalette.ColorRole.Window: "window",
            QPalette.ColorRole.WindowText: "text",
            QPalette.ColorRole.Base: "base",
            QPalette.ColorRole.AlternateBase: "alternate",
            QPalette.ColorRole.Text: "text",
            QPalette.ColorRole.Button: "raised",
            QPalette.ColorRole.ButtonText: "text",
            QPalette.ColorRole.ToolTipBase: "raised",
            QPalette.ColorRole.ToolTipText: "text",
            QPalette.ColorRole.PlaceholderText: "muted",
            QPalette.ColorRole.Highlight: "accent_soft",
            QPalette.ColorRole.HighlightedText: "text",
            QPalette.ColorRole.Link: "accent",
            QPalette.ColorRole.Mid: "line",
            QPalette.ColorRole.Dark: "line",
            QPalette.ColorRole.Light: "raised",
        }
        for role, name in table.items():
            palette.setColor(role, self._roles[name])
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self._roles["muted"])
        return palette

    def _style_sheet(self) -> str:
        return style_sheet(self.role, self._icon_files.url)


def _system_is_dark() -> bool:
    hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
    return hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark


def _mono_family() -> str:
    families = QFontDatabase.families() if QGuiApplication.instance() else []
    for wanted in ("JetBrains Mono", "DejaVu Sans Mono", "Liberation Mono", "Menlo", "Consolas"):
        if wanted in families:
            return wanted
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
