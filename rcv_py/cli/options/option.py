"""Options as attributes of a class: each has its help, its type and its spellings.

The parser, the help, the completion, the tools for agents and the checks come from them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar, dataclass_transform

from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.text import MAX_DIGITS, Message, elide_right

if TYPE_CHECKING:  # it imports numpy, which parsing a command line does not need
    from rcv_py.formats.capture_cache import CaptureCache


_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")  # the border of two words: IsaDocs is isa-docs
MAX_BINS = 4096  # of a histogram: as many as a wide screen has pixels
MAX_DEPTH = 64  # of folders searched for captures; paths end long before
MAX_JOBS = 64  # processes at a time
MAX_PIXELS = 1 << 26  # of a picture: 256 MB while it is drawn
ENTRY_KINDS = ("dispatch", "event", "marker", "shader")


def _wrong(text: str, why: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(Message("{0!r} {1}", elide_right(text, 40), why))


def _matched(pattern: str, text: str, what: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise _wrong(text, Message("is not {0}", what))
    return match


class at_most:  # noqa: N801 - reads as the function it is used as
    """A reader of whole numbers from `minimum` to `maximum`, for counts."""

    def __init__(self, maximum: int | None = None, minimum: int = 0) -> None:
        self.maximum, self.minimum = maximum, minimum  # the schema of a tool has them

    def __call__(self, text: str) -> int:
        """Return the number; raise ArgumentTypeError."""
        expected = "is not a whole number above 0" if self.minimum else "is not a whole number from 0 on"
        if not text.isascii() or not text.isdigit():
            raise _wrong(text, expected)
        if len(text.lstrip("0")) > MAX_DIGITS:
            raise _wrong(text, Message("has more than {0} digits", MAX_DIGITS))
        value = int(text)
        if value < self.minimum:
            raise _wrong(text, expected)
        if self.maximum is not None and value > self.maximum:
            why = Message("{0} is more than the {1:,} that are possible", text, self.maximum)
            raise argparse.ArgumentTypeError(why)
        return value


count = at_most()
positive_count = at_most(minimum=1)


def kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of `dispatch,marker`."""
    named = tuple(text.split(","))
    if not set(named) <= set(ENTRY_KINDS):
        raise _wrong(text, Message("is not a list of {0}", ", ".join(ENTRY_KINDS)))
    return named


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def percent(text: str) -> float:
    """Return a share from 0 to 100."""
    value = _real(text)
    if not 0 <= value <= 100:
        raise _wrong(text, "is not a share from 0 to 100")
    return value


def positive(text: str) -> float:
    """Return a number above 0, such as `8590` or `0.5`."""
    value = _real(text)
    if not 0 < value < float("inf"):
        raise _wrong(text, "is not a number above 0")
    return value


def mask(text: str) -> str:
    """Return a mask of at most 32 bits as it was written, `0x11` or `3`."""
    match = _matched(r"0x([0-9a-fA-F]{1,8})|(\d{1,10})", text, "a mask such as 0x11")
    if not 0 < (value := int(match[1], 16) if match[1] else int(match[2])) < 1 << 32:
        raise _wrong(text, "is not a mask of 1 to 32 bits")
    return hex(value)


def simds(text: str) -> str:
    """Return a mask of four SIMDs, or the number of one."""
    match = _matched(r"(?:0x)?([0-9a-fA-F])", text, "a mask such as 0xf, or the number of a SIMD")
    return hex(int(match[1], 16))


MIN_BUFFER, MAX_BUFFER = 1 << 20, 1 << 31  # by the documentation of rocprofv3
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def buffer_size(text: str) -> int:
    """Return the bytes of `256M`, `1G` or a number, within rocprofv3's limits for a buffer."""
    match = _matched(r"(\d{1,12})([kKmMgG]?)(?:[iI]?[bB])?", text, "a size such as 256M")
    size = int(match[1]) * _BYTES[match[2].lower()]
    if not MIN_BUFFER <= size <= MAX_BUFFER:
        raise _wrong(text, "is not a size from 1M to 2G, which rocprofv3 takes")
    return size


def mapping(text: str) -> str:
    """Return a rule `FROM=TO`; TO is relative to the current folder."""
    match = _matched(r"([^=\n]+)=([^\n]*)", text, "a rule such as /build/src=/home/me/src")
    return f"{match[1]}={Path(match[2].strip()).expanduser().absolute()}" if match[2].strip() else match[0]


def named_path(text: str) -> Path:
    """Return a path; raise UsageError if it is empty, because that would mean the current folder."""
    if not text:
        raise UsageError("A path is empty.", hint="Is a variable unset? `.` is the current folder.")
    return Path(text)


