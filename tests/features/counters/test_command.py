"""`rcv counters`: names, summaries, curves, formulas and their mistakes."""

from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_csv, printed_json, refused, run_anew
from tests.support.samples import write_sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("units")
    write_sample("counters_units", path, seed=3)
    return str(path)


def test_a_summary(folder: str) -> None:
    lines = printed("counters", folder).splitlines()
    assert lines[0].split() == ["counter", "min", "mean", "max", "total", "unit", "from"]
    names = [line.split()[0] for line in lines[1:] if line]
    assert names[:2] == ["BUSY_CU_CYCLES", "INST_LEVEL_VMEM"]
    assert "GPUutil" in names
    assert "built-in formulas need counters that were not recorded" in lines[-1]


def test_the_matrix_unit_is_as_busy_as_passes_say(folder: str) -> None:
    rows = {row["name"]: row for row in printed_json("counters", folder)["counters"]}
    assert rows["MFMA_util"]["max"] <= 100
    assert rows["CU_busy"]["max"] <= 100
    simds = printed_json("summary", folder)["simds"]
    by_passes = sum(row["mfma_busy"] for row in simds) / sum(row["simd_cycles"] for row in simds)
    counted = rows["VALU_MFMA_BUSY_CYCLES"]["total"] / 4 / rows["BUSY_CU_CYCLES"]["total"]
    assert 0.9 * by_passes < counted <= by_passes, "a SIMD may hold no wave while its compute unit does"


def test_names_only(folder: str) -> None:
    document = printed_json("counters", folder, "--list")
    assert document["schema"] == "rcv.counters.list/2"
    assert len(document["counters"]) == 8
    assert document["counters"][0]["interval"] == 40
    assert "all SIMDs" in printed("counters", folder, "--list")


def test_formulas_and_places(folder: str, tmp_path: Path) -> None:
    definitions = tmp_path / "mine.txt"
    definitions.write_text("half := busy / 2  # [quads] Half of it.\n_step := 1\n")
    formula = "busy := sum[BUSY_CU_CYCLES, axis=[XCC, SE, CU]]"
    words = ["counters", folder, "--file", str(definitions), "--formula", formula]
    rows = {row["name"]: row for row in printed_json(*words)["counters"]}
    assert rows["half"]["unit"] == "quads"
    assert rows["half"]["mean"] == rows["busy"]["mean"] / 2
    assert "_step" not in rows
    some = {row["name"]: row for row in printed_json(*words, "--se", "1", "--cu", "2")["counters"]}
    assert 0 < 5 * some["BUSY_CU_CYCLES"]["total"] < rows["BUSY_CU_CYCLES"]["total"]


def test_curves_as_csv(folder: str) -> None:
    rows = printed_csv("counters", folder, "--raw")
    assert {row["name"] for row in rows} >= {"BUSY_CU_CYCLES", "ACTIVE_INST_FLAT"}
    assert "GPUutil" not in {row["name"] for row in rows}
    one = [int(row["time"]) for row in rows if row["name"] == "ACTIVE_INST_FLAT"]
    assert one == sorted(one)


def test_mistakes_point_at_characters(folder: str) -> None:
    told = run_anew("counters", folder, "--formula", "a := sum[BUSY_CU_CYCLES", "--formula", "b := 1 + NOPE")
    assert told.code == 2
    assert "a := sum[BUSY_CU_CYCLES\n" in told.err
    assert "b := 1 + NOPE\n         ^^^^\nLine 2, column 10" in told.err
    assert "BUSY_CU_CYCLES" in told.out, "the rest is printed"


def test_places_that_are_not_there(folder: str) -> None:
    assert "No counter was recorded on shader engine 9." in refused("counters", folder, "--se", "9")
    assert "cannot be read" in refused("counters", folder, "--file", "/nowhere/x.txt")


def test_without_counters_it_says_how_to_record_them(tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path, seed=3)
    assert "--att-perfcounter-ctrl 8 --att-perfcounters" in printed("counters", tmp_path)
    assert printed_json("counters", tmp_path)["counters"] == []


def test_a_division_by_zero_is_named(folder: str) -> None:
    """Without the reason its row would hold dashes alone."""
    words = ["counters", folder, "--formula", "R := 1 / 0", "--formula", "S := 1 / 2"]
    said = printed(*words)
    assert "R divides by zero in every sample, so it has no value." in said
    assert "S divides" not in said
    rows = {row["name"]: row for row in printed_json(*words)["counters"]}
    assert rows["R"]["mean"] is None
    assert rows["R"]["why_unknown"].startswith("R divides by zero")
    assert rows["S"]["why_unknown"] == rows["BUSY_CU_CYCLES"]["why_unknown"] == ""
