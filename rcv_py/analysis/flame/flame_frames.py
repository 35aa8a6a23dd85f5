"""The requested flamegraph, and its frames as rows of plain values."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.core.reduction import Answers, Rows
from rcv_py.analysis.events.marker_spans import MARKERS
from rcv_py.analysis.flame.flame import FlameTree, Metric, code_costs, code_flame
from rcv_py.analysis.flame.flame_markers import coarse_markers, marked_tree, scoped_costs
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

NOT_IN_RANGE = "What is hidden is known for all waves only: this is the total of the clock range."
CONTENTS = ("source", "kernel", "markers", "both")
_MARKERS, _HIDDEN = MARKERS[ReferenceRule.OURS], HIDDEN[ReferenceRule.OURS]
METRICS = {"total": Metric.TOTAL, "nonhidden": Metric.NONHIDDEN, "stall": Metric.STALL, "hits": Metric.HITS}


class Charged(NamedTuple):
    """The costs of code lines: by default the latency and idle time of all waves."""

    costs: CostColumns | None = None  # None: costs of all waves
    show_idle: bool = True
    is_ranged: bool = False  # costs of a clock range: hidden cycles are then unknown
    rows: Rows = None  # rows of the wave index of the waves that count, None for all


EVERYTHING = Charged()


def flame_tree(
    trace: Trace, content: str, metric: Metric, look: Callable[[], Answers], charged: Charged = EVERYTHING
) -> tuple[FlameTree, str]:
    """Return the tree of one of `CONTENTS`, and a sentence about it; `look` is called if waves are needed.

    Raises UsageError if the capture does not have the data.
    """
    if content == "markers" and metric is not Metric.TOTAL:
        raise UsageError(
            "Scopes of markers have a duration and no other measure.",
            hint="Use the metric total, or the content both.",
        )
    is_marked, is_hiding = content in ("markers", "both"), metric is Metric.NONHIDDEN
    hidden, note = None, NOT_IN_RANGE if is_hiding else ""
    if is_hiding and not charged.is_ranged:
        latency = look().of(_HIDDEN, charged.rows)
        hidden, note = latency.hidden(trace.code, charged.show_idle), latency.assumption
    if is_marked:
        return _marked(trace, content, look(), charged.show_idle, hidden), note
    costs = charged.costs or cost_columns(trace.code)
    own = code_costs(costs, charged.show_idle, hidden)
    unit = "samples" if costs.label == SAMPLES else "cycles"
    if unit == "samples" and metric in (Metric.HITS, Metric.NONHIDDEN):
        raise UsageError(
            Message("{0} has PC samples, which know neither executions nor what was hidden.", trace.name),
            hint="Use the metric total or stall.",
        )
    if content == "source" and not len(trace.code.chain_file):
        why = Message("No instruction has a source place: these are kernels and basic blocks. {0}", note)
        note = why.strip()
    return code_flame(trace.code, own, unit, hidden is not None, by_kernel=content == "kernel"), note


def _marked(
    trace: Trace, content: str, found: Answers, show_idle: bool, hidden: np.ndarray | None
) -> FlameTree:
    spans = found.of(_MARKERS)
    if not len(spans):
        raise UsageError(
            Message("{0} has no markers.", trace.name),
            hint="Record a kernel with marked scopes, or use the content source.",
        )
    if content == "markers":
        return coarse_markers(spans)
    return marked_tree(spans, found.of(scoped_costs(spans, show_idle=show_idle)), trace.code, hidden)
