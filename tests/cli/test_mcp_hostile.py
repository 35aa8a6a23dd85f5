"""`rcv mcp` and a client that means no good, or a server that is killed: sentences, nothing left behind."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rcv_py.cli.mcp.handler import TIMEOUT_S, ClientRequest, ToolHandler, command_pool
from rcv_py.cli.mcp.tools import AllowedPaths
from tests.support.mcp_client import McpClient
from tests.support.processes import gone, wait_until
from tests.support.samples import write_sample

SAMPLE = "matmul_small"
SLOW = r"(s|ss|.)+(s|ss|.)+(s|ss|.)+(s|ss|.)+(s|ss|.)+(s|ss|.)+(s|ss|.)+\d{9}$"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one sample capture."""
    place = tmp_path_factory.mktemp("hostile").resolve()
    write_sample(SAMPLE, place / SAMPLE)
    return place


@pytest.fixture(scope="module")
def agent(place: Path) -> Iterator[McpClient]:
    """A client of a server for that folder."""
    with McpClient("--root", place) as client:
        yield client


def is_well(agent: McpClient) -> bool:
    """Whether the server still answers a plain question."""
    return not agent.call("info", folder=SAMPLE)["isError"]


def test_slow_expressions_are_stopped_and_later_calls_are_answered(agent: McpClient) -> None:
    given = {"folder": SAMPLE, "match": SLOW, "regex": True}
    calls = [agent.send("tools/call", {"name": "search", "arguments": given}) for _ in range(2)]
    assert is_well(agent)
    for call in calls:
        result = agent.wait(call)["result"]
        assert result["isError"]
        assert "stopped after 2 seconds" in result["content"][0]["text"]


HUGE = 10**4000
GIVEN: dict[str, dict[str, Any]] = {
    "info": {"folder": SAMPLE, "depth": 10**30},
    "compare": {"folder": SAMPLE, "other": SAMPLE, "top": 10**30},
    "index": {"folder": ".", "depth": 65},
    "hotspot": {"folder": SAMPLE, "bins": 10**12},
    "line": {"folder": SAMPLE, "line": 10**17},
    "waits": {"folder": SAMPLE, "wave": "se" + "9" * 5000 + "/simd0/slot0/wv0"},
    "causes": {"folder": "x" * 10_000_000},
    "events": {"folder": SAMPLE, "match": "(" * 10_000, "regex": True},
    "loops": {"folder": SAMPLE, "loop": "9" * 30 + ":1"},
    "latency": {"folder": SAMPLE, "top": 1e300},
    "search": {"folder": SAMPLE, "match": "x" * 100_000},
    "shot": {"folder": SAMPLE, "panel": "isa", "size": "99999x99999"},
    "counters": {"folder": SAMPLE, "only": ["x"] * 100_000},
    "triage": {"folder": SAMPLE, "top": True},
    "bubbles": {"folder": SAMPLE, "max_kb": -(10**30)},
    "flame": {"folder": SAMPLE, "around": {"a": [1]}},
    "isa": {"folder": None},
    "occupancy": {"folder": SAMPLE, "se": [10**19]},
}


@pytest.mark.parametrize("tool", GIVEN)
def test_arguments_beyond_measure_are_refused_in_a_sentence(agent: McpClient, tool: str) -> None:
    text = agent.complaint(tool, **GIVEN[tool])
    assert "bug" not in text
    assert len(text) < 3000


def test_a_number_of_thousands_of_digits_does_not_end_the_server(agent: McpClient) -> None:
    assert agent.process.stdin is not None
    agent._last += 1
    given = f'{{"name": "triage", "arguments": {{"folder": "{SAMPLE}", "top": {HUGE}}}}}'
    agent.process.stdin.write(
        f'{{"jsonrpc": "2.0", "id": {agent._last}, "method": "tools/call", "params": {given}}}\n'
    )
    agent.process.stdin.flush()
    assert is_well(agent)


LINES = (
    *("", "x", "{", "[]", "null", "7", '"text"', "[" * 5000, '{"jsonrpc": "2.0"}', '{"id": 1}'),
    *("\0", "é\ud800"),
)
METHODS: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 10_001, "method": "tools/call", "params": {"name": 7}},
    {"jsonrpc": "2.0", "id": 10_002, "method": "tools/call", "params": {"name": "info", "arguments": [1]}},
    {"jsonrpc": "2.0", "id": 10_003, "method": "tools/call"},
    {"jsonrpc": "2.0", "id": 10_004, "method": "nothing/there", "params": {}},
)  # fmt: skip


def test_lines_that_are_no_requests_do_not_end_the_server(agent: McpClient) -> None:
    assert agent.process.stdin is not None
    for line in LINES:
        agent.process.stdin.write(line.encode("utf-8", "replace").decode() + "\n")
    for message in METHODS:
        agent._write(message)
    agent.process.stdin.flush()
    for message in METHODS:
        answer = agent.wait(message["id"])
        assert "error" in answer or answer["result"]["isError"], message
        assert "root:" not in json.dumps(answer)
    assert is_well(agent)


def test_a_flood_of_calls_is_answered_or_refused_and_those_cancelled_are_forgotten(agent: McpClient) -> None:
    calls = [agent.send("tools/call", {"name": "info", "arguments": {"folder": SAMPLE}}) for _ in range(120)]
    for call in calls[::2]:
        agent.tell("notifications/cancelled", {"requestId": call})
    for call in calls[1::2]:
        answer = agent.wait(call)
        result = answer.get("result", {})
        assert "error" in answer or not result["isError"] or "busy" in result["content"][0]["text"]
    assert is_well(agent)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes of this kind")
def test_a_process_that_does_not_answer_is_replaced(place: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody reads it: who opens it to write waits forever
    with command_pool(timeout_s=2.0, processes=1) as pool:
        handler = ToolHandler(AllowedPaths.of(place, tmp_path), pool)
        told = handler.call("export", {"folder": SAMPLE, "to": "speedscope", "out": "pipe"}, ClientRequest())
        assert "stopped after 2 seconds" in told.text
        pool._timeout_s = TIMEOUT_S  # a new process takes longer than that to start on a busy machine
        assert not handler.call("schema", {"name": "hotspot"}, ClientRequest()).is_error


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_nothing_goes_on_after_the_server_was_killed(place: Path) -> None:
    agent = McpClient("--root", place)
    server = psutil.Process(agent.process.pid)
    given = {"folder": SAMPLE, "panel": "isa"}
    for _ in range(2):
        agent.send("tools/call", {"name": "shot", "arguments": given})
    wait_until(lambda: len(workers(server)) >= 2, "two workers")
    below = server.children(recursive=True)
    for worker in workers(server):
        worker.suspend()  # busy in the way that no request can interrupt
    server.kill()
    for worker in below:
        if worker.is_running():
            worker.resume()
    assert gone(below)
    agent.end()


def workers(server: psutil.Process) -> list[psutil.Process]:
    """The server's children but for the one that multiprocessing keeps for itself."""
    return [one for one in server.children() if "spawn_main" in " ".join(one.cmdline())]
