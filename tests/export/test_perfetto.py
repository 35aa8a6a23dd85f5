"""What Perfetto would see of a capture, against the columns it was written from."""

import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.occupancy import all_resident
from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.counters.counters import counters
from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Stage, stoppable
from rcv_py.export.traces.packets import ByteRows, number, varint
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.export.perfetto_reader import Read, Slice, read
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.samples import sample_path


def written(trace: Trace, batch: WaveBatch, cycles: bool = True, **more: object) -> Read:
    target = io.BytesIO()
    write_perfetto(trace, [batch], target, cycles=cycles, **more)  # type: ignore[arg-type]
    return read(target.getvalue())


def whole(path: Path) -> tuple[Trace, WaveBatch]:
    trace = open_trace(path)
    return trace, trace.reader.read(list(range(len(trace.waves))))


Shown = tuple[Trace, WaveBatch, Read]


@cache
def shown_of(path: Path) -> Shown:
    """A capture, its waves, and what Perfetto sees of them, a cycle a nanosecond."""
    trace, batch = whole(path)
    return trace, batch, written(trace, batch)


shown = fixture_of_each(lambda name: shown_of(sample_path(name)), ["matmul_small", "vector_add"])
looping = fixture_of(lambda: shown_of(sample_path("matmul_small")))  # One with loops and sources


def test_slices_are_the_tokens_and_the_states(shown: Shown) -> None:
    trace, batch, found = shown
    by_track: dict[int, list[Slice]] = {}
    for one in found.slices:
        by_track.setdefault(one.track, []).append(one)
    for wave in batch.waves:
        own = found.track(str(wave.id))
        slices = by_track[own]
        lines = wave.tokens.line.tolist()
        assert [one.args["line"] for one in slices] == lines
        assert [one.args["stall"] for one in slices] == wave.tokens.stall.tolist()
        assert [one.args["cycles"] for one in slices] == wave.tokens.duration.tolist()
        assert [one.args["cycle"] for one in slices] == wave.tokens.start.tolist()
        assert [one.name for one in slices[:50]] == [trace.code.text[line] for line in lines[:50]]
        assert all(one.depth == 0 for one in slices)
        # On gfx9 a token may reach a step into the next one, where it is cut.
        late = np.array([one.end - one.begin for one in slices]) - wave.tokens.duration
        assert late.max() == 0
        assert late.min() >= -trace.architecture.base_clock
        states = by_track[found.track("state", own)]
        total = np.bincount(wave.states.state, weights=wave.states.duration, minlength=5)
        for state in list(WaveState)[1:]:
            cycles = sum(one.end - one.begin for one in states if one.name == state.name)
            assert cycles == total[state]


def test_waves_are_threads_of_their_simd_and_sources_are_told(looping: Shown) -> None:
    trace, batch, found = looping
    wave = batch.waves[0]
    parent = found.parent(found.track(str(wave.id)))
    assert found.title(parent) == f"SE{wave.id.se} CU{wave.cu} SIMD{wave.id.simd}"
    tids = [one.thread.tid for one in found.tracks.values() if one.HasField("thread")]
    assert len(set(tids)) == len(tids) == len(batch.waves)
    for one in found.on(found.track(str(wave.id)))[:500]:
        chain = trace.code.chain(one.args["line"])
        expected = f"{trace.sources[chain[0][0]].path}:{chain[0][1]}" if len(chain) else None
        assert one.args.get("source") == expected
        assert one.category == TokenKind(int(trace.code.kind[one.args["line"]])).name or one.category in (
            "JUMP",
            "NEXT",
        )


def test_arrows_lead_from_producers_to_their_waits(looping: Shown) -> None:
    trace, batch, found = looping
    leaving = {number: one for one in found.slices for number in one.leaves}
    arriving = {number: one for one in found.slices for number in one.arrives}
    assert leaving.keys() == arriving.keys()
    assert len(leaving) == sum(len(one.leaves) for one in found.slices) > 1000
    drawn = {
        (found.title(end.track), leaving[number].args["cycle"], end.args["cycle"])
        for number, end in arriving.items()
    }
    told = set()
    for wave in batch.waves:  # each wave by itself, and by the rules, not by what was written
        piece, start = of_waves([wave]), wave.tokens.start
        links = replay(piece, trace.code, trace.architecture)
        for row in range(len(links)):
            wait = int(start[links.token[row]])
            told |= {(str(wave.id), int(start[producer]), wait) for producer in links.of(row)}
    assert drawn == told, "an arrow for each edge"
    assert len(drawn) == len(arriving)
    for number_, end in arriving.items():
        begin = leaving[number_]
        assert begin.track == end.track
        assert begin.begin < end.begin
        assert end.name.startswith("s_waitcnt")
        assert begin.name.startswith(("buffer_", "global_", "s_load", "s_buffer", "ds_", "s_memtime"))


