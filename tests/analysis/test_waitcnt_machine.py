"""All waves at once, without a loop, must find what a plain replay of one wave after the other finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.waits.waitcnt.generations import COUNTERS, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.model.architecture import architecture_of
from rcv_py.model.tokens import Tokens
from tests.analysis import build
from tests.analysis.counter_oracle import by_hardware
from tests.support.python_calls import python_calls

SPOKEN = {  # instructions that touch every counter in every way
    9: (
        "global_load_dword v0", "buffer_store_dword v0, v1", "ds_read_b32 v0, v1", "ds_add_u32 v0, v1 gds",
        "s_load_dword s0", "s_sendmsg sendmsg(1)", "flat_load_dword v0", "exp mrt0 v0", "exp pos0 v0",
        "v_add_f32 v0, v1", "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2) lgkmcnt(1)",
        "s_waitcnt lgkmcnt(0)", "s_waitcnt lgkmcnt(2)", "s_waitcnt expcnt(1)", "s_waitcnt 0",
    ),
    11: (
        "global_load_b32 v0", "global_store_b32 v0", "global_atomic_add_u32 v0, v1", "ds_load_b32 v0",
        "s_load_b32 s0", "s_sendmsg_rtn_b32 s0", "flat_load_b32 v0", "flat_store_b32 v0",
        "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1) lgkmcnt(0)", "s_waitcnt lgkmcnt(1)",
        "s_waitcnt_vscnt null, 0x1", "s_waitcnt vscnt(0)", "s_waitcnt vscnt(1) vmcnt(2) lgkmcnt(2)",
    ),
    12: (
        "global_load_b32 v0", "global_store_b32 v0", "ds_load_b32 v0", "s_load_b32 s0",
        "s_sendmsg_rtn_b32 s0", "flat_load_b32 v0", "flat_store_b32 v0", "image_sample v0",
        "s_wait_loadcnt 0x1", "s_wait_loadcnt 0x0", "s_wait_dscnt 0x0", "s_wait_dscnt 0x2",
        "s_wait_storecnt_dscnt 0x101", "s_wait_kmcnt 0x0", "s_wait_kmcnt 0x1", "s_wait_idle",
    ),
}  # fmt: skip
NEWEST = (
    *SPOKEN[12], "global_load_async_to_lds_b32 v0", "tensor_load_to_lds s0", "s_wait_asynccnt 0x1",
    "s_wait_tensorcnt 0x0", "s_wait_xcnt 0x0", "s_wait_xcnt 0x2",
)  # fmt: skip
PROGRAMS = {"gfx9": (9, SPOKEN[9]), "gfx11": (11, SPOKEN[11]), "gfx12": (12, SPOKEN[12]), "x": (12, NEWEST)}


def tokens(lines: list[int]) -> Tokens:
    time, none = np.arange(len(lines), dtype=np.int32), np.zeros(len(lines), dtype=np.int32)
    return Tokens(0, time, none, none, none.astype(np.uint8), np.array(lines, dtype=np.int16))


def rows_of(links: WaitLinks) -> list[tuple[int, str, list[int]]]:
    rows = range(len(links))
    return [(int(links.token[row]), COUNTERS[links.counter[row]], links.of(row).tolist()) for row in rows]


@st.composite
def waves(draw: st.DrawFn) -> tuple[str, list[list[int]]]:
    name = draw(st.sampled_from(sorted(PROGRAMS)))
    line = st.integers(-1, len(PROGRAMS[name][1]) - 1)
    return name, draw(st.lists(st.lists(line, max_size=40), min_size=1, max_size=4))


@settings(max_examples=300, deadline=None)
@given(waves())
def test_the_fast_replay_is_the_plain_one(example: tuple[str, list[list[int]]]) -> None:
    name, runs = example
    gfxip, texts = PROGRAMS[name]
    code = build.code(texts)
    batch = build.batch(*(build.of_tokens(tokens(run), row=row) for row, run in enumerate(runs)))
    links = replay(batch, code, architecture_of(gfxip))
    effect = generation_of(architecture_of(gfxip), code.text).effect
    expected, base = [], 0
    for run in runs:
        rows = by_hardware([effect(texts[line] if line >= 0 else "") for line in run])
        expected += [(base + at, counter, [base + item for item in items]) for at, counter, items in rows]
        base += len(run)
    assert sorted(rows_of(links)) == sorted(expected)
    assert np.all(np.diff(links.token) >= 0)
    assert links.newest.tolist() == [max(items) for _, _, items in rows_of(links)]
    assert links.wave.tolist() == (np.searchsorted(batch.first, links.token, "right") - 1).tolist()


@pytest.mark.parametrize("lines", [[], [-1, -1], [9, 9]])
def test_where_nothing_waits_there_is_no_row(lines: list[int]) -> None:
    links = replay(build.batch(build.of_tokens(tokens(lines))), build.code(SPOKEN[9]), architecture_of(9))
    assert len(links) == 0
    assert links.first.tolist() == [0]


def test_a_line_that_is_not_in_the_table_is_passed_over() -> None:
    code = build.code(["global_load_dword v0", "s_waitcnt vmcnt(0)"])
    links = replay(build.batch(build.of_tokens(tokens([0, 77, -1, 1]))), code, architecture_of(9))
    assert rows_of(links) == [(3, "vm", [0])]


def test_no_step_is_taken_a_token() -> None:
    code = build.code(SPOKEN[9])
    lines = np.resize(np.arange(len(SPOKEN[9])), 400_000).tolist()
    for part in (lines[:100_000], lines):
        batch = build.batch(build.of_tokens(tokens(part)))
        assert python_calls(lambda batch=batch: replay(batch, code, architecture_of(9))) < 1000  # 488 and 359
