"""What waits waited for, replayed."""

from __future__ import annotations

import numpy as np
import pytest

from rcv_py.analysis.wait_counters import effect
from rcv_py.analysis.wait_replay import replay, waits_of
from rcv_py.model.tokens import Tokens, Waits
from tests.analysis import build, plain
from tests.support import captures

Entries = list[tuple[int, list[int]]]


def entries(waits: Waits) -> Entries:
    return [(int(waits.line[row]), waits.producers(row).tolist()) for row in range(len(waits))]


def tokens(lines: list[int]) -> Tokens:
    n = len(lines)
    time, none = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    return Tokens(0, time, none, none, np.zeros(n, dtype=np.uint8), np.array(lines, dtype=np.int16))


def run(program: str, gfxip: int, times: int = 1) -> Entries:
    """Entries of a program with an instruction a line, run from top to bottom."""
    code = build.code([line.strip() for line in program.strip().splitlines()])
    return entries(replay(tokens(list(range(len(code))) * times), code, gfxip))


@pytest.mark.parametrize(
    "name", [*captures.GOLDEN, "vec_add", "mla_decode", "preshuffle_gemm", "fused_rope_cache"]
)
def test_a_replay_finds_what_the_writer_stored(name: str) -> None:
    trace, batches = plain.read(captures.trace_path(name))
    for wave in (wave for batch in batches for wave in batch.waves):
        assert wave.waits is not None
        assert entries(replay(wave.tokens, trace.code, trace.gfxip)) == entries(wave.waits)


# Where we know better: numbers of `null, N` and of combined waits, plain immediates, scalar buffer loads,
# images, exports, atomics without return, thrown away caches, FLAT in both of its counters.
BETTER: dict[str, tuple[Entries, Entries]] = {  # name: (ours alone, the reference alone)
    "waitcnt_gfx9": (
        [(3, [1, 2]), (20, [15, 16]), (24, [21, 22]), (29, [26, 27]), (31, [30]), (33, [32])],
        [(3, [1]), (20, [16]), (29, [26, 27, 28]), (31, [21, 22, 30])],
    ),
    "waitcnt_gfx11": (
        [(8, [5]), (9, [6]), (11, [4]), (20, [16, 18, 19]), (21, [10, 19]), (25, [23, 24])],
        [(8, [5, 6]), (11, [4, 10]), (20, [16, 19]), (25, [22])],
    ),
    "waitcnt_gfx12": (
        [(3, [1, 2]), (15, [11]), (15, [13]), (16, [12]), (17, [14]), (23, [22]), (30, [29]), (43, [39, 40])],
        [(3, [1]), (15, [11, 12]), (17, [13, 14]), (43, [40])],
    ),
    "markers_gfx12": ([], []),
    "counters_gfx9": ([], []),
}


@pytest.mark.parametrize("name", list(BETTER))
def test_a_replay_differs_from_the_reference_only_where_that_is_wrong(name: str) -> None:
    trace, batches = plain.read(captures.synthetic_path(name))
    expected = [
        (line, rows) for line, rows in captures.golden(f"synthetic/{name}.rcv.json")["main_wave_waitcnt"]
    ]
    found = entries(waits_of(batches[0].waves[0], trace.code, trace.gfxip))
    ours, theirs = BETTER[name]
    assert [one for one in found if one not in expected] == ours
    assert [one for one in expected if one not in found] == theirs


def test_waiting_for_n_releases_all_but_the_newest_n() -> None:
    program = """
        global_load_dword v0
        global_load_dword v1
        global_load_dword v2
        s_waitcnt vmcnt(2)
        s_waitcnt vmcnt(2)
        s_waitcnt vmcnt(0)"""
    assert run(program, 9) == [(3, [0]), (5, [1, 2])]


def test_what_comes_back_in_any_order_is_known_only_at_zero() -> None:
    program = """
        s_load_dword s0
        ds_read_b32 v0
        s_waitcnt lgkmcnt(1)
        s_waitcnt lgkmcnt(0)
        ds_read_b32 v0
        ds_read_b32 v1
        s_waitcnt lgkmcnt(1)"""
    assert run(program, 9) == [(3, [0, 1]), (6, [4])]


