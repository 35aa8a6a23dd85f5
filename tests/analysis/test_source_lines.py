"""Costs of source lines: sums, inlined frames, largest reasons."""

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.cost_columns import CostColumns, cost_columns
from rcv_py.analysis.cost.explorer import NO_SOURCE
from rcv_py.analysis.cost.ranking import ranking
from rcv_py.analysis.cost.source_costs import code_rows, reasons, source_lines
from rcv_py.cli.opening import batches
from rcv_py.model.modes import LatencyMode, SourceCost
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.opened import VARIED, sample_trace, traces_of

SELF, INCLUSIVE = SourceCost.SELF, SourceCost.INCLUSIVE


trace = traces_of([*VARIED, "pc_sampling"])


def costs_of(trace: Trace) -> CostColumns:
    return cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)


def test_lines_are_those_of_the_ranking(trace: Trace) -> None:
    costs = costs_of(trace)
    found = source_lines(trace.code, costs, SELF)
    ranked = {one.name: one for one in ranking(trace.code, trace.sources, costs, "source")}
    for row in found.ranked():
        place = f"{trace.sources[found.file[row]].path}:{found.line[row]}"
        if place not in ranked:
            assert found.latency[row] == 0
            continue
        one = ranked[place]
        mine = [int(getattr(found, key)[row]) for key in ("rows", "hits", "latency", "stall", "idle")]
        assert mine == [one.rows, one.hits, one.latency, one.stall, one.idle]
    assert NO_SOURCE in ranked or int(found.cost.sum()) + found.unmapped == found.whole


def test_every_frame_is_charged_once_a_code_line() -> None:
    trace = sample_trace("matmul_small")
    code, costs = trace.code, costs_of(trace)
    found = source_lines(code, costs, INCLUSIVE)
    assert max(len(code.chain(row)) for row in range(len(code))) > 1
    rows = np.flatnonzero(~code.is_label).tolist()
    for row in range(len(found)):
        place = (int(found.file[row]), int(found.line[row]))
        mine = [at for at in rows if place in code.chain(at)]
        assert code_rows(code, *place, INCLUSIVE).tolist() == mine
        assert (int(found.rows[row]), int(found.cost[row])) == (len(mine), int(costs.cost[mine].sum()))
    files = source_lines(code, costs, INCLUSIVE, by_file=True)
    for row in range(len(files)):
        file = int(files.file[row])
        mine = [at for at in rows if file in [one for one, _ in code.chain(at)]]
        assert int(files.cost[row]) == int(costs.cost[mine].sum())


def test_the_largest_cause_of_a_line() -> None:
    trace = sample_trace("matmul_small")
    causes = ATTRIBUTION.of(trace, batches(trace))
    found = source_lines(trace.code, costs_of(trace), SELF, reasons(trace.code, causes))
    why = reasons(trace.code, causes)
    best = found.ranked()[0]
    mine = code_rows(trace.code, int(found.file[best]), int(found.line[best]), SELF)
    amount = {}
    for line, cause, cycles in zip(causes.line, causes.cause, causes.cycles, strict=True):
        if line in mine:
            amount[int(cause)] = amount.get(int(cause), 0) + int(cycles)
    assert int(found.amount[best]) == max(amount.values())
    assert why.amount.sum() == causes.cycles[causes.line >= 0].sum()


def test_samples_name_their_reasons() -> None:
    trace = sample_trace("pc_sampling")
    found = source_lines(trace.code, costs_of(trace), SELF, reasons(trace.code, None))
    files = source_lines(trace.code, costs_of(trace), SELF, reasons(trace.code, None), by_file=True)
    code = trace.code
    rows = np.array([row for row in range(len(code)) if code.chain(row)[:1] and not code.is_label[row]])
    by_file = {int(file): rows[[code.chain(row)[0][0] == file for row in rows]] for file in files.file}
    for at, file in enumerate(files.file.tolist()):
        table = trace.code.stall_reasons[by_file[file]].sum(axis=0)
        assert int(files.amount[at]) == int(table.max())
    assert found.reason_of(found.ranked()[0])


def test_nothing_known_is_nothing_said() -> None:
    trace = sample_trace("matmul_small")
    n = len(trace.code)
    code = build.code(trace.code.text, latency=trace.code.latency.tolist(), hits=[1] * n)  # without places
    trace = replace(trace, code=code)
    found = source_lines(trace.code, costs_of(trace), SELF, reasons(trace.code, None))
    assert (len(found), found.unmapped, found.ranked()) == (0, found.whole, [])
