"""What a document says about itself: which waves were compared, and that its texts are of other code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import orjson
import pytest

from tests.support import captures
from tests.support.command_runs import run

COMMANDS = (
    "isa", "causes", "hotspot", "waits", "source", "line 7", "flame", "bubbles", "latency", "loops",
    "summary",
)  # fmt: skip


def shifted(folder: Path, name: str) -> str:
    """A copy of a capture whose instruction texts moved down by seven."""
    shutil.copytree(captures.trace_path(name), folder)
    path = folder / "code.json"
    folder.chmod(0o755)
    path.chmod(0o644)
    content = orjson.loads(path.read_bytes())
    texts = [row[0] for row in content["code"]]
    for row, text in zip(content["code"], texts[-7:] + texts[:-7], strict=True):
        row[0] = text
    path.write_bytes(orjson.dumps(content))
    return str(folder)


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of an attention kernel with the texts of other code."""
    return shifted(
        tmp_path_factory.mktemp("wrong") / "ui_output_agent_1_dispatch_1", "flash_attn_small_before"
    )


@pytest.mark.parametrize("words", COMMANDS)
def test_a_document_says_that_its_texts_are_of_other_code(wrong: str, words: str) -> None:
    command, *more = words.split()
    document = json.loads(run(command, wrong, *more, "--json").out)
    assert "do not belong" in document["about"]["alarm"] or "other code" in document["about"]["alarm"]
    right = str(captures.trace_path("flash_attn_small_before"))
    assert json.loads(run(command, right, *more, "--json").out)["about"]["alarm"] == ""


def test_a_comparison_says_which_waves_it_is_of() -> None:
    sides = [str(captures.trace_path(f"flash_attn_small_{side}")) for side in ("before", "after")]
    about = json.loads(run("compare", *sides, "--json").out)["about"]["waves"]
    assert (about["chosen"], about["counted"], about["read"], about["traced"]) == ("working", 12, 12, 12)
    assert about["text"].startswith("A: ")
    assert (
        json.loads(run("compare", *sides, "--waves", "all", "--json").out)["about"]["waves"]["chosen"]
        == "all"
    )


def test_a_list_of_reports_says_which_waves_they_are_of(tmp_path: Path) -> None:
    sides = [str(captures.trace_path(f"flash_attn_small_{side}")) for side in ("before", "after")]
    one = json.loads(run("report", sides[0], "--out-dir", str(tmp_path / "one"), "--json").out)
    alone = json.loads(run("summary", sides[0], "--json").out)
    assert one["about"]["waves"] == alone["about"]["waves"]
    asked = ("--out-dir", str(tmp_path / "both"), "--waves", "all", "--jobs", "1", "--json")
    both = json.loads(run("report", *sides, *asked).out)["about"]["waves"]
    parts = [json.loads(run("summary", side, "--waves", "all", "--json").out) for side in sides]
    for name in ("counted", "read", "traced"):
        assert both[name] == sum(part["about"]["waves"][name] for part in parts) > 0
    assert both["chosen"] == "all"
    names = [Path(side).name for side in sides]
    assert both["text"] == "; ".join(
        f"{name}: {part['about']['waves']['text']}" for name, part in zip(names, parts, strict=True)
    )


@pytest.fixture(scope="module")
def unmapped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture with a mapping in which one instruction, the seventh row, has no place."""
    folder = tmp_path_factory.mktemp("unmapped") / "ui_output_agent_1_dispatch_1"
    shutil.copytree(captures.trace_path("vec_add"), folder)
    path = folder / "code.json"
    folder.chmod(0o755)
    path.chmod(0o644)
    content = orjson.loads(path.read_bytes())
    content["code"][7][3] = ""
    path.write_bytes(orjson.dumps(content))
    return str(folder)


@pytest.mark.parametrize("words", ["isa", "hotspot --top 0", "search --match s_and_b32"])
def test_a_single_instruction_without_a_place_has_a_dash(unmapped: str, words: str) -> None:
    command, *more = words.split()
    rows = json.loads(run("isa", unmapped, "--json").out)["rows"]
    (row,) = (one for one in rows if one["instruction"] == 7)
    assert row["source"] == ""  # documents keep the empty text
    printed = run(command, unmapped, *more).out.splitlines()
    (shown,) = (line for line in printed if row["text"] in line)
    assert shown.rstrip().endswith("–")
    others = [line for line in printed[1:] if line.rstrip().endswith("–") and line != shown]
    assert all("; vecAddKernel_0" in line for line in others)  # the label has none either
