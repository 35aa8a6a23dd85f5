"""`rcv mcp` as an agent meets it: a child process, spoken to on its standard input and output."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rcv_py.cli.commands.mcp import NEEDED
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.main import ENDED
from rcv_py.cli.mcp.handler import reply
from tests.support.command_runs import printed_json, refused
from tests.support.limits import HANG_S
from tests.support.mcp_client import McpClient
from tests.support.paths import ROOT
from tests.support.programs import finished, start
from tests.support.samples import write_sample

SAMPLE, HOTTEST = "matmul_small", 83  # and its instruction that takes most
PAIR = ("groups_256", "groups_512")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of captures: a small one, two to compare, one that is cut off, and links that lead out."""
    place = tmp_path_factory.mktemp("mcp").resolve()
    for name in (SAMPLE, *PAIR):
        write_sample(name, place / "captures" / name)
    broken = place / "captures" / "broken"
    broken.mkdir()
    (broken / "filenames.json").write_text('{"wave_filenames": {')
    (broken / "code.json").write_text("")
    shutil.copytree(ROOT / "sample_traces" / "placeholder", place / "outside")
    (place / "captures" / "link").symlink_to(place / "outside", target_is_directory=True)
    (place / "out").mkdir()
    (place / "out" / "link").symlink_to(place / "outside", target_is_directory=True)
    return place


@pytest.fixture(scope="module")
def agent(place: Path) -> Iterator[McpClient]:
    """A client of a server that may read the captures and write into one folder."""
    with McpClient("--root", place / "captures", "--out", place / "out") as client:
        yield client
        assert client.close() == "", "nothing of what tests do is worth a word on stderr"


def test_it_says_what_it_offers(agent: McpClient) -> None:
    assert agent.hello["serverInfo"]["name"] == "rcv"
    assert agent.hello["protocolVersion"] == "2025-06-18"
    assert "upper bound" in agent.hello["instructions"]
    tools = {tool["name"]: tool for tool in agent.ask("tools/list")["tools"]}
    assert {"triage", "hotspot", "waits", "compare", "causes", "report", "shot"} <= set(tools)
    assert not {"view", "synth", "mcp"} & set(tools)
    hotspot = tools["hotspot"]["inputSchema"]
    assert hotspot["required"] == ["folder"]
    assert hotspot["properties"]["by"]["enum"] == ["instruction", "source", "kind", "class", "tree"]
    assert "Use it " in tools["hotspot"]["description"]
    assert tools["hotspot"]["annotations"]["readOnlyHint"] is True
    assert tools["export"]["annotations"]["readOnlyHint"] is False


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("triage", {"top": 2}),
        ("hotspot", {"by": "source", "sort": "stall", "top": 5}),
        ("waits", {}),
        ("causes", {"by": "producer", "top": 3}),
        ("info", {"read": True}),
        ("line", {"line": HOTTEST}),
    ],
)
def test_numbers_are_of_the_commands(agent: McpClient, place: Path, tool: str, more: dict[str, Any]) -> None:
    result = agent.call(tool, folder=SAMPLE, max_kb=0, **more)
    front = [str(more["line"])] if "line" in more else []
    options = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in more.items()
        if name != "line"
    ]
    expected = printed_json(tool, place / "captures" / SAMPLE, *front, *options)
    assert result["structuredContent"] == expected
    assert len(result["content"][0]["text"]) < 1_000, "the document comes once"
    assert not result["isError"]
    words = result["_meta"]["rcv/command"].split()
    assert words[:2] == ["rcv", tool]


def test_comparisons_and_long_answers_are_as_on_the_command_line(agent: McpClient, place: Path) -> None:
    before, after = (place / "captures" / name for name in PAIR)
    result = agent.call("compare", folder=str(before), other=str(after), top=3, max_kb=0)
    assert result["structuredContent"] == printed_json("compare", before, after, "--top=3")
    result = agent.call("triage", folder=str(before), max_kb=0)
    assert result["structuredContent"] == printed_json("triage", before)
    short = agent.call("causes", folder=str(before), max_kb=4)
    whole = printed_json("causes", before)
    assert len(json.dumps(short["structuredContent"], separators=(",", ":"))) <= 4_000
    assert "max_kb (0: all)" in short["content"][0]["text"]
    assert short["structuredContent"]["shortened"]
    assert short["structuredContent"]["totals"] == whole["totals"]
    first = short["structuredContent"]["rows"][0]
    assert first["parts"] == whole["rows"][0]["parts"][: len(first["parts"])]


