"""Parameters of a compute unit: latencies, pipe times, probabilities.  One record a generation."""

import random
from collections.abc import Mapping

from msgspec import field
from msgspec.structs import replace

from rcv_py.base.record import Value

# Issue time in cycles and its probability, by unit; the last time takes the rest.
_GFX9_ISSUE = {
    "smem": ((8, 0.004), (4, 1.0)),
    "salu": ((8, 0.015), (4, 1.0)),
    "valu": ((8, 0.045), (4, 1.0)),
    "matrix": ((8, 0.02), (4, 1.0)),
    "vmem": ((8, 0.12), (4, 1.0)),
    "lds": ((12, 0.2), (8, 0.05), (4, 1.0)),
    "branch": ((8, 0.02), (4, 1.0)),
    "message": ((4, 1.0),),
}
# On later generations a token lasts until its result is ready; stalls are few and time is fine-grained.
_RDNA_BUSY = {
    "smem": ((2, 0.2), (1, 1.0)),
    "salu": ((3, 0.1), (2, 1.0)),
    "valu": ((6, 0.15), (5, 1.0)),
    "matrix": ((34, 0.1), (32, 1.0)),
    "vmem": ((12, 0.3), (7, 1.0)),
    "lds": ((8, 0.3), (5, 1.0)),
    "branch": ((3, 0.2), (1, 1.0)),
    "message": ((1, 1.0),),
}


class Hardware(Value):
    """A compute unit (gfx9) or work-group processor (later)."""

    generation: int
    step: int  # cycles, smallest time; everything is a multiple of it
    simds: int = 4
    slots: int = 2  # resident waves a SIMD (as the kernel's registers allow)
    issue: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=lambda: _GFX9_ISSUE)
    lds_latency: int = 64
    smem_latency: int = 180
    near_latency: int = 420  # a vector load served by a cache
    far_latency: int = 1800  # a vector load from memory
    store_latency: int = 560
    jitter: float = 0.12  # longest relative surplus of a latency
    bytes_per_cycle: float = 40.0  # vector memory bandwidth of one unit
    vmem_queue: int = 48  # cycles of work the pipes hold before they refuse
    lds_queue: int = 40
    fetch_cold: int = 560  # first cache line of a kernel
    fetch_next: int = 72  # a later line that no wave has fetched yet
    fetch_branch: int = 12  # after a taken branch
    launch: int = 28  # wave begin to first instruction
    untold: float = 0.0  # probability that an instruction is held for a reason that no file records
    untold_turns: int = 16  # maximum steps of such a hold
    barrier_spread: int = 0  # maximum steps from a barrier's first release to its last
    splits_barriers: bool = False  # s_barrier_signal arrives, s_barrier_wait waits only if others have not
    fetch_stalls: bool = False  # whether a missing instruction counts as stall; else it is a gap
    # Features that are off unless a plan enables them.
    oldest_first: bool = False  # order of waves that want a unit in a cycle: highest s_setprio, then oldest
    near_bytes_per_cycle: float = 0.0  # cache bandwidth, separate from memory; 0: both share one bandwidth
    outstanding: Mapping[str, int] = field(default_factory=dict)  # by counter: maximum operations of a wave
    valu_latency: int = 0  # cycles until the next arithmetic instruction can read a result; 0: at once

    def up(self, cycles: float) -> int:
        """The next multiple of the clock step."""
        whole = int(cycles)
        whole += whole < cycles
        return -(-whole // self.step) * self.step

    def latency(self, base: float, rng: random.Random) -> int:
        """A random latency: mostly short, with a tail."""
        return self.up(base * (1.0 + self.jitter * rng.random() ** 3))

    def busy(self, unit: str, rng: random.Random) -> int:
        """Cycles of a token after its stall."""
        draw = rng.random()
        for cycles, share in self.issue[unit]:
            if draw < share:
                return cycles
            draw -= share
        return self.issue[unit][-1][0]


# fmt: off
CDNA = Hardware(generation=9, step=4)
RDNA3 = Hardware(generation=11, step=1, slots=4, issue=_RDNA_BUSY, lds_latency=48, bytes_per_cycle=26.0,
    smem_latency=120, near_latency=260, far_latency=610, store_latency=400,
    fetch_cold=340, fetch_next=40, fetch_branch=7, launch=17)
RDNA4 = replace(RDNA3, generation=12, issue={**_RDNA_BUSY, "matrix": ((18, 0.1), (16, 1.0))},
    lds_latency=44, bytes_per_cycle=28.0, smem_latency=110, near_latency=240, far_latency=560,
    store_latency=380, fetch_cold=300, fetch_next=36, fetch_branch=6, launch=15)
# fmt: on
