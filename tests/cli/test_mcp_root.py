"""What a server reads: every file that it and its processes open is noted by a hook of Python itself."""

import json
import os
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from rcv_py.cli.mcp.tools import tools
from rcv_py.work.captures import MAX_CAPTURES_HERE, MAX_READ_HERE
from tests.support.command_runs import printed
from tests.support.mcp_client import McpClient
from tests.support.paths import ROOT
from tests.support.whole_capture import capture, write

SECRET = "secretword"
CAPTURE = "ui_output_agent_1_dispatch_1"
DOOR = "door"  # a link to the root, which the server is given in its place
HOOK = """
import os, sys
_place, _note, _busy = os.environ["NOTED_BELOW"], os.environ["NOTED_IN"], []

def _hook(event, found):
    if _busy or event not in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.system"):
        return
    _busy.append(1)
    try:
        name = found[0]
        if isinstance(name, int) or name is None:
            return
        name = os.fsdecode(name)
        real = os.path.realpath(name)
        if event == "open" and found[2] & os.O_NOFOLLOW:  # what a link leads to is not opened then
            real = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
        if real == _place or real.startswith(_place + "/"):
            handle = os.open(_note, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, (str(os.getpid()) + " " + real + "\\n").encode())
            os.close(handle)
    finally:
        _busy.clear()

sys.addaudithook(_hook)
"""
TABLE = (
    '"Kind","Agent_Id","Dispatch_Id","Kernel_Name","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count",'
    '"SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Start_Timestamp","End_Timestamp"\n'
    '"KERNEL_DISPATCH","Agent 2",1,"my_kernel",77777,0,123,4,48,256,2,1,1000,2000\n'
)
AGENTS = '"Node_Id","Agent_Type","Name","Max_Waves_Per_Simd","Cu_Count"\n1,"GPU","gfx942",7,77\n'

OF_WAVES = (  # tools that read no file that the others do not read, too: watched once is enough
    *("summary", "range", "waits", "causes", "loops", "bubbles", "latency", "whatif", "flame", "schedule"),
)
OF_MANY = ("index", "info", "compare")  # tools that look at many captures without reading waves of all

TOOLS = tools(can_write=True)
Told = tuple[Path, list[Any], list[str]]  # the root, answers, what was opened


def _tables(folder: Path) -> None:
    """All that a search for tables of the run could find and would believe."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{SECRET}_kernel_trace.csv").write_text(TABLE)
    (folder / f"{SECRET}_agent_info.csv").write_text(AGENTS)
    (folder / f"{SECRET}_results.json").write_text(json.dumps({"command": [SECRET]}))
    (folder / f"{SECRET}_gfx942_code_object_id_1.out").write_text("")
    (folder / "pmc_1").mkdir(exist_ok=True)
    (folder / "pmc_1" / f"{SECRET}_counter_collection.csv").write_text(TABLE)


@pytest.fixture(scope="module")
def outer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders above, beside and around a root, full of what must not be read, and links that lead to it."""
    outer = tmp_path_factory.mktemp("outer").resolve()
    (outer / "hook").mkdir()
    (outer / "hook" / "sitecustomize.py").write_text(HOOK)
    lib = outer / "K"
    for folder in (outer, lib, lib / "compute_viewer", lib / "att_viewer", lib / "att_viewer" / "beside"):
        _tables(folder)
    root = lib / "att_viewer" / "root"
    files = capture()
    secret = outer / "kernel.hip"
    secret.write_text(f"{SECRET}\n" * 40)
    for row in files["code.json"]["code"][1:]:
        row[3] = f"{secret}:7"
    folder = write(root / "small" / CAPTURE, files)
    other = write(outer / "other" / CAPTURE, capture())
    shutil.copytree(folder, root / "second" / CAPTURE)
    for name in ("wstates0.json", "snapshots.json", "realtime.json"):
        (root / "second" / CAPTURE / name).unlink(missing_ok=True)
        (root / "second" / CAPTURE / name).symlink_to(outer / f"{SECRET}_results.json")
    (root / "second" / f"{SECRET}_kernel_trace.csv").symlink_to(outer / f"{SECRET}_kernel_trace.csv")
    for number in range(MAX_CAPTURES_HERE):  # with the others more than one process looks at
        part = "several" if number <= MAX_READ_HERE else "many"  # the former also, if it reads waves
        shutil.copytree(folder, root / part / f"{CAPTURE}{number}")
    (root / "linked").symlink_to(other.parent, target_is_directory=True)
    (root / "up").symlink_to(lib, target_is_directory=True)
    (root / "small" / "compute_viewer").symlink_to(lib / "compute_viewer", target_is_directory=True)
    (outer / DOOR).symlink_to(root, target_is_directory=True)
    return outer


