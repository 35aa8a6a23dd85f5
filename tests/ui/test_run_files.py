"""`--run-files` of the window: findings and reports are made with these tables, not with those nearby."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.findings.detect import findings
from rcv_py.cli.commands import view
from rcv_py.cli.main import main
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.state.single_instance import Request
from rcv_py.work import findings as of_window
from rcv_py.work.load import load_all
from tests.support import captures
from tests.support.findings import findings_near
from tests.ui.window import open_sample, window

FOLDER = captures.trace_path("flash_attn_small_after")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table that tells more registers and LDS than the one near the capture."""
    head = "Kind,Agent_Id,Dispatch_Id,Kernel_Name,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    path = tmp_path / "x_kernel_trace.csv"
    path.write_text(
        f"{head}SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z\n"
        "KERNEL_DISPATCH,1,44,flash_attn_func_kernel_0,99000,0,400,0,48,256,1,1\n"
    )
    return path


@pytest.mark.parametrize("largest", [of_window.SMALL_BYTES, 0])  # found here, or by a process
def test_findings_of_the_window_use_the_tables(
    table: Path, largest: int, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr(of_window, "SMALL_BYTES", largest)
    with window() as app:
        app.ui.session.run_files = (table,)
        open_sample(app, qtbot, FOLDER)
        app.ui.results.want("findings")
        cell = app.ui.results.cell("findings")
        qtbot.waitUntil(lambda: cell.value is not None and not cell.value.partial, timeout=60_000)
        trace = app.ui.session.trace.value
        read = load_all(trace, workers=0)
        facts = run_facts(trace.path, trace.kernel_name, trace.target, (table,))
        assert cell.value.numbers == findings(trace, read, facts=facts).numbers
        assert cell.value.numbers != findings_near(trace, read).numbers
        words = app.window.workspace.docks["triage"].panel.command_line()
        assert f"--run-files={table}" in words


def test_the_command_hands_them_to_the_window(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rcv_py.ui import app

    given: list[Request] = []
    monkeypatch.setattr(app, "run", lambda request, **__: given.append(request) or 0)
    assert main([str(FOLDER), "--run-files", str(table)]) == 0
    assert given == [Request(path=str(FOLDER), run_files=(str(table),))]
    assert main([str(FOLDER), "--run-files", str(table.parent / "lost.csv")]) == 2
    assert "lost.csv" in capsys.readouterr().err
    assert len(given) == 1


def test_without_a_display_the_picture_has_them(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Any, ...]] = []
    monkeypatch.setattr(view, "has_display", lambda: False)
    monkeypatch.setattr(view.shot, "write", lambda *words: given.append(words))
    assert main([str(FOLDER), "--run-files", str(table)]) == 0
    assert given[0][-1] == (table,)