def test_two_kinds_in_one_counter_overtake_each_other() -> None:
    program = """
        ds_read_b32 v0
        s_sendmsg sendmsg(MSG_INTERRUPT)
        s_waitcnt lgkmcnt(1)
        s_waitcnt lgkmcnt(0)"""
    assert run(program, 9) == [(3, [0, 1])]


def test_operations_of_the_round_before_are_waited_for() -> None:
    program = """
        s_waitcnt vmcnt(1)
        global_load_dword v0
        global_load_dword v1"""
    assert run(program, 9, times=3) == [(0, [1]), (0, [2, 1])]


@pytest.mark.parametrize(
    ("text", "gfxip", "waits"),
    [
        ("s_waitcnt vmcnt(3) lgkmcnt(0x1)", 9, {"vm": 3, "lgkm": 1}),
        ("s_waitcnt vmcnt(1) & expcnt(2)", 10, {"vm": 1, "exp": 2}),
        ("s_waitcnt 0xc07f", 9, {"vm": 63, "exp": 7, "lgkm": 0}),
        ("s_waitcnt 0x3f70", 10, {"vm": 0, "exp": 7, "lgkm": 63}),
        ("s_waitcnt 0x0", 11, {"vm": 0, "exp": 0, "lgkm": 0}),
        ("s_waitcnt 0x7f7", 11, {"vm": 1, "exp": 7, "lgkm": 63}),
        ("s_waitcnt_vscnt null, 0x1", 11, {"vs": 1}),
        ("s_waitcnt_depctr 0xfff", 11, {}),
        ("s_wait_loadcnt_dscnt 0x201", 12, {"load": 2, "ds": 1}),
        ("s_wait_kmcnt 0x0", 12, {"km": 0}),
        ("s_wait_alu 0xfffe", 12, {}),
        ("v_add_f32 v0, v1, v2", 12, {}),
    ],
)
def test_what_a_wait_asks(text: str, gfxip: int, waits: dict[str, int]) -> None:
    assert dict(effect(text, gfxip).waits) == waits


@pytest.mark.parametrize(
    ("text", "gfxip", "counters"),
    [
        ("buffer_store_dword v0, v1", 9, ["vm"]),
        ("buffer_store_dword v0, v1", 10, ["vs"]),
        ("global_atomic_add_u32 v[2:3], v4, off", 11, ["vs"]),
        ("global_atomic_add_u32 v0, v[2:3], v4, off glc", 11, ["vm"]),
        ("global_atomic_add_u32 v0, v[2:3], v4, off th:TH_ATOMIC_RETURN", 12, ["load"]),
        ("flat_load_dword v0, v[2:3]", 9, ["vm", "lgkm"]),
        ("flat_store_b32 v[2:3], v0", 12, ["store", "ds"]),
        ("ds_add_u32 v0, v1 gds", 9, ["lgkm", "exp"]),
        ("ds_read_b32 v0, v1", 9, ["lgkm"]),
        ("exp mrt0 v0, v1, v2, v3 done", 10, ["exp"]),
        ("v_exp_f32 v0, v1", 10, []),
        ("image_bvh_intersect_ray v[0:3]", 11, ["vm"]),
        ("image_bvh8_intersect_ray v[0:9]", 12, ["bvh"]),
        ("image_sample v[0:3]", 12, ["sample"]),
        ("global_inv scope:SCOPE_SYS", 12, ["load"]),
        ("global_wb scope:SCOPE_SYS", 12, ["store"]),
        ("buffer_gl0_inv", 11, []),
        ("global_prefetch_b8 v[2:3], off", 12, []),
        ("s_endpgm", 9, []),
    ],
)
def test_which_counter_an_instruction_raises(text: str, gfxip: int, counters: list[str]) -> None:
    assert [counter for counter, _ in effect(text, gfxip).raises] == counters


def test_tokens_without_code_are_passed_over() -> None:
    code = build.code(["global_load_dword v0", "s_waitcnt vmcnt(0)"])
    assert entries(replay(tokens([0, -1, 1]), code, 9)) == [(1, [0])]
    assert entries(replay(tokens([]), code, 9)) == []
