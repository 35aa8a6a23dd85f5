"""Files of waves that are gone: what needs them is said to be of the others, or not to be known."""

import json
from pathlib import Path

import pytest

from tests.support.command_runs import run
from tests.support.samples import sample_path, write_sample

SAMPLE = "straggler"
ALL_GONE = "16 of 16 traced waves could not be read: their files are missing or damaged."
PART_GONE = "15 of 16 traced waves could not be read: their files are missing or damaged."


def damaged(tmp_path: Path, left: int) -> str:
    """A copy of a capture of sixteen waves, of which some files are left."""
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample(SAMPLE, folder)
    for path in sorted(folder.glob("se*_wv*.json"))[left:]:
        path.unlink()
    return str(folder)


@pytest.mark.parametrize("bars", ["nonhidden", "kinds", "causes", "memory_waits"])
def test_bars_that_need_waves_say_which_are_missing(tmp_path: Path, bars: str) -> None:
    folder = damaged(tmp_path, 1)
    found = run("isa", folder, "--bars", bars, "--top", "3")
    assert PART_GONE in found.out
    found = run("isa", folder, "--bars", bars, "--top", "3", "--json")
    assert PART_GONE in found.err
    assert len(json.loads(found.out)["rows"]) == 3


@pytest.mark.parametrize("command", ["triage", "summary", "causes", "waits", "units"])
def test_results_of_a_wave_with_wrong_numbers_say_so(tmp_path: Path, command: str) -> None:
    """A stall that is longer than its instruction cannot be; the others of the capture are right."""
    folder = Path(damaged(tmp_path, 16))
    path = min(folder.glob("se*_wv*.json"))
    document = json.loads(path.read_text(encoding="utf-8"))
    token = document["wave"]["instructions"][0]
    token[2] = token[3] + 5000
    path.write_text(json.dumps(document), encoding="utf-8")
    said = f"1 wave may be wrong: {path.name} has instructions that stall for longer than they last"
    assert said in run(command, str(folder)).out
    if command in ("causes", "waits"):
        document = json.loads(run(command, str(folder), "--json").out)
        assert said in "".join(document["about"]["problems"])


def test_a_wave_with_wrong_numbers_is_not_a_missing_one(tmp_path: Path) -> None:
    folder = Path(damaged(tmp_path, 16))
    path = min(folder.glob("se*_wv*.json"))
    body = json.loads(path.read_text(encoding="utf-8"))
    body["wave"]["begin"] = -5
    path.write_text(json.dumps(body), encoding="utf-8")
    shown = run("isa", str(folder), "--bars", "causes", "--top", "3").out
    assert "may be wrong" in shown
    assert "cover the other waves" not in shown
    assert json.loads(run("line", str(folder), "3", "--json").out)["missing"] == ""


COMMANDS = ("summary", "waves", "triage", "hotspot", "causes", "waits", "range", "units", "loops", "latency")


@pytest.mark.parametrize("rows", [None, [], "no table"])
@pytest.mark.parametrize("left", [0, 7, 15])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wave_without_instructions_counts_like_one_that_is_gone(
    tmp_path: Path, command: str, left: int, rows: object
) -> None:
    """The same numbers, of the other waves, as without its file; null, not 0, if there are no others."""
    whole, gone = damaged(tmp_path / "a", 16), damaged(tmp_path / "b", left)
    for path in sorted(Path(whole).glob("se*_wv*.json"))[left:]:
        document = json.loads(path.read_text(encoding="utf-8"))
        document["wave"] |= {"instructions": rows}
        if rows == "no table":
            del document["wave"]["instructions"]
        path.write_text(json.dumps(document), encoding="utf-8")
    empty, without = (json.loads(run(command, folder, "--json").out) for folder in (whole, gone))
    for document in (empty, without):
        del document["about"]["problems"], document["about"]["arguments"]
    assert empty == without


def test_the_text_of_a_range_without_a_readable_wave_has_no_zeros(tmp_path: Path) -> None:
    said = run("range", damaged(tmp_path, 0)).out
    assert "\n  range " in said
    assert "executions" not in said
    assert "0 cycles" not in said


def test_info_names_waves_without_instructions(tmp_path: Path) -> None:
    folder = Path(damaged(tmp_path, 16))
    path = min(folder.glob("se*_wv*.json"))
    document = json.loads(path.read_text(encoding="utf-8"))
    document["wave"]["instructions"] = None
    path.write_text(json.dumps(document), encoding="utf-8")
    said = f"{path.name} lists no instructions: what the wave executed is not known."
    assert said in run("info", str(folder), "--read").out
    assert "1 of 16 traced waves could not be read" in run("summary", str(folder)).out


def test_bars_of_totals_need_no_wave(tmp_path: Path) -> None:
    found = run("isa", damaged(tmp_path, 1), "--bars", "latency", "--top", "3")
    assert "could not be read" not in found.out + found.err


