"""How many waves a SIMD can hold, what keeps it from holding more, and what the next step takes.

```
vector registers   96 of 512   5 waves   the least: what binds
scalar registers   48 of 800   8 waves
LDS                 0 bytes    8 waves
workgroup           4 waves    5 waves   whole workgroups only
```
A limit is the file divided by what a wave takes, rounded up to what is given at a time.  It is what a SIMD
could hold, not what it held: that is measured beside it.  Every number says where it is from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.program.register_use import RegisterUse, register_use, scalar_allocation
from rcv_py.analysis.waves.workgroups import Told, Workgroups
from rcv_py.base.text import count, plural
from rcv_py.model.resources import KernelResources, RunFacts
from rcv_py.model.trace import INFERRED, Trace

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


GUESS = "guess from the instructions"
TRACE = "the capture"
BARRIERS = "barriers of the traced waves"
UNBOUND = 1 << 30


@dataclass(frozen=True, slots=True)
class Limit:
    """The waves that one resource allows."""

    name: str
    used: int  # what a wave takes (LDS: a workgroup), before rounding
    given: int  # rounded up to what is given at a time
    of: int  # what there is
    unit: str
    waves: int  # of a SIMD that fit
    source: str  # where `used` is from
    most: int  # what may be used at most for one wave more than the binding limit; -1: nothing helps

    @property
    def excess(self) -> int:
        """By how much `used` must shrink for one wave more than now fits, 0 if it need not."""
        return max(0, self.used - self.most) if self.most >= 0 else 0


@dataclass(frozen=True, slots=True)
class Resident:
    """Waves that were there at a time on a SIMD, by the lives of the traced waves."""

    peak: int
    mean: float  # over the time in which there was any
    simds: int


@dataclass(frozen=True, slots=True)
class OccupancyLimits:
    """The limits of a kernel, and what was measured."""

    device: DeviceLimits
    limits: tuple[Limit, ...]  # in the order of the drawing, without what is not known
    waves: int  # of a SIMD that fit: the least of all
    cap: int  # of a SIMD that the device has room for
    resident: Resident
    notes: tuple[str, ...]  # what is doubtful or missing, as sentences

    goal: int  # waves of the next step; with large workgroups that is more than one further

    @property
    def binding(self) -> Limit | None:
        """The resource that binds, the first of those with the fewest waves; None if none does."""
        return next((one for one in self.limits if one.waves == self.waves < self.cap), None)

    @property
    def next_step(self) -> str:
        """What the next step takes, as a sentence; "" if nothing is known to bind."""
        if self.binding is None:
            return ""
        if self.goal > self.cap:
            return f"A SIMD has room for {plural(self.cap, 'wave')}, which one more workgroup would exceed."
        parts = [
            f"{count(one.excess)} {one.unit} fewer (at most {count(one.most)})"
            for one in self.limits
            if one.excess
        ]
        return f"{_listed(parts)} would make room for {plural(self.goal, 'wave')} a SIMD." if parts else ""


@dataclass(frozen=True, slots=True)
class _Need:
    """What a wave (or, of LDS, a workgroup) takes of one resource."""

    name: str
    used: int
    granule: int
    of: int
    unit: str
    source: str
    is_shared: bool = False  # by the waves of a workgroup

    @property
    def given(self) -> int:
        return -(-self.used // self.granule) * self.granule

    def shares(self) -> int:
        """Waves of a SIMD, or workgroups of those that share the LDS; one is there, so at least one fits."""
        return max(1, self.of // self.given) if self.used else UNBOUND

    def most(self, shares: int) -> int:
        """What may be used at most if so many are to fit."""
        return self.of // shares // self.granule * self.granule


def is_size_known(trace: Trace, facts: RunFacts | None) -> bool:
    """Whether a table or the capture tells how many threads a workgroup has."""
    kernel = (facts.kernel if facts is not None else None) or _of_dispatch(trace)
    return kernel is not None and kernel.threads > 0


def waves_on_simd(trace: Trace, found: Workgroups) -> int:
    """Return how many waves a workgroup puts on a SIMD, by the traced ones; 0 if they do not tell.

    The most frequent number counts: of a unit of which not all SIMDs are traced the others are alike.  Groups
    that are only guessed by the starts of their waves tell nothing.
    """
    rows = np.flatnonzero(found.number >= 0)
    rows = rows[found.told[found.number[rows]] != Told.STARTS]
    if not len(rows):
        return 0
    group, simd = found.number[rows].astype(np.int64), trace.waves.simd[rows].astype(np.int64)
    place, times = np.unique(group << 8 | simd, return_counts=True)
    most = np.zeros(len(found), dtype=np.int64)
    np.maximum.at(most, place >> 8, times)
    return int(np.bincount(most[most > 0]).argmax())


def occupancy_limits(trace: Trace, facts: RunFacts | None = None, on_simd: int = 0) -> OccupancyLimits:
    """Return the limits of the kernel with most traced cycles.

    `facts` are of the tables of the run; without them LDS is not known, and a workgroup takes `on_simd` waves
    of each SIMD (0: not known, steps are then single waves).
    """
    facts = facts or RunFacts()
    use = _use(trace)
    device = device_limits(trace.target, trace.gfxip, use.is_wave32)
    kernel = facts.kernel or _of_dispatch(trace)
    notes = list(facts.notes)
    if device.is_guess:
        notes.append(f"The limits of {trace.target} are not known; those of {device.name} are taken.")
    if trace.target_from == INFERRED:
        notes.append(
            f"{trace.target} is inferred from the instructions: no file of the run names the device."
        )
    agent = facts.agent
    cap = agent.waves_per_simd if agent is not None and agent.waves_per_simd else device.waves
    group = -(-kernel.threads // device.wave_size) if kernel is not None else 0
    told = kernel.file if kernel is not None and group else BARRIERS
    # One wave a SIMD may be of a workgroup of one to four waves: that binds nothing.
    group = group or (on_simd * device.simds if on_simd > 1 else 0)
    needs = [_vector(use, kernel, device, notes)]
    if device.sgprs:
        needs.append(_scalar(use, kernel, device))
    if kernel is not None and kernel.lds >= 0 and kernel.threads:
        source = kernel.file
        needs.append(_Need("LDS", kernel.lds, device.lds_granule, device.lds, "bytes of LDS", source, True))
    elif group:
        notes.append("No table of the run has the LDS of a workgroup, which may bind earlier.")
    else:
        notes.append("No table of the run has LDS and workgroup size, which may bind earlier.")
    needs = [need for need in needs if need.used >= 0]
    return _limits(device, needs, (group, cap, told), _resident(trace), notes)


def _limits(
    device: DeviceLimits,
    needs: list[_Need],
    sizes: tuple[int, int, str],
    resident: Resident,
    notes: list[str],
) -> OccupancyLimits:
    """Put the limits together.

    `sizes` are the waves of a workgroup (0: unknown), most of a SIMD, and what tells the first.
    """
    group, cap, told = sizes
    simds, size = device.simds, group or 1

    def per_simd(need: _Need) -> int:
        waves = need.shares() * size // simds if need.is_shared else need.shares()
        return max(1, min(cap, waves))

    # Workgroups are there as a whole or not at all, on the SIMDs that share the LDS.
    groups = min(
        [
            cap * simds // size,
            *(need.shares() if need.is_shared else need.shares() * simds // size for need in needs),
            device.groups if group > 1 else UNBOUND,
        ]
    )
    waves = max(1, max(1, groups) * size // simds)
    wanted = -(-(waves + 1) * simds // size)  # workgroups for a wave more on every SIMD
    each, goal = -(-wanted * size // simds), wanted * size // simds
    if wanted * size > cap * simds:
        goal = cap + 1
    limits = [
        Limit(
            need.name,
            need.used,
            need.given,
            need.of,
            need.unit,
            per_simd(need),
            need.source,
            -1 if goal > cap else need.most(wanted if need.is_shared else each),
        )
        for need in needs
    ]
    if group > 1:
        limits.append(Limit("workgroup", group, group, cap * simds, "waves", waves, told, -1))
    if resident.peak > waves:
        notes.append(
            f"Up to {plural(resident.peak, 'wave')} were on a SIMD, more than these limits allow: "
            "one of the numbers is not that of this launch."
        )
    return OccupancyLimits(device, tuple(limits), waves, cap, resident, tuple(notes), goal)


def _use(trace: Trace) -> RegisterUse:
    """The registers of the kernel with most traced cycles, of everything if there are no kernels."""
    code = trace.code
    if not code.kernels:
        return register_use(code)
    cost = [int(code.latency[kernel.first : kernel.stop].sum()) for kernel in code.kernels]
    kernel = code.kernels[int(np.argmax(cost))]
    return register_use(code, kernel.first, kernel.stop)


def _of_dispatch(trace: Trace) -> KernelResources | None:
    """What the capture itself tells about a launch of this kernel, if it does."""
    known = [one for one in trace.dispatches if one.vgprs or one.lds_size]
    mine = [one for one in known if one.name and one.name in trace.kernel_name] or known
    if not mine:
        return None
    launch, none = mine[0], (0, 0, 0)
    vgprs, sgprs = launch.vgprs or -1, launch.sgprs or -1
    size = launch.workgroup_size
    return KernelResources(launch.name, -1, vgprs, 0, sgprs, launch.lds_size, -1, size, none, TRACE)


def _vector(
    use: RegisterUse, kernel: KernelResources | None, device: DeviceLimits, notes: list[str]
) -> _Need:
    """Vector registers: what the table says, but never fewer than the program names.

    A unified file holds accumulation registers too; tables tell them apart, unless the program names none.
    """
    told = max(0, kernel.vgprs) if kernel is not None else 0
    accum = max(0, kernel.accum_vgprs) if kernel is not None else 0
    source = kernel.file if kernel is not None and told else GUESS
    if not device.is_unified:
        used = max(use.vector, use.accumulation, told, accum)
    elif use.accumulation:
        used = max(use.vector, told) + max(use.accumulation, accum)
    else:
        used = max(use.vector, told + accum)
    named = max(use.vector, use.accumulation) if not device.is_unified else use.vector + use.accumulation
    if told and used == named and named > told + accum:
        notes.append(
            f"{source} lists {count(told + accum)} vector registers, but the program names {count(named)}, "
            "which are taken."
        )
        source = GUESS
    return _Need("vector registers", used or -1, device.granule, device.vgprs, "vector registers", source)


def _scalar(use: RegisterUse, kernel: KernelResources | None, device: DeviceLimits) -> _Need:
    is_told = kernel is not None and kernel.sgprs > 0
    used = kernel.sgprs if kernel is not None and is_told else scalar_allocation(use)
    source = kernel.file if kernel is not None and is_told else GUESS
    return _Need("scalar registers", used, device.sgpr_granule, device.sgprs, "scalar registers", source)


def _resident(trace: Trace) -> Resident:
    """Peak and mean of the traced waves of a SIMD, by their lives."""
    waves = trace.waves
    if not len(waves):
        return Resident(0, 0.0, 0)
    place = np.unique(waves.se.astype(np.int64) << 16 | waves.simd, return_inverse=True)[1].reshape(-1)
    begin, end = waves.begin, np.maximum(waves.begin, waves.end)
    shift = place * (int(end.max() - begin.min()) + 1) - begin.min()
    time = np.concatenate([begin + shift, end + shift])
    step = np.concatenate([np.ones(len(waves), np.int64), np.full(len(waves), -1)])
    # Ends go first: a wave that takes the place of another one at once is not beside it.
    order = np.lexsort((step, time))
    now = np.cumsum(step[order])
    length = np.diff(time[order], append=time.max())
    there = int(length[now > 0].sum())
    area = int((end - begin).sum())
    return Resident(int(now.max()), area / there if there else 0.0, int(place.max()) + 1)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
