"""What the simulator does only when it is asked to: each against the same kernel without it."""

import numpy as np
from msgspec.structs import replace

from rcv_py.synth.build import Plan, build
from rcv_py.synth.capture import WaveRun
from rcv_py.synth.hardware import CDNA, RDNA3, Hardware
from rcv_py.synth.program import assemble
from rcv_py.synth.wave_state import SyntheticLaunch

LOADS = "".join(f"global_load_dwordx4 v[{4 * i}:{4 * i + 3}], v1, s[4:5]\n" for i in range(1, 7))


def waves(text: str, hardware: Hardware, *, of_a_group: int = 1) -> list[WaveRun]:
    """Simulate one workgroup of a kernel on a compute unit with one SIMD."""
    kernel = assemble(text, "_Z4testv", hardware.generation, {})
    launch = SyntheticLaunch(kernel, 1, {}, waves_per_group=of_a_group)
    plan = Plan(replace(hardware, simds=1, slots=4), (launch,))
    return sorted(build(plan).capture.waves, key=lambda wave: wave.begin)


def issued(wave: WaveRun) -> np.ndarray:
    return wave.tokens[:, 0] + wave.tokens[:, 2]


def test_the_oldest_wave_goes_first() -> None:
    work = "v_exp_f32_e32 v2, v3\n" * 60 + "s_endpgm"
    level = waves(work, CDNA, of_a_group=3)
    ranked = waves(work, replace(CDNA, oldest_first=True), of_a_group=3)
    assert ranked[0].end < level[0].end
    assert ranked[0].end < ranked[1].end < ranked[2].end


def test_a_wave_with_priority_goes_before_older_ones() -> None:
    work = "s_cbranch_scc1 go  // waves=0-0\ns_setprio 3\ngo:\n" + "v_exp_f32_e32 v2, v3\n" * 60 + "s_endpgm"
    old, young = waves(work, replace(CDNA, oldest_first=True), of_a_group=2)
    assert young.end < old.end


def test_a_counter_counts_no_further_than_it_can() -> None:
    text = LOADS + "s_waitcnt vmcnt(0)\ns_endpgm"
    (free,) = waves(text, CDNA)
    (full,) = waves(text, replace(CDNA, outstanding={"vmcnt": 2}))
    assert issued(free)[2] - issued(free)[0] < CDNA.far_latency / 10
    assert issued(full)[1] - issued(full)[0] < CDNA.far_latency / 10
    assert issued(full)[2] - issued(full)[0] >= CDNA.far_latency


def test_a_cache_serves_beside_memory() -> None:
    text = (
        LOADS * 4 + "buffer_load_dword v30, v1, s[4:7], 0 offen // near=1\n" + "s_waitcnt vmcnt(0)\ns_endpgm"
    )
    together, apart = (
        last_latency(text, replace(CDNA, near_bytes_per_cycle=rate, far_latency=4, jitter=0.0))
        for rate in (0.0, 64.0)
    )
    assert apart < together


def last_latency(text: str, hardware: Hardware) -> int:
    """When the last operation of a kernel returned, in cycles since its issue."""
    kernel = assemble(text, "_Z4testv", hardware.generation, {})
    capture = build(
        Plan(replace(hardware, simds=1), (SyntheticLaunch(kernel, 1, {}, waves_per_group=1),))
    ).capture
    (wave,) = capture.waves
    returned = capture.truth.waves[wave.key].returned
    at = int(np.flatnonzero(returned >= 0)[-1])
    return int(returned[at] - issued(wave)[at])


def test_arithmetic_waits_for_the_result_it_reads() -> None:
    chain = "v_add_f32_e32 v2, v2, v3\n" * 6 + "s_endpgm"
    apart = "".join(f"v_add_f32_e32 v{i}, v20, v30\n" for i in range(2, 8)) + "s_endpgm"
    hardware = replace(RDNA3, valu_latency=7)
    (waiting,), (going,), (before,) = waves(chain, hardware), waves(apart, hardware), waves(chain, RDNA3)
    assert (np.diff(issued(waiting)[:6]) >= 7).all()
    assert np.array_equal(np.diff(issued(going)[:6]), np.diff(issued(before)[:6]))
    assert (np.diff(issued(before)[:6]) < 7).any()
