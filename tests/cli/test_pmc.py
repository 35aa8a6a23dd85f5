"""`rcv pmc`: the text of the script letter by letter, our tables, and what misses."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support import captures
from tests.support.pmc import write_long

GOLDEN = captures.SHARED / "golden" / "pmc_l2_analyzer"
CASES = {
    "case1_kern_a_ideal8.59": (["--kernel", "kern_a", "--ideal-mb", "8590"], True),
    "case2_other_ea1": (["--kernel", "other", "--channels", "1"], True),
    "case3_all_l2only": ([], False),
    "case4_nomatch": (["--kernel", "no_such_kernel"], True),
}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")


def tables(with_memory: bool = True) -> list[str]:
    captures.need_shared()
    return [str(GOLDEN / "synth_l2.csv"), *([str(GOLDEN / "synth_ea.csv")] if with_memory else [])]


@pytest.mark.parametrize("case", CASES)
def test_the_text_of_the_script(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, with_memory = CASES[case]
    code = main(["pmc", *tables(with_memory), "--like", *words])
    expected = (GOLDEN / f"{case}.txt").read_text()
    failed = re.search(r"^rc=1\n", expected, re.MULTILINE)
    assert capsys.readouterr().out == expected.replace("rc=1\n", "")
    assert code == (2 if failed else 0)


def test_our_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pmc", str(GOLDEN), "--ideal-mb", "8590"]) == 0
    text = capsys.readouterr().out
    rows = [re.split(r"\s{2,}", line) for line in text.splitlines()[:3]]
    assert rows[1] == [
        "kern_a",
        "2",
        "1.8 %",
        "1.00M",
        "70.0M",
        "0.5 %",
        "4.5 GB to 8.9 GB",
        "0.52 to 1.04",
        "minimal",
    ]
    assert rows[2][0] == "other_kernel"
    assert rows[2][-1] == "scattered"
    assert "1. L2 hit rate below 5 %?" in text
    assert "1.8 %, so yes" in text
    assert "0.52 to 1.04, so no" in text


def test_documents(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["pmc", *tables(), "--ideal-mb", "8590"]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "rcv.pmc/2"
    first = document["rows"][0]
    # By hand: 70,000,000 reads of which 350,000 have 32 bytes, a dispatch.
    assert first["read_min"] == 350_000 * 32 + 69_650_000 * 64
    assert first["read_max"] == 350_000 * 32 + 69_650_000 * 128
    assert first["hit_rate"] == 17_500 / 1_000_000
    assert first["over_fetch_max"] == pytest.approx(first["read_max"] / 8.59e9)
    assert (first["branch"], first["decided_by"]) == ("minimal", "over_fetch")
    assert [test["answer"] for test in first["tests"]] == ["yes", "no", "no"]
    assert main([*words, "--csv", "--top", "1"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["kernel"], float(row["read_min"]), row["branch"]) == (
        "kern_a",
        first["read_min"],
        "minimal",
    )
    assert main([*words, "--by", "dispatch", "--json"]) == 0
    assert [one["dispatch"] for one in json.loads(capsys.readouterr().out)["rows"]] == ["11", "10", "12"]


def test_missing_counters_come_with_the_command_that_records_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write_long(tmp_path / "x.csv", [("k", 1, {"TCC_HIT_sum": 1, "TCC_MISS_sum": 99})]))
    assert main(["pmc", path]) == 0
    text = capsys.readouterr().out
    assert "k: unknown" in text
    assert "Not recorded: TCC_EA0_RDREQ_sum, TCC_EA0_RDREQ_32B_sum" in text
    assert "    rocprofv3 --pmc TCC_EA0_RDREQ_sum TCC_EA0_RDREQ_32B_sum" in text
    assert "TCC_BUBBLE_sum" in text
    useless = str(write_long(tmp_path / "y.csv", [("k", 1, {"SQ_WAVES": 1})]))
    assert main(["pmc", useless]) == 2
    error = capsys.readouterr().err
    assert "no counter of L2 or memory (SQ_WAVES); TCC_HIT_sum, TCC_MISS_sum and TCC_EA0_RDREQ_sum" in error
    assert "rocprofv3 --pmc TCC_HIT_sum" in error


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kernel", "zzz"], "No kernel has 'zzz' in its name."),
        (["--like", "--json"], "--like prints text"),
        (["nowhere.csv"], "nowhere.csv is missing"),
    ],
)
def test_mistakes(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pmc", *tables(), *words]) == 2
    assert says in capsys.readouterr().err


def test_numbers_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["pmc", *tables(), "--ideal-mb", "0"])
    assert stopped.value.code == 2
    assert "not a number above 0" in capsys.readouterr().err
