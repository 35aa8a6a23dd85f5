"""`rcv isa` prints the listing, blocks and branches of real captures."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from rcv_py.model.kinds import TokenKind
from tests.support import captures
from tests.support.command_runs import CACHE
from tests.support.folders import code, row, write
from tests.support.wave_folder import wave


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code = main([str(word) for word in words], CACHE)
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


def rows_of(name: str) -> list[list]:
    return json.loads((captures.trace_path(name) / "code.json").read_text())["code"]


def test_numbers_that_name_are_not_grouped_and_samples_are_no_cycles(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = run(capsys, "isa", captures.trace_path("flash_attn_small_after"), "--top", 2).splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [["3", "8", "11,608"], ["2069", "8", "9,548"]]
    jumps = run(capsys, "isa", captures.trace_path("pa_mqa_small"), "--branches", "--top", 1).splitlines()
    assert jumps[0].split()[:5] == ["#", "target", "taken", "not", "taken"]
    assert jumps[1].split()[:6] == ["143", "149", "0", "4", "0.0", "%"]
    sampled = run(capsys, "isa", captures.trace_path("pcsampling"), "--top", 1).splitlines()[0].split()
    assert sampled == ["#", "samples", "stalled", "share", "block", "instruction", "source"]
    assert "has no branches" in run(capsys, "isa", captures.trace_path("vec_add"), "--branches")


@pytest.mark.parametrize("name", captures.TRACES)
def test_blocks_hold_all_costs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "isa", captures.trace_path(name), "--blocks", "--json"))
    assert document["schema"] == "rcv.isa/2"
    rows = rows_of(name)
    blocks = document["rows"]
    assert (blocks[0]["first_instruction"], blocks[-1]["last_instruction"]) == (0, len(rows) - 1)
    assert all(a["last_instruction"] + 1 == b["first_instruction"] for a, b in pairwise(blocks))
    if name != "pcsampling":
        for column, place in {"latency": 7, "stall": 8, "idle": 9}.items():
            assert sum(block[column] for block in blocks) == sum(row[place] for row in rows), column
    assert sum(block["share_of_total"] for block in blocks) == pytest.approx(1, abs=1e-3)


def test_the_listing_is_in_program_order_or_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pa_mqa_small")
    rows = list(csv.DictReader(io.StringIO(run(capsys, "isa", folder, "--csv"))))
    assert [int(row["instruction"]) for row in rows] == list(range(len(rows)))
    top = list(csv.DictReader(io.StringIO(run(capsys, "isa", folder, "--csv", "--top", 3))))
    costs = [int(row["latency"]) + int(row["idle"]) for row in rows]
    assert [int(row["latency"]) + int(row["idle"]) for row in top] == sorted(costs, reverse=True)[:3]
    assert "s_endpgm" in run(capsys, "isa", folder)


def test_branches_are_counted_over_all_waves(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "isa", captures.trace_path("preshuffle_gemm"), "--branches", "--csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["instruction"], row["target_instruction"], row["taken"], row["not_taken"]) == (
        "346",
        "206",
        "952",
        "68",
    )
    assert "1 of 1 branch." in run(capsys, "isa", captures.trace_path("preshuffle_gemm"), "--branches")


def test_one_listing_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["isa", str(captures.trace_path("vec_add")), "--blocks", "--branches"])
    assert "not allowed" in capsys.readouterr().err


def test_a_branch_that_was_never_taken_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not one jump in the whole capture: 32 executions of a branch that fall through."""
    rows = [
        row("k", 0, "", 0),
        row("s_cbranch_scc1 3", 1, "", 16, 32, 128, 0, 0),
        row("s_nop 0", 2, "", 20, 32, 128, 0, 0),
        row("s_endpgm", 3, "", 24, 1, 4, 0, 0),
    ]
    rows[0][0] = "; k"
    tokens = []
    for turn in range(32):
        tokens.append([100 + 8 * turn, int(TokenKind.NEXT), 0, 4, 1])
        tokens.append([104 + 8 * turn, int(TokenKind.IMMED), 0, 4, 2])
    tokens.append([400, int(TokenKind.MSG), 0, 4, 3])
    one = wave(tokens, [[1, 320]])
    folder = write(tmp_path, {"code.json": code(*rows), "se0_sm0_sl0_wv0.json": one})
    found = json.loads(run(capsys, "isa", folder, "--branches", "--json"))["rows"]
    branch = next(one for one in found if one["instruction"] == 1)
    assert (branch["taken"], branch["not_taken"], branch["taken_share_of_hits"]) == (0, 32, 0.0)


def test_branches_of_pc_samples_are_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    folder = captures.trace_path("pcsampling")
    rows = json.loads(run(capsys, "isa", folder, "--branches", "--json"))["rows"]
    assert rows
    assert all(row["taken"] is None and row["not_taken"] is None for row in rows)
    assert " 0 " not in run(capsys, "isa", folder, "--branches").split("\n")[1]
