"""Tables beside a capture: which launch is meant, and what damaged ones do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rcv_py.formats import run_files
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from tests.support import captures

HEAD = (
    '"Kind","Agent_Id","Dispatch_Id","Kernel_Name","LDS_Block_Size","Scratch_Size","VGPR_Count",'
    '"Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z"\n'
)


def row(name: str, dispatch: int = 1, vgprs: int = 32, lds: int = 0) -> str:
    return f'"KERNEL_DISPATCH","Agent 2",{dispatch},"{name}",{lds},0,{vgprs},4,48,256,2,1\n'


def capture(tmp_path: Path, *rows: str, name: str = "ui_output_agent_1_dispatch_7", head: str = HEAD) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "run_kernel_trace.csv").write_text(head + "".join(rows))
    return folder


def test_a_launch_is_found_by_name(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("other"), row("mine", 2, 64, 1024), row("mine_too", 3, 8))
    found = run_facts(folder, "mine").kernel
    assert found is not None
    assert (found.vgprs, found.accum_vgprs, found.sgprs, found.lds) == (64, 4, 48, 1024)
    assert (found.workgroup, found.threads, found.file) == ((256, 2, 1), 512, "run_kernel_trace.csv")


def test_the_dispatch_id_chooses_among_the_same_name(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine", 6, 64), row("mine", 6, 64), row("mine", 7, 128))
    assert run_facts(folder, "mine").kernel.vgprs == 128  # type: ignore[union-attr]


def test_launches_that_differ_are_told(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine", 1, 64), row("mine", 2, 96), row("mine", 3, 96))
    found = run_facts(folder, "mine")
    assert found.kernel is not None
    assert found.kernel.vgprs == 96
    assert "differ" in found.notes[0]


def test_a_kernel_that_is_not_there_is_told(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("other"))
    found = run_facts(folder, "mine_kernel")
    assert found.kernel is None
    assert "mine_kernel is none of them" in found.notes[0]
    assert run_facts(folder, "").kernel is None


def test_names_with_commas_quotes_and_suffixes(tmp_path: Path) -> None:
    folder = capture(tmp_path, row('void f<1, ""x"">(int, float)', 1, 40))
    found = run_facts(folder, 'f<1, "x">(int,float)').kernel
    assert found is not None
    assert found.vgprs == 40


def test_older_columns_are_read(tmp_path: Path) -> None:
    head = "Agent_Id,Dispatch_Id,Kernel_Name,Private_Segment_Size,Group_Segment_Size\n"
    folder = capture(tmp_path, "1,2,mine,16,512\n", head=head)
    found = run_facts(folder, "mine").kernel
    assert found is not None
    assert (found.lds, found.scratch, found.vgprs, found.threads) == (512, 16, -1, 0)


def test_the_folder_above_a_capture_and_no_further(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine"))
    deep = folder / "ui_output_agent_1_dispatch_8"
    deep.mkdir()
    assert run_facts(deep, "mine").kernel is None


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text(HEAD + row("mine"))
    folder = tmp_path / "run" / "ui_output_agent_1_dispatch_1"
    folder.mkdir(parents=True)
    (folder / "x_kernel_trace.csv").symlink_to(outside)
    found = run_facts(folder, "mine")
    assert found.kernel is None
    assert "outside" in found.notes[0]


def test_a_table_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = capture(tmp_path, row("mine"))
    monkeypatch.setattr(run_files, "LIMIT", 100)
    found = run_facts(folder, "mine")
    assert found.kernel is None
    assert "more than the 100" in found.notes[0]


def test_an_endless_cell_is_told(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine"), '"' + "x" * 200_000 + '"\n')
    found = run_facts(folder, "mine")
    assert found.kernel is not None
    assert "is damaged behind line" in found.notes[0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x_kernel_trace.csv").write_bytes(HEAD.encode() + data)
    (tmp_path / "x_agent_info.csv").write_bytes(b"Agent_Type,Name,Simd_Per_Cu\nGPU," + data)
    run_facts(tmp_path, "mine", "gfx950")


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_real_tables_tell_kernel_and_device(name: str) -> None:
    trace = open_trace(captures.trace_path(name))
    found = run_facts(trace.path, trace.kernel_name, trace.target)
    assert found.kernel is not None
    assert found.kernel.threads > 0
    assert found.kernel.kernel in (trace.kernel_name, *(kernel.name for kernel in trace.code.kernels))
    assert found.agent is None or (found.agent.name, found.agent.waves_per_simd) == ("gfx950", 8)


def test_the_program_is_told_by_the_results_file(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine"))
    assert run_facts(folder, "mine").command == ()
    words = ["python", "a ] b.py", '--name="x"', "\u00e4"]
    head = {"rocprofiler-sdk-tool": [{"metadata": {"pid": 1, "command": words}, "records": ["x"] * 9}]}
    (tmp_path / "run_results.json").write_text(json.dumps(head) + "no json at the end")
    found = run_facts(folder, "mine")
    assert (found.command, found.command_file) == (tuple(words), "run_results.json")


@pytest.mark.parametrize(
    "text", ["", "{", '{"command":', '{"command": [1, 2]}', '{"command": []}', '"command": ["a']
)
def test_a_results_file_that_tells_no_program_is_passed_over(text: str, tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine"))
    (tmp_path / "run_results.json").write_text(text)
    found = run_facts(folder, "mine")
    assert (found.command, found.command_file) == ((), "")
    assert found.kernel is not None
