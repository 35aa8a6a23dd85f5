"""`rcv completion`: scripts with which a shell completes commands, options, choices and folders.

The scripts are templates of `resources/completion`, with lines that are generated from the parsers.  They
start no process while the user types.
"""

import argparse
import re

from rcv_py.base.record import Value
from rcv_py.base.resources import resource
from rcv_py.base.text import elide_right
from rcv_py.cli.arguments import parser, shown_actions
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.option import Options, named_path
from rcv_py.cli.options.program import CompletionOptions, HelpOptions

MAX_LETTERS = 60  # of a description: menus have one line for it
_FOLDERS = ("FOLDER", "DIR", "A", "B", "C", "BASELINE", "OTHER")  # what is called so is a folder
_BASH = {"folder": "-d", "file": "-f"}  # what offers the values of a kind
_ZSH = {"folder": "_files -/", "file": "_files", "any": " "}
_FISH = {"folder": "-x -a '(__fish_complete_directories)'", "file": "-r -F", "any": "-x", "": ""}


class Word(Value):
    """An option, or a positional argument if it has no flags, and the kind of its value."""

    flags: tuple[str, ...]
    text: str
    value: str  # "" for a flag; "choices", "folder", "file", or "any"
    choices: tuple[str, ...] = ()


def run(options: CompletionOptions) -> None:
    """Print the script of a shell."""
    file = resource(f"completion/rcv.{options.shell}")
    assert file is not None  # every package has it
    script = file.read_text("utf-8")
    for place, lines in _LINES[options.shell]().items():
        script = script.replace(f"@{place}@", "\n".join(lines))
    print(script, end="")


def words_of(command: type[Options]) -> list[Word]:
    """Return the words that can follow the name of a command."""
    return [_word(command, action) for action in shown_actions(parser(command))]


def _word(command: type[Options], action: argparse.Action) -> Word:
    text = elide_right((action.help or "").replace("%%", "%").partition(";")[0], MAX_LETTERS)
    choices = tuple(str(choice) for choice in action.choices or ())
    if command is HelpOptions and not action.option_strings:
        choices = tuple(COMMANDS)
    value = "choices" if choices else "any"
    if action.nargs == 0:
        value = ""
    elif action.type is named_path:
        value = "folder" if action.metavar in _FOLDERS else "file"
    return Word(tuple(action.option_strings), text, value, choices)


def _split(command: type[Options]) -> tuple[list[Word], list[Word]]:
    """The options, and the positional arguments that completion offers; most are folders."""
    words = words_of(command)
    offered = [word for word in words if not word.flags and word.value != "any"]
    kinds = {word.value: word for word in reversed(offered)}  # of several folders the first
    found = [word for word in offered if kinds[word.value] is word]
    return [word for word in words if word.flags], found or [Word((), "", "any")]


def _bash() -> dict[str, list[str]]:
    values, commands = [], []
    for name, command in COMMANDS.items():
        options, rest = _split(command)
        for word in options:
            if word.value:
                names = "|".join(f'"{name} {flag}"' for flag in word.flags)
                values.append(f"        {names}) {_bash_offer([word])}; return ;;")
        flags = "\\n".join(flag for word in options for flag in word.flags)
        offers = f"if [[ $cur == -* ]]; then _rcv_offer -W $'{flags}'; else {_bash_offer(rest)}; fi"
        commands.append(f"        {name}) {offers} ;;")
    return {"names": ["\\n".join((*COMMANDS, "--help", "--version"))], "values": values, "commands": commands}


def _bash_offer(words: list[Word]) -> str:
    """What offers the values of words, combined."""
    ways = [_BASH.get(word.value) or "-W $'{}'".format("\\n".join(word.choices)) for word in words]
    return f"_rcv_offer {' '.join(ways)}" if words[0].value != "any" else ":"


def _zsh() -> dict[str, list[str]]:
    def value(word: Word) -> str:
        return f"({' '.join(word.choices)})" if word.choices else _ZSH[word.value]

    def text(word: Word) -> str:
        return re.sub(r"([\[\]:\\])", r"\\\1", word.text)

    names, commands = [], []
    for name, command in COMMANDS.items():
        options, rest = _split(command)
        specs = [
            f"*{flag}[{text(word)}]" + (f": :{value(word)}" if word.value else "")
            for word in options
            for flag in word.flags
        ]
        for at, word in enumerate(rest, start=1):  # the last one stands for all that follow
            specs.append(f"{at if at < len(rest) else '*'}:{text(word) or ' '}:{value(word)}")
        lines = "".join(f" \\\n            {_quoted(spec)}" for spec in specs)
        names.append(f"        {_quoted(f'{name}:{command.help()}')}")
        commands.append(f"        {name}) _arguments{lines} ;;")
    return {"names": names, "commands": commands}


def _fish() -> dict[str, list[str]]:
    lines = []
    for name, command in COMMANDS.items():
        lines.append(f"complete -c rcv -n __fish_use_subcommand -a {name} -d {_quoted(command.help())}")
        for word in words_of(command):
            flags = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in word.flags]
            value = f"-x -a {_quoted(' '.join(word.choices))}" if word.choices else _FISH[word.value]
            parts = [f"complete -c rcv -n '__fish_seen_subcommand_from {name}'", *flags, value]
            lines.append(" ".join(filter(None, [*parts, f"-d {_quoted(word.text)}"])))
    return {"commands": lines}


def _quoted(text: str) -> str:
    """Quote a word for zsh and fish, where a quote inside must end the quoted part."""
    return "'" + text.replace("'", "'\\''") + "'"


_LINES = {"bash": _bash, "zsh": _zsh, "fish": _fish}
