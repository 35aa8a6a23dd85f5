"""Tools of `rcv mcp` without a server: schemas from parsers, words from calls, lists that are cut."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from rcv_py.base.errors import Cancelled, UsageError
from rcv_py.cli.arguments import COMMANDS, parse
from rcv_py.cli.mcp.answers import fitted, reply
from rcv_py.cli.mcp.crew import Crew, Stopped, Ticket
from rcv_py.cli.mcp.fence import Fence
from rcv_py.cli.mcp.tools import NO_TOOLS, tools
from rcv_py.cli.mcp.worker import Answer, perform
from tests.support.captures import ROOT

TOOLS = tools(can_write=True)
SAMPLES = ROOT / "sample_traces"


def test_every_command_is_a_tool_but_those_for_people() -> None:
    assert set(TOOLS) == {command.name for command in COMMANDS} - NO_TOOLS


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_what_looks_like_a_path_is_fenced(tool: object) -> None:
    telling = {"FOLDER", "FILE", "DIR", "PATH", "DEFS", "BASELINE", "A", "B", "C", "OTHER"}
    for action in tool.actions.values():
        if action.metavar in telling:
            assert action.type is Path, action.dest


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_argument_is_described(tool: object) -> None:
    schema = tool.schema
    assert set(schema["required"]) <= set(schema["properties"])
    for one in schema["properties"].values():
        assert "type" in one
        assert one["description"].endswith((".", "tells which"))
        assert "%(" not in one["description"]


def test_the_parser_gives_types_choices_and_defaults() -> None:
    properties = TOOLS["hotspot"].schema["properties"]
    assert properties["top"]["type"] == "integer"
    assert properties["by"] == {
        "type": "string",
        "enum": ["line", "source", "kind", "class", "tree"],
        "default": "line",
        "description": "What a row is.",
    }
    assert TOOLS["compare"].schema["properties"]["least"]["maximum"] == 100
    assert TOOLS["triage"].schema["properties"]["all"] == {
        "type": "boolean",
        "default": False,
        "description": "Look at every wave, also of a capture with more than 48 MB of them, and print "
        "every finding.",
    }
    assert TOOLS["counters"].schema["properties"]["se"]["type"] == "array"
    assert TOOLS["isa"].schema["properties"]["top"]["default"] == 40


def test_a_call_becomes_the_words_of_a_command_line(tmp_path: Path) -> None:
    fence = Fence.around(tmp_path, None)
    words = TOOLS["counters"].words({"folder": "a", "formula": ["-x := 1", "y"], "se": [0, 1]}, fence)
    assert words == [
        "counters",
        f"{fence.root}/a",
        "--json",
        "--formula=-x := 1",
        "--formula=y",
        "--se=0",
        "--se=1",
    ]
    assert parse(words).formula == ["-x := 1", "y"]
    assert TOOLS["isa"].words({"folder": "a"}, fence)[-1] == "--top=40"
    assert "--top=0" in TOOLS["isa"].words({"folder": "a", "top": 0}, fence)
    assert "--top=3" in TOOLS["triage"].words({"folder": "a", "top": 3.0, "all": False}, fence)


def test_a_value_cannot_become_an_option(tmp_path: Path) -> None:
    fence = Fence.around(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="cannot be '--out=x'"):
        TOOLS["export"].words({"folder": "a", "to": "csv", "out": "b", "waves": ["--out=x"]}, fence)
    with pytest.raises(UsageError, match="cannot be '--csv'"):
        TOOLS["line"].words({"folder": "a", "line": "--csv"}, fence)
    words = TOOLS["waits"].words({"folder": "--csv", "wave": "--latency"}, fence)
    assert words == ["waits", f"{fence.root}/--csv", "--json", "--wave=--latency"]


def test_long_lists_are_cut_and_told_of() -> None:
    document = {"totals": {"stall": 7}, "rows": [{"n": i, "parts": list(range(40))} for i in range(300)]}
    whole, cut = fitted(document, 0)
    assert (whole, cut) == (document, {})
    short, cut = fitted(document, 2)
    assert len(str(short["rows"])) < 2_400
    assert set(cut) == {"rows", "rows[].parts"}
    assert short["shortened"] == ["rows 12 of 300", "rows[].parts 12 of 40"]
    assert short["rows"][3]["parts"] == list(range(12))
    assert short["totals"] == {"stall": 7}


def test_text_that_is_no_document_is_passed_on() -> None:
    done = reply(Answer(0, "a.html\nb.html\n"), ["report", "x"], 0)
    assert done.document == {"printed": ["a.html", "b.html"]}
    partly = reply(Answer(2, "a.html\n", "x: It is damaged."), ["report", "x"], 0)
    assert partly.is_error
    assert partly.texts == ("x: It is damaged.", "a.html")


def test_a_bug_is_a_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rcv_py.cli.commands.hotspot.run", fail)
    answer = perform(["hotspot", "a b"])
    assert answer.code == 1
    assert answer.hint == "Please report it with: rcv hotspot 'a b'"


def test_waiting_calls_can_be_cancelled_and_a_lost_process_is_told_of() -> None:
    crew = Crew(1)
    try:
        busy, waiting = Ticket(), Ticket()
        ends: list[BaseException] = []

        def call(ticket: Ticket) -> None:
            try:
                crew.run(
                    ["shot", str(SAMPLES / "matmul_tiled"), "--panel=isa", "--out=/dev/null/x.png"], ticket
                )
            except (Cancelled, Stopped) as error:
                ends.append(error)

        first = threading.Thread(target=call, args=(busy,))
        first.start()
        while busy.member is None:
            time.sleep(0.01)
        second = threading.Thread(target=call, args=(waiting,))
        second.start()
        crew.cancel(waiting)
        second.join(10)
        assert [type(end) for end in ends] == [Cancelled]
        busy.member.process.kill()
        first.join(10)
        assert [type(end) for end in ends] == [Cancelled, Stopped]
        answer = crew.run(["info", str(SAMPLES / "matmul_tiled"), "--json"], Ticket())
        assert answer.code == 0
    finally:
        crew.close()
