"""A wait on several counters has one culprit, whichever table, panel or document names it."""

from dataclasses import dataclass

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.attribution.causes import WAITS as WAIT_CAUSES
from rcv_py.analysis.attribution.wait_costs import LOAD_TO_USE, WAITS
from rcv_py.features.why.waits_result import wait_documents
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.analysis.test_attribution_rules import run
from tests.support.opened import VARIED, sample_waves

SLOW, FAST, ALONE, BOTH = 1, 2, 3, 4  # code rows
STALL = 600


@dataclass(frozen=True)
class Pair:
    """A slow operation, a fast operation, and waits for the fast one alone and for both."""

    gfxip: int
    slow: str
    fast: str
    alone: str
    both: str


LOAD, READ = "global_load_dword v13, v[6:7], off", "ds_read_b32 v14, v2"
PAIRS = {
    "gfx9 load and LDS": Pair(9, LOAD, READ, "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"),
    "gfx9 load and scalar load": Pair(
        9, LOAD, "s_load_dword s4, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"
    ),
    "gfx9 load and export": Pair(
        9, LOAD, "exp pos0 v0, v1, v2, v3 done", "s_waitcnt expcnt(0)", "s_waitcnt vmcnt(0) expcnt(0)"
    ),
    "gfx11 load and LDS": Pair(
        11, "global_load_b32 v13, v[6:7], off", "ds_load_b32 v14, v2",
        "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)",
    ),
    "gfx12 load and LDS": Pair(
        12, "global_load_b32 v13, v[6:7], off", "ds_load_b32 v14, v2",
        "s_wait_dscnt 0x0", "s_wait_loadcnt_dscnt 0x0",
    ),
    "gfx12 store and LDS": Pair(
        12, "global_store_b32 v[6:7], v13, off", "ds_load_b32 v14, v2",
        "s_wait_dscnt 0x0", "s_wait_storecnt_dscnt 0x0",
    ),
}  # fmt: skip


def waiting(pair: Pair, order: tuple[int, int], rounds: int = 8) -> tuple[Trace, WaveBatch]:
    """A wave that shows how long the fast operation takes, then waits for both."""
    tokens, now = [], 0
    for _ in range(rounds):
        for line, stall in ((FAST, 0), (ALONE, 56), (order[0], 0), (order[1], 0), (BOTH, STALL)):
            tokens.append((line, now, stall, 4))
            now += stall + 4
    texts = ["; k", pair.slow, pair.fast, pair.alone, pair.both, "s_endpgm"]
    return run(texts, [*tokens, (5, now, 0, 4)], gfxip=pair.gfxip)


def charged(trace: Trace, batch: WaveBatch) -> dict[tuple[int, int], tuple[int, int]]:
    """(wait, producer) to (stall charged, part of it guessed), as `rcv waits` has it."""
    table = WAITS.of(trace, [batch]).blocking
    wait = np.repeat(table.line, np.diff(table.first))
    columns = (wait, table.producer, table.charged, table.guessed)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(wait, producer): (stall, guessed) for wait, producer, stall, guessed in rows if stall}


def caused(trace: Trace, batch: WaveBatch) -> dict[tuple[int, int], tuple[int, int]]:
    """The same as `rcv causes` has it."""
    table = ATTRIBUTION.of(trace, [batch])
    some = np.flatnonzero(np.isin(table.cause, WAIT_CAUSES) & (table.stall > 0))
    columns = (table.line, table.producer, table.stall, table.guessed)
    rows = zip(*(column[some].tolist() for column in columns), strict=True)
    return {(wait, producer): (stall, guessed) for wait, producer, stall, guessed in rows}


@pytest.mark.parametrize("order", [(SLOW, FAST), (FAST, SLOW)], ids=["slow first", "fast first"])
@pytest.mark.parametrize("name", PAIRS)
def test_the_operation_that_never_takes_so_long_is_not_to_blame(name: str, order: tuple[int, int]) -> None:
    trace, batch = waiting(PAIRS[name], order)
    assert charged(trace, batch) == caused(trace, batch)
    assert charged(trace, batch)[BOTH, SLOW] == (8 * STALL, 0)
    assert (BOTH, FAST) not in charged(trace, batch)
    uses = LOAD_TO_USE.of(trace, [batch])
    assert dict(zip(uses.line.tolist(), uses.stall.tolist(), strict=True))[SLOW] == 8 * STALL


@pytest.mark.parametrize("order", [(SLOW, FAST), (FAST, SLOW)], ids=["slow first", "fast first"])
def test_a_wait_that_nothing_decides_names_its_doubt(order: tuple[int, int]) -> None:
    """No wait says how long either takes, and usually both take as long."""
    export, load = "exp pos0 v0, v1, v2, v3 done", "s_load_dword s4, s[0:1], 0x0"
    texts = ["; k", export, load, "s_nop 0", "s_waitcnt expcnt(0) lgkmcnt(0)", "s_endpgm"]
    trace, batch = run(texts, [(order[0], 0, 0, 4), (order[1], 4, 0, 4), (BOTH, 8, STALL, 4)])
    assert charged(trace, batch) == caused(trace, batch) == {(BOTH, order[1]): (STALL, STALL)}
    (document,) = wait_documents(trace, WAITS.of(trace, [batch]), np.arange(1))
    assert [one["guessed"] for one in document["producers"]] == [STALL, 0]


@pytest.mark.parametrize("name", VARIED)
def test_waits_and_causes_charge_the_same_operations(name: str) -> None:
    """Stalls of one turn are not worth a cause."""
    trace, batch = sample_waves(name)
    assert_same(trace, batch)


def assert_same(trace: Trace, batch: WaveBatch) -> None:
    """The two tables differ by at most a turn an execution."""
    found, causes = charged(trace, batch), caused(trace, batch)
    assert causes.keys() <= found.keys()
    hits = trace.code.hits
    for (wait, producer), (stall, guessed) in found.items():
        other = causes.get((wait, producer), (0, 0))
        brief = int(hits[wait]) * trace.architecture.base_clock
        assert 0 <= stall - other[0] <= brief
        assert 0 <= guessed - other[1] <= brief
