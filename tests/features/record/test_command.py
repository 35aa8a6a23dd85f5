"""`rcv record`: with a program that stands in for rocprofv3."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from jsonschema_rs import Draft202012Validator

from rcv_py.cli.schemas import BY_ID
from rcv_py.work.recording import machine
from rcv_py.work.recording.recorder import appearing
from tests.support.command_runs import Run, run_anew
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.processes import gone
from tests.support.rocprofv3 import installed
from tests.support.yaml_subset import jobs

GOOD = ROOT / "sample_traces" / "matmul_tiled"
EMPTY = ROOT / "sample_traces" / "placeholder"  # waves ran on another compute unit
Recordings = Callable[..., None]
PROGRAM = [sys.executable, "-c", "print('the program ran')"]
FULL = "W0101 att.cpp:12 Thread trace buffer full!"


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and the stand-ins on the search path."""
    tools = installed(tmp_path / "tools", "rocprofv3", "ssh", "scp")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> Recordings:
    """Say what the program that stands in for rocprofv3 does, by the settings that it is given."""

    def follow(*rules: dict[str, Any]) -> None:
        made = [
            {name: str(value) if isinstance(value, Path) else value for name, value in rule.items()}
            for rule in rules
        ]
        monkeypatch.setenv("RECORDINGS", json.dumps(made))

    return follow


def run(*words: object, code: int = 0) -> Run:
    done = run_anew("record", *map(str, words))
    assert done.code == code, done.err
    return done


def record(*words: object, code: int = 0) -> Run:
    return run(*words, "--", *PROGRAM, code=code)


def document(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record("--json", *words).out)
    Draft202012Validator(BY_ID["rcv.record/2"].as_json()).validate(found)
    return found


def folders() -> list[str]:
    """The folders of the recordings, one a try."""
    return sorted(path.name for path in Path("rcv_capture").iterdir())


def job_of(run: dict[str, Any]) -> dict[str, Any]:
    (job,) = jobs((Path(run["folder"]) / "input.yaml").read_text())
    return job


