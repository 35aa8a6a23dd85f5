"""What a compute unit of each target has for waves: a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

_KB = 1024


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What bounds the waves of one SIMD.  LDS is that of the unit whose SIMDs share it."""

    name: str
    waves: int  # of a SIMD, at most
    vgprs: int  # registers of a SIMD, a lane; of waves of 64 lanes where `wave_size` is 64
    granule: int  # registers are given in multiples of this
    is_unified: bool  # accumulation registers come out of the same file
    sgprs: int  # of a SIMD; 0: every wave has the same number of its own
    sgpr_granule: int
    lds: int  # bytes
    lds_granule: int  # bytes
    simds: int  # that share the LDS
    wave_size: int
    groups: int  # workgroups at a time, of more than one wave
    is_guess: bool = False  # the target is not in the table


_CDNA3 = DeviceLimits("CDNA3", 8, 512, 8, True, 800, 16, 64 * _KB, 512, 4, 64, 16)
_OF_TARGET = {
    "gfx908": DeviceLimits("CDNA1", 10, 256, 4, False, 800, 16, 64 * _KB, 512, 4, 64, 16),
    "gfx90a": DeviceLimits("CDNA2", 8, 512, 8, True, 800, 16, 64 * _KB, 512, 4, 64, 16),
    **dict.fromkeys(("gfx940", "gfx941", "gfx942"), _CDNA3),
    "gfx950": DeviceLimits("CDNA4", 8, 512, 8, True, 800, 16, 160 * _KB, 1280, 4, 64, 16),
    **dict.fromkeys(
        ("gfx900", "gfx906"), DeviceLimits("GCN5", 10, 256, 4, False, 800, 16, 64 * _KB, 512, 4, 64, 16)
    ),
}
_LARGE = ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201")  # 1,536 registers a lane, others 1,024


def device_limits(target: str, gfxip: int, is_wave32: bool = True) -> DeviceLimits:
    """Return the limits of a target such as `gfx942`; of one of its generation if it is not in the table.

    RDNA has waves of 32 and of 64 lanes: a wave of 64 takes twice the registers of the file, which is told as
    half a file with half the granule.  Its LDS is that of a work-group processor.
    """
    if gfxip < 10:
        known = _OF_TARGET.get(target)
        return known or replace(_CDNA3, is_guess=True)
    is_large = target in _LARGE or (gfxip >= 12 and not target.startswith("gfx125"))
    vgprs, granule = (1536, 24) if is_large else (1024, 16 if gfxip >= 10 and target >= "gfx103" else 8)
    share = 1 if is_wave32 else 2
    return DeviceLimits(
        "RDNA" + {10: "2", 11: "3"}.get(gfxip, "4"),
        20 if target.startswith("gfx101") else 16,
        vgprs // share,
        granule // share,
        True,
        0,
        16,
        128 * _KB,
        512 if gfxip == 10 else 1024,
        4,
        32 if is_wave32 else 64,
        32,
        target == f"gfx{gfxip}" or target.startswith("gfx125"),
    )
