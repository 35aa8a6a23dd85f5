"""Streams of RDNA whose truth is known."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tests.support.raw_samples import raw_sample
from tests.support.sqtt_truth import Raw

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


def streams_of(raw: Raw) -> list[Golden]:
    """The streams of a raw capture, of all its dispatches."""
    codes = raw.said["code"]
    return [
        Golden(
            name=f"{raw.name}/{truth['file']}",
            data=np.fromfile(raw.folder / truth["file"], dtype=np.uint8),
            version=VERSIONS[raw.arch],
            truth=truth,
            base=codes[str(truth["code_object"])]["base"],
            code=codes[str(truth["code_object"])]["isa"],
        )
        for truth in raw.said["captures"]
    ]


@cache
def simulated() -> list[Golden]:
    """Streams of simulated captures, read once a process."""
    return [stream for name in ("gfx11", "gfx12") for stream in streams_of(raw_sample(name))]


def largest(version: int) -> np.ndarray:
    """The longest stream of a version."""
    return max((one for one in simulated() if one.version == version), key=lambda one: len(one.data)).data
