"""Waits of all waves together: who made them wait and for how long, and what that tells about memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import pieces
from rcv_py.analysis.waits import blocking as blocked
from rcv_py.analysis.waits import wait_latency as latency
from rcv_py.analysis.waits.blocking import Blocking, blocking, blocking_sums
from rcv_py.analysis.waits.wait_latency import WaitLatency, latency_samples, wait_latency
from rcv_py.analysis.waits.waitcnt.replay import replay, rules
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class WaitSummary:
    """The answer for the waves that were there."""

    blocking: Blocking
    latency: WaitLatency
    waves: int  # how many
    of: int  # waves of the trace


def wait_summary(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> WaitSummary:
    """Return the waits of the waves whose index row is in `rows` (None: all), each wave once."""
    code, count = trace.code, len(trace.code)
    effect = rules(code, trace.gfxip, trace.target).effect
    is_wait = np.array(
        [text.startswith("s_wait") and bool(effect(text).waits) for text in code.text], dtype=bool
    )
    sums, samples, waves = [], [], 0
    for piece in pieces(batches, rows):
        links = replay(piece, code, trace.gfxip, trace.target)
        sums.append(blocking_sums(piece, links, count, is_wait))
        samples.append(latency_samples(piece, links, count, trace.gfxip))
        waves += len(piece.waves)
    return WaitSummary(
        blocking(blocked.joined(sums, count)),
        wait_latency(latency.joined(samples, count)),
        waves,
        len(trace.waves),
    )
