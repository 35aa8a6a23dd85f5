"""Who made waits wait, and what waits tell about memory: captures of known truth, and drawings."""

import math
import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.attribution.wait_costs import WAITS, Blocking
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.waits.wait_latency import WaitLatency, measured
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.synth.capture import Truth
from tests.analysis import build
from tests.support.opened import VARIED, all_waves, sample_trace, sample_waves, traces_of
from tests.support.samples import sample

trace = traces_of(VARIED)


def read(trace: Trace) -> WaveBatch:
    return all_waves(trace)


def latency_rows(table: WaitLatency) -> dict[int, tuple[float, ...]]:
    columns = (table.exact, table.censored, table.p10, table.median, table.p90, np.round(table.mean, 1))
    return {int(line): tuple(float(c[i]) for c in columns) for i, line in enumerate(table.line)}


def blocking_rows(table: Blocking) -> list[tuple[int, int, int, int, list[tuple[int, int, int]]]]:
    rows = []
    for i in range(len(table)):
        part = table.producers(i)
        columns = (table.producer[part].tolist(), table.n[part].tolist(), table.charged[part].tolist())
        head = tuple(int(column[i]) for column in (table.line, table.hits, table.stall, table.blocked))
        rows.append((*head, list(zip(*columns, strict=True))))
    return rows


def is_wait(text: str) -> bool:
    """Whether an instruction waits for a counter of memory operations."""
    return re.match(r"s_waitcnt |s_waitcnt_vscnt|s_wait_\w+cnt", text) is not None


@dataclass
class Execution:
    """A wait that was executed."""

    line: int
    stall: int
    released: list[list[tuple[int, int, bool]]]  # of each counter (line, age, is a scalar load), newest last


def executions(trace: Trace, truth: Truth) -> list[Execution]:
    """All waits with what the simulator says that each of them released."""
    found = []
    for wave in read(trace).waves:
        known = truth.waves[wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid]
        one = wave.tokens
        texts = [trace.code.text[line] for line in one.line.tolist()]
        issue = one.start + one.stall
        since = issue + one.busy if trace.gfxip <= 9 else issue
        waits = [row for row in range(len(one)) if is_wait(texts[row])]
        at = {row: Execution(int(one.line[row]), int(one.stall[row]), []) for row in waits}
        for row, tokens in known.releases:
            ages = [
                (int(one.line[each]), int(issue[row] - since[each]), texts[each].startswith("s_"))
                for each in sorted(tokens, key=lambda each: issue[each])
            ]
            at[row].released.append(ages)
        found += at.values()
    return found


