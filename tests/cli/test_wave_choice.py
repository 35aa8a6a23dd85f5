"""`--waves`: working waves by default, others on request; captures of which wave files are missing."""

import json
from pathlib import Path

import pytest

from rcv_py.cli.options.commands import COMMANDS
from tests.support.command_runs import printed, printed_json, refused
from tests.support.early_waves import EARLY, SAMPLE, only, waves_of
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

EXPLAINS = (
    *("triage", "summary", "waits", "causes", "loops", "bubbles", "range", "line", "latency"),
    *("compare", "report", "trend", "schedule", "roofline"),
)
# Of waves that work
SUMMED = ("causes", "waits", "bubbles", "loops", "latency", "summary", "schedule", "roofline")
COUNTS = ("hotspot", "isa", "source", "flame", "waves")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three waves that work and one that left early."""
    return mixed(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four waves that work."""
    return only(waves_of(sample_path(SAMPLE), "working")[:4], tmp_path_factory.mktemp("whole") / "whole")


def mixed(place: Path) -> Path:
    """Write a capture of three waves that work and one that left early below a folder."""
    working, left = (waves_of(sample_path(SAMPLE), name) for name in WAYS if name != "all")
    return only([*working[:3], left[-1]], place / "mixed")


def totals(folder: Path, name: str) -> tuple[int, int]:
    """Stalled cycles and executions of some of the waves, by json and loops alone."""
    tokens = [token for wave in waves_of(folder, name) for token in wave.tokens]
    return sum(token.stall for token in tokens), len(tokens)


WAYS = ("working", "all", "early-exit")


def test_every_command_that_sums_waves_takes_the_option() -> None:
    taken = {name for name, command in COMMANDS.items() if "waves" in command.arguments}
    assert taken == {*EXPLAINS, *COUNTS, "export"}  # of export it names waves


@pytest.mark.parametrize("name", WAYS)
def test_causes_sum_the_stall_of_the_chosen_waves(name: str, folder: Path) -> None:
    document = printed_json("causes", folder, "--waves", name)
    assert document["totals"]["stall"] == totals(folder, name)[0]
    counted = len(waves_of(folder, name))
    assert document["about"]["waves"] | {"text": ""} == {
        "chosen": name, "counted": counted, "read": 4, "traced": 4, "text": "",
    }  # fmt: skip


def test_working_is_what_is_meant_without_the_option(folder: Path) -> None:
    for command in (*SUMMED, "line"):
        more = (3,) if command == "line" else ()
        default = printed_json(command, folder, *more)
        working = printed_json(command, folder, *more, "--waves", "working")
        everything = printed_json(command, folder, *more, "--waves", "all")
        assert default == working
        assert default["about"]["waves"]["counted"] == 3
        assert everything["about"]["waves"]["counted"] == 4
        assert _without_about(default) != _without_about(everything), command


def _without_about(document: dict) -> dict:
    return {name: value for name, value in document.items() if name != "about"}


@pytest.mark.parametrize("command", ["hotspot", "isa", "source", "flame"])
def test_what_is_counted_stays_counted_over_all_waves(command: str, folder: Path) -> None:
    default = printed_json(command, folder)
    everything = printed_json(command, folder, "--waves", "all")
    working = printed_json(command, folder, "--waves", "working")
    assert default == everything
    assert working["about"]["waves"]["counted"] == 3
    assert working != everything


def test_hotspot_counts_executions_of_a_population(folder: Path) -> None:
    for name in WAYS:
        if name != "all":  # the totals of code.json still count what was cut from the files
            document = printed_json("hotspot", folder, "--waves", name)
            assert document["totals"]["hits"] == totals(folder, name)[1]


def test_headings_say_which_waves_a_table_is_of(folder: Path, whole: Path) -> None:
    for command in SUMMED:
        assert "Of 3 working waves of 4; --waves all sums all of them." in printed(command, folder)
    assert "1 wave of 4 (early exit)" in printed("causes", folder, "--waves", "early exit")
    assert "Ranked: 3 working waves of 4" in printed("triage", folder)
    assert "working" not in printed("causes", whole)


def test_an_unknown_population_is_refused_with_the_names(folder: Path) -> None:
    for command in ("causes", "hotspot", "triage", "summary", "waves"):
        text = refused(command, folder, "--waves", "lazy")
        assert "lazy" in text
        assert "working, all, early-exit" in text


def test_waves_lists_populations_and_the_waves_of_one(folder: Path) -> None:
    document = printed_json("waves", folder, "--populations")
    assert [(row["id"], row["waves"], row["is_working"]) for row in document["rows"]] == [
        ("working", 3, True),
        ("early-exit", 1, False),
    ]
    assert document["rows"][1]["median_hits"] == EARLY
    rows = printed_json("waves", folder, "--waves", "early-exit")["rows"]
    assert [row["wave"] for row in rows] == [waves_of(folder, "early-exit")[0].name]
    assert "Shown are 1 wave of 4 (early exit)." in printed("waves", folder, "--waves", "early-exit")


