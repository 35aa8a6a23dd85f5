"""Colours: readable in both themes, in one table, and complete."""

import re
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QLabel, QTreeWidget
from pytestqt.qtbot import QtBot

from rcv_py.base import colors, resources
from rcv_py.base.colors import Pair, contrast
from rcv_py.ui.app import App, load_fonts
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, column
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.theme import ICONS, drawing, style_sheet

IS_PAINTED = True

ROOT = Path(__file__).resolve().parents[2]
THEMES = (0, 1)  # light, dark
TEXT = ("text", "muted", "accent", "warning", "error", "good", "measure")
BACKGROUNDS = ("window", "base", "canvas", "alternate")
NO_MEANING = ("EMPTY",)


def test_no_role_of_the_style_sheet_is_given_as_a_name(ui: UiContext) -> None:
    """Which it would not style."""
    roles = set(re.findall(r'role="(\w+)"', style_sheet(ui.theme.role)))
    sources = [path.read_text() for path in (ROOT / "rcv_py" / "ui").rglob("*.py")]
    names = {name for text in sources for name in re.findall(r'setObjectName\("(\w+)"\)', text)}
    assert {"muted", "heading"} <= roles
    assert "capture" in names
    assert not roles & names


TABLES: dict[str, Pair] = {
    **{f"kind {name}": pair for name, pair in colors.TOKEN_KINDS.items()},
    **{f"state {name}": pair for name, pair in colors.WAVE_STATES.items() if name not in NO_MEANING},
    **{f"reason {name}": pair for name, pair in colors.STALL_REASONS.items()},
    **{f"marker {name}": pair for name, pair in colors.MARKERS.items()},
    **{
        f"marker {name} turned by {turn}": Pair(*(colors.turned(color, turn) for color in pair))
        for name, pair in colors.MARKERS.items()
        for turn in colors.MARKER_TURNS
    },
    **{f"kernel {at}": pair for at, pair in enumerate(colors.KERNELS)},
    **{f"arrow {at}": pair for at, pair in enumerate(colors.ARROWS)},
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("text", "background"),
    [
        *((colors.ROLES[name], background) for name, background in product(TEXT, BACKGROUNDS)),
        *((colors.ROLES["text"], background) for background in ("accent_soft", "hover", "raised")),
        *((pair, "base") for pair in colors.SYNTAX.values()),
    ],
)
def test_text_can_be_read(text: Pair, background: str, theme: int) -> None:
    """That of roles, that of rows that are selected, and code."""
    assert contrast(text[theme], colors.ROLES[background][theme]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", TABLES)
def test_what_means_something_can_be_seen(name: str, theme: int) -> None:
    assert contrast(TABLES[name][theme], colors.ROLES["canvas"][theme]) >= 3


@pytest.mark.parametrize("preset", colors.PRESETS)
def test_a_preset_has_every_colour(preset: str) -> None:
    assert set(colors.PRESETS[preset]["token_kinds"]) == set(colors.TOKEN_KINDS)
    assert set(colors.PRESETS[preset]["wave_states"]) == set(colors.WAVE_STATES)


def test_no_colour_is_written_anywhere_else() -> None:
    pattern = re.compile(r"QColor\(\s*[\"'\d]|[\"']#[0-9a-fA-F]{3,8}[\"']|setNamedColor")
    own = {"rcv_py/base/colors.py", "rcv_py/ui/core/theme.py"}
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "rcv_py" / "ui").rglob("*.py"))
        if str(path.relative_to(ROOT)) not in own and pattern.search(path.read_text())
    ]
    assert not found


def test_the_style_sheet_is_complete_and_follows_the_theme(ui: UiContext) -> None:
    light = style_sheet(ui.theme.role)
    assert "$" not in light
    assert all(f"/{name}-" in light for name, _ in ICONS.values())
    ui.settings["look.theme"] = "dark"
    assert style_sheet(ui.theme.role) != light
    assert light.count("{") == light.count("}")


def test_what_is_put_together_is_styled_when_it_gets_into_a_window(blank: App, qtbot: QtBot) -> None:
    class Counted(QLabel):
        times = 0

        def changeEvent(self, event: QEvent) -> None:
            self.times += event.type() == QEvent.Type.StyleChange

    for theme in ("dark", "light"):
        blank.ui.settings["look.theme"] = theme
        assert blank.window.styleSheet() == style_sheet(blank.ui.theme.role)
    label = Counted()
    inner = boxed(column(label))
    outer = boxed(column(inner))
    qtbot.addWidget(outer)
    outer.sizeHint()
    assert label.times == 0, "put together without a window around it"
    outer.setParent(blank.window)
    assert label.times == 1


@pytest.mark.parametrize("order", [Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder])
def test_largest_first_points_down(blank: App, order: Qt.SortOrder, qtbot: QtBot) -> None:
    blank.ui.settings["look.theme"] = "light"
    table = QTreeWidget(blank.window)
    qtbot.addWidget(table)
    table.setHeaderLabels([""])
    table.setSortingEnabled(True)
    table.sortByColumn(0, order)
    table.resize(120, 80)
    table.show()
    qtbot.wait(30)
    image = table.header().grab().toImage()
    blue = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if (ink := image.pixelColor(x, y)).blue() - ink.red() > 60
    ]
    assert blue
    middle = sum(x for x, _ in blue) / len(blue)
    tip = [y for x, y in blue if abs(x - middle) <= 1]
    ends = [y for x, y in blue if abs(x - middle) > 2]
    is_down = sum(tip) / len(tip) > sum(ends) / len(ends)
    assert is_down == (order == Qt.SortOrder.DescendingOrder)


def test_every_icon_has_a_drawing_that_shows_in_both_themes(ui: UiContext) -> None:
    folder = resources.resource("icons")
    paths = list(folder.glob("*.svg"))
    assert all("currentColor" in drawing(path.stem) for path in paths)
    for theme in ("light", "dark"):  # outside: Qt styles every widget anew
        ui.settings["look.theme"] = theme
        for path in paths:
            image = icon(ui.theme, path.stem).pixmap(16, 16).toImage()
            inked = [
                image.pixelColor(x, y) for x in range(16) for y in range(16) if image.pixelColor(x, y).alpha()
            ]
            assert inked, path.stem
    used = set()
    for path in (ROOT / "rcv_py" / "ui").rglob("*.py"):
        used |= set(
            re.findall(r"\b(?:icon|pixmap)\((?:self\.)?_?(?:ui\.)?theme, \"([\w-]+)\"", path.read_text())
        )
    assert used <= {path.stem for path in folder.glob("*.svg")}


def test_the_monospace_font_is_ours(ui: UiContext) -> None:
    load_fonts()
    assert "JetBrains Mono" in QFontDatabase.families()
    folder = resources.resource("fonts")
    assert folder is not None
    assert "Apache License" in (folder / "LICENSE-JetBrainsMono.txt").read_text()
