"""`rcv causes` prints what the panel shows."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.model.kinds import TokenKind
from rcv_py.synth.capture import SimulatedCause
from tests.support.command_runs import printed, printed_csv, printed_json
from tests.support.command_runs import run as run_words
from tests.support.fixtures import fixture_of
from tests.support.paths import ROOT
from tests.support.plain_capture import plain
from tests.support.samples import sample, sample_path, write_sample

NAME = "matmul_small"


# A matrix product that waits for loads, matrix results, queues, barriers and scalar loads
folder = fixture_of(sample_path, NAME)


def stall_of(folder: Path) -> int:
    """All cycles of stall, from the files alone."""
    return sum(token.stall for wave in plain(folder).waves for token in wave.tokens)


def true_waits() -> list[tuple[int, int, int]]:
    """Stall of a wait for a memory instruction, both as lines; the longest first, by the simulator."""
    folder, truth = sample(NAME)
    found: Counter[tuple[int, int]] = Counter()
    for wave in plain(folder).waves:
        known = truth.waves[wave.se, wave.simd, wave.slot, wave.number]
        for token, cause, producer in zip(wave.tokens, known.cause, known.producer, strict=True):
            if cause == SimulatedCause.COUNTER:
                found[token.line, wave.tokens[producer].line] += token.stall
    return [(stall, wait, producer) for (wait, producer), stall in found.most_common()]


def test_text_ranks_causes_with_lines_and_producers(folder: Path) -> None:
    stall, wait, producer = true_waits()[0]
    text = printed("causes", folder, "--top", 2)
    lines = text.splitlines()
    assert lines[0].split() == ["stall", "of", "stall", "idle", "hits", "cause", "because"]
    assert "vector load" in lines[1]
    code = plain(folder)
    assert lines[2].split()[0] == f"{stall:,}"
    assert f" {wait} {code.text(wait)} " in lines[2]
    assert f" ← {producer} {code.text(producer)} " in lines[2]
    assert f"of {stall_of(folder):,} stalled" in text
    assert "attributed, not elapsed" in text


def test_text_by_producer_and_by_line(folder: Path) -> None:
    _, wait, producer = true_waits()[0]
    code = plain(folder)
    by_producer = printed("causes", folder, "--by", "producer", "--top", 1)
    assert f"→ {wait} {code.text(wait)}: vector load" in by_producer
    by_line = printed("causes", folder, "--by", "instruction", "--top", 1)
    assert f"vector load ← {producer} {code.text(producer)}" in by_line


def test_csv_has_a_row_a_line_cause_and_producer(folder: Path) -> None:
    rows = printed_csv("causes", folder, "--top", 0)
    assert sum(int(row["stall"]) for row in rows) == stall_of(folder)
    assert {row["cause"] for row in rows} >= {"wait_scalar", "wait_load"}
    untold = csv.DictReader(io.StringIO(printed("causes", sample_path("untold"), "--csv", "--top", 0)))
    assert "unexplained" in {row["cause"] for row in untold}


def test_a_capture_without_waves_says_so() -> None:
    folder = ROOT / "sample_traces" / "placeholder"
    assert "no traced waves" in printed("causes", folder)
    document = printed_json("causes", folder)
    assert document["rows"] == []
    totals = dict.fromkeys(("stall", "idle", "explained_share_of_stall", "explained_share_of_idle"))
    assert document["totals"] == totals, "nothing is known of waves that are not there"


def test_a_share_of_no_stall_is_a_dash(folder: Path) -> None:
    """`--line` of an instruction that only idled: its cycles of stall are none, so their share is unknown."""
    rows = printed_json("causes", folder, "--by", "instruction", "--top", 0)["rows"]
    idle = [row["instruction"] for row in rows if not row["stall"] and row["idle"]]
    for line in idle:
        document = printed_json("causes", folder, "--line", line)
        if not document["totals"]["stall"]:
            assert document["totals"]["explained_share_of_stall"] is None
            assert all(row["share_of_stall"] is None for row in document["rows"])
            assert "\n– of 0 stalled" in printed("causes", folder, "--line", line)
            return
    raise AssertionError("the capture has such an instruction")


def test_a_producer_that_is_a_guess_is_called_so(folder: Path) -> None:
    """The scalar loads of the capture are issued in bursts and return in any order."""
    document = printed_json("causes", folder, "--top", 0)
    causes = {row["cause"]: row for row in document["rows"]}
    assert 0 < causes["wait_scalar"]["guessed"] <= causes["wait_scalar"]["stall"]
    assert causes["memory_queue"]["guessed"] == causes["memory_queue"]["stall"]
    assert "guess" in causes["memory_queue"]["evidence"]
    assert causes["matrix_result"]["guessed"] == 0 < causes["matrix_result"]["stall"]
    for row in document["rows"]:
        assert sum(part["guessed"] for part in row["parts"]) == row["guessed"]
    assert "← perhaps " in printed("causes", folder, "--top", 0)
    assert "→ perhaps " in printed("causes", folder, "--by", "producer", "--top", 0)
    rows = printed_csv("causes", folder, "--top", 0)
    assert sum(int(row["guessed"]) for row in rows) == sum(row["guessed"] for row in causes.values())


@pytest.mark.parametrize("power", [41, 52, 59])
@pytest.mark.parametrize("command", ["causes", "waits", "waits --latency", "units"])
def test_a_stall_of_years_is_printed(command: str, power: int, tmp_path: Path) -> None:
    """A damaged wave file: the stall is counted as it stands, and nothing is raised."""
    folder = tmp_path / "long"
    write_sample(NAME, folder)
    file = sorted(folder.glob("se*_sm*_sl*_wv*.json"))[0]
    wave = json.loads(file.read_text())
    waits = [row for row in wave["wave"]["instructions"] if row[1] == TokenKind.IMMED and row[2] > 40]
    for row in waits[:3]:
        row[2] = row[3] = 1 << power
    file.write_text(json.dumps(wave))
    name, *words = command.split()
    document = printed_json(name, folder, *words)
    if command == "causes":
        assert document["totals"]["stall"] >= 3 << power
    assert main([name, str(folder), *words]) == 0


def test_top_holds_for_the_parts_of_a_row_too(folder: Path) -> None:
    rows = printed_json("causes", folder, "--top", 0)["rows"]
    first = printed_json("causes", folder, "--top", 2)["rows"]
    assert [row["parts"] for row in first] == [row["parts"][:2] for row in rows[:2]]
    assert max(len(row["parts"]) for row in rows) > 2
    usual = printed_json("causes", folder)["rows"]
    assert [row["parts"] for row in usual] == [row["parts"] for row in rows[:12]], "all parts without it"


@pytest.mark.parametrize(
    "words",
    [("causes",), ("causes", "--by", "producer"), ("waits",), ("triage", "--no-predict")],
    ids=" ".join,
)
def test_guesses_are_translated(words: tuple[str, ...]) -> None:
    folder, more = str(ROOT / "sample_traces" / "matmul_tiled"), ("--top", "0")
    english = run_words(*words, folder, *more).out
    chinese = run_words("--language", "zh_CN", *words, folder, *more).out
    assert "perhaps " in english
    assert "perhaps" not in chinese
    assert chinese.count("可能") >= english.count("perhaps ")
