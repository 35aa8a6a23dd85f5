"""Scopes and points are those of the reference viewer."""

from typing import Any

import numpy as np

from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.model.kinds import MarkerKind
from rcv_py.model.modes import ReferenceRule
from tests.real import captures
from tests.support.read_twice import opened


def test_markers_equal_the_reference_viewer() -> None:
    """Names apart from their arguments, which ours leaves out."""
    golden = captures.golden("synthetic/markers_gfx12.rcv.json")["markers"]
    trace, batches = opened(captures.synthetic_path("markers_gfx12"))
    for rule in ReferenceRule:
        spans = marker_spans(trace, batches, rule)
        assert _buckets(spans) == {
            place: [row | {"name": row["name"].partition("(")[0]} for row in rows]
            for place, rows in golden["buckets"].items()
        }
        warned = [text for severity, text in golden["diags"] if severity]
        rows = np.flatnonzero(spans.kind == MarkerKind.UNKNOWN)
        where = [(spans.se[r], spans.cu[r], spans.simd[r], spans.slot[r], spans.begin[r]) for r in rows]
        ids = spans.marker[rows].tolist()
        assert warned == [
            "unknown marker ID {} (enter) at se={},cu={},simd={},slot={},time={}".format(number, *place)
            for number, place in zip(ids, where, strict=True)
        ]
        assert int(spans.is_open.sum()) == len(golden["diags"]) - len(warned)
        assert not (spans.is_orphan & spans.records.is_named_object).any()


def _buckets(spans: MarkerSpans) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for i in range(len(spans)):
        place = f"se={spans.se[i]},cu={spans.cu[i]},simd={spans.simd[i]},slot={spans.slot[i]}"
        is_unknown = spans.kind[i] == MarkerKind.UNKNOWN
        found.setdefault(place, []).append(
            {
                "depth": int(spans.depth[i]),
                "enter": int(spans.begin[i]),
                "exit": -1 if spans.is_open[i] else int(spans.end[i]),
                "id": int(spans.marker[i]),
                "kind": int(spans.kind[i]),
                "name": "" if is_unknown else spans.names[spans.name_id[i]],
                "open": bool(spans.is_open[i]),
                "point": bool(spans.is_point[i]),
                "src": spans.sources[spans.name_id[i]],
            }
        )
    return found
