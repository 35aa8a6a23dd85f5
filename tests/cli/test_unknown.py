"""What a missing file would tell is unknown, never 0: copies of a capture without one kind of file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_runs import printed, printed_json, run
from tests.support.samples import sample_path, write_sample

SAMPLE = "ceiling"  # it has a loop and matrix instructions
COMMANDS = (
    "info", "summary", "occupancy", "occupancy --by kernel", "occupancy --by state", "occupancy --limits",
    "waves --top 3", "units", "hotspot --top 3", "isa --top 3", "isa --branches", "waits --top 3",
    "causes --top 3", "loops", "bubbles --top 3", "latency --top 3", "flame", "events", "counters",
    "source --top 2", "index", "range", "roofline", "triage --top 0", "latency --by access",
    "latency --by fetch", "waves --populations", "hotspot --bins 4", "hotspot --charge self",
    "hotspot --by kind",
)  # fmt: skip
IN_WAVES = ("timeline",)
DROPPED = (
    "occupancy.json", "realtime.json", "wstates*.json", "snapshots.json", "se*_wv*.json", "code.json",
    *IN_WAVES,
)  # fmt: skip
# How much was read, or is there: that much is known, and it is nothing.
COUNTS = (
    "waves.bytes",
    "waves.read",
    "waves.counted",
    "waves",
    "read",
    ".files_with_text",
    "total_findings",
    "below_threshold",
)
OF_READ = ("outliers",)  # counts of the waves that were read, whose number stands beside them
TIMES = (".begin", ".start")  # the first moment is 0
UNKNOWN = {
    "occupancy.json": {
        "info": ("occupancy.waves", "occupancy.peak", "occupancy.mean", "occupancy.compute_units"),
        "index": ("captures[0].mean_waves", "captures[0].peak_waves", "captures[0].duration"),
    },
    "realtime.json": {
        "info": ("clock.shader_mhz", "clock.duration_ns"),
        "index": ("captures[0].duration_ns",),
    },
    "timeline": {"waves --top 3": ("rows[0].exec", "rows[0].wait", "rows[0].stall", "rows[0].idle")},
    "se*_wv*.json": {
        "isa --branches": ("rows[0].taken", "rows[0].not_taken"),
        "waits --top 3": ("totals.stall", "totals.hits"),
        "causes --top 3": ("totals.stall", "totals.explained_share_of_stall"),
        "bubbles --top 3": (
            "totals.simd_cycles",
            "totals.issuing_share_of_simd_cycles",
            "mfma_use.share_of_simd_cycles",
        ),
        "latency --top 3": ("totals.total", "totals.mfma_busy", "totals.simd_cycles"),
        "latency --by access": ("totals.refused", "totals.stall"),
        "range": ("wave_cycles", "hits", "flop"),
    },
    "code.json": {
        "info": ("source.mapped", "source.files"),
        "hotspot --top 3": ("totals.hits", "totals.latency", "totals.stall", "totals.idle"),
        "hotspot --by kind": ("totals.hits", "totals.latency"),
        "hotspot --bins 4": ("total",),
        "hotspot --charge self": ("total",),
        "source --top 2": ("total", "unmapped"),
        "flame": ("total",),
        "summary": ("simds[0].mfma_busy",),
        "bubbles --top 3": (
            "totals.mfma",
            "totals.drain",
            "mfma_use.mfma_busy",
            "mfma_use.share_of_simd_cycles",
        ),
        "latency --top 3": ("totals.total", "totals.not_hidden", "totals.mfma_busy"),
        "latency --by access": ("totals.refused", "totals.stall"),
        "latency --by fetch": ("totals.largest_loop",),
        "waits --top 3": ("totals.waits", "totals.hits", "totals.stall", "totals.charged"),
        "waves --populations": ("executed", "instructions", "rows[0].instructions"),
        "range": ("hits", "flop", "valu_flop"),
    },
}


def flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every plain value of a document with its path; of lists the first rows."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from flat(one, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for at, one in enumerate(value[:6]):
            yield from flat(one, f"{name}[{at}]")
    else:
        yield name, value


def told(folder: Path, words: str) -> dict[str, Any]:
    """What a command says of a capture, without what it says about itself."""
    command, *more = words.split()
    found = run(command, str(folder), *more, "--json")
    assert found.code == 0, found.err
    document = {key: value for key, value in json.loads(found.out).items() if key != "about"}
    return dict(flat(document))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "capture"
    write_sample(SAMPLE, folder)
    return folder


@pytest.fixture(scope="module", params=DROPPED)
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    return request.param, lacking(request.param, tmp_path_factory.mktemp("without"))


def lacking(dropped: str, place: Path) -> Path:
    """A copy of the capture without these files, or without the states of its waves."""
    folder = place / "capture"
    write_sample(SAMPLE, folder)
    for path in folder.glob("se*_wv*.json" if dropped in IN_WAVES else dropped):
        if dropped in IN_WAVES:
            tree = json.loads(path.read_text())
            tree["wave"][dropped] = []
            path.write_text(json.dumps(tree))
        else:
            path.unlink()
    return folder


@pytest.mark.parametrize("words", COMMANDS)
def test_no_number_becomes_nothing(words: str, without: tuple[str, Path], whole: Path) -> None:
    dropped, folder = without
    before, now = told(whole, words), told(folder, words)
    zeros = [
        name
        for name, value in now.items()
        if value == 0
        and not isinstance(value, bool)
        and before.get(name)
        and not name.endswith((*COUNTS, *OF_READ, *TIMES))
        and (dropped != "code.json" or "rows[" not in name)  # without instructions they are other rows
    ]
    assert [name for name in zeros if name not in ("waves", "total_rows")] == []
    for name in UNKNOWN.get(dropped, {}).get(words, ()):
        assert before[name] is not None
        assert now[name] is None, name


@pytest.mark.parametrize(
    ("dropped", "words"),
    [("occupancy.json", "index"), ("timeline", "waves"), ("se*_wv*.json", "isa --branches")],
)
def test_tables_show_a_dash(dropped: str, words: str, tmp_path: Path) -> None:
    command, *more = words.split()
    assert "–" in run(command, str(lacking(dropped, tmp_path)), *more).out


def test_states_of_waves_without_a_timeline_are_not_known(tmp_path: Path) -> None:
    folder = lacking("timeline", tmp_path)
    rows = printed_json("waves", folder)["rows"]
    assert all(row[state] is None for row in rows for state in ("exec", "wait", "stall", "idle"))
    assert all(row["hits"] for row in rows)
    lines = printed("waves", folder).splitlines()[1 : 1 + len(rows)]
    assert all(line.split()[-4:] == ["–"] * 4 for line in lines)
    name = rows[0]["wave"]
    assert set(printed_json("wave", folder, name)["states"].values()) == {None}
    line = next(line for line in printed("wave", folder, name).splitlines() if "states" in line)
    assert "–" in line
    assert "%" not in line
    assert "states" not in printed_json("summary", folder)
    assert "States: –" in printed("summary", folder)
    assert "EXEC" not in printed("summary", folder)
    assert printed_json("occupancy", folder, "--by", "state")["rows"] == []
    assert "No wave with a timeline" in printed("occupancy", folder, "--by", "state")


MORE = (
    *("triage --top 0", "triage --all", "whatif", "whatif --path", "schedule", "registers"),
    *("roofline", "check"),
)


@pytest.mark.parametrize("words", [*COMMANDS, *MORE])
@pytest.mark.parametrize("name", ["ceiling", "gfx12", "rivals"])
def test_no_text_names_instruction_minus_one(name: str, words: str) -> None:
    """Where no instruction is known, -1 is for documents; people read that there is none."""
    command, *more = words.split()
    found = run(command, str(sample_path(name)), *more)
    assert found.code == 0, found.err
    assert not re.search(r"(?i)(instruction|line|#|←)s? *-1\b", found.out)


def test_nothing_is_predicted_of_instructions_that_nobody_could_read(tmp_path: Path) -> None:
    folder = lacking("code.json", tmp_path)
    assert "No traced instruction could be read, so nothing can be replayed" in run("whatif", str(folder)).out
    assert json.loads(run("whatif", str(folder), "--json").out)["experiments"] == []


@pytest.mark.parametrize("words", ["hotspot", "registers", "registers --by instruction"])
def test_costs_of_no_instructions_are_not_zero(words: str) -> None:
    command, *more = words.split()
    found = run(command, str(sample_path("placeholder")), *more)
    assert found.out == "The capture has no instructions.\n"


def test_a_range_without_waves_says_nothing_about_timelines() -> None:
    assert "timelines" not in run("summary", str(sample_path("matmul_small")), "--from", "1", "--to", "2").out


def test_waves_that_the_index_does_not_list_are_not_said_to_be_none(tmp_path: Path) -> None:
    write_sample("matmul_small", tmp_path)
    index = tmp_path / "filenames.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"wave_filenames": None}))
    said = run("triage", str(tmp_path)).out
    assert "Nothing ran" not in said
    assert "filenames.json lists no wave, although wave files lie beside it" in said
