"""A kernel whose matrix units work nearly all the time: no output calls the time in which none issues lost.

The truth is known: 24 rounds of five instructions of 32 cycles on each of four SIMDs, 15,360 cycles of work.
"""

import json
import re
from pathlib import Path

import pytest

from tests.support.command_runs import run
from tests.support.pattern_kernels import PATTERNS, ROUNDS, captured

WORK = 4 * ROUNDS * 5 * 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ceiling") / "ui_output_agent_1_dispatch_1"
    captured(PATTERNS["matrix-unit-busy"], made)
    return made


def told(command: str, folder: Path, *words: str) -> str:
    found = run(command, str(folder), *words)
    assert found.code == 0, found.err
    return found.out


def percents(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) %", text)]


def test_bubbles_are_what_neither_issue_nor_passes_fill(folder: Path) -> None:
    totals = json.loads(told("bubbles", folder, "--json"))["totals"]
    resident = totals["simd_cycles"]
    assert totals["mfma"] == WORK
    assert totals["no_issue"] > 0.8 * resident
    assert totals["bubbles"] < 0.15 * resident
    assert resident - WORK - totals["issuing"] <= totals["bubbles"] <= resident - WORK
    most = next(line for line in told("bubbles", folder).splitlines() if "at most" in line)
    assert percents(most) == [pytest.approx(100 * totals["bubbles"] / resident, abs=0.05)]


def test_the_reference_knows_no_passes(folder: Path) -> None:
    totals = json.loads(told("bubbles", folder, "--rule", "reference", "--json"))["totals"]
    assert totals["mfma"] == 0
    assert totals["bubbles"] == totals["no_issue"] > 0.8 * totals["simd_cycles"]


def test_the_summary_shows_issue_and_the_matrix_unit(folder: Path) -> None:
    value = {fact["id"]: fact["value"] for fact in json.loads(told("summary", folder, "--json"))["facts"]}
    totals = json.loads(told("bubbles", folder, "--json"))["totals"]
    resident = totals["simd_cycles"]
    for name, cycles in (
        ("simd_busy", resident - totals["no_issue"]),
        ("matrix_busy", WORK),
        ("no_issue", totals["no_issue"]),
        ("nothing_happens", totals["bubbles"]),
    ):
        assert value[name] == pytest.approx(cycles / resident, abs=1e-6)
    assert value["simd_busy"] < 0.2
    assert value["matrix_busy"] > 0.85


def test_triage_has_no_bound_beyond_them(folder: Path) -> None:
    document = json.loads(told("triage", folder, "--top", "0", "--json"))
    totals = document["totals"]
    assert totals["bubbles"] < 0.15 * totals["simd_cycles"] < 0.8 * totals["simd_cycles"] < totals["no_issue"]
    numbers = {one["id"]: percents(one["text"]) for one in document["numbers"]}
    assert numbers["matrix"][0] > 85
    assert numbers["nothing"][0] < 15
    waits = [one for one in document["findings"] if one["exposed"]]
    assert waits
    assert all(one["cycles"] <= min(totals["bubbles"], one["exposed"]) for one in waits)
