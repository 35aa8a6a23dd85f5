"""What the samples simulate: one plan a story."""

from __future__ import annotations

from dataclasses import replace

from rcv_py.synth.build import Plan
from rcv_py.synth.hardware import CDNA, RDNA3, RDNA4
from rcv_py.synth.kernel_matmul import matmul_tiled
from rcv_py.synth.kernels import reduce, scale_rows, vector_add
from rcv_py.synth.kernels_adverse import ceiling, combined, crowded, rivals, straggler
from rcv_py.synth.kernels_groups import leaving, ping_pong, split_tiles, tiles
from rcv_py.synth.kernels_rdna import matmul_gfx11, matmul_gfx12
from rcv_py.synth.wave_state import Launch

_BEGIN = 70_000  # cycles from the start of the trace to the first wave
_FOUR_ENGINES = (0, 752, 1504, 2212)


def matmul_plan(seed: int) -> Plan:
    """Row scaling, then the tiled product: four shader engines, eight CUs, two waves a SIMD and a tail."""
    scale = scale_rows()
    product = matmul_tiled(-(-scale.stop // 256) * 256)
    launches = (
        Launch(scale, 1, _BEGIN, {"columns": (2,)}),
        Launch(product, 3, _BEGIN, {"K": (20,)}, index=1),
    )
    return Plan(CDNA, launches, _FOUR_ENGINES, cus=(0, 1, 2, 3, 4, 5, 6, 8), seed=seed)


def product_plan(seed: int, rounds: int, groups: int = 2, resident: int = 2) -> Plan:
    """The tiled product alone on one compute unit of one shader engine."""
    launch = Launch(matmul_tiled(), groups, _BEGIN, {"K": (rounds,)}, resident=resident)
    return Plan(CDNA, (launch,), seed=seed)


def small_plan(seed: int) -> Plan:
    """A short product on two shader engines: what most variants start from."""
    launch = Launch(matmul_tiled(), 3, _BEGIN, {"K": (4, 6)})
    return Plan(CDNA, (launch,), _FOUR_ENGINES[:2], cus=(0, 1, 2), seed=seed)


def vector_plan(seed: int) -> Plan:
    """Many short waves: the vector sum, eight waves a SIMD."""
    hardware = replace(CDNA, slots=8)
    launch = Launch(vector_add(), 24, _BEGIN)
    return Plan(hardware, (launch,), _FOUR_ENGINES, cus=(0, 1, 3, 4, 5), seed=seed)


def reduction_plan(seed: int) -> Plan:
    """A reduction with ds_bpermute, a barrier and uneven loops."""
    hardware = replace(CDNA, slots=4)
    launch = Launch(reduce(), 6, _BEGIN, {"n": (12, 9, 15)})
    return Plan(hardware, (launch,), _FOUR_ENGINES[:2], cus=(0, 1, 2, 4), seed=seed)


def kernels_plan(seed: int) -> Plan:
    """Four kernels, one after the other, in one capture."""
    kernels = []
    address = 0x1600
    for make in (vector_add, reduce, scale_rows, matmul_tiled):
        kernels.append(make(address))
        address = -(-kernels[-1].stop // 256) * 256
    rounds = {"n": (6, 8), "columns": (3,), "K": (5,)}
    launches = tuple(Launch(kernel, 2, _BEGIN, rounds, index=index) for index, kernel in enumerate(kernels))
    return Plan(CDNA, launches, _FOUR_ENGINES[:2], cus=(0, 1, 2), seed=seed)


def gfx11_plan(seed: int) -> Plan:
    """The product on gfx11: only SIMD 0 of the work-group processor is traced."""
    launch = Launch(matmul_gfx11(), 6, _BEGIN, {"K": (10, 14)})
    return Plan(RDNA3, (launch,), (0, 311), target_cu=1, cus=(0, 1, 2), traced_simds=(0,), seed=seed)


def gfx12_plan(seed: int) -> Plan:
    """The product on gfx12, with markers; only SIMD 0 is traced."""
    launch = Launch(matmul_gfx12(), 6, _BEGIN, {"K": (8, 11)})
    return Plan(RDNA4, (launch,), (0, 287), target_cu=1, cus=(0, 1, 2), traced_simds=(0,), seed=seed)


def rivals_plan(seed: int) -> Plan:
    """Causes that compete: two waves a SIMD that want the same units at the same time."""
    launch = Launch(rivals(), 4, _BEGIN, {"n": (8, 10)})
    return Plan(CDNA, (launch,), _FOUR_ENGINES[:2], seed=seed)


def untold_plan(seed: int) -> Plan:
    """The same, but one instruction in 25 is held back for nothing, and fetching shows as stalls."""
    hardware = replace(CDNA, untold=0.04, fetch_stalls=True)
    return replace(rivals_plan(seed), hardware=hardware)


def straggler_plan(seed: int) -> Plan:
    """Barriers whose last wave often ran on a SIMD that was not traced."""
    launch = Launch(straggler(), 4, _BEGIN, {"n": (12,)})
    return Plan(CDNA, (launch,), _FOUR_ENGINES[:2], traced_simds=(0, 1), seed=seed)


def combined_plan(seed: int) -> Plan:
    """Waits on LDS and memory at once: either may be the last, since latencies spread."""
    hardware = replace(CDNA, jitter=0.6)
    launch = Launch(combined(), 6, _BEGIN, {"n": (14, 17)})
    return Plan(hardware, (launch,), _FOUR_ENGINES[:2], seed=seed)


def ceiling_plan(seed: int) -> Plan:
    """Two waves a SIMD that keep the matrix unit busy."""
    launch = Launch(ceiling(), 4, _BEGIN, {"n": (16,)})
    return Plan(CDNA, (launch,), _FOUR_ENGINES[:2], seed=seed)


def crowded_plan(seed: int) -> Plan:
    """Four waves a SIMD that fill the queues of memory, LDS and scalar loads."""
    hardware = replace(CDNA, slots=4)
    launch = Launch(crowded(), 6, _BEGIN, {"n": (5, 6)})
    return Plan(hardware, (launch,), _FOUR_ENGINES[:2], seed=seed)


# As seen on gfx9: 4 or 8 cycles from the last arrival to the first release, releases 0 or 4 cycles apart.
_MEETING = replace(CDNA, slots=4, barrier_spread=1)


def groups_256_plan(seed: int) -> Plan:
    """Workgroups of 256 threads: four waves, two workgroups on the compute unit at a time."""
    launch = Launch(tiles(), 6, _BEGIN, {"n": (8,)}, resident=2)
    return Plan(_MEETING, (launch,), _FOUR_ENGINES[:2], seed=seed)


def groups_512_plan(seed: int) -> Plan:
    """Workgroups of 512 threads: eight waves, two a SIMD in different slots."""
    launch = Launch(tiles(), 4, _BEGIN, {"n": (8, 6)}, waves_per_group=8, resident=2)
    return Plan(_MEETING, (launch,), _FOUR_ENGINES[:2], seed=seed)


def groups_1024_plan(seed: int) -> Plan:
    """Workgroups of 1024 threads: sixteen waves, four a SIMD."""
    launch = Launch(tiles(), 3, _BEGIN, {"n": (6,)}, waves_per_group=16, resident=4)
    return Plan(_MEETING, (launch,), _FOUR_ENGINES[:2], seed=seed)


def ping_pong_plan(seed: int) -> Plan:
    """Eight waves in two halves that meet at different barriers; two workgroups at a time."""
    launch = Launch(ping_pong(), 4, _BEGIN, {"n": (8,)}, waves_per_group=8, resident=4)
    return Plan(_MEETING, (launch,), _FOUR_ENGINES[:2], seed=seed)


def several_groups_plan(seed: int) -> Plan:
    """Five workgroups of three waves on a compute unit at a time, in whatever slots are free; then of six."""
    small = Launch(tiles(), 10, _BEGIN, {"n": (5, 8, 6)}, waves_per_group=3)
    kernel = ping_pong(-(-small.kernel.stop // 256) * 256)
    large = Launch(kernel, 4, _BEGIN, {"n": (5,)}, waves_per_group=6, index=1)
    return Plan(_MEETING, (small, large), _FOUR_ENGINES[:2], seed=seed)


def mixed_populations_plan(seed: int) -> Plan:
    """Workgroups of eight waves of which some leave through a branch, at once or after some rounds."""
    launch = Launch(leaving(), 6, _BEGIN, {"n": (8,)}, waves_per_group=8, resident=4)
    return Plan(_MEETING, (launch,), _FOUR_ENGINES[:2], seed=seed)


def split_barriers_plan(seed: int) -> Plan:
    """Sixteen waves with split barriers on gfx12, two workgroups at a time; only SIMD 0 is traced."""
    hardware = replace(RDNA4, slots=8, splits_barriers=True)
    launch = Launch(split_tiles(), 4, _BEGIN, {"n": (10,)}, waves_per_group=16)
    return Plan(hardware, (launch,), (0, 287), traced_simds=(0,), seed=seed)
