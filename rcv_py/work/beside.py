"""PC samples and streamed counters (SPM) of the run of a capture: its own, or those of a file beside it."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.pc_samples import SamplesOfRun, own_samples, placed_samples
from rcv_py.base.errors import TraceError
from rcv_py.base.problems import Problems
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.input.run_places import is_profile, names_in, nearby
from rcv_py.formats.listed.open import read_samples
from rcv_py.formats.listed.recognize import samples_in
from rcv_py.formats.uiout.run_files import PROFILE_BYTES
from rcv_py.model.device import SpmSeries
from rcv_py.model.trace import DISPATCH, RAW_DISPATCH, Trace

NONE_BESIDE = (
    "The capture has no PC samples, and no database, *_results.json or *_pc_sampling_*.csv with some lies "
    "beside it. Record them with --pc-sampling-method stochastic, or name the file with --samples."
)


def samples_of_run(trace: Trace, file: Path | None = None) -> SamplesOfRun:
    """Return the samples of a file; without one, those of the capture or of the nearest file beside it.

    Raises a TraceError if a given file cannot be read.
    """
    own = own_samples(trace.code)
    if file is None and own is not None:
        return SamplesOfRun(own, all=int(own.samples.sum()))
    if file is None:
        file = next((path for place in nearby(trace.path) for path in samples_in(place)), None)
    if file is None:
        return SamplesOfRun(None, why=NONE_BESIDE)
    found, _ = read_samples(file, Problems())
    rows = placed_samples(found, trace)
    return SamplesOfRun(rows, file, found.all, found.invalid, rows.why)


NS = 1e9  # a second
MAX_FILES = 8  # of a folder
PLACES = ("array", "wgp", "instance")  # within a shader engine


def with_streamed(trace: Trace) -> Trace:
    """Return the trace with the streamed counters of its launch, if it has none, and a file beside it has."""
    match = DISPATCH.search(trace.path.name) or RAW_DISPATCH.search(trace.path.name)
    if trace.spm or match is None or not trace.has_times:
        return trace
    for place in nearby(trace.path):
        for path in [place / name for name in names_in(place) if is_profile(place / name)][:MAX_FILES]:
            with suppress(TraceError, OSError):
                if path.stat().st_size <= PROFILE_BYTES and (found := _streamed(trace, path, int(match[1]))):
                    return found
    return trace


def _streamed(trace: Trace, path: Path, dispatch: int) -> Trace | None:
    from rcv_py.formats.rocpd.read import read_profile  # noqa: PLC0415 - it loads SQLite

    profile = read_profile(path)
    series = profile.spm.get(dispatch, ())
    if not series:
        return None
    begin = next(iter(profile.launches.begin[profile.launches.dispatch == dispatch].tolist()), 0)  # ns
    if not begin or not trace.clock.shader_hz:
        note = Message("Streamed counters are those that {0} has of launch {1}.", path.name, dispatch)
        return replace(trace, spm=series, spm_note=note)
    rate, first = trace.clock.shader_hz / NS, trace.span.begin

    def moved(one: SpmSeries) -> SpmSeries:
        offset = 0 if one.is_xcc else trace.clock.offsets.get(one.se, 0)
        time = np.rint((one.time - begin) * rate).astype(np.int64) + first - offset
        return replace(one, time=frozen(time))

    text = "Streamed counters of {0}: its launch {1} begins where the first wave does, to some microseconds."
    note = Message(text, path.name, dispatch)
    return replace(trace, spm=tuple(map(moved, series)), spm_note=note)


def of_places(trace: Trace, **chosen: Collection[int] | None) -> Trace:
    """Return the trace with the streamed counters of some arrays, WGPs or instances; None: of all."""
    kept = trace.spm
    for name, numbers in chosen.items():
        if numbers is not None:
            kept = tuple(one for one in kept if getattr(one, name) in numbers)
    return trace if len(kept) == len(trace.spm) else replace(trace, spm=kept)
