"""A run of tests ends, whatever they do, and says what happened."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.limited import TIMED_OUT
from tests.support.limits import HANG_S
from tests.support.paths import ROOT
from tests.support.processes import gone, wait_until

LIMITED = (sys.executable, "-m", "tests.support.limited")
SHARED = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "tests.conftest")
ENDS = "import os\ndef test_before(): pass\ndef test_ends(): os._exit(1)\ndef test_after(): pass\n"
HANGS = """
import os, subprocess, sys, time
from pathlib import Path
SLEEPS = [sys.executable, "-S", "-c", "import time; time.sleep(100000)"]
def test_hangs():
    apart = subprocess.Popen(SLEEPS, start_new_session=True)
    Path("begun.new").write_text(f"{os.getpid()} {apart.pid}")
    os.rename("begun.new", "begun")
    time.sleep(100000)
"""


def limited(folder: Path, minutes: float, *words: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.Popen(
        [*LIMITED, str(minutes), *PLAIN, "--rootdir", str(folder), *words, str(folder)],
        cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_a_test_that_ends_its_process_is_named_and_all_others_run(tmp_path: Path) -> None:
    """Two at a time, and with more files that have a single test than there are processes."""
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text("def test_only(): pass\n")
    for name in ("ends", "too"):
        (tmp_path / f"test_{name}.py").write_text(ENDS)
    with limited(tmp_path, HANG_S / 60, *SHARED, "--max-worker-restart", "5") as run:
        text = run.communicate(timeout=2 * HANG_S)[0]
    assert run.returncode == 1, text
    assert "2 failed, 8 passed" in text
    # Lines of reports alone: where CI is set, pytest's short summary repeats the whole message.
    crashed = re.findall(r"^worker '\w+' crashed while running '(.+)'$", text, re.MULTILINE)
    assert sorted(crashed) == ["test_ends.py::test_ends", "test_too.py::test_ends"], text


@pytest.mark.parametrize(("minutes", "is_stopped"), [(0.05, False), (HANG_S / 60, True)])
def test_a_run_that_hangs_ends_with_all_below(minutes: float, is_stopped: bool, tmp_path: Path) -> None:
    (tmp_path / "test_hangs.py").write_text(HANGS)
    begun = tmp_path / "begun"
    with limited(tmp_path, minutes, "-p", "no:xdist") as run:
        if is_stopped:
            wait_until(begun.exists, "a test that hangs")
            run.send_signal(signal.SIGTERM)
        text = run.communicate(timeout=2 * HANG_S)[0]
    if is_stopped:
        assert run.returncode == 128 + signal.SIGTERM
    else:
        assert run.returncode == TIMED_OUT, text
        assert "The tests did not end within 0.05 minutes, and are stopped." in text
    if begun.exists():
        left = [psutil.Process(int(pid)) for pid in begun.read_text().split() if psutil.pid_exists(int(pid))]
        assert gone(left)
