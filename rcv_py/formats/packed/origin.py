"""Origin of a packed capture: facts from names and dates of its files before it was packed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Recorder and time of a capture; -1: unknown number."""

    agent: int = -1
    dispatch: int = -1
    recorded: int = -1  # when its files were written, seconds since 1970, UTC
