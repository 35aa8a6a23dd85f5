"""What the command palette finds, in which order, and where it opens."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from rcv_py.ui.app import App
from rcv_py.ui.shell.dialogs.settings_dialog import SettingsDialog
from rcv_py.ui.shell.palette import Item
from tests.ui.window import SAMPLES, settle


def found(app: App, text: str) -> list[Item]:
    """The entries for a text."""
    palette = app.window.palette_
    palette.open(text)
    items = list(palette.items)
    palette.close()
    return items


@pytest.mark.parametrize("text", ["se0 simd1", "SE 0 · SIMD 1", "se0/simd1/"])
def test_waves_are_found_by_parts_of_their_name_the_longest_first(app: App, text: str) -> None:
    waves = app.ui.session.trace.value.waves
    rows = [row for row in range(len(waves)) if waves.se[row] == 0 and waves.simd[row] == 1]
    rows.sort(key=lambda row: waves.begin[row] - waves.end[row])
    titles = [item.title for item in found(app, text) if item.icon == "wave"]
    assert titles
    assert titles == [str(waves.id(row)) for row in rows][: len(titles)]


def test_a_setting_is_found_and_opens(app: App) -> None:
    item = found(app, "language")[0]
    assert item.title.startswith("Language of the window")
    item.run()
    settle(app)
    (dialog,) = app.window.findChildren(SettingsDialog)
    assert dialog.search.text() == "look.language"
    assert dialog.editors["look.language"].isVisible()
    assert not dialog.editors["look.theme"].isVisible()
    dialog.close()


def test_a_command_is_found_by_its_menu_and_what_it_says(app: App) -> None:
    assert "Save a picture or table …" in [item.title for item in found(app, "export svg")]


def test_a_pasted_path_can_be_opened(app: App, tmp_path: Path) -> None:
    (tmp_path / "two words").mkdir()
    for text in (str(tmp_path), f'"{tmp_path}"', (tmp_path / "two words").as_uri()):
        item = found(app, text)[0]
        assert item.title.startswith("Open ")
        assert item.tip.startswith(str(tmp_path))


def test_a_pasted_source_place_of_another_machine_is_found(app: App) -> None:
    session = app.ui.session
    number, file = next(iter(enumerate(session.trace.value.sources)))
    name = file.path.rpartition("/")[2]
    for text in (f"/elsewhere/{name}:7", f'File "/elsewhere/{name}", line 7'):
        item = next(item for item in found(app, text) if item.icon == "file")
        item.run()
        assert session.selection.value.source == (number, 7)


def test_another_capture_closes_what_offers_places_of_this_one(app: App) -> None:
    """A capture comes when it has been read: meanwhile the palette, or a menu of a row, may be open."""
    palette, menu = app.window.palette_, QMenu(app.window.workspace.docks["isa"])
    app.window.opener.open(SAMPLES / "placeholder")
    palette.open(f"line {len(app.ui.session.trace.value.code) - 1}")
    menu.popup(QPoint())
    settle(app)
    assert not palette.isVisible()
    assert not menu.isVisible()


def test_instructions_come_by_falling_cost(app: App) -> None:
    code = app.ui.session.trace.value.code
    rows = [row for row, text in enumerate(code.text) if "v_" in text]
    dearest = code.text[max(rows, key=lambda row: code.latency[row])]
    items = [item for item in found(app, "v_") if item.icon == "line"]
    assert items[0].title == dearest
    costs = sorted(np.asarray(code.latency)[rows], reverse=True)
    assert f"{costs[0]:,} cycles" in items[0].note


def test_a_text_that_fits_nothing_says_so(app: App) -> None:
    (item,) = found(app, "qqqzzz")
    assert "qqqzzz" in item.title
    assert item.why_not


def test_letters_far_apart_fit_nothing(empty_app: App, tmp_path: Path) -> None:
    """A recent capture has enough letters for almost any word."""
    (tmp_path / "flash_attn_dispatch_44_large_queries").mkdir()
    empty_app.window.opener.remember(tmp_path / "flash_attn_dispatch_44_large_queries")
    assert not [item for item in found(empty_app, "flaheries") if item.icon == "folder"]


def test_it_opens_below_the_field(app: App) -> None:
    window, palette = app.window, app.window.palette_
    window.resize(1600, 900)
    palette.open()
    field = window.top_bar.field
    corner = field.mapToGlobal(QPoint(0, field.height()))
    assert abs(palette.y() - corner.y()) <= 4
    assert palette.x() <= corner.x() + field.width()
    assert palette.x() + palette.width() >= corner.x()
    assert abs(palette.x() - corner.x()) <= 4 or palette.geometry().right() >= window.geometry().right() - 20
    palette.close()
