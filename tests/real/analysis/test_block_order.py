"""Orders of instructions in the blocks of a real kernel."""

from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.analysis.whatif.block_schedule import block_schedules
from tests.real.captures import real_trace


def test_the_hot_loop_of_a_real_gemm() -> None:
    trace = real_trace("preshuffle_gemm")
    known = LATENCIES.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    found = {one.first: one for one in block_schedules(trace, trace.code, known)}
    loop = found[206]
    assert (loop.last, loop.hits) == (346, 1020)
    assert loop.bound <= loop.best < loop.length < loop.measured
    assert 258 in {row for row, _, _ in loop.moves}, "one of the loads that are issued too late"
    place = {row: turn for turn, row in enumerate(loop.order)}
    assert place[275] > place[254], "nothing crosses the barrier"
    assert place[319] > place[275]
