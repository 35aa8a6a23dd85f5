"""Printed numbers against the reference results that came with the captures."""

import json
from typing import Any

import pytest

from tests.real import captures
from tests.support.command_runs import run

every = pytest.mark.parametrize("name", captures.GOLDEN)


def told(name: str, command: str, *words: str) -> dict[str, Any]:
    """What a command prints about a capture, as a document."""
    done = run(command, str(captures.trace_path(name)), *words, "--json")
    assert (done.code, done.err) == (0, "")
    document: dict[str, Any] = json.loads(done.out)
    return document


@every
@pytest.mark.parametrize("by", ["latency", "stall"])
def test_the_costliest_instructions(name: str, by: str) -> None:
    golden = captures.golden(f"rcv/{name}.json")[f"top20_by_{by}"]
    rows = told(name, "hotspot", "--sort", by, "--top", "0")["rows"]
    said = {row["instruction"]: row for row in rows}
    assert [row[by] for row in rows[:20]] == [row[by] for row in golden]
    for row in golden:
        own = said[row["line"]]
        assert own["hits"] == row["hit"]
        assert own["latency"] == row["latency"]
        assert own["stall"] == row["stall"]
        assert own["idle"] == row["idle"]


@every
def test_flame(name: str) -> None:
    golden = captures.golden(f"rcv/{name}.json")["flame_total"]
    assert told(name, "flame")["total"] == golden["allTotalLatency"]
