"""`rcv compare` says whether there is a difference beyond noise, and is a gate for scripts."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from msgspec.structs import replace

from rcv_py.cli.main import main
from rcv_py.synth.samples import SAMPLES, NamedSample
from tests.support.command_runs import printed, printed_csv, printed_json, refused, run_anew
from tests.support.plain_capture import PlainWave, plain
from tests.support.samples import sample_path, write_sample

Pair = tuple[Path, Path]


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up capture of a matrix product."""
    folder = tmp_path_factory.mktemp("captures") / "product"
    write_sample("matmul_tiled", folder, seed=0)
    return folder


@pytest.fixture(scope="module")
def worse(product: Path) -> Path:
    """The same with waits for memory that take three times as long; every wave is that much longer."""
    folder = product.parent / "worse"
    folder.mkdir()
    rows = orjson.loads((product / "code.json").read_bytes())["code"]
    waits = {row[2] for row in rows if "s_waitcnt vmcnt" in row[0]}
    for path in product.iterdir():
        if path.name.startswith("se") and "_wv" in path.name:
            document = orjson.loads(path.read_bytes())
            _lengthen(document["wave"], waits)
            (folder / path.name).write_bytes(orjson.dumps(document))
        else:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Two runs of a kernel of which some waves leave early: what differs is chance."""
    place = tmp_path_factory.mktemp("pair")
    write_sample("mixed_populations", place / "one", seed=0)
    write_sample("mixed_populations", place / "other", seed=1)
    return place / "one", place / "other"


def _working(folder: Path) -> list[PlainWave]:
    """The waves that multiply matrices: others left the kernel early."""
    found = plain(folder)
    return [w for w in found.waves if any(found.text(one.line).startswith("v_mfma") for one in w.tokens)]


def _duration(folder: Path) -> int:
    """Cycles from the first begin to the last end of a wave, on all shader engines."""
    lives = plain(folder).lives
    return max(end for _, _, end in lives) - min(begin for _, begin, _ in lives)


def _lengthen(wave: dict, waits: set[int]) -> None:
    late = 0
    for token in wave["instructions"]:
        token[0] += late
        if token[4] in waits:
            late += 2 * token[2]
            token[2], token[3] = 3 * token[2], token[3] + 2 * token[2]
    wave["end"] += late
    wave["duration"] = wave.get("duration", 0) + late


def test_a_pair_that_differs_by_chance_passes_the_gate(pair: Pair) -> None:
    text = printed("compare", *pair, "--fail-on", "regression", "--least", 0)
    a, b = map(_duration, pair)
    percent, more = abs(b / a - 1) * 100, "more" if b > a else "fewer"
    assert percent > 0.1
    assert text.splitlines()[0].startswith(
        f"No difference beyond noise: the launch of B takes {percent:.1f} % {more} cycles ({a:,} in A, "
    )
    assert re.search(r"\nTraced waves: no difference beyond noise: \S+ % \w+ cycles per hit", text)
    first, second = (len(_working(folder)) for folder in pair)
    assert first != second
    assert f"A has {first} traced waves, B {second}" in text
    assert "the same in both" in text
    assert printed("compare", *reversed(pair), "--fail-on", "difference")


@pytest.mark.parametrize("gate", ["regression", "difference"])
def test_a_capture_passes_against_itself(gate: str, product: Path) -> None:
    text = printed("compare", product, product, "--fail-on", gate)
    assert text.startswith("No difference beyond noise: the launch of B takes as many cycles (")
    assert " 0 beyond noise." in text


def test_longer_waits_trip_the_gate(product: Path, worse: Path) -> None:
    text = printed("compare", product, worse, "--fail-on", "regression", "--by", "class", code=3)
    assert text.startswith("B takes ")
    assert "more cycles per hit" in text.splitlines()[0]
    row = next(line for line in text.splitlines() if line.startswith("WAIT_LOAD"))
    assert " yes " in row
    assert "vmcnt" in row
    text = printed("compare", worse, product, "--fail-on", "regression")
    assert "fewer cycles per hit" in text.splitlines()[0]
    printed("compare", worse, product, "--fail-on", "difference", code=3)
    printed("compare", product, worse)  # without a gate a difference is not a failure


def test_a_large_threshold_or_a_replicate_that_differs_as_much_lets_pass(product: Path, worse: Path) -> None:
    printed("compare", product, worse, "--fail-on", "regression", "--least", 100)
    printed("compare", product, worse, "--twin", worse, "--fail-on", "regression")
    printed("compare", product, worse, "--twin", product, "--fail-on", "regression", code=3)


def test_different_kernels_are_not_judged(product: Path) -> None:
    other = sample_path("reduction")
    text = printed("compare", sample_path("vector_add"), other)
    assert text.startswith("Not comparable: different kernels, vector_add and reduce")
    gate = run_anew("compare", str(product), str(other), "--fail-on", "regression")
    assert (gate.code, "rcv: The gate cannot decide. Not comparable" in gate.err) == (2, True)


@pytest.mark.parametrize("by", ["instruction", "source", "block", "class"])
def test_json_and_csv_say_the_same(by: str, pair: Pair) -> None:
    words = (*pair, "--by", by, "--top", 0)
    document = printed_json("compare", *words)
    assert (document["verdict"], document["per"]) == ("no difference beyond noise", "launch")
    kernel, waves = document["kernel"], [_working(folder) for folder in pair]
    assert kernel["waves"] == [len(some) for some in waves]
    assert kernel["launch"]["duration"] == [_duration(folder) for folder in pair]
    assert kernel["launch"]["waves"] == [len(plain(folder).stays) for folder in pair]
    hits = [sum(len(wave.tokens) for wave in some) / len(some) for some in waves]
    assert kernel["hits_per_wave"] == pytest.approx(hits)
    assert len(document["rows"]) == document["total_rows"]
    rows = printed_csv("compare", *words)
    assert [row["name"] for row in rows] == [row["name"] for row in document["rows"]]
    assert [float(row["delta"]) for row in rows] == [row["delta"] for row in document["rows"]]
    real = [row["is_beyond_noise"] for row in document["rows"]]
    assert real == sorted(real, reverse=True)


def test_a_picture_of_the_comparison(product: Path, worse: Path, tmp_path: Path) -> None:
    out = tmp_path / "compare.csv"
    words = ["shot", str(worse), "--compare", str(product), "--panel", "compare", "--out", str(out)]
    assert main(words) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert "s_waitcnt vmcnt" in rows[0]["instruction"]


def test_a_baseline_needs_a_capture(product: Path) -> None:
    assert "--compare belongs to a capture" in refused("view", "--compare", product)


def test_a_capture_without_waves_is_told_from_a_regression(product: Path, tmp_path: Path) -> None:
    folder = tmp_path / "placeholder"
    write_sample("placeholder", folder)
    for pair in ((product, folder), (folder, product), (folder, folder)):
        assert printed("compare", *pair).startswith("Not comparable: ")
        gate = run_anew("compare", *map(str, pair), "--fail-on", "regression")
        assert (gate.code, "The gate cannot decide" in gate.err) == (2, True)


@pytest.mark.parametrize("content", [None, b"", b"{", b"[1, 2]"])
def test_a_broken_capture_is_a_sentence(product: Path, tmp_path: Path, content: bytes | None) -> None:
    """No files at all, or an index that cannot be read."""
    if content is not None:
        (tmp_path / "filenames.json").write_bytes(content)
    for pair in ((product, tmp_path), (tmp_path, product)):
        said = refused("compare", *pair)
        assert said.startswith("rcv: ")
        assert "Traceback" not in said


def test_different_work_is_not_judged(tmp_path: Path) -> None:
    """As many waves, each with twice as many tiles: only executions of the same code can be compared."""
    plan = SAMPLES["groups_256"].plan()
    (launch,) = plan.launches
    assert launch.iterations == {"n": (8,)}
    longer = replace(plan, launches=(replace(launch, iterations={"n": (16,)}),))
    NamedSample("longer", "", lambda: longer).write(tmp_path / "longer")
    one, other = sample_path("groups_256"), tmp_path / "longer"
    why = "the launches do not do the same work"
    assert f"\nLaunches are not compared: {why}" in printed("compare", one, other)
    code = other / "code.json"
    changed = code.read_text().replace('"v_mov_b32_e32 v2, 0"', '"v_mov_b32_e32 v2, 1"')
    assert changed != code.read_text()
    code.write_text(changed)
    for both in ((one, other), (other, one)):
        first = printed("compare", *both).splitlines()[0]
        assert first.startswith(f"Not comparable: {why}")


def test_markdown_is_a_summary_for_a_job(product: Path, worse: Path) -> None:
    text = printed("compare", product, worse, "--markdown", "--top", 3, "--fail-on", "regression", code=3)
    lines = text.splitlines()
    assert lines[0].startswith("**B takes ")
    assert lines[0].endswith("**")
    rows = [
        line for line in lines if line.startswith("| instruction ") and not line.startswith("| instruction |")
    ]
    assert len(rows) == 3
    assert all("s_waitcnt vmcnt" in row for row in rows)
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    same = printed("compare", product, product, "--markdown")
    assert "No instruction is beyond noise." in same


def test_junit_is_a_test_case(product: Path, worse: Path) -> None:
    suite = ElementTree.fromstring
    gate = ("--junit", "--fail-on", "regression")
    failed = suite(printed("compare", product, worse, *gate, code=3))
    assert (failed.get("failures"), failed.get("skipped")) == ("1", "0")
    failure = failed.find("testcase/failure")
    assert failure.get("message", "").startswith("B takes ")
    assert "s_waitcnt vmcnt" in (failure.text or "")
    passed = suite(printed("compare", product, product, *gate))
    assert (passed.get("failures"), passed.find("testcase/failure")) == ("0", None)
    skipped = suite(printed("compare", product, sample_path("vector_add"), "--junit"))
    assert skipped.get("skipped") == "1"


def _amounts(folder: Path) -> tuple[float, float, float]:
    """Executions, MFMA operations and cycles with gaps of a wave on average, from the files alone."""
    texts = {row[2]: row[0] for row in orjson.loads((folder / "code.json").read_bytes())["code"]}
    shapes = {line: re.match(r"v_mfma_\w+?_(\d+)x(\d+)x(\d+)", text) for line, text in texts.items()}
    flop = {line: 2 * int(m[1]) * int(m[2]) * int(m[3]) for line, m in shapes.items() if m}
    executions = operations = cycles = waves = 0
    for path in folder.glob("se*_sm*_sl*_wv*.json"):
        waves += 1
        wave = orjson.loads(path.read_bytes())["wave"]
        last = wave["begin"]
        for start, _, _, duration, line in wave["instructions"]:
            executions += 1
            operations += flop.get(line, 0)
            cycles += duration + max(0, start - last)
            last = max(last, start + duration)
    return executions / waves, operations / waves, cycles / waves


def test_work_is_counted_a_wave_and_costs_cycles(pair: Pair) -> None:
    document = printed_json("compare", *pair, "--by", "work", "--waves", "all")
    found = {row["name"]: (row["a"], row["b"]) for row in document["rows"]}
    for at, folder in enumerate(pair):
        executions, operations, cycles = _amounts(folder)
        assert found["instructions"][at] == pytest.approx(executions)
        assert found["flop"][at] == pytest.approx(operations)
        assert found["cycles"][at] == pytest.approx(cycles)
        assert found["cycles_per_kflop"][at] == pytest.approx(1000 * cycles / operations)
        assert found["clock_mhz"][at] == pytest.approx(
            1000 * found["duration"][at] / found["duration_ns"][at], rel=1e-4
        )
    rows = {row["name"]: row["ratio"] for row in document["rows"]}
    assert rows["flop"] == pytest.approx(found["flop"][1] / found["flop"][0], rel=1e-5)