def size(text: str) -> tuple[int, int]:
    """Return width and height of `1200x800`."""
    match = _matched(r"(\d{2,5})x(\d{2,5})", text, "a size such as 1200x800")
    width, height = int(match[1]), int(match[2])
    if width * height > MAX_PIXELS:
        raise _wrong(text, Message("is more than the {0:,} pixels that are possible", MAX_PIXELS))
    return width, height


def cycles(text: str) -> tuple[int, int]:
    """Return begin and end of `1000:2000`."""
    match = _matched(r"(-?\d{1,18}):(-?\d{1,18})", text, "a range such as 1000:2000")
    if int(match[1]) >= int(match[2]):
        raise _wrong(text, "is not a range such as 1000:2000")
    return int(match[1]), int(match[2])


def cycle(text: str) -> int:
    """Return a point in time, in cycles; it can lie before the zero of the capture's clock."""
    return int(_matched(r"-?\d{1,18}", text, "a whole number of cycles")[0])


def pair(text: str) -> tuple[int, int]:
    """Return the two instructions of `12:40`."""
    match = _matched(r"(\d{1,9}):(\d{1,9})", text, "a pair of instructions such as 12:40")
    return int(match[1]), int(match[2])


def slower(text: str) -> tuple[str, float]:
    """Return the unit of `vmem=0.5`, or the instruction of `319=0.5`, and the factor for its latency."""
    match = _matched(r"(\w{1,9})=(\d{1,4}(?:\.\d{1,4})?)", text, "a latency such as vmem=0.5 or 319=0.5")
    return match[1], float(match[2])


def line_or_place(text: str) -> int | str:
    """Return the index of an instruction, or a place such as `se0/simd2/slot1/wv0:instruction 62 hit 1`."""
    return count(text) if text.isascii() and text.isdigit() else text


def element(text: str) -> tuple[str, int]:
    """Return a source file ("" for the program) and the number of `62` or `dir/kernel.py:62`."""
    match = _matched(r"(?:(.+):)?(\d{1,9})", text, "a place such as 62 or kernel.py:62")
    return match[1] or "", int(match[2])


MAX_CHOICES = 56  # characters of choices in a line of usage, which has 80
EVER = (-(10**18), 10**18)  # a range of cycles of which neither end is given
FORM = "form"  # the forms of the output, of which only one can be
_EMPTY: tuple[object, ...] = (None, False, [], ())


class Need(Value):
    """A condition under which options have a meaning: a test of all options, and what they belong to."""

    names: str  # of the options, with blanks between them
    is_met: Callable[[Any], bool]
    belongs: str
    hint: str = ""  # hint; "" for "Add …, or leave it out."


class OptionSection(Value):
    """Options with their own heading in the help."""

    title: str
    text: str


class Argument(Value):
    """The declaration of an option: its flags, type and help."""

    help: str
    how: Mapping[str, Any]  # the rest of what `add_argument` takes
    default: Any = None
    is_positional: bool = False
    is_range: bool = False  # written as --from and --to
    one_of: str = ""  # options that share this word exclude each other
    section: OptionSection | None = None
    old: Mapping[str, object] = MappingProxyType({})  # old flags, and the value they stand for


