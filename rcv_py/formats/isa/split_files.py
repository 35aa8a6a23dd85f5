"""Find the files into which a compiler split debug information (`-gsplit-dwarf`), beside a code object.

```
DW_AT_comp_dir   /home/me/build        DW_AT_dwo_name   obj/kernels.dwo
code object      /home/me/build/kernels.co
searched         /home/me/build/obj/kernels.dwo, kernels.dwo, and packages: kernels.co.dwp, any other .dwp
```
The names are untrusted: only what lies in the folder of the code object or below it is opened.  Contents, not
names, decide whether a file belongs to the code object.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath, PurePosixPath

from rcv_py.base.errors import TraceError
from rcv_py.formats.input.files import read_bytes
from rcv_py.formats.input.run_places import names_in

SPLIT = (".dwo", ".dwp")  # one unit, or a package of them
MAX_BYTES = 1 << 28  # of all files that are read for a code object
MAX_PACKAGES = 16  # of a folder
MAX_LETTERS = 255  # of a name


def split_files(code: Path, named: Iterable[Sequence[str]]) -> list[bytes]:
    """Return the contents of the files that may hold what was split off a code object; never raises.

    `named` are the name and the folder of each, as the code object says.
    """
    folder, left, found = code.parent, MAX_BYTES, list[bytes]()
    packages = [name for name in names_in(folder) if name.endswith(SPLIT[1])]
    packages.sort(key=lambda name: (not name.startswith(code.stem), name))
    names = [*(path for one in named for path in _paths(folder, *one)), *packages[:MAX_PACKAGES]]
    for name in dict.fromkeys(names):
        with suppress(TraceError):
            found.append(read_bytes(folder, name, left))
            left -= len(found[-1])
    return found


def _paths(folder: Path, name: str, built_in: str) -> Iterator[str]:
    """Where a file may lie, from the folder: as it was named, else beside the code object."""
    path = PurePath(os.path.normpath(PurePath(built_in, name)))
    for home in (os.path.realpath(folder), folder.absolute()):
        if path.is_relative_to(home):
            yield path.relative_to(home).as_posix()
    yield from (path.as_posix(), name, shown_name(name))


def shown_name(name: str) -> str:
    """Return the name of a file without its folders."""
    return PurePosixPath(name.replace("\\", "/")).name[:MAX_LETTERS]
