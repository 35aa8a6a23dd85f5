"""`--run-files` of the window: findings and reports are made with these tables, not with those nearby."""

from pathlib import Path
from typing import Any

import pytest

from rcv_py.analysis.findings.detect import findings
from rcv_py.cli.commands import view
from rcv_py.cli.main import main
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.state.single_instance import OpenRequest
from rcv_py.work import findings as of_window
from tests.support.findings import findings_near
from tests.support.opened import load_all
from tests.support.samples import write_sample
from tests.ui.window import open_sample, window

KERNEL = '"matmul_tiled(__half const*, __half const*, __half*, int, int, int, float)"'
HEAD = (
    "Kind,Agent_Id,Dispatch_Id,Kernel_Name,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    "SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z\n"
)


def write_table(path: Path, lds: int, vgprs: int) -> Path:
    """A table of a run: what it tells of the registers and the LDS of the kernel."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{HEAD}KERNEL_DISPATCH,1,44,{KERNEL},{lds},0,{vgprs},0,48,256,1,1\n")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture with a table of its run beside it."""
    made = tmp_path / "run" / "ui_output_agent_1_dispatch_44"
    write_sample("matmul_small", made)
    write_table(made.parent / "x_kernel_trace.csv", 16384, 100)
    return made


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table elsewhere, which tells more registers and LDS than the one near the capture."""
    return write_table(tmp_path / "elsewhere" / "x_kernel_trace.csv", 99000, 400)


@pytest.mark.parametrize("largest", [of_window.SMALL_BYTES, 0])  # found here, or by a process
def test_findings_of_the_window_use_the_tables(
    folder: Path, table: Path, largest: int, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr(of_window, "SMALL_BYTES", largest)
    with window() as app:
        app.ui.session.run_files = (table,)
        open_sample(app, folder)
        app.ui.results.want("findings")
        cell = app.ui.results.cell("findings")
        qtbot.waitUntil(lambda: cell.value is not None and not cell.value.partial)
        trace = app.ui.session.trace.value
        read = load_all(trace, workers=0)
        facts = run_facts(trace.path, trace.kernel_name, trace.target, (table,))
        assert cell.value.numbers == findings(trace, read, facts=facts).numbers
        assert cell.value.numbers != findings_near(trace, read).numbers
        words = app.window.workspace.docks["triage"].panel.command_line()
        assert f"--run-files={table}" in words


def test_the_command_hands_them_to_the_window(
    folder: Path, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rcv_py.ui import app

    given: list[OpenRequest] = []
    monkeypatch.setattr(app, "run", lambda request, **__: given.append(request) or 0)
    assert main([str(folder), "--run-files", str(table)]) == 0
    assert given == [OpenRequest(path=str(folder), run_files=(str(table),))]
    assert main([str(folder), "--run-files", str(table.parent / "lost.csv")]) == 2
    assert "lost.csv" in capsys.readouterr().err
    assert len(given) == 1


def test_without_a_display_the_picture_has_them(
    folder: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[Any, ...]] = []
    monkeypatch.setattr(view, "has_display", lambda: False)
    monkeypatch.setattr(view.shot, "write", lambda *words: given.append(words))
    assert main([str(folder), "--run-files", str(table)]) == 0
    assert given[0][-1] == (table,)
