"""The window's style sheet: thin lines, an 8-px grid, no bevels, theme roles as colours."""

import atexit
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import rmtree
from string import Template
from tempfile import mkdtemp

from PySide6.QtGui import QColor

from rcv_py.base import resources
from rcv_py.base.colors import ROLES

SIZE = 16  # px of an icon's drawing

FRAME = """
QMainWindow, QDialog { background: $window; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
PlaceSplitter::handle { background: $window; }
PlaceSplitter::handle:horizontal { width: 5px; }
PlaceSplitter::handle:vertical { height: 5px; }
QSplitter::handle:hover { background: $accent; }
QToolTip { background: $raised; color: $text; border: 1px solid $line; padding: 4px 6px; }
QStatusBar { background: $window; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
QStatusBar QToolButton { padding: 0 4px; }
QToolBar { background: $window; border: none; border-bottom: 1px solid $line; spacing: 4px;
    padding: 4px 8px; }
QMenuBar { background: $window; padding: 2px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 3px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $hover; }
QMenu { background: $base; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 3px; }
QMenu::item:selected { background: $accent_soft; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenu::indicator { width: 16px; height: 16px; left: 4px; }
QMenu::indicator:checked { image: url("$check"); }
QMenu::right-arrow { image: url("$right"); width: 12px; height: 12px; }
"""

TABS = """
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 3px 10px; border: none;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; background: $hover; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar:focus { color: $accent; }
QTabBar::tab:selected:focus { background: $accent_soft; }
QTabBar::tab:disabled { color: $line; }
QTabBar QToolButton { background: $window; border: none; }
QTabBar::close-button { image: url("$close"); }
QTabWidget::pane { border: none; border-top: 1px solid $line; }
"""

TABLES = """
QAbstractItemView { background: $base; alternate-background-color: $alternate; outline: none;
    border: 1px solid transparent;
    selection-background-color: $accent_soft; selection-color: $text; gridline-color: $line; }
QAbstractItemView:focus, QGraphicsView:focus, FlameView:focus { border: 1px solid $accent; }
QGraphicsView, FlameView { border: 1px solid transparent; }
QHeaderView { background: $window; border: none; }
QHeaderView::section { background: $window; color: $muted; border: none; border-right: 1px solid $line;
    border-bottom: 1px solid $line; padding: 3px 6px; }
QHeaderView::section:hover { color: $text; background: $hover; }
QHeaderView::up-arrow { image: url("$sorted_up"); width: 10px; height: 10px; }
QHeaderView::down-arrow { image: url("$sorted_down"); width: 10px; height: 10px; }
QTableCornerButton::section { background: $window; border: none; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $line; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
"""

