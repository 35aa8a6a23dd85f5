"""`rcv flame`: the tree, folded stacks, JSON, and what cannot be told."""

import json
from pathlib import Path

import pytest

from rcv_py.cli.main import main
from tests.support.command_runs import printed, printed_json, refused
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

NAME = "matmul_small"


def costs_below(folder: Path) -> dict[str, int]:
    """Latency and idle of the instructions that each outermost source line called, from code.json."""
    found: dict[str, int] = {}
    for row in plain(folder).code[1:]:  # after the label
        place = str(row[3]).split(" -> ")[-1].rpartition("/")[2]
        found[place] = found.get(place, 0) + int(str(row[7])) + int(str(row[9]))
    return found


def test_the_tree_names_the_heaviest_frames_first() -> None:
    costs = costs_below(sample_path(NAME))
    whole = sum(costs.values())
    heaviest = max(costs, key=costs.__getitem__)
    lines = printed("flame", str(sample_path(NAME)), "--least", "4").splitlines()
    assert lines[1].split() == [f"{whole:,}", "100.0", "%", "matmul.hip"]
    share = f"{100 * costs[heaviest] / whole:.1f}"
    assert lines[2].split() == [f"{costs[heaviest]:,}", share, "%", heaviest]
    assert lines[1].index("matmul") < lines[2].index("matmul"), "indented"
    assert lines[-1] == f"{whole:,} cycles of latency and idle time of all waves."
    shares = [float(line.split()[1]) for line in lines[1:-2]]
    assert len(shares) > 10
    assert min(shares) >= 4
    assert "s_load" not in "".join(lines)


def test_folded_stacks_sum_up_to_everything() -> None:
    costs = costs_below(sample_path(NAME))
    lines = printed("flame", str(sample_path(NAME)), "--folded").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(costs.values())
    for place, cost in costs.items():
        below = [line for line in lines if line.split(";")[1] == place]
        assert sum(int(line.rpartition(" ")[2]) for line in below) == cost, place
    assert {line.count(";") for line in lines} >= {2, 3}, "inlined code is deeper"


def test_json_has_every_frame_with_its_parent_before_it() -> None:
    folder = sample_path("markers")
    stalls = {line: sum(token.stall for token in tokens) for line, tokens in plain(folder).by_line().items()}
    document = printed_json("flame", str(folder), "--metric", "stall")
    assert (document["total"], document["unit"]) == (sum(stalls.values()), "cycles")
    frames = document["frames"]
    assert sum(frame["self"] for frame in frames) == sum(stalls.values()) > 0
    for at, frame in enumerate(frames):
        parent = frame["parent"]
        assert parent is None or (parent < at and frames[parent]["depth"] == frame["depth"] - 1)
        start = 0 if parent is None else frames[parent]["start"]
        assert frame["start"] >= start
    assert {frame["instruction"] for frame in frames if frame["what"] == "code"} == {
        line for line, stall in stalls.items() if stall
    }


def test_what_is_not_hidden_comes_with_its_assumption() -> None:
    text = printed("flame", str(sample_path(NAME)), "--metric", "nonhidden", "--least", "20")
    assert "cycles of all waves that no other wave hid." in text
    assert "Estimate:" in text


def test_scopes_alone_and_with_their_instructions() -> None:
    folder = str(sample_path("markers"))
    scopes = printed("flame", folder, "--content", "markers")
    assert "WaveTile::load" in scopes
    assert "v_wmma" not in scopes
    both = printed("flame", folder, "--content", "both", "--folded").splitlines()
    lines = [line for line in both if line.startswith("matmul_wmma;WaveTile::load;matmul_wmma.hip;")]
    assert any(";global_load_b128" in line for line in lines)
    assert any(line.startswith("matmul_wmma;matmul_wmma.hip;") for line in both), "in no inner scope"
    whole = sum(costs_below(sample_path("markers")).values())
    assert sum(int(line.rpartition(" ")[2]) for line in both) == whole


def test_code_without_sources_is_told_by_kernel(tmp_path: Path) -> None:
    write_sample("gfx12", tmp_path / "bare")
    code = tmp_path / "bare" / "code.json"
    document = json.loads(code.read_text())
    for row in document["code"][1:]:
        row[3] = ""
    code.write_text(json.dumps(document))
    text = printed("flame", str(tmp_path / "bare"), "--least", "50")
    assert "matmul_wmma" in text
    assert "kernels and basic blocks" in text


def test_samples() -> None:
    folder = sample_path("pc_sampling")
    rows = json.loads((folder / "code.json").read_text())["code"]
    samples = sum(row[10] + row[11] for row in rows)
    assert f"{samples:,} PC samples." in printed("flame", str(folder), "--least", "50")
    assert "neither executions" in refused("flame", str(folder), "--metric", "hits")


def test_what_cannot_be_told_is_a_sentence() -> None:
    assert "has no markers" in refused("flame", str(sample_path(NAME)), "--content", "both")
    marked = str(sample_path("markers"))
    assert "no other measure" in refused("flame", marked, "--content", "markers", "--metric", "hits")
    with pytest.raises(SystemExit):
        main(["flame", marked, "--least", "101"])
