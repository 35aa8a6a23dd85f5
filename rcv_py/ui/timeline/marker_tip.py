"""What tooltips say about markers and the values that kernels wrote."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.events.event_table import record_text
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.base.text import count, elide_left, elide_right
from rcv_py.model.kinds import MARKER_TEXT, MarkerKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.plain_text import Rich, lines_tip, rich
from rcv_py.ui.timeline.token_tip import duration

MOST = 4  # values of a place


def marker_tip(trace: Trace, spans: MarkerSpans, span: int) -> Rich:
    """Name, kind, times, depth and source of a scope or point, as rich text."""
    begin, end, name = int(spans.begin[span]), int(spans.end[span]), int(spans.name_id[span])
    kind = MARKER_TEXT[MarkerKind(int(spans.kind[span]))]
    lines: list[str] = [
        rich("<b>{}</b>", elide_right(spans.names[name], 90)),
        f"{kind}, depth {int(spans.depth[span])}",
    ]
    if spans.is_point[span]:
        lines.append(f"at {count(begin)}")
    else:
        lines.append(f"{count(begin)} … {count(end)}: {duration(trace, end - begin)}")
    if spans.is_open[span]:
        lines.append("Nobody saw it end: it is drawn up to the end of its wave.")
    if spans.sources[name]:
        lines.append(elide_left(spans.sources[name], 70))
    place = (int(getattr(spans, column)[span]) for column in ("se", "cu", "simd", "slot"))
    lines.append(
        "SE {} · {} {} · SIMD {} · slot {}".format(*(pair := [*place])[:1], trace.unit_name, *pair[1:])
    )
    return lines_tip(lines)


def value_lines(spans: MarkerSpans, rows: np.ndarray) -> list[str]:
    """A line for each of the first values, and how many there are more."""
    lines = [
        f"shader data at {count(int(spans.records.time[row]))}: {record_text(spans, row)}"
        for row in rows[:MOST].tolist()
    ]
    return [*lines, f"and {len(rows) - MOST:,} more values here"] if len(rows) > MOST else lines