class AgentTool(Value):
    """A command as a tool for agents, who read English: when to use it, and which arguments it has."""

    when: str = ""  # sentences
    writes: bool = False  # offered only where there is a folder for its files
    left_out: tuple[str, ...] = ()  # arguments that agents cannot give
    rare: tuple[str, ...] = ()  # arguments that few calls need: only the tool `help` has them
    defaults: Mapping[str, Any] = MappingProxyType({})  # other ones than on a command line
    optional: tuple[str, ...] = ()  # arguments that a command line must have
    required: tuple[str, ...] = ()  # arguments that a command line may lack


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """The options of a command, such as `HotspotOptions`; the docstring is the command's description.

    Each attribute holds its Argument in the class and its value in an object.  `given` names the options on
    the command line.  `cache` keeps the captures that the commands of a process open; None: they are opened
    anew.
    """

    command: ClassVar[str] = ""
    example: ClassVar[str] = ""
    rest_name: ClassVar[str] = ""  # the argument that takes all words after `--`, which are not parsed
    agents: ClassVar[AgentTool | None] = None  # None: they cannot call it
    is_list: ClassVar[bool] = True  # else it prints names while it works, or a document
    arguments: ClassVar[Mapping[str, Argument]] = {}  # positional, own, then shared ones, then forms
    needs: ClassVar[Sequence[Need]] = ()
    given: frozenset[str] = frozenset()
    cache: CaptureCache | None = None

    def __init_subclass__(cls, example: str = "") -> None:
        """Name the command after the class, and collect the arguments."""
        cls.command = _INSIDE.sub("-", cls.__name__.removesuffix("Options")).lower()
        cls.example = example
        declared = (item for base in reversed(cls.__mro__) for item in vars(base).items())
        by_name = {name: value for name, value in declared if isinstance(value, Argument)}

        def rank(name: str) -> tuple[bool, bool, bool]:
            argument = by_name[name]
            is_option = not argument.is_positional
            return is_option, argument.one_of == FORM, is_option and name not in vars(cls)

        cls.arguments = {name: by_name[name] for name in sorted(by_name, key=rank)}

    def __init__(self, **values: object) -> None:
        defaults = {name: copy(argument.default) for name, argument in self.arguments.items()}
        vars(self).update(defaults | values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"{name} of {self.command} cannot be changed")

    @classmethod
    def help(cls) -> str:
        """Return what the command does, without a full stop."""
        text = str(cls.__doc__)
        return Message.of(text.removesuffix("."), "{0}", (text,))

    def but(self, **changes: object) -> Self:
        """Return the same options with some other values."""
        return type(self)(**vars(self) | changes)

    @property
    def usual_waves(self) -> str | None:
        """The default population of waves without `--waves`; None if the command has none."""
        return None

    @property
    def values(self) -> dict[str, Any]:
        """The values by name, in the order in which they are listed."""
        return {name: vars(self)[name] for name in self.arguments}

    @property
    def form(self) -> str:
        """The name of the requested form; "" for text."""
        forms = (name for name, argument in self.arguments.items() if argument.one_of == FORM)
        return next((name for name in forms if name in self.given), "")


AnyOptions = TypeVar("AnyOptions", bound=Options)


def add_arguments(options: type[Options], parser: argparse.ArgumentParser) -> None:
    """Add an argument for each field to a parser; old flags are read but not shown."""
    groups: dict[object, Any] = {}
    for name, argument in options.arguments.items():
        group: Any = parser
        if argument.one_of:
            group = groups.get(argument.one_of) or parser.add_mutually_exclusive_group()
            groups[argument.one_of] = group
        elif argument.section:
            section = argument.section
            group = groups.get(section) or parser.add_argument_group(section.title, section.text)
            groups[section] = group
        elif any(argument.old.values()):
            group = parser.add_mutually_exclusive_group()
        how = {"default": argument.default, **argument.how}
        if argument.is_range:
            ends = {"--from": Message("{0}: the first one", argument.help), "--to": "the end of this range"}
            end: dict[str, Any] = {"dest": name, "type": cycle, "metavar": "CYCLE", "action": _RangeEnd}
            for written, text in ends.items():
                parser.add_argument(written, help=text, **end)
        else:
            written = name if argument.is_positional else flag_of(name)
            group.add_argument(written, **_listed(name, argument.help, how))
        for flag_before, value in argument.old.items():
            stored = {"action": "store_const", "const": value} if value else how
            group.add_argument(flag_before, **stored | {"dest": name, "help": argparse.SUPPRESS})


