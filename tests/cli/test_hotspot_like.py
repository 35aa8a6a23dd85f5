"""`rcv hotspot`: what the scripts print stands under headings, the header is right, mistakes are told."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support import captures

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces"
# capture: registers of the program, waves that fit, what binds; the first numbers by grep over the ISA text
HEADERS = {
    "flash_attn_small_after": (242, 2, "vector registers"),
    "flash_attn_small_before": (242, 2, "vector registers"),
    "pa_mqa_small": (95, 5, "vector registers"),
    "pa_mqa_big": (95, 5, "vector registers"),
    "vec_add": (9, 8, None),
}


@pytest.fixture(autouse=True)
def no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["hotspot", *map(str, words)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("like", ["old", "new"])
@pytest.mark.parametrize("name", captures.GOLDEN)
def test_every_table_has_headings_over_its_columns(
    name: str, like: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(capsys, captures.trace_path(name), "--like", like).splitlines()
    is_mistaken = name.startswith("flash")  # gfx950 without a form that the scripts know
    assert any("the capture is of gfx950" in line for line in lines) == is_mistaken
    heads = [i for i, line in enumerate(lines) if re.match(r"  (class|  #) ", line)]
    assert len(heads) == 3
    for head in heads[1:]:
        place = lines[head].index("class")
        row = lines[head + 1]
        assert row[place - 2 : place] == "  "
        assert re.match(r"[A-Za-z]\S+\s", row[place:])
    percents = [line for line in lines[heads[1] + 1 : heads[2]] if "%" in line]
    assert len({line.rindex("%") for line in percents}) == 1, "shares stand under each other"


@pytest.mark.parametrize("name", captures.TRACES)
def test_the_header_of_every_capture(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, captures.trace_path(name), "--json"))["occupancy"]
    used = {one["name"]: one for one in found["limits"]}
    texts = [row[0] for row in json.loads((captures.trace_path(name) / "code.json").read_text())["code"]]
    named = [
        int(n) for text in texts for n in re.findall(r"\bv(\d+)\b|\bv\[\d+:(\d+)\]", text) for n in n if n
    ]
    assert used["vector registers"]["used"] >= max(named) + 1
    assert used["vector registers"]["allocated"] % 8 == 0
    assert 1 <= found["waves_per_simd"] <= found["max_waves_per_simd"]
    assert found["resident_peak"] <= found["waves_per_simd"], "no more can have been there than fit"
    if name in HEADERS:
        registers, waves, binding = HEADERS[name]
        assert used["vector registers"]["used"] == registers
        assert (found["waves_per_simd"], found["binding"]) == (waves, binding)


def test_classes_hold_all_cycles(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(
        run(capsys, captures.trace_path("moe_reduce"), "--by", "class", "--top", "0", "--json")
    )
    assert sum(row["latency"] for row in found["rows"]) == found["totals"]["latency"]
    assert sum(row["share_of_total"] for row in found["rows"]) == pytest.approx(1, abs=1e-4)


def test_sources_are_short_in_tables_and_whole_in_documents(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("flash_attn_small_after")
    text = run(capsys, folder, "--top", "1")
    assert text.count("numeric.py:872") == 1
    assert "/numeric.py" not in text
    assert json.loads(run(capsys, folder, "--top", "1", "--json"))["rows"][0]["source"].startswith("/")
    assert "source" not in run(capsys, captures.trace_path("pa_mqa_small"), "--top", "2")


def test_a_capture_without_instructions_claims_no_registers(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, SAMPLE / "placeholder")
    assert "registers" not in text
    assert "No instruction has any latency." in text
    assert main(["occupancy", str(SAMPLE / "placeholder"), "--limits"]) == 0
    assert "not known" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--detail"], "--detail belongs to --like."),
        (["--context", "2"], "--context belongs to --like."),
        (["--kernel", "x"], "--kernel belongs to --like."),
        (["--file", "a.py"], "--file belongs to --charge."),
    ],
)
def test_mistakes(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspot", str(captures.trace_path("vec_add")), *words]) == 2
    assert says in capsys.readouterr().err


def test_spreadsheets_have_the_rows_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("hotspot", str(captures.trace_path("vec_add")), "--like", "old", "--top", "3")
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main([*words, "--csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert table == [{name: str(value) for name, value in row.items()} for row in rows]


def test_help_says_where_the_originals_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["hotspot", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for word in ("gfx942 has 512", "first number of a range", "scratch", "v_fma"):
        assert word in text
