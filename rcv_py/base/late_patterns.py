"""Regular expressions that are compiled when they are first used, so that no import waits for them."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, compiled when it is first asked for something.

    What is wrong with the text is raised then.
    """
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    """Has what the pattern has, from the first time it is asked for that."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        vars(self)[name] = found
        return found
