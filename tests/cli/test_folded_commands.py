"""Commands that were folded into others, older names of options, and commands about several captures."""

import csv
import io
import json
from pathlib import Path

import pytest

from rcv_py.cli.arguments import help_text, parse
from rcv_py.cli.options.commands import COMMANDS, FOLDED
from tests.cli.test_schemas import checked
from tests.support.command_runs import a_place, run
from tests.support.fixtures import fixture_of
from tests.support.plain_capture import plain
from tests.support.samples import sample_path, write_sample

folder = fixture_of(lambda: str(sample_path("matmul_small")), scope="module")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two captures, each with its name."""
    place = tmp_path_factory.mktemp("both")
    for name in ("matmul_small", "gfx12"):
        write_sample(name, place / name)
    return [str(place / "matmul_small"), str(place / "gfx12")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wave {folder} {wave} --clock 0:1000000", "waves {folder} {wave} --touching 0:1000000"),
        ("wave {folder} {wave} --tokens", "waves {folder} {wave} --tokens"),
        ("units {folder} --of {wave}", "summary {folder} --units --wave {wave}"),
        ("units {folder} --within 0:200000", "summary {folder} --units --from 0 --to 200000"),
        ("units {folder}", "summary {folder} --units"),
        ("place {folder} {wave}", "line {folder} {wave}"),
        ("line {folder} 83 --by stall", "line {folder} 83 --metric stall"),
        ("loops {folder} --show first", "loops {folder} --by first"),
        ("latency {folder} --kind memory", "latency {folder} --by memory"),
        ("isa {folder} --blocks --top 3", "isa {folder} --by block --top 3"),
        ("causes {folder} --clock 0:1000000", "causes {folder} --from 0 --to 1000000"),
        ("compare {folder} {folder} --measure stall", "compare {folder} {folder} --metric stall"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["", "--json", "--csv"])
def test_the_old_name_prints_the_same(old: str, new: str, form: str, folder: str) -> None:
    places = a_place(Path(folder)) | {"folder": folder}
    before, after = (run(*line.format(**places).split(), *form.split()) for line in (old, new))
    assert before.code == 0, before.err
    assert before == after


def test_help_lists_only_the_new_names() -> None:
    names = [line.split()[0] for line in help_text().splitlines() if line.startswith("  ") and line.split()]
    assert not set(FOLDED) & set(names)
    for old, (name, *_) in FOLDED.items():
        assert run("help", old).out == run("help", name).out
    for command in COMMANDS.values():
        assert not [flag for flag in ("--clock", "--within", "--blocks") if flag in help_text(command)]


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("--from 5", (5, 10**18)),
        ("--to 5", (-(10**18), 5)),
        ("--to 9 --from=-3", (-3, 9)),
        ("--clock 1:2", (1, 2)),
    ],
)
def test_a_range_may_be_open_at_either_end(words: str, ends: tuple[int, int]) -> None:
    assert parse(["waits", "x", *words.split()]).clock == ends


def test_a_range_without_a_cycle_is_refused() -> None:
    done = run("waits", "x", "--from", "9", "--to", "9")
    assert (done.code, done.out) == (2, "")
    assert "no cycle from 9 to 9" in done.err


def test_a_choice_of_waves_is_named(folder: str) -> None:
    waves = plain(Path(folder)).waves
    own = sum(wave.se == 1 for wave in waves)
    assert 0 < own < len(waves)
    text = run("causes", folder, "--se", "1", "--from", "0").out
    assert text.startswith(f"Of {own} waves of {len(waves)} (--se 1 --from 0).\n")
    about = json.loads(run("causes", folder, "--se", "1", "--json").out)["about"]
    assert about["waves"]["counted"] == own
    assert about["waves"]["read"] == len(waves), "the others still occupy units"


@pytest.mark.parametrize("command", ["check", "summary", "info", "triage"])
def test_several_captures_are_answered_one_after_the_other(command: str, both: list[str]) -> None:
    names = [Path(path).name for path in both]
    assert run(command, *both).code == 0
    document = checked(run(command, *both, "--json"))
    assert document["about"]["captures"] == names
    rows = list(csv.DictReader(io.StringIO(run(command, *both, "--csv").out)))
    assert len(rows) >= 2
    if command in ("check", "summary"):
        alone = [checked(run(command, path, "--json")) for path in both]
        assert [one["about"]["captures"] for one in document["documents"]] == [[name] for name in names]
        assert [one["schema"] for one in document["documents"]] == [one["schema"] for one in alone]
        assert [row["capture"] for row in rows if row["capture"] not in names] == []


def test_the_index_of_several_folders(tmp_path: Path, both: list[str]) -> None:
    for name, path in zip("ab", both, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one").symlink_to(path, target_is_directory=True)
    done = run("index", str(tmp_path / "a"), str(tmp_path / "b"), "--jobs", "0", "--json")
    document = checked(done)
    assert document["folder"] == str(tmp_path)
    assert len(document["captures"]) == 2
