"""Commands on a kernel that no GPU has run: what its text says, and nothing that only a recording can say.

Numbers are derived by hand from the instructions of `compiled/changed_gfx942.co`, whose loop is

    21 global_load_dword v8, v[4:5], off        4 bytes a lane
    22 global_load_dword v9, v[6:7], off        4 bytes a lane
       … four additions and comparisons, s_or_b64
    28 s_waitcnt vmcnt(0)                       for both loads
    29 v_pk_fma_f32 v[8:9], …                   two multiply-adds, 4 operations a lane
    30 s_nop 0
    31 v_fmac_f32_e32 v1, v8, v9                2 operations a lane
    32 s_andn2_b64 exec, exec, s[6:7]
    33 s_cbranch_execnz 65517
"""

import json
from pathlib import Path

import pytest

import rcv_py
from rcv_py.analysis.compare.align import Fate
from tests.support.command_runs import run
from tests.support.samples import sample_path

BUILT = Path(__file__).parents[1] / "formats" / "compiled"
KERNEL = BUILT / "changed_gfx942.co" / "gfx942" / "sum_rows"
LANES = 64  # of a wave of gfx942
COSTS = {"hits", "latency", "stall", "idle", "share_of_total", "measured"}


def document(*words: str) -> dict:
    done = run(*words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_each_wait_names_its_memory_operations():
    rows = document("isa", str(KERNEL))["rows"]
    named = {row["instruction"]: row["waits_for"] for row in rows if row["waits_for"]}
    assert named[6] == [1, 2]  # s_waitcnt lgkmcnt(0) after two scalar loads
    assert named[28] == [21, 22]
    assert all(not COSTS & row.keys() for row in rows)
    assert [row["instruction"] for row in rows if row["loops"]] == list(range(21, 34))


def test_a_loop_has_its_work_and_a_modelled_length():
    (loop,) = document("loops", str(KERNEL))["rows"]
    assert (loop["head"], loop["last"], loop["depth"], loop["instructions"]) == (21, 33, 1, 13)
    assert (loop["memory"], loop["lds"], loop["mfma"], loop["valu"]) == (2, 0, 0, 6)
    assert loop["bytes"] == 2 * 4 * LANES
    assert loop["flop"] == (4 + 2) * LANES
    assert loop["compute_cycles"] == (4 + 2) * LANES / 256  # operations of 32 bits a compute unit and cycle
    assert loop["memory_cycles"] == pytest.approx(2 * 4 * LANES / (5.3e12 / 228 / 2.1e9), abs=0.01)  # MI300A
    assert loop["mfma_busy_share_of_length"] == 0
    assert loop["length"] > 800  # the usual latency of a load, which nothing in the loop hides


def test_blocks_are_scheduled_by_a_model_and_deep_loops_come_first():
    found = document("schedule", str(KERNEL))
    assert "has not run" in found["note"]
    assert found["rows"][0]["first_instruction"] == 21
    for row in found["rows"]:
        assert not COSTS & row.keys()
        assert row["bound"] <= row["best"] <= row["length"]


def test_registers_and_limits_come_from_the_descriptor():
    (vgpr, *_) = document("registers", str(KERNEL))["rows"]
    assert (vgpr["file"], vgpr["named"], vgpr["allocated"]) == ("VGPR", 10, 16)  # in granules of 8
    limits = document("occupancy", str(KERNEL))
    assert {row["used"] for row in limits["limits"] if row["name"] == "vector registers"} == {16}
    assert any("up to the launch" in note for note in limits["notes"])
    assert all("hits" not in row for row in document("registers", str(KERNEL), "--by", "instruction")["rows"])


@pytest.mark.parametrize(
    "command", ["waits", "causes", "bubbles", "latency", "roofline", "summary", "triage", "range"]
)
def test_what_needs_a_recording_says_that_the_program_has_not_run(command):
    assert "has not run" in run(command, str(KERNEL)).out


@pytest.mark.parametrize("words", [("--mode", "mean"), ("--no-idle",), ("--waves", "all", "--se", "0")])
def test_options_about_costs_are_refused(words):
    assert run("isa", str(KERNEL), *words).code == 2


def test_a_library_lists_its_kernels_and_options_choose_one(tmp_path):
    kernels = document("info", str(BUILT / "libtiny.so"))["kernels"]
    assert len(kernels) == 8
    by_target = {row["target"]: row for row in kernels if row["kernel"] == "sum_rows"}
    assert {row["lds"] for row in by_target.values()} == {1024}
    assert (by_target["gfx942"]["vgprs"], by_target["gfx1201"]["sgprs"]) == (8, None)
    words = ("--kernel", "vector", "--target", "gfx1100")
    assert document("isa", str(BUILT / "libtiny.so"), *words)["rows"][0]["text"] == "; vector_add"
    several = run("isa", str(BUILT / "libtiny.so"))
    drawn = run("shot", str(BUILT / "libtiny.so"), "--panel", "isa", "--out", str(tmp_path / "isa.png"))
    for done in (several, drawn):
        assert done.code == 2
        assert "holds 8 kernels" in done.err
        assert "--kernel NAME" in done.err


def test_what_has_not_run_has_no_shares_of_time():
    found = document("info", str(KERNEL))
    assert found["schema"] == "rcv.info.program/1"
    assert "activity" not in found


def test_a_folder_of_builds_is_indexed():
    found = document("index", str(BUILT))["captures"]
    assert {row["health"] for row in found} == {"not run"}
    assert {row["latency"] for row in found} == {None}
    assert len(found) == 5 * 2 + 2 * 8  # objects with two kernels; a bundle and a library with eight


# -- comparing builds ---------------------------------------------------------------------------------------

BEFORE = BUILT / "tiny_gfx942.co" / "gfx942" / "sum_rows"


def test_two_builds_differ_in_registers_and_in_the_rows_of_the_new_load():
    found = document("compare", str(BEFORE), str(KERNEL), "--top", "0")
    measures = {row["measure"]: (row["a"], row["b"], row["delta"]) for row in found["measures"]}
    assert measures["Instructions"] == (120, 125, 5)
    assert measures["Vector registers of a lane"] == (8, 16, 8)
    assert measures["LDS of a workgroup, in bytes"] == (1024, 1024, 0)
    assert measures["Vector memory load (buffer, global, flat, image)"] == (1, 2, 1)
    assert found["worse"] == ["registers"]
    assert not found["unknown"]
    new = [row["text_b"] for row in found["rows"] if row["status"] == "inserted"]
    assert "global_load_dword v9, v[6:7], off" in new
    assert {row["cycles_a"] for row in found["rows"]} == {None}
    added, removed = (sum(row["status"] == one for row in found["rows"]) for one in ("inserted", "removed"))
    assert added - removed == 5


@pytest.mark.parametrize(
    ("gate", "code"), [("registers", 3), ("regression", 3), ("difference", 3), ("spills", 0), ("waves", 0)]
)
def test_the_gate_needs_no_gpu(gate, code):
    assert run("compare", str(BEFORE), str(KERNEL), "--fail-on", gate).code == code
    assert run("compare", str(KERNEL), str(KERNEL), "--fail-on", gate).code == 0


def test_builds_of_several_kernels_are_compared_kernel_by_kernel():
    found = document("compare", str(BUILT / "tiny_gfx942.co"), str(BUILT / "changed_gfx942.co"))
    worse = {row["kernel"]: (row["worse"], row["changed"]) for row in found["kernels"]}
    assert worse["vector_add"] == ([], 0)
    assert worse["sum_rows"][0] == ["registers"]
    same = document("compare", str(BUILT / "libtiny.so"), str(BUILT / "tiny.ccob"))
    assert len(same["kernels"]) == 8
    assert {row["changed"] for row in same["kernels"]} == {0}


def test_blocks_of_builds_have_modelled_cycles():
    rows = document("compare", str(BEFORE), str(KERNEL), "--by", "block")["rows"]
    loop = next(row for row in rows if row["name_b"] == "block 2")
    assert (loop["name_a"], loop["instructions_a"], loop["instructions_b"]) == ("block 2", 10, 13)
    assert loop["cycles_b"] >= loop["cycles_a"] > 800


@pytest.mark.parametrize("words", [("--metric", "stall"), ("--junit",), ("--by", "work"), ("--waves", "all")])
def test_options_about_recorded_cycles_are_refused_between_builds(words):
    assert run("compare", str(BEFORE), str(KERNEL), *words).code == 2


def test_builds_without_a_common_kernel_are_refused():
    done = run("compare", str(BUILT / "tiny_gfx942.co"), str(BUILT / "tiny_gfx1100.co"))
    assert done.code == 2
    assert "no kernel of the same name and target" in done.err


def test_a_capture_is_compared_with_a_build_and_its_costs_come_along():
    capture = sample_path("matmul_small")
    found = document("compare", str(capture), str(KERNEL), "--top", "3")
    costs = [row["cycles_a"] for row in found["rows"]]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 0
    assert found["rows"][0]["status"] in ("changed", "removed", "moved")


def test_scripts_read_the_same_tables():
    build, before = rcv_py.open(KERNEL), rcv_py.open(BEFORE)
    table = build.isa()
    assert table["waits_for"][28] == [21, 22]
    assert "hits" not in table.columns
    assert build.loops()["flop"][0] == 384
    assert "has not run" in build.schedules().facts["note"]
    found = before.compare_build(build)
    assert found.facts["worse"] == ["registers"]
    assert len(found) == found.result.count(Fate.CHANGED) + 17  # 11 inserted, 6 removed


def test_a_report_has_registers_and_a_packed_file_keeps_all(tmp_path):
    report = tmp_path / "report.md"
    assert run("report", str(KERNEL), "--out", str(report)).code == 0
    text = report.read_text()
    assert "Register pressure" in text
    assert "has not run" in text
    packed = tmp_path / "kernel.rcvz"
    assert run("pack", str(KERNEL), "--out", str(packed)).code == 0
    again, first = document("isa", str(packed))["rows"], document("isa", str(KERNEL))["rows"]
    assert again == first
    assert document("registers", str(packed))["rows"] == document("registers", str(KERNEL))["rows"]


def test_source_lines_count_their_instructions_and_lead_to_them():
    lines = document("source", str(KERNEL))["rows"]
    assert sum(row["instructions"] for row in lines) == 125  # line 0 where none is known
    helper = next(row for row in lines if row["source_line"] == 13)  # x * s + 1.0f, inlined
    found = document("source", str(KERNEL), "tiny.hip:13")["rows"]
    assert len(found) == helper["instructions"]
    assert "v_pk_fma_f32" in " ".join(row["text"] for row in found)
    caller = document("source", str(KERNEL), "tiny.hip:25", "--top", "0")["rows"]
    assert {row["instruction"] for row in found} < {row["instruction"] for row in caller}


@pytest.mark.parametrize(
    "words", [("hotspot",), ("hotspot", "--bins", "4"), ("hotspot", "--charge", "self"), ("flame",)]
)
def test_tables_of_costs_are_refused_with_what_to_read_instead(words):
    done = run(words[0], str(KERNEL), *words[1:])
    assert done.code == 2
    assert "has not run, so nothing is known about" in done.err
    assert "rcv isa" in done.err


def test_costs_and_executions_are_unknown_not_zero():
    facts = document("info", str(KERNEL))
    assert facts["format"]["is_static"]
    costs = {name: value for name, value in facts["code"].items() if name != "instructions"}
    assert set(costs.values()) == {None}
    assert "compiled for  gfx942" in run("info", str(KERNEL)).out
