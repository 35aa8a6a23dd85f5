"""Flamegraphs of real captures: all of their cycles, and what the reference viewer left of them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.flame.flame import FlameTree, Metric, What, code_flame
from rcv_py.analysis.flame.flame_layout import labels
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.base.colors import PRESETS
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from tests.analysis.in_memory import kind_latency
from tests.analysis.test_flame import (
    costs_of,
    test_every_cycle_of_a_capture_is_somewhere,  # noqa: F401
    test_samples_are_costs_where_there_are_no_cycles,  # noqa: F401
)
from tests.real.captures import GOLDEN, THREAD_TRACES, golden, real_trace, synthetic_path
from tests.support.fixtures import fixture_of, fixture_of_each

recorded = fixture_of_each(real_trace, THREAD_TRACES)
sampled = fixture_of(real_trace, "pcsampling")


Names = tuple[str, ...]  # of a frame and those it stands on, files first
UNASSIGNED = "[Unassigned]"  # how the reference viewer calls the place of code that has none


def cycles(trace: Trace, tree: FlameTree, metric: Metric) -> dict[Names, int]:
    """The cycles of each frame that has some; instructions of equal text on one place are one frame."""
    found: Counter[Names] = Counter()
    for frame in range(len(tree)):
        names = tuple(_name(trace, tree, one) for one in tree.ancestors(frame))
        found[names] += int(tree.total[frame, metric.value])
    return dict(+found)


def _name(trace: Trace, tree: FlameTree, frame: int) -> str:
    what, first, second = (int(column[frame]) for column in (tree.what, tree.first, tree.second))
    if what == What.CODE:
        return trace.code.text[second]
    if what == What.FILE:
        return trace.sources[first].path
    return f"{trace.sources[first].path}:{second}" if what == What.LINE else UNASSIGNED


def drawn(frames: Iterable[dict[str, Any]], cycles: str) -> dict[Names, int]:
    """The same of frames as the reference viewer draws them: each is followed by those that stand on it."""
    found: dict[Names, int] = {}
    names: Names = ()
    for frame in frames:
        names = (*names[: frame["row"]], frame["loc"] or frame["label"])
        found[names] = frame[cycles]
    return found


def test_every_frame_has_the_cycles_of_the_reference_viewer() -> None:
    real, expected = (
        real_trace("flash_attn_small_after"),
        golden("rcv/flash_attn_small_after.flame_frames.json"),
    )
    names = ["loc" if name == "location" else name for name in expected["columns"]]
    frames = [dict(zip(names, row, strict=True)) for row in expected["frames"]]
    tree = code_flame(real.code, costs_of(real))
    assert cycles(real, tree, Metric.TOTAL) == drawn(frames, "latency")
    batch = real.reader.read(list(range(len(real.waves))))
    kinds = kind_latency([batch], len(real.code)).cycles.argmax(axis=1)
    for frame in frames:
        if (row := frame["asm_index"]) >= 0:
            color = PRESETS["reference"]["token_kinds"][TokenKind(int(kinds[row])).name].dark
            assert color == frame["color"], frame["label"]


@pytest.mark.parametrize(
    ("kept", "column", "metric"),
    [
        ("flame_frames", "lat", Metric.TOTAL),
        ("flame_frames_nonhidden", "tot", Metric.TOTAL),
        ("flame_frames_nonhidden", "lat", Metric.NONHIDDEN),
    ],
)
def test_inlined_unresolved_and_unassigned_frames(kept: str, column: str, metric: Metric) -> None:
    """Lines of a file without a copy are unknown to the reference; what has no place stands on two names."""
    trace, expected = open_trace(synthetic_path("markers_gfx12")), golden("synthetic/markers_gfx12.rcv.json")
    hidden = np.zeros(len(trace.code), dtype=np.int64)
    for row, parts in expected["hidden_by_line_idle_stall_issue"].items():
        code, at = trace.code, int(row)
        most = (code.idle[at], code.stall[at], code.latency[at] - code.stall[at])
        hidden[at] = np.clip(parts, 0, most).sum()
    found = cycles(trace, code_flame(trace.code, costs_of(trace, True, hidden), has_hidden=True), metric)
    shown: Counter[Names] = Counter()
    for names, n in found.items():
        if names[0] == UNASSIGNED:
            shown.update({(UNASSIGNED,): n, (UNASSIGNED, f"{UNASSIGNED}:?"): n} if len(names) == 1 else {})
        else:
            shown[tuple("/src/missing.py:?" if one == "/src/missing.py:9" else one for one in names)] += n
    assert shown == drawn(expected[kept], column)


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_left_of_the_reference_viewers_hidden_cycles(name: str) -> None:
    real, expected = real_trace(name), golden(f"rcv/{name}.json")
    batch = real.reader.read(list(range(len(real.waves))))
    hidden = HIDDEN[ReferenceRule.REFERENCE].of(real, [batch]).hidden(real.code)
    tree = code_flame(real.code, costs_of(real, True, hidden), has_hidden=True)
    for kept, metric in (("flame_total", Metric.TOTAL), ("flame_nonhidden", Metric.NONHIDDEN)):
        assert tree.whole(metric) == expected[kept]["totalLatency"]
        found = cycles(real, tree, metric)
        files = {names[0]: n for names, n in found.items() if len(names) == 1}
        assert files == {root["loc"]: root["latency"] for root in expected[kept]["roots"]}
        lines = {names[1]: n for names, n in found.items() if len(names) == 2}
        for line in expected[kept]["row1_top20"]:
            assert line["loc"].startswith(UNASSIGNED) or lines[line["loc"]] == line["latency"]


def test_code_without_sources_is_a_tree_of_kernels_and_blocks() -> None:
    real = real_trace("pa_mqa_small")
    blocks = code_flame(real.code, costs_of(real))
    assert labels(real, blocks)[0] == "pa_mqa_logits_fp4_kernel_0"
    assert int((blocks.what == What.CODE).sum()) > 300
    assert [What(one) for one in np.unique(blocks.what)] == [What.CODE, What.KERNEL, What.BLOCK]