class _RangeEnd(argparse.Action):
    """Sets one end of a range; the other end stays, or is unbounded."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: Any = None
    ) -> None:
        begin, end = getattr(namespace, self.dest, None) or EVER
        begin, end = (values, end) if flag == "--from" else (begin, values)
        if begin >= end:
            raise argparse.ArgumentError(self, Message("there is no cycle from {0:,} to {1:,}", begin, end))
        setattr(namespace, self.dest, (begin, end))


def read_options(
    options: type[AnyOptions], parser: argparse.ArgumentParser, words: Sequence[str]
) -> AnyOptions:
    """Return the options of a command line; raise UsageError, or let the parser report the mistake."""
    for action in parser._actions:  # argparse has no public list of them
        if action.option_strings:
            action.default = argparse.SUPPRESS  # so that every value present was given
    has_rest = options.rest_name and "--" in words
    end = words.index("--") if has_rest else len(words)
    values = vars(parser.parse_intermixed_args(words[:end]))
    if has_rest:
        values[options.rest_name] = list(words[end + 1 :])
    positional = {name for name, argument in options.arguments.items() if argument.is_positional}
    read = options(**values, given=frozenset(values.keys() - positional))
    needs = [need for base in options.__mro__ for need in vars(base).get("needs", ())]
    for name in (name for name in options.arguments if name in read.given):
        for need in needs:
            if name in need.names.split() and not need.is_met(read):
                hint = need.hint or Message("Add {0}, or leave {1} out.", need.belongs, flag_of(name))
                raise UsageError(Message("{0} belongs to {1}.", flag_of(name), need.belongs), hint=hint)
    return read


def flag_of(name: str) -> str:
    """Return how an option is written: `--run-files` for `run_files`, `--from` for a range of cycles."""
    return "--from" if name in RANGES else "--" + name.replace("_", "-")


RANGES = ("clock", "within", "range")  # names of options that are written as --from and --to


def written(name: str, value: object) -> str:
    """Return an option with its value as a command line has it; "" for a flag that is not set."""
    flag_name = flag_of(name)
    if name in RANGES and isinstance(value, tuple):
        ends = zip(("--from", "--to"), value, EVER, strict=True)
        return " ".join(f"{end} {cycle}" for end, cycle, ever in ends if cycle != ever)
    if isinstance(value, list):
        return " ".join(f"{flag_name} {item}" for item in value)
    if isinstance(value, tuple):
        return f"{flag_name} {(':' if name == 'loop' else ',').join(map(str, value))}"
    return flag_name if value is True else f"{flag_name} {value}"


def _listed(name: str, text: str, how: dict[str, Any]) -> dict[str, Any]:
    """The help; includes the choices if they are too long for a line of usage."""
    listed = ", ".join(map(str, () if "metavar" in how else how.get("choices", ())))
    if len(listed) <= MAX_CHOICES:
        return {"help": text, **how}
    return {"help": Message("{0}; one of {1}", text, listed), "metavar": name.upper(), **how}


def option(
    help: str,
    default: object = None,
    *,
    one_of: str = "",
    section: OptionSection | None = None,
    repeated: bool = False,
    read: Callable[[str], object] | None = None,
    old: Mapping[str, object] | None = None,
    **how: object,
) -> Any:
    """Declare `--name VALUE`; `read` makes the value of its text; a required one has no default."""
    how |= {"type": read} if read else {}
    how |= {"action": "append"} if repeated else {}
    return Argument(help, how, default, one_of=one_of, section=section, old=old or {})


def number(help: str, default: int | None = None, read: Callable[[str], object] = count, **how: Any) -> Any:
    """Declare `--name N`, by default a whole number of 0 or more."""
    return option(help, default, read=read, metavar="N", **how)


def text(help: str, metavar: str = "NAME", default: str | None = None, **how: Any) -> Any:
    """Declare `--name NAME`."""
    return option(help, default, metavar=metavar, **how)


def path(help: str, metavar: str, default: object = None, **how: Any) -> Any:
    """Declare `--name PATH`."""
    return option(help, default, read=named_path, metavar=metavar, **how)


def flag(help: str, *, one_of: str = "", section: OptionSection | None = None) -> Any:
    """Declare `--name`, which is true if it is given."""
    return Argument(help, {"action": "store_true"}, False, one_of=one_of, section=section)


def range_of(help: str, old: str = "") -> Any:
    """Declare `--from` and `--to`, a range of cycles; `old` is the flag that took `A:B` for it."""
    return Argument(help, {"type": cycles, "metavar": "A:B"}, is_range=True, old={old: None} if old else {})


def positional(
    metavar: str,
    help: str,
    read: Callable[[str], object] | None = named_path,
    nargs: str = "",
    choices: Sequence[str] = (),
) -> Any:
    """Declare a positional argument, required unless `nargs` says otherwise."""
    how: dict[str, Any] = {"metavar": metavar}
    for name, value in (("type", read), ("nargs", nargs), ("choices", choices)):
        how |= {name: value} if value else {}
    return Argument(help, how, [] if nargs == "*" else None, is_positional=True)


def without(given: str, belongs: str, names: str) -> Need:
    """Declare that the options `names` have no meaning together with the options `given`."""
    flags = " and ".join(map(flag_of, given.split()))
    return Need(names, lacks(*given.split()), belongs, Message("Leave out {0}, or this.", flags))


def beside(given: str, names: str, hint: str = "") -> Need:
    """Declare that the options `names` belong to another one."""
    return Need(names, has(given), flag_of(given), hint)


def has(*names: str) -> Callable[[Any], bool]:
    """True if all of these are given or not empty."""
    return lambda options: all(getattr(options, name) not in _EMPTY for name in names)


def lacks(*names: str) -> Callable[[Any], bool]:
    """True if none of these is given."""
    return lambda options: all(getattr(options, name) in _EMPTY for name in names)


def is_one(name: str, *values: object) -> Callable[[Any], bool]:
    """True if the option has one of these values."""
    return lambda options: getattr(options, name) in values


def is_none(name: str, *values: object) -> Callable[[Any], bool]:
    """True if the option has none of these values."""
    return lambda options: getattr(options, name) not in values
