"""Which waits wait for what: lists of files, drawn programs, and what each instruction raises."""

import numpy as np
import pytest

from rcv_py.analysis.waits.waitcnt.generations import generation_of
from rcv_py.analysis.waits.waitcnt.replay import replay, waits, waits_of
from rcv_py.model.architecture import architecture_of
from rcv_py.model.tokens import Waits
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.analysis.test_waitcnt_machine import tokens
from tests.support.opened import VARIED, all_waves, traces_of

Entries = list[tuple[int, list[int]]]


def entries(waits: Waits) -> Entries:
    return [(int(waits.line[row]), waits.producers(row).tolist()) for row in range(len(waits))]


def found(lines: list[int], texts: list[str], gfxip: int) -> Entries:
    batch = build.batch(build.of_tokens(tokens(lines)))
    return entries(waits(replay(batch, build.code(texts), architecture_of(gfxip)), batch.line))


def run(program: str, gfxip: int, times: int = 1) -> Entries:
    """Entries of a program with an instruction a line, run from top to bottom."""
    texts = [line.strip() for line in program.strip().splitlines()]
    return found(list(range(len(texts))) * times, texts, gfxip)


trace = traces_of([*VARIED, "split_barriers_gfx12"])


def test_every_wave_has_the_list_of_its_file(trace: Trace) -> None:
    batch = all_waves(trace)
    listed = [wave.waits for wave in batch.waves if wave.waits is not None]
    made = waits(replay(batch, trace.code, trace.architecture), batch.line)
    assert len(made)
    assert np.array_equal(made.line, np.concatenate([one.line for one in listed]))
    assert np.array_equal(np.diff(made.first), np.concatenate([np.diff(one.first) for one in listed]))
    assert np.array_equal(made.depends_on, np.concatenate([one.depends_on for one in listed]))


PROGRAMS = {
    9: """
        global_load_dword v0
        buffer_store_dword v1
        s_load_dword s0
        ds_read_b32 v2
        s_waitcnt vmcnt(1)
        s_waitcnt vmcnt(0) lgkmcnt(0)""",
    10: """
        buffer_load_dword v0
        buffer_store_dword v1
        s_waitcnt_vscnt null, 0x0
        s_waitcnt vmcnt(0)
        flat_load_dword v2
        flat_store_dword v3
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_waitcnt_vscnt null, 0x0""",
    12: """
        global_load_b32 v0
        global_store_b32 v1
        image_sample v[0:3]
        image_bvh8_intersect_ray v[0:9]
        ds_load_b32 v2
        s_load_b32 s0
        export mrt0 v0
        s_wait_storecnt 0x0
        s_wait_loadcnt_dscnt 0x0
        s_wait_idle""",
}
RELEASED = {
    9: {4: {0}, 5: {1, 2, 3}},
    10: {2: {1}, 3: {0}, 6: {4, 5}, 7: {5}},
    12: {7: {1}, 8: {0, 4}, 9: {2, 3, 5, 6}},
}


@pytest.mark.parametrize("gfxip", PROGRAMS)
@pytest.mark.parametrize("times", [1, 3])
def test_each_wait_of_a_program_releases_what_its_counters_count(gfxip: int, times: int) -> None:
    sets: dict[int, set[int]] = {}
    for line, producers in run(PROGRAMS[gfxip], gfxip, times):
        sets.setdefault(line, set()).update(producers)
    assert sets == RELEASED[gfxip]


SMEM_AND_LDS = """
    s_load_dword s0
    ds_read_b32 v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v0
    s_sendmsg sendmsg(MSG_INTERRUPT)
    s_waitcnt lgkmcnt(1)
    s_waitcnt lgkmcnt(0)"""


@pytest.mark.parametrize(
    ("program", "gfxip", "entries"),
    [
        (SMEM_AND_LDS, 9, [(2, [0, 1]), (6, [3, 4])]),
        ("exp mrt0 v0\nexp mrt1 v0\ns_waitcnt expcnt(1)", 9, [(2, [0])]),
        ("lds_direct_load v1\ns_waitcnt expcnt(0)", 11, [(1, [0])]),
        ("ds_add_u32 v0, v1 gds\ns_waitcnt expcnt(0)", 9, [(1, [0])]),
        ("flat_atomic_add v[0:1], v2\ns_waitcnt_vscnt null, 0x0", 10, [(1, [0])]),
        ("buffer_gl0_inv\ns_waitcnt vmcnt(0)", 10, []),
        ("global_inv scope:SCOPE_SYS\ns_wait_loadcnt 0x0", 12, [(1, [0])]),
        ("global_prefetch_b8 v0\ns_wait_loadcnt 0x0", 12, []),
        ("s_barrier_leave\ns_wait_kmcnt 0x0", 12, [(1, [0])]),
    ],
)
def test_each_rule(program: str, gfxip: int, entries: Entries) -> None:
    assert run(program, gfxip) == entries


