"""`rcv loops`, `rcv bubbles` and `rcv occupancy --limits`: numbers, forms, sentences."""

import csv
import io
import json
from pathlib import Path

import pytest

from rcv_py.features.loops.options import LOOPS_BY
from rcv_py.features.loops.result import TABLES
from tests.export.test_report import report_of
from tests.formats.test_run_files import HEAD
from tests.formats.test_run_files import row as launch_of
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.paths import ROOT
from tests.support.plain_capture import plain
from tests.support.samples import sample, sample_path, write_sample

SAMPLES = ROOT / "sample_traces"


def test_the_json_has_the_loops_that_were_simulated() -> None:
    folder, truth = sample("reduction")
    document = printed_json("loops", folder, "--top", 0)
    rounds = [turn for wave in truth.waves.values() for turns in wave.iterations.values() for turn in turns]
    (row,) = document["rows"]
    assert (row["waves"], row["taken"]) == (len(rounds), sum(rounds) - len(rounds))
    assert row["per_wave"] == pytest.approx(row["taken"] / row["waves"])
    code = plain(folder)
    assert code.text(row["branch"]).startswith("s_cbranch")
    barriers = len(code.waves) * sum(str(text) == "s_barrier" for text, *_ in code.code)
    assert document["barriers"]["instances"] == barriers / 4, "four waves of a workgroup meet"


def test_every_table_is_offered() -> None:
    assert tuple(TABLES) == LOOPS_BY


@pytest.mark.parametrize("show", LOOPS_BY)
@pytest.mark.parametrize("name", ["matmul_small", "vector_add"])
def test_text_csv_and_json_tell_the_same(show: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ("loops", sample_path(name), "--by", show, "--top", 3)
    text = printed(*words)
    document = printed_json(*words)
    sheet = list(csv.reader(io.StringIO(printed(*words, "--csv"))))
    assert len(sheet) == len(document["rows"]) + 1
    spec = TABLES[show][0]
    if not document["total_rows"]:
        assert spec.nothing in text
    else:
        assert f"{len(document['rows'])} of {document['total_rows']:,} row" in text
        assert spec.note in " ".join(text.split())


def test_a_stall_that_is_longer_than_its_phase_has_no_share(tmp_path: Path) -> None:
    write_sample("reduction", tmp_path)
    path = next(tmp_path.glob("se*.json"))
    document = json.loads(path.read_text())
    document["wave"]["instructions"][0][2:4] = [10**7, 10**7]
    path.write_text(json.dumps(document))
    whole, found = (
        printed_json("loops", folder)["phases"] for folder in (sample_path("reduction"), tmp_path)
    )
    assert found["prologue"]["stall_share_of_phase"] is None
    assert found["steady"] == pytest.approx(whole["steady"])
    shown = next(line.split() for line in printed("loops", tmp_path).splitlines() if "prologue " in line)
    assert shown[-5:] == ["time,", "–", "of", "it", "stalled"]
    (section,) = (one for one in report_of(tmp_path).sections if one.id == "loops")
    bars, table = section.parts[:2]
    assert [one.name for one in bars.series] == ["cycles"]
    stall = next(column for column in table.columns if column.title == "stall")
    assert [cell.value is None for cell in stall.cells] == [True, False, False]


def test_one_wave() -> None:
    folder, truth = sample("reduction")
    name = "se0/simd1/slot0/wv0"
    document = printed_json("loops", folder, "--wave", name)
    ((rounds,),) = truth.waves[0, 1, 0, 0].iterations.values()
    assert (document["waves"], document["rows"][0]["taken"]) == (1, rounds - 1)
    assert "no wave" in refused("loops", folder, "--wave", "se9/simd1/slot0/wv0")


def test_limits(tmp_path: Path) -> None:
    """Of 512 registers 160 are used: three waves a SIMD.  One workgroup of eight waves fits 65,536 bytes."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("matmul_small", folder)
    table = HEAD + launch_of("matmul_tiled", vgprs=128, lds=40_000)
    (tmp_path / "run_kernel_trace.csv").write_text(table)
    text = printed("occupancy", folder, "--limits")
    assert "can hold 2 waves of this kernel, bound by LDS" in text
    assert "32 vector registers fewer (at most 128) and 7,232 bytes of LDS fewer (at most 32,768)" in text
    assert "Traced: at most 2 waves" in text
    assert "run_kernel_trace.csv" in text
    document = printed_json("occupancy", folder, "--limits")
    assert document["schema"] == "rcv.occupancy_limits/2"
    assert (document["waves_per_simd"], document["goal"], document["resident"]["peak"]) == (2, 4, 2)
    sheet = printed_csv("occupancy", folder, "--limits")
    assert [row["name"] for row in sheet] == ["vector registers", "scalar registers", "LDS", "workgroup"]


def test_limits_of_a_capture_without_tables() -> None:
    text = printed("occupancy", SAMPLES / "matmul_tiled", "--limits")
    assert "guess from the instructions" in text
    printed("occupancy", SAMPLES / "placeholder", "--limits")
