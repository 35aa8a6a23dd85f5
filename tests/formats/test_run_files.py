"""Tables beside a capture: which launch is meant, and what damaged ones do."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.device.occupancy_limits import occupancy_limits
from rcv_py.base.errors import UsageError
from rcv_py.formats.input.run_places import MAX_PLACES, nearby
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout import run_files
from rcv_py.formats.uiout.run_files import facts_about, run_facts
from rcv_py.model.resources import KernelResources
from tests.support import rocpd
from tests.support.object_files import code_file
from tests.support.samples import write_sample

END = bytes.fromhex("000081bf")  # s_endpgm

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
    assert (found.vgprs, found.accum_vgprs, found.sgprs, found.lds) == (64, 4, 48, 1024)
    assert (found.workgroup, found.threads, found.file) == ((256, 2, 1), 512, "run_kernel_trace.csv")


def test_the_dispatch_id_chooses_among_the_same_name(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine", 6, 64), row("mine", 6, 64), row("mine", 7, 128))
    assert run_facts(folder, "mine").kernel.vgprs == 128  # type: ignore[union-attr]


def test_launches_that_differ_are_told(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine", 1, 64), row("mine", 2, 96), row("mine", 3, 96))
    found = run_facts(folder, "mine")
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
    assert found.vgprs == 40


def test_older_columns_are_read(tmp_path: Path) -> None:
    head = "Agent_Id,Dispatch_Id,Kernel_Name,Private_Segment_Size,Group_Segment_Size\n"
    folder = capture(tmp_path, "1,2,mine,16,512\n", head=head)
    found = run_facts(folder, "mine").kernel
    assert (found.lds, found.scratch, found.vgprs, found.threads) == (512, 16, -1, 0)


def library(root: Path, kind: str = "small", dispatch: int = 7) -> Path:
    """The capture of `examples/K/att_viewer/KIND`, with tables in `examples/K/compute_viewer`."""
    folder = root / "examples" / "K" / "att_viewer" / kind / f"ui_output_agent_1_dispatch_{dispatch}"
    folder.mkdir(parents=True)
    (folder / "filenames.json").write_text("{}")
    tables = root / "examples" / "K" / "compute_viewer"
    tables.mkdir(exist_ok=True)
    return folder


def test_tables_lie_in_the_layout_of_a_library(tmp_path: Path) -> None:
    folder = library(tmp_path)
    tables = tmp_path / "examples" / "K" / "compute_viewer"
    (tables / "small_kernel_trace.csv").write_text(HEAD + row("other") + row("mine", 2, 64, 1024))
    (tables / "small_agent_info.csv").write_text(
        "Agent_Type,Name,Cu_Count,Product_Name\nGPU,gfx950,256,MI350X\n"
    )
    found = run_facts(folder, "mine", "gfx950")
    assert (found.kernel.lds, found.agent.cus, found.agent.product) == (1024, 256, "MI350X")
    assert found.files == tuple(str(tables / f"small_{name}.csv") for name in ("kernel_trace", "agent_info"))


def test_the_nearest_table_that_knows_the_kernel_counts(tmp_path: Path) -> None:
    folder = library(tmp_path)
    tables = tmp_path / "examples" / "K" / "compute_viewer"
    (tables / "far_kernel_trace.csv").write_text(HEAD + row("mine", 2, 64))
    (folder.parent / "near_kernel_trace.csv").write_text(HEAD + row("other", 2, 96))
    assert run_facts(folder, "mine").kernel.vgprs == 64  # type: ignore[union-attr]
    (folder.parent / "near_kernel_trace.csv").write_text(HEAD + row("mine", 2, 96))
    assert run_facts(folder, "mine").kernel.vgprs == 96  # type: ignore[union-attr]


def test_tables_of_other_captures_are_left_alone(tmp_path: Path) -> None:
    folder, other = library(tmp_path), library(tmp_path, "big", 8)
    (other.parent / "x_kernel_trace.csv").write_text(HEAD + row("mine"))  # beside another capture
    strange = tmp_path / "examples" / "downloads"
    strange.mkdir()
    (strange / "x_kernel_trace.csv").write_text(HEAD + row("mine"))  # in no library entry
    assert run_facts(folder, "mine").kernel is None
    assert run_facts(other, "mine").kernel is not None


def test_not_more_than_five_levels_up(tmp_path: Path) -> None:
    (tmp_path / "x_kernel_trace.csv").write_text(HEAD + row("mine"))
    folder = tmp_path.joinpath(*"abcd", "ui_output_agent_1_dispatch_7")
    folder.mkdir(parents=True)
    assert run_facts(folder, "mine").kernel is not None
    deeper = folder / "ui_output_agent_1_dispatch_8"
    deeper.mkdir()
    assert run_facts(deeper, "mine").kernel is None


def test_few_folders_are_looked_into_and_loops_of_links_end(tmp_path: Path) -> None:
    folder = library(tmp_path)
    entry = tmp_path / "examples" / "K"
    for number in range(300):
        (entry / f"folder_{number}").mkdir()
    (entry / "loop").symlink_to(entry, target_is_directory=True)
    (folder / "self").symlink_to(folder, target_is_directory=True)
    assert len(list(nearby(folder))) <= MAX_PLACES
    assert run_facts(folder, "mine").kernel is None


def test_a_linked_capture_has_the_tables_of_both_ends(tmp_path: Path) -> None:
    folder = library(tmp_path / "real")
    tables = tmp_path / "real" / "examples" / "K" / "compute_viewer"
    (tables / "x_kernel_trace.csv").write_text(HEAD + row("mine", 2, 64))
    link = tmp_path / "links" / folder.name
    link.parent.mkdir()
    link.symlink_to(folder, target_is_directory=True)
    assert run_facts(link, "mine").kernel.vgprs == 64  # type: ignore[union-attr]


def test_a_server_looks_below_its_root_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = capture(tmp_path, row("mine"))
    monkeypatch.setenv("RCV_ROOT", str(folder))
    assert run_facts(folder, "mine").kernel is None
    monkeypatch.setenv("RCV_ROOT", str(tmp_path))
    assert run_facts(folder, "mine").kernel is not None


def test_given_files_and_folders_count_alone(tmp_path: Path) -> None:
    folder = capture(tmp_path, row("mine", 1, 64))
    given = tmp_path / "given"
    given.mkdir()
    table = given / "x_kernel_trace.csv"
    table.write_text(HEAD + row("mine", 1, 128))
    for path in (table, given):
        assert run_facts(folder, "mine", given=[path]).kernel.vgprs == 128  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="no table of a run"):
        run_facts(folder, "mine", given=[tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="no table of a run"):
        run_facts(folder, "mine", given=[folder])


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
    assert "is damaged after line" in found.notes[0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x_kernel_trace.csv").write_bytes(HEAD.encode() + data)
    (tmp_path / "x_agent_info.csv").write_bytes(b"Agent_Type,Name,Simd_Per_Cu\nGPU," + data)
    run_facts(tmp_path, "mine", "gfx950")


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


# -- databases and documents ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["out_results.db", "7.rocpd", "out_results.json"])
def test_where_no_table_knows_the_kernel_a_database_does(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_3"
    folder.mkdir()
    if form.endswith(".json"):
        (tmp_path / form).write_text(json.dumps(rocpd.document()))
    else:
        rocpd.write(tmp_path / form)
    found = run_facts(folder, "slow", "gfx950")
    launch, agent = found.kernel, found.agent
    assert agent is not None
    assert (launch.dispatch, launch.vgprs, launch.lds, launch.workgroup) == (3, 128, 4096, (64, 1, 1))
    assert (launch.ns, launch.file) == (200, form)
    assert (agent.cus, agent.waves_per_simd, agent.lds, agent.engines) == (256, 8, 160 * 1024, 32)
    assert agent.product == "MI350X"
    assert found.files == (str(tmp_path / form),)
    assert run_facts(tmp_path, "slow", given=[tmp_path / form]).kernel is not None


def test_tables_are_believed_before_databases(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_3"
    folder.mkdir()
    rocpd.write(folder / "out_results.db")
    head = "Kernel_Name,Dispatch_Id,VGPR_Count"
    (tmp_path / "1_kernel_trace.csv").write_text(f"{head}\nslow(),3,77\n")
    found = run_facts(folder, "slow").kernel
    assert (found.vgprs, found.file) == (77, "1_kernel_trace.csv")


def test_kernels_that_were_loaded_are_known_without_a_launch(tmp_path: Path) -> None:
    rocpd.write(tmp_path / "out_results.db", without=["kernel_dispatch"])
    found = run_facts(tmp_path / "capture", "slow").kernel
    assert found.dispatch == -1
    assert found.vgprs == 128
    assert found.lds == 2048
    assert found.ns == -1
    assert found.workgroup == (-1, -1, -1)


def test_damaged_or_large_databases_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out_results.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    found = run_facts(tmp_path / "capture", "slow")
    assert found.kernel is None
    assert any(note.startswith("out_results.db") for note in found.notes)
    rocpd.write(tmp_path / "other_results.db")
    monkeypatch.setattr(run_files, "PROFILE_BYTES", 100)
    assert run_facts(tmp_path / "capture", "slow").kernel is None


def test_registers_that_a_code_object_allocates_count_before_listed_and_named_ones(tmp_path: Path) -> None:
    """A kernel that calls a function allocates more than its own instructions name."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("matmul_small", folder)
    trace = open_trace(folder)
    assert facts_about(trace).allocated is None
    kernel = trace.code.main_kernel
    assert kernel is not None
    for number, registers in ((9, 3), (1, 30 | 11 << 6)):
        data = code_file({kernel.name: END}, kernels=(kernel.name,), machine=0x4C, registers=registers)
        (tmp_path / f"host_7_gfx942_code_object_id_{number}.out").write_bytes(data)
    (tmp_path / "host_7_gfx942_code_object_id_5.out").write_bytes(b"no code object")
    facts = facts_about(trace)
    assert (facts.allocated.vgprs, facts.allocated.sgprs) == (31 * 8, 12 * 8)
    file = "host_7_gfx942_code_object_id_1.out"
    found = {one.name: one for one in occupancy_limits(trace, facts).limits}
    assert (found["vector registers"].used, found["vector registers"].source) == (248, file)
    assert (found["scalar registers"].used, found["scalar registers"].source) == (96, file)
    launch = KernelResources(kernel.name, 1, 124, 0, 48, 0, 0, (256, 1, 1), (0, 0, 0), "table.csv")
    limits = occupancy_limits(trace, replace(facts, kernel=launch))
    assert {one.name: one.used for one in limits.limits}["vector registers"] == 248
    assert not any("half" in note for note in limits.notes)


@pytest.mark.parametrize("content", ["", "\x00\ufffd,,\n1,2\n", '"Node_Id","Agent_Type"\n0,"CPU"\n'])
def test_a_table_of_devices_without_a_gpu_is_told(tmp_path: Path, content: str) -> None:
    folder = capture(tmp_path, row("mine"))
    assert run_facts(folder, "mine", "gfx950").damage == ()
    (tmp_path / "run_agent_info.csv").write_text(content)
    found = run_facts(folder, "mine", "gfx950")
    said = "run_agent_info.csv names no GPU: whether the launch leaves SIMDs without a wave is not known."
    assert (found.agent, found.damage, found.notes) == (None, (said,), (said,))


@pytest.mark.parametrize("content", ["", "garbage\n1\n", HEAD, '"Kind","Kernel_Name"\n"x\n\x00,,,\n'])
def test_a_table_of_launches_without_a_kernel_is_told(tmp_path: Path, content: str) -> None:
    folder = capture(tmp_path, row("mine"))
    (tmp_path / "run_kernel_trace.csv").write_text(content)
    found = run_facts(folder, "mine")
    assert found.kernel is None
    assert found.damage == ("run_kernel_trace.csv names no kernel: registers and sizes are not known.",)
