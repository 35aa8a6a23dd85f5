"""Tools of `rcv mcp` without a server: schemas from parsers, words from calls, lists that are cut."""

import os
import signal
import threading
from multiprocessing import active_children
from pathlib import Path
from unittest.mock import patch

import orjson
import pytest

from rcv_py.base.errors import Cancelled, UsageError
from rcv_py.base.machine.ending import Terminated, ends_tidily
from rcv_py.cli.arguments import parse
from rcv_py.cli.mcp.handler import (
    ClientRequest,
    CommandRunner,
    Reply,
    ToolHandler,
    command_pool,
    fitted,
    reply,
)
from rcv_py.cli.mcp.tools import AllowedPaths, Tool, tools
from rcv_py.cli.options.commands import COMMANDS
from rcv_py.cli.options.option import named_path
from tests.support.paths import ROOT
from tests.support.processes import wait_until
from tests.support.samples import sample_path

TOOLS = tools(can_write=True)
SAMPLES = ROOT / "sample_traces"


def test_every_command_is_a_tool_but_those_for_people() -> None:
    assert set(COMMANDS) - set(TOOLS) == {
        *("view", "synth", "mcp", "completion", "skill", "help", "unpack", "record", "isa-docs")
    }


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_what_looks_like_a_path_is_checked(tool: object) -> None:
    telling = {"FOLDER", "FILE", "DIR", "PATH", "DEFS", "BASELINE", "A", "B", "C", "OTHER"}
    for action in tool.actions.values():
        if action.metavar in telling:
            assert action.type is named_path, action.dest


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_argument_is_described(tool: object) -> None:
    schema = tool.schema
    assert set(schema["required"]) <= set(schema["properties"])
    for one in schema["properties"].values():
        assert "type" in one
        assert one["description"].endswith(".")
        assert "%(" not in one["description"]


def test_the_parser_gives_types_choices_and_defaults() -> None:
    properties = TOOLS["hotspot"].schema["properties"]
    assert properties["top"]["type"] == "integer"
    assert properties["by"] == {
        "type": "string",
        "enum": ["instruction", "source", "kind", "class", "tree"],
        "default": "instruction",
        "description": "What a row is.",
    }
    assert TOOLS["compare"].schema["properties"]["least"]["maximum"] == 100
    assert TOOLS["triage"].schema["properties"]["all"] == {
        "type": "boolean",
        "default": False,
        "description": "Analyse every wave, even of a capture with more than 48 MB of wave files, and print "
        "every finding.",
    }
    assert TOOLS["counters"].schema["properties"]["se"]["type"] == "array"
    assert TOOLS["isa"].schema["properties"]["top"]["default"] == 40


def test_a_call_becomes_the_words_of_a_command_line(tmp_path: Path) -> None:
    paths = AllowedPaths.of(tmp_path, None)
    words = TOOLS["counters"].words({"folder": "a", "formula": ["-x := 1", "y"], "se": [0, 1]}, paths)
    assert words == [
        "counters",
        f"{paths.root}/a",
        "--json",
        "--formula=-x := 1",
        "--formula=y",
        "--se=0",
        "--se=1",
    ]
    assert parse(words).formula == ["-x := 1", "y"]
    assert TOOLS["isa"].words({"folder": "a"}, paths)[-1] == "--top=40"
    assert "--top=0" in TOOLS["isa"].words({"folder": "a", "top": 0}, paths)
    help_of = TOOLS["isa"].words({"folder": "a", "help_of": "s_nop"}, paths)
    assert help_of[2:] == ["--json", "--help-of=s_nop"], "--top has no meaning beside it"
    assert "--top=3" in TOOLS["triage"].words({"folder": "a", "top": 3.0, "all": False}, paths)


def test_an_argument_alone_is_not_refused_for_what_the_server_adds(tmp_path: Path) -> None:
    """A refusal names the argument that the agent gave, never a default of the tool."""
    paths = AllowedPaths.of(tmp_path, tmp_path)
    for name, about in TOOLS["isa"].schema["properties"].items():
        if name not in ("folder", "max_kb"):
            given = True if about.get("type") == "boolean" else about.get("enum", ["1"])[-1]
            try:
                parse(TOOLS["isa"].words({"folder": "a", name: given}, paths))
            except UsageError as error:
                assert f"{error}".startswith(f"--{name} ".replace("_", "-"))  # noqa: PT017 - or none at all
            except SystemExit:
                assert name == "source_map", "which is no number"


def test_a_search_requires_a_text() -> None:
    assert TOOLS["search"].schema["required"] == ["folder", "match"]


def test_what_prints_text_alone_is_not_offered() -> None:
    assert "like" not in TOOLS["pmc"].schema["properties"]
    assert "like" in TOOLS["hotspot"].schema["properties"], "which has a document"


def test_a_value_cannot_become_an_option(tmp_path: Path) -> None:
    paths = AllowedPaths.of(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="cannot be '--out=x'"):
        TOOLS["export"].words({"folder": "a", "to": "csv", "out": "b", "waves": ["--out=x"]}, paths)
    with pytest.raises(UsageError, match="cannot be '--csv'"):
        TOOLS["line"].words({"folder": "a", "line": "--csv"}, paths)
    words = TOOLS["waits"].words({"folder": "--csv", "wave": "--latency"}, paths)
    assert words == ["waits", f"{paths.root}/--csv", "--json", "--wave=--latency"]


def size(document: object) -> int:
    return len(orjson.dumps(document))