def test_waiting_for_n_releases_all_but_the_newest_n() -> None:
    program = """
        global_load_dword v0
        global_load_dword v1
        global_load_dword v2
        s_waitcnt vmcnt(2)
        s_waitcnt vmcnt(2)
        s_waitcnt vmcnt(0)"""
    assert run(program, 9) == [(3, [0]), (5, [1, 2])]


def test_operations_of_the_round_before_are_waited_for() -> None:
    program = """
        s_waitcnt vmcnt(1)
        global_load_dword v0
        global_load_dword v1"""
    assert run(program, 9, times=3) == [(0, [1]), (0, [2, 1])]


def test_links_name_the_very_execution() -> None:
    texts = ["s_waitcnt vmcnt(1)", "global_load_dword v0"]
    batch = build.batch(build.of_tokens(tokens([0, 1] * 3 + [0])), build.of_tokens(tokens([1, 1, 0]), row=1))
    links = replay(batch, build.code(texts), architecture_of(9))
    assert links.token.tolist() == [4, 6, 9]
    assert [links.of(row).tolist() for row in range(3)] == [[1], [3], [7]]
    assert links.newest.tolist() == [1, 3, 7]
    assert links.wave.tolist() == [0, 0, 1]
    assert links.left.tolist() == [1, 1, 1]
    assert links.is_ordered.all()


def test_scalar_loads_come_back_in_any_order() -> None:
    batch = build.batch(build.of_tokens(tokens([0, 0, 1])))
    links = replay(batch, build.code(["s_load_dword s0", "s_waitcnt lgkmcnt(0)"]), architecture_of(9))
    assert links.is_ordered.tolist() == [False]


def test_address_translation_names_only_what_has_not_come_back() -> None:
    program = """
        global_load_b32 v0
        s_wait_loadcnt 0x0
        global_store_b32 v0
        global_store_b32 v1
        s_wait_xcnt 0x1
        s_load_b32 s0
        s_wait_xcnt 0x1
        s_wait_xcnt 0x0"""
    assert run(program, 12) == [(1, [0]), (4, [2]), (7, [3, 5])]


@pytest.mark.parametrize(
    ("texts", "target", "name"),
    [
        (["s_wait_xcnt 0x0"], "gfx12", "gfx1250"),
        (["global_load_b32 v0"], "gfx1250", "gfx1250"),
        (["global_load_b32 v0"], "gfx1201", "gfx12"),
    ],
)
def test_gfx1250_is_told_by_name_or_by_its_instructions(texts: list[str], target: str, name: str) -> None:
    assert generation_of(architecture_of(12, target), tuple(texts)).name == name


def test_a_list_of_the_file_is_kept_where_the_replay_knows_nothing() -> None:
    listed = build.waits([(1, [0])])
    wave = build.of_tokens(tokens([0, 1]))._replace(waits=listed)
    assert waits_of(wave, build.code(["strange_load v0", "strange_wait"]), architecture_of(9)) is listed


def test_a_list_of_the_file_is_left_aside_where_the_replay_knows() -> None:
    texts = ["s_buffer_load_dword s0", "s_waitcnt lgkmcnt(0)"]
    wave = build.of_tokens(tokens([0, 1]))._replace(waits=build.waits([(1, [1])]))
    assert entries(waits_of(wave, build.code(texts), architecture_of(9))) == [(1, [0])]


@pytest.mark.parametrize(
    ("text", "gfxip", "asked"),
    [
        ("s_waitcnt vmcnt(3) lgkmcnt(0x1)", 9, {"vm": 3, "lgkm": 1}),
        ("s_waitcnt vmcnt(1) & expcnt(2)", 10, {"vm": 1, "exp": 2}),
        ("s_waitcnt 0xc07f", 9, {"vm": 63, "exp": 7, "lgkm": 0}),
        ("s_waitcnt 0x3f70", 10, {"vm": 0, "exp": 7, "lgkm": 63}),
        ("s_waitcnt 0x0", 11, {"vm": 0, "exp": 0, "lgkm": 0}),
        ("s_waitcnt 0x7f7", 11, {"vm": 1, "exp": 7, "lgkm": 63}),
        ("s_waitcnt_vscnt null, 0x1", 11, {"vs": 1}),
        ("s_waitcnt_vmcnt null, 0x2", 10, {"vm": 2}),
        ("s_waitcnt_depctr 0xfff", 11, {}),
        ("s_wait_loadcnt_dscnt 0x201", 12, {"load": 2, "ds": 1}),
        ("s_wait_storecnt_dscnt 0x3f00", 12, {"store": 63, "ds": 0}),
        ("s_wait_kmcnt 0x0", 12, {"km": 0}),
        ("s_wait_asynccnt 0x2", 12, {"async": 2}),
        ("s_wait_alu 0xfffe", 12, {}),
        ("s_wait_event 0x1", 12, {}),
        ("v_add_f32 v0, v1, v2", 12, {}),
    ],
)
def test_what_a_wait_asks(text: str, gfxip: int, asked: dict[str, int]) -> None:
    assert dict(generation_of(architecture_of(gfxip), ()).effect(text).waits) == asked


