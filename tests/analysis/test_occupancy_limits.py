"""Limits of occupancy: arithmetic of each resource, where numbers come from, and what was measured."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.device.occupancy_limits import GUESS, OccupancyLimits, occupancy_limits, waves_on_simd
from rcv_py.analysis.program.registers import register_use, wave_lanes
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.architecture import architecture_of
from rcv_py.model.resources import AgentFacts, AllocatedRegisters, KernelResources, RunFacts
from rcv_py.model.trace import INFERRED, Trace
from rcv_py.work import occupancy as work_occupancy
from rcv_py.work.occupancy import limits_of as limits_of_work
from tests.analysis import build
from tests.support.opened import load_all, sample_trace

TABLE = "x_kernel_trace.csv"


def kernel(**other: object) -> KernelResources:
    plain = KernelResources("k", 1, 32, 0, 32, 0, 0, (256, 1, 1), (1024, 1, 1), TABLE)
    return replace(plain, **other)


def trace_of(*texts: str, target: str = "gfx942", gfxip: int = 9) -> Trace:
    made = build.trace(build.code([*texts, "s_endpgm"]), [], gfxip=gfxip)
    return replace(made, target=target)


def limits_of(*texts: str, target: str = "gfx942", gfxip: int = 9, **other: object) -> OccupancyLimits:
    return occupancy_limits(trace_of(*texts, target=target, gfxip=gfxip), RunFacts(kernel(**other)))


def waves(found: OccupancyLimits) -> dict[str, int]:
    return {one.name: one.waves for one in found.limits}


def test_a_code_object_has_what_no_table_says() -> None:
    """152 registers of 512: 3 waves; 16,384 bytes of 65,536 that four SIMDs share: a wave of 4 groups."""
    said = AllocatedRegisters(152, 48, 16_384, "a.out", lanes=64, threads=256, is_exact=True)
    found = occupancy_limits(trace_of("v_mov_b32 v1, v0"), RunFacts(allocated=said))
    assert waves(found) == {"vector registers": 3, "scalar registers": 8, "LDS": 4, "workgroup": 3}
    assert {one.source for one in found.limits} == {"a.out"}
    assert any("a launch may ask for more" in note for note in found.notes)
    said = replace(said, is_exact=False)
    at_most = occupancy_limits(trace_of("v_mov_b32 v1, v0"), RunFacts(allocated=said))
    assert "LDS" not in waves(at_most), "how many workgroups share it is not known"


def test_lanes_come_from_the_code_object_before_the_text() -> None:
    """Of RDNA waves of 64 lanes a SIMD holds half as many registers; the text has no mask that shows them."""
    for lanes, size in ((32, 1_536), (64, 768)):
        said = AllocatedRegisters(96, -1, 0, "a.out", lanes=lanes)
        trace = trace_of("v_mov_b32_e32 v1, v0", target="gfx1100", gfxip=11)
        (limit,) = occupancy_limits(trace, RunFacts(allocated=said)).limits
        assert limit.available == size


def test_waves_have_the_lanes_of_their_kernel() -> None:
    code, gpu = build.code(["; k", "v_mov_b32_e32 v1, v0"]), architecture_of(11, "gfx1100")
    assert wave_lanes(code, gpu) == 32
    for lanes, wanted in ((64, 64), (32, 32), (1 << 40, 32)):
        known = replace(code, kernels=(replace(code.kernels[0], lanes=lanes),))
        assert wave_lanes(known, gpu) == wanted


def test_registers_are_counted_by_the_highest_name() -> None:
    texts = [
        "; kernel",
        "v_mfma_f32_32x32x8_f16 a[0:15], v[4:5], v[92:95], a[0:15]",
        "s_load_dwordx4 s[8:11], s[0:1], 0x40  // v[250:251] in a comment does not count",
        "v_add_f32 v17, v3, vcc",
    ]
    use = register_use(build.code(texts))
    assert (use.vector, use.accumulation, use.scalar) == (96, 16, 12)


@pytest.mark.parametrize(
    ("text", "is_wave32"), [("s_and_b32 exec_lo, s0, s1", True), ("s_mov_b64 exec, s[0:1]", False)]
)
def test_masks_tell_the_size_of_waves(text: str, is_wave32: bool) -> None:
    assert register_use(build.code([text])).is_wave32 is is_wave32


def test_vector_registers_round_up_to_what_is_given() -> None:
    found = limits_of("v_mov_b32 v94, 0", vgprs=95)
    assert (found.waves, found.goal, found.binding.name) == (5, 6, "vector registers")
    limit = found.limits[0]
    assert (limit.used, limit.allocated, limit.max_used, limit.excess) == (95, 96, 80, 15)
    assert found.next_step == "15 vector registers fewer (at most 80) would make room for 6 waves per SIMD."


@pytest.mark.parametrize(
    ("texts", "vgprs", "accum", "used"),
    [
        (("v_mov_b32 v9, 0",), 48, 0, 48),
        (("v_mov_b32 v94, 0",), 40, 0, 95),  # more than twice as many: a table of another kernel
        (("v_mov_b32 v94, 0",), 96, 32, 128),  # accumulation registers without a name
        (("v_mov_b32 v94, a15",), 48, 8, 95 + 16),
        (("v_mov_b32 v94, a15",), 120, 24, 120 + 24),
    ],
)
def test_table_and_text_together(texts: tuple[str, ...], vgprs: int, accum: int, used: int) -> None:
    found = limits_of(*texts, vgprs=vgprs, accum_vgprs=accum)
    assert found.limits[0].used == used
    is_told = used == vgprs + accum
    assert (found.limits[0].source == TABLE) == is_told
    assert any("which are taken" in note for note in found.notes) == (not is_told)


@pytest.mark.parametrize(
    ("target", "vgprs", "accum", "named", "used"),
    [
        # rocprofiler-sdk: (granulated count + 1) * 4 where 8 are allocated; gfx90a and gfx94x add up right.
        ("gfx950", 132, 0, 130, 264),
        ("gfx950", 48, 0, 96, 96),
        ("gfx950", 128, 8, 130, 136),  # accumulation registers are listed: the numbers are complete
        ("gfx942", 132, 0, 130, 132),
        ("gfx942", 48, 0, 95, 96),  # the program names more than the table lists: it lists half
        ("gfx1100", 132, 0, 130, 132),
    ],
)
def test_half_of_what_is_allocated(target: str, vgprs: int, accum: int, named: int, used: int) -> None:
    gfxip = 11 if target == "gfx1100" else 9
    text = f"v_mov_b32 v{named - 1}, 0"
    found = limits_of(text, target=target, gfxip=gfxip, vgprs=vgprs, accum_vgprs=accum)
    assert (found.limits[0].used, found.limits[0].source) == (used, TABLE)
    is_half = used == 2 * vgprs
    assert any(f"half of the {used} that are allocated" in note for note in found.notes) == is_half
    assert not any("which are taken" in note for note in found.notes)


def test_more_resident_waves_than_half_allows_show_that_the_table_is_complete() -> None:
    """Twice 132 registers let one wave of 512 live; two lived at once, so 132 is what is allocated."""
    waves = [build.wave("VV", row=row, place=(0, 0, row, 0)) for row in range(2)]
    made = build.trace(build.code(["v_mov_b32 v99, 0", "s_endpgm"]), waves, gfxip=9)
    found = occupancy_limits(replace(made, target="gfx950"), RunFacts(kernel(vgprs=132)))
    assert (found.resident.peak, found.limits[0].used, found.waves) == (2, 132, 3)


def test_registers_that_lds_makes_the_compiler_allocate_do_not_bind() -> None:
    """98,304 of 163,840 bytes: one workgroup of four waves, so one wave a SIMD.

    LLVM then allocates 264 registers, the least with which two waves do not fit in 512; the program names
    130, with which three would.  81,920 bytes (half of the LDS) let two workgroups in.
    """
    found = limits_of("v_mov_b32 v129, 0", target="gfx950", vgprs=132, lds=98_304)
    assert waves(found) == {"vector registers": 1, "scalar registers": 8, "LDS": 1, "workgroup": 1}
    assert (found.binding.name, found.goal) == ("LDS", 2)
    step = "16,384 bytes of LDS fewer (at most 81,920) would make room for 2 waves per SIMD."
    assert found.next_step == step
    assert any("names 130 of its 264 vector registers" in note for note in found.notes)


def test_registers_that_the_program_needs_bind_beside_lds() -> None:
    """257 named registers are 264 allocated: two waves need at most 256, however much LDS is free."""
    found = limits_of("v_mov_b32 v256, 0", target="gfx950", vgprs=132, lds=98_304)
    assert (found.waves, found.binding.name) == (1, "vector registers")
    fewer = "8 vector registers fewer (at most 256) and 16,384 bytes of LDS fewer (at most 81,920)"
    assert found.next_step == f"{fewer} would make room for 2 waves per SIMD."


@pytest.mark.parametrize(
    ("target", "gfxip", "vgprs", "allocated"),
    [("gfx90a", 9, 264, 264), ("gfx942", 9, 176, 176), ("gfx942", 9, 104, 104), ("gfx1100", 11, 248, 264)],
)
def test_registers_may_be_there_to_keep_waves_out(
    target: str, gfxip: int, vgprs: int, allocated: int
) -> None:
    """Triton's waves_per_eu of 1, 2 and 4 for 12 registers: the least with which no further wave fits."""
    found = limits_of("v_mov_b32 v11, 0", target=target, gfxip=gfxip, vgprs=vgprs)
    assert found.limits[0].allocated == allocated
    assert any(f"names 12 of its {allocated} vector registers" in note for note in found.notes)
    assert any("an option such as waves_per_eu" in note for note in found.notes)


