"""What a document says about itself: which waves were compared, and that its texts are of other code."""

import json
from pathlib import Path

import orjson
import pytest

from tests.support.command_runs import run
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

COMMANDS = (
    "isa", "causes", "hotspot", "waits", "source", "line 7", "flame", "bubbles", "latency", "loops",
    "summary",
)  # fmt: skip


NAME = "matmul_small"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of a matrix product whose instruction texts moved down by seven."""
    folder = tmp_path_factory.mktemp("wrong") / "ui_output_agent_1_dispatch_1"
    write_sample(NAME, folder)
    path = folder / "code.json"
    content = orjson.loads(path.read_bytes())
    texts = [row[0] for row in content["code"]]
    for row, text in zip(content["code"], texts[-7:] + texts[:-7], strict=True):
        row[0] = text
    path.write_bytes(orjson.dumps(content))
    return str(folder)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two captures with names of their own, of the same kernel: some waves of both leave it early."""
    place = tmp_path_factory.mktemp("pair")
    for seed, name in enumerate(("before", "after")):
        write_sample("mixed_populations", place / name, seed)
    return [str(place / name) for name in ("before", "after")]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_document_says_that_its_texts_are_of_other_code(wrong: str, words: str) -> None:
    command, *more = words.split()
    document = json.loads(run(command, wrong, *more, "--json").out)
    assert "do not belong" in document["about"]["alarm"] or "other code" in document["about"]["alarm"]
    right = str(sample_path(NAME))
    assert json.loads(run(command, right, *more, "--json").out)["about"]["alarm"] == ""


def test_a_comparison_says_which_waves_it_is_of(pair: list[str]) -> None:
    waves = [(found, wave) for found in map(plain, map(Path, pair)) for wave in found.waves]
    traced = len(waves)
    working = sum(
        any(found.text(token.line).startswith("v_mfma") for token in wave.tokens) for found, wave in waves
    )
    assert 0 < working < traced, "waves that leave early multiply no matrices"
    about = json.loads(run("compare", *pair, "--json").out)["about"]["waves"]
    asked = (about["chosen"], about["counted"], about["read"], about["traced"])
    assert asked == ("working", working, traced, traced)
    assert about["text"].startswith("A: ")
    every = json.loads(run("compare", *pair, "--waves", "all", "--json").out)["about"]["waves"]
    assert (every["chosen"], every["counted"]) == ("all", traced)


def test_a_list_of_reports_says_which_waves_they_are_of(pair: list[str], tmp_path: Path) -> None:
    one = json.loads(run("report", pair[0], "--out-dir", str(tmp_path / "one"), "--json").out)
    alone = json.loads(run("summary", pair[0], "--json").out)
    assert one["about"]["waves"] == alone["about"]["waves"]
    asked = ("--out-dir", str(tmp_path / "both"), "--waves", "all", "--jobs", "1", "--json")
    both = json.loads(run("report", *pair, *asked).out)["about"]["waves"]
    parts = [json.loads(run("summary", side, "--waves", "all", "--json").out) for side in pair]
    for name in ("counted", "read", "traced"):
        assert both[name] == sum(part["about"]["waves"][name] for part in parts) > 0
    assert both["chosen"] == "all"
    names = [Path(side).name for side in pair]
    assert both["text"] == "; ".join(
        f"{name}: {part['about']['waves']['text']}" for name, part in zip(names, parts, strict=True)
    )


@pytest.fixture(scope="module")
def unmapped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture with a mapping in which one instruction, row 4, has no place."""
    folder = tmp_path_factory.mktemp("unmapped") / "ui_output_agent_1_dispatch_1"
    write_sample("vector_add", folder)
    path = folder / "code.json"
    content = orjson.loads(path.read_bytes())
    content["code"][4][3] = ""
    path.write_bytes(orjson.dumps(content))
    return str(folder)


@pytest.mark.parametrize("words", ["isa", "hotspot --top 0", "search --match s_and_b32"])
def test_a_single_instruction_without_a_place_has_a_dash(unmapped: str, words: str) -> None:
    command, *more = words.split()
    rows = json.loads(run("isa", unmapped, "--json").out)["rows"]
    (row,) = (one for one in rows if one["instruction"] == 4)
    assert row["source"] == ""  # documents keep the empty text
    printed = run(command, unmapped, *more).out.splitlines()
    (shown,) = (line for line in printed if row["text"] in line)
    assert shown.rstrip().endswith("–")
    others = [line for line in printed[1:] if line.rstrip().endswith("–") and line != shown]
    assert all("; _Z10vector_add" in line for line in others)  # the label has none either