def test_times_are_nanoseconds_of_the_clock(shown: Shown) -> None:
    trace, batch, one = shown
    rate = trace.clock.ns(1)
    assert rate is not None
    other = written(trace, batch, cycles=False)
    assert len(one.slices) == len(other.slices)
    of = {(each.track, each.args.get("cycle"), each.name): each for each in other.slices}
    for each in one.slices[:2000]:
        twin = of[(each.track, each.args.get("cycle"), each.name)]
        assert twin.begin == int(np.floor(each.begin * rate))


def test_occupancy_and_counters_are_curves() -> None:
    trace, batch = whole(sample_path("counters"))
    found = written(trace, batch)
    curve = all_resident(trace.occupancy)
    values = found.values["resident waves, all waves"]
    assert [value for _, value in values] == curve.value.tolist()
    assert np.diff([time for time, _ in values]).tolist() == np.diff(curve.time).tolist()
    for counter in counters(trace).raw:
        names = [name for name in found.values if name.startswith(f"{counter.name}, SE")]
        assert len(names) == len(np.unique(counter.samples.se))


def test_markers_nest_and_events_are_moments() -> None:
    trace, batch = whole(sample_path("markers"))
    spans = marker_spans(trace, [batch])
    found = written(trace, batch, spans=spans)
    scopes = [one for one in found.slices if one.category == "marker"]
    points = [one for one in found.moments if one.category == "marker"]
    is_point = spans.end <= spans.begin
    assert (len(scopes), len(points)) == (int((~is_point).sum()), int(is_point.sum()))
    assert sorted(one.depth for one in scopes) == sorted(spans.depth[~is_point].tolist())
    assert sum(one.end - one.begin for one in scopes) == int((spans.end - spans.begin).sum())
    assert {one.name for one in scopes + points} == {spans.names[i] for i in set(spans.name_id.tolist())}


def test_every_sample_can_be_written() -> None:
    for name in ("gfx11", "spm", "events", "placeholder"):
        trace, batch = whole(sample_path(name))
        found = written(trace, batch, cycles=False)
        tokens = sum(len(wave.tokens) for wave in batch.waves)
        assert sum("line" in one.args for one in found.slices) == tokens, name


def test_tokens_that_overlap_get_lanes() -> None:
    trace, batch = whole(sample_path("gfx11"))
    found = written(trace, batch)
    for wave in batch.waves:
        own = found.track(str(wave.id))
        lanes = [uuid for uuid in found.tracks if found.parent(uuid) == own and "lane" in found.title(uuid)]
        slices = [one for uuid in (own, *lanes) for one in found.on(uuid)]
        assert len(slices) == len(wave.tokens)
        shortened = wave.tokens.duration.sum() - sum(one.end - one.begin for one in slices)
        assert 0 <= shortened <= len(slices) * trace.architecture.issue_overlap


def test_it_can_be_stopped_and_tells_how_far_it_is() -> None:
    trace, batch = whole(sample_path("vector_add"))
    flag, seen = CancelFlag(), []

    def look(stage: Stage) -> None:
        seen.append((stage.done, stage.total))
        flag.set()

    with pytest.raises(Cancelled), stoppable(flag):
        write_perfetto(trace, [batch, batch], io.BytesIO(), report=look)
    assert seen == [(len(trace.waves), len(trace.waves))]


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=20), st.booleans())
def test_columns_of_numbers_are_varints(values: list[int], alternate: bool) -> None:
    column = np.array(values, dtype=np.int64)
    where = (column % 2 == 0) if alternate else np.ones(len(column), dtype=bool)
    inner = ByteRows(len(values))
    inner.varint(column)
    rows = ByteRows(len(values))
    rows.put(b"x")
    rows.nested(4, inner, where)
    expected = b""
    for value, has in zip(values, where.tolist(), strict=True):
        body = varint(value)
        expected += b"x" + (bytes([4 << 3 | 2, len(body)]) + body if has else b"")
    assert rows.tobytes() == expected
    assert rows.length.sum() == len(expected)


def test_numbers_are_encoded_as_the_protocol_says() -> None:
    assert varint(0) == b"\0"
    assert varint(300) == b"\xac\x02"
    assert varint(-1) == b"\xff" * 9 + b"\x01"
    assert number(60, 1) == b"\xe0\x03\x01"