@pytest.mark.parametrize("call", ["s_swappc_b64 s[30:31], s[18:19]", "s_swap_pc_i64 s[30:31], s[18:19]"])
def test_registers_of_functions_are_no_use_of_the_program(call: str) -> None:
    """192 of 1,536 registers: 8 waves.  The kernel names 32; a function that it may call needs the rest."""
    found = limits_of("v_mov_b32 v31, 0", call, target="gfx1100", gfxip=11, vgprs=192)
    assert (found.waves, found.binding.name) == (8, "vector registers")
    said = "names 32 of its 192 vector registers: the rest is for the functions"
    assert any(said in note for note in found.notes)
    alone = limits_of("v_mov_b32 v31, 0", target="gfx942", vgprs=112)
    assert not any("names" in note for note in alone.notes), "104 would keep out as many: why is not known"


def test_lds_counts_whole_workgroups() -> None:
    found = limits_of("v_mov_b32 v0, 0", lds=49152, target="gfx950")
    assert waves(found)["LDS"] == 3
    assert found.binding.name == "LDS"
    lds = next(one for one in found.limits if one.name == "LDS")
    assert (lds.allocated, lds.available, lds.max_used) == (49920, 160 * 1024, 40960)
    assert limits_of("v_mov_b32 v0, 0", lds=49152, target="gfx942").waves == 1


