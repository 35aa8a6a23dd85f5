"""Playing a recording again: one experiment, and as many as an engineer tries in a sitting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from bench.folders import large_folder
from bench.table import Options, Row, measure
from rcv_py.analysis.whatif.changes import Latency
from rcv_py.analysis.whatif.experiments import MAX_TOKENS, sample, usual_experiments
from rcv_py.formats.open import open_trace
from rcv_py.work.whatif import player_of

MEGABYTES = 32  # 1 M tokens
ONE_S = 2.0
MANY, MANY_S = 20, 10.0

Answer = TypeVar("Answer")


@measure("what if")
def whatif(options: Options) -> Iterator[Row]:
    """A million tokens, all guesses of each prediction; recordings are made once and told apart."""
    with large_folder(MEGABYTES) as folder:
        trace = open_trace(folder)
        player, _ = timed(lambda: player_of(trace, sample(trace, MAX_TOKENS)))
        first, made = timed(lambda: player.predict([Latency()]))
        _, again = timed(lambda: player.predict([Latency(factor=0.5)]))
        tried = usual_experiments(player, trace)
        several = [tried[at % len(tried)] for at in range(MANY)]
        _, many = timed(lambda: [player.predict(one) for one in several])
    size = f"{first.tokens / 1e3:,.0f} k tokens"
    yield Row(f"  recordings under all guesses, {size}", made - again, None, "s")
    yield Row(f"an experiment, {size}", again, ONE_S, "s")
    yield Row(f"{MANY} experiments, {size}", many, MANY_S, "s")


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """What comes of some work, and the seconds it took."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began
