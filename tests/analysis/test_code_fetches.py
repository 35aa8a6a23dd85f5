"""Code lines that waves waited for: a drawing, and simulated fetches."""

from msgspec.structs import replace

from rcv_py.analysis.latency.code_fetches import FETCHES, SLOW
from rcv_py.synth.capture import SimulatedCause
from tests.analysis import build
from tests.support.opened import sample_waves
from tests.support.samples import sample

TEXTS = [f"v_add_u32 v{at}, v1, v2" for at in range(16)]  # of 8 bytes: lines 0 to 7 and 8 to 15
CODE = build.code(TEXTS)
LONG = "." * 100


def test_waits_for_a_code_line_are_counted_once_a_wave_and_again_once_it_was_there() -> None:
    first = build.wave(f"V|V|{LONG}V|V", [6, 7, 8, 9], row=0)
    beside = build.wave(f"V|V|{'.' * 80}V|V", [6, 7, 8, 9], row=1, begin=20, place=(0, 1, 0, 0))
    later = build.wave(f"V|V|{LONG}V|V", [6, 7, 8, 9], row=2, begin=500, place=(0, 2, 0, 0))
    quick = build.wave("V|V|..V|V", [6, 7, 8, 9], row=3, begin=500, place=(0, 3, 0, 0))
    waves = [first, beside, later, quick]
    found = FETCHES.of(build.trace(CODE, waves), [build.batch(*waves)])
    assert (found.first.tolist(), found.last.tolist(), found.arrivals.tolist()) == ([8], [15], [4])
    assert (found.slow.tolist(), found.again.tolist()) == ([3], [1])
    assert (found.cycles.tolist(), found.longest.tolist()) == ([280], [100])
    assert found.elsewhere == 0
    asked = FETCHES.of(build.trace(CODE, waves), [build.batch(*waves)], {2})
    assert (asked.slow.tolist(), asked.again.tolist()) == ([1], [1]), "others ran the line before"


def test_lines_of_gfx1250_are_twice_as_long() -> None:
    """16 instructions of 8 bytes are one line of 128 bytes, two of 64; the gap is not a fetch there."""
    waves = [build.wave(f"V|V|{LONG}V|V", [6, 7, 8, 9]), build.wave(f"V|{LONG}V", [15, 16], row=1)]
    code = build.code([*TEXTS, "v_nop"])
    trace = replace(build.trace(code, waves), gfxip=12, target="gfx1250")
    found = FETCHES.of(trace, [build.batch(*waves)])
    assert (found.first.tolist(), found.slow.tolist(), found.elsewhere) == ([16], [1], 100)


def test_other_gaps_are_told_apart_and_the_begin_of_a_wave_is_none() -> None:
    wave = build.wave(f"{LONG}V|V|{LONG}V|{'.' * (SLOW - 1)}V", [0, 1, 2, 8])
    found = FETCHES.of(build.trace(CODE, [wave]), [build.batch(wave)])
    assert (len(found), found.elsewhere) == (0, 100)
    jump = build.wave(f"V|J|{LONG}V", [3, 5, 2])
    found = FETCHES.of(build.trace(CODE, [jump]), [build.batch(jump)])
    assert (found.first.tolist(), found.slow.tolist()) == ([0], [1])
    assert len(FETCHES.of(build.trace(CODE, []), [])) == 0


def test_simulated_fetches_are_found() -> None:
    (trace, batch), (_, truth) = sample_waves("matmul_tiled"), sample("matmul_tiled")
    found = FETCHES.of(trace, [batch])
    slow = cycles = 0
    for wave in batch.waves:
        end = wave.tokens.start + wave.tokens.duration
        gap = wave.tokens.start[1:] - end[:-1]
        one = wave.id
        is_fetch = truth.waves[one.se, one.simd, one.slot, one.wid].gap_cause[1:] == SimulatedCause.FETCH
        slow += int((is_fetch & (gap >= SLOW)).sum())
        cycles += int(gap[is_fetch & (gap >= SLOW)].sum())
    assert slow > 10
    assert (found.slow.sum(), found.cycles.sum()) == (slow, cycles)
    assert found.again.sum() == 0, "the simulator forgets no line"
    assert found.elsewhere > 0, "waves that drain before they end wait as long"
