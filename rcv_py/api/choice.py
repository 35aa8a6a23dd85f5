"""Words that an analysis takes."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.api.errors import noted
from rcv_py.base.errors import UsageError


def one_of(what: str, word: object, known: Sequence[str]) -> None:
    """Raise UsageError unless the word is one of those."""
    if word not in known:
        raise noted(UsageError(f"{what}={word!r} is not known.", hint=f"There are: {', '.join(known)}."))