@pytest.mark.parametrize("name", VARIED)
def test_latencies_follow_from_what_the_simulator_released(name: str) -> None:
    """Scalar loads come back in any order, and of two counters either may have been the last."""
    trace, truth = sample_trace(name), sample(name)[1]
    samples, bounds = defaultdict[int, list[int]](list), Counter[int]()
    for wait in executions(trace, truth):
        for ages in wait.released:
            line, age, _ = ages[-1]
            if any(is_scalar for *_, is_scalar in ages):
                continue
            if len(wait.released) == 1 and wait.stall > 4:
                samples[line].append(age)
            else:
                bounds[line] += 1
    table = latency_rows(WAITS.of(trace, [read(trace)]).latency)
    assert table.keys() == samples.keys() | bounds.keys()
    for at, row in table.items():
        took = sorted(samples[at])
        low, high = (took[len(took) * tenths // 10] if took else math.nan for tenths in (1, 9))
        ranks = (low, statistics.median(took) if took else math.nan, high)
        mean = statistics.fmean(took) if took else math.nan
        assert row == pytest.approx((len(took), bounds[at], *ranks, mean), nan_ok=True, abs=0.051)
    assert samples


@pytest.mark.parametrize("name", VARIED)
def test_stalls_are_charged_to_what_the_simulator_released(name: str) -> None:
    """To the newest, unless several counters or scalar loads leave a choice: then to any of these."""
    trace, truth = sample_trace(name), sample(name)[1]
    heads = defaultdict[int, Counter[str]](Counter)
    pairs = defaultdict[int, dict[int, list[int]]](dict)
    open_choice = set[int]()
    for wait in executions(trace, truth):
        is_exact = len(wait.released) == 1 and wait.stall > 4 and not any(one[2] for one in wait.released[0])
        heads[wait.line].update(hits=1, stall=wait.stall, blocked=int(is_exact))
        own = pairs[wait.line]
        for producer in {line for ages in wait.released for line, *_ in ages}:
            own.setdefault(producer, [0, 0])[0] += 1
        if wait.released:  # the newest is the one that was issued the shortest time ago
            own[min((ages[-1] for ages in wait.released), key=lambda one: one[1])[0]][1] += wait.stall
        if len(wait.released) > 1 or any(one[2] for ages in wait.released for one in ages[:-1]):
            open_choice.add(wait.line)
    expected = []
    for line, head in heads.items():
        own = [(producer, n, charged) for producer, (n, charged) in pairs[line].items()]
        own.sort(key=lambda row: (-row[2], row[0]))
        expected.append((line, head["hits"], head["stall"], head["blocked"], own))
    found = blocking_rows(WAITS.of(trace, [read(trace)]).blocking)

    def comparable(rows: list[Any]) -> list[Any]:
        """Rows whose producers have, where there is a choice, only the sum of their stall."""
        return sorted(
            (*head, sorted((line, n) for line, n, _ in own), sum(stall for *_, stall in own))
            if head[0] in open_choice
            else (*head, own)
            for *head, own in rows
        )

    assert comparable(found) == comparable(expected) != []
    assert len(open_choice) < len(found)
    assert [row[2] for row in found] == sorted((row[2] for row in found), reverse=True)


def test_batches_add_up(trace: Trace) -> None:
    whole = WAITS.of(trace, [read(trace)])
    pieces = [trace.reader.read(list(range(i, len(trace.waves), 3))) for i in range(3)]
    parts = WAITS.of(trace, [*pieces, pieces[0]])
    assert parts.waves == whole.waves == len(trace.waves), "a wave that is there twice counts once"
    assert latency_rows(parts.latency).keys() == latency_rows(whole.latency).keys()
    one, other = (list(latency_rows(each.latency).values()) for each in (parts, whole))
    np.testing.assert_array_equal(one, other)
    assert blocking_rows(parts.blocking) == blocking_rows(whole.blocking)


def test_no_stall_is_lost_or_charged_twice(trace: Trace) -> None:
    table = WAITS.of(trace, [read(trace)]).blocking
    waits = np.array([is_wait(text) for text in trace.code.text])
    assert table.stall.sum() == trace.code.stall[waits].sum() > 0
    assert table.hits.sum() == trace.code.hits[waits].sum()
    owner = np.repeat(np.arange(len(table)), np.diff(table.first))
    assert np.all(np.bincount(owner, table.charged, len(table)) <= table.stall)
    assert np.all(table.n <= table.hits[owner])


@pytest.mark.parametrize("name", ["matmul_small", "reduction", "gfx11", "gfx12"])
def test_an_exact_sample_is_when_the_memory_really_answered(name: str) -> None:
    (trace, batch), (_, truth) = sample_waves(name), sample(name)
    piece = of_waves(batch.waves)
    links = replay(piece, trace.code, trace.architecture)
    exact = np.flatnonzero(measured(piece, links)[0])
    ended = (piece.start + piece.stall)[links.token[exact]]
    answered = []
    for row in exact.tolist():
        wave = piece.waves[links.wave[row]].id
        known = truth.waves[wave.se, wave.simd, wave.slot, wave.wid]
        token = int(links.newest[row] - piece.first[links.wave[row]])
        answered.append(int(known.returned[token]) + truth.offset_of_se.get(wave.se, 0))
    assert len(exact) > 20
    assert ended.tolist() == answered


def drawn(*waves: tuple[str, list[int]], texts: list[str], gfxip: int = 9) -> tuple[Trace, WaveBatch]:
    made = [build.wave(picture, lines, row=row) for row, (picture, lines) in enumerate(waves)]
    return build.trace(build.code(texts), made, gfxip=gfxip), build.batch(*made)


TEXTS = ["global_load_dword v0", "ds_read_b32 v1", "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"]


def test_the_stall_is_charged_to_the_newest_and_latency_told_of_it() -> None:
    trace, batch = drawn(("VV|VV|..iiiiiiii|", [0, 0, 2]), texts=TEXTS)
    summary = WAITS.of(trace, [batch])
    assert blocking_rows(summary.blocking) == [(2, 1, 8, 1, [(0, 1, 8)])]
    assert latency_rows(summary.latency)[0][:4] == (1, 0, 10, 10), "4 + 2 + 8 cycles less 2 + 2 until issued"


def test_a_wait_that_does_not_stall_tells_a_bound() -> None:
    trace, batch = drawn(("V|......ii|", [0, 2]), texts=TEXTS)
    table = WAITS.of(trace, [batch]).latency
    assert (table.exact.tolist(), table.censored.tolist()) == ([0], [1])
    assert np.isnan(table.median).all()


def test_a_wait_on_two_counters_tells_bounds_and_charges_the_newer() -> None:
    trace, batch = drawn(("V|L|iiiiiiii|", [0, 1, 3]), texts=TEXTS)
    summary = WAITS.of(trace, [batch])
    assert summary.latency.exact.tolist() == [0, 0]
    assert blocking_rows(summary.blocking) == [(3, 1, 8, 0, [(1, 1, 8), (0, 1, 0)])]


def test_a_wait_without_anything_outstanding_is_charged_to_nobody() -> None:
    trace, batch = drawn(("iiiiii|", [2]), texts=TEXTS)
    assert blocking_rows(WAITS.of(trace, [batch]).blocking) == [(2, 1, 6, 0, [])]


def test_chosen_waves_count() -> None:
    one = ("V|iiiiiiii|", [0, 2])
    trace, batch = drawn(one, one, one, texts=TEXTS)
    assert WAITS.of(trace, [batch], rows={0, 2}).blocking.hits.tolist() == [2]
    assert WAITS.of(trace, [batch], rows=set()).waves == 0
    assert len(WAITS.of(trace, []).blocking) == 0
    assert len(WAITS.of(trace, []).latency) == 0
