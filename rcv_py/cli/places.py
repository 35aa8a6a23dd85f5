"""How places of a capture are written in tables."""

from __future__ import annotations

from rcv_py.analysis.cost.place_text import NO_PLACE
from rcv_py.analysis.cost.places import source_of
from rcv_py.base.paths import short_paths
from rcv_py.model.trace import Trace

__all__ = ["short_sources", "source_of"]


def short_sources(trace: Trace) -> dict[str, str]:
    """Return how tables show the paths of the sources; documents and CSV have them in full.

    The missing place of an instruction is a dash, unless the capture maps none: then a column of dashes would
    tell nothing.
    """
    has_places = bool((trace.code.leaf >= 0).any())
    missing = {"": NO_PLACE} if has_places else {}
    return short_paths(source.path for source in trace.sources) | missing
