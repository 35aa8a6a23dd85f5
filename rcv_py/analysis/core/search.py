"""Search of texts for what the user typed."""

from collections.abc import Sequence

import numpy as np


def find(
    texts: Sequence[str], text: str, is_case_sensitive: bool = False, is_regex: bool = False
) -> np.ndarray:
    """Return the rows whose text contains `text` or matches it as a regular expression, int32.

    Nothing matches an empty text.  Raise UsageError for a bad expression, naming the character, and for an
    expression that takes too long.
    """
    if not text:
        return np.zeros(0, dtype=np.int32)
    from rcv_py.base.patterns import Pattern  # noqa: PLC0415 - no search runs at startup

    fits = Pattern(text, is_case_sensitive, is_regex).is_in
    return np.array([row for row, line in enumerate(texts) if fits(line)], dtype=np.int32)
