"""Flamegraphs of real captures: all of their cycles, and what the reference viewer left of them."""

import numpy as np
import pytest

from rcv_py.analysis.flame.flame import Metric, What, code_flame
from rcv_py.analysis.flame.flame_layout import labels
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.model.modes import ReferenceRule
from tests.analysis.test_flame import (
    costs_of,
    test_every_cycle_of_a_capture_is_somewhere,  # noqa: F401
    test_samples_are_costs_where_there_are_no_cycles,  # noqa: F401
)
from tests.real.captures import GOLDEN, THREAD_TRACES, golden, real_trace
from tests.support.fixtures import fixture_of, fixture_of_each

recorded = fixture_of_each(real_trace, THREAD_TRACES)
sampled = fixture_of(real_trace, "pcsampling")


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_left_of_the_reference_viewers_hidden_cycles(name: str) -> None:
    real = real_trace(name)
    batch = real.reader.read(list(range(len(real.waves))))
    hidden = HIDDEN[ReferenceRule.REFERENCE].of(real, [batch]).hidden(real.code)
    tree = code_flame(real.code, costs_of(real, True, hidden), has_hidden=True)
    expected = golden(f"rcv/{name}.json")
    assert tree.whole(Metric.TOTAL) == expected["flame_total"]["totalLatency"]
    assert tree.whole(Metric.NONHIDDEN) == expected["flame_nonhidden"]["totalLatency"]


def test_code_without_sources_is_a_tree_of_kernels_and_blocks() -> None:
    real = real_trace("pa_mqa_small")
    blocks = code_flame(real.code, costs_of(real))
    assert labels(real, blocks)[0] == "pa_mqa_logits_fp4_kernel_0"
    assert int((blocks.what == What.CODE).sum()) > 300
    assert [What(one) for one in np.unique(blocks.what)] == [What.CODE, What.KERNEL, What.BLOCK]