def test_waiting_for_idle_asks_every_counter() -> None:
    asked = dict(generation_of(architecture_of(12), ()).effect("s_wait_idle").waits)
    assert set(asked.values()) == {0}
    assert {"load", "store", "ds", "km", "exp", "bvh", "sample"} <= set(asked)


@pytest.mark.parametrize(
    ("text", "gfxip", "counters"),
    [
        ("buffer_store_dword v0, v1", 9, ["vm"]),
        ("buffer_store_dword v0, v1", 10, ["vs"]),
        ("buffer_load_dwordx4 v64, s[16:19], 0 offen sc0 lds", 9, ["vm"]),
        ("buffer_wbl2 sc1", 9, ["vm"]),
        ("buffer_wbinvl1_vol", 9, []),
        ("s_buffer_load_dword s4, s[8:11], 0x0", 9, ["lgkm"]),
        ("s_memtime s[0:1]", 9, ["lgkm"]),
        ("global_atomic_add_u32 v[2:3], v4, off", 11, ["vs"]),
        ("global_atomic_add_u32 v0, v[2:3], v4, off glc", 11, ["vm"]),
        ("global_atomic_add_u32 v0, v[2:3], v4, off th:TH_ATOMIC_RETURN", 12, ["load"]),
        ("global_atomic_add_u32 v[2:3], v4, off", 12, ["store"]),
        ("flat_load_dword v0, v[2:3]", 9, ["vm", "lgkm"]),
        ("flat_store_b32 v[2:3], v0", 12, ["store", "ds"]),
        ("ds_add_u32 v0, v1 gds", 9, ["lgkm", "exp"]),
        ("ds_read_b32 v0, v1", 9, ["lgkm"]),
        ("exp mrt0 v0, v1, v2, v3 done", 10, ["exp"]),
        ("export mrt0 v0, v1, v2, v3 done", 12, ["exp"]),
        ("v_exp_f32 v0, v1", 10, []),
        ("image_bvh_intersect_ray v[0:3]", 11, ["vm"]),
        ("image_bvh8_intersect_ray v[0:9]", 12, ["bvh"]),
        ("image_sample v[0:3]", 12, ["sample"]),
        ("image_load v[0:3]", 12, ["load"]),
        ("image_store v[0:3]", 11, ["vs"]),
        ("s_sendmsg_rtn_b32 s0, sendmsg(1)", 11, ["lgkm", "lgkm"]),
        ("s_get_barrier_state s0, -1", 12, ["km"]),
        ("global_inv scope:SCOPE_SYS", 12, ["load"]),
        ("global_wb scope:SCOPE_SYS", 12, ["store"]),
        ("global_wbinv scope:SCOPE_SYS", 12, ["store"]),
        ("buffer_gl0_inv", 11, []),
        ("global_prefetch_b8 v[2:3], off", 12, []),
        ("s_endpgm", 9, []),
        ("s_load_b64 s[0:1], s[2:3], 0x0", 1250, ["km", "x"]),
        ("global_store_b32 v[2:3], v0, off", 1250, ["store", "x"]),
        ("global_load_async_to_lds_b32 v0, v[2:3], off", 1250, ["async", "x"]),
        ("tensor_load_to_lds s[0:3], s[4:11]", 1250, ["tensor"]),
        ("global_inv scope:SCOPE_SYS", 1250, ["load"]),
        ("ds_load_b32 v0, v1", 1250, ["ds"]),
    ],
)
def test_which_counters_an_instruction_raises(text: str, gfxip: int, counters: list[str]) -> None:
    major, target = (12, "gfx1250") if gfxip == 1250 else (gfxip, "")
    effect = generation_of(architecture_of(major, target), ()).effect(text)
    assert [counter for counter, _ in effect.raises] == counters
