"""After kill -9 of the window, or of a command that is busy with captures, no process of theirs is left.

The processes are made busy by a hook of Python's: in the first file of a capture that one of them opens it
notes that, and stays, in C, with the interpreter's lock.  The commands themselves are as they are.
"""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.paths import ROOT
from tests.support.processes import busy_children, gone, wait_until
from tests.support.whole_capture import capture, wave, write

HOOK = """
import multiprocessing, os, re, sys

def _hook(event, found):
    if event != "open" or not multiprocessing.parent_process():
        return
    if str(found[0]).startswith(os.environ["BUSY_IN"]):
        os.mkdir(os.path.join(os.environ["NOTED_IN"], str(os.getpid())))
        re.search("(a|aa)+$", "a" * 3000 + "b")

sys.addaudithook(_hook)
"""
WAVES = 1600  # more than are read in one process
COMMANDS = {
    "the window": ("view", "{large}"),
    "report": ("report", "{small}", "{other}", "--jobs", "2", "--out-dir", "{out}"),
    "index": ("index", "{root}", "--jobs", "2"),
    "index with findings": ("index", "{root}", "--jobs", "2", "--findings"),
    "triage of one": ("triage", "{large}"),
    "triage of several": ("triage", "{root}"),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A large capture and some small ones below a folder."""
    root = tmp_path_factory.mktemp("killed").resolve()
    many = {(0, at % 4, at // 4 % 8, at // 32): wave(1000 + 200 * (at // 32)) for at in range(WAVES)}
    names = {name: f"{name}/ui_output_agent_1_dispatch_1" for name in ("large", "small", "other")}
    places = {name: root / path for name, path in names.items()}
    write(places["large"], capture(many))
    write(places["small"], capture())
    write(places["other"], capture())
    for number in range(4):  # so that an index has work for two
        write(root / f"more{number}" / "ui_output_agent_1_dispatch_1", capture())
    hook = tmp_path_factory.mktemp("hook")
    (hook / "sitecustomize.py").write_text(HOOK)
    return places | {"root": root, "hook": hook, "out": tmp_path_factory.mktemp("out")}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9; a thread watches the parent there")
@pytest.mark.parametrize("moment", ["they start", "they read"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_child_is_left(places: dict[str, Path], tmp_path: Path, name: str, moment: str) -> None:
    words = [word.format(**places) for word in COMMANDS[name]]
    paths = os.pathsep.join((str(places["hook"]), str(ROOT)))
    more = {"PYTHONPATH": paths, "BUSY_IN": str(places["root"]), "NOTED_IN": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "rcv_py", *words],
        cwd=places["out"],
        env=os.environ | more | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as parent:
        try:
            children = busy_children(parent.pid, 2, 0.05)
            if moment == "they read":
                wait_until(lambda: len(list(tmp_path.iterdir())) >= 2, "two that read")
                children = psutil.Process(parent.pid).children(recursive=True)
        finally:
            parent.kill()
    assert gone(children)
