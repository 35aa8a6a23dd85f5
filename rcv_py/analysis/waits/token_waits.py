"""One executed instruction and its waits: what it waited for, token by token, or which wait released it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.waits.wait_latency import ages, told
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.model.code import CodeTable
from rcv_py.model.waves import Wave


@dataclass(frozen=True, slots=True)
class Awaited:
    """An instruction that a wait waited for."""

    row: int  # token of the wave
    line: int  # code row
    counter: str  # "vmcnt"
    issued: int  # cycles, aligned
    ago: int  # cycles from its issue to the start of the wait
    is_newest: bool  # the stall of the wait is charged to it


@dataclass(frozen=True, slots=True)
class ReleasedBy:
    """A wait that released an instruction."""

    row: int  # token of the wait
    line: int  # code row
    counter: str  # "vmcnt"
    latency: int  # cycles from its issue to the end of the wait
    is_exact: bool  # the latency is that of the memory; else it was less, or as much


@dataclass(frozen=True, slots=True)
class TokenWaits:
    """Exact dependencies of one token; both are empty for what neither waits nor is counted."""

    awaited: tuple[Awaited, ...] = ()  # oldest first, counter by counter
    released_by: tuple[ReleasedBy, ...] = ()
    is_wait: bool = False  # it asks a counter for something
    is_counted: bool = False  # it is an operation that a wait can wait for


def token_waits(wave: Wave, row: int, code: CodeTable, gfxip: int, target: str = "") -> TokenWaits:
    """Return what the token at `row` waited for and what released it, by a replay of its wave."""
    piece = of_waves([wave])
    line = int(piece.line[row])
    if not 0 <= line < len(code):
        return TokenWaits()
    effect = generation_of(gfxip, target, code.text).effect(code.text[line])
    if not effect.waits and not effect.raises:
        return TokenWaits()
    links = replay(piece, code, gfxip, target)
    issued = piece.start + piece.stall
    age, exact = ages(piece, links, gfxip), told(piece, links).is_exact
    awaited = tuple(
        one
        for at in np.flatnonzero(links.token == row).tolist()
        for one in _awaited(links, at, issued, piece)
    )
    by = links.row_of[links.producers == row]
    late = issued[links.token[by]] - issued[row] - (piece.busy[row] if gfxip <= 9 else 0)
    released = tuple(
        ReleasedBy(
            int(links.token[at]),
            int(piece.line[links.token[at]]),
            counter_name(int(links.counter[at])),
            int(age[at]) if links.newest[at] == row else int(cycles),
            bool(exact[at] and links.newest[at] == row),
        )
        for at, cycles in zip(by.tolist(), late.tolist(), strict=True)
    )
    return TokenWaits(awaited, released, bool(effect.waits), bool(effect.raises))


def counter_name(number: int) -> str:
    """Return a counter's name as waits spell it."""
    return f"{COUNTERS[number]}cnt"


def _awaited(links: WaitLinks, at: int, issued: np.ndarray, piece: TokenColumns) -> list[Awaited]:
    token = int(links.token[at])
    begin = int(piece.start[token])
    newest = int(links.newest[links.token == token].max())
    return [
        Awaited(
            row,
            int(piece.line[row]),
            counter_name(int(links.counter[at])),
            int(issued[row]),
            begin - int(issued[row]),
            row == newest,
        )
        for row in links.of(at).tolist()
    ]
