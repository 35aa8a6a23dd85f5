"""The first page."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from rcv_py.base import resources
from rcv_py.ui.app import App
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.shell.dialogs.docs_dialog import DocsDialog
from tests.ui.window import SAMPLE, settings_in, settle, window


def test_the_first_page_offers_samples_and_keys(blank: App) -> None:
    assert blank.window.pages.currentWidget() is blank.window.pages.welcome
    page = blank.window.pages.welcome
    assert page.open.text().startswith("Open")
    assert {path.name for path in resources.samples()} <= {link.text() for link in page.links}
    texts = " ".join(label.text() for label in page.findChildren(QLabel))
    for key in ("Ctrl+K", "W A S D", "?"):
        assert key in texts
    next(link for link in page.links if link.text() == SAMPLE.name).click()
    settle(blank)
    assert blank.ui.session.trace.value.name == SAMPLE.name


def test_return_opens_a_sample(blank: App) -> None:
    blank.window.activateWindow()
    link = next(link for link in blank.window.pages.welcome.links if link.text() == SAMPLE.name)
    link.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(link, Qt.Key.Key_Return)
    settle(blank)
    assert blank.ui.session.trace.value.name == SAMPLE.name
    assert blank.ui.session.history.visits[0].selection == blank.ui.session.selection.value


def test_the_palette_names_captures_as_people_do(tmp_path: Path) -> None:
    with window(settings_in(tmp_path)) as app:
        path = tmp_path / "gemm" / "ui_output_agent_38430_dispatch_44"
        path.mkdir(parents=True)
        app.window.opener.remember(path, "kernel_gemm_0")
        (item,) = [item for item in app.window.palette_._find("kernel_gemm") if item.icon == "folder"]
        assert item.title == "Open kernel_gemm_0 · dispatch 44 · gemm"
        assert item.tip == str(path)
        assert [item.title for item in app.window.palette_._find("38430")] == [item.title]


def test_recent_captures_are_listed_newest_first_and_once(tmp_path: Path) -> None:
    with window(settings_in(tmp_path)) as app:
        opener = app.window.opener
        for name in ("a", "b", "a"):
            (tmp_path / name).mkdir(exist_ok=True)
            opener.remember(tmp_path / name)
        assert [path.name for path in opener.recent] == ["a", "b"]
        (tmp_path / "b").rmdir()
        assert [path.name for path in opener.recent] == ["a"]
        app.window.pages.welcome.refresh()
        assert app.window.pages.welcome.links[0].text() == "a"
        opener.forget_recent()
        assert opener.recent == []


def test_the_bar_offers_the_captures_beside_the_open_one(app: App) -> None:
    menu = app.window.top_bar.capture.menu()
    menu.aboutToShow.emit()
    entries = {action.text().split("   ")[0]: action for action in menu.actions()}
    assert entries[app.ui.session.trace.value.title].isChecked()
    assert len(entries) >= 2


def test_it_says_which_sample_to_start_with_and_leads_to_the_tutorial(blank: App) -> None:
    page = blank.window.pages.welcome
    page.refresh()
    samples = [link for link in page.links if Path(link.toolTip()).parent.name == "sample_traces"]
    assert samples[0].text() == "matmul_tiled"
    texts = [label.text() for label in page.findChildren(PlainLabel)]
    assert any(text.startswith("start here") for text in texts)
    page.tutorial.click()
    (dialog,) = blank.window.findChildren(DocsDialog)
    assert dialog.page == "tutorial.md"
    dialog.close()
    dialog.deleteLater()