def test_a_flamegraph_of_what_was_not_hidden_says_which_are_missing(tmp_path: Path) -> None:
    folder = damaged(tmp_path, 1)
    assert PART_GONE in run("flame", folder, "--metric", "nonhidden").out
    for form in ("--json", "--csv", "--folded"):
        found = run("flame", folder, "--metric", "nonhidden", form)
        assert PART_GONE in found.err
        assert PART_GONE not in found.out
    assert "could not be read" not in run("flame", folder).out


def test_units_without_a_readable_wave_say_why(tmp_path: Path) -> None:
    folder = damaged(tmp_path, 0)
    found = run("units", folder)
    assert "could not be read: " in found.out
    assert "share" not in found.out
    document = json.loads(run("units", folder, "--json").out)
    assert document["rows"] == []
    assert "could not be read: " in document["missing"]


def test_executions_of_waves_that_are_gone_are_not_known(tmp_path: Path) -> None:
    document = json.loads(run("line", damaged(tmp_path, 0), "2", "--json").out)
    assert document["hits"] is None
    assert document["missing"] == ALL_GONE


def test_totals_of_no_wave_are_not_known(tmp_path: Path) -> None:
    document = json.loads(run("triage", damaged(tmp_path, 0), "--json").out)
    assert document["totals"] == {"simd_cycles": None, "no_issue": None, "bubbles": None}
    assert document["note"]


def test_of_a_whole_capture_nothing_is_missing() -> None:
    folder = str(sample_path(SAMPLE))
    assert json.loads(run("line", folder, "2", "--json").out)["missing"] == ""
    assert json.loads(run("units", folder, "--json").out)["missing"] == ""
    assert json.loads(run("triage", folder, "--json").out)["totals"]["simd_cycles"] > 0


@pytest.mark.parametrize(("sides", "name"), [("whole damaged", "B"), ("damaged whole", "A")])
def test_a_comparison_names_the_side_without_waves(tmp_path: Path, sides: str, name: str) -> None:
    """Its code.json has cycles, so it is not a capture without executed instructions."""
    folders = {"whole": str(sample_path(SAMPLE)), "damaged": damaged(tmp_path, 0)}
    said = run("compare", *(folders[side] for side in sides.split())).out
    assert f"the files of all 16 traced waves of {name} are missing or damaged" in said
    assert "no executed instructions" not in said
    document = json.loads(run("compare", *(folders[side] for side in sides.split()), "--json").out)
    assert (document["verdict"], document["kernel"]) == ("not comparable", None)


@pytest.mark.parametrize("command", ["triage", "summary"])
def test_executions_without_an_instruction_are_counted_where_numbers_lack_them(
    tmp_path: Path, command: str
) -> None:
    """A table of instructions that was cut off is a valid one; only the executions show what it lacks."""
    folder = Path(damaged(tmp_path, 4))
    path = folder / "code.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["code"] = table["code"][: len(table["code"]) // 2]
    path.write_text(json.dumps(table), encoding="utf-8")
    left = {row[2] for row in table["code"] if not row[0].startswith(";")}
    waves = (json.loads(one.read_text(encoding="utf-8"))["wave"] for one in folder.glob("se*_wv*.json"))
    lines = [token[4] for wave in waves for token in wave["instructions"]]
    lost = sum(line not in left for line in lines)
    said = f"{lost:,} of {len(lines):,} executions ({100 * lost / len(lines):.1f} %) match no instruction"
    assert said in run(command, str(folder)).out
    document = json.loads(run(command, str(folder), "--json").out)
    words = document["unreadable"] if command == "triage" else json.dumps(document, ensure_ascii=False)
    assert said in words


def test_costs_that_the_table_lacks_are_summed_from_the_waves(tmp_path: Path) -> None:
    folder = Path(damaged(tmp_path, 16))
    right = json.loads(run("hotspot", str(folder), "--json", "--top", "0").out)
    path = folder / "code.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["code"] = [row[:6] for row in table["code"]]
    path.write_text(json.dumps(table), encoding="utf-8")
    found = json.loads(run("hotspot", str(folder), "--json", "--top", "0").out)
    assert found["totals"] == right["totals"]
    code = json.loads(run("info", str(folder), "--json").out)["code"]
    assert {code[name] for name in ("executed", "hits", "latency", "stall", "issue", "idle")} == {None}
    assert "executions" not in run("summary", str(folder)).out.partition("States")[0]


@pytest.mark.parametrize("command", ["info", "triage"])
def test_a_damaged_table_of_devices_is_told(tmp_path: Path, command: str) -> None:
    folder = damaged(tmp_path, 16)
    said = "agent_info.csv names no GPU: whether the launch leaves SIMDs without a wave is not known."
    (tmp_path / "agent_info.csv").write_text("\ufffd,\n,,\n", encoding="utf-8")
    assert said in run(command, folder).out
