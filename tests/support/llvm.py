"""The disassembler of this machine, for the few tests that are about it."""

import re
from pathlib import Path

import pytest

from rcv_py.formats.isa.processes import Candidate, candidates

KNOWS_ALL = 20  # the first libLLVM that knows every GPU whose code tests have, gfx950 among them


def need_llvm() -> Candidate:
    """The newest libLLVM of this machine; skips if there is none that knows gfx950."""
    found = next((one for one in candidates() if one.engine == "llvm"), None)
    version = [] if found is None else re.findall(r"\d+", Path(found.library).resolve().name)
    if found is None or (version and int(version[0]) < KNOWS_ALL):
        pytest.skip(f"this machine has no libLLVM {KNOWS_ALL} or later: pip install rocm-llvm-python")
    return found
