"""`rcv isa` prints the listing, blocks and branches."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from rcv_py.model.kinds import TokenKind
from tests.support.command_runs import printed, printed_csv, printed_json, refused
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.folders import WAVE, code, row, write
from tests.support.opened import VARIED
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample
from tests.support.wave_folder import wave


def rows_of(folder: Path) -> list[list]:
    return json.loads((folder / "code.json").read_text())["code"]


capture = fixture_of_each(sample_path, [*VARIED, "pc_sampling"])  # A capture of any kind
listed = fixture_of(sample_path, "matmul_small")  # A capture of one kernel


def moved_down(folder: Path, by: int) -> None:
    """Put so many instructions that never ran in front of all others."""
    path = folder / "code.json"
    document = json.loads(path.read_text())
    label, *rows = document["code"]
    first = rows[0][5] - 4 * by
    nops = [["s_nop 0", 0, at, "", label[4], first + 4 * at, 0, 0, 0, 0] for at in range(1, by + 1)]
    label[5] = first + 4
    for one in rows:
        one[2] += by
    document["code"] = [label, *nops, *rows]
    path.write_text(json.dumps(document))
    for path in folder.glob("se*_wv*.json"):
        document = json.loads(path.read_text())
        for token in document["wave"]["instructions"]:
            token[4] += by
        document["wave"]["waitcnt"] = []
        path.write_text(json.dumps(document))


def test_numbers_that_name_are_not_grouped_and_amounts_are(tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path)
    moved_down(tmp_path, 1000)
    code = rows_of(tmp_path)
    first, second, *_ = sorted(code, key=lambda row: -(row[7] + row[9]))
    lines = printed("isa", tmp_path, "--top", 2).splitlines()
    shown = [line.split()[:3] for line in lines[1:3]]
    assert shown == [[str(row[2]), f"{row[6]:,}", f"{row[7]:,}"] for row in (first, second)]
    assert all(int(number) > 1000 and "," in latency for number, _, latency in shown)
    jumps = printed("isa", tmp_path, "--branches", "--top", 1).splitlines()
    assert jumps[0].split()[:5] == ["#", "target", "taken", "not", "taken"]
    at = int(jumps[1].split()[0])
    words = int(str(code[at][0]).split()[1])
    address = code[at][5] + 4 + 4 * (words - (words >> 15 << 16))
    (target,) = (row[2] for row in code[1:] if row[5] == address)
    kinds = [token.kind for token in plain(tmp_path).by_line()[at]]
    taken, passed = kinds.count(TokenKind.JUMP), kinds.count(TokenKind.NEXT)
    share = f"{100 * taken / (taken + passed):.1f}"
    assert jumps[1].split()[:6] == [str(at), str(target), str(taken), str(passed), share, "%"]


def test_samples_are_no_cycles_and_code_may_have_no_branches(tmp_path: Path) -> None:
    sampled = printed("isa", sample_path("pc_sampling"), "--top", 1).splitlines()[0].split()
    assert sampled == ["#", "samples", "stalled", "share", "block", "instruction", "source"]
    assert "has no branches" in printed("isa", write(tmp_path / "straight"), "--branches")


def test_blocks_hold_all_costs(capture: Path) -> None:
    document = printed_json("isa", capture, "--blocks")
    rows = rows_of(capture)
    blocks = document["rows"]
    assert (blocks[0]["first_instruction"], blocks[-1]["last_instruction"]) == (0, len(rows) - 1)
    assert all(a["last_instruction"] + 1 == b["first_instruction"] for a, b in pairwise(blocks))
    if any(capture.glob("se*_wv*.json")):  # else it holds samples, and no cycles
        for column, place in {"latency": 7, "stall": 8, "idle": 9}.items():
            assert sum(block[column] for block in blocks) == sum(row[place] for row in rows), column
    assert sum(block["share_of_total"] for block in blocks) == pytest.approx(1, abs=1e-3)


def test_the_listing_is_in_program_order_or_ranked(listed: Path) -> None:
    rows = printed_csv("isa", listed)
    assert [int(row["instruction"]) for row in rows] == list(range(len(rows)))
    top = printed_csv("isa", listed, "--top", 3)
    costs = [int(row["latency"]) + int(row["idle"]) for row in rows]
    assert [int(row["latency"]) + int(row["idle"]) for row in top] == sorted(costs, reverse=True)[:3]
    assert "s_endpgm" in printed("isa", listed)


def test_a_single_branch_is_counted_as_one() -> None:
    assert "1 of 1 branch." in printed("isa", sample_path("ceiling"), "--branches")


def test_one_listing_at_a_time() -> None:
    assert "not allowed" in refused("isa", sample_path("vector_add"), "--blocks", "--branches")


def test_a_branch_that_was_never_taken_is_counted(tmp_path: Path) -> None:
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
    found = printed_json("isa", folder, "--branches")["rows"]
    branch = next(one for one in found if one["instruction"] == 1)
    assert (branch["taken"], branch["not_taken"], branch["taken_share_of_hits"]) == (0, 32, 0.0)


def test_branches_of_pc_samples_are_unknown() -> None:
    folder = sample_path("pc_sampling")
    rows = printed_json("isa", folder, "--branches")["rows"]
    assert rows
    assert all(row["taken"] is None and row["not_taken"] is None for row in rows)
    assert " 0 " not in printed("isa", folder, "--branches").split("\n")[1]


def run_twice_once_and_never(folder: Path) -> Path:
    """One wave runs instruction 1 twice, 2 once and 3 never; each takes 16 cycles, 4 of them stall."""
    hits = {1: 2, 2: 1, 3: 0}
    rows = [row("s_nop 0", at, "", 256 + 4 * at, n, 16 * n, 4 * n, 0) for at, n in hits.items()]
    tokens = [[80, 9, 4, 16, 1], [96, 9, 4, 16, 2], [112, 9, 4, 16, 1]]
    changes = {"code.json": code(row("; kernel", 0, "", 260), *rows), WAVE: wave(tokens)}
    return write(folder, changes)


@pytest.mark.parametrize("mode", ["mean", "wave-mean", "wave-max", "hit"])
def test_costs_of_executions_that_did_not_happen_are_not_known(tmp_path: Path, mode: str) -> None:
    folder, is_hit = run_twice_once_and_never(tmp_path), mode == "hit"
    words = [] if mode == "mean" else ["--wave", "se0/simd0/slot0/wv0", *(["--hit", 2] if is_hit else [])]
    rows = printed_json("isa", folder, "--mode", mode, *words)["rows"]
    costs = [[one[name] for name in ("latency", "stall", "idle", "share_of_total")] for one in rows]
    nothing = [None] * 4
    expected = [nothing, [16, 4, 0, 1.0], nothing, nothing]
    assert costs == (expected if is_hit else [nothing, [16, 4, 0, 0.5], [16, 4, 0, 0.5], nothing])
    lines = printed_csv("isa", folder, "--mode", mode, *words)
    assert [one["latency"] for one in lines] == ["" if cost is None else str(cost) for cost, *_ in costs]
    (block,) = printed_json("isa", folder, "--mode", mode, *words, "--blocks")["rows"]
    assert block["latency"] == (16 if is_hit else 32)


def test_sums_over_executions_that_did_not_happen_are_zero(tmp_path: Path) -> None:
    folder = run_twice_once_and_never(tmp_path)
    for words in ([], ["--mode", "wave-sum", "--wave", "se0/simd0/slot0/wv0"]):
        rows = printed_json("isa", folder, *words)["rows"]
        assert [(one["latency"], one["share_of_total"]) for one in rows] == [
            (0, 0.0),
            (32, 0.666667),
            (16, 0.333333),
            (0, 0.0),
        ]


def test_a_block_whose_executions_did_not_happen_has_no_cost_of_them(tmp_path: Path) -> None:
    folder = run_twice_once_and_never(tmp_path)
    rows = [
        row("; kernel", 0, "", 256),
        row("s_branch 1", 1, "", 256, 1, 16, 4, 0),
        row("s_nop 0", 2, "", 260, 0, 0, 0, 0),
        row("s_endpgm", 3, "", 264, 1, 16, 4, 0),
    ]
    tokens = [[80, 7, 4, 16, 1], [96, 11, 4, 16, 3]]
    write(folder, {"code.json": code(*rows), WAVE: wave(tokens)})
    blocks = printed_json("isa", folder, "--blocks", "--mode", "mean")["rows"]
    assert [one["latency"] for one in blocks] == [16, None, 16]


def test_labels_are_no_instructions(listed: Path) -> None:
    count = sum(not str(one[0]).startswith(";") for one in rows_of(listed))
    assert 0 < count < len(rows_of(listed))
    for top in (3, 0):
        assert f"{top or count} of {count} instructions." in printed("isa", listed, "--top", top)
    assert printed_json("info", listed)["code"]["instructions"] == count
    assert f"0 to {len(rows_of(listed)) - 1}." in refused("line", listed, 9999)


def test_without_occupancy_the_launch_has_no_duration(tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path)
    assert re.search(r"^  time +\d", printed("info", tmp_path), re.MULTILINE)
    (tmp_path / "occupancy.json").write_text("{bad")
    lines = printed("info", tmp_path)
    assert not re.search(r"^  time ", lines, re.MULTILINE)
    assert re.search(r"^  traced span +\d", lines, re.MULTILINE)