@pytest.mark.parametrize("name", ["../outside", "link", "/etc", f"{SAMPLE}/../../outside", "~root", "\0"])
def test_nothing_outside_of_the_root_is_read(agent: McpClient, name: str) -> None:
    text = agent.complaint("info", folder=name)
    refused = "lies outside of" in text or "cannot be a path" in text
    assert refused or "there is no such file or folder" in text
    assert "gfx9" not in text, "what the capture outside was recorded on"


def test_other_arguments_that_are_paths_stay_inside_too(agent: McpClient) -> None:
    assert "lies outside of" in agent.complaint("compare", folder=SAMPLE, other="../outside")
    assert "lies outside of" in agent.complaint("check", folder=SAMPLE, twin="link")
    assert "lies outside of" in agent.complaint("counters", folder=SAMPLE, file=["/etc/passwd"])
    assert "lies outside of" in agent.complaint("report", folders=[SAMPLE, "../outside"])


@pytest.mark.parametrize("name", ["../x.json", "/tmp/x.json", "link/x.json", "link/../../x.json"])
def test_nothing_outside_of_the_folder_for_files_is_written(agent: McpClient, place: Path, name: str) -> None:
    before = sorted(place.rglob("*"))
    assert "lies outside of" in agent.complaint("export", folder=SAMPLE, to="speedscope", out=name)
    assert sorted(place.rglob("*")) == before


def test_files_are_written_into_their_folder(agent: McpClient, place: Path) -> None:
    agent.call("export", folder=SAMPLE, to="speedscope", out="profile.json")
    assert json.loads((place / "out" / "profile.json").read_text())["profiles"]
    result = agent.call("report", folders=[SAMPLE], format="md")
    assert not result["isError"]
    assert (place / "out" / f"{SAMPLE}.md").read_text().startswith("#")


def test_a_picture_is_sent(agent: McpClient) -> None:
    result = agent.call("shot", folder=SAMPLE, panel="hotspot", size="400x300")
    assert [block["type"] for block in result["content"]] == ["image"]
    assert base64.b64decode(result["content"][0]["data"]).startswith(b"\x89PNG")


def test_the_index_needs_no_argument(agent: McpClient) -> None:
    captures = agent.call("index")["structuredContent"]["captures"]
    assert SAMPLE in {Path(capture["path"]).name for capture in captures}


def test_help_tells_what_the_short_definitions_leave_out(agent: McpClient) -> None:
    told = agent.call("help", tool="hotspot")["structuredContent"]
    assert "no_idle" in told["arguments"]["properties"]
    assert not agent.call("hotspot", folder=SAMPLE, sort="stall", ascending=True)["isError"]
    assert "There are triage" in agent.complaint("help", tool="hotspots")


def test_mistakes_are_told_in_a_sentence(agent: McpClient) -> None:
    assert "There is no tool hotspots" in agent.complaint("hotspots", folder=SAMPLE)
    assert "Did you mean sort?" in agent.complaint("hotspot", folder=SAMPLE, sorts="stall")
    assert "hotspot needs folder." in agent.complaint("hotspot")
    assert "invalid choice: 'weight'" in agent.complaint("hotspot", folder=SAMPLE, sort="weight")
    assert "not a whole number" in agent.complaint("hotspot", folder=SAMPLE, top=-1)
    assert "is true or false" in agent.complaint("triage", folder=SAMPLE, all="yes")
    assert "cannot be {'a': 1}" in agent.complaint("waits", folder=SAMPLE, wave={"a": 1})
    assert "is one value" in agent.complaint("triage", folder=[SAMPLE])
    assert "max_kb is a whole number" in agent.complaint("triage", folder=SAMPLE, max_kb="all")
    assert "no wave" in agent.complaint("waits", folder=SAMPLE, wave="se9/simd9/slot9/wv9")


def test_a_damaged_capture_is_told_in_a_sentence_and_the_server_goes_on(agent: McpClient) -> None:
    assert "broken is not a decoded thread trace" in agent.complaint("triage", folder="broken")
    assert not agent.call("info", folder=SAMPLE)["isError"]


