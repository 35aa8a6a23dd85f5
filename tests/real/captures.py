"""Where the real captures and the reference results are.  Only tests/real may ask."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from rcv_py.model.trace import Trace
from tests.support.opened import opened_once
from tests.support.paths import ROOT

SHARED = Path(os.environ.get("RCV_SHARED") or ROOT.parent / "shared")

TRACES = (
    *("flash_attn_small_after", "flash_attn_small_before", "fused_rope_cache", "mla_decode"),
    *("moe_reduce", "pa_mqa_big", "pa_mqa_small", "pcsampling", "preshuffle_gemm", "vec_add"),
)
THREAD_TRACES = tuple(name for name in TRACES if name != "pcsampling")
GOLDEN = ("flash_attn_small_after", "flash_attn_small_before", "pa_mqa_big", "pa_mqa_small")
SYNTHETIC = ("counters_gfx9", "markers_gfx12", "waitcnt_gfx9", "waitcnt_gfx11", "waitcnt_gfx12")


def trace_path(name: str) -> Path:
    """The ui_output folder of a real capture."""
    folder = SHARED / "traces" / name
    inner = [path for path in sorted(folder.glob("ui_output*")) if path.is_dir()]
    return inner[0] if inner else folder


def real_trace(name: str) -> Trace:
    """A real capture, opened once for all tests of a process."""
    return opened_once(trace_path(name))


def synthetic_path(name: str) -> Path:
    """One of the made-up captures that come with reference results."""
    return SHARED / "golden" / "synthetic" / name


@cache
def golden(relative: str) -> Any:
    """A reference result, e.g. `rcv/pa_mqa_small.json`."""
    return json.loads((SHARED / "golden" / relative).read_text())