INPUTS = """
QLineEdit, QSpinBox, QPlainTextEdit, QTextEdit, QComboBox { background: $base; color: $text;
    border: 1px solid $line;
    border-radius: 3px; padding: 2px 6px; selection-background-color: $accent; selection-color: $base; }
QLineEdit, QSpinBox, QComboBox { min-height: 18px; }
QLineEdit:focus, QSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus,
QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled { background: $window; color: $muted; }
QLineEdit[invalid="true"] { border-color: $error; }
QComboBox::drop-down { border: none; width: 16px; }
QComboBox::down-arrow { image: url("$chevron"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { border: 1px solid $line; padding: 2px; }
QSpinBox::up-button, QSpinBox::down-button { border: none; width: 16px; background: transparent; }
QSpinBox::up-arrow { image: url("$chevron_up"); width: 10px; height: 10px; }
QSpinBox::down-arrow { image: url("$chevron"); width: 10px; height: 10px; }
QPushButton { background: $base; color: $text; border: 1px solid $line; border-radius: 3px;
    padding: 4px 12px; }
QPushButton:hover { background: $hover; border-color: $accent; }
QPushButton:pressed, QPushButton:checked { background: $accent_soft; border-color: $accent; }
QPushButton:disabled { color: $muted; background: $window; border-color: $line; }
QPushButton:default { border-color: $accent; }
QPushButton:focus { border-color: $accent; }
QPushButton[small="true"] { padding: 2px 4px; }
QPushButton[link="true"] { border: none; background: transparent; color: $accent; text-align: left;
    padding: 2px 0; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { text-decoration: underline; border: 1px solid $accent; }
QToolButton { background: transparent; color: $text; border: 1px solid transparent; border-radius: 3px;
    padding: 3px; }
QToolButton:hover { background: $hover; }
QToolButton#corner { padding: 0 3px; }
QToolButton:pressed, QToolButton:checked { background: $accent_soft; }
QToolButton:focus { border-color: $accent; }
QToolButton:disabled { color: $muted; }
QToolButton[legend="true"] { padding: 1px 4px; color: $muted; }
QToolButton[legend="true"]:checked { background: transparent; color: $text; }
QToolButton[legend="true"]:hover { background: $hover; }
QToolButton::menu-indicator { image: none; }
QCheckBox, QRadioButton { spacing: 6px; }
QCheckBox::indicator, QTreeView::indicator { width: 13px; height: 13px; border: 1px solid $muted;
    border-radius: 2px; background: $base; }
QCheckBox::indicator:checked, QTreeView::indicator:checked { border-color: $accent; image: url("$check"); }
QTreeView::indicator:indeterminate { border-color: $accent; background: $muted; }
QCheckBox, QRadioButton { border: 1px solid transparent; border-radius: 2px; }
QCheckBox:focus, QRadioButton:focus { border-color: $accent; }
QProgressBar { background: $raised; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
"""

NAMED = """
#card { background: $base; border: 1px solid $line; border-radius: 4px; }
#alarm { background: $base; border: none; border-bottom: 2px solid $error; }
#card:focus { border-color: $accent; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="headline"] { font-weight: 600; }
QLabel[role="heading"] { color: $text; font-weight: 600; }
QLabel[role="error"] { color: $error; }
QLabel[role="warning"] { color: $warning; }
QFrame[role="line"] { background: $line; border: none; }
QTextBrowser { border: none; border-radius: 0; background: $base; padding: 0 4px; }
#capture { font-weight: 600; padding: 3px 8px; }
#command_field { text-align: left; color: $muted; padding: 4px 10px; }
#palette { background: $base; border: 1px solid $line; }
#palette QLineEdit { border: none; border-bottom: 1px solid $line; border-radius: 0; padding: 8px 10px; }
#overlay_card { background: $base; border: 1px solid $line; }
#welcome, #chooser { background: $canvas; }
#drop_hint { background: $accent_soft; border: 2px dashed $accent; }
#drop_target { border: 1px dashed $muted; border-radius: 6px; }
"""

ICONS = {
    "check": ("check", "accent"),
    "right": ("forward", "muted"),
    "close": ("close", "muted"),
    "chevron": ("chevron", "muted"),
    "chevron_up": ("chevron-up", "muted"),
    # Without our arrows, the style's own arrow points up when the largest is first.
    "sorted_down": ("chevron", "accent"),
    "sorted_up": ("chevron-up", "accent"),
}


def style_sheet(role: Callable[[str], QColor]) -> str:
    """Return the style sheet of a window from the colours of roles."""
    values = {name: role(name).name() for name in ROLES}
    values |= {key: icon_url(name, role(color)) for key, (name, color) in ICONS.items()}
    return Template(FRAME + TABS + TABLES + INPUTS + NAMED).substitute(values)


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


def icon_url(name: str, color: QColor) -> str:
    """Return the path of an icon in a colour, with slashes, as style sheets need it."""
    path = _folder() / f"{name}-{color.name()[1:]}.svg"
    if not path.exists():
        path.write_text(colored(name, color), "utf-8")
    return path.as_posix()
