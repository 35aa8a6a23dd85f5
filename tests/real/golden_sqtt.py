"""Real raw captures and their expected decode, which an independent decoder made."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.formats.isa.code_object import CodeObject
from tests.real.captures import SHARED
from tests.support.sqtt_truth import Raw

NAMES = (
    *(f"gfx950/{name}_run_{run}" for name in ("empty", "gemm", "plus") for run in (0, 1)),
    *(f"gfx1100/{name}_run_{run}" for name in ("empty", "gemm", "plus", "sync") for run in (0, 1)),
    *(
        f"gfx1200/{name}_run_{run}"
        for name in ("empty", "gemm", "handwritten", "plus", "sync")
        for run in (0, 1)
    ),
)


def raw_folder(name: str) -> Path:
    """The folder of a raw capture, such as `gfx950/gemm_run_0`."""
    return SHARED / "raw" / name


@cache
def golden(name: str) -> dict[str, Any]:
    """What decoding a raw capture must give."""
    truth: dict[str, Any] = json.loads((SHARED / "golden" / "sqtt" / f"{name}.json").read_bytes())
    return truth


def raw(name: str, dispatch: int = 1) -> Raw:
    """A raw capture with its truth."""
    return Raw(name, raw_folder(name), golden(name), dispatch)


@cache
def code_object(name: str, number: int) -> CodeObject:
    """A code object of a raw capture; disassembled once a process."""
    return raw(name).code_object(number)
