"""Read AMD's machine-readable ISA files: the description of each instruction.

Such a file is XML (https://gpuopen.com/machine-readable-isa), `Spec/ISA` with the name of the architecture
and `Instructions/Instruction`, each with `InstructionName`, aliases, `Description` and functional group.  It
is untrusted: document types, and with them all entities, are refused, nothing outside the file is read, and
larger data than any such file has is cut.
"""

from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from rcv_py.base.errors import TraceError, UsageError
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message
from rcv_py.formats.input.files import read_bytes

MAX_BYTES = 256 << 20  # of a file; the largest that AMD publishes have some 30 MB
MAX_INSTRUCTIONS = 20_000
MAX_LETTERS = 4_096  # of a description
MAX_DEPTH = 64  # of nested elements
_PUBLISHED = "AMD publishes such files at gpuopen.com/machine-readable-isa."
_PIECE = 1 << 20  # bytes that are parsed at a time

_ARCHITECTURE = ("Architecture", "ArchitectureName")
_NAME = ("Instruction", "InstructionName")
_ALIAS = ("AliasedInstructionNames", "InstructionName")
_DESCRIPTION = ("Instruction", "Description")
_GROUP = ("FunctionalGroup", "Name")
_ENDINGS = ("_e32", "_e64", "_sdwa", "_dpp", "_dpp8", "_dpp16")  # of mnemonics, by encoding
_WANTED = (_ARCHITECTURE, _NAME, _ALIAS, _DESCRIPTION, _GROUP)


class Described(NamedTuple):
    """One instruction as described in the file."""

    name: str  # in lower case
    description: str
    group: str  # such as VALU; "" if unknown


class IsaDescription(NamedTuple):
    """A file: instructions by lower-case names, aliases included."""

    architecture: str
    instructions: dict[str, Described]

    def of(self, mnemonic: str) -> Described | None:
        """Return the description of a mnemonic, with or without encoding suffix; None if there is none."""
        name = mnemonic.lower()
        while name:
            if name in self.instructions:
                return self.instructions[name]
            name = name.rpartition("_")[0] if name.endswith(_ENDINGS) else ""
        return None


def read_description(path: Path) -> IsaDescription:
    """Read a file; raise UsageError if it is no such file."""
    path = path.absolute()
    try:
        data = read_bytes(path.parent, path.name, MAX_BYTES)
    except (TraceError, ValueError) as error:  # a name that no file can have
        why = str(error) if isinstance(error, TraceError) else Message("{0!r} cannot be a file.", path.name)
        raise UsageError(why, hint=_PUBLISHED) from error
    reader = _Reader(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.EntityDeclHandler = reader.refuse
    try:
        for at in range(0, len(data), _PIECE):
            checkpoint()
            parser.Parse(data[at : at + _PIECE], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise _no_isa(path, Message("line {0} is no XML, {1}", error.lineno, why)) from error
    if not reader.instructions:
        raise _no_isa(path, "it describes no instructions")
    return IsaDescription(reader.architecture, reader.instructions)


def _no_isa(path: Path, why: str) -> UsageError:
    return UsageError(Message("{0} is no machine-readable ISA file: {1}.", path.name, why), hint=_PUBLISHED)


class _Reader:
    """Collects the few needed texts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[str] = []
        self._text: list[str] = []
        self._letters = 0
        self._names: list[str] = []
        self._facts: dict[tuple[str, str], str] = {}
        self.architecture = ""
        self.instructions: dict[str, Described] = {}

    def refuse(self, *_: object) -> None:
        """Refuse document types: they can name other files, and texts that grow without an end."""
        raise _no_isa(self._path, "it has a document type or entities, which are not read")

    def start(self, name: str, _: object) -> None:
        """Begin an element."""
        if len(self._open) >= MAX_DEPTH:
            raise _no_isa(self._path, Message("its elements are nested more than {0} deep", MAX_DEPTH))
        self._open.append(name)
        self._text, self._letters = [], 0
        if name == "Instruction":
            self._names, self._facts = [], {}

    def text(self, data: str) -> None:
        """Keep text of a needed element."""
        if tuple(self._open[-2:]) in _WANTED and self._letters < MAX_LETTERS:
            self._text.append(data[: MAX_LETTERS - self._letters])
            self._letters += len(data)

    def end(self, name: str) -> None:
        """End an element, and an instruction."""
        place = (self._open[-2] if len(self._open) > 1 else "", name)
        self._open.pop()
        text = " ".join("".join(self._text).split())
        self._text = []
        if place in (_NAME, _ALIAS) and text:
            self._names.append(text.lower())
        elif place == _ARCHITECTURE:
            self.architecture = text
        elif place in _WANTED:
            self._facts.setdefault(place, text)
        elif name == "Instruction" and self._names and len(self.instructions) < MAX_INSTRUCTIONS:
            one = Described(self._names[0], self._facts.get(_DESCRIPTION, ""), self._facts.get(_GROUP, ""))
            for known in self._names:
                self.instructions.setdefault(known, one)
