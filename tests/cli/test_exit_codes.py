"""Every command on bad input: a sentence on stderr and exit code 2, or a sound answer; never half of one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rcv_py.cli.exit_codes import EXIT_TEXT, ExitCode, codes_text
from rcv_py.cli.options.commands import COMMANDS, FOLDED
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveColumns
from rcv_py.work.load import plan
from tests.formats.test_broken_corpus import FILES, SHAPES, rich
from tests.formats.test_broken_corpus import damaged as corpus
from tests.support import equal
from tests.support.command_runs import ON_A_CAPTURE, Run, a_place, run
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.programs import finished
from tests.support.samples import sample_path, write_sample, write_slow
from tests.support.whole_capture import write

SMALL = "gfx12"  # the sample that most questions are about
OUT = "{out}"
# What a command needs besides a folder; all commands that read a capture.
WORDS: dict[str, tuple[str, ...]] = {
    **{name: tuple(variants[0].split()) for name, variants in ON_A_CAPTURE.items()},
    "line": ("1",),
    "pmc": (),
    "compare": ("{folder}",),
    "index": ("--jobs", "0"),
    "trend": ("--jobs", "0"),
    "report": ("--out-dir", OUT, "--jobs", "1"),
    "export": ("--to", "perfetto", "--out", f"{OUT}/trace.pftrace"),
    "pack": ("--out", f"{OUT}/it.rcvz"),
    "decode": ("--out", f"{OUT}/decoded"),
}
# Commands that say what is wrong with files, or copy them; all others know only the tables made of them.
OF_FILES = {"info", "check", "counters", "compare", "trend", "report", "index", "pack", "decode"}
OF_A_PLACE = (*equal.ELSEWHERE, "name", "target_from", "problems")  # no table of a trace
BOTH_FORMS = {"no waves", "empty waves", "scattered tokens", "placeholder", "code.json cut in half"}
# Those of tests/ui, test_commands.py, test_mcp.py and test_pack.py
ELSEWHERE = ("view", "shot", "mcp", "unpack")


def ask(command: str, folder: Path, out: Path, *forms: str) -> Run:
    """Run a command on a folder."""
    found = a_place(folder) if folder.is_dir() else a_place(out / "empty")
    places = {"out": str(out), "folder": str(folder), **found}
    return run(command, str(folder), *(word.format(**places) for word in WORDS[command]), *forms)


def hold(done: Run, *, is_json: bool) -> None:
    """It is done with a whole answer, or refused with a sentence and nothing else."""
    assert done.code in (ExitCode.DONE, ExitCode.USAGE), done.err
    assert "Traceback" not in done.err
    assert "\x1b" not in done.out + done.err
    if done.code == ExitCode.USAGE:
        assert done.err.startswith("rcv: "), done.err
        assert done.err.splitlines()[0].rstrip().endswith("."), done.err
    if is_json and done.out:
        assert json.loads(done.out)["schema"].startswith("rcv.")
    if done.code == ExitCode.DONE:
        assert done.out.strip()


def refused(done: Run) -> None:
    """It is refused."""
    hold(done, is_json=True)
    assert done.code == ExitCode.USAGE


def test_every_command_that_reads_is_here() -> None:
    others = {"record", "synth", "schema", "completion", "skill", "help", "isa-docs"}
    assert {*COMMANDS, *FOLDED} == {*WORDS, *ELSEWHERE, *others}


@pytest.mark.parametrize("command", WORDS)
def test_what_is_no_capture_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("no trace")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "code.json").write_text("[]")
    for name in ("missing", "empty", "file.txt", "nul\0"):
        for forms in ((), ("--json",)):
            done = ask(command, tmp_path / name, tmp_path, *forms)
            refused(done)
            assert "report" in done.out or not done.out


def rewritten(folder: Path, change: Callable[[list[list[int]]], None]) -> Path:
    """Write a small capture and change the tokens of its waves."""
    write_sample(SMALL, folder)
    for path in folder.glob("se*_wv*.json"):
        document = json.loads(path.read_text())
        change(document["wave"]["instructions"])
        path.write_text(json.dumps(document))
    return folder


def scatter(tokens: list[list[int]]) -> None:
    """Times that jump, durations below 0, lines that are not there."""
    for at, token in enumerate(tokens):
        token[0] += (0, -5000, 5000, 2**40)[at % 4]
        token[2] *= (1, -1, 3)[at % 3]
        token[4] = (token[4], -1, 10**6, 0)[at % 4]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Captures with one thing wrong each, by what it is."""
    place = tmp_path_factory.mktemp("broken")
    made: dict[str, Path] = {}
    for name in FILES:
        for damage, data in {
            "cut in half": None,
            "another shape": json.dumps(SHAPES["an object of objects"]).encode(),
        }.items():
            made[f"{name} {damage}"] = write(place / str(len(made)), corpus(name, data))
        files = rich()
        del files[name]
        if name not in ("code.json", "filenames.json"):
            made[f"no {name}"] = write(place / str(len(made)), files)
    waves = {name: b"" for name in rich() if "_wv" in name}
    made["empty waves"] = write(place / "empty", rich() | waves)
    made["no waves"] = write(place / "none", {k: v for k, v in rich().items() if k not in waves})
    made["scattered tokens"] = rewritten(place / "scattered", scatter)
    made["no tokens"] = rewritten(place / "bare", list.clear)
    write_sample("placeholder", place / "placeholder", 0)
    return {**made, "placeholder": place / "placeholder"}


