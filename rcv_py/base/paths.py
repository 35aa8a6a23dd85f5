"""Paths as tables show them: the name of a file, with as many folders as it takes to tell it from others.

```
/home/a/build/kernels/attention.py      attention.py
/opt/lib/expr/numeric.py                expr/numeric.py
/opt/lib/ops/numeric.py                 ops/numeric.py
```
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Return the shortest ending of each path that no other path has; signs between folders become `/`.

    Only whole folders are kept or left out.  `/./` and repeated signs count for nothing, so two spellings of
    one path get the same text.
    """
    parts = {path: _parts(path) for path in paths}
    often = Counter(tuple(one[-n:]) for one in set(parts.values()) for n in range(1, len(one) + 1))
    return {path: _shortest(one, often) or path for path, one in parts.items()}


def short_place(place: str, short: Mapping[str, str]) -> str:
    """Return `path:line` with the path as `short` has it; unknown ones stay as they are."""
    path, colon, line = place.rpartition(":")
    return f"{short.get(path, path)}{colon}{line}" if colon else short.get(place, place)


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))


def _shortest(parts: tuple[str, ...], often: Counter[tuple[str, ...]]) -> str:
    for n in range(1, len(parts) + 1):
        if often[parts[-n:]] == 1:
            return "/".join(parts[-n:])
    return "/".join(parts)
