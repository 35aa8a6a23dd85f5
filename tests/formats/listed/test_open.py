"""Files without a thread trace that open as captures: PC samples, and tables of costs."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.base.errors import TraceError
from rcv_py.cli.main import main
from rcv_py.formats.locate import CaptureForm, locate, shape_of
from rcv_py.formats.open import capture_entry, open_trace
from tests.support.raw_samples import raw_sample
from tests.support.rocpd import document, write
from tests.support.sampled import OTHER, Sample, database, samples_document, table, write_document

COSTS = (  # rows are not in the order of the program
    '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"\n'
    '4,96,"v_mul_f32_e32 v1, v2, v3",10,40,0,3,"/k/a.cpp:4 -> /k/b.h:9"\n'
    '4,80,"s_load_dword s2, s[0:1], 0x0",10,400,20,5,"/k/a.cpp:3"\n'
    '4,88,"s_waitcnt lgkmcnt(0)",10,4000,3900,0,"/k/a.cpp:3"\n'
)


@pytest.mark.parametrize("is_packed", [True, False])
def test_samples_of_a_database_are_a_program(tmp_path: Path, is_packed: bool) -> None:
    path = database(tmp_path / "x.db", is_packed=is_packed)
    trace = open_trace(path)
    assert shape_of(locate(path).capture()) is CaptureForm.LISTED
    assert trace.has_pc_samples
    assert not trace.has_thread_trace
    assert trace.target == "gfx950"
    assert trace.kernel_name == "slow()"
    code = trace.code
    assert code.text == ("; slow()", "v_add_f32 v0, v1, v2", "s_waitcnt vmcnt(0)")
    assert code.address.tolist() == [64, 64, 72]
    assert code.codeobj.tolist() == [5, 5, 5]
    assert [trace.sources[file].path for file in code.chain_file.tolist()] == ["/k/a.cpp"] * 3
    assert code.chain_line.tolist() == [7, 9, 30]
    assert cost_columns(code).latency.tolist() == [0, 3, 6]
    assert cost_columns(code).stall.tolist() == [0, 0, 5]
    assert np.nan_to_num(code.sample_lanes, nan=-1).tolist() == [-1, 64, 24]
    assert np.nan_to_num(code.sample_waves, nan=-1).tolist() == [-1, 4, 8]
    found = stall_reasons(code)
    assert (found.issued, found.stalled, found.unsure) == (4, 5, 0)
    assert found.ranked() == ((3, 4), (1, 1))
    entry = capture_entry(path)
    assert (entry.kernel, entry.waves, entry.note) == ("slow", 0, "PC samples only.")


def test_host_traps_are_samples_of_an_unknown_outcome(tmp_path: Path) -> None:
    trace = open_trace(table(tmp_path / "1_pc_sampling_host_trap.csv", is_stochastic=False))
    code = trace.code
    assert (code.samples_issued, code.samples_stalled, code.stall_reasons) == (None, None, None)
    assert cost_columns(code).latency.sum() == 9
    assert stall_reasons(code).unsure == stall_reasons(code).samples == 9
    assert any("no addresses" in problem.text for problem in trace.problems)


@pytest.mark.parametrize("is_stochastic", [True, False])
def test_samples_are_kept_when_a_folder_or_a_file_is_written(tmp_path: Path, is_stochastic: bool) -> None:
    kind = "stochastic" if is_stochastic else "host_trap"
    path = table(tmp_path / f"1_pc_sampling_{kind}.csv", is_stochastic=is_stochastic)
    folder, packed = tmp_path / "written", tmp_path / "packed.rcvz"
    assert main(["decode", str(path), "--out", str(folder)]) == 0
    assert main(["pack", str(path), "--out", str(packed)]) == 0
    before = stall_reasons(open_trace(path).code)
    for again in (folder, packed):
        found = stall_reasons(open_trace(again).code)
        assert (found.issued, found.stalled, found.unsure) == (before.issued, before.stalled, before.unsure)
        assert found.samples == 9


def test_kernels_of_a_table_of_samples_are_apart(tmp_path: Path) -> None:
    """Launch 2 is of another kernel, whose equal instruction is a row of its own."""
    path = table(
        tmp_path / "1_pc_sampling_stochastic.csv", [Sample(), Sample(dispatch=2), Sample(dispatch=2)]
    )
    code = open_trace(path).code
    found = {kernel.name: int(code.samples[kernel.first : kernel.stop].sum()) for kernel in code.kernels}
    assert found == {"slow()": 1, "quick": 2}


def test_a_number_of_two_recordings_is_two_code_objects(tmp_path: Path) -> None:
    database(tmp_path / "x.db", [Sample()])
    trace = open_trace(database(tmp_path / "x.db", [Sample()] * 2, suffix=OTHER))
    rows = np.flatnonzero(~trace.code.is_label)
    assert trace.code.codeobj[rows].tolist() == [5, 6]
    assert cost_columns(trace.code).latency[rows].tolist() == [1, 2]
    assert any("5 of recording 1 is 6 here" in problem.text for problem in trace.problems)


def test_code_objects_beside_samples_complete_the_program(tmp_path: Path) -> None:
    """Every instruction of the kernel is there, and those that were hit have their samples."""
    raw = raw_sample("gfx9")
    whole = open_trace(raw.folder).code
    rows = np.flatnonzero(~whole.is_label)
    hit = rows[[3, 8]]
    (tmp_path / "run").mkdir()
    for file in raw.folder.glob("*.out"):
        (tmp_path / "run" / file.name).write_bytes(file.read_bytes())
    samples = [
        Sample(int(whole.address[row]), code_object=int(whole.codeobj[row]))
        for row in (hit[0], hit[1], hit[1])
    ]
    found = samples_document(samples)
    found["rocprofiler-sdk-tool"][0]["code_objects"] = []
    path = tmp_path / "run" / "x_results.json"
    path.write_text(json.dumps(found))
    code = open_trace(path).code
    assert {*whole.address[rows].tolist()} <= {*code.address.tolist()}
    named = dict(
        zip(code.address[~code.is_label].tolist(), code.samples[~code.is_label].tolist(), strict=True)
    )
    assert [named[address] for address in whole.address[hit].tolist()] == [1, 2]
    assert sum(named.values()) == 3


@pytest.mark.parametrize("name", ["stats_ui_output_agent_1_dispatch_2.csv", "renamed.csv", "stats_x.csv.gz"])
def test_a_table_of_costs_is_a_program_without_times(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(COSTS.encode()) if name.endswith("gz") else COSTS.encode())
    trace = open_trace(path)
    code = trace.code
    assert code.address.tolist() == [80, 88, 96]
    assert code.hits.tolist() == [10, 10, 10]
    assert code.latency.tolist() == [400, 4000, 40]
    assert code.stall.tolist() == [20, 3900, 0]
    assert code.idle.tolist() == [5, 0, 3]
    assert len(code.chain(2)) == 2
    assert trace.has_only_costs
    assert not trace.has_times
    assert capture_entry(path).note == "Costs without times."


@pytest.mark.parametrize("odd", ["-4000", "NaN", "9" * 30, "", "4,000".replace(",", ";")])
def test_a_cost_that_is_no_count_is_told(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "stats_x.csv"
    path.write_text(COSTS.replace(",4000,", f",{odd},"))
    trace = open_trace(path)
    assert trace.code.latency.tolist() == [400, 0, 40]
    assert any("stats_x.csv has 1 unusable cost;" in problem.text for problem in trace.problems)


def test_rows_of_costs_that_repeat_count_once(tmp_path: Path) -> None:
    path = tmp_path / "stats_x.csv"
    path.write_text(COSTS.rstrip("\n") + "\n" + COSTS)
    trace = open_trace(path)
    assert trace.code.latency.tolist() == [400, 4000, 40]
    assert any("stats_x.csv has 3 unusable repeated rows;" in problem.text for problem in trace.problems)


def test_a_younger_table_of_costs_has_samples_too(tmp_path: Path) -> None:
    path = tmp_path / "stats_x.csv"
    path.write_text(
        "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source,Issued,Stalled,NotIssuedReasons\n"
        '4,80,"s_waitcnt vmcnt(0)",1,9,8,0,"/k/a.cpp:3",2,5,"[0, 1, 0, 4]"\n'
    )
    trace = open_trace(path)
    assert stall_reasons(trace.code).ranked() == ((3, 4), (1, 1))
    assert trace.code.latency.tolist() == [9]


def test_a_folder_with_such_a_file_alone_is_a_capture(tmp_path: Path) -> None:
    """The layout of rocprof-compute: a folder a pass, and in it a folder a host."""
    path = database(tmp_path / "out" / "pass_1" / "host" / "7_results.db")
    table(path.with_name("7_pc_sampling_stochastic.csv"))
    write_document(path.with_name("7_results.json"))
    assert locate(tmp_path / "out").captures() == (path,), "the database says most"
    (tmp_path / "costs").mkdir()
    (tmp_path / "costs" / "stats_x.csv").write_text(COSTS)
    assert open_trace(tmp_path / "costs").has_only_costs


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "Name,Calls\nkernel,3\n"),
        ("stats_x.csv", ""),
        ("stats_x.csv", '"CodeObj","Vaddr","Instruction","Hitcount"\n'),
        ("1_pc_sampling_stochastic.csv", '"Exec_Mask","Instruction"\n'),
        ("x_results.json", json.dumps(document() | {"rocprofiler-sdk-tool": []})),
        ("x_results.json", '{"pc_sample_stochastic": [{'),
    ],
)
def test_a_file_without_rows_is_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TraceError) as error:
        open_trace(tmp_path / name)
    assert str(error.value)


def test_a_run_without_samples_is_no_capture(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no thread trace"):
        open_trace(write(tmp_path / "x.db"))


def test_odd_cells_of_a_table_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "1_pc_sampling_stochastic.csv"
    path.write_text(
        "Exec_Mask,Dispatch_Id,Instruction,Instruction_Comment,Wave_Issued_Instruction,Stall_Reason,Wave_Count\n"
        f"{'9' * 40},x,s_nop 0,,0,ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_NEW,{'9' * 40}\n"
        "-1,1,s_nop 0,,0,,\n"
        "1,1,s_nop 0,,true,,3,more,cells\n"
        "1\n"
    )
    trace = open_trace(path)
    found = stall_reasons(trace.code)
    assert (found.issued, found.stalled) == (1, 1)
    assert trace.code.sample_waves.tolist() == [3]
    assert any("2 of 4 PC samples (50.0 %) are invalid" in problem.text for problem in trace.problems)
