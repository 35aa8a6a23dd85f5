"""Commands as tools: the arguments of a command become a JSON schema, and a call becomes its words.

The parser of each command is the only source: a new command or option becomes a tool without extra code. An
agent reads the definitions of all tools before its first call: they are short, and the tool `help` has the
rest.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import elide_right
from rcv_py.cli.arguments import shown_actions
from rcv_py.cli.options import option as opt
from rcv_py.cli.options.commands import COMMANDS


class AllowedPaths(Value):
    """`root` holds the captures; `out` takes written files, None: nothing is written.  Both are resolved."""

    root: Path
    out: Path | None = None
    notes: bool = False  # whether notes about captures may be changed

    @classmethod
    def of(cls, root: Path, out: Path | None, *, notes: bool = False) -> AllowedPaths:
        """Resolve both folders and make the second; raise UsageError if either cannot be one."""
        if not root.is_dir():
            raise UsageError(f"{root} is not a folder.", hint="Give --root the folder that holds captures.")
        if out is None:
            return cls(Path(os.path.realpath(root)), notes=notes)
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"{out} cannot be a folder for written files: {error.strerror}."
            raise UsageError(text, hint="Choose another --out.") from error
        return cls(Path(os.path.realpath(root)), Path(os.path.realpath(out)), notes)

    def readable(self, name: str) -> Path:
        """Return the path of a name relative to the root, or absolute; raise UsageError outside the root."""
        hint = "Captures are read below that folder only; `rcv mcp --root DIR` chooses another."
        return _inside(self.root, name, hint)

    def writable(self, name: str) -> Path:
        """Return the path to write to, inside the folder for written files; UsageError for any other."""
        if self.out is None:
            text = f"{name} cannot be written: this server writes no files."
            raise UsageError(text, hint="`rcv mcp --out DIR` names a folder for them.")
        hint = "Files are written into that folder only; give a name without a folder."
        return _inside(self.out, name, hint)


def _inside(base: Path, name: str, hint: str) -> Path:
    """The resolved path below a folder; raise UsageError for a name that no file can have."""
    try:
        path = Path(os.path.realpath(base / name))
    except (OSError, ValueError) as error:
        raise UsageError(f"{name!r} cannot be a path.", hint="Give the path of a capture.") from error
    if not path.is_relative_to(base):
        raise UsageError(f"{name} lies outside of {base}.", hint=hint)
    return path


NOTES, NOTES_READ = "notes", "list"  # the command, and the only action of it that changes nothing
PICTURE = "shot"  # answers with the picture, and needs no folder
MAX_KB = "max_kb"
HELP = "help"
SCHEMA = "schema"  # of a name it is answered by the server itself
MAX_LETTERS = 8192  # of an argument; a path has at most 4,096
MAX_VALUES = 1000  # of a list
USUAL_KB = 8  # of an answer: some two thousand tokens of a language model
_TARGETS = frozenset(("out", "out_dir"))
# Exit codes that a tool has not, and what the server decides itself; forms are left out, too.
# Also the address of a cluster, which could run code here, and options that start other programs.
_LEFT_OUT = ("more", "fail_on", "strict", "jobs", "cluster", "mca")
# Arguments that the short definition of a tool leaves to `help`: few calls need them.
_RARE = frozenset(
    (
        "ascending", "author", "bar", "bars", "beyond_noise", "case", "channels", "charge", "context",
        "cu", "decoder", "detail", "dpp", "from", "hit", "ideal_mb", "inlined", "isa_xml",
        "iterations_of", "kernel", "least", "like", "limit", "log", "merge", "mode", "no_causes",
        "no_idle", "no_predict", "only", "order", "raw", "regex", "rule", "run_files", "scale", "se",
        "seed", "simd", "source_map", "target", "theme", "to", "touching", "unit_of", "waves",
        "with_notes", "without_kernel", "without_se", "without_sources",
    )
)  # fmt: skip
_MEANT = {
    "line": "instruction index",
    "wave": "se0/simd1/slot2/wv3",
    "waves": "working, all, or a population's id",
}
_TYPES: Mapping[Any, dict[str, Any]] = {
    None: {"type": "string"},
    opt.named_path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    opt.percent: {"type": "number", "minimum": 0, "maximum": 100},
    opt.size: {"type": "string", "pattern": r"^\d{2,5}x\d{2,5}$"},
    opt.cycle: {"type": "integer"},
    opt.cycles: {"type": "string", "pattern": r"^-?\d{1,18}:-?\d{1,18}$"},
}
_ANY = {"type": ["string", "number"]}  # the command itself says what it accepts
_MANY = ("+", "*")
_MAX_KB_TEXT = "KB of the answer at most, 0 for all; longer lists are cut, and `shortened` names them."


class Tool(Value):
    """A command, the arguments that an agent may give, and their JSON schema."""

    command: type[opt.Options]
    facts: opt.AgentTool
    actions: Mapping[str, argparse.Action]

    @property
    def has_json(self) -> bool:
        """Whether it answers with a document."""
        return "json" in self.command.arguments

    @property
    def name(self) -> str:
        """The command's name."""
        return self.command.command

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        return f"{self.command.__doc__} {self.facts.when}".strip()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        properties = {name: self._property(name, action) for name, action in self.actions.items()}
        if self.has_json:
            about = {"default": USUAL_KB, "description": _MAX_KB_TEXT}
            properties[MAX_KB] = {"type": "integer", "minimum": 0, **about}
        shape = {"properties": properties, "required": self.required}
        return {"type": "object", **shape, "additionalProperties": False}

    @property
    def short_schema(self) -> dict[str, Any]:
        """The same without meanings, defaults and rarely needed arguments, which are still accepted."""
        rare = _RARE.union(self.facts.rare)
        properties = {
            name: _short_property(name, self._property(name, action))
            for name, action in self.actions.items()
            if name not in rare or name in self.required
        }
        required = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": properties, **required}

    @property
    def required(self) -> list[str]:
        """Names of the arguments that a call must have."""
        return [
            name
            for name, action in self.actions.items()
            if name in self.facts.required
            or (action.required and action.nargs != "*" and name not in self.facts.optional)
        ]

    def _property(self, name: str, action: argparse.Action) -> dict[str, Any]:
        described: dict[str, Any] = {"description": _help(action)}
        default = self.facts.defaults.get(name, action.default)
        if action.nargs == 0:
            return {"type": "boolean", "default": False, **described}
        if default not in (None, "", [], argparse.SUPPRESS):
            described["default"] = str(default) if isinstance(default, Path) else default
        item = dict(_TYPES.get(action.type, _ANY))
        if isinstance(action.type, opt.at_most):
            bounds = {"minimum": action.type.minimum, "maximum": action.type.maximum}
            item = {"type": "integer"} | {name: value for name, value in bounds.items() if value is not None}
        if action.choices is not None:
            item["enum"] = list(action.choices)
        return {"type": "array", "items": item, **described} if _is_list(action) else {**item, **described}

    def words(self, given: Mapping[str, Any], paths: AllowedPaths) -> list[str]:
        """Return the command line of a call; raise UsageError if its arguments do not fit."""
        self._check_names(given)
        if self.name == NOTES and given.get("action") not in (None, NOTES_READ) and not paths.notes:
            text = "Notes cannot be changed: this server only reads them."
            raise UsageError(text, hint="`rcv mcp --notes` lets agents write notes.")
        values = {name: one for name, one in given.items() if one is not None}
        asked = self.command(**{name: values[name] for name in values.keys() & self.command.arguments})
        for name, one in self.facts.defaults.items():
            if all(need.is_met(asked) for need in self.command.needs if name in need.names.split()):
                values.setdefault(name, one)
        places: list[str] = []
        options = ["--json"] if self.has_json else []
        for name, action in self.actions.items():
            if name not in values:
                continue
            if action.nargs == 0:
                if not isinstance(values[name], bool):
                    raise self._wrong(name, f"is true or false, not {short(values[name])}")
                options += [action.option_strings[-1]] if values[name] else []
                continue
            texts = list(self._texts(name, action, values[name], paths))
            if not action.option_strings:
                places += texts
            elif action.nargs in _MANY:
                options += [action.option_strings[-1], *texts]
            else:
                options += [f"{action.option_strings[-1]}={text}" for text in texts]
        return [self.name, *places, *options]

    def _check_names(self, given: Mapping[str, Any]) -> None:
        names = sorted({*self.actions, MAX_KB} if self.has_json else self.actions)
        for name in given:
            if name not in names:
                near = difflib.get_close_matches(str(name), names, 1)
                guess = f"Did you mean {near[0]}? " if near else ""
                hint = f"{guess}It has {', '.join(names)}."
                raise UsageError(f"{self.name} has no argument {name}.", hint=hint)
        lacking = [name for name in self.required if given.get(name) in (None, [])]
        if lacking:
            hint = _help(self.actions[lacking[0]])
            raise UsageError(f"{self.name} needs {' and '.join(lacking)}.", hint=hint)

    def _texts(self, name: str, action: argparse.Action, value: object, paths: AllowedPaths) -> Iterator[str]:
        values = value if isinstance(value, list) else [value]
        if len(values) > MAX_VALUES:
            raise self._wrong(name, f"has more than {MAX_VALUES:,} values")
        if isinstance(value, list) and not _is_list(action):
            raise self._wrong(name, "is one value, not a list")
        may_be_option = not action.option_strings or action.nargs in _MANY
        for item in values:
            if isinstance(item, bool) or not isinstance(item, str | int | float):
                raise self._wrong(name, f"cannot be {short(item)}")
            text = _text(item)
            if len(text) > MAX_LETTERS:
                raise self._wrong(name, f"has more than {MAX_LETTERS:,} letters")
            if action.type is opt.named_path:
                yield str(paths.writable(text) if name in _TARGETS else paths.readable(text))
            elif text.startswith("-") and may_be_option:
                raise self._wrong(name, f"cannot be {short(item)}")
            else:
                yield text

    def _wrong(self, name: str, what: str) -> UsageError:
        return UsageError(f"{name} of {self.name} {what}.", hint=_help(self.actions[name]))


