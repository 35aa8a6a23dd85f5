"""`rcv summary` and `rcv line`: the same numbers in three forms, and a sentence where there are none."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.marked_cycles import overlapping_cycles
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample
from tests.ui.window import SAMPLE, SAMPLES


def samples_of(folder: Path) -> list[tuple[int, int]]:
    """Issued and stalled samples of each instruction of a capture of PC samples."""
    rows = json.loads((folder / "code.json").read_text())["code"]
    return [(row[10], row[11]) for row in rows]


def test_text_json_and_csv_of_a_summary_agree() -> None:
    document = printed_json("summary", SAMPLE)
    text = printed("summary", SAMPLE)
    rows = printed_csv("summary", SAMPLE)
    for section in ("activity", "states"):
        listed = {row["name"]: int(row["value"]) for row in rows if row["section"] == section}
        assert listed == document[section]
        for value in listed.values():
            assert f"{value:,}" in text
    facts = {row["name"]: row["value"] for row in rows if row["section"] == "capture"}
    assert facts == {fact["name"]: str(fact["value"]) for fact in document["facts"]}
    assert len(document["simds"]) == 16
    assert all(simd["busy"] <= simd["simd_cycles"] for simd in document["simds"])
    assert sum(unit["traced"] for unit in document["units"]) == document["waves"]["traced"]


def test_counters_in_a_summary() -> None:
    folder = sample_path("counters")
    sums = Counter(dict.fromkeys(json.loads((folder / "filenames.json").read_text())["counter_names"], 0))
    for path in folder.glob("se*_perfcounter.json"):
        for _, *values, _, bank in json.loads(path.read_text())["data"]:
            sums.update(dict(zip(list(sums)[4 * bank : 4 * bank + 4], values, strict=True)))
    document = printed_json("summary", folder)
    matrix = 100 * sums["SQ_VALU_MFMA_BUSY_CYCLES"] / (4 * sums["SQ_BUSY_CU_CYCLES"])
    assert document["counters"]["MFMA"] == pytest.approx(matrix, abs=0.01)
    text = printed("summary", folder)
    assert f"MFMA       {matrix:.1f} %" in text
    assert f"MFMA Peak  {document['counters']['MFMA Peak']:.1f} %" in text
    assert "BUSY_CU_CYCLES" in text


def test_samples_in_a_summary() -> None:
    folder = sample_path("pc_sampling")
    whole = sum(issued + stalled for issued, stalled in samples_of(folder))
    document = printed_json("summary", folder)
    assert "units" not in document
    assert sum(document["stall_reasons"].values()) == whole
    table = printed("summary", folder, "--csv")
    for name, samples in document["stall_reasons"].items():
        assert f"{name},{samples},{whole}" in table
    assert "lost arbitration" in printed("summary", folder)


def test_the_hits_of_a_line() -> None:
    folder, line = sample_path("reduction"), 7
    found = plain(folder)
    hits = found.by_line()[line]
    assert len(hits) == len(found.waves), "each wave ran it once"
    slowest = sorted((hit.duration for hit in hits), reverse=True)
    document = printed_json("line", folder, line, "--top", 0)
    assert document["measures"]["latency"]["total"] == sum(slowest)
    assert [hit["latency"] for hit in document["slowest"]] == slowest
    assert sum(document["bins"]["hits"]) == document["hits"] == len(hits)
    text = printed("line", folder, line, "--by", "stall", "--top", "2", "--log")
    assert "s_waitcnt lgkmcnt(0)" in text
    assert "The slowest 2 hits by stall" in text
    rows = printed_csv("line", folder, line, "--top", 0)
    assert [int(row["latency"]) for row in rows] == slowest
    assert rows[0]["since"] == ""
    assert "No wave ran it twice." in printed("line", folder, line, "--by", "since")


def test_the_samples_of_a_line() -> None:
    folder = sample_path("pc_sampling")
    stalled = [stalled for _, stalled in samples_of(folder)]
    line = stalled.index(max(stalled))
    assert "no distribution" in printed("line", folder, line)
    samples = printed_json("line", folder, line)["samples"]
    assert samples["stalled"] == stalled[line]
    table = printed("line", folder, line, "--csv")
    assert all(f"{name},{count}" in table for name, count in samples["reasons"].items() if count)


def test_what_has_no_hits_says_so() -> None:
    assert "No traced wave ran this instruction." in printed("line", SAMPLE, 0)
    assert "has no instruction 3" in refused("line", SAMPLES / "placeholder", "3")
    assert "Compute units" in printed("summary", SAMPLES / "placeholder")


def test_samples_are_called_samples_in_the_ranking() -> None:
    folder = sample_path("pc_sampling")
    samples = samples_of(folder)
    line = max(range(len(samples)), key=lambda at: sum(samples[at]))
    whole, stalled = sum(map(sum, samples)), sum(stalled for _, stalled in samples)
    facts, table, *_ = printed("hotspot", folder, "--top", "1").split("\n\n")
    head, first = table.splitlines()[:2]
    assert f"{whole:,}, {stalled:,} of them stalled ({100 * stalled / whole:.1f} %)" in facts
    assert head.split()[:5] == ["#", "samples", "issued", "stalled", "share"]
    assert first.split()[:4] == [str(line), *(f"{n:,}" for n in (sum(samples[line]), *samples[line]))]


def test_units_with_unknown_values_are_written() -> None:
    folder = sample_path("counters")
    rows = printed_csv("summary", folder)
    units = printed_json("summary", folder)["units"]
    assert {row["section"] for row in rows if " CU" in row["section"] and "SIMD" not in row["section"]} == {
        f"SE{unit['se']} CU{unit['cu']}" for unit in units
    }


def test_units_have_the_time_of_their_first_start_as_the_schema_says() -> None:
    document = printed_json("summary", sample_path("counters"))
    lives = [unit for unit in document["units"] if unit["waves"]]
    assert min(unit["start"] for unit in lives) == 0
    assert all(unit["start"] <= unit["end"] for unit in lives)


@pytest.mark.parametrize("sample", ["pc_sampling", "placeholder"])
def test_a_capture_without_executions_has_no_shares_of_time(sample: str) -> None:
    found = printed_json("info", SAMPLES / sample)
    assert found["schema"] == "rcv.info.program/1"
    assert "activity" not in found


@pytest.mark.parametrize("command", ["summary", "info", "triage", "occupancy"])
def test_a_duration_without_a_clock_says_why_it_has_no_microseconds(command: str, tmp_path: Path) -> None:
    write_sample("ceiling", tmp_path)
    assert "µs not known" not in printed(command, tmp_path)
    (tmp_path / "realtime.json").unlink()
    assert "µs not known: no usable clock samples" in printed(command, tmp_path)


def test_kinds_of_instructions_overlap_in_time() -> None:
    folder = sample_path("crowded")
    assert overlapping_cycles(folder, printed_json("summary", folder, "--waves", "all")["simds"][0]) > 0
    assert "so their shares can add up to more than 100 %" in printed("summary", folder)


def test_a_matrix_pipe_is_as_busy_as_its_simd_says() -> None:
    folder = SAMPLES / "matmul_tiled"
    simds = printed_json("summary", folder, "--waves", "all")["simds"]
    units = printed_json("summary", folder, "--units")
    pipes = {row["unit"]: row["busy"] for row in units["rows"] if row["unit"].startswith("MATRIX")}
    assert pipes
    assert pipes == {
        f"MATRIX{simd['place'][-1]}": simd["mfma_busy"]
        for simd in simds
        if simd["place"].startswith(units["place"]) and simd["mfma_busy"]
    }
