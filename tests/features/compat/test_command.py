"""`rcv hotspot`: what the scripts print stands under headings, the header is right, mistakes are told."""

import json
import re
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.opened import VARIED
from tests.support.paths import ROOT
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

SAMPLE = ROOT / "sample_traces"


@pytest.fixture(autouse=True)
def no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


gfx9 = fixture_of_each(sample_path, ["matmul_small", "kernels"])  # A capture of a GPU that the scripts know
capture = fixture_of_each(sample_path, VARIED)  # A capture with instructions


@pytest.mark.parametrize("like", ["old", "new"])
def test_every_table_has_headings_over_its_columns(gfx9: Path, like: str) -> None:
    lines = printed("hotspot", gfx9, "--like", like).splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"  (class|  #) ", line)]
    assert len(heads) == 3
    for head in heads[1:]:
        place = lines[head].index("class")
        row = lines[head + 1]
        assert row[place - 2 : place] == "  "
        assert re.match(r"[A-Za-z]\S+\s", row[place:])
    percents = [line for line in lines[heads[1] + 1 : heads[2]] if "%" in line]
    assert len({line.rindex("%") for line in percents}) == 1, "shares stand under each other"


@pytest.mark.parametrize("like", ["old", "new"])
def test_a_gpu_that_the_scripts_would_mistake_is_named(like: str, tmp_path: Path) -> None:
    """A program of gfx950, by one of its instructions, whose matrix instructions are those of gfx942."""
    folder, note = tmp_path / "c", "the capture is of gfx950"
    write_sample("matmul_small", folder)
    assert note not in printed("hotspot", folder, "--like", like)
    code = folder / "code.json"
    text = code.read_text()
    changed = text.replace("v_and_b32_e32 v1, 63, v0", "v_prng_b32_e32 v1, v0", 1)
    assert changed != text
    code.write_text(changed)
    assert note in printed("hotspot", folder, "--like", like)


def vector_registers(folder: Path) -> int:
    """One more than the largest that an instruction names."""
    texts = [row[0] for row in json.loads((folder / "code.json").read_text())["code"]]
    found = [re.findall(r"\bv(\d+)\b|\bv\[\d+:(\d+)\]", text) for text in texts if not text.startswith(";")]
    return 1 + max(int(number) for names in found for pair in names for number in pair if number)


def test_the_header_of_every_capture(capture: Path) -> None:
    found = printed_json("hotspot", capture)["occupancy"]
    used = {one["name"]: one for one in found["limits"]}
    assert used["vector registers"]["used"] >= vector_registers(capture)
    assert used["vector registers"]["allocated"] % 8 == 0
    assert 1 <= found["waves_per_simd"] <= found["max_waves_per_simd"]
    assert found["resident_peak"] <= found["waves_per_simd"], "no more can have been there than fit"


@pytest.mark.parametrize("name", ["matmul_small", "vector_add"])
def test_as_many_waves_fit_as_registers_are_left_for(name: str) -> None:
    """A SIMD of gfx942 has 512 vector registers a lane, given out in eights, and room for eight waves."""
    folder = sample_path(name)
    registers = vector_registers(folder)
    fit = 512 // (-(-registers // 8) * 8)
    found = printed_json("hotspot", folder)["occupancy"]
    (used,) = (one["used"] for one in found["limits"] if one["name"] == "vector registers")
    assert used == registers
    assert (found["waves_per_simd"], found["binding"]) == (
        (fit, "vector registers") if fit < 8 else (8, None)
    )


classed = fixture_of(sample_path, "matmul_small")  # A capture with many classes of instructions


def test_classes_hold_all_cycles(classed: Path) -> None:
    found = printed_json("hotspot", classed, "--by", "class", "--top", "0")
    latency = sum(token.duration for tokens in plain(classed).by_line().values() for token in tokens)
    assert sum(row["latency"] for row in found["rows"]) == found["totals"]["latency"] == latency
    assert sum(row["share_of_total"] for row in found["rows"]) == pytest.approx(1, abs=1e-4)


def test_sources_are_short_in_tables_and_whole_in_documents(tmp_path: Path) -> None:
    folder = sample_path("matmul_small")
    text = printed("hotspot", folder, "--top", "1")
    assert text.count("tile_io.h:20") == 1
    assert "/tile_io.h" not in text
    source = printed_json("hotspot", folder, "--top", "1")["rows"][0]["source"]
    assert source.startswith("/")
    assert source.endswith("/tile_io.h:20")
    write_sample("gfx12", tmp_path)
    code = tmp_path / "code.json"
    document = json.loads(code.read_text())
    for row in document["code"]:
        row[3] = ""
    code.write_text(json.dumps(document))
    assert "source" not in printed("hotspot", tmp_path, "--top", "2")


def test_a_capture_without_instructions_claims_no_registers() -> None:
    text = printed("hotspot", SAMPLE / "placeholder")
    assert "registers" not in text
    assert "The capture has no instructions." in text
    assert "not known" in printed("occupancy", SAMPLE / "placeholder", "--limits")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--detail"], "--detail belongs to --like."),
        (["--context", "2"], "--context belongs to --like."),
        (["--kernel", "x"], "--kernel belongs to --like."),
        (["--file", "a.py"], "--file belongs to --charge."),
    ],
)
def test_mistakes(words: list[str], says: str) -> None:
    assert says in refused("hotspot", sample_path("vector_add"), *words)


def test_spreadsheets_have_the_rows_of_the_document() -> None:
    words = ("hotspot", str(sample_path("vector_add")), "--like", "old", "--top", "3")
    rows = printed_json(*words)["rows"]
    table = printed_csv(*words)
    assert table == [{name: str(value) for name, value in row.items()} for row in rows]


def test_help_says_where_the_originals_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["hotspot", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for word in ("gfx942 has 512", "first number of a range", "scratch", "v_fma"):
        assert word in text
