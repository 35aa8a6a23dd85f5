"""A named capture that can be written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rcv_py.synth.truth import Truth


@dataclass(frozen=True, slots=True)
class Sample:
    """A capture by name: `text` says in a sentence what is in it."""

    name: str
    text: str
    writer: Callable[[Path, int, bool], Truth]

    def write(self, folder: Path, seed: int = 0, with_truth: bool = False) -> Truth:
        """Write the folder and, if asked, truth.json in it; a seed gives the same bytes each time."""
        return self.writer(folder, seed, with_truth)
