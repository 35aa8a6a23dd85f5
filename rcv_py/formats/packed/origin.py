"""Where a packed capture comes from: what names and dates of its files told before it was packed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Who recorded a capture, and when; -1 is a number that is not known."""

    agent: int = -1
    dispatch: int = -1
    recorded: int = -1  # when its files were written, seconds since 1970, UTC
