"""`rcv waits` prints what the panel shows."""

from pathlib import Path

import pytest

from rcv_py.analysis.waits.load_order import LOAD_ORDER
from rcv_py.analysis.whatif.hoist import groups
from rcv_py.formats.open import open_trace
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.opened import all_waves
from tests.support.pattern_kernels import ARITHMETIC, captured, loop
from tests.support.samples import sample_path


def test_latencies_as_json_csv_and_text() -> None:
    folder = sample_path("crowded")
    rows = printed_json("waits", folder, "--latency", "--top", 0)["latency"]
    assert len(rows) > 2
    sheet = printed_csv("waits", folder, "--latency", "--top", 0)
    keys = ("instruction", "exact", "bounds", "median")
    assert [[row[key] for key in keys] for row in sheet] == [[str(row[key]) for key in keys] for row in rows]
    text = printed("waits", folder, "--latency", "--top", 2)
    assert f"2 of {len(rows)} " in text
    assert "48 waves" in text


def test_text_lists_producers_below_their_wait() -> None:
    folder = sample_path("crowded")
    waits = printed_json("waits", folder, "--top", 0)["waits"]
    assert max(len(wait["producers"]) for wait in waits) > 4
    lines = iter(printed("waits", folder, "--top", 0).splitlines()[1:])
    for wait in waits:
        line = next(lines)
        assert wait["text"] in line
        assert f"{wait['stall']:,}" in line
        for producer in wait["producers"][:4]:
            line = next(lines)
            perhaps = "perhaps " if 2 * producer["guessed"] >= producer["stall"] > 0 else ""
            assert f"← {perhaps}{producer['text']}" in line
            assert f"{producer['stall']:,}" in line
        if wait["producers"][4:]:
            assert f"and {len(wait['producers'][4:])} more instruction" in next(lines)


def test_csv_has_a_row_a_producer() -> None:
    folder = sample_path("crowded")
    rows = printed_csv("waits", folder, "--top", 0)
    waits = printed_json("waits", folder, "--top", 0)["waits"]
    assert [(int(row["instruction"]), int(row["producer_stall"])) for row in rows] == [
        (wait["instruction"], one["stall"]) for wait in waits for one in wait["producers"]
    ]
    stall = {wait["instruction"]: wait["stall"] for wait in waits}
    assert all(int(row["stall"]) == stall[int(row["instruction"])] for row in rows)


def test_one_wave_of_them() -> None:
    folder = sample_path("straggler")
    whole = printed_json("waits", folder)["totals"]
    index = open_trace(folder).waves
    parts = [printed_json("waits", folder, "--wave", index.id(row))["totals"] for row in range(len(index))]
    assert sum(part["stall"] for part in parts) == whole["stall"]
    assert sum(part["hits"] for part in parts) == whole["hits"]


def test_no_waves_is_a_sentence() -> None:
    folder = sample_path("pc_sampling")
    assert printed("waits", folder) == "The capture has no traced waves, so nothing is known about waits.\n"
    assert printed_json("waits", folder)["waits"] == []
    assert printed("waits", folder, "--csv").count("\n") == 1


@pytest.mark.parametrize(
    ("wave", "sentence"), [("se9/simd0/slot0/wv0", "has no wave"), ("nonsense", "does not name a wave")]
)
def test_a_wave_that_is_not_there(wave: str, sentence: str) -> None:
    assert sentence in refused("waits", sample_path("straggler"), "--wave", wave)


LOADS = """global_load_dwordx4 v[4:7], v1, s[4:5]
global_load_dwordx4 v[8:11], v1, s[6:7]
{between}
global_load_dwordx4 v[12:15], v1, s[8:9]
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v12, v13
s_waitcnt vmcnt(0)
v_add_f32_e32 v3, v4, v8"""


@pytest.mark.parametrize(("between", "registers"), [("", 0), ("v_add_f32_e32 v30, v14, v15", 4)])
def test_a_move_says_how_many_registers_it_takes(between: str, registers: int, tmp_path: Path) -> None:
    """The last load overwrites what an instruction above it still reads: there it takes four others."""
    between = f"{ARITHMETIC}\n{between}"
    captured(loop(LOADS.format(between=between)), tmp_path)
    (row,) = printed_json("waits", tmp_path, "--inverted")["rows"]
    assert row["registers"] == registers
    lines = printed("waits", tmp_path, "--inverted").splitlines()
    head, first = (line.rstrip() for line in lines[:2])
    assert first[head.index("extra registers") :].split()[0] == str(registers)
    trace = open_trace(tmp_path)
    found = LOAD_ORDER.of(trace, [all_waves(trace)])
    said = groups(found)[0].hoists[0].text
    assert ("4 more registers" in said) is bool(registers)


@pytest.mark.parametrize("command", ["waits", "causes"])
def test_a_wait_on_several_counters_names_the_load_and_no_doubt(command: str, tmp_path: Path) -> None:
    """Where the LDS read is alone it takes less than a tenth of what both take."""
    body = "ds_read_b32 v14, v2\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v3, v14, v14\n"
    body += "global_load_dword v13, v1, s[4:5]\nds_read_b32 v14, v2\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
    captured(loop(body + "v_add_f32_e32 v3, v13, v14"), tmp_path)
    said = printed(command, tmp_path)
    first = next(line for line in said.splitlines() if "←" in line)
    assert "global_load_dword" in first
    assert "perhaps" not in said.lower()
