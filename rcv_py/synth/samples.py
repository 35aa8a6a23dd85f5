"""All samples by name: the simulated plan, additions to it, and the layout of its files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.base.record import Value
from rcv_py.synth import samplers
from rcv_py.synth.build import Plan, Simulated, build
from rcv_py.synth.capture import SyntheticCapture, Truth
from rcv_py.synth.hardware import CDNA, RDNA3, RDNA4, Hardware
from rcv_py.synth.program import BLOCKS, LANES, SOURCES, SyntheticKernel, kernel
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import NATIVE, PACKED, SCRIPTED, FileLayout, write_folder

SHIPPED = ("matmul_tiled", "pc_sampling", "placeholder")  # kept in sample_traces/, made with seed 0
_ENGINES = (0, 752, 1504, 2212)  # cycles by which the clocks of four shader engines lag

# Marker ids of the gfx12 kernel: the top bits of the values it writes.
_MARKERS = (
    (1, "K", "matmul_wmma", "/src/wmma/matmul_wmma.hip:7"),
    (2, "F", "_ZNK8WaveTile4loadEPK6__halfi", "/src/wmma/wave_tile.h:9"),
    (3, "U", "multiply", "/src/wmma/matmul_wmma.hip:15"),
    (4, "P", "vmem issued", None),
)


class NamedSample(Value):
    """A named capture; `text` describes it in a sentence."""

    name: str
    text: str
    plan: Callable[[], Plan]
    extend: Callable[[Simulated], SyntheticCapture] = lambda simulated: simulated.capture
    layout: FileLayout = NATIVE

    def write(self, folder: Path, seed: int = 0) -> Truth:
        """Write the folder and return the truth about it; the same seed gives the same bytes."""
        return self.write_simulated(simulated(self.plan, seed), folder)

    def write_simulated(self, done: Simulated, folder: Path) -> Truth:
        """Write the folder of a simulated plan, and return the truth about it."""
        capture = self.extend(done)
        write_folder(capture, folder, self.layout)
        return capture.truth


def simulated(plan: Callable[[], Plan], seed: int = 0) -> Simulated:
    """Simulate a plan with a seed."""
    return build(replace(plan(), seed=seed))


def _alone(
    name: str,
    groups: int,
    iterations: Mapping[str, Sequence[int]],
    hardware: Hardware = CDNA,
    *,
    waves_per_group: int = 4,
    resident: int = 0,
    offsets: tuple[int, ...] = _ENGINES[:2],
    cus: tuple[int, ...] = (1,),
    traced_simds: tuple[int, ...] = (0, 1, 2, 3),
) -> Callable[[], Plan]:
    def plan() -> Plan:
        launch = SyntheticLaunch(kernel(name), groups, iterations, resident=resident)
        launch = replace(launch, waves_per_group=waves_per_group)
        return Plan(hardware, (launch,), offsets, cus=cus, traced_simds=traced_simds)

    return plan


def _in_a_row(*names: str) -> list[SyntheticKernel]:
    """Return kernels at consecutive addresses of the code object, each at a multiple of 256 bytes."""
    kernels: list[SyntheticKernel] = []
    for name in names:
        kernels.append(kernel(name, -(-kernels[-1].stop // 256) * 256 if kernels else None))
    return kernels


def _matmul() -> Plan:
    """Row scaling, then the tiled product: four shader engines, eight CUs, two waves a SIMD and a tail."""
    scale, product = _in_a_row("scale_rows", "matmul_tiled")
    launches = SyntheticLaunch(scale, 1, {"columns": (2,)}), SyntheticLaunch(product, 3, {"K": (20,)})
    return Plan(CDNA, launches, _ENGINES, cus=(0, 1, 2, 3, 4, 5, 6, 8))


def _kernels() -> Plan:
    kernels = _in_a_row("vector_add", "reduce", "scale_rows", "matmul_tiled")
    iterations = {"n": (6, 8), "columns": (3,), "K": (5,)}
    launches = tuple(SyntheticLaunch(one, 2, iterations) for one in kernels)
    return Plan(CDNA, launches, _ENGINES[:2], cus=(0, 1, 2))


def _several_groups() -> Plan:
    """Five workgroups of three waves on a compute unit at a time, in any free slots; then of six waves."""
    tiles, ping_pong = _in_a_row("tiles", "ping_pong")
    small = SyntheticLaunch(tiles, 10, {"n": (5, 8, 6)}, waves_per_group=3)
    large = SyntheticLaunch(ping_pong, 4, {"n": (5,)}, waves_per_group=6)
    return Plan(_MEETING, (small, large), _ENGINES[:2])


# As observed on gfx9: 4 or 8 cycles from the last arrival to the first release, releases 0 or 4 cycles apart.
_MEETING = replace(CDNA, slots=4, barrier_spread=1)
_SMALL = _alone("matmul_tiled", 3, {"K": (4, 6)}, cus=(0, 1, 2))
_VECTOR = _alone("vector_add", 24, {}, replace(CDNA, slots=8), offsets=_ENGINES, cus=(0, 1, 3, 4, 5))
_GFX11 = _alone("matmul_gfx11", 6, {"K": (10, 14)}, RDNA3, offsets=(0, 311), cus=(0, 1, 2), traced_simds=(0,))
_GFX12 = _alone("matmul_gfx12", 6, {"K": (8, 11)}, RDNA4, offsets=(0, 287), cus=(0, 1, 2), traced_simds=(0,))


def _tutorial(name: str) -> Callable[[], Plan]:
    """One wave a SIMD, and a scale for each block that is served by a cache."""
    return _alone(name, 4, {"n": (24,)}, CDNA, resident=2, offsets=_ENGINES)


_SPLIT = replace(RDNA4, slots=8, splits_barriers=True)


def _with_counters(simulated: Simulated, units: int = 1) -> SyntheticCapture:
    capture = simulated.capture
    tables = {se: samplers.counters(capture, se, units) for se in simulated.live}
    return replace(capture, counter_names=samplers.COUNTERS, counters=tables)


def _with_markers(simulated: Simulated) -> SyntheticCapture:
    capture = simulated.capture
    names = [[capture.kernels[0].codeobj, *marker] for marker in _MARKERS]
    data = {se: samplers.shader_data(waves, capture.waves[0].cu) for se, waves in simulated.live.items()}
    return replace(capture, shaderdata=data, code_extras={"sqtt_funcmap": names})


def _with_addresses(simulated: Simulated) -> SyntheticCapture:
    """Markers whose payload are the addresses of lanes."""
    capture = simulated.capture
    codeobj, place = capture.kernels[0].codeobj, SOURCES["columns"].place
    names = [
        [codeobj, id, "P", f"addr_trace_{kind}", place(str(line))] for id, (kind, _, line) in BLOCKS.items()
    ]
    payloads = [[codeobj, id, 2 + words * LANES] for id, (_, words, _) in BLOCKS.items()]
    data = {se: samplers.shader_data(waves, capture.waves[0].cu) for se, waves in simulated.live.items()}
    extras = {"sqtt_funcmap": names, "sqtt_funcmap_payloads": payloads}
    return replace(capture, shaderdata=data, code_extras=extras)


def _with_events(simulated: Simulated) -> SyntheticCapture:
    capture = simulated.capture
    kernels = [
        {"address": one.address, "codeobj": one.codeobj, "name": one.symbol, "demangled": one.demangled}
        for one in capture.kernels
    ]
    extras = {"kernels": kernels, "hsaco": ["out_gfx942_code_object_id_2.out"]}
    return replace(capture, events=samplers.events(capture), code_extras=extras)


def _with_sibling(simulated: Simulated) -> SyntheticCapture:
    """Memory instructions of the sibling of SIMD 0, the traced one."""
    tables = {se: samplers.sibling(waves, 1) for se, waves in simulated.live.items()}
    return replace(simulated.capture, other_simd=tables)


def _placeholder(simulated: Simulated) -> SyntheticCapture:
    """Occupancy of other compute units, but no wave on the traced unit."""
    full = simulated.capture
    elsewhere = full.truth.residencies[full.truth.residencies[:, 1] != full.waves[0].cu]
    none = np.zeros((0, 4), dtype=np.int64)
    return replace(full, waves=(), truth=replace(full.truth, waves={}, lines=none, residencies=elsewhere))


def _pc_sampling(simulated: Simulated) -> SyntheticCapture:
    """Samples instead of tokens."""
    return replace(simulated.capture, waves=(), pc_samples=samplers.pc_samples(simulated.capture))


# fmt: off
SAMPLES = {sample.name: sample for sample in (
    NamedSample("matmul_tiled", "Tiled matrix product on gfx9: loops, LDS, MFMA, four shader engines.",
        _matmul),
    NamedSample("matmul_small", "The same product, short, on two shader engines.", _SMALL),
    NamedSample("vector_add", "Hundreds of short waves, eight per SIMD.", _VECTOR),
    NamedSample("reduction", "A sum with ds_bpermute, a barrier and uneven loops.",
        _alone("reduce", 6, {"n": (12, 9, 15)}, replace(CDNA, slots=4), cus=(0, 1, 2, 4))),
    NamedSample("kernels", "Four kernels one after the other in one capture.", _kernels),
    NamedSample("gfx11", "Matrix product on gfx11: cycle resolution, overlapping tokens, vscnt.", _GFX11),
    NamedSample("gfx12", "Matrix product on gfx12: a counter per kind of memory.", _GFX12),
    NamedSample("rivals", "Causes of stalls that compete: queue, MFMA unit, results.",
        _alone("rivals", 4, {"n": (8, 10)})),
    NamedSample("untold", "The same with stalls that no file explains.",
        _alone("rivals", 4, {"n": (8, 10)}, replace(CDNA, untold=0.04, fetch_stalls=True))),
    NamedSample("straggler", "Barriers whose last wave was often not traced.",
        _alone("straggler", 4, {"n": (12,)}, traced_simds=(0, 1))),
    NamedSample("combined", "Waits on two counters, and scalar loads in any order.",
        _alone("combined", 6, {"n": (14, 17)}, replace(CDNA, jitter=0.6))),
    NamedSample("ceiling", "Matrix products that keep the MFMA unit busy.",
        _alone("ceiling", 4, {"n": (16,)})),
    NamedSample("crowded", "Memory, LDS and scalar queues that are full.",
        _alone("crowded", 6, {"n": (5, 6)}, replace(CDNA, slots=4))),
    NamedSample("groups_256", "Workgroups of four waves, two at a time.",
        _alone("tiles", 6, {"n": (8,)}, _MEETING, resident=2)),
    NamedSample("groups_512", "Workgroups of eight waves, two per SIMD.",
        _alone("tiles", 4, {"n": (8, 6)}, _MEETING, waves_per_group=8, resident=2)),
    NamedSample("groups_1024", "Workgroups of sixteen waves, four per SIMD.",
        _alone("tiles", 3, {"n": (6,)}, _MEETING, waves_per_group=16, resident=4)),
    NamedSample("ping_pong", "Halves of a workgroup that meet at different barriers.",
        _alone("ping_pong", 4, {"n": (8,)}, _MEETING, waves_per_group=8, resident=4)),
    NamedSample("several_groups", "Small workgroups in whatever slots are free.", _several_groups),
    NamedSample("mixed_populations", "Waves that leave their workgroup early.",
        _alone("leaving", 6, {"n": (8,)}, _MEETING, waves_per_group=8, resident=4)),
    NamedSample("split_barriers_gfx12", "Barriers in two instructions, a quarter of the waves traced.",
        _alone("split_tiles", 4, {"n": (10,)}, _SPLIT, waves_per_group=16, offsets=(0, 287),
        traced_simds=(0,))),
    NamedSample("tutorial_before", "The kernel of the tutorial before its optimization.",
        _tutorial("dequant_late"), lambda run: replace(run.capture, sources={"dequant": SOURCES["dequant"]})),
    NamedSample("tutorial_after", "The same with a load moved up: 12 % faster.",
        _tutorial("dequant_early"), lambda run: replace(run.capture, sources={"dequant": SOURCES["early"]})),
    NamedSample("counters", "Streamed counters of both banks.", _SMALL, _with_counters),
    NamedSample("spm", "Streamed performance monitors.", _SMALL,
        lambda run: replace(run.capture, spm=samplers.monitors(run.capture, samplers.DEVICE_MONITORS, 1024))),
    NamedSample("counters_units", "Streamed counters of three compute units per engine.", _SMALL,
        lambda run: _with_counters(run, units=3)),
    NamedSample("spm_gfx12", "Streamed performance monitors of gfx12.", _GFX12,
        lambda run: replace(run.capture, spm=samplers.monitors(run.capture, samplers.SHADER_MONITORS))),
    NamedSample("markers", "Markers written with s_ttracedata, and their names.", _GFX12, _with_markers),
    NamedSample("addresses", "Addresses of lanes: stores far apart, and bank conflicts.",
        _alone("copy_columns", 1, {"rows": (2,)}), _with_addresses),
    NamedSample("other_simd", "Memory instructions of the sibling SIMD.", _GFX11, _with_sibling),
    NamedSample("events", "Version 3.1: events, dispatches, workgroups, no wait lists.",
        _kernels, _with_events, SCRIPTED),
    NamedSample("scripted_gfx12", "Version 3.1 of gfx12.", _GFX12, _with_markers, SCRIPTED),
    NamedSample("packed", "The layout before version 3.", _VECTOR, layout=PACKED),
    NamedSample("placeholder", "Nothing ran on the traced compute unit.", _SMALL, _placeholder),
    NamedSample("pc_sampling", "PC samples with stall reasons, 13 columns.", _matmul, _pc_sampling),
    NamedSample("pc_sampling_string", "PC samples, 14 columns.", _matmul, _pc_sampling,
        replace(NATIVE, has_service_type=True)),
)}
# fmt: on