@pytest.fixture(scope="module")
def unlike(broken: dict[str, Path]) -> list[str]:
    """Those of the broken captures that leave different tables, the first of each."""
    kept: dict[str, tuple[Trace, list[WaveColumns]]] = {}
    for name, folder in broken.items():
        trace = open_trace(folder)
        waves = [trace.reader.columns(job) for job in plan(trace.waves)]
        if not any(_are_alike(trace, waves, *others) for others in kept.values()):
            kept[name] = trace, waves
    return list(kept)


def _are_alike(one: Trace, waves: list[WaveColumns], other: Trace, columns: list[WaveColumns]) -> bool:
    return not equal.differences(one, other, without=OF_A_PLACE) and not equal.differences(waves, columns)


@pytest.mark.parametrize("command", WORDS)
def test_damage_is_survived(command: str, broken: dict[str, Path], unlike: list[str], tmp_path: Path) -> None:
    """A command that knows only tables is not asked twice of the same ones."""
    for name in broken if command in OF_FILES else unlike:
        folder = broken[name]
        for forms in ((), ("--json",)) if name in BOTH_FORMS else (("--json",),):
            done = ask(command, folder, tmp_path / "out", *forms)
            try:
                hold(done, is_json=bool(forms))
            except AssertionError as error:
                raise AssertionError(f"{command} on {name}: {error}") from error


NAMES_ONE = {"line", "place", "wave"}  # these name an instruction or a wave, which is not there
OTHER_FILES = {"pmc"}  # needs tables that are no part of a capture


@pytest.mark.parametrize("sample", ["placeholder", "pc_sampling"])
@pytest.mark.parametrize("command", [name for name in WORDS if name not in NAMES_ONE | OTHER_FILES])
def test_a_capture_without_traced_waves_is_no_mistake(command: str, sample: str, tmp_path: Path) -> None:
    """There is nothing to list, and a sentence says so; only what was named and is not there is refused."""
    for name, *forms in (("text",), ("json", "--json")):
        done = ask(command, sample_path(sample), tmp_path / name, *forms)
        hold(done, is_json=bool(forms))
        assert done.code == ExitCode.DONE, done.err


@pytest.mark.parametrize(
    "words", ["wave se0/simd0/slot0/wv0", "units --wave se0/simd0/slot0/wv0", "line 999"]
)
def test_what_is_named_and_not_there_is_refused(words: str) -> None:
    command, *more = words.split()
    refused(run(command, str(sample_path("pc_sampling")), *more))


def test_a_document_says_what_is_wrong_with_the_files(broken: dict[str, Path]) -> None:
    done = run("hotspot", str(broken["occupancy.json cut in half"]), "--json")
    assert any("occupancy.json" in problem for problem in json.loads(done.out)["about"]["problems"])


def test_the_codes_of_gates() -> None:
    a, b, other = (str(sample_path(name)) for name in ("matmul_small", "counters", "vector_add"))
    assert run("compare", a, b, "--fail-on", "regression").code == ExitCode.DONE
    assert run("compare", a, other, "--fail-on", "regression").code == ExitCode.USAGE
    codes = set()
    for name in ("matmul_small", "combined", "gfx12", "placeholder"):
        folder = str(sample_path(name))
        notes = json.loads(run("check", folder, "--json").out)["notes"]
        is_refused = any(note["severity"] in ("error", "warning") for note in notes)
        code = run("check", folder, "--strict", "--json").code
        assert code == (ExitCode.STRICT if is_refused else ExitCode.DONE)
        codes.add(code)
    assert codes == {ExitCode.STRICT, ExitCode.DONE}


