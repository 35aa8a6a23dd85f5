"""Which texts match what the user typed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rcv_py.base.errors import UsageError


def find(
    texts: Sequence[str], text: str, is_case_sensitive: bool = False, is_regex: bool = False
) -> np.ndarray:
    """Return the rows whose text contains `text`, or matches it as a regular expression, int32.

    Nothing matches an empty text.  Raise UsageError, naming the character, for a bad expression.
    """
    if not text:
        return np.zeros(0, dtype=np.int32)
    pattern = _compiled(text if is_regex else re.escape(text), 0 if is_case_sensitive else re.IGNORECASE)
    return np.array([row for row, line in enumerate(texts) if pattern.search(line)], dtype=np.int32)


def _compiled(expression: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(expression, flags)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        raise UsageError(
            f"The search text is not a regular expression: {error.msg}{where}.",
            hint="Switch regular expressions off to search for the text as it is.",
        ) from error
    except (OverflowError, RecursionError) as error:
        raise UsageError(
            "The search text is too complicated.", hint="Search for something shorter."
        ) from error