def tools(*, can_write: bool = False) -> dict[str, Tool]:
    """Return the tools by name; those that write files only if they may."""
    found = {}
    for command in COMMANDS.values():
        facts = command.agents
        if facts is None or (facts.writes and not can_write):
            continue
        parser = argparse.ArgumentParser(add_help=False)
        opt.add_arguments(command, parser)
        forms = (form for form, argument in command.arguments.items() if argument.one_of == opt.FORM)
        out = {*_LEFT_OUT, *facts.left_out, *forms}
        shown = ((action.option_strings or [action.dest], action) for action in shown_actions(parser))
        actions = {written[-1].lstrip("-").replace("-", "_"): action for written, action in shown}
        kept = {name: action for name, action in actions.items() if name not in out}
        found[command.command] = Tool(command, facts, kept)
    return found


def _short_property(name: str, described: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a value: its choices, or its type."""
    if "enum" in described:
        return {"enum": described["enum"]}
    if described["type"] == "array":
        return {"type": "array", "items": _short_property("", described["items"])}
    meant = {"description": _MEANT[name]} if name in _MEANT else {}
    return {"type": described["type"], **meant}


def _text(item: str | float) -> str:
    """A value as a word of the command line; a number with thousands of digits is too long."""
    if isinstance(item, str):
        return item
    if isinstance(item, int):
        return str(item) if abs(item) < 1 << 64 else "9" * 20
    return str(int(item) if item.is_integer() and abs(item) < 1 << 64 else item)


def short(item: object) -> str:
    """Return a value for a sentence; long values are cut."""
    try:
        return elide_right(repr(item), 60)
    except (ValueError, RecursionError):  # a number with thousands of digits in it, or lists in lists
        return "a value that long"


def _is_list(action: argparse.Action) -> bool:
    repeated = isinstance(action, argparse._AppendAction)  # its class is all that shows it
    return action.nargs in _MANY or repeated


def _help(action: argparse.Action) -> str:
    """What an argument is; the schema has its default."""
    text = (action.help or action.dest.replace("_", " ")).replace("%%", "%")
    text = re.sub(r"\s*\(default:? [^()]*\)$" if action.default is not None else r"$^", "", text)
    return text[:1].upper() + text[1:] + "."
