"""`--waves`: working waves by default, others on request; captures of which wave files are missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.cli.options.commands import COMMANDS
from tests.support import mixed
from tests.support.captures import trace_path
from tests.support.command_runs import CACHE

EXPLAINS = (
    "triage",
    "summary",
    "waits",
    "causes",
    "loops",
    "bubbles",
    "range",
    "line",
    "latency",
    "compare",
    "report",
    "trend",
    "schedule",
    "roofline",
)
SUMMED = (
    "causes",
    "waits",
    "bubbles",
    "loops",
    "latency",
    "summary",
    "schedule",
    "roofline",
)  # of waves that work
COUNTS = ("hotspot", "isa", "source", "flame", "waves")


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that works prints."""
    code = main([*map(str, words)], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command says that exits with 2."""
    assert main([*map(str, words)]) == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three waves that work and one that left early."""
    return mixed.mixed(tmp_path_factory.mktemp("mixed"))


def totals(folder: Path, chosen: slice) -> tuple[int, int]:
    """Stalled cycles and executions of some of the waves, by json and loops alone."""
    stall = executions = 0
    for path in mixed.wave_files(folder)[chosen]:
        instructions = json.loads(path.read_text())["wave"]["instructions"]
        stall += sum(one[2] for one in instructions)
        executions += len(instructions)
    return stall, executions


WAYS = {"working": slice(0, 3), "all": slice(None), "early-exit": slice(3, 4)}


def test_every_command_that_sums_waves_takes_the_option() -> None:
    taken = {name for name, command in COMMANDS.items() if "waves" in command.arguments}
    assert taken == {*EXPLAINS, *COUNTS, "export"}  # of export it names waves


@pytest.mark.parametrize("name", WAYS)
def test_causes_sum_the_stall_of_the_chosen_waves(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(run(capsys, "causes", folder, "--waves", name, "--json"))
    assert document["totals"]["stall"] == totals(folder, WAYS[name])[0]
    counted = len(mixed.wave_files(folder)[WAYS[name]])
    assert document["about"]["waves"] | {"text": ""} == {
        "chosen": name, "counted": counted, "read": 4, "traced": 4, "text": "",
    }  # fmt: skip


def test_working_is_what_is_meant_without_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (*SUMMED, "line"):
        more = (3,) if command == "line" else ()
        default = json.loads(run(capsys, command, folder, *more, "--json"))
        working = json.loads(run(capsys, command, folder, *more, "--json", "--waves", "working"))
        everything = json.loads(run(capsys, command, folder, *more, "--json", "--waves", "all"))
        assert default == working
        assert default["about"]["waves"]["counted"] == 3
        assert everything["about"]["waves"]["counted"] == 4
        assert _without_about(default) != _without_about(everything), command


def _without_about(document: dict) -> dict:
    return {name: value for name, value in document.items() if name != "about"}


@pytest.mark.parametrize("command", ["hotspot", "isa", "source", "flame"])
def test_what_is_counted_stays_counted_over_all_waves(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default = json.loads(run(capsys, command, folder, "--json"))
    everything = json.loads(run(capsys, command, folder, "--json", "--waves", "all"))
    working = json.loads(run(capsys, command, folder, "--json", "--waves", "working"))
    assert default == everything
    assert working["about"]["waves"]["counted"] == 3
    assert working != everything


def test_hotspot_counts_executions_of_a_population(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, chosen in WAYS.items():
        if name != "all":  # the totals of code.json still count what was cut from the files
            document = json.loads(run(capsys, "hotspot", folder, "--waves", name, "--json"))
            assert document["totals"]["hits"] == totals(folder, chosen)[1]


def test_headings_say_which_waves_a_table_is_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in SUMMED:
        assert "Of 3 working waves of 4; --waves all sums all of them." in run(capsys, command, folder)
    assert "1 wave of 4 (early exit)" in run(capsys, "causes", folder, "--waves", "early exit")
    assert "Ranked: 3 working waves of 4" in run(capsys, "triage", folder)
    whole = trace_path(mixed.SOURCE)
    assert "working" not in run(capsys, "causes", whole)


def test_an_unknown_population_is_refused_with_the_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("causes", "hotspot", "triage", "summary", "waves"):
        text = refused(capsys, command, folder, "--waves", "lazy")
        assert "lazy" in text
        assert "working, all, early-exit" in text


def test_waves_lists_populations_and_the_waves_of_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(run(capsys, "waves", folder, "--populations", "--json"))
    assert [(row["id"], row["waves"], row["is_working"]) for row in document["rows"]] == [
        ("working", 3, True),
        ("early-exit", 1, False),
    ]
    assert document["rows"][1]["median_hits"] == mixed.KEPT + 1
    rows = json.loads(run(capsys, "waves", folder, "--waves", "early-exit", "--json"))["rows"]
    assert [row["wave"] for row in rows] == ["se3/simd3/slot0/wv0"]
    assert "Shown are 1 wave of 4 (early exit)." in run(capsys, "waves", folder, "--waves", "early-exit")


# -- nothing works --------------------------------------------------------------------------------------


def test_a_capture_without_working_waves_ranks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    folder = trace_path("mla_decode")
    document = json.loads(run(capsys, "triage", folder, "--json"))
    assert document["findings"] == []
    assert "All 32 traced waves left early: 17 of 4,948 instructions ran" in document["note"]
    for key in ("kernel_iteration_range", "att_target_cu", "att_shader_engine_mask"):
        assert key in document["note"]
    assert json.loads(run(capsys, "triage", folder, "--json", "--waves", "all"))["findings"]
    assert "none of which works: 17 of 4,948 instructions ran" in run(capsys, "causes", folder)


# -- waves whose files are gone -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def five_of_eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed.without_files("flash_attn_small_after", tmp_path_factory.mktemp("five"), 5)


@pytest.fixture(scope="module")
def none_of_eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed.without_files("flash_attn_small_after", tmp_path_factory.mktemp("none"), 0)


def test_missing_files_are_the_reason_and_not_engines_left_out(
    five_of_eight: Path, none_of_eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ((), ("--all",)):
        text = run(capsys, "triage", five_of_eight, *words)
        assert "3 wave files are missing or damaged" in text
        assert "shader engines, --all" not in text
        assert "--all looks" not in text
    text = run(capsys, "triage", none_of_eight)
    assert "8 wave files are missing or damaged" in text
    assert "--all looks" not in text
    document = json.loads(run(capsys, "triage", five_of_eight, "--json"))
    assert document["waves"] == {"read": 5, "traced": 8, "counted": 5, "missing": 3}


@pytest.mark.parametrize("command", [*SUMMED, "line"])
def test_tables_say_which_waves_they_lack(
    command: str, five_of_eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = (3,) if command == "line" else ()
    text = run(capsys, command, five_of_eight, *more)
    assert "3 of 8 traced waves could not be read: their files are missing or damaged." in text


def test_no_wave_that_ran_it_is_not_said_of_waves_that_are_not_there(
    none_of_eight: Path, five_of_eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (none_of_eight, five_of_eight):
        code = json.loads((folder / "code.json").read_text())["code"]
        gone = json.loads((folder / "filenames.json").read_text())
        assert gone
        hits = code[3][6]
        text = run(capsys, "line", folder, 3)
        assert "No traced wave ran this instruction." not in text
        if folder is none_of_eight:
            assert f"code.json counts {hits} executions, but no wave could be read." in text


def test_hidden_latency_is_told_of_the_waves_that_are_there(
    five_of_eight: Path, none_of_eight: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The totals of the table are those of five files, not those of code.json."""
    document = json.loads(run(capsys, "latency", five_of_eight, "--json", "--top", 0))
    latency = 0
    for path in mixed.wave_files(five_of_eight):
        latency += sum(one[3] for one in json.loads(path.read_text())["wave"]["instructions"])
    listed = json.loads(run(capsys, "latency", five_of_eight, "--json", "--top", 0, "--no-idle"))
    assert listed["totals"]["total"] == latency
    assert document["totals"]["total"] > latency
    text = run(capsys, "latency", none_of_eight)
    assert "8 of 8 traced waves could not be read" in text
    assert "Hidden:" not in text


def test_a_comparison_is_of_the_waves_that_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = trace_path(mixed.SOURCE)
    document = json.loads(run(capsys, "compare", before, folder, "--json"))
    said = [note for note in document["notes"] if note.startswith("Cycles of")]
    assert said == ["Cycles of B are those of 3 working waves of 4."]
    assert [len(side) for side in (mixed.wave_files(before), mixed.wave_files(folder))] == [4, 4]
    assert document["kernel"]["waves"] == [4, 3]
    assert document["kernel"]["hits_per_wave"][0] == document["kernel"]["hits_per_wave"][1]
    everything = json.loads(run(capsys, "compare", before, folder, "--json", "--waves", "all"))
    assert everything["kernel"]["waves"] == [4, 4]
    assert everything["kernel"]["hits_per_wave"][1] < everything["kernel"]["hits_per_wave"][0]
