"""Kernels as plain Python over arrays that refuse every place that is not theirs: compiled, they do not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np


class Checked:
    """An array with one or two dimensions, of which a kernel takes and sets single elements."""

    __slots__ = ("_data", "shape")

    def __init__(self, array: np.ndarray) -> None:
        self._data = array.data
        self.shape = array.shape

    def __len__(self) -> int:
        return self.shape[0]

    def _check(self, place: int | tuple[int, ...]) -> None:
        places = place if isinstance(place, tuple) else (place,)
        for one, size in zip(places, self.shape, strict=True):
            if not 0 <= one < size:
                raise IndexError(f"{place} of {self.shape}")

    def __getitem__(self, place: Any) -> int:
        self._check(place)
        return self._data[place]

    def __setitem__(self, place: Any, value: int) -> None:
        self._check(place)
        self._data[place] = value


def plain(module: ModuleType, name: str) -> Callable[..., Any]:
    """Return the kernel of a module as Python, with arrays that check."""
    function = getattr(module, name).__wrapped__

    def call(*values: Any) -> Any:
        return function(*map(guarded, values))

    return call


def guarded(value: Any) -> Any:
    """Return an argument of a kernel, with arrays that check."""
    if isinstance(value, tuple):  # a NamedTuple
        return type(value)(*map(guarded, value))
    return Checked(value) if isinstance(value, np.ndarray) else value


@contextmanager
def checked(module: ModuleType, name: str) -> Iterator[None]:
    """Let a module's kernel be the plain one for a while."""
    with patch.object(module, name, plain(module, name)):
        yield
