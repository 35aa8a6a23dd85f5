"""Other records of the hardware: counters, shader data, events, PC samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.model.kinds import MATRIX_PREFIXES, EventKind, StallReason, TokenKind
from rcv_py.synth.capture import SimulatedCause, SyntheticCapture, WaveRun
from rcv_py.synth.program import SyntheticKernel, first_rows
from rcv_py.synth.wave_state import DURATION, KIND, STALL, TIME, LiveWave

SAMPLE_INTERVAL = 40  # cycles between two counter samples
COUNTERS = (
    "SQ_BUSY_CU_CYCLES", "SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_SMEM",
    "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_ACTIVE_INST_LDS", "SQ_ACTIVE_INST_FLAT",
)  # fmt: skip
_ACTIVE = (TokenKind.VALU, TokenKind.LDS, TokenKind.FLAT)
PERIOD = 48  # cycles between two PC samples of a wave
UNIT_SKEW = 8  # cycles by which each further compute unit lags the previous
MONITOR_INTERVAL = 512  # cycles between two values of a performance monitor
_VMEM = (TokenKind.VMEM, TokenKind.FLAT)
_LEVELS = (_VMEM, (TokenKind.LDS,), (TokenKind.SMEM,))
_INSTRUCTIONS = {
    "SQ_INSTS_VALU": (TokenKind.VALU, TokenKind.MATRIX),
    "SQ_INSTS_SALU": (TokenKind.SALU,),
    "SQ_INSTS_LDS": (TokenKind.LDS,),
    "SQ_INSTS_VMEM": _VMEM,
}
DEVICE_MONITORS = ("SQ_WAVES", "SQ_INSTS_VMEM")
SHADER_MONITORS = (
    *("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_LDS"),
    *("SQ_WAVE_CYCLES", "SQ_WAIT_ANY", "SQ_BUSY_CYCLES"),
)
_REASONS = {  # a sampler does not report the other causes
    SimulatedCause.FETCH: StallReason.FETCH,
    SimulatedCause.DEPENDENCY: StallReason.ALU_DEPENDENCY,
    SimulatedCause.COUNTER: StallReason.WAITCNT,
    SimulatedCause.SLEEP: StallReason.INTERNAL,
    SimulatedCause.BARRIER: StallReason.BARRIER,
    SimulatedCause.ARBITER: StallReason.ARBITER_LOST,
    SimulatedCause.PIPE: StallReason.PIPE_STALLED,
    SimulatedCause.LAUNCH: StallReason.FETCH,
    SimulatedCause.OWN_UNIT: StallReason.ARBITER_LOST,
}


def counters(capture: SyntheticCapture, se: int, units: int = 1) -> np.ndarray:
    """Return the samples of `COUNTERS`, int64 [n, 7] by time: time, four values, cu, bank.

    A sample covers the cycles since the previous sample; levels are instantaneous.  While no wave is resident
    there is no sample.  Of several compute units the first is the target CU; each further unit does the same
    `UNIT_SKEW` cycles later.
    """
    waves = [wave for wave in capture.waves if wave.se == se]
    tokens = np.concatenate([wave.tokens for wave in waves])
    returned = np.concatenate([capture.truth.waves[wave.key].returned for wave in waves])
    first = min(wave.begin for wave in waves)
    last = max(wave.end for wave in waves)
    time = np.arange(first + SAMPLE_INTERVAL, last + SAMPLE_INTERVAL, SAMPLE_INTERVAL)
    simds = len({wave.simd for wave in waves})
    busy = np.full_like(time, SAMPLE_INTERVAL // 4 * simds)  # of SIMDs, as ACTIVE_INST
    bank0 = [busy, *(_level(tokens, returned, kinds, time) for kinds in _LEVELS)]
    bank1 = [_matrix_busy(capture, tokens, time), *(_active(tokens, kind, time) for kind in _ACTIVE)]
    cu = np.full_like(time, waves[0].cu)
    rows = [np.column_stack([time, *values, cu, 0 * cu + b]) for b, values in enumerate((bank0, bank1))]
    begins, ends = (np.sort(moments) for moments in np.array([(wave.begin, wave.end) for wave in waves]).T)
    is_resident = np.searchsorted(begins, time) > np.searchsorted(ends, time - SAMPLE_INTERVAL, side="right")
    first_unit = np.stack(rows, axis=1).reshape(-1, 7)[is_resident.repeat(2)]
    table = np.concatenate([first_unit + np.array([UNIT_SKEW * n, 0, 0, 0, 0, n, 0]) for n in range(units)])
    return table[np.argsort(table[:, 0], kind="stable")]


def _level(tokens: np.ndarray, returned: np.ndarray, kinds: Sequence[int], time: np.ndarray) -> np.ndarray:
    chosen = np.isin(tokens[:, 1], kinds)
    issued = np.sort((tokens[:, 0] + tokens[:, 2])[chosen])
    done = np.sort(returned[chosen])
    return np.searchsorted(issued, time, side="right") - np.searchsorted(done, time, side="right")


def _active(tokens: np.ndarray, kind: int, time: np.ndarray) -> np.ndarray:
    """Quad-cycles of issue that began since the previous sample."""
    chosen = tokens[:, 1] == kind
    place = np.searchsorted(time, (tokens[:, 0] + tokens[:, 2])[chosen])
    cycles = (tokens[:, 3] - tokens[:, 2])[chosen] // 4
    return np.bincount(place, weights=cycles, minlength=len(time))[: len(time)].astype(np.int64)


def _matrix_busy(capture: SyntheticCapture, tokens: np.ndarray, time: np.ndarray) -> np.ndarray:
    items = [item for kernel in capture.kernels for item in (None, *kernel.instructions)]  # a label first
    of_row = [
        item.meaning.passes if item is not None and item.text.startswith(MATRIX_PREFIXES) else 0
        for item in items
    ]
    passes = np.array(of_row, dtype=np.int64)[tokens[:, 4]]
    start = np.sort((tokens[:, 0] + tokens[:, 2])[passes > 0])
    stop = np.sort((tokens[:, 0] + tokens[:, 2] + passes)[passes > 0])
    edges = np.append(time[0] - SAMPLE_INTERVAL, time)
    return np.diff(_cycles_since(start, edges) - _cycles_since(stop, edges))


def _cycles_since(moments: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The sum of max(0, t − moment) over all moments, for each t."""
    count = np.searchsorted(moments, time, side="right")
    return count * time - borders(moments)[count]


