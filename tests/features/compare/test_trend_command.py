"""`rcv trend` and `rcv compare` of several: which build takes more cycles, beyond noise."""

import json
import os
from pathlib import Path

import orjson
import pytest

from rcv_py.formats.open import open_trace
from tests.support import folders
from tests.support.command_runs import printed, printed_csv, printed_json, refused, run_anew
from tests.support.samples import write_sample

NIGHTS = ("mon", "tue", "wed")
DAYS = ("04-30", "05-01", "05-01", "05-02", "05-04")
DAY_S = 86_400
HERE = ("--jobs", "0")  # processes find the same: `test_other_forms` and `test_processes_find_the_same`
BEGIN = 69_000  # no wave of the sample starts before


def rows_of(*words: object, code: int = 0) -> list[dict]:
    return printed_json(*words, *HERE, code=code)["captures"]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three nights of a kernel, the second 1.5 times as slow; PC samples of it; a broken capture."""
    root = tmp_path_factory.mktemp("nights")
    for at, name in enumerate(NIGHTS):
        write_sample("matmul_small", root / name)
        if name == "tue":
            slow(root / name)
        written(root / name, at)
    write_sample("pc_sampling", root / "other")
    written(root / "other", 1)
    folders.write(root / "broken", dict.fromkeys(folders.GOOD, b"{") | {"filenames.json": b"7"})
    written(root / "broken", 4)
    return root


def written(folder: Path, day: int) -> None:
    at = 1_777_550_400 + day * DAY_S  # 2026-04-30, noon
    os.utime(folder / "filenames.json", (at, at))


def slow(folder: Path) -> None:
    """Let everything take half as long again."""
    for path in folder.glob("se*_wv*.json"):
        document = orjson.loads(path.read_bytes())
        wave = document["wave"]
        for token in wave["instructions"]:
            token[0], token[2], token[3] = later(token[0]), 3 * token[2] // 2, 3 * token[3] // 2
        wave["begin"], wave["end"] = later(wave["begin"]), later(wave["end"])
        path.write_bytes(orjson.dumps(document))
    occupancy = orjson.loads((folder / "occupancy.json").read_bytes())
    for name, events in occupancy.items():
        for event in events if name.isdigit() else ():
            event[0] = later(event[0])
    (folder / "occupancy.json").write_bytes(orjson.dumps(occupancy))


def later(cycle: int) -> int:
    return BEGIN + 3 * (cycle - BEGIN) // 2


def test_the_captures_are_in_the_order_of_time(nights: Path) -> None:
    rows = rows_of("trend", nights)
    assert [row["capture"] for row in rows] == ["mon", "other", "tue", "wed", "broken"]
    assert [row["written"][:10] for row in rows] == [f"2026-{day}" for day in DAYS]
    by_path = rows_of("trend", nights, "--sort", "path")
    assert [row["capture"] for row in by_path] == ["broken", "mon", "other", "tue", "wed"]


def test_each_is_compared_with_the_one_before_of_its_kernel(nights: Path) -> None:
    rows = {row["capture"]: row for row in rows_of("trend", nights)}
    assert [rows[name]["before"] for name in NIGHTS] == ["", "mon", "tue"]
    assert [rows[name]["verdict"] for name in NIGHTS] == ["", "takes more cycles", "takes fewer cycles"]
    assert rows["tue"]["ratio"] == pytest.approx(1.5, abs=0.01)
    assert rows["wed"]["ratio"] == pytest.approx(1 / 1.5, abs=0.01)
    assert rows["tue"]["of_first"] == pytest.approx(1.5, abs=0.01)
    assert rows["wed"]["of_first"] == 1.0
    assert rows["wed"]["duration"] == rows["mon"]["duration"]
    assert (rows["other"]["before"], rows["other"]["verdict"]) == ("mon", "not comparable")
    assert "B has no traced waves" in rows["other"]["sentence"], "most of its samples are of the same kernel"
    assert rows["broken"]["error"].startswith(str(nights / "broken"))


def test_what_it_says_is_what_compare_says(nights: Path) -> None:
    row = rows_of("trend", nights / "mon", nights / "tue", "--metric", "stall", "--least", 1)[1]
    words = ("compare", nights / "mon", nights / "tue", "--metric", "stall", "--least", 1, "--json")
    pair = json.loads(printed(*words))
    assert (row["verdict"], row["sentence"]) == (pair["verdict"], pair["sentence"])
    ratio = pair["kernel"]["launch"]["ratio"]
    assert row["ratio"] == pytest.approx(ratio["value"], abs=1e-6)
    assert row["noise"] == pytest.approx(ratio["noise"], abs=1e-6)


def test_the_document_names_the_first_that_takes_more(nights: Path) -> None:
    document = printed_json("trend", nights, "--waves", "all", *HERE)
    assert document["first_more"] == str(nights / "tue")
    assert document["about"]["waves"]["chosen"] == "all"
    assert document["about"]["captures"] == ["mon", "other", "tue", "wed", "broken"]
    assert [text.partition(":")[0] for text in document["about"]["problems"]][-1] == "broken"
    assert printed_json("trend", nights / "mon")["first_more"] is None


NO_CLOCK = "run_kernel_trace.csv gives the launch a duration that its cycles do not have at any clock"
TOO_EARLY = "run_kernel_trace.csv has the launch end no later than it begins"


@pytest.mark.parametrize(
    ("ns", "said"), [(20_000, ""), (1, NO_CLOCK), (10**17, NO_CLOCK), (0, TOO_EARLY), (-500, TOO_EARLY)]
)
def test_a_duration_of_a_table_that_no_clock_allows_is_not_known(ns: int, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "ui_output_agent_1_dispatch_7"
    write_sample("matmul_small", folder)
    clock = folder / "realtime.json"
    clock.write_bytes(orjson.dumps(orjson.loads(clock.read_bytes()) | {"metadata": {"frequency": 0}}))
    kernel = open_trace(folder).kernel_name
    head = "Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Grid_Size_X"
    (tmp_path / "a" / "run_kernel_trace.csv").write_text(f'{head}\n7,"{kernel}",1000,{1000 + ns},64\n')
    known = not said
    commands = (("trend", *HERE), ("index", *HERE), ("compare", folder, "--by", "work"), ("info",))
    runs = {name: run_anew(name, str(folder), *map(str, more), "--json") for name, *more in commands}
    documents = {name: orjson.loads(one.out) for name, one in runs.items()}
    (row,), (indexed,) = (documents[name]["captures"] for name in ("trend", "index"))
    assert row["duration_ns"] == indexed["duration_ns"] == (ns if known else None)
    assert (row["clock_mhz"] is not None) is known
    for name, document in documents.items():
        told = [text for text in document["about"]["problems"] if "run_kernel_trace.csv" in text]
        assert len(told) == (0 if known else 1), name
        assert all(said in text for text in told)
        assert said in runs[name].err or name == "info"
    work = {one["name"] for one in documents["compare"]["rows"]}
    assert ({"duration_ns", "clock_mhz"} <= work) is known
    assert "duration" in work


def test_other_forms(nights: Path) -> None:
    text = printed("trend", nights)
    assert text.startswith(f"5 captures below {nights}; 2 differ from the previous one beyond noise\n")
    assert "\ntue (B), compared with mon (A):\n    The launch of B takes 50.0 % more cycles" in text
    rows = printed_csv("trend", nights, *HERE)
    assert [row["verdict"] for row in rows if row["capture"] == "tue"] == ["takes more cycles"]
    table = printed("trend", nights, *HERE, "--markdown").splitlines()
    assert len(table) == 2 + 5
    assert "+50.0 % (±" in next(line for line in table if line.startswith("| tue"))


@pytest.mark.parametrize(
    ("names", "gate", "code"),
    [
        (("mon", "tue"), "regression", 3),
        (("mon", "tue", "wed"), "regression", 0),  # what matters is the last one
        (("mon", "tue", "wed"), "difference", 3),
        (("mon", "wed"), "difference", 0),
        (("mon", "other", "broken"), "regression", 0),
        (("mon", "tue", "other"), "regression", 3),  # PC samples take no regression back
        (("other", "mon", "tue"), "regression", 3),
    ],
)
def test_the_gate(names: tuple[str, ...], gate: str, code: int, nights: Path) -> None:
    printed("trend", *(nights / name for name in names), "--fail-on", gate, *HERE, code=code)


# -- compare of several ----------------------------------------------------------------------------------


def test_each_is_compared_with_a(nights: Path) -> None:
    rows = {row["capture"]: row for row in rows_of("compare", nights / "mon", nights)}
    assert set(rows) == {"tue", "wed", "other", "broken"}, "A is not compared with itself"
    assert {row["before"] for row in rows.values() if not row["error"]} == {"mon"}
    assert rows["tue"]["verdict"] == "takes more cycles"
    assert rows["wed"]["verdict"] == "no difference beyond noise"
    assert rows["other"]["verdict"] == "not comparable"
    assert rows["other"]["of_first"] is None
    named = rows_of("compare", nights / "mon", nights / "tue", nights / "wed")
    assert named == [rows["tue"], rows["wed"]]


def test_processes_find_the_same(nights: Path) -> None:
    words = ("compare", nights / "mon", nights / "tue", nights / "wed")
    assert printed_json(*words)["captures"] == rows_of(*words)


def test_a_replicate_counts_for_all_of_them(nights: Path) -> None:
    words = ("compare", nights / "mon", nights / "wed", nights / "mon", nights / "other")
    noise = [row["noise"] for row in rows_of(*words, "--least", 0)]
    with_twin = [row["noise"] for row in rows_of(*words, "--least", 0, "--twin", nights / "tue")]
    assert noise[0] < 0.4
    assert with_twin[0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        (("tue", "wed"), 3, ""),
        (("wed", "other"), 2, "The gate cannot decide about other."),
        (("wed", "broken"), 2, "The gate cannot decide about broken."),
    ],
)
def test_the_gate_of_several(names: tuple[str, ...], code: int, said: str, nights: Path) -> None:
    paths = [str(nights / name) for name in ("mon", *names)]
    done = run_anew("compare", *paths, "--fail-on", "regression", *HERE)
    assert done.code == code
    assert said in done.err


@pytest.mark.parametrize("words", ["--by source", "--top 3", "--sort delta", "--beyond-noise", "--junit"])
def test_options_about_two_captures_are_refused(words: str, nights: Path) -> None:
    assert f"{words.split(maxsplit=1)[0]} is about two captures, and there are 6." in refused(
        "compare", nights / "mon", nights, *words.split()
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("compare {0}/mon {0}/tue --jobs 2", "--jobs is about several captures."),
        ("compare {0}/broken {0}", "is not a decoded thread trace"),
    ],
)
def test_mistakes(words: str, says: str, nights: Path) -> None:
    assert says in refused(*words.format(nights).split())


def test_nothing_below_is_a_sentence(tmp_path: Path) -> None:
    assert "no capture lies up to 4 folders below it" in refused("trend", tmp_path)
