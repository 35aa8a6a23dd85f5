"""Find and read the PC samples of a run for a capture: its own, or the samples of a file."""

from __future__ import annotations

from pathlib import Path

from rcv_py.analysis.cost.sampled import SamplesOfRun, own_samples, placed_samples
from rcv_py.base.problems import Problems
from rcv_py.formats.input.run_places import nearby
from rcv_py.formats.listed.open import read_samples
from rcv_py.formats.listed.recognize import samples_in
from rcv_py.model.trace import Trace

NONE_BESIDE = (
    "The capture has no PC samples, and no database, *_results.json or *_pc_sampling_*.csv with some lies "
    "beside it. Record them with --pc-sampling-method stochastic, or name the file with --samples."
)


def samples_of_run(trace: Trace, file: Path | None = None) -> SamplesOfRun:
    """Return the samples of a file; of none given: of the capture, else of the nearest file beside it.

    Raises a TraceError if a given file cannot be read.
    """
    own = own_samples(trace.code)
    if file is None and own is not None:
        return SamplesOfRun(own, all=int(own.samples.sum()))
    for path in (file,) if file is not None else samples_beside(trace.path):
        found, _ = read_samples(path, Problems())
        rows = placed_samples(found, trace)
        return SamplesOfRun(rows, path, found.all, found.invalid, rows.why)
    return SamplesOfRun(None, why=NONE_BESIDE)


def samples_beside(folder: Path) -> tuple[Path, ...]:
    """Return the files with samples at the nearest place of a capture's run that has any; never raises."""
    for place in nearby(folder):
        if found := samples_in(place):
            return found
    return ()
