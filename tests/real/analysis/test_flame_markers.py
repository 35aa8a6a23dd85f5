"""Flamegraphs of scopes of the capture with reference results."""

from collections import defaultdict
from typing import Any

from rcv_py.analysis.flame.flame_frames import coarse_markers
from rcv_py.formats.open import open_trace
from tests.analysis.test_flame_markers import (
    Marked,
    Way,
    marked_in,
    test_hidden_cycles_are_shared_out_by_cycles,  # noqa: F401
    test_instructions_count_in_the_scopes_that_are_open,  # noqa: F401
    test_scopes_hold_what_is_inside,  # noqa: F401
    totals,
)
from tests.real.captures import golden, synthetic_path
from tests.support.fixtures import fixture_of

marked = fixture_of(lambda: marked_in(open_trace(synthetic_path("markers_gfx12"))))


def buckets() -> list[list[dict[str, Any]]]:
    """The spans of each wave slot, as the reference viewer has them."""
    return list(golden("synthetic/markers_gfx12.rcv.json")["markers"]["buckets"].values())


def plain(name: str) -> str:
    """A name as both write it: the reference viewer keeps arguments, and has its own word for unknown ids."""
    return name.split("(", maxsplit=1)[0]


def walked_scopes() -> dict[Way, int]:
    """Nodes by (kind, name), stack trimmed to the depth, each span's own duration at least 1."""
    found: dict[Way, int] = defaultdict(int)
    for spans in buckets():
        stack: list[str] = []
        for span in spans:
            if span["point"]:
                continue
            stack = [*stack[: span["depth"]], plain(span["name"])]
            found[tuple(stack)] += 1 if span["open"] else max(1, span["exit"] - span["enter"])
    return dict(found)


def test_our_scopes_last_until_the_wave_ends(marked: Marked) -> None:
    trace, _, spans = marked
    found = totals(trace, coarse_markers(spans))
    assert found[("synth_kernel",)] > walked_scopes()[("synth_kernel",)], "one never closed"
