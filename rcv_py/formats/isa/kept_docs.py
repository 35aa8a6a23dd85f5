"""Store the texts of AMD's machine-readable ISA files: descriptions of instructions, one file per GPU family.

`rcv isa-docs add` reads such a file once and stores its few texts in the user's folder, where commands,
scripts and windows find them by the target of a capture.  The file itself is not needed again.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from rcv_py.base.errors import ExportError, MissingFile, TraceError, UsageError
from rcv_py.base.machine.user_folders import data_folder
from rcv_py.base.text import Message
from rcv_py.base.whole_files import whole_file
from rcv_py.formats.input.columns import table_of
from rcv_py.formats.input.files import mark_of, read_bytes
from rcv_py.formats.isa import described

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


class CachedDocs(NamedTuple):
    """The stored texts of one file."""

    family: str  # of FAMILIES
    file: str  # its source path, for display
    description: described.IsaDescription


def family_of(target: str) -> str:
    """Return the family of a target such as gfx942, "" if unknown."""
    return next((name for name, targets in FAMILIES.items() if re.fullmatch(targets, target)), "")


def add_docs(path: Path) -> CachedDocs:
    """Read a file and store its texts in place of its family's.

    Raises the errors of `read_description`, UsageError for an unknown family, and ExportError if the texts
    cannot be stored.
    """
    found = described.read_description(path)
    family = re.sub("^amd|[^a-z0-9.]", "", found.architecture.lower().replace("_", "."))
    if family not in FAMILIES:
        raise UsageError(
            Message("{0} does not say of which family of GPUs it is.", path.name),
            hint=Message("Known are {0}; `rcv isa --isa-xml` takes any such file.", ", ".join(FAMILIES)),
        )
    names = {name: [one.name, one.description, one.group] for name, one in found.instructions.items()}
    source = str(path.absolute()).encode(errors="replace").decode()
    document = {"schema": FORM, "architecture": found.architecture, "file": source, "instructions": names}
    with whole_file(_place(family)) as file:
        file.write(orjson.dumps(document))
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


def words_of(target: str, file: Path | None = None) -> described.IsaDescription | None:
    """Return the texts of a file, or without a file the stored texts for a target; None if there are none.

    Raises the errors of `read_description`, and UsageError if the stored texts cannot be read.
    """
    if file is not None:
        return described.read_description(file)
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
        document = orjson.loads(read_bytes(place.parent, place.name, described.MAX_BYTES))
    except MissingFile:  # removed meanwhile
        return None
    except (TraceError, orjson.JSONDecodeError) as error:
        raise _damaged(family) from error
    return CachedDocs(family, *_checked(family, document))


def _checked(family: str, document: Any) -> tuple[str, described.IsaDescription]:
    """The source file and its texts; UsageError for another shape."""
    names = ("schema", "file", "architecture", "instructions")
    schema, file, architecture, said = map(table_of(document).get, names)
    if schema != FORM or not (isinstance(file, str) and isinstance(architecture, str)):
        raise _damaged(family)
    if not isinstance(said, dict) or len(said) > described.MAX_INSTRUCTIONS * 2:  # with other names
        raise _damaged(family)
    for texts in said.values():
        if not (isinstance(texts, list) and len(texts) == 3 and all(isinstance(text, str) for text in texts)):
            raise _damaged(family)
    return file, described.IsaDescription(
        architecture, {name: described.Described(*texts) for name, texts in said.items()}
    )


def _damaged(family: str) -> UsageError:
    return UsageError(
        Message("What is kept of the ISA file of {0} is damaged.", family),
        hint=Message("Add the file again, or remove it: `rcv isa-docs remove {0}`.", family),
    )
