"""`rcv notes` as a user and an agent call it, and its rows in the API, in reports and in packed captures."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import rcv_py
from rcv_py.base.errors import UsageError
from rcv_py.cli.main import main
from rcv_py.cli.mcp.tools import AllowedPaths, tools
from rcv_py.formats.notes.store import PLACE
from tests.support.command_runs import printed, printed_json, refused, run_anew
from tests.support.plain_capture import plain
from tests.support.samples import write_sample

HOSTILE = "<img src=x onerror=alert(1)> [x](http://y) \x1b[31m"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(PLACE, str(tmp_path / "own"))
    made = tmp_path / "capture"
    write_sample("straggler", made)
    return str(made)


def notes(*words: str) -> dict[str, Any]:
    document: dict[str, Any] = printed_json("notes", *words)
    return document


def test_notes_are_added_listed_and_removed(folder: str) -> None:
    wave = str(rcv_py.open(folder).waves["wave"][0])
    where = ("--line", "3", "--line", "5", "--wave", wave, "--at", "90000")
    added = notes(folder, "add", *where, "--title", "slow", "--note", "a\nb", "--severity", "error")
    (row,) = added["rows"]
    assert added["action"] == "add"
    assert added["changed"] == [row["id"]]
    assert Path(added["kept_in"]).is_file()
    assert (row["instructions"], row["wave"], row["start"], row["end"]) == ([3, 5], wave, 90_000, 90_001)
    assert (row["title"], row["text"], row["severity"], row["problem"]) == ("slow", "a\nb", "error", "")
    notes(folder, "add", "--from", "89000", "--title", "until the end", "--author", "me")
    listed = notes(folder, "--match", "SLOW")
    assert [one["title"] for one in listed["rows"]] == ["slow"]
    assert notes(folder)["rows"][1]["end"] == max(stay.end for stay in plain(Path(folder)).stays)
    assert "2 of 2 notes." in printed("notes", folder)
    left = notes(folder, "remove", "--id", row["id"][:6])
    assert [one["title"] for one in left["rows"]] == ["until the end"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add",), "--title is missing"),
        (("add", "--title", "x", "--line", "99999"), "no instruction 99999"),
        (("add", "--title", "x", "--at", "5"), "no cycle 5"),
        (("add", "--title", "x", "--wave", "se9/simd9/slot9/wv9"), "no wave se9"),
        (("add", "--title", "x", "--source", "7"), "names no file"),
        (("add", "--title", "x", "--source", "nowhere.py:7"), "no source file nowhere.py"),
        (("add", "--title", "x", "--at", "90000", "--from", "1"), "--from belongs to"),
        (("--title", "x"), "--title belongs to add"),
        (("remove",), "--id is missing"),
        (("remove", "--id", "zz"), "no note zz"),
        (("import",), "--file is missing"),
        (("import", "--file", "/nowhere/annotations.json"), "annotations.json"),
        (("export",), "--out is missing"),
        (("list", "--out", "x"), "--out belongs to export"),
        (("list", "--beside"), "--beside belongs to"),
        (("forget",), "invalid choice"),
    ],
)
def test_what_cannot_be_is_refused(folder: str, words: tuple[str, ...], said: str) -> None:
    assert said in refused("notes", folder, *words)


def test_files_of_others_go_in_and_out(folder: str, tmp_path: Path) -> None:
    theirs, out = tmp_path / "theirs.json", tmp_path / "out.json"
    theirs.write_text('[{"severity": "high", "title": "t", "note": "n", "anchor": {"instructions": [1]}}]')
    taken = notes(folder, "import", "--file", str(theirs), "--beside")
    assert Path(taken["kept_in"]) == Path(folder) / "annotations.json"
    written = notes(folder, "export", "--out", str(out))
    assert written["kept_in"] == str(out)
    (entry,) = json.loads(out.read_text())["annotations"]
    assert (entry["title"], entry["anchor"]) == ("t", {"instIdxs": [1]})
    (Path(folder) / "annotations.json").write_text("{")
    assert "annotations.json is damaged: it ends in the middle" in run_anew("notes", folder).err


def test_a_packed_capture_is_sent_with_its_notes(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes(folder, "add", "--line", "3", "--title", "look here")
    plain, sent = tmp_path / "plain.rcvz", tmp_path / "sent.rcvz"
    assert main(["pack", folder, "--out", str(plain)]) == 0
    assert "1 note" in printed("pack", folder, "--with-notes", "--out", sent)
    monkeypatch.setenv(PLACE, str(tmp_path / "somebody"))
    assert notes(str(plain))["rows"] == []
    (row,) = notes(str(sent))["rows"]
    assert (row["title"], row["kept_in"]) == ("look here", "notes.json")


def test_scripts_read_and_write_them(folder: str) -> None:
    capture = rcv_py.open(folder)
    id_ = capture.add_note("slow", instructions=[3], cycles=(89_000, 90_000), severity="warning")
    assert capture.notes["title"].tolist() == ["slow"]
    assert capture.notes.result[0].anchor.instructions == (3,)
    with pytest.raises(UsageError):
        capture.add_note("x", wave="se9/simd9/slot9/wv9")
    with pytest.raises(UsageError):
        capture.remove_note("nothing")
    assert [
        note.id
        for note in rcv_py.open(capture.pack(Path(folder).parent / "it.rcvz", notes=True)).notes.result
    ]
    capture.remove_note(id_)
    assert len(capture.notes) == 0


def test_a_report_has_them_as_plain_text(folder: str, tmp_path: Path) -> None:
    capture = rcv_py.open(folder)
    capture.report(tmp_path / "without.md")
    assert "## Notes" not in (tmp_path / "without.md").read_text()
    capture.add_note(HOSTILE, text=HOSTILE, instructions=[3], severity="error")
    for name in ("report.html", "report.md"):
        text = capture.report(tmp_path / name).read_text()
        assert "Notes" in text
        assert re.search(r"(?<!\\)<img src=x", text) is None
        assert "\x1b" not in text
        assert "instruction 3" in text


def test_agents_write_notes_only_where_they_may(folder: str, tmp_path: Path) -> None:
    tool = tools()["notes"]
    given = {"folder": folder, "action": "add", "title": "t", "line": [3]}
    assert tool.words({"folder": folder}, AllowedPaths.of(tmp_path, None))[-1] == "--json"
    with pytest.raises(UsageError, match="only reads"):
        tool.words(given, AllowedPaths.of(tmp_path, None))
    allowed = AllowedPaths.of(tmp_path, None, notes=True)
    assert "--title=t" in tool.words(given, allowed)
    with pytest.raises(UsageError, match="outside"):
        tool.words({"folder": folder, "action": "import", "file": "/etc/hostname"}, allowed)