def test_large_workgroups_leave_room_unused() -> None:
    found = limits_of("v_mov_b32 v79, 0", vgprs=80, workgroup=(1024, 1, 1))
    assert waves(found) == {"vector registers": 6, "scalar registers": 8, "LDS": 8, "workgroup": 4}
    assert (found.waves, found.goal, found.binding.name) == (4, 8, "workgroup")
    assert found.limits[0].max_used == 64


def test_nothing_binds() -> None:
    found = limits_of("v_mov_b32 v9, 0")
    assert (found.waves, found.cap, found.binding, found.next_step) == (8, 8, None, "")


def test_without_a_table_it_is_a_guess() -> None:
    found = occupancy_limits(trace_of("v_mov_b32 v129, s40"))
    assert {one.source for one in found.limits} == {GUESS}
    assert found.waves == 3
    assert any("LDS" in note for note in found.notes)


@pytest.mark.parametrize(
    ("target", "gfxip", "text", "expected"),
    [
        ("gfx1100", 11, "v_mov_b32 v95, exec_lo", 16),
        ("gfx1100", 11, "v_mov_b32 v119, exec_lo", 12),
        ("gfx1030", 10, "v_mov_b32 v119, exec_lo", 8),
        ("gfx1201", 12, "v_mov_b32 v255, exec_lo", 5),
        ("gfx908", 9, "v_mov_b32 v127, a127", 2),
        ("gfx90a", 9, "v_mov_b32 v127, a127", 2),
    ],
)
def test_each_generation_has_its_file(target: str, gfxip: int, text: str, expected: int) -> None:
    found = occupancy_limits(trace_of(text, target=target, gfxip=gfxip))
    assert next(one.waves for one in found.limits if one.name == "vector registers") == expected


