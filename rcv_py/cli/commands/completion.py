"""`rcv completion`: scripts with which a shell completes commands, options, choices and folders.

The scripts are generated from the parsers, and start no process while the user types.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from rcv_py.base.text import elide_right
from rcv_py.cli.arguments import parser, shown_actions
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.option import Options
from rcv_py.cli.options.program import CompletionOptions, HelpOptions

MAX_LETTERS = 60  # of a description: menus have one line for it
_FOLDERS = ("FOLDER", "DIR", "A", "B", "C", "BASELINE", "OTHER")  # what is called so is a folder


class Word(NamedTuple):
    """An option, or a positional argument if it has no flags, and the kind of its value."""

    flags: tuple[str, ...]
    text: str
    value: str  # "" for a flag; "choices", "folder", "file", or "any"
    choices: tuple[str, ...] = ()


def run(options: CompletionOptions) -> None:
    """Print the script of a shell."""
    print(_SCRIPTS[options.shell](), end="")


def words_of(command: type[Options]) -> list[Word]:
    """Return the words that can follow the name of a command."""
    return [_word(command, action) for action in shown_actions(parser(command))]


def _word(command: type[Options], action: argparse.Action) -> Word:
    text = elide_right((action.help or "").replace("%%", "%").partition(";")[0], MAX_LETTERS)
    choices = tuple(str(choice) for choice in action.choices or ())
    if command is HelpOptions and not action.option_strings:
        choices = tuple(COMMANDS)
    if action.nargs == 0:
        value = ""
    elif choices:
        value = "choices"
    elif action.type is Path:
        value = "folder" if action.metavar in _FOLDERS else "file"
    else:
        value = "any"
    return Word(tuple(action.option_strings), text, value, choices)


def _split(command: type[Options]) -> tuple[list[Word], list[Word]]:
    """The options, and the positional arguments that completion offers; most are folders."""
    words = words_of(command)
    offered = [word for word in words if not word.flags and word.value != "any"]
    kinds = {word.value: word for word in reversed(offered)}  # of several folders the first
    found = [word for word in offered if kinds[word.value] is word]
    return [word for word in words if word.flags], found or [Word((), "", "any")]


# -- bash -----------------------------------------------------------------------------------------------

_BASH_OFFERS = {"folder": "_rcv_offer -d", "file": "_rcv_offer -f", "any": ":"}
_BASH = """\
# Completion of rcv for bash.  Use: source <(rcv completion bash)
_rcv_offer() {{
    local IFS=$'\\n'
    COMPREPLY=($(compgen "$@" -- "$cur"))
}}
_rcv() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
    COMPREPLY=()
    if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if ((COMP_CWORD == 1)); then
        _rcv_offer -d -W $'{names}'
        return
    fi
    case "$command $prev" in
{values}
    esac
    case $command in
{commands}
        *) _rcv_offer -d ;;
    esac
}}
complete -o filenames -F _rcv rcv
"""


def _bash() -> str:
    values, commands = [], []
    for name, command in COMMANDS.items():
        options, rest = _split(command)
        for word in options:
            if word.value:
                names = "|".join(f'"{name} {flag}"' for flag in word.flags)
                values.append(f"        {names}) {_bash_offer(word)}; return ;;")
        flags = "\\n".join(flag for word in options for flag in word.flags)
        offers = f"if [[ $cur == -* ]]; then _rcv_offer -W $'{flags}'; else {_bash_offers(rest)}; fi"
        commands.append(f"        {name}) {offers} ;;")
    names = "\\n".join((*COMMANDS, "--help", "--version"))
    return _BASH.format(names=names, values="\n".join(values), commands="\n".join(commands))


def _bash_offers(words: list[Word]) -> str:
    """The completions of all positional arguments, combined."""
    parts = [_bash_offer(word).removeprefix("_rcv_offer ") for word in words]
    return parts[0] if parts == [":"] else f"_rcv_offer {' '.join(parts)}"


def _bash_offer(word: Word) -> str:
    lines = "\\n".join(word.choices)
    return f"_rcv_offer -W $'{lines}'" if word.choices else _BASH_OFFERS[word.value]


# -- zsh ------------------------------------------------------------------------------------------------

_ZSH = """\
#compdef rcv
# Completion of rcv for zsh.  Use: source <(rcv completion zsh), or save it as _rcv in a folder of $fpath
_rcv() {{
    local -a commands
    commands=(
{names}
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command commands
        _files -/
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{commands}
        *) _files -/ ;;
    esac
}}
if [[ $funcstack[1] == _rcv ]]; then _rcv "$@"; else compdef _rcv rcv; fi
"""
_ZSH_ACTIONS = {"folder": "_files -/", "file": "_files", "any": " "}


def _zsh() -> str:
    names, commands = [], []
    for name, command in COMMANDS.items():
        options, rest = _split(command)
        specs = [
            f"*{flag}[{_zsh_text(word)}]" + (f": :{_zsh_action(word)}" if word.value else "")
            for word in options
            for flag in word.flags
        ]
        for at, word in enumerate(rest, start=1):  # the last one stands for all that follow
            place = at if at < len(rest) else "*"
            specs.append(f"{place}:{_zsh_text(word) or ' '}:{_zsh_action(word)}")
        lines = "".join(f" \\\n            {_quoted(spec)}" for spec in specs)
        names.append(f"        {_quoted(f'{name}:{command.help()}')}")
        commands.append(f"        {name}) _arguments{lines} ;;")
    return _ZSH.format(names="\n".join(names), commands="\n".join(commands))


def _zsh_text(word: Word) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", word.text)


def _zsh_action(word: Word) -> str:
    return f"({' '.join(word.choices)})" if word.choices else _ZSH_ACTIONS[word.value]


# -- fish -----------------------------------------------------------------------------------------------

_FISH_ACTIONS = {"folder": "-x -a '(__fish_complete_directories)'", "file": "-r -F", "any": "-x", "": ""}


def _fish() -> str:
    lines = [
        "# Completion of rcv for fish.  Use: rcv completion fish | source",
        "complete -c rcv -f",
        "complete -c rcv -n __fish_use_subcommand -a '(__fish_complete_directories)'",
        "complete -c rcv -n __fish_use_subcommand -l version -d 'Print the version'",
        "complete -c rcv -n __fish_use_subcommand -s h -l help -d 'List all commands'",
    ]
    for name, command in COMMANDS.items():
        lines.append(f"complete -c rcv -n __fish_use_subcommand -a {name} -d {_quoted(command.help())}")
        for word in words_of(command):
            flags = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in word.flags]
            action = f"-x -a {_quoted(' '.join(word.choices))}" if word.choices else _FISH_ACTIONS[word.value]
            parts = [f"complete -c rcv -n '__fish_seen_subcommand_from {name}'", *flags, action]
            lines.append(" ".join(filter(None, [*parts, f"-d {_quoted(word.text)}"])))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Quote a word for zsh and fish, where a quote inside must end the quoted part."""
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
