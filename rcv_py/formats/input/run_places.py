"""Search the places of a run's tables: next to a capture, above it, and in folders next to those above.

```
examples/K/att_viewer/small/ui_output_agent_1_dispatch_2     the capture
examples/K/att_viewer/small                                  1 level up
examples/K/att_viewer
examples/K, examples/K/compute_viewer, examples/K/source     3 levels up, and its folders
```
Nearer places come first.  Other folders next to the parent folders count only in a library entry, which has a
`compute_viewer` or whose captures are in an `att_viewer`.  Folders that are captures, or hold some, belong to
other runs and are left out; links are not followed, but a capture that is a link has the places of both ends.
A public server sets $RCV_ROOT to the folder outside which nothing is searched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path, PurePath, PurePosixPath

from rcv_py.base.errors import TraceError
from rcv_py.formats.input.files import read_bytes

LEVELS = 5  # levels above a capture that are searched
MAX_NAMES = 5_000  # files of a folder that are examined: a folder of downloads must not take long
MAX_PLACES = 48  # folders that are searched for one capture
ROOT = "RCV_ROOT"
SOURCE_MAP = "RCV_SOURCE_MAP"  # rules for paths of sources, one a line; processes inherit it
DOCUMENT = re.compile(r"(?:.*_)?results\.json")  # of rocprofv3, like these databases
_DATABASE = (".db", ".rocpd", ".sqlite", ".sqlite3")
_FIRST = "compute_viewer"
_CAPTURES = "att_viewer"
_CAPTURE = "ui_output"
_INDEX = "filenames.json"
SPLIT = (".dwo", ".dwp")  # one unit of debug information, or a package of them
MAX_SPLIT_BYTES = 1 << 28  # of all such files that are read for a code object
MAX_PACKAGES = 16  # of a folder
MAX_LETTERS = 255  # of a name


def nearby(folder: Path) -> Iterator[Path]:
    """Yield folders that may hold tables of a capture's run, the nearest first, at most `MAX_PLACES`.

    The capture's own folder and its parent come first, regardless of their contents.
    """
    starts = dict.fromkeys((Path(os.path.realpath(folder)), folder.absolute()))
    found = (place for start in starts for place in _places(start))
    yield from islice(dict.fromkeys(islice(found, 2 * MAX_PLACES)), MAX_PLACES)


def names_in(place: Path) -> list[str]:
    """Return the names in a folder, sorted; none if it cannot be read."""
    with suppress(OSError, ValueError), os.scandir(place) as entries:
        return sorted(entry.name for entry in islice(entries, MAX_NAMES))
    return []


def may_look(place: Path) -> bool:
    """Whether a folder is inside $RCV_ROOT, if that is set."""
    root = os.environ.get(ROOT)
    if not root:
        return True
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(root))


def _places(folder: Path) -> Iterator[Path]:
    if may_look(folder):
        yield folder
    for below, place in islice(pairwise((folder, *folder.parents)), LEVELS):
        if not may_look(place):
            return
        yield place
        yield from _inside(place, below)


def _inside(place: Path, known: Path) -> Iterator[Path]:
    """Folders of a library entry without captures, except the one that was already searched."""
    names: list[str] = []
    with suppress(OSError, ValueError), os.scandir(place) as entries:
        for entry in islice(entries, MAX_NAMES):
            if not entry.name.startswith((".", _CAPTURE)) and entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
    names.sort(key=lambda name: (name != _FIRST, name))
    if not names or (names[0] != _FIRST and known.name != _CAPTURES):
        return
    for inner in (place / name for name in names if place / name != known):
        if not any(name == _INDEX or name.startswith(_CAPTURE) for name in names_in(inner)):
            yield inner


def is_profile(path: Path) -> bool:
    """Whether a file has the name of a database or document of rocprofv3."""
    return path.suffix.lower() in _DATABASE or DOCUMENT.fullmatch(path.name) is not None


def split_files(code: Path, named: Iterable[Sequence[str]]) -> list[bytes]:
    """Return the files into which a compiler may have split debug information (-gsplit-dwarf); never raises.

    ```
    DW_AT_comp_dir   /home/me/build        DW_AT_dwo_name   obj/kernels.dwo
    code object      /home/me/build/kernels.co
    searched         /home/me/build/obj/kernels.dwo, kernels.dwo, and packages: kernels.co.dwp, any other .dwp
    ```
    `named` are the name and the folder of each, as the code object says.  They are untrusted: only what lies
    in the folder of the code object or below it is opened.  Contents, not names, decide whether a file
    belongs to the code object.
    """
    folder, left, found = code.parent, MAX_SPLIT_BYTES, list[bytes]()
    packages = [name for name in names_in(folder) if name.endswith(SPLIT[1])]
    packages.sort(key=lambda name: (not name.startswith(code.stem), name))
    names = [*(path for one in named for path in _split_paths(folder, *one)), *packages[:MAX_PACKAGES]]
    for name in dict.fromkeys(names):
        with suppress(TraceError):
            found.append(read_bytes(folder, name, left))
            left -= len(found[-1])
    return found


def _split_paths(folder: Path, name: str, built_in: str) -> Iterator[str]:
    """Where a file may lie, from the folder: as it was named, else beside the code object."""
    path = PurePath(os.path.normpath(PurePath(built_in, name)))
    for home in (os.path.realpath(folder), folder.absolute()):
        if path.is_relative_to(home):
            yield path.relative_to(home).as_posix()
    yield from (path.as_posix(), name, shown_name(name))


def shown_name(name: str) -> str:
    """Return the name of a file without its folders."""
    return PurePosixPath(name.replace("\\", "/")).name[:MAX_LETTERS]
