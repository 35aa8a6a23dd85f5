"""From words on the command line to the options of a command, and the help.

Nothing here, nor in the declarations of options, imports what a command needs to run.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path
from typing import NoReturn

from rcv_py.base.errors import UsageError
from rcv_py.base.text import visible
from rcv_py.cli.exit_codes import codes_text
from rcv_py.cli.options.commands import COMMANDS, FOLDED, GROUPS
from rcv_py.cli.options.option import Options, add_arguments, read_options

_USAGE = "usage: rcv [FOLDER]\n       rcv COMMAND [ARGUMENT …]"
_ABOUT = "Look at AMD GPU instruction-level thread traces (ui_output_* folders)."
_MORE = "`rcv help COMMAND` prints what a command takes, `rcv --version` the versions of all there is."
_HELP = ("-h", "--help")


def parse(words: list[str]) -> Options:
    """Return the options of the command that the words name; raise UsageError or SystemExit."""
    if words[:1] == ["--version"]:
        from rcv_py.base.versions import versions_text  # noqa: PLC0415 - it looks at what is installed

        _print_and_leave(versions_text())
    if words and words[0] in _HELP:
        _print_and_leave(help_text())
    words = [*FOLDED.get(words[0], words[:1]), *words[1:]] if words else []
    if not words or words[0] not in COMMANDS:
        is_word = words and not (words[0].startswith("-") or "/" in words[0] or "." in words[0])
        if is_word and not Path(words[0]).exists():
            raise UsageError(f"{words[0]} is neither a command nor a folder.", hint=_nearest(words[0]))
        words = ["view", *words]
    command = COMMANDS[words[0]]
    return read_options(command, _reader(words[0]), words[1:])


@cache
def _reader(name: str) -> argparse.ArgumentParser:
    """The parser that reads the words of a command, made once in a process."""
    return parser(COMMANDS[name])


def parser(command: type[Options]) -> argparse.ArgumentParser:
    """Return the parser of what follows the name of a command."""
    own = _Parser(
        f"rcv {command.command}",
        description=command.__doc__,
        epilog=f"example: {command.example}",
        allow_abbrev=False,
        add_help=False,
    )
    own.add_argument(*_HELP, action="help", help="print this help")
    add_arguments(command, own)
    return own


def shown_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what a parser reads, without flags of before, which the help does not list either."""
    actions = parser._actions  # argparse has no public list of them
    return [action for action in actions if action.help != argparse.SUPPRESS]


def help_text(command: type[Options] | None = None) -> str:
    """Return the help of a command, or the list of all commands."""
    if command is not None:
        return parser(command).format_help()
    lines = [_USAGE, "", _ABOUT]
    width = max(map(len, COMMANDS))
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:", *(f"  {one.command:<{width}}  {one.help()}" for one in commands)]
    return "\n".join([*lines, "", _MORE, "", codes_text()]) + "\n"


def command_named(word: str) -> type[Options]:
    """Return the command of a name; raise UsageError, with the nearest name, if there is none."""
    name = FOLDED.get(word, (word,))[0]
    if name not in COMMANDS:
        raise UsageError(f"There is no command {word}.", hint=_nearest(word))
    return COMMANDS[name]


class _Parser(argparse.ArgumentParser):
    """A parser that names mistakes on one line, in the words as they are seen."""

    def error(self, message: str) -> NoReturn:
        """Name a mistake and stop."""
        super().error(visible(message))


def _print_and_leave(text: str) -> NoReturn:
    print(text, end="")
    sys.exit(0)


def _nearest(word: str) -> str:
    import difflib  # noqa: PLC0415 - of use after a mistake only

    near = difflib.get_close_matches(word, COMMANDS, 1)
    return f"Did you mean `rcv {near[0]}`?" if near else f"Commands: {', '.join(COMMANDS)}."
