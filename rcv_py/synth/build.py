"""Building of a capture from launches: simulate shader engines, name waves, fill other compute units."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from msgspec.structs import replace

from rcv_py.base.record import Value
from rcv_py.formats.derived.waits import replay
from rcv_py.synth import wave_state as at
from rcv_py.synth.capture import SimulatedCause, SyntheticCapture, Truth, WaveRun, WaveTruth, timeline
from rcv_py.synth.hardware import Hardware
from rcv_py.synth.program import SyntheticKernel, first_rows
from rcv_py.synth.simulate import ComputeUnit
from rcv_py.synth.wave_state import LiveWave, SyntheticLaunch

_TICKS_PER_CYCLE = 1 / 20  # of the 100 MHz clock, at 2.0 GHz
_TICKS_BEGIN = 236_566_044_489_914
_SLOT_GAP = 28  # minimum cycles that a slot stays empty between two waves


class Plan(Value):
    """What to simulate.

    `launches` run on one compute unit of every shader engine, with other random numbers on each.
    `offsets` are the cycles by which each shader engine's clock lags the first.
    """

    hardware: Hardware
    launches: tuple[SyntheticLaunch, ...]
    offsets: tuple[int, ...] = (0,)
    target_cu: int = 1
    cus: tuple[int, ...] = (1,)
    traced_simds: tuple[int, ...] = (0, 1, 2, 3)
    seed: int = 0

    @property
    def kernels(self) -> tuple[SyntheticKernel, ...]:
        """The kernels in the order of the code table."""
        return tuple(launch.kernel for launch in self.launches)


class Simulated(Value):
    """The result of a plan: the capture, and the simulated waves of each shader engine."""

    capture: SyntheticCapture
    live: dict[int, list[LiveWave]]


def build(plan: Plan) -> Simulated:
    """Simulate a plan."""
    rows = first_rows(plan.kernels)
    runs: list[WaveRun] = []
    truths: dict[tuple[int, int, int, int], WaveTruth] = {}
    residencies: list[list[int]] = []
    live: dict[int, list[LiveWave]] = {}
    lines = np.zeros((rows[-1], 4), dtype=np.int64)
    for se in range(len(plan.offsets)):
        rng = random.Random(f"{plan.seed}/{se}")
        waves = live[se] = _run(plan, se, rng, lines, rows)
        for place, cu in enumerate(plan.cus):  # the target, and others with similar work
            if cu == plan.target_cu:
                residencies += [_residency((se, cu), wave, wave.begin, wave.end) for wave in waves]
            else:
                residencies += _neighbour(plan, se, place, waves, rng)
        seen: Counter[tuple[int, int]] = Counter()  # waves of each slot
        names: dict[int, tuple[int, int, int]] = {}
        for wave in waves:
            names[id(wave)] = (wave.simd, wave.slot, seen[wave.simd, wave.slot])
            seen[wave.simd, wave.slot] += 1
        for wave in waves:
            if wave.simd in plan.traced_simds:
                run, truth = _traced(plan, se, wave, names, rows[wave.launch.index] + 1)
                runs.append(run)
                truths[run.key] = truth
    scopes = [
        (se, wave.simd, wave.slot, *scope)
        for se, waves in live.items()
        for wave in waves
        for scope in wave.scopes
    ]
    whole = Truth(
        truths,
        lines,
        np.array(residencies, dtype=np.int64),
        dict(enumerate(plan.offsets)),
        np.array(sorted(scopes), dtype=np.int64).reshape(len(scopes), 8),
    )
    clock, generation = realtime(residencies, whole.offset_of_se), plan.hardware.generation
    capture = SyntheticCapture(generation, plan.kernels, tuple(runs), truth=whole, realtime=clock)
    return Simulated(capture, live)


def _run(plan: Plan, se: int, rng: random.Random, lines: np.ndarray, rows: list[int]) -> list[LiveWave]:
    """Run all launches on one shader engine; add the costs of its traced waves to `lines`."""
    up, offset = plan.hardware.up, plan.offsets[se]
    skew = up(24 * rng.random())
    waves: list[LiveWave] = []
    free = 0
    for index, launch in enumerate(plan.launches):
        unit = ComputeUnit(plan.hardware, rng)
        begin = max(up(launch.begin - offset) + skew, free)
        first, step = launch.first_group + se, len(plan.offsets) * len(plan.cus)
        waves += unit.run(replace(launch, index=index, begin=begin, first_group=first, group_step=step))
        free = max(wave.end for wave in waves) + up(400 + 300 * rng.random())
        for (simd, instruction), totals in unit.lines.items():
            if simd in plan.traced_simds:
                lines[rows[index] + 1 + instruction] += totals
    return waves


def _traced(
    plan: Plan, se: int, wave: LiveWave, names: Mapping[int, tuple[int, int, int]], first_row: int
) -> tuple[WaveRun, WaveTruth]:
    table = np.array(wave.rows, dtype=np.int64)
    tokens = table[:, :5].copy()
    tokens[:, at.INSTRUCTION] += first_row
    instructions = wave.launch.kernel.instructions
    texts = [instructions[row].text for row in table[:, at.INSTRUCTION].tolist()]
    releases = tuple((wait, tuple(items)) for wait, items in replay(texts, plan.hardware.generation))
    rows = tokens[:, at.INSTRUCTION].tolist()
    waits = tuple((rows[wait], tuple(rows[item] for item in items)) for wait, items in releases)
    simd, slot, wid = names[id(wave)]
    run = WaveRun(
        se=se,
        simd=simd,
        slot=slot,
        wid=wid,
        cu=plan.target_cu,
        begin=wave.begin,
        end=wave.end,
        kernel=wave.launch.index,
        workgroup=wave.group.number,
        tokens=tokens,
        timeline=timeline(tokens, wave.begin, wave.end),
        waits=waits,
    )
    truth = WaveTruth(
        instruction=table[:, at.INSTRUCTION].astype(np.int32),
        cause=table[:, at.CAUSE].astype(np.uint8),
        gap_cause=table[:, at.GAP_CAUSE].astype(np.uint8),
        producer=table[:, at.PRODUCER].astype(np.int32),
        returned=table[:, at.RETURNED].copy(),
        releases=releases,
        iterations={name: tuple(counts) for name, counts in wave.iterations.items()},
        kernel=run.kernel,
        workgroup=run.workgroup,
        blamed=table[:, at.BLAMED].astype(np.int32),
        blamed_wave=np.array([names.get(id(by), (-1, -1, -1)) for by in wave.blamed_waves], dtype=np.int64),
        held=_by_cause(wave.held_rows, 0).astype(np.int64),
        holder=_by_cause(wave.holder_rows, -1),
    )
    return run, truth


def _by_cause(rows: list[dict[int, int]], default: int) -> np.ndarray:
    """The numbers of each token by cause, int32 [tokens, causes]."""
    table = np.full((len(rows), len(SimulatedCause)), default, dtype=np.int32)
    row = np.repeat(np.arange(len(rows)), [len(causes) for causes in rows])
    table[row, list(chain.from_iterable(rows))] = [value for causes in rows for value in causes.values()]
    return table


def _residency(place: tuple[int, int], wave: LiveWave, begin: int, end: int, shift: int = 0) -> list[int]:
    return [*place, wave.simd, wave.slot, begin, end, wave.launch.index, wave.group.number + shift]


def _neighbour(plan: Plan, se: int, place: int, waves: list[LiveWave], rng: random.Random) -> list[list[int]]:
    """A CU that ran similar work slightly slower or faster, perhaps without the last workgroups."""
    pace = 0.94 + 0.12 * rng.random()
    last = waves[-1].launch.index, waves[-1].group.number
    is_short = rng.random() < 0.4
    up = plan.hardware.up
    skew = up(8 * place)
    free: dict[tuple[int, int], int] = {}
    found = []
    for wave in waves:
        if is_short and (wave.launch.index, wave.group.number) == last:
            continue
        begin = max(wave.begin + skew, free.get((wave.simd, wave.slot), 0))
        end = up(begin + (wave.end - wave.begin) * (pace + 0.02 * rng.random()))
        free[wave.simd, wave.slot] = end + up(_SLOT_GAP + 100 * rng.random())
        found.append(_residency((se, plan.cus[place]), wave, begin, end, len(plan.offsets) * place))
    return found


def realtime(lives: Sequence[Sequence[int]], offsets: Mapping[int, int]) -> dict[int, list[tuple[int, int]]]:
    """Two clock samples a shader engine, all at the same two times: (cycle, 100 MHz tick)."""
    first = min(row[4] + offsets[row[0]] for row in lives) - 64_000
    first = max(first, max(offsets.values()) + 4_000)
    last = max(row[5] + offsets[row[0]] for row in lives) + 12_000
    ticks = _TICKS_BEGIN + round((last - first) * _TICKS_PER_CYCLE)
    return {se: [(first - offset, _TICKS_BEGIN), (last - offset, ticks)] for se, offset in offsets.items()}
