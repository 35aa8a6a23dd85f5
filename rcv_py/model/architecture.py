"""What differs between GPUs, as one table: a row for each family of targets, a column for each fact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

_KB = 1024


@dataclass(frozen=True, slots=True)
class Architecture:
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
    sgprs: int = 800  # of a SIMD; 0: every wave has a fixed number of its own
    wave_size: int = 64  # lanes of the narrowest waves
    groups: int = 16  # resident workgroups of more than one wave
    simds: int = 4  # that share the LDS
    simds_per_cu: int = 4
    unit_name: str = "CU"  # of the unit that is traced
    code_cache: int = 0  # bytes of the instruction cache that compute units share; 0 if unknown
    has_lds_dma: bool = False  # loads can go to LDS directly
    has_preload: bool = False  # kernel arguments can be preloaded into registers
    has_store_counter: bool = False  # waits tell stores from loads
    waitcnt: str = "gfx9"  # whose rules of wait counters it follows
    is_guess: bool = False  # the limits of the device are those of a similar target
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

    def of_waves(self, *, is_wave32: bool) -> Architecture:
        """The same facts for waves of 32 or 64 lanes.

        On RDNA a wave of 64 lanes takes twice the registers of the file, expressed as half a file with half
        the granule.
        """
        if is_wave32 or self.wave_size == 64:
            return self
        return replace(self, wave_size=64, vgprs=self.vgprs // 2, granule=self.granule // 2)


# Instruction caches: AMD CDNA 2 and 3 white papers, RDNA white paper.
_GCN5 = Architecture("GCN5", waves=10, vgprs=256, granule=4, known_slots=10, is_unified=False,
    code_cache=32 * _KB)  # fmt: skip
_CDNA1 = replace(_GCN5, name="CDNA1", has_lds_dma=True)
_CDNA2 = replace(_CDNA1, name="CDNA2", waves=8, known_slots=8, vgprs=512, granule=8, is_unified=True,
    has_preload=True)  # fmt: skip
_CDNA3 = replace(_CDNA2, name="CDNA3", code_cache=64 * _KB)
_CDNA4 = replace(_CDNA3, name="CDNA4", lds=160 * _KB, lds_granule=1280, lds_banks=64)
_GFX9 = Architecture("CDNA3", waves=8, vgprs=512, granule=8, is_guess=True, code_cache=32 * _KB)
_GFX10 = Architecture("RDNA2", waves=16, vgprs=1024, granule=8, lds=128 * _KB, sgprs=0, wave_size=32,
    groups=32, simds_per_cu=2, unit_name="WGP", code_cache=32 * _KB, has_store_counter=True, waitcnt="gfx10",
    layout="navi", base_clock=1, issue_overlap=0, busy_is_issue=False, has_trace_counters=False,
    traces_all_simds=False, counter_set="gfx10", is_checked=False)  # fmt: skip
_GFX11 = replace(_GFX10, name="RDNA3", known_slots=16, granule=16, lds_granule=1024, waitcnt="gfx11",
    counter_set="gfx11", is_checked=True)  # fmt: skip
_GFX12 = replace(_GFX11, name="RDNA4", known_slots=0, vgprs=1536, granule=24, waitcnt="gfx12",
    counter_set="gfx12")  # fmt: skip
_GFX125 = replace(_GFX12, vgprs=1024, granule=16, is_guess=True, has_preload=True)
_LARGE_GFX11 = replace(_GFX11, vgprs=1536, granule=24)
_OLDER = replace(_GFX9, code_cache=0, counter_set="")

# By the beginning of the target's name; the longest match counts.
_ROWS = {
    "gfx9": _GFX9,
    "gfx900": _GCN5,
    "gfx902": replace(_GFX9, known_slots=10),
    "gfx904": replace(_GFX9, known_slots=10),
    "gfx906": _GCN5,
    "gfx908": _CDNA1,
    "gfx90a": _CDNA2,
    "gfx94": _CDNA3,
    "gfx950": _CDNA4,
    "gfx10": _GFX10,
    "gfx101": replace(_GFX10, waves=20, known_slots=20),
    "gfx103": replace(_GFX10, granule=16, known_slots=16),
    "gfx11": _GFX11,
    "gfx1100": _LARGE_GFX11,
    "gfx1101": _LARGE_GFX11,
    "gfx1151": _LARGE_GFX11,
    "gfx12": _GFX12,
    "gfx120": replace(_GFX12, known_slots=16),
    "gfx125": _GFX125,
    "gfx1250": replace(_GFX125, waitcnt="gfx1250", is_checked=False),
}


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
