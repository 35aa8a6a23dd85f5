"""Wherever a command names an instruction, its source place stands beside it: on a capture with sources.

What the right place is comes from code.json, read here with plain json.
"""

import csv
import io
import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_runs import ON_A_CAPTURE, in_forms, of_capture, run
from tests.support.fixtures import fixture_of
from tests.support.samples import sample_path, write_sample

HOT = "HOT"  # stands for the hottest source line
NAMED = ("text", "producer_text", "top_text")  # keys of JSON whose value is the text of an instruction
BESIDE = {"producer_text": "producer_source", "top_text": "top_source"}
# The scripts that --like repeats name no place; findings have a test of their own.
LIKE = "--like"
ELSEWHERE = ("triage", "events", "counters", "check", "info", "summary", "occupancy", "units")
MORE = {
    "place": ("{place} :line~0",),
    "flame": ("--content kernel --least 0", "--content source --least 0"),
    "loops": ("--by distance --top 0", "--by first --top 0"),
    "line": ("{line} --top 2",),
    "wave": ("{wave} --tokens",),
    "search": ("--match s_ --top 0",),
    "source": (HOT,),
    "isa": ("", "--branches", "--blocks", "--match mfma --bars latency_stall"),
}
VARIANTS = [
    (command, more)
    for command, variants in ON_A_CAPTURE.items()
    if command not in ELSEWHERE
    for more in dict.fromkeys((*variants, *MORE.get(command, ())))
    if LIKE not in more and "nothing~of~it" not in more
]


# A capture with sources; tests/real gives others to the same tests, and so for the fixtures below
folder = fixture_of(sample_path, "matmul_small")
hot = fixture_of(lambda: "tile_io.h:20")  # The source line on which it spends most
# Two captures to compare
pair = fixture_of(lambda: (sample_path("tutorial_before"), sample_path("tutorial_after")))


@cache
def places(*folders: Path) -> dict[str, frozenset[str]]:
    """The innermost places of each instruction text that has one, as code.json spells them."""
    found: dict[str, set[str]] = defaultdict(set)
    rows = [row for one in folders for row in json.loads((one / "code.json").read_text())["code"]]
    for text, _, _, chain, *_ in rows:
        if not text.startswith(";"):  # the name of a kernel, beside which its arguments stand
            found[text].add((chain or "").split(" -> ")[0])
    return {text: frozenset(where) for text, where in found.items() if "" not in where}


@cache
def spelled(*folders: Path) -> dict[str, tuple[str, ...]]:
    """The same for texts that no sentence holds by chance, with only the name of the file."""
    return {
        text: tuple(place.rsplit("/", 1)[-1] for place in where)
        for text, where in places(*folders).items()
        if " " in text and len(text) > 12
    }


def json_faults(folder: Path, value: Any, path: str = "") -> list[str]:
    """Objects that name an instruction without one of its places."""
    if isinstance(value, list):
        return [fault for at, one in enumerate(value) for fault in json_faults(folder, one, f"{path}[{at}]")]
    if not isinstance(value, dict):
        return []
    found = [fault for key, one in value.items() for fault in json_faults(folder, one, f"{path}.{key}")]
    for key in NAMED:
        text = value.get(key)
        if isinstance(text, str) and text in places(folder):
            place = value.get("branch_source" if "branch" in value else BESIDE.get(key, "source"))
            if place not in places(folder)[text]:
                found.append(f"{path}.{key}: {text!r} has {place!r}")
    return found


def csv_faults(folder: Path, text: str) -> list[str]:
    """Rows with more instructions than places of them."""
    faults = []
    for row in csv.reader(io.StringIO(text)):
        named = {cell for cell in row if cell in places(folder)}
        beside = [cell for cell in row if any(cell in places(folder)[one] for one in named)]
        if len(beside) < len(named):
            faults.append(f"{row}")
    return faults


