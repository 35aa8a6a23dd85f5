"""Every command on bad input: a sentence on stderr and exit code 2, or a sound answer; never half of one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rcv_py.cli.arguments import NAMES
from rcv_py.cli.exit_codes import EXIT_TEXT, ExitCode, codes_text
from rcv_py.synth.variants import SAMPLES
from tests.support import captures
from tests.support.command_runs import ON_A_CAPTURE, Run, run

ROOT = Path(__file__).resolve().parents[2]
OUT = "{out}"
# What a command needs besides a folder; all commands that read a capture.
WORDS: dict[str, tuple[str, ...]] = {
    **{name: variants[0].split() for name, variants in ON_A_CAPTURE.items()},  # type: ignore[dict-item]
    "line": ("1",),
    "compare": ("{folder}",),
    "index": ("--jobs", "0"),
    "report": ("--out-dir", OUT, "--jobs", "1"),
    "export": ("--to", "perfetto", "--out", f"{OUT}/trace.pftrace"),
}
DRAWN = ("view", "shot")  # through a window's code: tests/ui and tests/cli/test_commands.py have them


def ask(command: str, folder: Path, out: Path, *forms: str) -> Run:
    """Run a command on a folder."""
    places = {"out": str(out), "folder": str(folder)}
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
    assert set(NAMES) == {*WORDS, *DRAWN, "synth", "schema"}


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


def damaged(tmp_path: Path) -> dict[str, Path]:
    """Captures with one thing wrong each, by what it is."""
    source = captures.trace_path("pa_mqa_small")
    made = {}

    def copy(name: str) -> Path:
        made[name] = tmp_path / name
        shutil.copytree(source, made[name])
        for path in (made[name], *made[name].iterdir()):
            path.chmod(0o755)
        return made[name]

    waves = sorted(path.name for path in source.glob("se*_wv*.json"))
    for name in waves:
        (copy_of := made.get("no waves") or copy("no waves")) and (copy_of / name).unlink()
    (copy("a wave is missing") / waves[0]).unlink()
    folder = copy("a wave is cut")
    (folder / waves[1]).write_bytes((folder / waves[1]).read_bytes()[:1000])
    for name in ("code.json", "occupancy.json", "realtime.json", "filenames.json"):
        (copy(f"without {name}") / name).unlink()
        folder = copy(f"cut {name}")
        (folder / name).write_bytes((folder / name).read_bytes()[:-200])
        (copy(f"{name} is a list") / name).write_text("[1, 2]")
        (copy(f"{name} is empty") / name).write_text("")
    (copy("nothing ran") / "filenames.json").write_text('{"wave_filenames": {}, "gfxip": 9}')
    folder = copy("no source table")
    (folder / "snapshots.json").write_text('{"a": 7}')
    return made


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The damaged captures, and a sample without waves."""
    place = tmp_path_factory.mktemp("broken")
    made = damaged(place)
    SAMPLES["placeholder"].write(place / "placeholder", 0)
    return {**made, "placeholder": place / "placeholder"}


@pytest.mark.parametrize("command", WORDS)
def test_damage_is_told_or_survived(command: str, broken: dict[str, Path], tmp_path: Path) -> None:
    for name, folder in broken.items():
        for forms in ((), ("--json",)):
            done = ask(command, folder, tmp_path / name, *forms)
            try:
                hold(done, is_json=bool(forms))
            except AssertionError as error:
                raise AssertionError(f"{command} on {name}: {error}") from error


def test_a_document_says_what_is_wrong_with_the_files(broken: dict[str, Path]) -> None:
    done = run("hotspot", str(broken["without occupancy.json"]), "--json")
    assert any("occupancy.json" in problem for problem in json.loads(done.out)["about"]["problems"])


def test_the_codes_of_gates() -> None:
    a, b = (str(captures.trace_path(f"flash_attn_small_{name}")) for name in ("before", "after"))
    assert run("compare", a, b, "--fail-on", "regression").code == ExitCode.DONE
    small = str(captures.trace_path("pa_mqa_small"))
    assert run("compare", a, small, "--fail-on", "regression").code == ExitCode.USAGE
    for name in captures.TRACES[:6]:
        folder = str(captures.trace_path(name))
        notes = json.loads(run("check", folder, "--json").out)["notes"]
        is_strict = any(note["severity"] in ("error", "warning") for note in notes)
        assert run("check", folder, "--strict").code == (ExitCode.STRICT if is_strict else ExitCode.DONE)
        assert run("check", folder).code == ExitCode.DONE


def test_a_gate_trips(tmp_path: Path) -> None:
    """A copy whose waves stall twice as long is a regression."""
    source, slow = captures.trace_path("flash_attn_small_before"), tmp_path / "slow"
    shutil.copytree(source, slow)
    for path in slow.glob("se*_wv*.json"):
        path.chmod(0o644)
        document = json.loads(path.read_text())
        wave, late = document["wave"], 0
        for token in wave["instructions"]:
            token[0] += late
            late += token[2]
            token[2:4] = [2 * token[2], token[3] + token[2]]
        wave["end"] += late
        path.write_text(json.dumps(document))
    for gate in ("regression", "difference"):
        assert run("compare", str(source), str(slow), "--fail-on", gate).code == ExitCode.GATE
    assert run("compare", str(slow), str(source), "--fail-on", "regression").code == ExitCode.DONE
    assert run("compare", str(slow), str(source), "--fail-on", "difference").code == ExitCode.GATE


def test_the_codes_are_in_the_help() -> None:
    text = run("--help").out
    assert codes_text() in text
    assert [code.value for code in EXIT_TEXT] == [0, 1, 2, 3, 4, 130]
    assert set(EXIT_TEXT) == set(ExitCode)


# -- through a real process -------------------------------------------------------------------------


def shell(script: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script of a shell in which `rcv` and `FOLDER` are known."""
    rcv = f'rcv() {{ "{sys.executable}" -m rcv_py "$@"; }}'
    folder = captures.trace_path("pa_mqa_small")
    return subprocess.run(
        ["bash", "-c", f"{rcv}; set -o pipefail; {script}"],
        cwd=ROOT,
        env={**os.environ, "FOLDER": str(folder), **more},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_closed_and_full_outputs() -> None:
    for script in (
        "rcv isa $FOLDER --json | head -n 2",
        "rcv isa $FOLDER | head -n 1",
        "rcv hotspot $FOLDER --json >&-",
        "rcv isa $FOLDER --csv >&-",
        "rcv --help | head -n 1",
    ):
        done = shell(script)
        assert (done.returncode, done.stderr) == (0, ""), script
    if Path("/dev/full").exists():
        done = shell("rcv isa $FOLDER > /dev/full")
        assert done.returncode == ExitCode.USAGE
        assert done.stderr.startswith("rcv: The output cannot be written: ")
        assert done.stderr.count("\n") == 1


def test_a_pipe_gets_the_same_text_everywhere() -> None:
    script = "rcv hotspot $FOLDER --top 5; rcv triage $FOLDER; rcv check $FOLDER"
    first = shell(script).stdout
    assert "\x1b" not in first
    for more in ({"TERM": "xterm-256color", "FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}):
        assert shell(script, **more).stdout == first, more


def test_control_c_is_quiet_in_a_process() -> None:
    code = (
        "import sys, time\nfrom types import ModuleType\nfrom rcv_py.cli.main import main\n"
        "info = ModuleType('info')\n"
        "def run(arguments):\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "info.run = run\nsys.modules['rcv_py.cli.commands.info'] = info\n"
        "sys.exit(main(['info', 'x']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (ExitCode.STOPPED, "", "")
