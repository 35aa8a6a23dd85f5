"""Read AMD's machine-readable ISA files: the description of each instruction; store one file per GPU family.

Such a file is XML (https://gpuopen.com/machine-readable-isa), `Spec/ISA` with the name of the architecture
and `Instructions/Instruction`, each with `InstructionName`, aliases, `Description` and functional group.  It
is untrusted: document types, and with them all entities, are refused, nothing outside the file is read, and
larger data than any such file has is cut.

`rcv isa-docs add` reads such a file once and stores its few texts in the user's folder, where commands,
scripts and windows find them by the target of a capture.  The file itself is not needed again.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.parsers import expat

import orjson

from rcv_py.base.errors import ExportError, MissingFile, TraceError, UsageError
from rcv_py.base.machine.user_folders import data_folder
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.text import Message, json_bytes
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.input.columns import table_of
from rcv_py.formats.input.files import mark_of, read_bytes

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


class Described(Value):
    """One instruction as described in the file."""

    name: str  # in lower case
    description: str
    group: str  # such as VALU; "" if unknown


class IsaDescription(Value):
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
    """Read a file; raise UsageError if it is not such a file."""
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
        raise _no_isa(path, Message("line {0} is not XML, {1}", error.lineno, why)) from error
    if not reader.instructions:
        raise _no_isa(path, "it describes no instructions")
    return IsaDescription(reader.architecture, reader.instructions)


def _no_isa(path: Path, why: str) -> UsageError:
    text = Message("{0} is not a machine-readable ISA file: {1}.", path.name, why)
    return UsageError(text, hint=_PUBLISHED)


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


FORM = "rcv.isa-docs/1"
FAMILIES = {  # of the architectures that AMD publishes → targets of that family
    "cdna1": "gfx908",
    "cdna2": "gfx90a",
    "cdna3": "gfx94[012]|gfx9-4-generic",
    "cdna4": "gfx950",
    "rdna1": "gfx101[0-3]|gfx10-1-generic",
    "rdna2": "gfx103[0-6]|gfx10-3-generic",
    "rdna3": "gfx110[0-3]|gfx11-generic",
    "rdna3.5": "gfx115[0-4]",
    "rdna4": "gfx120[01]|gfx12-generic",
}


class CachedDocs(Value):
    """The stored texts of one file."""

    family: str  # of FAMILIES
    file: str  # its source path, for display
    description: IsaDescription


def family_of(target: str) -> str:
    """Return the family of a target such as gfx942, "" if unknown."""
    return next((name for name, targets in FAMILIES.items() if re.fullmatch(targets, target)), "")


def add_docs(path: Path) -> CachedDocs:
    """Read a file and store its texts in place of its family's.

    Raises the errors of `read_description`, UsageError for an unknown family, and ExportError if the texts
    cannot be stored.
    """
    found = read_description(path)
    family = re.sub("^amd|[^a-z0-9.]", "", found.architecture.lower().replace("_", "."))
    if family not in FAMILIES:
        raise UsageError(
            Message("{0} does not say of which family of GPUs it is.", path.name),
            hint=Message("Known are {0}; `rcv isa --isa-xml` takes any such file.", ", ".join(FAMILIES)),
        )
    names = {name: [one.name, one.description, one.group] for name, one in found.instructions.items()}
    source = str(path.absolute())
    document = {"schema": FORM, "architecture": found.architecture, "file": source, "instructions": names}
    with whole_file(_place(family)) as file:
        file.write(json_bytes(document))
    return CachedDocs(family, source, found)


def remove_docs(family: str) -> None:
    """Remove the stored texts of a family; raise UsageError if there are none, ExportError on failure."""
    if family not in FAMILIES or not _place(family).exists():
        hint = "`rcv isa-docs` lists what is kept."
        raise UsageError(Message("Nothing is kept of {0!r}.", family), hint=hint)
    try:
        _place(family).unlink()
    except OSError as error:
        raise ExportError(Message("{0} cannot be removed: {1}.", _place(family), error.strerror)) from error


def cached_docs() -> tuple[CachedDocs, ...]:
    """Return the stored texts of each family; raise UsageError for an unreadable file."""
    return tuple(found for family in FAMILIES if (found := _of_family(family)) is not None)


def words_of(target: str, file: Path | None = None) -> IsaDescription | None:
    """Return the texts of a file, or without a file the stored texts for a target; None if there are none.

    Raises the errors of `read_description`, and UsageError if the stored texts cannot be read.
    """
    if file is not None:
        return read_description(file)
    kept = _of_family(family_of(target))
    return None if kept is None else kept.description


def descriptions(target: str, texts: Iterable[str], file: Path | None = None) -> dict[str, str]:
    """Return the descriptions of instructions from `words_of`, by mnemonic; raises its errors."""
    words = words_of(target, file)
    if words is None:
        return {}
    names = (text.partition(" ")[0] for text in texts)
    return {name: found.description for name in names if (found := words.of(name)) is not None}


def _place(family: str) -> Path:
    return data_folder("isa") / f"{family}.json"


def _of_family(family: str) -> CachedDocs | None:
    mark = mark_of(_place(family)) if family else ()
    return _read(family, *mark) if mark else None


@lru_cache(maxsize=2)
def _read(family: str, *_: int) -> CachedDocs | None:
    place = _place(family)
    try:
        document = orjson.loads(read_bytes(place.parent, place.name, MAX_BYTES))
    except MissingFile:  # removed meanwhile
        return None
    except (TraceError, orjson.JSONDecodeError) as error:
        raise _damaged(family) from error
    return CachedDocs(family, *_checked(family, document))


def _checked(family: str, document: Any) -> tuple[str, IsaDescription]:
    """The source file and its texts; UsageError for another shape."""
    names = ("schema", "file", "architecture", "instructions")
    schema, file, architecture, said = map(table_of(document).get, names)
    if schema != FORM or not (isinstance(file, str) and isinstance(architecture, str)):
        raise _damaged(family)
    if not isinstance(said, dict) or len(said) > MAX_INSTRUCTIONS * 2:  # with other names
        raise _damaged(family)
    for texts in said.values():
        if not (isinstance(texts, list) and len(texts) == 3 and all(isinstance(text, str) for text in texts)):
            raise _damaged(family)
    return file, IsaDescription(architecture, {name: Described(*texts) for name, texts in said.items()})


def _damaged(family: str) -> UsageError:
    return UsageError(
        Message("What is kept of the ISA file of {0} is damaged.", family),
        hint=Message("Add the file again, or remove it: `rcv isa-docs remove {0}`.", family),
    )
