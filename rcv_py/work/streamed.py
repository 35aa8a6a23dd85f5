"""Streamed counters (SPM) of the run of a capture: of its files, else of a database or document beside it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.text import Message
from rcv_py.formats.input.columns import frozen
from rcv_py.formats.input.run_places import names_in, nearby
from rcv_py.formats.rocpd.names import is_profile
from rcv_py.formats.uiout.run_files import PROFILE_BYTES
from rcv_py.model.device import SpmSeries
from rcv_py.model.profile import Profile
from rcv_py.model.trace import DISPATCH, RAW_DISPATCH, Trace

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
    begin = _begin(profile, dispatch)
    if not begin or not trace.clock.shader_hz:
        note = Message("Streamed counters are those that {0} has of launch {1}.", path.name, dispatch)
        return replace(trace, spm=series, spm_note=note)
    rate, first = trace.clock.shader_hz / NS, trace.span.begin

    def moved(one: SpmSeries) -> SpmSeries:
        offset = 0 if one.is_xcc else trace.clock.offsets.get(one.se, 0)
        time = np.rint((one.time - begin) * rate).astype(np.int64) + first - offset
        return one._replace(time=frozen(time))

    note = Message(
        "Streamed counters of {0}: its launch {1} begins where the first wave does, to some microseconds.",
        path.name,
        dispatch,
    )
    return replace(trace, spm=tuple(map(moved, series)), spm_note=note)


def _begin(profile: Profile, dispatch: int) -> int:
    """When a launch began, in nanoseconds, 0 if unknown."""
    rows = np.flatnonzero(profile.launches.dispatch == dispatch)
    return int(profile.launches.begin[rows[0]]) if len(rows) else 0


def of_places(trace: Trace, **chosen: Collection[int] | None) -> Trace:
    """Return the trace with the streamed counters of some arrays, WGPs or instances; None: of all."""
    kept = trace.spm
    for name, numbers in chosen.items():
        if numbers is not None:
            kept = tuple(one for one in kept if getattr(one, name) in numbers)
    return trace if len(kept) == len(trace.spm) else replace(trace, spm=kept)
