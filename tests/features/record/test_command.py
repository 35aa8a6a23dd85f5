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

from rcv_py.cli.main import main
from rcv_py.cli.schemas import BY_ID
from rcv_py.work.recording import machine
from rcv_py.work.recording.recorder import appearing
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.processes import gone
from tests.support.rocprofv3 import installed
from tests.support.yaml_subset import jobs

GOOD = ROOT / "sample_traces" / "matmul_tiled"
EMPTY = ROOT / "sample_traces" / "placeholder"  # waves ran on another compute unit
PROGRAM = [sys.executable, "-c", "print('the program ran')"]
FULL = "W0101 att.cpp:12 Thread trace buffer full!"


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and the stand-ins on the search path."""
    tools = installed(tmp_path / "tools", "rocprofv3", "ssh", "scp")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)


def recordings(monkeypatch: pytest.MonkeyPatch, *rules: dict[str, Any]) -> None:
    made = [
        {name: str(value) if isinstance(value, Path) else value for name, value in rule.items()}
        for rule in rules
    ]
    monkeypatch.setenv("RECORDINGS", json.dumps(made))


def record(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main(["record", *map(str, words), "--", *PROGRAM]) == code
    output = capsys.readouterr()
    return output.out, output.err


def document(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record(capsys, "--json", *words, code=code)[0])
    Draft202012Validator(BY_ID["rcv.record/2"].as_json()).validate(found)
    return found


def job_of(run: dict[str, Any]) -> dict[str, Any]:
    (job,) = jobs((Path(run["folder"]) / "input.yaml").read_text())
    return job


def test_a_capture_is_recorded_checked_and_looked_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": GOOD})
    text, _ = record(capsys, "--kernel", "matmul", "--launch", 2)
    assert "the program ran" in text
    assert "Recorded: rcv_capture/1/ui_output_agent_4567_dispatch_12" in text
    assert "bound" in text  # what triage says
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1"]
    (job,) = jobs(Path("rcv_capture/1/input.yaml").read_text())
    assert job["kernel_include_regex"] == "matmul"
    assert job["kernel_iteration_range"] == "[2]"
    assert job["advanced_thread_trace"] is True
    assert Path(job["output_directory"]) == Path("rcv_capture/1").absolute()


def test_every_option_reaches_the_input_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": GOOD})
    masks = ("--engines", "0x11", "--simds", "f")
    (run,) = document(capsys, "--gpu", 3, "--cu", 7, *masks, "--buffer", "1G", "--activity", 4, "--once")[
        "runs"
    ]
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


def test_counters_of_the_target_launches_after_it_and_regions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": GOOD})
    (run,) = document(capsys, "--activity", 8, "--target-counters", "--consecutive", 3, "--once")["runs"]
    # "until a total of n kernels are profiled including the initial targeted kernel" (using-thread-trace)
    assert {"att_perfcounter_target_only": True, "att_consecutive_kernels": 4}.items() <= job_of(run).items()
    (run,) = document(capsys, "--regions", "--once")["runs"]
    assert {"selected_regions": True, "marker_trace": True}.items() <= job_of(run).items()
    for words in (("--target-counters",), ("--regions", "--consecutive", 3), ("--seconds", 3)):
        assert record(capsys, *words, code=2)[1]


def test_a_running_process_is_recorded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": GOOD})
    assert main(["record", "--attach", "4321", "--seconds", "5", "--once"]) == 0
    text = capsys.readouterr().out
    assert "attached to 4321 --attach-duration-msec 5000 --attach-sync-output -i\n" in text
    assert "Recorded: rcv_capture/1/" in text
    assert "takes no command" in record(capsys, "--attach", 4321, code=2)[1]
    assert main(["record", "--attach", "4321", "--yaml"]) == 0
    head = "# rocprofv3 --attach 4321 --attach-duration-msec 10000 --attach-sync-output -i input.yaml\n"
    assert capsys.readouterr().out.startswith(head)


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


def test_what_hangs_after_its_capture_is_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, late: Callable[[str], None]
) -> None:
    recordings(monkeypatch, {"folder": EMPTY, "hangs": True})
    late("it hangs")
    text, _ = record(capsys, "--limit", 7)
    assert "did not end in 7 s, and was ended.  The capture holds what was written until then." in text
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1"]  # it would hang again


def test_what_hangs_without_a_capture_leaves_no_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, late: Callable[[str], None]
) -> None:
    """Nor one that ignores SIGTERM, below rocprofv3."""
    recordings(monkeypatch, {})
    late("pid ")
    monkeypatch.setattr(machine, "EXIT_GRACE_S", 1.0)
    program = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    program += f"print('pid', os.getpid(), flush=True); time.sleep({HANG_S})"
    assert main(["record", "--", sys.executable, "-c", program]) == 2
    output = capsys.readouterr()
    assert "did not end in 3,600 s, and was ended.  No capture was written." in output.err
    assert "--limit SECONDS waits longer" in output.err
    number = next(int(line.split()[1]) for line in output.out.splitlines() if line.startswith("pid "))
    with suppress(psutil.NoSuchProcess):
        assert gone([psutil.Process(number)])


def test_the_rocprofv3_of_the_python_environment_comes_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """First of the one whose program is recorded, then of the active one."""
    recordings(monkeypatch, {"folder": GOOD})
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
        assert main(["record", "--once", "--json", "--", *words]) == 0
        assert json.loads(capsys.readouterr().out)["command"][0] == names[expected]


def test_an_empty_capture_is_recorded_again_where_waves_ran(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"when": {"att_target_cu": 1}, "folder": EMPTY}, {"folder": GOOD})
    found = document(capsys)
    first, second = found["runs"]
    assert first["why"] == ""
    assert second["why"] == "No wave ran on the traced compute unit"
    assert job_of(first)["att_target_cu"] == 1
    assert job_of(second)["att_target_cu"] != 1
    assert found["capture"] == second["capture"]
    assert "# No wave ran on the traced compute unit" in (Path(second["folder"]) / "input.yaml").read_text()


def test_it_is_said_each_time_and_done_at_most_twice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(
        monkeypatch,
        {"when": {"att_buffer_size": "0x10000000"}, "folder": GOOD, "says": [FULL]},
        {"when": {"att_target_cu": 1}, "folder": EMPTY},
        {"folder": EMPTY, "says": [FULL]},
    )
    text, _ = record(capsys, "--strict", code=4)
    assert (
        "rcv: The buffer was full; recorded again with att_buffer_size 0x40000000 instead of 0x10000000."
        in text
    )
    assert text.count("; recorded again with ") == 2
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1", "2", "3"]


def test_what_was_chosen_is_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    recordings(monkeypatch, {"folder": EMPTY})
    words = ("--cu", 1, "--engines", "0x1", "--strict")
    text, _ = record(capsys, *words, code=4)
    assert "What would help was already set: att_" in text
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1"]
    text, _ = record(capsys, "--once")
    assert "It is not recorded again: --once." in text


def test_no_capture_at_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    recordings(monkeypatch, {"when": {"att_shader_engine_mask": "0x1"}}, {"folder": GOOD})
    assert [run["why"] for run in document(capsys)["runs"]] == ["", "No capture was written"]
    recordings(monkeypatch, {})
    assert "wrote no capture: no kernel ran." in record(capsys, code=2)[1]
    assert "no kernel has the name that was asked for" in record(capsys, "--kernel", "x", code=2)[1]


def test_a_twin_is_recorded_as_the_capture_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"when": {"att_target_cu": 1}, "folder": EMPTY}, {"folder": GOOD})
    found = document(capsys, "--twin")
    settings = [jobs((Path("rcv_capture") / name / "input.yaml").read_text())[0] for name in ("2", "3")]
    assert {**settings[0], "output_directory": ""} == {**settings[1], "output_directory": ""}
    assert Path(found["replicate"]).parent == Path("rcv_capture/3")


def test_no_twin_of_a_capture_without_waves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": EMPTY})
    assert "There is no twin: a capture without traced waves" in record(capsys, "--once", "--twin")[0]
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1"]


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
def test_what_rocprofv3_cannot_do_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    recordings(monkeypatch, {"says": [line], "code": 9})
    _, error = record(capsys, code=2)
    assert TROUBLES[line] in error
    assert sorted(path.name for path in Path("rcv_capture").iterdir()) == ["1"]  # it would fail again


def test_without_rocprofv3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("rcv_py.work.recording.recorder.PLACES", str(tmp_path))
    _, error = record(capsys, code=2)
    assert "rocprofv3 is not on this machine" in error
    _, error = record(capsys, "--rocprofv3", tmp_path / "none", code=2)
    assert "cannot be started" in error


def test_on_another_machine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recordings(monkeypatch, {"folder": GOOD})
    there, out = tmp_path / "there's work", tmp_path / "here"
    there.mkdir()
    words = ["--host", f"lab:{there}", "--out", str(out), "--json"]
    program = [sys.executable, "-c", "import os; print(os.getcwd(), 'a b $HOME')"]
    assert main(["record", *words, "--", *program]) == 0
    output = capsys.readouterr()
    assert f"{there} a b $HOME" in output.err  # quoted as it was written
    found = json.loads(output.out)
    assert Path(found["capture"]) == out / "1" / "ui_output_agent_4567_dispatch_12"
    assert not Path(job_of(found["runs"][0])["output_directory"]).exists()  # nothing is left there


def test_a_command_that_fails_is_told_beside_its_capture(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings(monkeypatch, {"folder": EMPTY})
    assert main(["record", "--once", "--", sys.executable, "-c", "raise SystemExit(3)"]) == 0
    text = capsys.readouterr().out
    assert "rcv: rocprofv3 ended with 3; the capture holds what ran until then." in text
    assert "Recorded: " in text


def test_a_machine_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "nowhere cannot be used. It said: ssh: Could not resolve"
        in record(capsys, "--host", "nowhere", code=2)[1]
    )
    assert "is no name of a machine" in record(capsys, "--host=-oProxyCommand=x", code=2)[1]
    error = record(capsys, "--host", "lab:/not there", code=2)[1]
    assert "lab cannot be used. It said: " in error
    assert "/not there" in error  # by the shell there
    assert """Does `ssh lab 'cd '"'"'/not there'"'"' && true'` work""" in error


def test_a_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for host in ((), ("--host", "lab")):
        error = record(capsys, *host, "--out", tmp_path / "file" / "below", code=2)[1]
        assert f"{tmp_path / 'file' / 'below'}" in error
        assert "Choose another --out." in error


def test_what_is_no_recording_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "so it takes no command" in record(capsys, "--watch", "x", code=2)[1]
    for size in ("5", "1023k", "2049M", "4G"):
        with pytest.raises(SystemExit):
            main(["record", "--buffer", size, "--", "true"])
        assert "from 1M to 2G" in capsys.readouterr().err


def test_the_input_file_alone(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = record(capsys, "--yaml", "--kernel", 'a"b\\d')
    (job,) = jobs(text)
    assert job["kernel_include_regex"] == 'a"b\\d'
    assert not Path("rcv_capture").exists()


def test_words_behind_two_dashes_are_the_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "--yaml", "--", "./a", "--kernel", "x", "--", "-h"]) == 0
    assert "-- ./a --kernel x -- -h" in capsys.readouterr().out.splitlines()[0]
    assert main(["record", "--yaml", "--out", "OUT"]) == 0  # which people write their command behind
    text = capsys.readouterr().out
    assert text.startswith("# rocprofv3 -i input.yaml -- ./your_program\n")
    assert jobs(text)[0]["output_directory"] == "OUT"
    assert main(["record"]) == 2
    assert "There is no command to record" in capsys.readouterr().err


def test_ending_it_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings(monkeypatch, {"folder": GOOD})
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


def test_watching_compares_with_the_one_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(GOOD, folder / "before")

    def wait(_: float) -> None:
        if not (folder / "after").exists():
            shutil.copytree(GOOD, folder / "after")

    monkeypatch.setattr("rcv_py.features.record.command.time", SimpleNamespace(sleep=wait))
    assert main(["record", "--watch", str(folder), "--times", "1"]) == 0
    text = capsys.readouterr().out
    assert f"Recorded: {folder / 'after'}" in text
    assert "before" in text
    assert "bound" in text
