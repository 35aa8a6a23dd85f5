"""Commands as tools: the arguments of a command become a JSON schema, and a call becomes its words.

The parser of each command is the only source, so that a new command or option is a tool without further ado.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.base.text import elide_right
from rcv_py.cli.arguments import COMMANDS
from rcv_py.cli.mcp.fence import Fence
from rcv_py.cli.options.commands import Command
from rcv_py.cli.options.common import at_most, count, cycles, percent, positive_count, size

NO_TOOLS = frozenset(("view", "synth", "mcp", "completion", "help"))  # a window, synthetic captures, a shell
WRITERS = frozenset(("report", "export"))  # offered only where there is a folder for their files
PICTURE = "shot"  # answers with the picture, and needs no folder
MAX_KB = "max_kb"
MOST_LETTERS = 8192  # of an argument; a path has at most 4,096
MOST_VALUES = 1000  # of a list
USUAL_KB = 48  # of JSON: some ten thousand tokens of a language model
_TARGETS = frozenset(("out", "out_dir"))
# Other forms than JSON, exit codes that a tool has not, and what the server decides itself.
_LEFT_OUT = frozenset(
    ("help", "json", "csv", "markdown", "html", "yaml", "folded", "fail_on", "strict", "jobs")
)
_LEFT_OUT_OF = {"index": frozenset(("out",))}
_DEFAULTS: Mapping[tuple[str, str], Any] = {("isa", "top"): 40}  # all is right for a file, not for a chat
_OPTIONAL = frozenset(((PICTURE, "out"),))
_TYPES: Mapping[Any, dict[str, Any]] = {
    None: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    count: {"type": "integer", "minimum": 0},
    positive_count: {"type": "integer", "minimum": 1},
    percent: {"type": "number", "minimum": 0, "maximum": 100},
    size: {"type": "string", "pattern": r"^\d{2,5}x\d{2,5}$"},
    cycles: {"type": "string", "pattern": r"^-?\d{1,18}:-?\d{1,18}$"},
}
_ANY = {"type": ["string", "number"]}  # the command itself says what it accepts
_MANY = ("+", "*")
_MAX_KB_TEXT = "KB of the answer at most, 0 for all; longer lists are cut, and `shortened` tells which"


@dataclass(frozen=True, slots=True)
class Tool:
    """A command, the arguments that an agent may give, and their JSON schema."""

    command: Command
    actions: Mapping[str, argparse.Action]
    has_json: bool
    writes: bool

    @property
    def name(self) -> str:
        """The command's name."""
        return self.command.name

    @property
    def title(self) -> str:
        """The command's line of help, as a title."""
        return self.command.help[0].upper() + self.command.help[1:]

    @property
    def description(self) -> str:
        """What it does, and which command line prints the same."""
        return f"{self.title}. The same as `{self.command.example}`."

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        properties = {name: self._property(name, action) for name, action in self.actions.items()}
        if self.has_json:
            properties[MAX_KB] = {**_TYPES[count], "default": USUAL_KB, "description": _MAX_KB_TEXT}
        return {
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": False,
        }

    @property
    def required(self) -> list[str]:
        """Names of the arguments that a call must have."""
        return [
            name
            for name, action in self.actions.items()
            if action.required and action.nargs != "*" and (self.name, name) not in _OPTIONAL
        ]

    def _property(self, name: str, action: argparse.Action) -> dict[str, Any]:
        described: dict[str, Any] = {"description": _help(action)}
        default = _DEFAULTS.get((self.name, name), action.default)
        if _is_flag(action):
            return {"type": "boolean", "default": False, **described}
        if default not in (None, "", [], argparse.SUPPRESS):
            described["default"] = str(default) if isinstance(default, Path) else default
        item = dict(_TYPES.get(action.type, _ANY))
        if isinstance(action.type, at_most):
            item = {"type": "integer", "minimum": action.type.least, "maximum": action.type.most}
        if action.choices is not None:
            item["enum"] = list(action.choices)
        return {"type": "array", "items": item, **described} if _is_list(action) else {**item, **described}

    def words(self, given: Mapping[str, Any], fence: Fence) -> list[str]:
        """Return the words of the command line that a call stands for; raise UsageError if there is none."""
        self._check_names(given)
        values = {name: given[name] for name in self.actions if given.get(name) is not None}
        for name in self.actions:
            if name not in values and (self.name, name) in _DEFAULTS:
                values[name] = _DEFAULTS[self.name, name]
        front: list[str] = []
        options = ["--json"] if self.has_json else []
        for name, value in values.items():
            action = self.actions[name]
            if _is_flag(action):
                options += _flag(self.name, name, action, value)
                continue
            texts = list(self._texts(name, action, value, fence))
            if not action.option_strings:
                front += texts
            elif action.nargs in _MANY:
                options += [action.option_strings[-1], *texts]
            else:
                options += [f"{action.option_strings[-1]}={text}" for text in texts]
        return [self.name, *front, *options]

    def _check_names(self, given: Mapping[str, Any]) -> None:
        names = {*self.actions, MAX_KB} if self.has_json else set(self.actions)
        for name in given:
            if name not in names:
                near = difflib.get_close_matches(str(name), sorted(names), 1)
                guess = f"Did you mean {near[0]}? " if near else ""
                raise UsageError(
                    f"{self.name} has no argument {name}.", hint=f"{guess}It has {', '.join(sorted(names))}."
                )
        lacking = [name for name in self.required if given.get(name) in (None, [])]
        if lacking:
            raise UsageError(
                f"{self.name} needs {' and '.join(lacking)}.", hint=_help(self.actions[lacking[0]])
            )

    def _texts(self, name: str, action: argparse.Action, value: object, fence: Fence) -> Iterator[str]:
        values = value if isinstance(value, list) else [value]
        if len(values) > MOST_VALUES:
            raise UsageError(
                f"{name} of {self.name} has more than {MOST_VALUES:,} values.", hint="Ask in parts."
            )
        if isinstance(value, list) and not _is_list(action):
            raise UsageError(f"{name} of {self.name} is one value, not a list.", hint=_help(action))
        for item in values:
            if isinstance(item, bool) or not isinstance(item, str | int | float):
                raise UsageError(f"{name} of {self.name} cannot be {short(item)}.", hint=_help(action))
            if len(_text(item)) > MOST_LETTERS:
                raise UsageError(
                    f"{name} of {self.name} has more than {MOST_LETTERS:,} letters.", hint=_help(action)
                )
            if action.type is Path:
                yield str(fence.writable(_text(item)) if name in _TARGETS else fence.readable(_text(item)))
            elif _text(item).startswith("-") and (not action.option_strings or action.nargs in _MANY):
                raise UsageError(f"{name} of {self.name} cannot be {short(item)}.", hint=_help(action))
            else:
                yield _text(item)


