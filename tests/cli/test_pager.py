"""What a terminal gets: long listings through the pager, progress, colours; and what pipes do not get."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.cli.terminal import has_style, pager_words, watched, wrapped
from tests.support.command_runs import printed
from tests.support.fixtures import fixture_of
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.programs import Terminal, finished, start

SAMPLE = ROOT / "sample_traces" / "matmul_tiled"
ROWS, COLUMNS = 24, 90


OnATerminal = Callable[..., tuple[str, int]]


# Runs rcv with its output on a terminal; returns what the terminal got, and the exit code
on_a_terminal = fixture_of(lambda: _on_a_terminal)


def _on_a_terminal(*words: str, **environment: str) -> tuple[str, int]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    base = {name: value for name, value in os.environ.items() if name not in ("PAGER", "COLUMNS", "NO_COLOR")}
    with Path(os.devnull).open("wb") as unheard:
        child = start(words, stdout=theirs, stderr=unheard, env={**base, "TERM": "xterm", **environment})
    os.close(theirs)
    got = b""
    try:
        while part := os.read(ours, 65536):
            got += part
    except OSError:  # so Linux says that nobody writes any more
        pass
    finally:
        os.close(ours)
        code = child.wait(HANG_S)
    return got.decode().replace("\r\n", "\n"), code


@pytest.fixture
def pager(tmp_path: Path) -> tuple[str, Path]:
    """A pager that writes what it is given into a file."""
    target = tmp_path / "paged"
    script = tmp_path / "pager.py"
    script.write_text(
        f"import pathlib, sys; pathlib.Path({str(target)!r}).write_bytes(sys.stdin.buffer.read())"
    )
    return f"'{sys.executable}' '{script}'", target


def test_a_long_listing_goes_through_the_pager(on_a_terminal: OnATerminal, pager: tuple[str, Path]) -> None:
    words, target = pager
    shown, code = on_a_terminal("isa", str(SAMPLE), RCV_PAGER=words)
    assert (shown, code) == ("", 0)
    lines = target.read_text().split("\n")
    assert len(lines) > ROWS
    assert "\x1b[1m" in lines[0], "it is for a terminal"
    assert all(len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= COLUMNS for line in lines)


def test_help_goes_through_the_pager(on_a_terminal: OnATerminal, pager: tuple[str, Path]) -> None:
    words, target = pager
    assert on_a_terminal("help", "hotspot", RCV_PAGER=words) == ("", 0)
    assert target.read_text().startswith("usage: rcv hotspot")


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("isa", str(SAMPLE), "--json"), {}),
        (("isa", str(SAMPLE), "--csv"), {}),
        (("isa", str(SAMPLE)), {"NO_PAGER": "1"}),
        (("isa", str(SAMPLE)), {"TERM": "dumb"}),
        (("isa", str(SAMPLE), "--top", "3"), {}),
        (("schema", "isa"), {"NO_PAGER": "1"}),
    ],
)
def test_what_is_not_paged(
    words: tuple[str, ...], environment: dict[str, str], on_a_terminal: OnATerminal, pager: tuple[str, Path]
) -> None:
    shown, code = on_a_terminal(*words, RCV_PAGER=pager[0], **environment)
    assert code == 0
    assert shown
    assert not pager[1].exists()


@pytest.mark.parametrize("name", ["there-is-no-such-pager", "cat", "", "'"])
def test_without_a_pager_the_terminal_gets_it(on_a_terminal: OnATerminal, name: str) -> None:
    shown, code = on_a_terminal("isa", str(SAMPLE), RCV_PAGER=name)
    assert code == 0
    assert len(shown.split("\n")) > ROWS


def test_a_pager_that_is_left_early_is_no_error(on_a_terminal: OnATerminal) -> None:
    shown, code = on_a_terminal("isa", str(SAMPLE), RCV_PAGER=f"'{sys.executable}' -c ''")
    assert (shown, code) == ("", 0)


def test_sentences_are_broken_at_words_and_tables_are_not() -> None:
    row = "line  instruction            source and more of it\n"
    assert wrapped(row, 30) == row
    assert wrapped("  It is a sentence that is too long.\nShort.\n", 22) == (
        "  It is a sentence\n  that is too long.\nShort.\n"
    )
    assert (
        wrapped("\x1b[1mjust as long as it can be\x1b[0m\n", 26)
        == "\x1b[1mjust as long as it can be\x1b[0m\n"
    )


@pytest.mark.parametrize(
    "command", ["triage", "summary", "waits", "causes", "bubbles", "latency", "isa", "waves"]
)
def test_nothing_is_wider_than_80_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in printed(command, SAMPLE).split("\n") if len(line) > 80] == []


def test_which_pager() -> None:
    assert pager_words({}) == ["less", "-FRX"]
    assert pager_words({"PAGER": "more -s"}) == ["more", "-s"]
    assert pager_words({"PAGER": "more", "RCV_PAGER": "less -S"}) == ["less", "-S"]
    assert pager_words({"PAGER": "more", "RCV_PAGER": ""}) == []
    assert pager_words({"NO_PAGER": "1", "PAGER": "more"}) == []


def test_a_pipe_gets_everything(pager: tuple[str, Path]) -> None:
    done = finished(
        [sys.executable, "-m", "rcv_py", "isa", str(SAMPLE)],
        check=True,
        env={**os.environ, "RCV_PAGER": pager[0], "TERM": "xterm"},
    )
    assert len(done.stdout.split("\n")) > ROWS
    assert "\x1b" not in done.stdout
    assert not pager[1].exists()


@pytest.mark.parametrize(
    ("environment", "is_bold"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": ""}, False)],
)
def test_colours_can_be_forced(
    environment: dict[str, str], is_bold: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "out").open("w") as stream:
        assert has_style(stream) == is_bold
        monkeypatch.setenv("NO_COLOR", "1")
        assert not has_style(stream)


def test_long_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(watched([3, 4], "Reading waves", 7, lambda item: item)) == [3, 4]
    assert "Reading waves 0 of 7" in screen.getvalue()
    assert "Reading waves 7 of 7" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K"), "the line is left empty"


@pytest.mark.parametrize("command", ["triage", "causes", "latency", "index", "compare"])
def test_which_commands_say_it(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rcv_py.cli.main import main

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    words = {"index": [str(SAMPLE.parent)], "compare": [str(SAMPLE), str(SAMPLE)]}.get(command, [str(SAMPLE)])
    assert main([command, *words, "--json"]) == 0
    assert (" of 4" if command == "index" else "Reading waves") in screen.getvalue()


def test_a_terminal_gets_links_to_sources_that_are_here(on_a_terminal: OnATerminal, tmp_path: Path) -> None:
    here = tmp_path / "include" / "tile_io.h"
    here.parent.mkdir()
    here.write_text("x")
    words = ("hotspot", str(SAMPLE), "--by", "source", "--top", "4", f"--source-map=/src/matmul={tmp_path}")
    plain, _ = on_a_terminal(*words, NO_COLOR="1")
    shown, code = on_a_terminal(*words)
    assert code == 0
    links = re.findall("\x1b]8;;(file://[^\x1b]*/include/tile_io.h#\\d+)\x1b", shown)
    assert links
    assert "\x1b" not in plain
    assert re.sub("\x1b]8;;[^\x1b]*\x1b.|\x1b\\[\\d*m", "", shown) == plain
