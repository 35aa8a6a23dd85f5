"""Options as fields of a frozen dataclass: a field has its help, its type, and what it needs to be honoured.

The parser, the help, the completion, the tools for agents and the checks come from the fields.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rcv_py.base.errors import UsageError

if TYPE_CHECKING:  # it imports numpy, which words on a command line do not need
    from rcv_py.formats.capture_cache import CaptureCache

MAX_CHOICES = 56  # characters of choices in a line of usage, which has 80
FORM = "form"  # the forms of the output, of which only one can be
_KEY = "argument"
_EMPTY: tuple[object, ...] = (None, False, [], ())


@dataclass(frozen=True, slots=True)
class Need:
    """What an option needs to mean anything: a test of all options, and what it belongs to."""

    is_met: Callable[[Any], bool]
    belongs: str
    hint: str = ""  # what to do; "" for "Add …, or leave it out."


@dataclass(frozen=True, slots=True)
class Section:
    """Options with a heading of their own in the help."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """How a field is written on the command line."""

    help: str
    how: dict[str, Any]  # the rest of what `add_argument` takes
    is_positional: bool = False
    one_of: str = ""  # options that share this word exclude each other
    section: Section | None = None
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command, such as `HotspotOptions`; `given` names those that stand on the command line.

    `cache` keeps the captures that the commands of a process open; None: they are opened anew.
    """

    command: ClassVar[str] = ""
    example: ClassVar[str] = ""
    given: frozenset[str] = frozenset()
    cache: CaptureCache | None = None

    def __init_subclass__(cls) -> None:
        """Name the command after the class."""
        cls.command = cls.__name__.removesuffix("Options").lower()

    @property
    def usual_waves(self) -> str | None:
        """The population of waves that counts without `--waves`; None where that does not matter."""
        return None


AnyOptions = TypeVar("AnyOptions", bound=Options)


def add_arguments(options: type[Options], parser: argparse.ArgumentParser) -> None:
    """Add an argument for each field to a parser."""
    groups: dict[object, Any] = {}
    for name, declared in arguments_of(options):
        argument: Argument = declared.metadata[_KEY]
        group: Any = parser
        if argument.one_of:
            group = groups.get(argument.one_of) or parser.add_mutually_exclusive_group()
            groups[argument.one_of] = group
        elif argument.section:
            section = argument.section
            group = groups.get(section) or parser.add_argument_group(section.title, section.text)
            groups[section] = group
        written = name if argument.is_positional else flag_of(name)
        group.add_argument(written, **_default(declared), **_listed(name, argument))


def read_options(
    options: type[AnyOptions], parser: argparse.ArgumentParser, words: Sequence[str]
) -> AnyOptions:
    """Return the options of a command line; raise UsageError, or let the parser name the mistake."""
    for action in parser._actions:  # argparse has no public list of them
        if action.option_strings:
            action.default = argparse.SUPPRESS  # so that what is there was given
    values = vars(parser.parse_args(words))
    positional = {name for name, one in arguments_of(options) if one.metadata[_KEY].is_positional}
    read = options(**values, given=frozenset(values.keys() - positional))
    check_needs(read)
    return read


def check_needs(options: Options) -> None:
    """Raise UsageError for the first option that was given and means nothing beside the others."""
    for name, declared in arguments_of(type(options)):
        for need in declared.metadata[_KEY].needs if name in options.given else ():
            if not need.is_met(options):
                hint = need.hint or f"Add {need.belongs}, or leave {flag_of(name)} out."
                raise UsageError(f"{flag_of(name)} belongs to {need.belongs}.", hint=hint)


def values_of(options: Options) -> dict[str, Any]:
    """Return the values by name, in the order in which they are declared."""
    return {name: getattr(options, name) for name, _ in arguments_of(type(options))}


def arguments_of(options: type[Options]) -> list[tuple[str, Field[Any]]]:
    """Return the fields that stand for arguments, with their names."""
    return [(one.name, one) for one in fields(options) if _KEY in one.metadata]


def form_of(options: Options) -> str:
    """Return the name of the form that was asked for instead of text; "" for text."""
    forms = (name for name, one in arguments_of(type(options)) if one.metadata[_KEY].one_of == FORM)
    return next((name for name in forms if name in options.given), "")


def flag_of(name: str) -> str:
    """Return how an option is written: `--run-files` for `run_files`."""
    return "--" + name.replace("_", "-")


def _listed(name: str, argument: Argument) -> dict[str, Any]:
    """The help, with the choices in it where they are too long for a line of usage."""
    listed = ", ".join(map(str, () if "metavar" in argument.how else argument.how.get("choices", ())))
    if len(listed) <= MAX_CHOICES:
        return {"help": argument.help, **argument.how}
    return {"help": f"{argument.help}; one of {listed}", "metavar": name.upper(), **argument.how}


def _default(declared: Field[Any]) -> dict[str, Any]:
    if declared.default_factory is not MISSING:
        return {"default": declared.default_factory()}
    return {} if declared.default is MISSING else {"default": declared.default}


def _field(argument: Argument, default: Any = None) -> Any:
    metadata = {_KEY: argument}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def option(
    help: str,
    default: object = None,
    *,
    needs: Sequence[Need] = (),
    one_of: str = "",
    section: Section | None = None,
    repeated: bool = False,
    read: Callable[[str], object] | None = None,
    **how: object,
) -> Any:
    """Declare `--name VALUE`; `read` makes the value of its text; a required one has no default."""
    how |= {"type": read} if read else {}
    how |= {"action": "append"} if repeated else {}
    argument = Argument(help, how, one_of=one_of, section=section, needs=tuple(needs))
    return _field(argument, MISSING if how.get("required") else default)


def flag(help: str, *, needs: Sequence[Need] = (), one_of: str = "", section: Section | None = None) -> Any:
    """Declare `--name`, which is true if it is given."""
    argument = Argument(help, {"action": "store_true"}, one_of=one_of, section=section, needs=tuple(needs))
    return _field(argument, False)


def positional(
    metavar: str,
    help: str,
    read: Callable[[str], object] | None = Path,
    nargs: str = "",
    choices: Sequence[str] = (),
) -> Any:
    """Declare an argument without a name, which must be there unless `nargs` says otherwise."""
    how: dict[str, Any] = {"metavar": metavar}
    for name, value in (("type", read), ("nargs", nargs), ("choices", choices)):
        how |= {name: value} if value else {}
    defaults: dict[str, Any] = {"?": None, "*": []}
    return _field(Argument(help, how, is_positional=True), defaults.get(nargs, MISSING))


# -- needs ----------------------------------------------------------------------------------------------


def has(*names: str) -> Callable[[Any], bool]:
    """All of these are given, or are not empty."""
    return lambda options: all(getattr(options, name) not in _EMPTY for name in names)


def lacks(*names: str) -> Callable[[Any], bool]:
    """None of these is given."""
    return lambda options: all(getattr(options, name) in _EMPTY for name in names)


def is_one(name: str, *values: object) -> Callable[[Any], bool]:
    """The option has one of these values."""
    return lambda options: getattr(options, name) in values


def is_none(name: str, *values: object) -> Callable[[Any], bool]:
    """The option has none of these values."""
    return lambda options: getattr(options, name) not in values