def test_a_capture_is_recorded_checked_and_looked_at(recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    text = record("--kernel", "matmul", "--launch", 2).out
    assert "the program ran" in text
    assert "Recorded: rcv_capture/1/ui_output_agent_4567_dispatch_12" in text
    assert "bound" in text  # what triage says
    assert folders() == ["1"]
    (job,) = jobs(Path("rcv_capture/1/input.yaml").read_text())
    assert job["kernel_include_regex"] == "matmul"
    assert job["kernel_iteration_range"] == "[2]"
    assert job["advanced_thread_trace"] is True
    assert Path(job["output_directory"]) == Path("rcv_capture/1").absolute()


def test_every_option_reaches_the_input_file(recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    masks = ("--engines", "0x11", "--simds", "f")
    (run,) = document("--gpu", 3, "--cu", 7, *masks, "--buffer", "1G", "--activity", 4, "--once")["runs"]
    expected = {
        "att_gpu_index": "3",
        "att_target_cu": 7,
        "att_shader_engine_mask": "0x11",
        "att_simd_select": "0xf",
        "att_buffer_size": "0x40000000",
        "att_activity": 4,
    }
    assert expected.items() <= job_of(run).items()
    assert expected.items() <= run["settings"].items()


def test_counters_of_the_target_launches_after_it_and_regions(recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    (run,) = document("--activity", 8, "--target-counters", "--consecutive", 3, "--once")["runs"]
    # "until a total of n kernels are profiled including the initial targeted kernel" (using-thread-trace)
    assert {"att_perfcounter_target_only": True, "att_consecutive_kernels": 4}.items() <= job_of(run).items()
    (run,) = document("--regions", "--once")["runs"]
    assert {"selected_regions": True, "marker_trace": True}.items() <= job_of(run).items()
    for words in (("--target-counters",), ("--regions", "--consecutive", 3), ("--seconds", 3)):
        assert record(*words, code=2).err


def test_a_running_process_is_recorded(recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    text = run("--attach", 4321, "--seconds", 5, "--once").out
    assert "attached to 4321 --attach-duration-msec 5000 --attach-sync-output -i\n" in text
    assert "Recorded: rcv_capture/1/" in text
    assert "takes no command" in record("--attach", 4321, code=2).err
    head = "# rocprofv3 --attach 4321 --attach-duration-msec 10000 --attach-sync-output -i input.yaml\n"
    assert run("--attach", 4321, "--yaml").out.startswith(head)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Call it with a line of output after which the time of a run is over."""
    lines: list[str] = []
    read = machine.run_program

    def run(words: Sequence[str], on_line: machine.OnLine, limit_s: float | None = None) -> int:
        def hear(line: str) -> None:
            lines.append(line)
            on_line(line)

        return read(words, hear, limit_s)

    def after(last: str) -> None:
        monkeypatch.setattr(machine, "run_program", run)
        monkeypatch.setattr(
            machine, "_left", lambda deadline: 0 if any(last in line for line in lines) else HANG_S
        )

    return after


def test_what_hangs_after_its_capture_is_ended(late: Callable[[str], None], recordings: Recordings) -> None:
    recordings({"folder": EMPTY, "hangs": True})
    late("it hangs")
    text = record("--limit", 7).out
    assert "did not end in 7 s, and was ended.  The capture holds what was written until then." in text
    assert folders() == ["1"]  # it would hang again


def test_what_hangs_without_a_capture_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch, recordings: Recordings, late: Callable[[str], None]
) -> None:
    """Nor one that ignores SIGTERM, below rocprofv3."""
    recordings({})
    late("pid ")
    monkeypatch.setattr(machine, "EXIT_GRACE_S", 1.0)
    program = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    program += f"print('pid', os.getpid(), flush=True); time.sleep({HANG_S})"
    output = run("--", sys.executable, "-c", program, code=2)
    assert "did not end in 3,600 s, and was ended.  No capture was written." in output.err
    assert "--limit SECONDS waits longer" in output.err
    number = next(int(line.split()[1]) for line in output.out.splitlines() if line.startswith("pid "))
    with suppress(psutil.NoSuchProcess):
        assert gone([psutil.Process(number)])


def test_the_rocprofv3_of_the_python_environment_comes_first(
    monkeypatch: pytest.MonkeyPatch, recordings: Recordings, tmp_path: Path
) -> None:
    """First of the one whose program is recorded, then of the active one."""
    recordings({"folder": GOOD})
    names = {}
    for name in ("own", "active"):
        place = tmp_path / name / "lib" / "python3.12" / "site-packages" / "_rocm_sdk_core" / "bin"
        place.parent.mkdir(parents=True)
        names[name] = str(installed(place, "rocprofv3") / "rocprofv3")
    (tmp_path / "own" / "bin").mkdir()
    program = tmp_path / "own" / "bin" / "bench"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    for command, expected in ((str(program), "own"), (sys.executable, "active")):
        words = [command] if expected == "own" else [command, "-c", ""]
        assert json.loads(run("--once", "--json", "--", *words).out)["command"][0] == names[expected]


def test_an_empty_capture_is_recorded_again_where_waves_ran(recordings: Recordings) -> None:
    recordings({"when": {"att_target_cu": 1}, "folder": EMPTY}, {"folder": GOOD})
    found = document()
    first, second = found["runs"]
    assert first["why"] == ""
    assert second["why"] == "No wave ran on the traced compute unit"
    assert job_of(first)["att_target_cu"] == 1
    assert job_of(second)["att_target_cu"] != 1
    assert found["capture"] == second["capture"]
    assert "# No wave ran on the traced compute unit" in (Path(second["folder"]) / "input.yaml").read_text()


def test_it_is_said_each_time_and_done_at_most_twice(recordings: Recordings) -> None:
    recordings(
        {"when": {"att_buffer_size": "0x10000000"}, "folder": GOOD, "says": [FULL]},
        {"when": {"att_target_cu": 1}, "folder": EMPTY},
        {"folder": EMPTY, "says": [FULL]},
    )
    text = record("--strict", code=4).out
    assert (
        "rcv: The buffer was full; recorded again with att_buffer_size 0x40000000 instead of 0x10000000."
        in text
    )
    assert text.count("; recorded again with ") == 2
    assert folders() == ["1", "2", "3"]


def test_what_was_chosen_is_kept(recordings: Recordings) -> None:
    recordings({"folder": EMPTY})
    words = ("--cu", 1, "--engines", "0x1", "--strict")
    text = record(*words, code=4).out
    assert "What would help was already set: att_" in text
    assert folders() == ["1"]
    text = record("--once").out
    assert "It is not recorded again: --once." in text


def test_no_capture_at_all(recordings: Recordings) -> None:
    recordings({"when": {"att_shader_engine_mask": "0x1"}}, {"folder": GOOD})
    assert [run["why"] for run in document()["runs"]] == ["", "No capture was written"]
    recordings({})
    assert "wrote no capture: no kernel ran." in record(code=2).err
    assert "no kernel has the name that was asked for" in record("--kernel", "x", code=2).err


def test_a_twin_is_recorded_as_the_capture_was(recordings: Recordings) -> None:
    recordings({"when": {"att_target_cu": 1}, "folder": EMPTY}, {"folder": GOOD})
    found = document("--twin")
    settings = [jobs((Path("rcv_capture") / name / "input.yaml").read_text())[0] for name in ("2", "3")]
    assert {**settings[0], "output_directory": ""} == {**settings[1], "output_directory": ""}
    assert Path(found["replicate"]).parent == Path("rcv_capture/3")


def test_no_twin_of_a_capture_without_waves(recordings: Recordings) -> None:
    recordings({"folder": EMPTY})
    assert "There is no twin: a capture without traced waves" in record("--once", "--twin").out
    assert folders() == ["1"]


TROUBLES = {
    "[rocprofv3] Fatal error: rocprof-trace-decoder library path not found in ['/lib']": "trace decoder",
    "callback failed: ROCPROFILER_THREAD_TRACE_DECODER_STATUS_ERROR_INVALID_SHADER_DATA": "aqlprofile",
    "rocprofv3: error: unrecognized arguments: --att": "does not know what it was asked for",
    "Unable to open /dev/kfd read-write: Permission denied": "The GPU may not be used",
    "[rocattach] error: ptrace(PTRACE_SEIZE) returned -1": "cannot attach to this process",
    "what(): Mismatched '(' and ')' in regular expression": "cannot read --kernel",
    "something new": "rocprofv3 ended with 9, and wrote no capture. It said: something new",
}


@pytest.mark.parametrize("line", TROUBLES)
def test_what_rocprofv3_cannot_do_is_explained(line: str, recordings: Recordings) -> None:
    recordings({"says": [line], "code": 9})
    error = record(code=2).err
    assert TROUBLES[line] in error
    assert folders() == ["1"]  # it would fail again


def test_without_rocprofv3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("rcv_py.work.recording.recorder.PLACES", str(tmp_path))
    error = record(code=2).err
    assert "rocprofv3 is not on this machine" in error
    error = record("--rocprofv3", tmp_path / "none", code=2).err
    assert "cannot be started" in error


def test_on_another_machine(tmp_path: Path, recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    there, out = tmp_path / "there's work", tmp_path / "here"
    there.mkdir()
    words = ("--host", f"lab:{there}", "--out", out, "--json")
    program = [sys.executable, "-c", "import os; print(os.getcwd(), 'a b $HOME')"]
    output = run(*words, "--", *program)
    assert f"{there} a b $HOME" in output.err  # quoted as it was written
    found = json.loads(output.out)
    assert Path(found["capture"]) == out / "1" / "ui_output_agent_4567_dispatch_12"
    assert not Path(job_of(found["runs"][0])["output_directory"]).exists()  # nothing is left there


def test_a_command_that_fails_is_told_beside_its_capture(recordings: Recordings) -> None:
    recordings({"folder": EMPTY})
    text = run("--once", "--", sys.executable, "-c", "raise SystemExit(3)").out
    assert "rcv: rocprofv3 ended with 3; the capture holds what ran until then." in text
    assert "Recorded: " in text


def test_a_machine_that_is_not_there() -> None:
    assert (
        "nowhere cannot be used. It said: ssh: Could not resolve" in record("--host", "nowhere", code=2).err
    )
    assert "does not name a machine" in record("--host=-oProxyCommand=x", code=2).err
    error = record("--host", "lab:/not there", code=2).err
    assert "lab cannot be used. It said: " in error
    assert "/not there" in error  # by the shell there
    assert """Does `ssh lab 'cd '"'"'/not there'"'"' && true'` work""" in error


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for host in ((), ("--host", "lab")):
        error = record(*host, "--out", tmp_path / "file" / "below", code=2).err
        assert f"{tmp_path / 'file' / 'below'}" in error
        assert "Choose another --out." in error


def test_what_is_no_recording_is_refused() -> None:
    assert "so it takes no command" in record("--watch", "x", code=2).err
    for size in ("5", "1023k", "2049M", "4G"):
        assert "from 1M to 2G" in run("--buffer", size, "--", "true", code=2).err


def test_the_input_file_alone() -> None:
    text = record("--yaml", "--kernel", 'a"b\\d').out
    (job,) = jobs(text)
    assert job["kernel_include_regex"] == 'a"b\\d'
    assert not Path("rcv_capture").exists()


def test_words_behind_two_dashes_are_the_programs() -> None:
    assert (
        "-- ./a --kernel x -- -h"
        in run("--yaml", "--", "./a", "--kernel", "x", "--", "-h").out.splitlines()[0]
    )
    text = run("--yaml", "--out", "OUT").out  # which people write their command behind
    assert text.startswith("# rocprofv3 -i input.yaml -- ./your_program\n")
    assert jobs(text)[0]["output_directory"] == "OUT"
    assert "There is no command to record" in run(code=2).err


def test_ending_it_ends_the_program(recordings: Recordings) -> None:
    recordings({"folder": GOOD})
    program = "import os, sys, time; print('pid', os.getpid(), flush=True); time.sleep(600)"
    words = [sys.executable, "-m", "rcv_py", "record", "--", sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None
        number = next(int(line.split()[1]) for line in process.stdout if line.startswith("pid"))
        handle = os.pidfd_open(number)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert select.select([handle], [], [], 30)[0]  # it has ended, too
    os.close(handle)


def test_watching_yields_what_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(EMPTY, folder / "old")
    looks = iter(range(100))

    def wait() -> None:
        step = next(looks)
        if step == 1:
            shutil.copytree(GOOD, folder / "new")
            (folder / "new" / "late.json").write_text("[")
        if step == 2:
            (folder / "new" / "late.json").write_text("[]")

    new = appearing(folder, wait)
    assert next(new) == folder / "new"
    assert next(looks) == 4  # written on at look 2, the same at 3


def test_watching_compares_with_the_one_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(GOOD, folder / "before")

    def wait(_: float) -> None:
        if not (folder / "after").exists():
            shutil.copytree(GOOD, folder / "after")

    monkeypatch.setattr("rcv_py.features.record.command.time", SimpleNamespace(sleep=wait))
    text = run("--watch", folder, "--times", 1).out
    assert f"Recorded: {folder / 'after'}" in text
    assert "before" in text
    assert "bound" in text
