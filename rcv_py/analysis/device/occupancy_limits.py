"""Occupancy limits: how many waves a SIMD can hold, the limiter, and what the next step takes.

```
vector registers   96 of 512   5 waves   the least: the limiter
scalar registers   48 of 800   8 waves
LDS                 0 bytes    8 waves
workgroup           4 waves    5 waves   whole workgroups only
```
A limit is the size of the file divided by the use of a wave, rounded up to the allocation granule.  It is
what a SIMD could hold; what it held is measured separately.  Every number states its source.
"""

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.program.registers import RegisterUse, register_use
from rcv_py.analysis.waves.workgroups import KnownBy, Workgroups
from rcv_py.base.record import Value
from rcv_py.base.runs import distinct, run_starts
from rcv_py.base.text import Message, count, join_texts, plural
from rcv_py.model.architecture import Architecture
from rcv_py.model.resources import AllocatedRegisters, KernelResources, RunFacts
from rcv_py.model.trace import INFERRED, Trace

_SPECIAL_SGPRS = 6  # gfx9: VCC, flat scratch and the XNACK mask follow the named registers
_SGPR_GRANULE = 16  # scalar registers are allocated in multiples of this
GUESS = "guess from the instructions"
TRACE = "the capture"
BARRIERS = "barriers of the traced waves"
UNBOUND = 1 << 30
_VECTOR, _SCALAR = "vector registers", "scalar registers"


