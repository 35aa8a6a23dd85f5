"""The page that lists captures: names that differ, numbers of opened captures, filter, comparing two."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from pytestqt.qtbot import QtBot

from rcv_py.model.trace import CaptureEntry
from rcv_py.ui.app import App
from rcv_py.ui.shell.chooser import Chooser, columns, distinct_names
from tests.support.samples import write_sample
from tests.ui.window import settle, show_panel

LONG = "willhu-jpg_AMD-benchmarking-harness_kernels"


def entry(path: str, kernel: str = "k", **facts: object) -> CaptureEntry:
    return CaptureEntry(Path(path), Path(path).name, kernel, **facts)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("big/x/out", "small/x/out"), ["big", "small"]),
        (("runs/a_dispatch_44", "runs/b_dispatch_44"), ["a_dispatch_44", "b_dispatch_44"]),
        ((f"{LONG}_256_128_64_16", f"{LONG}_128_128_64_32"), ["…256_128_64_16", "…128_128_64_32"]),
        (("a/x", "b/y"), ["x · a", "y · b"]),
    ],
)
def test_names_are_what_differs(paths: tuple[str, ...], names: list[str]) -> None:
    assert distinct_names([entry(f"/top/{path}") for path in paths], Path("/top")) == names


def test_dispatches_are_named_shortly() -> None:
    entries = [
        entry(f"/top/{run}/ui_output_agent_7_dispatch_44", agent=7, dispatch=44) for run in ("big", "small")
    ]
    assert distinct_names(entries, Path("/top")) == ["big", "small"]
    entries = [
        entry(f"/top/run/ui_output_agent_7_dispatch_{number}", agent=7, dispatch=number) for number in (4, 5)
    ]
    assert distinct_names(entries, Path("/top")) == ["dispatch 4", "dispatch 5"]


def test_names_always_differ() -> None:
    """Captures of two GPUs with the same number of the launch keep the names of their folders."""
    entries = [entry(f"/top/ui_output_agent_{a}_dispatch_5", agent=a, dispatch=5) for a in (1, 2)]
    entries += [entry(f"/top/r/ui_output_agent_{a}_dispatch_5", agent=a, dispatch=5) for a in (1, 2)]
    assert len(set(distinct_names(entries, Path("/top")))) == 4


def test_empty_columns_are_left_out_and_cells_have_whole_names() -> None:
    entries = (entry("/top/a"), entry("/top/b", cycles=5))
    shown = {one.id: one for one in columns(entries, {}, Path("/top"))}
    assert "agent" not in shown
    assert "recorded" not in shown
    assert "waves" in shown
    assert "/top/a" in shown["title"].tips[0]


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Two captures, the second recorded later, and one too deep to be found at first."""
    for at, name in enumerate(("first", "second")):
        write_sample("matmul_small", tmp_path / "runs" / name)
        os.utime(tmp_path / "runs" / name / "filenames.json", (10**9 + at * 10**6,) * 2)
    write_sample("matmul_small", tmp_path / "runs" / "1" / "2" / "3" / "4" / "5")
    return tmp_path / "runs"


def listed(app: App, folder: Path) -> Chooser:
    app.window.opener.open(folder)
    settle(app)
    assert app.window.pages.currentWidget() is app.window.pages.chooser
    return app.window.pages.chooser


def cells(chooser: Chooser, name: str) -> list[str]:
    at = chooser.model.column_of(name)
    return [chooser.model.text(row, at) for row in range(len(chooser.entries))]


def test_the_numbers_are_those_of_the_opened_capture(blank: App, captures: Path) -> None:
    chooser = listed(blank, captures)
    duration, bound, first = (cells(chooser, name)[0] for name in ("duration", "class", "finding"))
    titles = [one.title for one in chooser.model.columns]
    assert "Duration (cycles)" in titles
    chooser.chosen.emit(chooser.entries[0].path)
    settle(blank)
    show_panel(blank, "triage")
    found = blank.ui.results.cell("findings").value
    numbers = {one.id: one.text for one in found.numbers}
    assert numbers["duration"] == f"{duration} cycles"
    assert bound == found.bound_class.name
    assert first == found.headline


def test_the_list_is_filtered_by_words(blank: App, captures: Path, qtbot: QtBot) -> None:
    chooser = listed(blank, captures)
    chooser.filter.setText("second matmul")
    assert [chooser.model.data_row(at) for at in range(chooser.model.rowCount())] == [1]
    qtbot.keyClick(chooser.filter, Qt.Key.Key_Return)
    settle(blank)
    assert blank.ui.session.trace.value.path.name == "second"


def test_it_says_how_deep_it_looked_and_looks_deeper(blank: App, captures: Path) -> None:
    chooser = listed(blank, captures)
    assert len(chooser.entries) == 2
    assert "up to 4 folders below" in chooser.title.text()
    chooser.deeper_button.click()
    settle(blank)
    assert len(chooser.entries) == 3
    assert "up to 8 folders below" in chooser.title.text()


def test_two_captures_are_compared_the_earlier_as_the_baseline(
    blank: App, captures: Path, qtbot: QtBot
) -> None:
    chooser = listed(blank, captures)
    assert not chooser.compare_button.isEnabled()
    every = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row in (0, 1):
        chooser.table.selectionModel().select(chooser.model.index(row, 0), every)
    assert chooser.compare_button.isEnabled()
    chooser.compare_button.click()
    settle(blank)
    session = blank.ui.session
    qtbot.waitUntil(lambda: session.baseline.value is not None)
    assert session.trace.value.path.name == "second"
    assert session.baseline.value.trace.path.name == "first"


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_its_columns_fit_the_window_and_come_back_in_a_wider_one(
    blank: App, captures: Path, size: tuple[int, int]
) -> None:
    chooser = listed(blank, captures)
    across = chooser.table.horizontalScrollBar()
    names = [one.id for one in chooser.model.columns]
    seen = {name for at, name in enumerate(names) if not chooser.table.isColumnHidden(at)}
    assert across.maximum() == 0
    assert seen >= {"title", "kernel", "class", "finding", "duration", "waves", "note"}
    blank.window.resize(4000, size[1])
    settle(blank)
    assert across.maximum() == 0
    assert not any(chooser.table.isColumnHidden(at) for at in range(len(names)))
    blank.window.resize(*size)
    settle(blank)
    assert across.maximum() == 0
