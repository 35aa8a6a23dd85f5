"""Where the machine code of kernels is kept from one run of tests to the next."""

import hashlib
import os
from pathlib import Path
from shutil import rmtree

from tests.support.paths import ROOT

COMPILER = "rcv_py/base/machine"
BY = "base.machine.compiled import"  # in each file that holds kernels, or parts of them


def kept_kernels(place: Path, root: Path = ROOT) -> Path:
    """Return the folder for machine code of these sources and options of numba, and remove other ones.

    A kernel is made of its file and of files beside it, of which numba looks at the first alone; so a room
    with kernels counts with all of its files, as it does where the product keeps them.
    """
    package = root / "rcv_py"
    rooms = {file.parent for file in package.rglob("*.py") if BY in file.read_text(encoding="utf-8")}
    told = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    sources = hashlib.sha256("".join(told).encode())
    for file in sorted(file for room in {*rooms, root / COMPILER} for file in room.glob("*.py")):
        sources.update(f"{file.relative_to(root)} ".encode() + file.read_bytes())
    folder = place / sources.hexdigest()[:16]
    for old in place.glob("*"):
        if old != folder:
            rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
