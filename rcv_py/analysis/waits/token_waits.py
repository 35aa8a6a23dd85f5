"""One executed instruction and its waits: the operations it waited for, or the wait that released it."""

from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.token_columns import of_waves
from rcv_py.analysis.waits.wait_latency import measured
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS, generation_of
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.waves import TracedWave


class Awaited(NamedTuple):
    """An instruction that a wait waited for."""

    row: int  # token of the wave
    line: int  # code row
    counter: str  # "vmcnt"
    issued: int  # cycles, aligned
    ago: int  # cycles from its issue to the start of the wait


class ReleasedBy(NamedTuple):
    """A wait that released an instruction."""

    row: int  # token of the wait
    line: int  # code row
    counter: str  # "vmcnt"
    latency: int  # cycles from its issue to the end of the wait
    is_exact: bool  # the latency is exact; else it is an upper bound


class TokenWaits(NamedTuple):
    """Exact dependencies of one token; both are empty if it neither waits nor is counted."""

    awaited: tuple[Awaited, ...] = ()  # oldest first, counter by counter
    released_by: tuple[ReleasedBy, ...] = ()
    is_wait: bool = False  # it waits for a counter
    is_counted: bool = False  # an operation that a wait can wait for


def token_waits(wave: TracedWave, row: int, code: CodeTable, architecture: Architecture) -> TokenWaits:
    """Return what the token at `row` waited for and what released it, by a replay of its wave."""
    tokens = of_waves([wave])
    line = int(tokens.line[row])
    if not 0 <= line < len(code):
        return TokenWaits()
    effect = generation_of(architecture, code.text).effect(code.text[line])
    if not effect.waits and not effect.raises:
        return TokenWaits()
    links = replay(tokens, code, architecture)
    names = [f"{COUNTERS[counter]}cnt" for counter in links.counter.tolist()]
    issue, is_exact = tokens.issue, measured(tokens, links)[0] & (links.newest == row)
    own = np.flatnonzero(links.token == row)
    awaited = tuple(
        Awaited(
            producer,
            int(tokens.line[producer]),
            names[at],
            int(issue[producer]),
            int(tokens.start[row] - issue[producer]),
        )
        for at in own.tolist()
        for producer in links.of(at).tolist()
    )
    ended = issue[row] + (tokens.busy[row] if architecture.busy_is_issue else 0)
    released = tuple(
        ReleasedBy(
            int(links.token[at]),
            int(tokens.line[links.token[at]]),
            names[at],
            int(issue[links.token[at]] - ended),
            bool(is_exact[at]),
        )
        for at in links.row_of[links.producers == row].tolist()
    )
    return TokenWaits(awaited, released, bool(effect.waits), bool(effect.raises))