def tools(commands: Iterable[Command] = COMMANDS, *, can_write: bool = False) -> dict[str, Tool]:
    """Return the tools by name; those that write files only if they may."""
    chosen = (command for command in commands if command.name not in NO_TOOLS)
    return {command.name: tool_of(command) for command in chosen if can_write or command.name not in WRITERS}


def tool_of(command: Command) -> Tool:
    """Return the tool of one command."""
    parser = argparse.ArgumentParser(command.name)
    command.add(parser)
    actions = {action.dest: action for action in parser._actions}  # argparse has no public list of them
    out = _LEFT_OUT | _LEFT_OUT_OF.get(command.name, frozenset())
    kept = {name: action for name, action in actions.items() if name not in out}
    return Tool(command, kept, "json" in actions, command.name in WRITERS)


def _text(item: str | float) -> str:
    """A value as a word of the command line; a number of thousands of digits is too long in any case."""
    if isinstance(item, str):
        return item
    if isinstance(item, int):
        return str(item) if abs(item) < 1 << 64 else "9" * 20
    return str(int(item) if item.is_integer() and abs(item) < 1 << 64 else item)


def short(item: object) -> str:
    """Return a value for a sentence; only the begin of one that is long."""
    try:
        return elide_right(repr(item), 60)
    except (ValueError, RecursionError):  # a number with thousands of digits in it, or lists in lists
        return "a value that long"


def _is_flag(action: argparse.Action) -> bool:
    return action.nargs == 0


def _is_list(action: argparse.Action) -> bool:
    repeated = isinstance(action, argparse._AppendAction)  # its class is all that tells
    return action.nargs in _MANY or repeated


def _help(action: argparse.Action) -> str:
    """What an argument is; its default is told by the schema."""
    text = (action.help or action.dest.replace("_", " ")).replace("%%", "%")
    stated = r"\s*\(default:? [^()]*\)$" if action.default is not None else r"$^"
    text = re.sub(stated, "", text)
    return text[:1].upper() + text[1:] + "."


def _flag(tool: str, name: str, action: argparse.Action, value: object) -> list[str]:
    if not isinstance(value, bool):
        raise UsageError(f"{name} of {tool} is true or false, not {short(value)}.", hint=_help(action))
    return [action.option_strings[-1]] if value else []
