"""Every command with every form of its table, and a runner that remembers what was printed."""

from __future__ import annotations

import contextlib
import io
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

from rcv_py.cli.main import main
from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.wave_columns import WaveColumns

# What is asked of one capture; FOLDER goes in front.  One word list a variant, the first is the golden one.
ON_A_CAPTURE: dict[str, tuple[str, ...]] = {
    "triage": ("--top 3", "--top 0 --all"),
    "info": ("", "--check"),
    "check": ("", "--strict"),
    "summary": ("",),
    "hotspot": (
        "--top 4",
        "--by source --sort stall",
        "--by kind",
        "--by class",
        "--like old --top 3",
        "--like new --mode src",
    ),
    "isa": ("--top 4", "--blocks --top 4", "--branches --top 4"),
    "source": ("--top 3", "--inlined --no-causes"),
    "line": ("3 --top 3", "5 --by since --log"),
    "waits": ("--top 3", "--latency --top 4"),
    "causes": ("--top 3", "--by line --top 3", "--by producer --top 3"),
    "loops": (
        "--top 3",
        *(
            f"--show {name} --top 3"
            for name in ("iterations", "phases", "first", "distance", "chains", "barriers")
        ),
    ),
    "bubbles": ("--top 4", "--rule reference --top 4"),
    "latency": ("--top 4", "--kind memory --top 4", "--rule reference --top 4"),
    "flame": ("--least 10", "--content kernel --metric stall"),
    "occupancy": ("", "--by kernel", "--by state", "--limits"),
    "counters": ("", "--list"),
    "events": ("",),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a command line gave back."""

    code: int
    out: str
    err: str


_columns = WaveFiles.columns
_READ: OrderedDict[tuple[str, int, tuple[int, ...]], WaveColumns] = OrderedDict()
_MOST = 48  # groups of waves that are kept


def _columns_once(files: WaveFiles, rows: list[int]) -> WaveColumns:
    """Read the same waves of a folder once: dozens of commands do, and it is most of their time."""
    key = (str(files.folder.resolve()), files.base_clock, tuple(rows))
    if key not in _READ:
        _READ[key] = _columns(files, rows)
    _READ.move_to_end(key)
    while len(_READ) > _MOST:
        _READ.popitem(last=False)
    return _READ[key]


@cache
def run(*words: str) -> Run:
    """Run a command line in this process; equal ones only once."""
    out, err = io.StringIO(), io.StringIO()
    once = patch.object(WaveFiles, "columns", _columns_once)
    with once, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = int(main(words))
        except SystemExit as stop:  # argparse names a mistake and stops
            code = int(stop.code or 0)
    return Run(code, out.getvalue(), err.getvalue())


def of_capture(command: str, folder: Path, more: str, *forms: str) -> Run:
    """Run a command on a capture, with the words of a variant and of an output form."""
    return run(command, str(folder), *more.split(), *forms)
