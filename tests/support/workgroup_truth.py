"""How often the wave that others waited for at a barrier is named rightly, by the size of workgroups.

Of all cycles that waves truly waited at barriers for another wave:

* named: the share with a producer.
* right: the share in which the named wave is the one that really came last (or came in the same cycle), or
  ended last instead of coming; where that wave was not traced, naming nobody is right.
* meanwhile: of the cycles with the true wave named, the share whose instruction is the one that this wave
  spent most cycles on between the arrival of the waiting wave and its own.

The truth is the simulator's; what took longest is looked for here once more, one wave after the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from rcv_py.analysis.attribution.attribute import stalls
from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.stream import TokenStream, engine_stream
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.synth.capture import SimulatedCause as True_
from rcv_py.synth.capture import Truth
from tests.support.engines import waves_by_engine
from tests.support.samples import write_sample

# What the table calls them, and the samples.
SIZES: dict[str, tuple[str, ...]] = {
    "256 threads": ("groups_256", "matmul_small", "reduction"),
    "512 threads": ("groups_512",),
    "1,024 threads": ("groups_1024",),
    "512 threads, halves a phase apart": ("ping_pong",),
    "192 and 384 threads, several a unit": ("several_groups",),
    "512 threads, waves leave early": ("mixed_populations",),
    "256 threads, half of the SIMDs traced": ("straggler",),
    "512 threads of wave32, split barriers, one SIMD traced": ("split_barriers_gfx12",),
}
# Place of the wave: of each barrier the token that waits, the one that arrives, and when.
_Barriers = dict[int, list[tuple[int, int, int]]]


@dataclass(frozen=True)
class Judged:
    """Cycles truly spent waiting at barriers, by what was said of them; they can be added."""

    said: Counter[str] = field(
        default_factory=Counter
    )  # "right", "wrong", "rightly nobody", "wrongly nobody"
    meanwhile: Counter[bool] = field(default_factory=Counter)  # of "right": whether the instruction is

    def __add__(self, other: Judged) -> Judged:
        return Judged(self.said + other.said, self.meanwhile + other.meanwhile)

    @property
    def cycles(self) -> int:
        """All of them."""
        return sum(self.said.values())

    @property
    def named(self) -> float:
        """Share with a producer."""
        return (self.said["right"] + self.said["wrong"]) / max(1, self.cycles)

    @property
    def right(self) -> float:
        """Share with the true wave, or rightly with none."""
        return (self.said["right"] + self.said["rightly nobody"]) / max(1, self.cycles)

    @property
    def right_instruction(self) -> float:
        """Share of those with the true wave whose instruction took longest; 1 if there are none."""
        return self.meanwhile[True] / sum(self.meanwhile.values()) if self.meanwhile else 1.0


def judged(name: str, folder: Path, seed: int = 0) -> Judged:
    """Simulate a capture, attribute it, and look at every barrier."""
    truth = write_sample(name, folder, seed)
    return of_capture(open_trace(folder), truth)


def of_capture(trace: Trace, truth: Truth) -> Judged:
    """Judge the barriers of a capture whose truth is known."""
    found = Judged()
    for waves in waves_by_engine([trace.reader.read(list(range(len(trace.waves))))]):
        _judge(found, trace, truth, waves)
    return found


def _judge(found: Judged, trace: Trace, truth: Truth, waves: list[TracedWave]) -> None:
    one = engine_stream(trace, waves)
    claims = stalls(one).claims()
    truths = [truth.waves[wave.id.se, wave.id.simd, wave.id.slot, wave.id.wid] for wave in waves]
    names = {(wave.id.simd, wave.id.slot, wave.id.wid): at for at, wave in enumerate(waves)}
    first, barriers = one.tokens.first.tolist(), _barriers(trace, one, waves)
    nth_of = {token: nth for tokens in barriers.values() for nth, (token, *_) in enumerate(tokens)}
    columns = (claims.token, claims.cause, claims.producer, claims.cycles)
    for token, cause, producer, cycles in zip(*(column.tolist() for column in columns), strict=True):
        wave = int(one.owner[token])
        at = token - first[wave]
        if truths[wave].cause[at] != True_.BARRIER:
            continue
        last = names.get(tuple(truths[wave].blamed_wave[at].tolist()))
        word = _word(one, barriers, nth_of[token], last, producer)
        if cause == Cause.OWN and last is not None:
            word = "right" if _arrival(barriers, last, nth_of[token]) == one.start[token] else "wrong"
        elif cause != Cause.BARRIER:
            word = "wrong"
        found.said[word] += cycles
        if word == "right" and cause == Cause.BARRIER and int(one.owner[producer]) == last:
            stop = _stop(barriers, last, nth_of[token], first[last + 1])
            longest = _longest(one, first[last], stop, int(one.start[token]))
            found.meanwhile[producer in longest] += cycles


def _barriers(trace: Trace, one: TokenStream, waves: list[TracedWave]) -> _Barriers:
    texts = [*trace.code.text, ""]
    found: _Barriers = {at: [] for at in range(len(waves))}
    signal: dict[int, int] = {}
    for token in range(len(one)):
        name, wave = texts[one.line[token]].split(" ")[0], int(one.owner[token])
        if name == "s_barrier_signal":
            signal[wave] = token
        elif name in ("s_barrier", "s_barrier_wait"):
            arrival = signal.pop(wave, token)
            found[wave].append((token, arrival, int(one.start[arrival])))
    return found


def _arrival(barriers: _Barriers, wave: int, nth: int) -> int | None:
    return barriers[wave][nth][2] if nth < len(barriers[wave]) else None


def _stop(barriers: _Barriers, wave: int, nth: int, end: int) -> int:
    return barriers[wave][nth][1] if nth < len(barriers[wave]) else end


def _word(one: TokenStream, barriers: _Barriers, nth: int, last: int | None, producer: int) -> str:
    if producer < 0:
        return "rightly nobody" if last is None else "wrongly nobody"
    named = int(one.owner[producer])
    if last is None:
        return "wrong"
    is_tie = _arrival(barriers, named, nth) == _arrival(barriers, last, nth) is not None
    return "right" if named == last or is_tie else "wrong"


def _longest(one: TokenStream, first: int, stop: int, since: int) -> list[int]:
    """The tokens on which a wave spent most cycles after a time, in front of a token."""
    end = one.ends(slice(first, stop)).tolist()
    spent = {
        token: min(ends - int(one.start[token]), ends - since)
        for token, ends in enumerate(end, first)
        if ends > since
    }
    most = max(spent.values(), default=0)
    return [token for token, cycles in spent.items() if cycles == most]


def by_size(folder: Path, seed: int = 0) -> dict[str, Judged]:
    """Return what is said about the barriers of each size of workgroup."""
    return {
        size: sum((judged(name, folder / f"barriers-{name}", seed) for name in names), Judged())
        for size, names in SIZES.items()
    }


def table(found: dict[str, Judged]) -> list[tuple[str, ...]]:
    """Rows of the table of barrier producers, the head first."""
    rows: list[tuple[str, ...]] = [("workgroups of", "cycles", "named", "right", "meanwhile")]
    for size, one in found.items():
        shares = (one.named, one.right, one.right_instruction)
        rows.append((size, f"{one.cycles:,}", *(f"{100 * share:.1f} %" for share in shares)))
    return rows