def text_faults(text: str, *folders: Path, reach: int = 1) -> list[str]:
    """Lines with an instruction that have no place of it, nor one of the `reach` - 1 lines behind them."""
    lines, faults = text.split("\n"), []
    for at, line in enumerate(lines):
        around = "\n".join(lines[at : at + reach])
        of_line = [texts for first, texts in by_first_word(*folders).items() if first in line]
        named = {one for texts in of_line for one in texts if one in line}
        for word in named:
            longer = any(word != other and word in other for other in named)
            if not longer and not any(place in around for place in spelled(*folders)[word]):
                faults.append(line)
    return faults


@cache
def by_first_word(*folders: Path) -> dict[str, list[str]]:
    """The texts of `spelled` by their first words, of which there are few."""
    found: dict[str, list[str]] = defaultdict(list)
    for text in spelled(*folders):
        found[text.split(" ", 1)[0]].append(text)
    return found


@pytest.mark.parametrize(("command", "more"), VARIANTS)
def test_every_instruction_has_its_place(command: str, more: str, folder: Path, hot: str) -> None:
    more = more.replace(HOT, hot)
    document, table, shown = in_forms(command, folder, more, (("--json",), ("--csv",), ()))
    if document.code == 2 and command == "flame":
        return  # nothing leads through this line
    assert (document.code, document.err) == (0, "")
    assert not json_faults(folder, json.loads(document.out))[:3]
    if command != "place":  # a row a fact: its places are rows as well
        assert not csv_faults(folder, table.out)[:3]
    # The facts of a place are one below the other.
    assert not text_faults(shown.out, folder, reach=2 if command == "place" else 1)[:3]


@pytest.mark.parametrize("by", ["instruction", "block", "listing", "flame"])
def test_rows_of_compare_have_their_place(by: str, pair: tuple[Path, Path]) -> None:
    known = places(pair[1])
    words = ("compare", *map(str, pair), "--by", by, "--top", "0")
    document = json.loads(run(*words, "--json").out)
    for row in document.get("rows", []):
        for side in ("a", "b"):
            if row.get(f"instruction_{side}", -1) is not None and row.get(f"instruction_{side}", -1) >= 0:
                source = row[f"source_{side}"]
                assert not source or source.rsplit(":", 1)[1].isdigit()
    if by in ("instruction", "listing"):
        texts = [row.get("text_b", row.get("text")) for row in document["rows"] if row["instruction_b"] >= 0]
        lines = [row["source_b"] for row in document["rows"] if row["instruction_b"] >= 0]
        assert sum(text in known for text in texts) > 100
        for text, source in zip(texts, lines, strict=True):
            assert text not in known or source in known[text]
    assert not text_faults(run(*words).out, *pair)[:3]


def test_index_names_the_source_of_its_top_instruction(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "lib" / "one"
    link.parent.mkdir()
    link.symlink_to(folder)
    found = run("index", str(link.parent), "--json")
    row = json.loads(found.out)["captures"][0]
    text, _, _, chain, *_ = json.loads((folder / "code.json").read_text())["code"][row["top_instruction"]]
    assert (row["top_text"], row["top_source"]) == (text, chain.split(" -> ")[0].rsplit("/", 1)[-1])


def test_a_capture_without_mapping_has_a_dash_or_no_column(tmp_path: Path) -> None:
    write_sample("straggler", tmp_path)
    code = json.loads((tmp_path / "code.json").read_text())
    code["code"] = [[*row[:3], "", *row[4:]] for row in code["code"]]
    (tmp_path / "code.json").write_text(json.dumps(code))
    for command in ("isa", "waits", "causes", "bubbles", "latency"):
        found = of_capture(command, tmp_path, "--top 3")
        assert found.code == 0
        assert ":0" not in found.out
    rows = json.loads(of_capture("isa", tmp_path, "--top 3", "--json").out)["rows"]
    assert [row["source"] for row in rows] == [""] * 3


def test_tables_of_a_report_have_their_place(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    assert run("report", str(folder), "--out", str(target)).code == 0
    assert not text_faults(target.read_text(encoding="utf-8").replace("\\", ""), folder)[:3]