class OccupancyLimit(Value):
    """The waves that one resource allows."""

    name: str
    used: int  # use of a wave (LDS: a workgroup), before rounding
    available: int
    unit: str
    source: str  # source of `used`
    granule: int = 1  # allocation granule
    is_shared: bool = False  # by the waves of a workgroup
    waves: int = 0  # of a SIMD that fit
    max_used: int = -1  # largest use that allows one wave more than the limiter; -1: nothing helps
    needed: int = -1  # use that remains where the compiler only allocates more because LDS binds; -1: `used`

    @property
    def allocated(self) -> int:
        """The use, rounded up to the allocation granule."""
        return -(-self.used // self.granule) * self.granule

    @property
    def excess(self) -> int:
        """By how much the use must shrink for one more wave to fit, 0 if it need not."""
        used = self.used if self.needed < 0 else self.needed
        return max(0, used - self.max_used) if self.max_used >= 0 else 0

    @property
    def shares(self) -> int:
        """Waves of a SIMD, or workgroups of the SIMDs that share the LDS; at least 1, as one was resident."""
        return max(1, self.available // self.allocated) if self.used else UNBOUND


class Resident(Value):
    """Resident waves of a SIMD, by the lives of the traced waves."""

    peak: int
    mean: float  # over the time in which there was any
    simds: int


class OccupancyLimits(Value):
    """The limits of a kernel, and the measured occupancy."""

    device: Architecture
    limits: tuple[OccupancyLimit, ...]  # in the order of the drawing, without unknown limits
    waves: int  # of a SIMD that fit: the least of all limits
    cap: int  # wave slots of a SIMD
    resident: Resident
    notes: tuple[str, ...]  # what is doubtful or missing, as sentences

    goal: int  # waves of the next step; with large workgroups more than one wave further
    group: int = 0  # waves of a workgroup, 0 if unknown

    @property
    def binding(self) -> OccupancyLimit | None:
        """The limiter: the first limit with the fewest waves that is no effect of another; None without."""
        least = [one for one in self.limits if one.waves == self.waves < self.cap]
        return next((one for one in least if one.needed < 0), None)

    @property
    def next_step(self) -> str:
        """What the next step takes, as a sentence; "" if no limiter is known."""
        if self.binding is None:
            return ""
        if self.goal > self.cap:
            template = "A SIMD has room for {0}, which one more workgroup would exceed."
            return Message(template, plural(self.cap, "wave"))
        parts = [
            Message("{0} {1} fewer (at most {2})", count(one.excess), one.unit, count(one.max_used))
            for one in self.limits
            if one.excess
        ]
        fewer = join_texts(" and ", filter(None, (", ".join(parts[:-1]), *parts[-1:])))
        text = Message("{0} would make room for {1} per SIMD.", fewer, plural(self.goal, "wave"))
        return text if parts else ""


def is_size_known(trace: Trace, facts: RunFacts | None) -> bool:
    """Whether a table, the capture or the code object states the number of threads of a workgroup."""
    return _threads(facts or RunFacts(), trace)[0] > 0


def waves_on_simd(trace: Trace, groups: Workgroups) -> int:
    """Return the number of waves of a workgroup on a SIMD, from the traced waves; 0 if unknown.

    The most frequent number counts; untraced SIMDs of a unit are assumed alike.  Workgroups that are only
    guessed from the starts of their waves do not count.
    """
    rows = np.flatnonzero(groups.number >= 0)
    rows = rows[groups.known_by[groups.number[rows]] != KnownBy.STARTS]
    if not len(rows):
        return 0
    group, simd = groups.number[rows].astype(np.int64), trace.waves.simd[rows].astype(np.int64)
    place, times = np.unique(group << 8 | simd, return_counts=True)
    first = run_starts(place >> 8)
    return int(np.bincount(np.maximum.reduceat(times, first)).argmax())


def occupancy_limits(trace: Trace, facts: RunFacts | None = None, on_simd: int = 0) -> OccupancyLimits:
    """Return the limits of the kernel with most traced cycles.

    `facts` come from the tables of the run; without them LDS is unknown, and a workgroup takes `on_simd`
    waves of each SIMD (0: unknown, steps are then single waves).
    """
    facts = facts or RunFacts()
    use, known = _use(trace), facts.allocated
    is_wave32 = known.lanes == 32 if known is not None and known.lanes else use.is_wave32
    device = trace.architecture.of_waves(is_wave32=is_wave32)
    kernel = facts.kernel or _of_dispatch(trace)
    notes = list(facts.notes)
    if device.is_guess:
        notes.append(
            Message("The limits of {0} are not known; the limits of {1} are used.", trace.target, device.name)
        )
    if trace.target_from == INFERRED and facts.agent is None:
        text = "{0} is inferred from the instructions: no file of the run names the device."
        notes.append(Message(text, trace.target))
    cap = (facts.agent.waves_per_simd if facts.agent is not None else 0) or device.waves
    threads, group_source = _threads(facts, trace)
    group = -(-threads // device.wave_size)
    # One wave a SIMD may belong to a workgroup of one to four waves: that limits nothing.
    group = group or (on_simd * device.simds if on_simd > 1 else 0)
    resident = resident_waves(trace)
    vgprs, source = (
        _vector(use, kernel, device, resident.peak, notes) if known is None else (known.vgprs, known.file)
    )
    limits = [
        OccupancyLimit(_VECTOR, vgprs, device.vgprs, unit=_VECTOR, source=source, granule=device.granule)
    ]
    if device.sgprs:
        listed = next((one for one in (known, kernel) if one is not None and one.sgprs > 0), None)
        sgprs = use.scalar and use.scalar + _SPECIAL_SGPRS if listed is None else listed.sgprs
        source = GUESS if listed is None else listed.file
        limits.append(
            OccupancyLimit(_SCALAR, sgprs, device.sgprs, unit=_SCALAR, source=source, granule=_SGPR_GRANULE)
        )
    lds, source = _lds(kernel, known, notes) if threads else (-1, "")
    shared = OccupancyLimit("LDS", lds, device.lds, unit="bytes of LDS", source=source, is_shared=True)
    limits.append(replace(shared, granule=device.lds_granule))
    if lds < 0:
        notes.append(_without_lds(trace, known, group))
    # A program with raw words names only some of its registers.
    is_read = len(trace.code) > 0 and not trace.code.is_unreadable.any()
    if not is_read and len(trace.code):
        notes.append("Registers that no table has are not known: some instruction texts are unreadable.")
    limits = [one for one in limits if one.used >= 0 and (is_read or one.source != GUESS)]

    # Workgroups are resident as a whole or not at all, on the SIMDs that share the LDS.
    simds, size = device.simds, group or 1
    shares = [limit.shares if limit.is_shared else limit.shares * simds // size for limit in limits]
    groups = min([cap * simds // size, *shares, device.groups if group > 1 else UNBOUND])
    waves = max(1, max(1, groups) * size // simds)
    wanted = -(-(waves + 1) * simds // size)  # workgroups for a wave more on every SIMD
    goal = wanted * size // simds if wanted * size <= cap * simds else cap + 1

    def completed(limit: OccupancyLimit) -> OccupancyLimit:
        """Add the waves that fit, and the largest use with which the goal fits."""
        fit = limit.shares * size // simds if limit.is_shared else limit.shares
        sharing = wanted if limit.is_shared else -(-wanted * size // simds)
        most = limit.available // sharing // limit.granule * limit.granule
        return replace(limit, waves=max(1, min(cap, fit)), max_used=-1 if goal > cap else most)

    limits = _explained_registers(list(map(completed, limits)), use, device, notes)
    if group > 1:
        limits.append(
            OccupancyLimit("workgroup", group, cap * simds, unit="waves", source=group_source, waves=waves)
        )
    if resident.peak > waves:
        template = (
            "Up to {0} were on a SIMD, more than these limits allow: one of the numbers belongs to "
            "another launch."
        )
        notes.append(Message(template, plural(resident.peak, "wave")))
    return OccupancyLimits(
        device, tuple(limits), waves, cap=cap, resident=resident, notes=tuple(notes), goal=goal, group=group
    )


def _without_lds(trace: Trace, known: AllocatedRegisters | None, group: int) -> str:
    if trace.is_static and known is not None:
        text = "The size of a workgroup is up to the launch; with it LDS ({0} bytes) may bind earlier."
        return Message(text, count(known.lds))
    missing = "the LDS of a workgroup" if group else "LDS and workgroup size"
    return Message("No table of the run has {0}, which may bind earlier.", missing)


def _lds(
    kernel: KernelResources | None, known: AllocatedRegisters | None, notes: list[str]
) -> tuple[int, str]:
    """Bytes of LDS of a workgroup, -1 if unknown, and their source."""
    if kernel is not None and kernel.lds >= 0:
        return kernel.lds, kernel.file
    if known is None:
        return -1, ""
    text = "{0} says what LDS the program declares; a launch may ask for more."
    notes.append(Message(text, known.file))
    return known.lds, known.file


def _threads(facts: RunFacts, trace: Trace) -> tuple[int, str]:
    """Threads of a workgroup, 0 if unknown, and their source."""
    kernel, known = facts.kernel or _of_dispatch(trace), facts.allocated
    if kernel is not None and kernel.threads:
        return kernel.threads, kernel.file
    return (known.threads, known.file) if known is not None and known.is_exact else (0, BARRIERS)


def _use(trace: Trace) -> RegisterUse:
    """The registers of the kernel with most traced cycles, of all code if there are no kernels."""
    code = trace.code
    if not code.kernels:
        return register_use(code)
    kernel = max(code.kernels, key=lambda one: int(code.latency[one.first : one.stop].sum()))
    return register_use(code, kernel.first, kernel.stop)


def _of_dispatch(trace: Trace) -> KernelResources | None:
    """The capture's own facts about a launch of this kernel, None without."""
    known = [one for one in trace.dispatches if one.vgprs or one.lds_size]
    for launch in [one for one in known if one.name and one.name in trace.kernel_name] or known:
        vgprs, sgprs, threads = launch.vgprs or -1, launch.sgprs or -1, launch.workgroup_size
        return KernelResources(
            launch.name, dispatch=-1, vgprs=vgprs, accum_vgprs=0, sgprs=sgprs, lds=launch.lds_size,
            scratch=-1, workgroup=threads, grid=(0, 0, 0), file=TRACE,
        )  # fmt: skip
    return None


def _vector(
    use: RegisterUse, kernel: KernelResources | None, device: Architecture, peak: int, notes: list[str]
) -> tuple[int, str]:
    """Vector registers, -1 if unknown, and their source.

    They are what the table says is allocated, but never fewer than the program names.  A unified file also
    holds accumulation registers; tables list them separately, unless the program names none.
    """
    listed = max(0, kernel.vgprs) if kernel is not None else 0
    accum = max(0, kernel.accum_vgprs) if kernel is not None else 0
    source = kernel.file if kernel is not None and listed else GUESS
    named = _named(use, device)
    if listed and not accum and source != TRACE and _is_half(listed, named, device, peak):
        text = "{0} lists {1} vector registers, half of the {2} that are allocated."
        notes.append(Message(text, source, count(listed), count(2 * listed)))
        listed = used = 2 * listed
    elif not device.is_unified:
        used = max(named, listed, accum)
    elif use.accumulation:
        used = max(use.vector, listed) + max(use.accumulation, accum)
    else:
        used = max(use.vector, listed + accum)
    if listed and used == named > listed + accum:
        template = "{0} lists {1} vector registers, but the program names {2}, which are taken."
        notes.append(Message(template, source, count(listed + accum), count(named)))
        source = GUESS
    return used or -1, source


def _named(use: RegisterUse, device: Architecture) -> int:
    return use.vector + use.accumulation if device.is_unified else max(use.vector, use.accumulation)


def _is_half(listed: int, named: int, device: Architecture, peak: int) -> bool:
    """Whether a table lists half of the allocated vector registers, without accumulation registers.

    `arch_vgpr_count` of rocprofiler-sdk counts in units of 4 registers where gfx90a and later allocate 8;
    it knows better for gfx90a and gfx94x only.  For others, the program and `peak` resident waves decide.
    """
    if not device.is_unified or device.gfxip != 9 or named > 2 * listed:
        return False
    fits = max(1, device.vgprs // max(1, -(-2 * listed // device.granule) * device.granule))
    return peak <= fits and (named > listed or device.target.startswith("gfx95"))


def _explained_registers(
    limits: list[OccupancyLimit], use: RegisterUse, device: Architecture, notes: list[str]
) -> list[OccupancyLimit]:
    """Say why more vector registers are allocated than the program names, and mark those that cost nothing.

    LLVM (`getMinNumVGPRs`) raises an allocation to the least that keeps further waves out: where LDS keeps
    them out anyway, so that it goes when less LDS is used, and where `amdgpu-waves-per-eu` has a maximum.
    A kernel has what the functions need that it calls, and for a call through a pointer the most of any.
    """
    lds = next((one for one in limits if one.is_shared and one.used), None)
    vector = next((one for one in limits if one.name == _VECTOR), None)
    named = _named(use, device)
    if vector is None or vector.waves >= device.waves or not 0 < named <= vector.allocated - device.granule:
        return limits
    least = device.vgprs // (vector.shares + 1) // device.granule * device.granule + device.granule
    is_least, binds = vector.allocated == least, lds is not None and lds.waves <= vector.waves
    if is_least and binds:
        text = (
            "The program names {0} of its {1} vector registers: compilers allocate more than it needs where "
            "LDS binds."
        )
    elif use.has_calls:
        text = (
            "The program names {0} of its {1} vector registers: the rest is for the functions that it may "
            "call, which are all of its file if it calls through a pointer."
        )
    elif is_least:
        text = (
            "The program names {0} of its {1} vector registers: compilers allocate more than it needs to "
            "keep out waves that LDS has no room for, or that an option such as waves_per_eu excludes."
        )
    else:
        return limits
    notes.append(Message(text, count(named), count(vector.allocated)))
    return [replace(one, needed=named) if one is vector and binds and is_least else one for one in limits]


def resident_waves(trace: Trace, rows: np.ndarray | None = None) -> Resident:
    """Return peak and mean of the traced waves of a SIMD, or of those in `rows` of the index."""
    waves = trace.waves if rows is None else trace.waves.at(rows)
    if not len(waves):
        return Resident(0, 0.0, 0)
    place = distinct(waves.se, waves.simd)[1]
    begin, end = waves.begin, np.maximum(waves.begin, waves.end)
    shift = place * (int(end.max() - begin.min()) + 1) - begin.min()
    time = np.concatenate([begin + shift, end + shift])
    step = np.repeat([1, -1], len(waves))
    # Ends come first: a wave that replaces another at the same time does not overlap it.
    order = np.lexsort((step, time))
    now = np.cumsum(step[order])
    length = np.diff(time[order], append=time.max())
    there = max(1, int(length[now > 0].sum()))
    return Resident(int(now.max()), int((end - begin).sum()) / there, int(place.max()) + 1)
