"""Code objects of the raw captures with known truth, and what can disassemble them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from rcv_py.formats.isa.candidates import Candidate, candidates
from rcv_py.formats.isa.code_object import CodeObject
from tests.support.golden_sqtt import raw_folder

KNOWS_ALL = 20  # the first libLLVM that knows every GPU whose code tests have, gfx950 among them


@cache
def code_object(name: str, number: int) -> CodeObject:
    """A code object of a raw capture such as `gfx950/gemm_run_0`; disassembled once a process."""
    return CodeObject.open(raw_folder(name) / f"{name.partition('/')[0]}_code_object_id_{number}.out")


def need_llvm() -> Candidate:
    """The newest libLLVM of this machine; skips if there is none that knows gfx950."""
    found = next((one for one in candidates() if one.engine == "llvm"), None)
    version = [] if found is None else re.findall(r"\d+", Path(found.library).resolve().name)
    if found is None or not version or int(version[0]) < KNOWS_ALL:
        pytest.skip(f"this machine has no libLLVM {KNOWS_ALL} or later (Debian: libllvm22)")
    return found
