"""Pickle objects that another thread uses meanwhile."""

from __future__ import annotations

from typing import Any


class PickledByCopy:
    """Pickles a copy of the attributes.

    `pickle` iterates over the dictionary of an object.  A `cached_property` that another thread computes at
    that moment adds to the dictionary, and pickling would fail.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy of the current attributes."""
        return vars(self).copy()