def test_waves_of_64_lanes_take_twice_the_file() -> None:
    whole = architecture_of(11, "gfx1100")
    half = whole.of_waves(is_wave32=False)
    assert (half.vgprs, half.granule) == (whole.vgprs // 2, whole.granule // 2)


def test_an_unknown_target_is_said() -> None:
    found = limits_of("v_mov_b32 v0, 0", target="gfx999")
    assert found.device.is_guess
    assert any("gfx999" in note for note in found.notes)


@given(st.integers(1, 512), st.integers(0, 64 * 1024), st.sampled_from([64, 128, 192, 256, 512, 1024]))
def test_the_next_step_is_enough_and_no_more_than_needed(vgprs: int, lds: int, threads: int) -> None:
    found = limits_of(f"v_mov_b32 v{vgprs - 1}, 0", vgprs=vgprs, lds=lds, workgroup=(threads, 1, 1))
    if found.binding is None or found.goal > found.cap:
        return
    most = {one.name: (one.used - one.excess, one.excess) for one in found.limits}
    sizes = {"vgprs": most["vector registers"][0], "lds": most["LDS"][0], "workgroup": (threads, 1, 1)}
    assert limits_of("v_mov_b32 v0, 0", **sizes).waves >= found.goal
    for name, value in (("vector registers", "vgprs"), ("LDS", "lds")):
        used, excess = most[name]
        if excess:
            assert limits_of("v_mov_b32 v0, 0", **sizes | {value: used + 1}).waves < found.goal


@pytest.mark.parametrize("name", ["matmul_small", "groups_512", "tutorial_before", "rivals"])
def test_waves_that_fit_are_counted_from_the_highest_register(name: str) -> None:
    """A SIMD of gfx942 has 512 vector registers a lane, given out in eights, and room for eight waves."""
    trace = sample_trace(name)
    found = occupancy_limits(trace, run_facts(trace.path, trace.kernel_name, trace.target))
    named = re.findall(r"\bv(?:\[\d+:)?(\d+)", " ".join(trace.code.text))
    given = -(-(max(map(int, named)) + 1) // 8) * 8
    assert found.waves == min(8, 512 // given)
    assert (found.binding.name if found.binding else None) == ("vector registers" if given > 64 else None)
    one, there, peak = trace.occupancy, Counter[tuple[int, ...]](), 0
    places = zip(one.se.tolist(), one.cu.tolist(), one.simd.tolist(), one.is_start.tolist(), strict=True)
    for *place, is_start in places:
        there[tuple(place)] += 1 if is_start else -1
        peak = max(peak, there[tuple(place)])
    assert found.resident.peak == peak <= found.waves
    assert 0 < found.resident.mean <= peak


def test_steps_are_whole_workgroups_by_their_barriers() -> None:
    """207 registers: two waves fit.  Single waves would step to 3 at 168 registers, two a SIMD only to 4."""
    trace = trace_of("v_mov_b32 v206, 0")
    single = occupancy_limits(trace)
    assert single.next_step == "39 vector registers fewer (at most 168) would make room for 3 waves per SIMD."
    found = occupancy_limits(trace, on_simd=2)
    assert (found.waves, found.goal) == (2, 4)
    assert found.next_step == "79 vector registers fewer (at most 128) would make room for 4 waves per SIMD."
    assert found.limits[-1].source == "barriers of the traced waves"
    assert any("LDS" in note and "size" not in note for note in found.notes)
    # The same by a table that says 512 threads: eight waves on four SIMDs.
    told = limits_of("v_mov_b32 v206, 0", vgprs=207, workgroup=(512, 1, 1))
    assert (told.waves, told.goal, told.next_step) == (found.waves, found.goal, found.next_step)


def test_a_wave_more_than_fits_beside_whole_workgroups_is_no_step() -> None:
    trace = trace_of("v_mov_b32 v166, 0")  # 168 registers: three waves, but only one workgroup of two a SIMD
    assert (occupancy_limits(trace).waves, occupancy_limits(trace, on_simd=2).waves) == (3, 2)


@pytest.mark.parametrize(
    ("name", "threads"), [("groups_256", 256), ("groups_512", 512), ("groups_1024", 1024)]
)
def test_barriers_tell_how_many_waves_a_workgroup_puts_on_a_simd(name: str, threads: int) -> None:
    trace = sample_trace(name)
    assert run_facts(trace.path, trace.kernel_name).kernel is None
    assert waves_on_simd(trace, WORKGROUPS.of(trace, load_all(trace, workers=0))) == threads // 256
    assert limits_of_work(trace, RunFacts()).waves >= threads // 256


def test_two_large_waves_of_a_simd_show_a_step_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workgroups of 512 threads: eight waves on four SIMDs, in steps of two, even if no wave is small."""
    monkeypatch.setattr(work_occupancy, "MAX_BYTES", 1)
    found = limits_of_work(sample_trace("groups_512"), RunFacts())
    assert found.group == 8
    assert found.waves % 2 == 0


def test_a_table_of_the_run_names_the_device() -> None:
    """The target comes from the instructions; that no file names the device is said only where none does."""
    trace = replace(trace_of("v_mov_b32 v1, 0"), target_from=INFERRED)
    said = "no file of the run names the device"
    agent = AgentFacts("gfx942", 8, 4, 64, 65_536, 304, "agent_info.csv", product="AMD Instinct MI300X")
    assert said in " ".join(map(str, occupancy_limits(trace, RunFacts(kernel())).notes))
    assert said not in " ".join(map(str, occupancy_limits(trace, RunFacts(kernel(), agent)).notes))
