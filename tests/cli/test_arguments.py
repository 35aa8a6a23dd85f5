"""From words to arguments."""

import sys
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import pytest

from rcv_py.base.errors import UsageError
from rcv_py.cli.arguments import parse
from rcv_py.cli.options.commands import COMMANDS, MODULES
from rcv_py.cli.options.option import Options
from rcv_py.features.why.options import WaitsOptions
from tests.support.programs import finished


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
    assert arguments.size == (900, 600)
    assert arguments.range == (-5, 1000)
    assert arguments.scale == 2
    assert arguments.line == 7
    assert (arguments.panel, arguments.theme, arguments.out) == ("isa", "light", Path("a.png"))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("hotspot", "required: FOLDER"),
        ("hotspot x --top -1", "'-1' is not a whole number from 0 on"),
        ("hotspot x --top ten", "'ten' is not a whole number from 0 on"),
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


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_explains(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([*command, "--help"])
    text = " ".join(capsys.readouterr().out.split())  # without the breaks of lines
    assert caught.value.code == 0
    assert "example: rcv" in text or all(
        name in text and one.help() in text for name, one in COMMANDS.items()
    )


def test_no_command_is_imported_to_read_its_options() -> None:
    code = (
        "import sys\n"
        "from rcv_py.cli.arguments import parse\n"
        "parse(['triage', 'x'])\n"
        "print(*(n for n in sys.modules if n == 'numpy' or n.startswith('rcv_py.cli.commands')))\n"
        "print(*(n for n in sys.modules if n.startswith('rcv_py.features.') and n.endswith('command')))\n"
    )
    done = finished([sys.executable, "-c", code], check=True)
    assert done.stdout == "\n\n"


def test_options_are_typed_and_cannot_change() -> None:
    options = parse(["waits", "x", "--top", "3"])
    assert isinstance(options, WaitsOptions)
    assert (options.top, options.clock, options.given) == (3, None, {"top"})
    with pytest.raises(FrozenInstanceError):
        options.top = 4  # type: ignore[misc]
    assert WaitsOptions(folder=Path("x")).top == 20, "a command can be called without words"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_runs_with_its_own_options(name: str) -> None:
    """The one parameter of `run` is the declaration that the parser is made from."""
    module = import_module(MODULES[name])
    taken = get_type_hints(module.run)["options"]
    assert COMMANDS[name] in (get_args(taken) or (taken,))
    assert COMMANDS[name].example.startswith("rcv ")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_option_has_the_type_that_is_declared(command: type[Options]) -> None:
    """A default, and what the reader of a value returns, fit the annotation."""
    declared = get_type_hints(command, localns={"CaptureCache": object})  # for type checkers alone
    for name, argument in command.arguments.items():
        is_given = argument.is_positional or argument.how.get("required")  # if there is no default
        assert (NoneType in get_args(declared[name])) == (argument.default is None) or is_given, name
        if isinstance(argument.default, list):
            assert get_origin(declared[name]) in (list, Sequence), name
        elif argument.default is not None:
            kind = Path if isinstance(argument.default, Path) else type(argument.default)
            assert declared[name] is kind, name


def test_what_an_option_needs_is_said_once() -> None:
    with pytest.raises(UsageError, match=r"--file belongs to --by source\.") as caught:
        parse(["hotspot", "x", "--charge", "self", "--file", "y"])
    assert caught.value.hint == "Add --by source, or leave --file out."
    with pytest.raises(UsageError, match=r"--top belongs to the ranking\.") as caught:
        parse(["hotspot", "x", "--bins", "8", "--top=3"])
    assert caught.value.hint == "Leave out --bins, or this."


@pytest.mark.parametrize("words", [["--panel", "isa", "x"], ["--cycle=3", "x"]])
def test_options_may_stand_before_the_folder(words: list[str]) -> None:
    assert parse(words).command == "view"