def test_a_gate_trips(tmp_path: Path) -> None:
    """A copy whose waves stall longer is a regression."""
    source, slow = sample_path("matmul_small"), write_slow("matmul_small", tmp_path / "slow")
    for gate in ("regression", "difference"):
        assert run("compare", str(source), str(slow), "--fail-on", gate).code == ExitCode.GATE
    assert run("compare", str(slow), str(source), "--fail-on", "regression").code == ExitCode.DONE
    assert run("compare", str(slow), str(source), "--fail-on", "difference").code == ExitCode.GATE


def test_the_codes_are_in_the_help() -> None:
    text = run("--help").out
    assert codes_text() in text
    assert [code.value for code in EXIT_TEXT] == [0, 1, 2, 3, 4, 130, 143]
    assert set(EXIT_TEXT) == set(ExitCode)


# -- what is asked is wrong -------------------------------------------------------------------------

A_WAVE = "se1/simd0/slot0/wv0"
WRONG = {
    "waves --unit-of se9/simd9/slot9/wv9": "The capture has no wave se9/simd9/slot9/wv9.",
    "flame --least 101": "'101' is not a share from 0 to 100",
    "waits --line -3": "'-3' is not a whole number from 0 on",
    "waits --top 1.5": "'1.5' is not a whole number from 0 on",
    "waves --unit-of nonsense": "'nonsense' does not name a wave.",
    "waves --sort color": "There is no column 'color' to sort by.",
    "waves --within 5:4": "'5:4' is not a range such as 1000:2000",
    "waves --resident --within 5": "'5' is not a range such as 1000:2000",
    "wave se9/simd9/slot9/wv9": "The capture has no wave se9/simd9/slot9/wv9.",
    "wave wv": "'wv' does not name a wave.",
    f"wave {A_WAVE} --clock 9:1": "'9:1' is not a range such as 1000:2000",
    f"wave {A_WAVE} --within a:b": "'a:b' is not a range such as 1000:2000",
    "units --of se9/simd9/slot9/wv9": "The capture has no wave se9/simd9/slot9/wv9.",
    "units --within 7:7": "'7:7' is not a range such as 1000:2000",
    "place nowhere": "'nowhere' is not a place in a trace.",
    "place ~": "An empty text is not a place.",
    "place :line~99999": "The capture has no instruction 99999.",
    "place se9/simd9/slot9/wv9:line~3#0": "The capture has no wave se9/simd9/slot9/wv9.",
    "search": "There is nothing to look for.",
    "search --match [ --regex": "The search text is not a regular expression: unterminated character set",
    "isa --match ( --regex": "The search text is not a regular expression: missing )",
    "events --match * --regex": "The search text is not a regular expression: nothing to repeat",
    "isa --mode wave-sum": "This mode is about one wave.",
    "isa --sort color": "There is no column 'color' to sort by.",
    "hotspot --clock 3:2": "'3:2' is not a range such as 1000:2000",
    "hotspot --bins 0": "'0' is not a whole number above 0",
    "hotspot --by tree": "--by tree belongs to --charge.",
    "hotspot --sort cost": "--sort cost belongs to --charge.",
    "hotspot --by kind --charge self": "--charge does not know --by kind.",
    "occupancy --only SE99": "There is no row 'SE99'.",
    "line 3 --bar 999": "There is no bar 999.",
    "hotspot --file a.py": "--file belongs to --charge.",
    "flame --content sandwich": "--content sandwich and --around belong together.",
    "flame --content sandwich --around 99999": "The capture has no instruction 99999.",
    "flame --content sandwich --around a.py:3": "No code came from a.py.",
    "loops --loop 1:2": "--loop belongs to --by iterations.",
    "loops --by iterations --loop 1:2": "No wave ran a loop from 1 to 2.",
    "line se0/simd0/slot0/wv0:instruction~3~hit~999": "There is no hit 999. The last one is ",
    "isa --mode hit --wave se0/simd0/slot0/wv0 --hit 9999": "There is no hit 9999. The last one is ",
    "loops --by iterations --loop 1": "'1' is not a pair of instructions such as 12:40",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_makes_no_sense_is_refused_with_a_sentence(words: str) -> None:
    command, *more = (word.replace("~", " ") for word in words.split())
    for forms in ((), ("--json",), ("--csv",)):
        done = run(command, str(sample_path(SMALL)), *more, *forms)
        assert (done.code, done.out) == (ExitCode.USAGE, ""), words
        assert WRONG[words] in " ".join(done.err.split()), done.err
        assert "Traceback" not in done.err


# -- through a real process -------------------------------------------------------------------------


def shell(script: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script of a shell in which `rcv` and `FOLDER` are known."""
    rcv = f'rcv() {{ "{sys.executable}" -m rcv_py "$@"; }}'
    folder = sample_path("matmul_small")
    return finished(
        ["bash", "-c", f"{rcv}; set -o pipefail; {script}"], env={**os.environ, "FOLDER": str(folder), **more}
    )


def test_closed_and_full_outputs() -> None:
    """What reads ours has enough, was never there, or is full."""
    for script in (
        "rcv isa $FOLDER --json | head -n 2",
        "rcv isa $FOLDER | head -n 1",
        "COLUMNS=80 rcv isa $FOLDER | head -n 1",
        "rcv --help | head -n 1",
        "rcv check $FOLDER <&- 2>&- | head -n 1",
        "rcv mcp --root . <&-",
    ):
        done = shell(script)
        assert (done.returncode, done.stderr) == (0, ""), script
    for output in (">&-", "> /dev/full") if Path("/dev/full").exists() else (">&-",):
        for command in ("isa $FOLDER", "hotspot $FOLDER --json", "--help"):
            done = shell(f"rcv {command} {output}")
            assert done.returncode == ExitCode.USAGE, (command, output)
            assert done.stderr.startswith("rcv: The output cannot be written: ")
            assert done.stderr.count("\n") == 1


def test_the_exit_code_does_not_depend_on_the_reader() -> None:
    """A gate trips, and a mistake stays one, although who reads the output has gone."""
    names = {"WORSE": "placeholder", "FAST": "tutorial_after", "SLOW": "tutorial_before"}
    paths = {variable: str(sample_path(name)) for variable, name in names.items()}
    for script, expected in (
        ("rcv check $WORSE --strict", ExitCode.STRICT),
        ("rcv check $WORSE --strict --json", ExitCode.STRICT),
        ("rcv line $FOLDER 99999 2>&1", ExitCode.USAGE),
        ("rcv compare $FAST $SLOW --fail-on regression", ExitCode.GATE),
    ):
        done = shell(f"{script} | true", **paths)
        assert (done.returncode, done.stderr) == (expected, ""), script


def test_a_pipe_gets_the_same_text_everywhere() -> None:
    script = "rcv hotspot $FOLDER --top 5; rcv triage $FOLDER --no-predict"  # which needs no compiler
    first = shell(script, LC_ALL="C").stdout
    assert "\x1b" not in first
    for more in ({}, {"TERM": "xterm-256color"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}):
        assert shell(script, **more).stdout == first, more
    forced = shell(script, FORCE_COLOR="1").stdout
    assert forced != first
    assert forced.replace("\x1b[1m", "").replace("\x1b[0m", "") == first


def test_control_c_is_quiet_in_a_process() -> None:
    code = (
        "import sys, time\nfrom types import ModuleType\nfrom rcv_py.cli.main import main\n"
        "info = ModuleType('info')\n"
        "def run(arguments):\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "info.run = run\nsys.modules['rcv_py.features.summary.info_command'] = info\n"
        "sys.exit(main(['info', 'x']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),  # without the COLUMNS that readline exports: a listing would be held
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, out, err) == (ExitCode.STOPPED, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to itself")
@pytest.mark.parametrize(
    ("handler", "expected"),
    [("signal.default_int_handler", -signal.SIGINT), ("signal.SIG_IGN", ExitCode.USAGE)],
)
def test_control_c_is_quiet_while_the_command_is_imported(handler: str, expected: int) -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'rcv_py.cli.main':\n            os.kill(os.getpid(), signal.SIGINT)\n"
        f"signal.signal(signal.SIGINT, {handler})\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from rcv_py.__main__ import run\n"
        "sys.argv = ['rcv', 'info', '/nowhere']\n"
        "sys.exit(run())\n"
    )
    done = finished([sys.executable, "-c", code])
    assert (done.returncode, "Traceback" in done.stderr) == (expected, False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists threads as files")
def test_numpy_makes_no_threads_and_nothing_is_compiled_that_nobody_asked_for(tmp_path: Path) -> None:
    """A thread for each processor costs 30 ms of every start, and numba 200 ms."""
    code = (
        "import os, sys; from rcv_py.cli.main import main; main(sys.argv[1:]); assert 'numpy' in sys.modules;"
        "assert 'numba' not in sys.modules;"
        "print(len(os.listdir('/proc/self/task')))"
    )
    free = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    write_sample("matmul_tiled", tmp_path)
    words = [sys.executable, "-c", code, "waits", str(tmp_path)]
    done = finished(words, check=True, env=free)
    assert done.stdout.splitlines()[-1] == "1"