def shader_data(waves: Sequence[LiveWave], cu: int) -> np.ndarray:
    """Return the markers that waves wrote, int64 [n, 6]: time, value, cu, simd, slot, flags; by time."""
    rows = [(time, value, cu, wave.simd, wave.slot, 0) for wave in waves for time, value in wave.markers]
    return np.array(sorted(rows, key=lambda row: row[0]), dtype=np.int64)


def sibling(waves: Sequence[LiveWave], simd: int) -> np.ndarray:
    """Return the memory instructions of one SIMD, int64 [n, 3]: time, duration, category."""
    rows = [
        (row[TIME] + row[STALL], row[DURATION] - row[STALL], row[KIND])
        for wave in waves
        if wave.simd == simd
        for row in wave.rows
        if row[KIND] in (*_VMEM, TokenKind.LDS)
    ]
    return np.array(sorted(rows), dtype=np.int64)


def events(capture: SyntheticCapture) -> dict[int, list[dict[str, Any]]]:
    """Return the records of an occupancy file of version 3.1: dispatches and related events."""
    found: dict[int, list[dict[str, Any]]] = {}
    lives = capture.truth.residencies
    for se in np.unique(lives[:, 0]).tolist():
        here = lives[lives[:, 0] == se]
        records = [_event(int(here[:, 4].min()) - 4000, EventKind.CODE_OBJECT_LOAD, code_object_id=2)]
        for index in np.unique(here[:, 6]).tolist():
            begin, end = int(here[here[:, 6] == index, 4].min()), int(here[here[:, 6] == index, 5].max())
            records.append(_dispatch(begin - 240, index, capture.kernels[index]))
            records.append(_event(end + 80, EventKind.DISPATCH_END, flags=1))
            records.append(_event(end + 120, EventKind.CS_PARTIAL_FLUSH))
        middle = int(here[:, 4:6].mean()) // 4 * 4
        records.append(_event(middle, EventKind.TT_STALL_BEGIN))
        records.append(_event(middle + 400, EventKind.TT_STALL_END))
        records.append(_event(middle + 404, EventKind.PACKET_LOSS, payload=(1 << 63) + 5))
        found[se] = sorted(records, key=lambda record: record["time"])
    return found


