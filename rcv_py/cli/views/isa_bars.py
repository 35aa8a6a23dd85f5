"""`rcv isa --bars`: the lengths of the bars that the listing of the window draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.attribute import attribution
from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.cost.annotations import Annotation, Ingredients, annotation, why_not
from rcv_py.analysis.cost.hotspot import kind_latency
from rcv_py.analysis.latency.hidden_latency import hidden_latency
from rcv_py.analysis.latency.memory_latency import memory_latency
from rcv_py.analysis.waits.wait_latency import wait_summary
from rcv_py.base.errors import UsageError
from rcv_py.cli.options.cost_options import IsaOptions
from rcv_py.cli.wave_choice import told_batches
from rcv_py.model.trace import Trace

# Which ingredient a mode is drawn from, and what makes it.
_NEEDS: dict[Annotation, tuple[str, Callable[[Trace, Any], Any]]] = {
    Annotation.NONHIDDEN: ("hidden", lambda trace, read: hidden_latency(trace, tuple(read))),
    Annotation.KINDS: ("kinds", lambda trace, read: kind_latency(read, len(trace.code))),
    Annotation.CAUSES: ("causes", attribution),
    Annotation.MEMORY: ("memory", memory_latency),
    Annotation.MEMORY_WAITS: ("waits", lambda trace, read: wait_summary(trace, read).latency),
}


def bar_lengths(trace: Trace, costs: CostColumns, arguments: IsaOptions) -> np.ndarray:
    """Return one length a code row, in cycles, samples, or cycles a time; raise UsageError if not known."""
    mode = Annotation[(arguments.bars or "").upper()]
    known = {}
    if mode in _NEEDS:
        name, make = _NEEDS[mode]
        known[name] = make(trace, told_batches(trace, arguments))
    has = Ingredients(trace.code, costs, not arguments.no_idle, **known)
    reason = why_not(mode, has)
    if reason:
        raise UsageError(f"There are no bars of {arguments.bars}: {reason[:1].lower()}{reason[1:]}")
    return annotation(mode, has).total
