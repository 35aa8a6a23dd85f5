"""What a query over a Perfetto trace answers: by trace_processor itself where one is installed, else by ours.

Both engines answer the same questions; without the program, the official message definitions and a replay of
the tracks stand for it (`perfetto_reader`).  RCV_TRACE_PROCESSOR names a program to use.
"""

import io
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np

from rcv_py.analysis.core.occupancy import all_resident
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.export.traces.perfetto import write_perfetto
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.export.perfetto_reader import read
from tests.support.fixtures import fixture_of_each
from tests.support.opened import sample_trace

CURVE = "resident waves, all waves"
CACHE = Path.home() / ".local" / "share" / "perfetto" / "prebuilts"


def shell() -> str | None:
    """A trace_processor that is already there; nothing is downloaded."""
    named = os.environ.get("RCV_TRACE_PROCESSOR")
    found = named or shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    cached = sorted(CACHE.rglob("trace_processor_shell*")) if CACHE.is_dir() else []
    return found or next((str(path) for path in cached if os.access(path, os.X_OK)), None)


def asked_of_program(data: bytes, program: str, folder: Path) -> dict[str, object]:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    path = folder / "trace.pftrace"
    path.write_bytes(data)
    with TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=program)) as found:

        def one(text: str) -> int:
            return next(iter(found.query(f"select ({text}) as n"))).n or 0

        curve = f"from counter c join counter_track t on c.track_id = t.id where t.name = '{CURVE}'"
        return {
            "errors": one("select sum(value) from stats where severity = 'error'"),
            "waves": one("select count(*) from thread where name glob 'se*/simd*'"),
            "states": one("select count(*) from slice where category = 'state'"),
            "instructions": one("select count(distinct s.id) from slice s join args a using (arg_set_id) "
                                "where a.key = 'debug.line'"),
            "stall": one("select sum(a.int_value) from slice s join args a using (arg_set_id) "
                         "where a.key = 'debug.stall'"),
            "flows": one("select count(*) from flow"),
            "negative": one("select count(*) from slice where dur < 0"),
            "curve": [row.value for row in found.query(f"select c.value as value {curve} order by c.ts")],
        }  # fmt: skip


def asked_of_ours(data: bytes) -> dict[str, object]:
    found = read(data)
    last: dict[int, int] = {}
    late = 0
    for one in sorted(found.slices, key=lambda slice_: slice_.begin):
        late += one.end < one.begin or (one.depth == 0 and one.begin < last.get(one.track, 0))
        last[one.track] = max(last.get(one.track, 0), one.end if one.depth == 0 else 0)
    ends = Counter(number for one in found.slices for number in one.arrives)
    begins = Counter(number for one in found.slices for number in one.leaves)
    broken = sum(ends[number] != 1 or begins[number] != 1 for number in ends.keys() | begins.keys())
    times = [time for time, _ in found.values[CURVE]]
    own = [one for one in found.slices if "line" in one.args]
    return {
        "errors": broken + int(times != sorted(times)),
        "waves": sum(one.HasField("thread") for one in found.tracks.values()),
        "states": sum(one.category == "state" for one in found.slices),
        "instructions": len(own),
        "stall": sum(one.args["stall"] for one in own),
        "flows": len(ends),
        "negative": late,
        "curve": [value for _, value in found.values[CURVE]],
    }


def expected(trace: Trace, batch: WaveBatch) -> dict[str, object]:
    links = replay(batch, trace.code, trace.architecture)
    edges = set(zip(links.token[links.row_of].tolist(), links.producers.tolist(), strict=True))
    shown = (WaveState.IDLE, WaveState.EXEC, WaveState.WAIT, WaveState.STALL)
    segments = sum(
        int((np.isin(wave.states.state, shown) & (wave.states.duration > 0)).sum()) for wave in batch.waves
    )
    return {
        "errors": 0,
        "waves": len(batch.waves),
        "states": segments,
        "instructions": len(batch.line),
        "stall": int(batch.stall.sum(dtype=np.int64)),
        "flows": len(edges),
        "negative": 0,
        "curve": all_resident(trace.occupancy).value.tolist(),
    }


trace = fixture_of_each(sample_trace, ["matmul_small", "vector_add"])


def test_a_trace_answers_queries(trace: Trace, tmp_path: Path) -> None:
    batch = trace.reader.read(list(range(len(trace.waves))))
    target = io.BytesIO()
    write_perfetto(trace, [batch], target, cycles=True)
    program = shell()
    data = target.getvalue()
    answers = [asked_of_ours(data)]
    if program is not None:
        answers.append(asked_of_program(data, program, tmp_path))
    for found in answers:
        assert found == expected(trace, batch)


def test_arrows_do_not_need_the_batches_to_be_small() -> None:
    """Numbers of arrows and slices are the same however many rows are turned into bytes at a time."""
    trace = sample_trace("matmul_small")
    rows = list(range(len(trace.waves)))
    whole, parts = io.BytesIO(), io.BytesIO()
    write_perfetto(trace, [trace.reader.read(rows)], whole)
    write_perfetto(trace, [trace.reader.read([row]) for row in rows], parts)
    one, other = asked_of_ours(whole.getvalue()), asked_of_ours(parts.getvalue())
    assert one == other