def _event(time: int, kind: EventKind, payload: int = 0, flags: int = 0, **more: int) -> dict[str, Any]:
    common = {"kind": "event", "time": time, "type": int(kind), "me_id": 1, "pipe_id": 0}
    return {**common, "flags": flags, "payload": payload, "byte_offset": 0, **more}


def _dispatch(time: int, index: int, kernel: SyntheticKernel) -> dict[str, Any]:
    return {
        **{"kind": "dispatch", "time": time, "me_id": 1, "pipe_id": 0, "kernel_id": index + 1},
        "kernel_name": kernel.symbol,
        "entry_point": {"address": kernel.address, "code_object_id": kernel.codeobj},
        **{"user_sgprs": 8, "vgprs": 160, "sgprs": 32, "lds_size": 32768},
        **{"thread_dim_x": 256, "thread_dim_y": 1, "thread_dim_z": 1},
        **{"dispatch_pkt_addr": (0x7F << 40) + 64 * index, "flags": 1, "byte_offset": 0},
    }


def monitors(
    capture: SyntheticCapture, names: Sequence[str], interval: int = MONITOR_INTERVAL
) -> dict[str, Any]:
    """Return spm.json: instructions, waves and their cycles per interval; empty intervals are left out.

    Times are shader cycles of the engine: the end of the interval, as differences.
    """
    table: dict[str, Any] = {name: {"dimensions": ["SE", "INSTANCE"], "values": {}} for name in names}
    for se in sorted({wave.se for wave in capture.waves}):
        waves = [wave for wave in capture.waves if wave.se == se]
        first = min(wave.begin for wave in waves) // interval
        last = max(wave.end for wave in waves) // interval + 1
        edges = np.arange(first, last + 1) * interval
        values = _monitored(waves, edges)
        for name in names:
            rows = np.flatnonzero(values[name])
            pairs = np.column_stack([np.diff(edges[1:][rows], prepend=0), values[name][rows]])
            table[name]["values"][str(se)] = {"0": pairs.tolist()}
    return table


def _monitored(waves: list[WaveRun], edges: np.ndarray) -> dict[str, np.ndarray]:
    tokens = np.concatenate([wave.tokens for wave in waves])
    begin, end = np.array([(wave.begin, wave.end) for wave in waves]).T
    issue = tokens[:, 0] + tokens[:, 2]
    waits = tokens[tokens[:, 1] == TokenKind.IMMED]
    of_kinds = {name: issue[np.isin(tokens[:, 1], kinds)] for name, kinds in _INSTRUCTIONS.items()}
    return {
        "SQ_WAVES": _counted(begin, edges),
        "SQ_WAVE_CYCLES": _covered(begin, end, edges),
        "SQ_WAIT_ANY": _covered(waits[:, 0], waits[:, 0] + waits[:, 2], edges),
        "SQ_BUSY_CYCLES": _covered(*_union(begin, end), edges),
        **{name: _counted(moments, edges) for name, moments in of_kinds.items()},
    }


def _counted(moments: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.searchsorted(np.sort(moments), edges))


def _covered(begin: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff([(np.clip(edge, begin, end) - begin).sum() for edge in edges.tolist()])


def _union(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    is_new = np.append(True, begin[1:] > reach[:-1])
    return begin[is_new], reach[np.roll(is_new, -1)]


def pc_samples(capture: SyntheticCapture) -> tuple[np.ndarray, np.ndarray]:
    """Return issued samples, int64 [rows], and stalled samples by reason, int64 [rows, 10].

    Every wave is sampled every `PERIOD` cycles; between two instructions it is stalled on the later.
    """
    issued = np.zeros(first_rows(capture.kernels)[-1], dtype=np.int64)
    reasons = np.zeros((len(issued), len(StallReason)), dtype=np.int64)
    table = np.array([_REASONS.get(cause, StallReason.OTHER) for cause in SimulatedCause])
    for number, wave in enumerate(capture.waves):
        truth = capture.truth.waves[wave.key]
        start, _, stall, duration, row = wave.tokens.T
        time = np.arange(wave.begin + number * 4 % PERIOD, start[-1], PERIOD)
        token = np.searchsorted(start + duration, time, side="right")
        is_stalled = time < start[token] + stall[token]
        cause = np.where(time < start[token], truth.gap_cause[token], truth.cause[token])
        np.add.at(issued, row[token[~is_stalled]], 1)
        np.add.at(reasons, (row[token[is_stalled]], table[cause[is_stalled]]), 1)
    return issued, reasons
