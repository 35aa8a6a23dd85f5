"""What blocks and loops of a program take by the rules of issue, before any GPU has run it.

Cycles are those of one wave alone, with usual latencies of loads (`block_schedule`): what a compiler can
know, not what a launch will take.
"""

import numpy as np

from rcv_py.analysis.attribution.lines import LDS, MATRIX, SMEM, VALU, VMEM, lines
from rcv_py.analysis.device.memory_roof import highest_memory_roof
from rcv_py.analysis.latency.access_widths import access_width
from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.loops import loops
from rcv_py.analysis.program.matrix_forms import flops_of
from rcv_py.analysis.program.operations import MATRIX as MATRIX_UNIT
from rcv_py.analysis.program.operations import VECTOR, kinds_of, lane_flops_of
from rcv_py.analysis.program.registers import wave_lanes
from rcv_py.analysis.whatif.block_schedule import block_lengths
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

COUNTED = {"valu": VALU, "mfma": MATRIX, "memory": VMEM, "lds": LDS, "scalar_memory": SMEM}  # units by column


class StaticLoops(ColumnTable):
    """One row per loop, in the order of the program; instructions of inner loops count once."""

    head: np.ndarray  # int64, code row of its first instruction
    last: np.ndarray  # int64, code row of its last instruction
    depth: np.ndarray  # int64, from 1
    instructions: np.ndarray  # int64
    valu: np.ndarray  # int64, instructions of vector arithmetic
    mfma: np.ndarray  # int64, MFMA and WMMA instructions
    memory: np.ndarray  # int64, of vector memory
    lds: np.ndarray  # int64
    scalar_memory: np.ndarray  # int64
    mfma_busy_share_of_length: np.ndarray  # float64, cycles of the matrix unit over the length; nan: unknown
    bytes: np.ndarray  # float64, requested from memory by a wave with all lanes; nan: unknown
    lds_bytes: np.ndarray  # float64
    flop: np.ndarray  # float64, of a wave with all lanes; nan: unknown
    memory_cycles: np.ndarray  # float64, least of a compute unit for the bytes, if memory alone bounds; nan
    compute_cycles: np.ndarray  # float64, least of a compute unit for the operations at their peaks; nan
    length: np.ndarray  # float64, cycles; nan: unknown


def static_loops(trace: Trace) -> StaticLoops:
    """Return the loops of a program, from its text alone."""
    code = trace.code
    table = blocks(code)
    found, of_code = loops(table), lines(code, trace.architecture)
    lanes = wave_lanes(code, trace.architecture)
    unit, texts = of_code.unit[:-1], [text.strip() for text in code.text]
    width = np.array([access_width(text) for text in texts], dtype=np.float64)
    width[width < 0] = np.nan
    moved = np.where(np.isin(unit, (VMEM, LDS)), width * lanes, 0.0)
    unread = np.where(code.is_unreadable, np.nan, 0.0)
    flop = flops_of(code) + lane_flops_of(code) * lanes + unread
    peaks = {MATRIX_UNIT: trace.architecture.matrix_peaks, VECTOR: trace.architecture.vector_peaks}
    peak = np.array([peaks.get(unit, {}).get(type_, np.nan) for unit, type_ in kinds_of(code)])
    cycles = block_lengths(trace)[table.of_row] / (table.stop - table.first)[table.of_row]
    spans = [*map(slice, found.first.tolist(), found.stop.tolist())]

    def sums(column: np.ndarray) -> np.ndarray:
        return np.array([column[span].sum() for span in spans], dtype=column.dtype)

    length, requested = sums(cycles), sums(np.where(unit == VMEM, moved, 0.0) + unread)
    return StaticLoops(
        head=table.head[found.header].astype(np.int64),
        last=found.stop.astype(np.int64) - 1,
        depth=found.depth.astype(np.int64),
        instructions=sums((~code.is_label).astype(np.int64)),
        **{name: sums(((unit == of) & ~code.is_label).astype(np.int64)) for name, of in COUNTED.items()},
        mfma_busy_share_of_length=sums(of_code.passes[:-1].astype(np.float64)) / np.maximum(length, 1),
        bytes=requested,
        lds_bytes=sums(np.where(unit == LDS, moved, 0.0) + unread),
        flop=sums(flop),
        memory_cycles=requested / highest_memory_roof(trace.target),
        compute_cycles=sums(np.where(flop == 0, 0.0, flop / peak)),
        length=length,
    )
