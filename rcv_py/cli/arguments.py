"""From words on the command line to the options of a command, and the help.

Nothing here, nor in the declarations of options, imports what a command needs to run.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from rcv_py.base.errors import UsageError
from rcv_py.base.settings import VARIABLE
from rcv_py.base.text import Message, is_english, padded, speak, spoken_language, translated, visible
from rcv_py.cli.exit_codes import ExitCode, codes_text
from rcv_py.cli.options.commands import COMMANDS, FOLDED, GROUPS
from rcv_py.cli.options.option import Options, add_arguments, read_options
from rcv_py.cli.terminal import at_words, width_of

_FIRST = "usage: "
_USAGE = "usage: rcv [FOLDER]\n       rcv COMMAND [ARGUMENT …]"
_ABOUT = "Look at AMD GPU instruction-level thread traces (ui_output_* folders)."
_MORE = "`rcv help COMMAND` prints a command's options, `rcv --version` all versions."
_LANGUAGES = (
    "`rcv --language zh_CN COMMAND`, or RCV_LANGUAGE=zh_CN, prints text for people in another language."
)
USUAL_WIDTH = 80  # characters of a line, of help that is not printed to a terminal
_HELP = ("-h", "--help")
_LANGUAGE = "--language"
OF_ARGPARSE = ("positional arguments", "options", "expected one argument", "expected at least one argument")


def parse(words: list[str]) -> Options:
    """Return the options of the command that the words name; raise UsageError or SystemExit."""
    if words[:1] == ["--version"]:
        from rcv_py.base.versions import versions_text  # noqa: PLC0415 - it looks at what is installed
        from rcv_py.formats.isa.processes import disassembler  # noqa: PLC0415 - it starts a program

        if words[1:]:
            raise UsageError("`rcv --version` takes nothing else.")
        _print_and_leave(f"{versions_text()}disassembler {disassembler() or 'none'}\n")
    if words and words[0] in _HELP:
        _print_and_leave(help_text())
    words = [*FOLDED.get(words[0], words[:1]), *words[1:]] if words else []
    if not words or words[0] not in COMMANDS:
        is_word = words and not (words[0].startswith("-") or "/" in words[0] or "." in words[0])
        if is_word and not Path(words[0]).exists():
            text = Message("{0} is neither a command nor a folder.", words[0])
            raise UsageError(text, hint=_nearest(words[0]))
        words = ["view", *words]
    return read_options(COMMANDS[words[0]], _reader(words[0]), words[1:])


@contextmanager
def speaking(words: list[str]) -> Iterator[list[str]]:
    """Select the language that --language, before the command, or $RCV_LANGUAGE names; yield the other words.

    Started processes use it as well.  Raise UsageError for an unknown language.
    """
    name = ""
    if words[:1] == [_LANGUAGE]:
        if len(words) == 1:
            raise UsageError(Message("{0} needs a language, such as zh_CN.", _LANGUAGE))
        name, words = words[1], words[2:]
    elif words and words[0].startswith(f"{_LANGUAGE}="):
        name, words = words[0].partition("=")[2], words[1:]
    before = os.environ.get(VARIABLE)
    name = name or before or ""
    if not name or name == spoken_language():
        yield words
        return
    from rcv_py.base.languages import language_named, use  # noqa: PLC0415 - English needs no catalogue

    try:
        os.environ[VARIABLE] = language_named(name)
        use(os.environ[VARIABLE])
        yield words
    finally:
        speak(None)
        os.environ.pop(VARIABLE, None)
        os.environ.update({} if before is None else {VARIABLE: before})


@cache
def _reader(name: str) -> argparse.ArgumentParser:
    """The parser that reads the words of a command, made once in a process."""
    return parser(COMMANDS[name])


def parser(command: type[Options]) -> argparse.ArgumentParser:
    """Return the parser of what follows the name of a command."""
    own = _Parser(
        formatter_class=_Help,
        prog=Message("rcv {0}", command.command),
        description=command.__doc__,
        epilog=Message("example: {0}", command.example),
        allow_abbrev=False,
        exit_on_error=False,
        add_help=False,
    )
    own.add_argument(*_HELP, action="help", help="print this help")
    add_arguments(command, own)
    return own


def shown_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what a parser reads, without old flags, which the help does not list either."""
    actions = parser._actions  # argparse has no public list of them
    return [action for action in actions if action.help != argparse.SUPPRESS]


def help_text(command: type[Options] | None = None) -> str:
    """Return the help of a command, or the list of all commands."""
    if command is not None:
        return _usage(parser(command).format_help())
    lines = [_usage(_USAGE), "", translated(_ABOUT)]
    width = max(map(len, COMMANDS))
    for group, names in GROUPS.items():
        lines += ["", f"{translated(group)}:"]
        for name in names:
            lines.append(f"  {name:<{width}}  {translated(COMMANDS[name].help()).removesuffix('。')}")
    more = f"{translated(_MORE)}\n\n{translated(_LANGUAGES)}"
    return "\n".join([*lines, "", more, "", translated(codes_text())]) + "\n"


def command_named(word: str) -> type[Options]:
    """Return the command of a name; raise UsageError, with the nearest name, if there is none."""
    name = FOLDED.get(word, (word,))[0]
    if name not in COMMANDS:
        raise UsageError(Message("There is no command {0}.", word), hint=_nearest(word))
    return COMMANDS[name]


def _usage(text: str) -> str:
    """Usage with its first word translated, padded to the width of the English word for alignment."""
    if not text.startswith(_FIRST):
        return text
    return padded(translated(_FIRST), len(_FIRST)) + text.removeprefix(_FIRST)


class _Help(argparse.HelpFormatter):
    """Help in the selected language."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=(width_of(sys.stdout) or USUAL_WIDTH) - 2)

    def start_section(self, heading: str | None) -> None:
        super().start_section(heading and translated(heading))

    def add_text(self, text: str | None) -> None:
        super().add_text(text and translated(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help and translated(action.help)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if is_english() else at_words(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if is_english():
            return super()._fill_text(text, width, indent)
        return "\n".join(f"{indent}{line}" for line in at_words(text, width - len(indent)))


class _Parser(argparse.ArgumentParser):
    """A parser that reports mistakes on one line, with unprintable characters escaped."""

    def parse_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        try:
            return super().parse_intermixed_args(args, namespace)
        except argparse.ArgumentError as error:  # from Python 3.12 on also without an argument
            named = Message("argument {0}: {1}", error.argument_name, error.message)
            self.error(named if error.argument_name else error.message)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(ExitCode.USAGE, f"{self.prog}: {translated('error')}: {visible(translated(message))}\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(_usage(message), file)  # not where it is made: argparse cuts it off


def _print_and_leave(text: str) -> NoReturn:
    print(text, end="")
    sys.exit(0)


def _nearest(word: str) -> str:
    import difflib  # noqa: PLC0415 - of use after a mistake only

    if near := difflib.get_close_matches(word, COMMANDS, 1):
        return Message("Did you mean `rcv {0}`?", near[0])
    return Message("Commands: {0}.", ", ".join(COMMANDS))
