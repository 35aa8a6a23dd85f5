"""Cost of work: cycles by operation, byte and instruction, comparable across different tiles.

With another tiling a wave does another amount of work, so cycles a wave cannot be compared.  The work of a
wave follows from its instructions: FLOP of MFMA and WMMA from their shapes, bytes from the width of accesses
with all lanes active.  The work of a launch is the work of a traced wave times the number of waves.
"""

import numpy as np

from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.latency.access_widths import VECTOR_MEMORY, access_width
from rcv_py.analysis.program.instruction_classes import instruction_classes
from rcv_py.analysis.program.matrix_forms import flops_of
from rcv_py.analysis.program.registers import wave_lanes
from rcv_py.base.record import Value

_KILO, _MEGA = 1e3, 1e6
NAN = float("nan")


class WorkCosts(Value):
    """Work of the waves of a capture and its cost; means over waves, nan where unknown."""

    cycles: float  # of latency and idle, a wave
    instructions: float  # executions a wave
    flop: float  # of matrix instructions, a wave
    bytes: float  # requested by vector memory instructions, a wave
    duration: float  # cycles of the launch on the traced shader engines
    duration_ns: float
    launch_flop: float  # of that launch

    @property
    def cycles_per_instruction(self) -> float:
        """Cycles of a wave per execution."""
        return _over(self.cycles, self.instructions)

    @property
    def cycles_per_kflop(self) -> float:
        """Cycles of a wave per 1,000 operations."""
        return _over(self.cycles, self.flop / _KILO)

    @property
    def cycles_per_kb(self) -> float:
        """Cycles of a wave per 1,000 requested bytes."""
        return _over(self.cycles, self.bytes / _KILO)

    @property
    def launch_cycles_per_mflop(self) -> float:
        """Cycles of the launch per million of its operations."""
        return _over(self.duration, self.launch_flop / _MEGA)

    @property
    def clock_mhz(self) -> float:
        """Clock of the launch: cycles a microsecond."""
        return _over(self.duration * _KILO, self.duration_ns)


def work_costs(costs: CaptureCosts, duration_ns: float = NAN) -> WorkCosts:
    """Return the work of the waves and its cost; `duration_ns` is the duration of the launch."""
    lanes = wave_lanes(costs.code, costs.architecture)
    waves, launch = max(1, costs.wave_count), costs.launch
    hits = costs.hits.sum(axis=0)
    flop = float(hits @ flops_of(costs.code)) / waves
    is_memory = np.isin(instruction_classes(costs.code), VECTOR_MEMORY)
    texts = zip(costs.code.text, is_memory.tolist(), strict=True)
    width = np.array([access_width(text) if meant else 0 for text, meant in texts], dtype=np.int64)
    return WorkCosts(
        cycles=float(costs.column("cost").sum()) / waves,
        instructions=float(hits.sum()) / waves,
        flop=flop,
        bytes=float(hits @ np.maximum(width, 0)) * lanes / waves,
        duration=NAN if launch is None or launch.doubt else float(launch.duration),
        duration_ns=duration_ns,
        launch_flop=NAN if launch is None or launch.doubt else flop * launch.waves,
    )


def _over(value: float, amount: float) -> float:
    return value / amount if amount > 0 else NAN
