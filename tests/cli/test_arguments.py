"""From words to arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from rcv_py.base.errors import UsageError
from rcv_py.cli.arguments import COMMANDS, parse


@pytest.mark.parametrize(
    ("words", "command", "folder"),
    [
        ([], "view", None),
        (["some/folder"], "view", "some/folder"),
        (["view", "some/folder"], "view", "some/folder"),
        (["./info"], "view", "info"),
        (["info", "x"], "info", "x"),
        (["hotspot", "x", "--top", "5"], "hotspot", "x"),
        (["hotspot", "--top", "5", "x"], "hotspot", "x"),
    ],
)
def test_which_command(words: list[str], command: str, folder: str | None) -> None:
    arguments = parse(words)
    assert arguments.command == command
    assert arguments.folder == (None if folder is None else Path(folder))


def test_a_folder_in_the_way_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "capture").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse(["capture"]).command == "view"


@pytest.mark.parametrize(("word", "hint"), [("inof", "`rcv info`"), ("xyzzy", "view, triage, check")])
def test_a_slip_of_the_keyboard_is_understood(word: str, hint: str) -> None:
    with pytest.raises(UsageError, match="neither a command nor a folder") as caught:
        parse([word, "x"])
    assert hint in caught.value.hint


def test_shot_takes_numbers_apart() -> None:
    words = "shot x --panel isa --out a.png --size 900x600 --scale 2 --line 7 --range=-5:1000"
    arguments = parse([*words.split(), "--wave", "se0/simd1/slot2/wv3"])
    assert (arguments.size, arguments.range, arguments.scale, arguments.line) == (
        (900, 600),
        (-5, 1000),
        2,
        7,
    )
    assert (arguments.panel, arguments.theme, arguments.out) == ("isa", "light", Path("a.png"))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("hotspot", "required: FOLDER"),
        ("hotspot x --top -1", "'-1' is not a whole number"),
        ("hotspot x --top ten", "'ten' is not a whole number"),
        ("hotspot x --by wave", "invalid choice: 'wave'"),
        ("hotspot x --json --csv", "not allowed with"),
        ("shot x --panel isa --out a.png --size 900", "'900' is not a size such as 1200x800"),
        ("shot x --panel isa --out a.png --range 9:3", "'9:3' is not a range such as 1000:2000"),
        ("shot x --panel isa", "--out"),
        ("info x --nonsense", "unrecognized arguments: --nonsense"),
    ],
)
def test_what_cannot_be_says_why(words: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(words.split())
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], *([command.name] for command in COMMANDS)])
def test_help_explains(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([*command, "--help"])
    text = " ".join(capsys.readouterr().out.split())  # without the breaks of lines
    assert caught.value.code == 0
    assert "example: rcv" in text or all(one.name in text and one.help in text for one in COMMANDS)
