"""Where the real captures and the reference results are."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch, WaveColumns

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RCV_SHARED", ROOT.parent / "shared"))

TRACES = (
    "flash_attn_small_after",
    "flash_attn_small_before",
    "fused_rope_cache",
    "mla_decode",
    "moe_reduce",
    "pa_mqa_big",
    "pa_mqa_small",
    "pcsampling",
    "preshuffle_gemm",
    "vec_add",
)
THREAD_TRACES = tuple(name for name in TRACES if name != "pcsampling")
GOLDEN = ("flash_attn_small_after", "flash_attn_small_before", "pa_mqa_big", "pa_mqa_small")
SYNTHETIC = ("counters_gfx9", "markers_gfx12", "waitcnt_gfx9", "waitcnt_gfx11", "waitcnt_gfx12")


def need_shared() -> None:
    """Skip where the captures are not there; fail if the run promised that they are."""
    if SHARED.is_dir():
        return
    if os.environ.get("RCV_REQUIRE_SHARED"):
        pytest.fail(f"the captures are not at {SHARED}, and this run requires them")
    pytest.skip("the real captures are not beside the checkout; set RCV_SHARED to their folder")


def trace_path(name: str) -> Path:
    """The ui_output folder of a real capture."""
    need_shared()
    folder = SHARED / "traces" / name
    inner = [path for path in sorted(folder.glob("ui_output*")) if path.is_dir()]
    return inner[0] if inner else folder


@cache
def real_trace(name: str) -> Trace:
    """A real capture, opened once for all tests of a process; all of its waves are read once, too."""
    trace = open_trace(trace_path(name))
    return replace(trace, reader=_Remembering(trace.reader, list(range(len(trace.waves)))))


def trace_at(folder: Path) -> Trace:
    """The trace of a folder, opened anew unless it is a real capture."""
    names = [name for name in TRACES if trace_path(name) == folder]
    return real_trace(names[0]) if names else open_trace(folder)


@dataclass(frozen=True)
class _Remembering:
    """A reader that remembers a batch of all waves."""

    below: WaveReader
    all_rows: list[int]
    whole: list[WaveBatch] = field(default_factory=list)

    @property
    def base_clock(self) -> int:
        """That of the reader below."""
        return self.below.base_clock

    def read(self, rows: Sequence[int]) -> WaveBatch:
        """Read waves, all of them once."""
        if list(rows) != self.all_rows:
            return self.below.read(list(rows))
        if not self.whole:
            self.whole.append(self.below.read(list(rows)))
        return self.whole[0]

    def columns(self, rows: list[int]) -> WaveColumns:
        """Read waves as arrays alone."""
        return self.below.columns(rows)


def synthetic_path(name: str) -> Path:
    """One of the made-up captures that come with reference results."""
    need_shared()
    return SHARED / "golden" / "synthetic" / name


@cache
def golden(relative: str) -> Any:
    """A reference result, e.g. `rcv/pa_mqa_small.json`."""
    need_shared()
    return json.loads((SHARED / "golden" / relative).read_text())
