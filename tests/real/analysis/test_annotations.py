"""Bars beside instructions: equal to the reference where it has numbers."""

import numpy as np

from rcv_py.analysis.cost.annotations import Annotation, Ingredients, annotation
from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from tests.analysis.in_memory import kind_latency
from tests.analysis.test_annotations import costs
from tests.support.read_twice import GoldenCase


def test_scales_and_hidden_cycles_are_the_reference_s(case: GoldenCase) -> None:
    if "hidden_by_line_idle_stall_issue" not in case.golden:
        return  # made-up captures: the reference viewer was run without that analysis
    code = case.trace.code
    by_line = {int(line): row for line, row in case.golden["hidden_by_line_idle_stall_issue"].items()}
    table = np.zeros((3, len(code)), dtype=np.int64)
    for number, row in by_line.items():
        table[:, code.row_of_number[number]] = row
    hidden = HiddenLatency(table[0], table[1], table[2], "")
    has = Ingredients(code, costs(code), hidden=hidden, kinds=kind_latency(case.batches, len(code)))
    largest = {one["name"]: one["max"][0] for one in case.golden["annotation_categories"]}
    assert annotation(Annotation.TOTAL, has).largest == largest["Total latency"]
    assert annotation(Annotation.KINDS, has).largest == largest["Stall Categories"]
    assert annotation(Annotation.LATENCY_STALL, has).largest == largest["Latency + Stall"]
    bars = annotation(Annotation.NONHIDDEN, has)
    if case.trace.gfxip >= 10:  # before, the reference viewer finds hidden cycles only when it is asked to
        assert bars.value[:-1].sum(axis=0).max(initial=0) == largest["Nonhidden Latency"]
    assert int(bars.value[3].sum()) == case.golden["totals"]["hidden_clamped"]
    assert int(bars.value[:3].sum()) == case.golden["totals"]["nonhidden"]
