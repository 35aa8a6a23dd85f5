"""Every command with every form of its table, and a runner that remembers what was printed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from rcv_py.cli.main import main
from rcv_py.formats.capture_cache import CaptureCache
from tests.support.captures import SHARED
from tests.support.samples import STORE

# What is asked of one capture; FOLDER goes in front.  One word list a variant, the first is the golden one.
# {wave}, {place} and {line} are a wave of the capture, and its first wait.
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
        "--bins 8",
        "--charge self --top 3 --sort text --ascending",
        "--charge inclusive --by source --top 3 --no-idle",
        "--charge inclusive --by tree --top 5",
    ),
    "isa": (
        "--top 4",
        "--blocks --top 4",
        "--branches --top 4",
        "--labels",
        "--bars kinds --match wait --top 4",
        "--mode wave-max --wave {wave} --bars latency_stall --top 4",
    ),
    "source": ("--top 3", "--inlined --no-causes"),
    "line": ("3 --top 3", "5 --by since --log", "{line} --bar 0 --bars 4"),
    "waits": ("--top 3", "--latency --top 4", "--line {line} --sort hits"),
    "causes": ("--top 3", "--by instruction --top 3", "--by producer --top 3", "--line {line} --sort hits"),
    "loops": (
        "--top 3",
        *(
            f"--by {name} --top 3"
            for name in ("iterations", "phases", "first", "distance", "chains", "barriers")
        ),
        "--by iterations --sort cycles --top 4",
    ),
    "range": ("--top 3", "--top 0 --between 1:3"),
    "whatif": ("", "--latency memory=0.5 --no-barriers"),
    "bubbles": ("--top 4", "--rule reference --top 4"),
    "latency": (
        "--top 4",
        "--by memory --top 4",
        "--by memory --waits --top 4",
        "--rule reference --top 4",
    ),
    "flame": ("--least 10", "--content kernel --metric stall", "--content sandwich --around {line}"),
    "occupancy": ("", "--by kernel", "--by state", "--limits", "--only all"),
    "waves": (
        "--top 3 --sort stall",
        "--resident --top 5",
        "--unit-of {wave} --without-se 0",
        "--populations",
    ),
    "wave": ("{wave}", "{wave} --tokens --clock 0:1000000"),
    "units": ("", "--of {wave} --within 0:200000"),
    "place": ("{place}", ":line~0 {wave} {wave}:line~1#0 {place}", ":line~5"),
    "search": ("--match wait --top 3", "--match ^s_[bw] --regex --case --top 3", "--match nothing~of~it"),
    "counters": ("", "--list"),
    "events": ("", "--match e --sort name --ascending"),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a command line gave back."""

    code: int
    out: str
    err: str


_WAVE_FILE = re.compile(r"se(\d+)_sm(\d+)_sl(\d+)_wv(\d+)\.json")
FIXED = f"{SHARED}{os.sep}"
CACHE = CaptureCache(64)  # dozens of commands read the same captures, and that is most of their time


@cache
def run(*words: str) -> Run:
    """Run a command line in this process; equal ones only once.

    What is asked of captures that no test changes is shared with the other processes of a run of tests.
    """
    if STORE not in os.environ or not _is_of_fixed_captures(words):
        return _run(words)
    known = Path(os.environ[STORE]) / f"run-{sha256(repr(words).encode()).hexdigest()}"
    with contextlib.suppress(OSError):
        return Run(*pickle.loads(known.read_bytes()))
    done = _run(words)
    part = known.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps((done.code, done.out, done.err)))
    part.replace(known)
    return done


def _is_of_fixed_captures(words: tuple[str, ...]) -> bool:
    """Whether all places that are named are among the captures beside the tests, and no file is written."""
    places = [word for word in words if word.startswith(os.sep)]
    return "--out" not in words and all(word.startswith(FIXED) for word in places) and bool(places)


def _run(words: tuple[str, ...]) -> Run:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = int(main(words, CACHE))
        except SystemExit as stop:  # argparse names a mistake and stops
            code = int(stop.code or 0)
    return Run(code, out.getvalue(), err.getvalue())


def of_capture(command: str, folder: Path, more: str, *forms: str) -> Run:
    """Run a command on a capture, with the words of a variant and of an output form."""
    return run(command, str(folder), *words_of(folder, more), *forms)


def words_of(folder: Path, more: str) -> list[str]:
    """Return the words of a variant; `~` is a blank inside of a word."""
    places = a_place(folder)
    return [word.format(**places).replace("~", " ") for word in more.split()]


@cache
def a_place(folder: Path) -> dict[str, str]:
    """The first wave by the names of the files and its first wait; of broken captures what they might be."""
    names = {path.name: _WAVE_FILE.fullmatch(path.name) for path in folder.glob("se*_wv*.json")}
    name, found = min(names.items(), default=("", None))
    se, simd, slot, number = found.groups() if found else (0, 0, 0, 0)
    wave, line = f"se{se}/simd{simd}/slot{slot}/wv{number}", 1
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        line = int(json.loads((folder / name).read_text())["wave"]["waitcnt"][0][0])
    return {"wave": wave, "line": str(line), "place": f"{wave}:line {line}#0"}