# -- nothing works --------------------------------------------------------------------------------------


def test_a_capture_without_working_waves_ranks_nothing(tmp_path: Path) -> None:
    left = waves_of(sample_path(SAMPLE), "early-exit")
    folder = only(left, tmp_path / "left")
    code = json.loads((folder / "code.json").read_text())["code"]
    ran = f"{EARLY} of {len(code) - 1} instructions ran"  # the first row is the name of the kernel
    document = printed_json("triage", folder)
    assert document["findings"] == []
    assert f"All {len(left)} traced waves left early, so there is nothing to rank. {ran}" in document["note"]
    for key in ("kernel_iteration_range", "att_target_cu", "att_shader_engine_mask"):
        assert key in document["note"]
    assert printed_json("triage", folder, "--waves", "all")["findings"]
    assert f"none of which works: {ran}" in printed("causes", folder)


# -- waves whose files are gone -------------------------------------------------------------------------


def without_files(folder: Path, left: int) -> Path:
    """Write a capture of sixteen waves of which only the last `left` files are there."""
    write_sample("straggler", folder)
    for path in sorted(folder.glob("se*_wv*.json"))[: 16 - left]:
        path.unlink()
    return folder


@pytest.fixture(scope="module")
def thirteen_of_16(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_files(tmp_path_factory.mktemp("thirteen"), 13)


@pytest.fixture(scope="module")
def none_of_16(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_files(tmp_path_factory.mktemp("none"), 0)


def test_missing_files_are_the_reason_and_not_engines(thirteen_of_16: Path, none_of_16: Path) -> None:
    for words in ((), ("--all",)):
        text = printed("triage", thirteen_of_16, *words)
        assert "3 wave files are missing or damaged" in text
        assert "shader engines, --all" not in text
        assert "--all reads" not in text
    text = printed("triage", none_of_16)
    assert "16 wave files are missing or damaged" in text
    assert "--all reads" not in text
    document = printed_json("triage", thirteen_of_16)
    assert document["waves"] == {"read": 13, "traced": 16, "counted": 13, "missing": 3}


@pytest.mark.parametrize("command", [*SUMMED, "line"])
def test_tables_say_which_waves_they_lack(command: str, thirteen_of_16: Path) -> None:
    more = (3,) if command == "line" else ()
    text = printed(command, thirteen_of_16, *more)
    assert "3 of 16 traced waves could not be read: their files are missing or damaged." in text


def test_missing_waves_are_not_said_to_have_run_nothing(none_of_16: Path, thirteen_of_16: Path) -> None:
    for folder in (none_of_16, thirteen_of_16):
        code = json.loads((folder / "code.json").read_text())["code"]
        gone = json.loads((folder / "filenames.json").read_text())
        assert gone
        hits = code[3][6]
        text = printed("line", folder, 3)
        assert "No traced wave ran this instruction." not in text
        if folder is none_of_16:
            assert f"code.json counts {hits} executions, but no wave could be read." in text


def test_hidden_latency_is_told_of_the_waves_that_are_there(thirteen_of_16: Path, none_of_16: Path) -> None:
    """The totals of the table are those of thirteen files, not those of code.json."""
    document = printed_json("latency", thirteen_of_16, "--top", 0)
    latency = sum(token.duration for wave in plain(thirteen_of_16).waves for token in wave.tokens)
    listed = printed_json("latency", thirteen_of_16, "--top", 0, "--no-idle")
    assert listed["totals"]["total"] == latency
    assert document["totals"]["total"] > latency
    text = printed("latency", none_of_16)
    assert "16 of 16 traced waves could not be read" in text
    assert "Hidden:" not in text


def test_a_comparison_is_of_the_waves_that_work(folder: Path, whole: Path) -> None:
    document = printed_json("compare", whole, folder)
    said = [note for note in document["notes"] if note.startswith("Cycles of")]
    assert said == ["Cycles of B belong to 3 working waves of 4."]
    assert [len(waves_of(side, "all")) for side in (whole, folder)] == [4, 4]
    assert document["kernel"]["waves"] == [4, 3]
    assert document["kernel"]["hits_per_wave"][0] == document["kernel"]["hits_per_wave"][1]
    everything = printed_json("compare", whole, folder, "--waves", "all")
    assert everything["kernel"]["waves"] == [4, 4]
    assert everything["kernel"]["hits_per_wave"][1] < everything["kernel"]["hits_per_wave"][0]
