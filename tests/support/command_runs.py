"""Every command with every form of its table, and a runner that remembers what was printed."""

import contextlib
import csv
import io
import json
import os
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import rcv_py.cli.main as program
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.options.option import FORM, Options
from rcv_py.formats.capture_cache import CaptureCache
from tests.support.samples import STORE

# What is asked of one capture; FOLDER goes in front.  One word list a variant, the first is the golden one.
# {wave}, {place} and {line} are a wave of the capture, and its first wait.
ON_A_CAPTURE: dict[str, tuple[str, ...]] = {
    "triage": ("--top 3", "--top 0 --all", "--no-predict"),
    "info": ("", "--read"),
    "check": ("", "--strict"),
    "summary": ("",),
    "hotspot": (
        *("--top 4", "--by source --sort stall", "--by kind", "--by class", "--like old --top 3"),
        *("--like new --mode src", "--bins 8", "--charge self --top 3 --sort text --ascending"),
        *("--charge inclusive --by source --top 3 --no-idle", "--charge inclusive --by tree --top 5"),
    ),
    "isa": (
        *("--top 4", "--blocks --top 4", "--branches --top 4", "--labels", "--help-of s_wait"),
        *("--bars kinds --match wait --top 4", "--mode wave-max --wave {wave} --bars latency_stall --top 4"),
    ),
    "source": ("--top 3", "--inlined --no-causes"),
    "samples": ("--top 3", "--by source --top 3"),
    "line": ("3 --top 3", "5 --by since --log", "{line} --bar 0 --bars 4"),
    "waits": ("--top 3", "--latency --top 4", "--line {line} --sort hits", "--inverted"),
    "causes": ("--top 3", "--by instruction --top 3", "--by producer --top 3", "--line {line} --sort hits"),
    "loops": (
        "--top 3",
        *(
            f"--by {name} --top 3"
            for name in ("iterations", "phases", "first", "distance", "chains", "barriers", "segments")
        ),
        "--by iterations --sort cycles --top 4",
    ),
    "range": ("--top 3", "--top 0 --between 1:3"),
    "whatif": ("", "--latency memory=0.5 --no-barriers --free {line}", "--path --top 5"),
    "bubbles": ("--top 4", "--rule reference --top 4"),
    "latency": (
        *("--top 4", "--by memory --top 4", "--by memory --waits --top 4", "--by access --top 4"),
        *("--by fetch --top 4", "--rule reference --top 4"),
    ),
    "flame": ("--least 10", "--content kernel --metric stall", "--content sandwich --around {line}"),
    "schedule": ("",),
    "roofline": ("",),
    "registers": ("", "--by instruction --top 4 --sort vgprs", "--line {line}"),
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
    "notes": ("", "list --match nothing~of~it --sort severity"),
    "events": ("", "--match e --sort name --ascending"),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a command line gave back."""

    code: int
    out: str
    err: str


_WAVE_FILE = re.compile(r"se(\d+)_sm(\d+)_sl(\d+)_wv(\d+)\.json")
# Folders of captures that no test changes; what commands say of them is remembered for the whole run.
UNCHANGED = [Path(os.environ[STORE])] if STORE in os.environ else []
CACHE = CaptureCache(64)  # dozens of commands read the same captures, and that is most of their time
BY_FORM = {"triage", "latency", "flame"}  # commands that compute another thing, or refuse to, in another form
GOLDEN_FORMS: tuple[tuple[str, ...], ...] = ((), ("--json",))


@cache
def run(*words: str) -> Run:
    """Run a command line in this process; equal ones only once.

    What is asked of captures that no test changes is shared with the other processes of a run of tests.
    """
    if STORE not in os.environ or not _is_of_unchanged_captures(words):
        return run_anew(*words)
    known = Path(os.environ[STORE]) / f"run-{sha256(repr(words).encode()).hexdigest()}"
    with contextlib.suppress(OSError):
        return Run(*pickle.loads(known.read_bytes()))
    done = run_anew(*words)
    part = known.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps((done.code, done.out, done.err)))
    part.replace(known)
    return done


def _is_of_unchanged_captures(words: tuple[str, ...]) -> bool:
    """Whether all places that are named are captures that no test changes, and no file is written."""
    places = [word for word in words if word.startswith(os.sep)]
    return "--out" not in words and all(is_unchanged(Path(word)) for word in places) and bool(places)


def is_unchanged(place: Path) -> bool:
    """Whether a folder is a capture that no test changes."""
    return any(place.is_relative_to(folder) for folder in UNCHANGED)


def run_anew(*words: str) -> Run:
    """Run a command line in this process, whatever was run before."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = int(program.main(words, CACHE))
        except SystemExit as stop:  # argparse names a mistake and stops
            code = int(stop.code or 0)
    return Run(code, out.getvalue(), err.getvalue())


def printed(*words: object, code: int = 0) -> str:
    """Run a command line anew and return what it prints; it complains about nothing."""
    done = run_anew(*map(str, words))
    assert (done.code, done.err) == (code, ""), done.err
    return done.out


def printed_json(*words: object, code: int = 0) -> Any:
    """The document that `printed` prints with --json."""
    return json.loads(printed(*words, "--json", code=code))


def printed_csv(*words: object) -> list[dict[str, str]]:
    """The rows that `printed` prints with --csv, by the names of their columns."""
    return list(csv.DictReader(io.StringIO(printed(*words, "--csv"))))


def refused(*words: object) -> str:
    """Run a command line anew that cannot be right, and return the sentence."""
    done = run_anew(*map(str, words))
    assert (done.code, done.out) == (2, ""), done.out
    return done.err


def of_capture(command: str, folder: Path, more: str, *forms: str) -> Run:
    """Run a command on a capture, with the words of a variant and of an output form.

    The first variant is printed in both of its forms as soon as one is wanted: most tests ask for both.
    """
    if is_unchanged(folder) and more == ON_A_CAPTURE[command][0] and forms in GOLDEN_FORMS:
        return in_forms(command, folder, more, GOLDEN_FORMS)[GOLDEN_FORMS.index(forms)]
    return run(command, str(folder), *words_of(folder, more), *forms)


def in_forms(command: str, folder: Path, more: str, forms: Sequence[tuple[str, ...]]) -> list[Run]:
    """Run a command on a capture and print its answer, which is computed once, in several forms."""
    answers: dict[str, CommandAnswer] = {}  # by all that was asked but the form
    find = program.import_module

    def imported(name: str) -> SimpleNamespace:
        return SimpleNamespace(run=lambda options: _answer(options, find(name), answers))

    with patch.object(program, "import_module", imported):
        return [run(command, str(folder), *words_of(folder, more), *form) for form in forms]


def _answer(
    options: Options, module: ModuleType, answers: dict[str, CommandAnswer]
) -> CommandAnswer | int | None:
    """What a command says, or said when it was asked before; raises what it raises."""
    forms = {name for name, argument in options.arguments.items() if argument.one_of == FORM}
    asked = {name: value for name, value in options.values.items() if name not in forms}
    key = repr((options.command, asked, sorted(options.given - forms)))
    if key in answers:
        return answers[key]
    answer: CommandAnswer | int | None = module.run(options)
    if isinstance(answer, CommandAnswer) and options.command not in BY_FORM:
        answers[key] = answer
    return answer


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