@pytest.fixture(scope="module", params=["K/att_viewer/root", DOOR])
def told(outer: Path, request: pytest.FixtureRequest) -> Told:
    """The root, all answers of the server, and what its processes opened of all that is around it."""
    note = outer.parent / f"{outer.name}-{request.param.replace('/', '-')}"
    paths = os.pathsep.join(filter(None, (str(outer / "hook"), str(ROOT), os.environ.get("PYTHONPATH", ""))))
    env = {"PYTHONPATH": paths, "NOTED_BELOW": str(outer), "NOTED_IN": str(note), "RCV_ROOT": "/"}
    answers: list[Any] = []
    with McpClient("--root", outer / request.param, env=env, before=HOOK) as agent:
        offered = agent.ask("tools/list")["tools"]
        for tool in offered:
            known = TOOLS[tool["name"]].schema["properties"] if tool["name"] in TOOLS else {}
            if {"folder", "folders"} & set(known):
                of_waves = tool["name"] in OF_WAVES
                few = request.param == DOOR and tool["name"] != "index"  # which starts workers
                calls = int(not of_waves) * 2 if few else 1 if of_waves else None
                for given in islice(_given(tool["name"], known), calls):
                    answers.append((tool["name"], given, agent.call(tool["name"], **given)))
    return (outer / "K" / "att_viewer" / "root"), answers, note.read_text().splitlines()


def _given(tool: str, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments of calls: captures, several at a time, which processes read, and links out of the root."""
    first = "folder" if "folder" in known else "folders"
    for name in (
        f"small/{CAPTURE}",
        f"second/{CAPTURE}",
        "linked",
        f"up/att_viewer/root/small/{CAPTURE}",
        "." if tool in OF_MANY else "several",
    ):
        given: dict[str, Any] = {first: [name] if known[first].get("type") == "array" else name}
        yield given | ({"jobs": 2} if "jobs" in known else {})
    if "run_files" in known:
        for name in ("../..", "up", "small/compute_viewer"):
            files = [name] if known["run_files"].get("type") == "array" else name
            yield {first: f"small/{CAPTURE}", "run_files": files}


def test_no_file_and_no_folder_outside_of_the_root_is_opened(told: Told) -> None:
    root, answers, opened = told
    assert sum(not answer.get("isError", False) for _, _, answer in answers) > 30
    paths = {Path(line.partition(" ")[2]) for line in opened}
    paths = {path for path in paths if not path.is_relative_to(root.parents[2] / "hook")}
    assert any(path.name == "code.json" for path in paths), "the hook sees nothing"
    assert not sorted(str(path) for path in paths if not path.is_relative_to(root))


def test_several_processes_were_watched(told: Told) -> None:
    _, _, opened = told
    assert len({line.partition(" ")[0] for line in opened}) > 3  # the server, its two, workers of `index`


def test_nothing_of_what_is_outside_is_told(told: Told) -> None:
    _, answers, _ = told
    for name, given, answer in answers:
        text = json.dumps(answer)
        for word in (f"{SECRET}_agent", f"{SECRET}_results", f'"{SECRET}"', f"{SECRET}\\n", "77777"):
            assert word not in text, (name, given)


def test_without_a_root_the_same_tables_are_found(outer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must not be read by a server is what a command of the user does read."""
    monkeypatch.delenv("RCV_ROOT", raising=False)
    folder = outer / "K" / "att_viewer" / "root" / "small" / CAPTURE
    assert "77,777" in printed("occupancy", folder, "--limits")
