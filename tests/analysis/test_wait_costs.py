"""Who made waits wait, and what waits tell about memory: reference numbers, and captures of known truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.waits.wait_latency import (
    Blocking,
    WaitLatency,
    measured,
    wait_summary,
)
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis import build
from tests.support import captures
from tests.support.samples import write_sample


def read(name: str) -> tuple[Trace, WaveBatch]:
    trace = captures.real_trace(name)
    return trace, trace.reader.read(list(range(len(trace.waves))))


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


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_latencies_are_those_of_the_reference_numbers(name: str) -> None:
    trace, batch = read(name)
    table = wait_summary(trace, [batch]).latency
    expected = captures.golden(f"beyond/{name}.json")["lat_top"]
    found = latency_rows(table)
    for row in expected:
        numbers = tuple(float(row[key]) for key in ("exact", "censored", "p10", "median", "p90", "mean"))
        assert found[row["line"]] == numbers, row["line"]
    assert table.exact[: len(expected)].tolist() == [row["exact"] for row in expected]


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_stalls_are_charged_as_in_the_reference_numbers(name: str) -> None:
    trace, batch = read(name)
    found = blocking_rows(wait_summary(trace, [batch]).blocking)
    expected = captures.golden(f"beyond/{name}.json")["wait_top"]
    for mine, row in zip(found[: len(expected)], expected, strict=True):
        assert mine[:4] == (row["line"], row["hits"], row["stall"], row["blocked"])
        assert mine[4][:3] == [(one["line"], one["n"], one["stall"]) for one in row["blocking"]]


@pytest.mark.parametrize("name", ["moe_reduce", "preshuffle_gemm", "pa_mqa_big"])
def test_batches_add_up(name: str) -> None:
    trace, batch = read(name)
    whole = wait_summary(trace, [batch])
    pieces = [trace.reader.read(list(range(i, len(trace.waves), 3))) for i in range(3)]
    parts = wait_summary(trace, [*pieces, pieces[0]])
    assert parts.waves == whole.waves == len(trace.waves), "a wave that is there twice counts once"
    assert latency_rows(parts.latency).keys() == latency_rows(whole.latency).keys()
    np.testing.assert_array_equal(
        list(latency_rows(parts.latency).values()), list(latency_rows(whole.latency).values())
    )
    assert blocking_rows(parts.blocking) == blocking_rows(whole.blocking)


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_no_stall_is_lost_or_charged_twice(name: str) -> None:
    trace, batch = read(name)
    table = wait_summary(trace, [batch]).blocking
    is_wait = np.array([text.startswith("s_waitcnt") for text in trace.code.text])
    assert table.stall.sum() == trace.code.stall[is_wait].sum()
    assert table.hits.sum() == trace.code.hits[is_wait].sum()
    owner = np.repeat(np.arange(len(table)), np.diff(table.first))
    assert np.all(np.bincount(owner, table.charged, len(table)) <= table.stall)
    assert np.all(table.n <= table.hits[owner])


@pytest.mark.parametrize("sample", ["matmul_small", "reduction", "gfx11", "gfx12"])
def test_an_exact_sample_is_when_the_memory_really_answered(sample: str, tmp_path: Path) -> None:
    truth = write_sample(sample, tmp_path)
    trace = open_trace(tmp_path)
    batch = trace.reader.read(list(range(len(trace.waves))))
    piece = of_waves(batch.waves)
    links = replay(piece, trace.code, trace.gfxip, trace.target)
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
    summary = wait_summary(trace, [batch])
    assert blocking_rows(summary.blocking) == [(2, 1, 8, 1, [(0, 1, 8)])]
    assert latency_rows(summary.latency)[0][:4] == (1, 0, 10, 10), "4 + 2 + 8 cycles less 2 + 2 until issued"


def test_a_wait_that_does_not_stall_tells_a_bound() -> None:
    trace, batch = drawn(("V|......ii|", [0, 2]), texts=TEXTS)
    table = wait_summary(trace, [batch]).latency
    assert (table.exact.tolist(), table.censored.tolist()) == ([0], [1])
    assert np.isnan(table.median).all()


def test_a_wait_on_two_counters_tells_bounds_and_charges_the_newer() -> None:
    trace, batch = drawn(("V|L|iiiiiiii|", [0, 1, 3]), texts=TEXTS)
    summary = wait_summary(trace, [batch])
    assert summary.latency.exact.tolist() == [0, 0]
    assert blocking_rows(summary.blocking) == [(3, 1, 8, 0, [(1, 1, 8), (0, 1, 0)])]


def test_a_wait_without_anything_outstanding_is_charged_to_nobody() -> None:
    trace, batch = drawn(("iiiiii|", [2]), texts=TEXTS)
    assert blocking_rows(wait_summary(trace, [batch]).blocking) == [(2, 1, 6, 0, [])]


def test_chosen_waves_count() -> None:
    one = ("V|iiiiiiii|", [0, 2])
    trace, batch = drawn(one, one, one, texts=TEXTS)
    assert wait_summary(trace, [batch], rows={0, 2}).blocking.hits.tolist() == [2]
    assert wait_summary(trace, [batch], rows=set()).waves == 0
    assert len(wait_summary(trace, []).blocking) == 0
    assert len(wait_summary(trace, []).latency) == 0