def test_long_lists_are_shortened_those_inside_first_where_they_are_the_larger_part() -> None:
    document = {"totals": {"stall": 7}, "rows": [{"n": i, "parts": list(range(40))} for i in range(300)]}
    assert fitted(document, 0) == (document, [])
    assert fitted(document, 100) == (document, [])
    short, cut = fitted(document, 2)
    assert size(short) <= 2_000
    rows, parts = len(short["rows"]), len(short["rows"][0]["parts"])
    assert 10 < rows < 300
    assert 1 <= parts < 40
    assert short["shortened"] == cut == [f"rows {rows} of 300", f"rows[].parts {parts} of 40"]
    assert short["rows"][3]["parts"] == list(range(parts))
    assert short["totals"] == {"stall": 7}


def test_what_has_no_list_is_left_out_the_largest_first() -> None:
    document = {"capture": "a", "text": "x" * 9000, "other": "y" * 900}
    short, cut = fitted(document, 2)
    assert short == {"capture": "a", "other": "y" * 900, "shortened": ["text left out"]}
    assert cut == ["text left out"]


@pytest.mark.parametrize(
    "command", ["triage", "hotspot", "causes", "isa", "waits", "info", "summary", "waves"]
)
def test_an_answer_has_eight_kilobytes_at_most(command: str) -> None:
    folder = sample_path("matmul_small")
    told = CommandRunner()([command, str(folder), "--json"], 8)
    assert told.document is not None
    assert size(told.document) + len(told.text) <= 8_000
    assert len(told.text) < 1_000
    assert ("max_kb (0: all)" in told.text) == ("shortened" in told.document)


def test_all_definitions_together_are_short() -> None:
    from mcp_types import ListToolsResult  # slow to import

    from rcv_py.cli.mcp.server import definitions

    listed = ListToolsResult(tools=definitions(TOOLS))
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) / 4 < 4_000


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_a_definition_says_when_to_use_the_tool_and_names_arguments_as_the_command_does(tool: Tool) -> None:
    assert "Use it " in tool.description
    assert set(tool.short_schema["properties"]) <= set(tool.schema["properties"])
    assert set(tool.short_schema.get("required", ())) <= set(tool.short_schema["properties"])
    for name, action in tool.actions.items():
        assert not action.option_strings or f"--{name.replace('_', '-')}" in action.option_strings


def test_help_tells_all_arguments_of_a_tool(tmp_path: Path) -> None:
    with command_pool() as pool:
        handler = ToolHandler(AllowedPaths.of(tmp_path, None), pool)
        told = handler.call("help", {"tool": "hotspot"}, ClientRequest())
        assert "no_idle" in told.document["arguments"]["properties"]
        assert "no_idle" not in TOOLS["hotspot"].short_schema["properties"]
        assert handler.call("help", {"tool": "hotspots"}, ClientRequest()).is_error
        assert handler.tools["index"].words({}, handler.paths)[:2] == ["index", str(handler.paths.root)]


def test_text_that_is_no_document_is_passed_on() -> None:
    done = reply([], "a.html\nb.html\n")
    assert done.document == {"printed": ["a.html", "b.html"]}
    partly = reply([], "a.html\n", "x: It is damaged.")
    assert partly.is_error
    assert partly.text == "x: It is damaged.\na.html"


def test_a_bug_is_a_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rcv_py.features.hotspot.command.run", fail)
    told = CommandRunner()(["hotspot", "a b"], 0)
    assert told.meta["rcv/exit"] == 1
    assert told.text.endswith("Please report it with: rcv hotspot 'a b'")


def test_captures_stay_open_between_commands() -> None:
    runner, folder = CommandRunner(), str(SAMPLES / "matmul_tiled")
    first = runner(["info", folder, "--json"], 0)
    with patch("rcv_py.formats.open.open_folder", side_effect=AssertionError("it is opened again")):
        assert runner(["info", folder, "--json"], 0) == first


def test_waiting_calls_can_be_cancelled_and_a_lost_process_is_told_of(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody reads it: who opens it to write waits forever
    with command_pool(processes=1) as pool:
        handler = ToolHandler(AllowedPaths.of(SAMPLES, tmp_path), pool)
        busy, waiting = ClientRequest(), ClientRequest()
        ends: list[Reply | Cancelled] = []

        def call(request: ClientRequest) -> None:
            given = {"folder": "matmul_tiled", "to": "speedscope", "out": "pipe"}
            try:
                ends.append(handler.call("export", given, request))
            except Cancelled as error:
                ends.append(error)

        first = threading.Thread(target=call, args=(busy,))
        first.start()
        wait_until(lambda: bool(active_children()) and not pool.waiting, "a process that runs the call")
        second = threading.Thread(target=call, args=(waiting,))
        second.start()
        wait_until(lambda: pool.waiting == 1, "a call that waits")
        waiting.cancel()
        second.join(60)
        assert isinstance(ends[0], Cancelled)
        for process in active_children():
            process.kill()
        first.join(60)
        assert isinstance(ends[1], Reply)
        assert "stopped unexpectedly" in ends[1].text
        assert not handler.call("info", {"folder": "matmul_tiled"}, ClientRequest()).is_error


def test_ending_a_call_is_no_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What argparse tidies up at the end is not there yet, and its error takes the place of the other."""

    def interrupted(words: list[str]) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            words.nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018

    monkeypatch.setattr("rcv_py.cli.mcp.handler.parse", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), ends_tidily():
        CommandRunner()(["info", "x"], 0)
    signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == ""
