"""Captures of gfx1100 and gfx1200, and what an independent decoder made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tests.support.captures import SHARED, need_shared

VERSIONS = {"gfx1100": 3, "gfx1200": 4}


@dataclass(frozen=True, eq=False)
class Golden:
    """One stream."""

    name: str
    data: np.ndarray  # uint8
    version: int
    truth: dict[str, Any]
    base: int  # address at which its code object lies
    code: list[tuple[int, int, str]]  # address inside of it, size and text of its instructions


@cache
def goldens() -> list[Golden]:
    """All streams of RDNA, read once a process."""
    need_shared()
    found = []
    for arch, version in VERSIONS.items():
        for file in sorted((SHARED / "golden" / "sqtt" / arch).glob("*.json")):
            told = json.loads(file.read_bytes())
            for truth in told["captures"]:
                path = SHARED / "raw" / arch / file.stem / truth["file"]
                found.append(
                    Golden(
                        name=f"{arch}/{file.stem}/{truth['file']}",
                        data=np.fromfile(path, dtype=np.uint8),
                        version=version,
                        truth=truth,
                        base=told["code"][str(truth["code_object"])]["base"],
                        code=told["code"][str(truth["code_object"])]["isa"],
                    )
                )
    return found


def largest(version: int) -> np.ndarray:
    """The stream of a version with the most instructions."""
    fitting = [one for one in goldens() if one.version == version]
    return max(fitting, key=lambda one: one.truth["token_histogram"].get("INST", 0)).data
