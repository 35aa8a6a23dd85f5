"""Waves of real captures grouped by the way they took, counted with plain json."""

import json
from collections import Counter

import pytest

from rcv_py.analysis.waves.populations import POPULATIONS
from rcv_py.formats.open import open_trace
from tests.analysis.test_populations import plain_ways, read
from tests.real.captures import THREAD_TRACES, real_trace, trace_path

EXPECTED = {
    "flash_attn_small_after": {"working": 8},
    "flash_attn_small_before": {"working": 4},
    "fused_rope_cache": {"working": 4},
    "mla_decode": {"early-exit": 32},
    "moe_reduce": {"working": 3598, "early-exit": 514},
    "pa_mqa_big": {"working": 32},
    "pa_mqa_small": {"working": 4},
    "preshuffle_gemm": {"working": 68},
    "vec_add": {"working": 632},
}


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_real_captures(name: str) -> None:
    """Waves of one population executed the same instructions, and as many as the files hold."""
    folder = trace_path(name)
    trace = open_trace(folder)
    found = POPULATIONS.of(trace, read(trace))
    assert dict(zip(found.id, found.waves.tolist(), strict=True)) == EXPECTED[name]
    plain = plain_ways(folder)
    distinct = Counter[int]()
    for (_, instructions), waves in plain.items():
        distinct[instructions] += waves
    assert dict(zip(found.reached.tolist(), found.waves.tolist(), strict=True)) == distinct
    assert found.read == sum(plain.values())
    assert int(found.cut.sum()) == 0


def test_the_numbers_of_moe_reduce_and_mla_decode() -> None:
    """514 of 4,112 waves execute 15 instructions instead of 171; of mla_decode 17 of 4,948 ran."""
    assert plain_ways(trace_path("moe_reduce")) == {(171, 171): 3598, (15, 15): 514}
    assert plain_ways(trace_path("mla_decode")) == {(17, 17): 32}
    code = json.loads((trace_path("mla_decode") / "code.json").read_text())["code"]
    rows = [row for row in code if not row[0].lstrip().startswith(";")]
    assert (sum(row[6] > 0 for row in rows), len(rows)) == (17, 4948)
    trace = real_trace("mla_decode")
    found = POPULATIONS.of(trace, read(trace))
    assert (found.ran, found.of) == (17, 4948)
