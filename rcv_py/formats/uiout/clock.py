"""realtime.json: the constant clock, and the offset of each shader engine's clock."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rcv_py.base.problems import Problems
from rcv_py.base.text import Message
from rcv_py.formats.input import columns
from rcv_py.formats.input.files import try_json
from rcv_py.formats.uiout.folder import FolderFiles
from rcv_py.model.device import Clock, ClockSamples, is_rate
from rcv_py.model.ids import place_name

FILE = "realtime.json"
NOMINAL_HZ = 100_000_000  # of the constant clock, if the file lacks it
MAX_OFFSET = 1 << 52  # cycles between two shader engines: weeks; more is not a valid measurement
MAX_APART = 1 << 36  # ticks between first samples of two: 11 minutes at 100 MHz, while engines start together
LEAST_TICKS = 100  # around the waves of an engine, for a rate: a tick more or less is 1 %
NOMINAL_TICKS = 1 / 20  # realtime ticks per shader cycle, if no engine has two samples: 100 MHz / 2 GHz
Lives = Mapping[int, tuple[int, int]]  # first begin and last end of waves by shader engine, its own cycles
NO_LIVES: Lives = {}


def lives_of(times: Iterable[tuple[int, np.ndarray]]) -> Lives:
    """Return the lives of shader engines, from tables of the number of one and times of its waves, int64."""
    lives: dict[int, tuple[int, int]] = {}
    for se, time in times:
        if len(time):
            first, last = int(time.min()), int(time.max())
            begin, end = lives.get(se, (first, last))
            lives[se] = min(begin, first), max(end, last)
    return lives


def read_clock(files: FolderFiles, lives: Lives, problems: Problems) -> Clock:
    """Return the clock of a capture, with the offsets of the shader engines that have data.

    Never raises; without a usable file nothing is aligned and a Problem reports it.
    """
    engines = sorted(lives)
    data = try_json(files.path, FILE, problems) if FILE in files else None
    if not isinstance(data, dict):
        if len(engines) > 1:
            text = "{0} is missing or empty: the clocks of {1} shader engines are not aligned."
            hint = "Compare times within one shader engine only; a newer trace decoder writes the file."
            problems.warn(FILE, Message(text, FILE, len(engines)), hint)
        return clock_of({}, lives, None, FILE, problems)
    samples = _samples(data, problems)
    metadata = columns.table_of(data.get("metadata"))
    clock = clock_of(samples, lives, metadata.get("frequency"), FILE, problems)
    if len(samples) > 1 and set(engines) == set(clock.apart):
        text = "{0} puts the shader engines too far apart: their clocks are not aligned."
        hint = "Compare times within one shader engine only, or record the trace again."
        problems.warn(FILE, Message(text, FILE), hint)
    lost = ", ".join(place_name(se) for se in engines if se not in samples)
    if len(engines) > 1 and lost:
        text = "{0} has no clock samples for {1}: its times are not aligned with the others."
        hint = "Do not compare its times with times of other shader engines."
        problems.warn(FILE, Message(text, FILE, lost), hint)
    return clock


def clock_of(
    samples: Mapping[int, ClockSamples], lives: Lives, stated: object, name: str, problems: Problems
) -> Clock:
    """Return the clock; engines that cannot be aligned begin with the first wave of the others.

    `stated` is the frequency of the constant clock in the file `name`, None without.  If it, or the rate of
    the shader clock, is one that no clock has, it is not known, and a Problem reports it.
    """
    offsets, ticks = align(samples, lives)
    frequency = NOMINAL_HZ if stated is None else columns.whole_number(stated, 0)
    frequency = frequency if is_rate(frequency) else 0
    if not frequency or (ticks and not is_rate(frequency / ticks)):
        text = "{0} has a constant clock without a usable frequency: no time in seconds is known."
        if frequency:
            text = "{0} gives the shader clock a rate that no GPU has: no time in seconds is known."
        problems.warn(name, Message(text, name), "Read times in cycles, or decode again.")
        ticks = 0.0 if frequency else ticks
    apart = sorted(lives.keys() - offsets.keys()) if len(lives) > 1 else []
    aligned = [lives[se][0] + offset for se, offset in offsets.items() if se in lives]
    first = min(aligned) if aligned else max((begin for begin, _ in lives.values()), default=0)
    is_aligned = bool(offsets) and not apart
    offsets |= {se: first - lives[se][0] for se in apart}
    return Clock(frequency, samples, offsets, ticks, is_aligned, tuple(apart))


def align(samples: Mapping[int, ClockSamples], lives: Lives = NO_LIVES) -> tuple[dict[int, int], float]:
    """Return the cycles to add to each shader engine's times, and realtime ticks per shader cycle.

    The rate varies: it is taken from the samples that enclose the waves, or, if these are too near to each
    other, from all.  Engines are compared at the ticks of samples around the launch: from the last one before
    an engine's first wave to its last wave; without `lives` at first samples.  At each of these ticks the
    cycle of an engine is interpolated between its samples, and its offset is the mean distance from the
    engine that is ahead most.  An engine without samples is not moved, and none is if the result is absurd.
    """
    timed = {se: one for se, one in samples.items() if len(one.shader)}
    # A double does not hold ticks since boot to a fraction of a cycle, so they count from the first sample.
    zero, last = (of((int(one.realtime[0]) for one in timed.values()), default=0) for of in (min, max))
    rising, around = {se: _rising(one, zero) for se, one in timed.items()}, dict.fromkeys(timed, (0, 0))
    if known := timed.keys() & lives.keys():
        ends = {se: np.searchsorted(rising[se][0], lives[se], "right").tolist() for se in known}
        around = {se: (max(0, first - 1), stop) for se, (first, stop) in ends.items()}
    near = [rising[se][1][first : max(first + 1, stop)] for se, (first, stop) in around.items()]
    spans = [(*rising[se], at, min(stop, len(rising[se][0]) - 1)) for se, (at, stop) in around.items()]
    rate = _rate(spans, LEAST_TICKS) or _rate([(one.shader, one.realtime, 0, -1) for one in timed.values()])
    if len(timed) < 2:
        return {}, rate
    at, place = np.concatenate(near), {}
    for se, (shader, realtime) in rising.items():
        beyond = (at - np.clip(at, realtime[0], realtime[-1])) / (rate or NOMINAL_TICKS)
        place[se] = int(shader[0]) + float(np.mean(np.interp(at, realtime, shader - shader[0]) + beyond))
    ahead = max(place.values())
    offsets = {se: round(ahead - value) for se, value in place.items()}
    is_valid = max(offsets.values()) < MAX_OFFSET and last - zero < MAX_APART
    return (offsets, rate) if is_valid else ({}, rate)


def _rate(spans: Iterable[tuple[np.ndarray, np.ndarray, int, int]], least: int = 1) -> float:
    """Ticks a cycle of engines from one of their samples to another; 0.0 if there are too few ticks."""
    changes = ((int(sc[a]), int(rt[b] - rt[a]), int(sc[b] - sc[a])) for sc, rt, a, b in spans)
    usable = [(rt, sc) for sc0, rt, sc in changes if sc0 > 0 and rt >= least and sc > 0]
    return sum(rt for rt, _ in usable) / sum(sc for _, sc in usable) if usable else 0.0


def _rising(one: ClockSamples, zero: int) -> tuple[np.ndarray, np.ndarray]:
    """Cycles, and ticks after `zero`, of the samples with more ticks than all before."""
    ticks = one.realtime - zero
    is_new = np.append(True, ticks[1:] > np.maximum.accumulate(ticks)[:-1])
    return one.shader[is_new], ticks[is_new]


def clock_samples(pairs: np.ndarray) -> ClockSamples:
    """Return pairs of cycles and ticks (int64 [n, 2]) by cycle."""
    shader, realtime = pairs[np.argsort(pairs[:, 0], kind="stable")].T
    return ClockSamples(columns.frozen(shader.copy()), columns.frozen(realtime.copy()))


def _samples(data: dict[str, Any], problems: Problems) -> dict[int, ClockSamples]:
    samples: dict[int, ClockSamples] = {}
    skipped = 0
    for key, rows in data.items():
        se = columns.number_key(key[2:]) if isinstance(key, str) and key[:2].upper() == "SE" else None
        if se is None:
            continue
        table, bad = columns.number_rows(rows, 2, 2)
        skipped += bad
        if len(table):
            samples[se] = clock_samples(table)
            if np.any(np.diff(samples[se].realtime) < 0):
                text = "{0}: the constant clock of {1} runs backwards; nanoseconds are doubtful."
                hint = "Read times in cycles, or record the trace again."
                problems.warn(FILE, Message(text, FILE, place_name(se)), hint)
    columns.report_skipped(problems, FILE, skipped, "clock sample")
    return samples
