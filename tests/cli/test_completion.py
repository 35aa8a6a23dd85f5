"""Completion in shells: every command, option and choice is in each script, and bash completes with it."""

import shutil
from pathlib import Path

import pytest

from rcv_py.cli.commands.completion import words_of
from rcv_py.cli.main import main
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.program import SHELLS
from tests.support.command_runs import printed, refused
from tests.support.programs import finished


def script(shell: str) -> str:
    return printed("completion", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_command_option_and_choice(shell: str) -> None:
    text = script(shell)
    for command in COMMANDS.values():
        lines = "\n".join(part for part in text.split("\n") if command.command in part)
        for word in words_of(command) if shell != "zsh" else ():
            flags = [flag if shell == "bash" else f" {flag[2:] or flag[1:]} " for flag in word.flags]
            assert all(flag.strip("-") in lines for flag in flags), (command.command, word)
            assert all(choice in lines for choice in word.choices), (command.command, word)
        assert command.command in text


def test_the_zsh_script_has_every_option_of_a_command() -> None:
    parts = script("zsh").split("        ")
    text = "".join(parts)
    for command in COMMANDS.values():
        body = text.partition(f"{command.command}) _arguments")[2].partition(";;")[0]
        for word in words_of(command):
            assert all(f"'*{flag}[" in body for flag in word.flags), (command.command, word)
            assert not word.choices or f"({' '.join(word.choices)})" in body, (command.command, word)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script(shell: str, tmp_path: Path) -> None:
    path = tmp_path / "completion"
    path.write_text(script(shell))
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    check = "--no-execute" if shell == "fish" else "-n"
    done = finished([shell, check, str(path)])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("tri",), {"triage"}),
        (("captures in",), {"captures in here"}),
        (("hotspot", "--by", ""), {"instruction", "source", "kind", "class", "tree"}),
        (("hotspot", "--by", "=", "s"), {"source"}),
        (("hotspot", "--so"), {"--sort", "--source-map"}),
        (("hotspot", "--top", ""), set()),
        (("hotspot", "--json", "captures"), {"captures in here"}),
        (("report", "x", "--out", "n"), {"notes.md"}),
        (("help", "tri"), {"triage"}),
        (("completion", "z"), {"zsh"}),
    ],
)
def test_bash_completes(words: tuple[str, ...], offered: set[str], tmp_path: Path) -> None:
    path = tmp_path / "completion"
    path.write_text(script("bash"))
    place = tmp_path / "place"
    (place / "captures in here").mkdir(parents=True)
    (place / "notes.md").touch()
    code = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rcv; printf "%s\\n" "${COMPREPLY[@]}"'
    done = finished(["bash", "-c", code, str(path), "rcv", *words], cwd=place)
    assert done.stderr == ""
    assert {line for line in done.stdout.split("\n") if line} == offered


def test_help_is_a_command() -> None:
    listed = printed("help")
    assert all(f"  {name} " in listed for name in COMMANDS)
    assert printed("help", "hotspot").startswith("usage: rcv hotspot ")
    assert "Did you mean `rcv hotspot`?" in refused("help", "hotspto")


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_80_columns(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["help", name] if name else ["help"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line for line in lines if len(line) > 80] == []


def test_a_wrong_option_shows_the_usage_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["waits", "x", "--bogus"])
    error = capsys.readouterr().err
    assert error.startswith("usage: rcv waits ")
    assert "rcv waits: error: unrecognized arguments: --bogus" in error


def test_help_texts_are_orders() -> None:
    verbs = {command.help().split()[0] for command in COMMANDS.values()}
    assert verbs <= {
        "Check", "Compare", "Draw", "Find", "List", "Open", "Predict", "Print", "Rank", "Record", "Serve",
        "Show", "Sum", "Summarise", "Write",
    }  # fmt: skip
