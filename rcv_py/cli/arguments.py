"""From words on the command line to a command and its arguments.

Nothing here, nor in the tables of commands, imports what a command needs to run.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rcv_py import __version__
from rcv_py.base.errors import UsageError
from rcv_py.base.text import visible
from rcv_py.cli.exit_codes import codes_text
from rcv_py.cli.options.analysis_commands import ANALYSIS_COMMANDS
from rcv_py.cli.options.capture_commands import CAPTURE_COMMANDS
from rcv_py.cli.options.common import Command
from rcv_py.cli.options.needs import check_needs, given
from rcv_py.cli.options.wave_commands import WAVE_COMMANDS

_ABOUT = "Look at AMD GPU instruction-level thread traces (ui_output_* folders)."
ORDER = (
    "view", "triage", "info", "check", "summary", "hotspot", "isa", "source", "line", "waits", "causes",
    "loops", "bubbles", "latency", "flame", "occupancy", "waves", "wave", "units", "place", "search",
    "counters", "pmc", "events", "compare", "index",
    "report", "export", "shot", "synth", "schema", "mcp",
)  # fmt: skip
_ALL = {command.name: command for command in (*CAPTURE_COMMANDS, *ANALYSIS_COMMANDS, *WAVE_COMMANDS)}
COMMANDS = tuple(_ALL[name] for name in ORDER)
NAMES = tuple(command.name for command in COMMANDS)


def parse(words: list[str]) -> argparse.Namespace:
    """Return the arguments; `command` names the command.  Raise UsageError or SystemExit.

    `cache` is None: a process that runs several commands sets it to its CaptureCache.
    """
    plain = [word for word in words if not word.startswith("-")]
    asks = {"-h", "--help", "--version"} & set(words)
    if plain and plain[0] not in NAMES:
        _guess(plain[0])
    if (not plain and not asks) or (plain and plain[0] not in NAMES):
        words = ["view", *words]
    # The options of the other commands need not be made to read those of one.
    asked = (_ALL[words[0]],) if words[0] in _ALL else COMMANDS
    arguments = parser(asked).parse_args(words)
    arguments.given = _given(arguments.command, words)
    arguments.cache = None
    check_needs(arguments, arguments.given)
    return arguments


def _given(command: str, words: Sequence[str]) -> frozenset[str]:
    own = argparse.ArgumentParser(command)
    _ALL[command].add(own)
    return given(own, words)


def parser(of: Sequence[Command] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of all commands, or of some."""
    top = _Parser(
        "rcv",
        usage="rcv [FOLDER]\n       rcv COMMAND …",
        description=_ABOUT,
        epilog=codes_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"rcv {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, title="commands", prog="rcv"
    )
    for command in of:
        own = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog=f"example: {command.example}",
            allow_abbrev=False,
        )
        command.add(own)
    return top


class _Parser(argparse.ArgumentParser):
    """Tells mistakes with the words as they are seen, on one line."""

    def error(self, message: str) -> NoReturn:
        """Name a mistake and stop."""
        super().error(visible(message))


def _guess(word: str) -> None:
    """Raise UsageError for a word that is neither a command nor a path."""
    if Path(word).exists() or "/" in word or "." in word:
        return
    near = difflib.get_close_matches(word, NAMES, 1)
    hint = f"Did you mean `rcv {near[0]}`?" if near else f"Commands: {', '.join(NAMES)}."
    raise UsageError(f"{word} is neither a command nor a folder.", hint=hint)
