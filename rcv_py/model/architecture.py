"""What differs between GPUs, as one table: a row for each family of targets, a column for each fact."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from msgspec import field
from msgspec.structs import replace

from rcv_py.base.record import Value

_KB = 1024


class Architecture(Value):
    """The facts about a GPU.  Those of a SIMD hold for waves of `wave_size` lanes.

    `simds` share the LDS of a unit: a compute unit, from gfx10 on a work-group processor.
    """

    # The device.
    name: str  # "CDNA3"
    waves: int  # of a SIMD, at most
    vgprs: int  # registers of a SIMD, a lane
    granule: int  # registers are allocated in multiples of this
    is_unified: bool = True  # accumulation registers come out of the same file
    known_slots: int = 0  # waves that a SIMD surely holds; 0 if unknown
    lds: int = 64 * _KB  # bytes
    lds_granule: int = 512  # bytes
    lds_banks: int = 32
    lds_order: str = ""  # which lanes LDS serves together, by `analysis/latency/lds_groups`; "" if not known
    cache_line: int = 0  # bytes of a line of the vector cache next to the compute unit; 0 if unknown
    sgprs: int = 800  # of a SIMD; 0: every wave has a fixed number of its own
    wave_size: int = 64  # lanes of the narrowest waves
    groups: int = 16  # resident workgroups of more than one wave
    simds: int = 4  # that share the LDS
    simds_per_cu: int = 4
    unit_name: str = "CU"  # of the unit that is traced
    code_cache: int = 0  # bytes of the instruction cache that compute units share; 0 if unknown
    code_line: int = 64  # bytes of a line of the instruction cache
    # Operations per compute unit and cycle by operand type; types without a known peak are missing.
    matrix_peaks: Mapping[str, int] = field(default_factory=dict)
    vector_peaks: Mapping[str, int] = field(default_factory=dict)  # with all lanes active
    has_lds_dma: bool = False  # loads can go to LDS directly
    has_preload: bool = False  # kernel arguments can be preloaded into registers
    has_store_counter: bool = False  # waits tell stores from loads
    waitcnt: str = "gfx9"  # whose rules of wait counters it follows
    is_guess: bool = False  # limits and peaks of the device are those of a similar target, or of a model
    # Its traces.
    layout: Literal["vega", "navi"] = "vega"  # what writers call it: it decides the unit of an instruction
    base_clock: int = 4  # cycles, the smallest step of time
    issue_overlap: int = 4  # cycles by which instructions that issue back to back seem to overlap
    busy_is_issue: bool = True  # the busy part of a token is its issue; else its execution
    has_trace_counters: bool = True  # a thread trace can stream SQ counters
    traces_all_simds: bool = True  # of a unit; else one of them
    counter_set: str = "gfx9"  # built-in derived counters; "" without any
    is_checked: bool = True  # raw streams of a real GPU have been read
    # Asked for.
    gfxip: int = 9
    target: str = ""

    def __hash__(self) -> int:
        return hash(self.name)  # the peaks are mappings

    def of_waves(self, *, is_wave32: bool) -> Architecture:
        """The same facts for waves of 32 or 64 lanes.

        On RDNA a wave of 64 lanes takes twice the registers of the file, expressed as half a file with half
        the granule.
        """
        if is_wave32 or self.wave_size == 64:
            return self
        return replace(self, wave_size=64, vgprs=self.vgprs // 2, granule=self.granule // 2)


# fmt: off
# Sources: of instruction caches the AMD CDNA 2 and 3 and the RDNA white papers; of peaks AMD's data sheets,
# the rate divided by compute units and peak engine clock, such as
#     gfx942   1,307.4 TFLOP/s of f16 / (304 CU x 2.1 GHz) = 2,048 per CU and cycle
# Matrix peaks are dense, vector peaks include packed instructions and both halves of dual ones, and a
# multiply-add counts as two operations.  gfx1103 and gfx115x have the rates of RDNA3: Radeon 8060S
# 59.4 TFLOP/s of f16 / (40 CU x 2.9 GHz) = 512.  Those of gfx1250 are a guess, from the cycles of its matrix
# instructions in LLVM's scheduling model.
# Of cache lines the CDNA 3 (128 bytes, twice those of CDNA 2) and RDNA white papers.
_GCN5 = Architecture("GCN5", waves=10, vgprs=256, granule=4, known_slots=10, is_unified=False,
    lds_order="gcn", cache_line=64,
    code_cache=32 * _KB, vector_peaks={"f64": 64, "f32": 128, "f16": 256, "bf16": 256})
_CDNA1 = replace(_GCN5, name="CDNA1", has_lds_dma=True,
    matrix_peaks={"f32": 256, "f16": 1024, "bf16": 512, "i8": 1024})
_CDNA2 = replace(_CDNA1, name="CDNA2", waves=8, known_slots=8, vgprs=512, granule=8, is_unified=True,
    lds_order="cdna", has_preload=True, vector_peaks={"f64": 128, "f32": 256, "f16": 256, "bf16": 256},
    matrix_peaks={"f64": 256, "f32": 256, "f16": 1024, "bf16": 1024, "i8": 1024})
_CDNA3 = replace(_CDNA2, name="CDNA3", cache_line=128, code_cache=64 * _KB, matrix_peaks={
    "f64": 256, "f32": 256, "xf32": 1024, "f16": 2048, "bf16": 2048, "i8": 4096, "f8": 4096})
_CDNA4 = replace(_CDNA3, name="CDNA4", lds=160 * _KB, lds_granule=1280, lds_banks=64, lds_order="cdna4",
    matrix_peaks={
    "f64": 128, "f32": 256, "f16": 4096, "bf16": 4096, "i8": 8192, "f8": 8192, "f6f4": 16384})
_GFX9 = Architecture("CDNA3", waves=8, vgprs=512, granule=8, is_guess=True, code_cache=32 * _KB,
    lds_order="cdna", cache_line=128)
_GFX10 = Architecture("RDNA2", waves=16, vgprs=1024, granule=8, lds=128 * _KB, sgprs=0, wave_size=32,
    lds_order="rdna2", cache_line=128, groups=32, simds_per_cu=2, unit_name="WGP", code_cache=32 * _KB,
    has_store_counter=True, waitcnt="gfx10", layout="navi", base_clock=1, issue_overlap=0,
    busy_is_issue=False, has_trace_counters=False,
    traces_all_simds=False, counter_set="gfx10", is_checked=False)
_GFX101 = replace(_GFX10, waves=20, known_slots=20)
_GFX103 = replace(_GFX10, granule=16, known_slots=16, lds_granule=1024)
_GFX11 = replace(_GFX10, name="RDNA3", known_slots=16, granule=16, lds_granule=1024, waitcnt="gfx11",
    lds_order="rdna3", counter_set="gfx11", is_checked=True)
_RDNA3 = replace(_GFX11, vector_peaks={"f64": 8, "f32": 256, "f16": 512, "bf16": 512},
    matrix_peaks={"f16": 512, "bf16": 512, "i8": 512, "i4": 1024})
_LARGE_RDNA3 = replace(_RDNA3, vgprs=1536, granule=24)
_GFX12 = replace(_GFX11, name="RDNA4", known_slots=0, vgprs=1536, granule=24, waitcnt="gfx12",
    lds_order="rdna4", counter_set="gfx12")
_RDNA4 = replace(_GFX12, known_slots=16, vector_peaks={"f64": 4, "f32": 256, "f16": 512, "bf16": 512},
    matrix_peaks={"f16": 1024, "bf16": 1024, "f8": 2048, "i8": 2048, "i4": 4096})
_GFX125 = replace(_GFX12, vgprs=1024, granule=16, lds=320 * _KB, code_line=128, is_guess=True,
    has_preload=True, lds_order="", cache_line=0,
    matrix_peaks={"f16": 4096, "bf16": 4096, "f8": 16384, "f6f4": 32768, "i8": 4096})
_OLDER = replace(_GFX9, lds_order="", cache_line=0, code_cache=0, counter_set="")
_ROWS = {  # by the beginning of the target's name; the longest match counts
    "gfx9": _GFX9,
    "gfx900": _GCN5,
    "gfx902": replace(_GFX9, lds_order="gcn", cache_line=64, known_slots=10),
    "gfx904": replace(_GFX9, lds_order="gcn", cache_line=64, known_slots=10),
    "gfx906": _GCN5,
    "gfx908": _CDNA1,
    "gfx90a": _CDNA2,
    "gfx94": _CDNA3,
    "gfx9-4": replace(_CDNA3, is_guess=True),
    "gfx950": _CDNA4,
    "gfx10": _GFX10,
    "gfx101": _GFX101,
    "gfx10-1": _GFX101,
    "gfx10-3": _GFX103,
    "gfx103": _GFX103,
    "gfx1030": replace(_GFX103, vector_peaks={"f64": 8, "f32": 128, "f16": 256, "bf16": 256}),
    "gfx11": _GFX11,
    "gfx11-": replace(_RDNA3, is_guess=True),
    "gfx1100": _LARGE_RDNA3,
    "gfx1101": _LARGE_RDNA3,
    "gfx1102": _RDNA3,
    "gfx1103": _RDNA3,
    "gfx115": _RDNA3,
    "gfx1151": _LARGE_RDNA3,
    "gfx12": _GFX12,
    "gfx12-": replace(_RDNA4, is_guess=True),
    "gfx1200": _RDNA4,
    "gfx1201": _RDNA4,
    "gfx12-5": _GFX125,
    "gfx125": _GFX125,
    "gfx1250": replace(_GFX125, waitcnt="gfx1250", is_checked=False),
}
# fmt: on


class GpuProduct(Value):
    """A product: its memory serves all compute units together, at a rate that no shader clock changes."""

    name: str  # as a part of the product's full name
    target: str
    bandwidth: float  # bytes a second, at most
    cus: int  # compute units, of all dies
    clock: float  # peak of the shader engines, in Hz


# Sources: AMD's data sheets and product pages: memory bandwidth, compute units, peak engine clock (boost
# frequency).
DEVICES = (
    GpuProduct("MI50", "gfx906", 1_024e9, 60, 1.725e9),
    GpuProduct("MI60", "gfx906", 1_024e9, 64, 1.8e9),
    GpuProduct("MI100", "gfx908", 1_228.8e9, 120, 1.502e9),
    GpuProduct("MI210", "gfx90a", 1_638.4e9, 104, 1.7e9),
    GpuProduct("MI250", "gfx90a", 3_276.8e9, 208, 1.7e9),
    GpuProduct("MI250X", "gfx90a", 3_276.8e9, 220, 1.7e9),
    GpuProduct("MI300A", "gfx942", 5_300e9, 228, 2.1e9),
    GpuProduct("MI300X", "gfx942", 5_300e9, 304, 2.1e9),
    GpuProduct("MI325X", "gfx942", 6_000e9, 304, 2.1e9),
    GpuProduct("MI350X", "gfx950", 8_000e9, 256, 2.2e9),
    GpuProduct("MI355X", "gfx950", 8_000e9, 256, 2.4e9),
    GpuProduct("RX 6800", "gfx1030", 512e9, 60, 2.105e9),
    GpuProduct("RX 6800 XT", "gfx1030", 512e9, 72, 2.25e9),
    GpuProduct("RX 6900 XT", "gfx1030", 512e9, 80, 2.25e9),
    GpuProduct("RX 7900 GRE", "gfx1100", 576e9, 80, 2.245e9),
    GpuProduct("RX 7900 XT", "gfx1100", 800e9, 84, 2.4e9),
    GpuProduct("RX 7900 XTX", "gfx1100", 960e9, 96, 2.499e9),
    GpuProduct("8050S", "gfx1151", 256e9, 32, 2.8e9),
    GpuProduct("8060S", "gfx1151", 256e9, 40, 2.9e9),
    GpuProduct("RX 9060", "gfx1200", 288e9, 28, 2.99e9),
    GpuProduct("RX 9060 XT", "gfx1200", 320e9, 32, 3.13e9),
    GpuProduct("RX 9070", "gfx1201", 640e9, 56, 2.52e9),
    GpuProduct("RX 9070 XT", "gfx1201", 640e9, 64, 2.97e9),
)


def devices_of(target: str, product: str = "", cus: int = 0) -> tuple[GpuProduct, ...]:
    """Return the devices that a capture of a target may be of; none if it is of a device without a row.

    `product` is the name and `cus` the number of compute units that a table of the run gives, "" and 0
    without.  A name that lists several products, or none of them, leaves the number to decide: a device may
    be split into equal parts.
    """
    found = tuple(one for one in DEVICES if one.target == target)
    if "/" not in product:
        named = [one for one in found if one.name in product]
        if named:
            return (max(named, key=lambda one: len(one.name)),)
    return tuple(one for one in found if one.cus % cus == 0) if cus > 0 else () if product else found


@lru_cache(maxsize=64)
def architecture_of(gfxip: int, target: str = "") -> Architecture:
    """Return the facts about a target such as `gfx942`, or about its generation if it is not in the table.

    `gfxip` is the major version of the graphics IP; a target of another version is ignored, and later
    versions count as the newest known one.
    """
    generation = f"gfx{gfxip}"
    if 9 <= gfxip <= 12:
        known = target if target.startswith(generation) else generation
        row = _ROWS[max((start for start in _ROWS if known.startswith(start)), key=len)]
    else:
        row = _OLDER if gfxip < 9 else _GFX12
    return replace(row, gfxip=gfxip, target=target, is_guess=row.is_guess or target == generation)
