"""The numbers of the API are those that the commands print as JSON."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rcv_py
from rcv_py.api import Capture, Table
from rcv_py.cli.main import main
from tests.api.calls import call_all
from tests.support.command_runs import printed_json
from tests.support.samples import sample_path, write_sample

ONE_DIGIT = ("cycles_per_link",)  # what commands round
SMALL = ("reduction", "gfx12", "mixed_populations", "pc_sampling")


@cache
def opened(name: str) -> Capture:
    return rcv_py.open(sample_path(name))


@pytest.fixture
def told() -> Any:
    def run(command: str, name: str, *words: object) -> dict[str, Any]:
        return printed_json(command, sample_path(name), *words)

    return run


def same(table: Table, rows: Sequence[dict[str, Any]], names: dict[str, str] | str) -> None:
    """Columns of the table (ours: theirs) hold the values of the rows."""
    pairs = {name: name for name in names.split()} if isinstance(names, str) else names
    assert len(table) == len(rows)
    for ours, theirs in pairs.items():
        column = table[ours].tolist()
        values = [row[theirs] for row in rows]
        if any(isinstance(value, float) for value in (*column, *values)):
            numbers = [np.nan if value is None else value for value in values]
            most = 0.051 if ours in ONE_DIGIT else 1e-3
            np.testing.assert_allclose(column, numbers, rtol=1e-5, atol=most, err_msg=ours)
        else:
            default = "" if column and isinstance(column[0], str) else -1
            assert column == [default if value is None else value for value in values], ours


@pytest.mark.parametrize("name", SMALL)
def test_costs(name: str, told: Any) -> None:
    capture = opened(name)
    for by in ("instruction", "source", "kind", "class"):
        document = told("hotspot", name, "--by", by, "--sort", "stall", "--top", 0)
        table = capture.hotspot(by, "stall")
        same(
            table,
            document["rows"],
            "name text instruction instructions hits latency stall idle share_of_total source",
        )
        assert table.facts["totals"] == document["totals"]
        assert table.facts["measure"] == document["measure"]
    for kind, words in (("instructions", ()), ("blocks", ("--blocks",)), ("branches", ("--branches",))):
        rows = told("isa", name, "--top", 0, *words)["rows"]
        table = capture.isa(kind)
        same(table, rows, " ".join(table.columns))
    document = told("flame", name)
    table = capture.flame()
    same(table, document["frames"], " ".join(table.columns))
    assert table.facts["total"] == document["total"]
    document = told("summary", name)
    assert capture.summary().facts == {fact["id"]: fact["value"] for fact in document["facts"]}
    info = told("info", name)
    assert {key: info[key] for key in capture.info()} == json.loads(json.dumps(capture.info()))


@pytest.mark.parametrize("name", SMALL[:3])
def test_stalls(name: str, told: Any) -> None:
    capture = opened(name)
    waits = told("waits", name, "--top", 0)
    table = capture.wait_costs()
    same(table, waits["waits"], "instruction text source hits stall share_of_stall exact")
    assert {key: table.facts[key] for key in waits["totals"]} == waits["totals"]
    producers = [
        {**one, "wait": wait["instruction"], "median": one["latency"]["median"]}
        for wait in waits["waits"]
        for one in wait["producers"]
    ]
    names = {
        "instruction": "wait",
        "producer": "instruction",
        "producer_text": "text",
        "producer_source": "source",
    }
    names |= {name: name for name in ("hits", "stall", "share_of_wait_stall")}
    same(capture.wait_producers(), producers, names)
    latency = told("waits", name, "--latency", "--top", 0)["latency"]
    same(capture.wait_latency(), latency, "instruction text source exact bounds")
    for by, place in (("cause", "cause"), ("instruction", "instruction"), ("producer", "producer")):
        document = told("causes", name, "--by", by, "--top", 0)
        table = capture.causes(by)
        same(
            table,
            document["rows"],
            {
                place: by if by == "cause" else "instruction",
                **{one: one for one in ("stall", "idle", "hits", "share_of_stall")},
            },
        )
        assert (
            round(table.facts["explained_share_of_stall"], 6)
            == (document["totals"]["explained_share_of_stall"])
        )
    document = told("bubbles", name, "--top", 0)
    table = capture.bubbles()
    same(table, document["rows"], "instruction bubbles share_of_bubbles idle stall drain source")
    assert table.facts["issuing"] == document["totals"]["issuing"]
    for rule in ("ours", "reference"):
        rows = told("latency", name, "--by", "hidden", "--rule", rule, "--top", 0)["rows"]
        names = "instruction total not_hidden hidden hidden_idle hidden_stall hidden_issue text"
        names += " hidden_share_of_total"
        waves = "all" if rule == "reference" else "working"  # the defaults of the command
        same(capture.hidden_latency(rule, waves), rows, names)


@pytest.mark.parametrize("name", SMALL[:3])
def test_loops_and_device(name: str, told: Any) -> None:
    capture = opened(name)
    for show in ("loops", "iterations", "phases", "first", "distance", "chains", "barriers", "segments"):
        document = told("loops", name, "--by", show, "--top", 0)
        table = capture.loops(show)
        plain = [column for column in table.columns if not column.startswith("kinds_")]
        same(table, document["rows"], " ".join(plain))
        if document["rows"]:
            assert set(plain) == set(document["rows"][0]) - {"kinds"}
        for row, kinds in zip(document["rows"][:5], table.head(5).rows(), strict=True):
            assert all(kinds[f"kinds_{kind}"] == cycles for kind, cycles in row.get("kinds", {}).items())
        assert json.loads(json.dumps(table.facts)) == {key: document[key] for key in table.facts}
    for by in ("se", "kernel", "state"):
        document = told("occupancy", name, "--by", by)
        same(
            capture.occupancy_numbers(by),
            document["rows"],
            {"name": by, "mean": "mean", "peak": "peak", "area": "area"}
            | {"share_of_wave_cycles": "share_of_wave_cycles"},
        )
    document = told("occupancy", name, "--limits")
    table = capture.occupancy_limits()
    same(table, document["limits"], "name used allocated available waves source max_used")
    assert table.facts["next_step"] == document["next_step"]


@pytest.mark.parametrize("name", SMALL)
def test_judgement(name: str, told: Any) -> None:
    capture = opened(name)
    document = told("triage", name, "--top", 0)
    table = capture.triage()
    same(table, document["findings"], "name title cycles share_of_unit is_upper_bound sentence remedy rank")
    assert table.facts["headline"] == document["headline"]
    document = told("check", name)
    table = capture.check()
    same(table, document["notes"], {"note": "name", "severity": "severity", "title": "title"})
    assert table.facts["input_yaml"] == document["input_yaml"]
    assert table.facts["verdict"] == document["verdict"]


def test_comparison_and_single_lines(told: Any) -> None:
    before, after = "rivals", "untold"
    for by in ("instruction", "class"):
        document = told("compare", before, sample_path(after), "--by", by, "--top", 0)
        table = opened(before).compare(opened(after), by)
        same(table, document["rows"], " ".join(table.columns))
        assert table.facts["verdict"] == document["verdict"]
    line = int(opened(before).hotspot().row(0)["instruction"])
    document = told("line", before, line, "--top", 0)
    table = opened(before).line(line)
    assert {name: table.facts[name] for name in document["measures"]} == document["measures"]
    assert len(table) == document["hits"]
    assert table.sort("latency", descending=True).row(0)["latency"] == document["slowest"][0]["latency"]


def test_counters_and_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample_path("counters")
    assert main(["counters", str(folder), "--json", "--formula", "mine = 2 * SQ_WAVES"]) in (0, 2)
    document = json.loads(capsys.readouterr().out)
    capture = rcv_py.open(folder)
    formula = () if document["errors"] else "mine = 2 * SQ_WAVES"
    table = capture.counter_numbers(formula)
    same(table, document["counters"], "name kind from unit min mean max total points")
    name = table["name"][0]
    assert len(capture.counter_curve(name)) == table["points"][0]
    with pytest.raises(rcv_py.RcvError, match="A formula has a mistake"):
        capture.counter_numbers("mine = 2 *")
    with pytest.raises(rcv_py.RcvError, match="by the name nothing"):
        capture.counter_curve("nothing")
    assert not call_all(capture)


def test_a_library(told: Any, tmp_path: Path) -> None:
    for name in SMALL[:2]:
        write_sample(name, tmp_path / name / "ui_output_agent_1_dispatch_1")
    assert len(rcv_py.find(tmp_path)) == 2
    single = rcv_py.library(sample_path(SMALL[0]))
    same(single, told("index", SMALL[0])["captures"], " ".join(single.columns))
