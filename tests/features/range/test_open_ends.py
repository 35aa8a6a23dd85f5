"""A range with one end open, or with an end outside, is the part of the capture that it covers."""

from pathlib import Path

import pytest

from tests.support.command_runs import printed, printed_json
from tests.support.plain_capture import plain
from tests.support.samples import sample_path

RANGED = (
    "range",
    "units",
    "waves",
    "waves --resident",
    "hotspot --bins 5",
    "hotspot --by source --charge self",
)
OTHERS = ("isa", "hotspot", "flame", "summary", "events", "loops", "waits", "causes", "latency")
ENDS = [("--from {middle}", False), ("--to {middle}", True), ("--from {middle} --to 99999999999", False)]


def _span(folder: Path) -> tuple[int, int]:
    there = plain(folder)
    lives = [(wave.begin, wave.end) for wave in (*there.waves, *there.stays)]
    return min(begin for begin, _ in lives), max(end for _, end in lives)


@pytest.fixture
def folder() -> Path:
    return sample_path("matmul_small")


@pytest.mark.parametrize("command", RANGED)
@pytest.mark.parametrize(("words", "is_begin"), ENDS)
def test_the_range_ends_where_the_capture_does(
    folder: Path, command: str, words: str, is_begin: bool
) -> None:
    first, last = _span(folder)
    middle = (first + last) // 2
    found = printed_json(*command.split(), folder, *words.format(middle=middle).split())
    assert found["range"] == ([first, middle] if is_begin else [middle, last])


@pytest.mark.parametrize("command", RANGED + OTHERS)
def test_an_open_end_is_null_among_the_arguments(folder: Path, command: str) -> None:
    middle = sum(_span(folder)) // 2
    for end, expected in (("--from", [middle, None]), ("--to", [None, middle])):
        arguments = printed_json(*command.split(), folder, end, middle)["about"]["arguments"]
        assert expected in (arguments.get("clock"), arguments.get("within"))


@pytest.mark.parametrize("command", RANGED)
def test_a_range_outside_of_the_capture_is_a_cycle_beside_it(folder: Path, command: str) -> None:
    first, last = _span(folder)
    for words, begin in ((("--from", last + 1), last + 1), (("--to", first - 1), first - 2)):
        assert printed_json(*command.split(), folder, *words)["range"] == [begin, begin + 1]


def test_a_share_is_of_the_cycles_of_the_capture(folder: Path) -> None:
    first, last = _span(folder)
    middle = (first + last) // 2
    open_end = printed("units", folder, "--from", middle)
    assert open_end == printed("units", folder, "--from", middle, "--to", last)
    assert f"Of {last - middle:,} cycles" in open_end
