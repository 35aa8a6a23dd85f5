"""Costs of scopes over compute units: a drawing, and captures of markers alone in commands."""

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.events.scope_costs import enclosing, own_cycles, scope_costs
from rcv_py.analysis.findings.detect import findings
from rcv_py.base.problems import Severity
from rcv_py.cli.main import main
from rcv_py.formats.open import find_captures, open_trace
from rcv_py.model.device import MarkerName, ShaderData
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.health import capture_health
from tests.support.samples import markers_alone

MARKERS = ((1, "scope", "tile"), (2, "scope", "load"), (3, "point", "here"))
NAMES = tuple(MarkerName(1, *one) for one in MARKERS)
TILE, LOAD, HERE, LEAVE = 1 << 2 | 2, 2 << 2 | 2, 3 << 2, 1


def written(*rows: tuple[int, int, int, int]) -> Trace:
    """A trace of values alone, of (engine, compute unit, time, value), each unit with one wave."""
    units = sorted({row[:2] for row in rows})
    events = [(time, is_start, se, cu, 0, 0, 1) for se, cu in units for time, is_start in ((0, 1), (5000, 0))]
    trace = build.trace(build.code([]), [], occupancy=build.events(events, {1: "k"}))
    data = []
    for se in sorted({row[0] for row in rows}):
        table = np.array([row[1:] for row in rows if row[0] == se], dtype=np.int64)
        none = np.zeros(len(table), dtype=np.int16)
        cu = table[:, 0].astype(np.int16)
        data.append(ShaderData(se, table[:, 1], table[:, 2].astype(np.uint32), cu, none, none, none))
    return replace(trace, shader_data=tuple(data), markers=NAMES)


def test_a_drawing() -> None:
    """On SE0 CU0 two tiles of 200, on SE0 CU1 one of 500 with a load of 100, on SE1 CU0 one of 300."""
    trace = written(
        *((0, 0, 100, TILE), (0, 0, 300, LEAVE), (0, 0, 400, TILE), (0, 0, 600, LEAVE)),
        *((0, 1, 100, TILE), (0, 1, 200, LOAD), (0, 1, 250, HERE), (0, 1, 300, LEAVE), (0, 1, 600, LEAVE)),
        *((1, 0, 100, TILE), (1, 0, 400, LEAVE)),
    )
    spans = marker_spans(trace, ())
    assert enclosing(spans).tolist() == [-1, -1, -1, 2, -1, -1]
    assert own_cycles(spans).tolist() == [200, 200, 400, 100, 0, 300]
    costs = scope_costs(spans)
    names = [spans.names[row] for row in costs.name_id.tolist()]
    assert names == ["tile", "load", "here"]
    assert (costs.entries.tolist(), costs.cycles.tolist()) == ([4, 1, 1], [1200, 100, 0])
    assert (costs.own.tolist(), costs.units.tolist()) == ([1100, 100, 0], [3, 1, 1])
    assert (costs.shortest[0], costs.longest[0], costs.mean[0]) == (200, 500, 300)
    units = costs.by_unit
    fast, slow = int(costs.fastest[0]), int(costs.slowest[0])
    assert (units.se[fast], units.cu[fast], units.mean[fast]) == (0, 0, 200)
    assert (units.se[slow], units.cu[slow], units.mean[slow]) == (0, 1, 500)
    assert costs.spread.tolist() == [2.5, 1, 1]
    # SE0: 200, 200, 500; SE1: 300
    assert (costs.fast_engine_mean[0], costs.slow_engine_mean[0]) == (300, 300)


def test_engines_differ() -> None:
    scopes = [(se, cu, life) for se, life in ((0, 100), (2, 400)) for cu in (0, 1)]
    rows = [(se, cu, 100, TILE) for se, cu, _ in scopes]
    rows += [(se, cu, 100 + life, LEAVE) for se, cu, life in scopes]
    costs = scope_costs(marker_spans(written(*rows), ()))
    assert (costs.fast_engine[0], costs.fast_engine_mean[0]) == (0, 100)
    assert (costs.slow_engine[0], costs.slow_engine_mean[0]) == (2, 400)
    found = findings(written(*rows), ())
    assert "By shader engine it is 100 (SE0) to 400 (SE2)." in found.findings[0].sentence


def test_without_scopes_there_is_nothing() -> None:
    assert len(scope_costs(marker_spans(written((0, 0, 1, LEAVE)), ()))) == 0
    assert not findings(written((0, 0, 1, LEAVE)), ()).findings


def test_markers_alone_are_no_placeholder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = markers_alone(tmp_path)
    trace = open_trace(alone)
    assert trace.has_only_markers
    assert not [one for one in trace.problems if one.severity is not Severity.INFO and "wave" in one.text]
    names = [note.name for note in capture_health(trace)]
    assert "markers" in names
    assert "placeholder" not in names
    spans = marker_spans(trace, ())
    costs = scope_costs(spans)
    found = findings(trace, ())
    large = costs.name_id[costs.own >= 0.01 * costs.own.sum()].tolist()
    titles = [f"Scope {spans.names[row]}" for row in large]
    assert [one.title for one in found.findings] == titles
    assert sum(one.share for one in found.findings) == pytest.approx(1, abs=0.05)
    assert "scopes" in [number.id for number in found.key_numbers]
    (entry,) = find_captures(alone)
    assert entry.note == "Markers only."

    def printed(*words: str) -> str:
        assert main([words[0], str(alone), *words[1:]]) == 0
        return capsys.readouterr().out

    assert titles[0] in printed("triage")
    assert "Nothing" not in printed("triage")
    assert "error" not in printed("check")
    assert printed("flame") == printed("flame", "--content", "markers")
    rows = json.loads(printed("events", "--by", "scope", "--json"))["rows"]
    assert [row["own"] for row in rows] == costs.own.tolist()
    units = json.loads(printed("events", "--by", "unit", "--json"))["rows"]
    assert sum(row["own"] for row in units) == costs.own.sum()
    assert {row["name"] for row in units} == {row["name"] for row in rows}
