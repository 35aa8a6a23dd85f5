"""The reference viewer's flamegraphs, frame by frame, as far as they were recorded."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.real.captures import GOLDEN, golden, real_trace, synthetic_path
from tests.real.flame_reference import ReferenceFrames, main_kinds, reference_frames
from tests.real.introsort import introsorted

MARKERS = "synthetic/markers_gfx12.rcv.json"
WHOLE = "rcv/flash_attn_small_after.flame_frames.json"


@cache
def opened(name: str) -> tuple[Trace, np.ndarray]:
    """A capture, and the kind each of its code rows has by its tokens."""
    trace = real_trace(name) if name in GOLDEN else open_trace(synthetic_path(name))
    batch = trace.reader.read(list(range(len(trace.waves))))
    return trace, main_kinds([batch], len(trace.code))


def hidden_of(trace: Trace, expected: dict[str, Any]) -> np.ndarray:
    """What the reference viewer found hidden on each row, each part clamped to what it is part of."""
    code, hidden = trace.code, np.zeros(len(trace.code), dtype=np.int64)
    for row, (idle, stall, issue) in expected["hidden_by_line_idle_stall_issue"].items():
        at = int(row)
        parts = (code.idle[at], code.stall[at], code.latency[at] - code.stall[at])
        hidden[at] = sum(
            min(max(have, 0), int(most)) for have, most in zip((idle, stall, issue), parts, strict=True)
        )
    return hidden


def frames(name: str, hidden: np.ndarray | None = None) -> ReferenceFrames:
    trace, kind = opened(name)
    return reference_frames(trace.code, trace.sources, trace.code.latency + trace.code.idle, kind, hidden)


def test_every_frame_of_a_real_capture() -> None:
    found, recorded = frames("flash_attn_small_after"), golden(WHOLE)
    columns = list(zip(*recorded["frames"], strict=True))
    expected = dict(zip(recorded["columns"], columns, strict=True))
    assert len(found.row) == len(recorded["frames"])
    assert found.row.tolist() == list(expected["row"])
    assert found.label == expected["label"]
    assert found.location == expected["location"]
    assert found.latency.tolist() == list(expected["latency"])
    assert found.color == expected["color"]
    assert found.source_line.tolist() == list(expected["source_line0"])
    assert found.code_row.tolist() == list(expected["asm_index"])
    assert np.abs(found.x - expected["x"]).max() < 1e-9
    assert np.abs(found.width - expected["w"]).max() < 1e-9


@pytest.mark.parametrize("kept", ["flame_frames", "flame_frames_nonhidden"])
def test_inlined_unresolved_and_unassigned_frames(kept: str) -> None:
    recorded = golden(MARKERS)
    trace, _ = opened("markers_gfx12")
    found = frames("markers_gfx12", hidden_of(trace, recorded) if "hidden" in kept else None)
    names = ("row", "label", "loc", "lat", "tot", "color", "line", "asm")
    columns = (
        found.row.tolist(),
        found.label,
        found.location,
        found.latency.tolist(),
        found.total.tolist(),
        found.color,
        found.source_line.tolist(),
        found.code_row.tolist(),
    )
    for name, column in zip(names, columns, strict=True):
        assert list(column) == [frame[name] for frame in recorded[kept]], name
    assert found.x.tolist() == pytest.approx([frame["x"] for frame in recorded[kept]], abs=1e-12)
    assert found.width.tolist() == pytest.approx([frame["w"] for frame in recorded[kept]], abs=1e-12)


@pytest.mark.parametrize("name", [*GOLDEN, "markers_gfx12"])
@pytest.mark.parametrize("kept", ["flame_total", "flame_nonhidden"])
def test_roots_totals_and_the_first_row_of_lines(name: str, kept: str) -> None:
    recorded = golden(f"rcv/{name}.json" if name in GOLDEN else MARKERS)
    trace, _ = opened(name)
    expected = recorded[kept]
    found = frames(name, hidden_of(trace, recorded) if kept == "flame_nonhidden" else None)
    assert len(found.row) == expected["n_frames"]
    assert int(found.row.max()) + 1 == expected["numRows"]
    roots = np.flatnonzero(found.row == 0)
    assert int(found.latency[roots].sum()) == expected["totalLatency"]
    assert [found.location[at] for at in roots] == [root["loc"] for root in expected["roots"]]
    assert [found.color[at] for at in roots] == [root["color"] for root in expected["roots"]]
    assert found.latency[roots].tolist() == [root["latency"] for root in expected["roots"]]
    if kept == "flame_nonhidden":
        hidden = found.total[roots] - found.latency[roots]
        assert hidden.tolist() == [root["hidden"] for root in expected["roots"]]
    lines = np.flatnonzero(found.row == 1)
    top = lines[np.argsort(-found.latency[lines], kind="stable")][:20]
    assert found.latency[top].tolist() == [line["latency"] for line in expected["row1_top20"]]
    by_place = {found.location[at]: at for at in lines.tolist()}
    for line in expected["row1_top20"]:
        at = by_place[line["loc"]]
        assert found.color[at] == line["color"]
        assert (found.x[at], found.width[at]) == pytest.approx((line["x"], line["w"]), abs=1e-12)


@given(st.lists(st.integers(0, 9), max_size=80))
def test_the_borrowed_sort_sorts(weight: list[int]) -> None:
    order = introsorted(weight)
    assert sorted(order) == list(range(len(weight)))
    assert [weight[at] for at in order] == sorted(weight, reverse=True)