def test_a_capture_that_changed_is_read_again(agent: McpClient, place: Path) -> None:
    copy = place / "captures" / "changing"
    shutil.copytree(place / "captures" / SAMPLE, copy)
    first = agent.call("hotspot", folder="changing", top=1)["structuredContent"]
    code = json.loads((copy / "code.json").read_text())
    for row in code["code"]:
        row[6] *= 2
    (copy / "code.json").write_text(json.dumps(code))
    second = agent.call("hotspot", folder="changing", top=1)["structuredContent"]
    shutil.rmtree(copy)
    assert second["totals"]["hits"] == 2 * first["totals"]["hits"]
    assert agent.call("hotspot", folder="changing")["isError"]


def test_calls_are_under_way_at_a_time_can_be_cancelled_and_end_with_the_input(place: Path) -> None:
    agent = McpClient("--root", place / "captures")
    shot = {"name": "shot", "arguments": {"folder": SAMPLE, "panel": "isa"}}
    slow = agent.send("tools/call", shot)
    other = agent.send("tools/call", {"name": "hotspot", "arguments": {"folder": SAMPLE}})
    assert agent.wait(other)["result"]["structuredContent"]["capture"] == SAMPLE
    agent.tell("notifications/cancelled", {"requestId": slow})
    assert agent.ask("ping") == {}
    assert not agent.call("hotspot", folder=SAMPLE)["isError"]
    agent.send("tools/call", shot)
    assert agent.ask("ping") == {}, "it has read what came before"
    assert "Traceback" not in agent.close()
    assert agent.process.returncode == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, ExitCode.ENDED), (signal.SIGINT, ExitCode.STOPPED)]
)
def test_a_signal_ends_it_though_its_input_goes_on(place: Path, number: int, code: int) -> None:
    agent = McpClient("--root", place / "captures")
    os.kill(agent.process.pid, number)
    assert agent.process.wait(HANG_S) == code
    assert "Traceback" not in agent.close()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, ExitCode.ENDED), (signal.SIGINT, ExitCode.STOPPED)]
)
def test_a_signal_within_a_task_ends_it_quietly(place: Path, tmp_path: Path, number: int, code: int) -> None:
    """A group of tasks wraps the exception in one of its own, which whoever runs them would print."""
    before = f"""
import os
from anyio import AsyncFile

async def readline(file):
    os.kill(os.getpid(), {int(number)})

AsyncFile.readline = readline
"""
    words = ["mcp", "--root", str(place / "captures")]
    with (tmp_path / "said").open("w+") as said:
        server = start(words, before=before, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        assert server.wait(HANG_S) == code
        said.seek(0)
        assert said.read() == (f"rcv: {ENDED}\n" if code is ExitCode.ENDED else "")


def test_the_client_of_the_official_package_is_offered_what_writes_no_files(place: Path) -> None:
    """A server without a folder for files, spoken to by somebody else's client."""
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client  # slow to import

    async def talk() -> tuple[set[str], Any, list[Any]]:
        start = StdioServerParameters(
            command=sys.executable,
            args=["-m", "rcv_py.cli.main", "mcp", "--root", str(place / "captures")],
            cwd=ROOT,
        )
        async with stdio_client(start) as streams, ClientSession(*streams) as session:
            await session.initialize()
            listed = await session.list_tools()
            result = await session.call_tool("hotspot", {"folder": SAMPLE, "top": 1})
            refused = [
                await session.call_tool("export", {"folder": SAMPLE}),
                await session.call_tool("shot", {"folder": SAMPLE, "panel": "isa", "out": "x.png"}),
            ]
            return {tool.name for tool in listed.tools}, result, refused

    names, result, refused = anyio.run(talk)
    assert len(names) > 15
    assert result.structured_content["rows"][0]["instruction"] == HOTTEST
    assert not {"report", "export"} & names
    assert all(one.is_error for one in refused)
    assert "There is no tool export" in refused[0].content[0].text
    assert "writes no files" in refused[1].content[0].text


def test_without_the_package_a_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('none')")
    done = finished(
        [sys.executable, "-m", "rcv_py.cli.main", "mcp"], env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    assert done.returncode == 2
    assert f"pip install '{NEEDED}'" in done.stderr
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["mcp"] == [NEEDED]


def test_a_root_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "is not a folder" in refused("mcp", "--root", tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    assert "cannot be a folder for written files" in refused(
        "mcp", "--root", tmp_path, "--out", tmp_path / "file"
    )


def test_an_agent_reads_no_letter_that_a_terminal_would_obey() -> None:
    text = reply([{"kernel": "a\x9b31m\u202eb\u2066"}]).text
    assert text.isascii()
    assert text.isprintable()
