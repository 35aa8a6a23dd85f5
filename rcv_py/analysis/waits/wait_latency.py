"""The memory latencies that the waits of all waves show, and what one executed instruction waited for.

If the results of a counter return in order, a wait that stalls ends when the newest required operation is
done.  The latency is that time (start + stall of the wait) less the issue of the operation (its start +
stall; on gfx9, where a token's busy time is the time it took to issue, its end).  If the wait hardly stalls,
the operation was done before, and the same number is an upper bound.  A wait that required operations of two
counters gives only upper bounds, since either may have been the last.
"""

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.analysis.core.saturated import Sums
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.waits.waitcnt.generations import COUNTERS, NUMBER_OF, generation_of
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.base.record import Value
from rcv_py.base.runs import ends_run, starts_run
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

ISSUE = 4  # cycles of a wait that does not stall
_SHIFT = 40  # bits of a latency in a key; one more says whether it is an upper bound
_MAX_CYCLES = (1 << _SHIFT) - 1  # cycles, nine minutes at 2 GHz; damaged files may hold more


class WaitLatency(ColumnTable):
    """One row per code line that any wait measured or bounded, most exact samples first; cycles.

    If `exact` is 0, only upper bounds are known and the statistics are nan.
    """

    line: np.ndarray  # int32
    exact: np.ndarray  # int64, samples
    censored: np.ndarray  # int64, upper bounds
    p10: np.ndarray  # float64, the sample at n // 10 of the sorted n
    median: np.ndarray  # float64
    p90: np.ndarray  # float64, the sample at 9 n // 10
    mean: np.ndarray  # float64


def measured(tokens: TokenColumns, links: WaitLinks) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of links measure the latency of their newest producer, and which bound it, bool.

    It is at most the time from issue to the end of the wait.  Waits for address translation measure nothing.
    """
    is_any = links.is_ordered & (links.counter != NUMBER_OF["x"])
    is_alone = starts_run(links.token) & ends_run(links.token)
    is_exact = is_any & is_alone & (tokens.stall[links.token] > ISSUE)
    return is_exact, is_any & ~is_exact


def ages(tokens: TokenColumns, links: WaitLinks, architecture: Architecture) -> np.ndarray:
    """Return the cycles from the issue of each row's newest producer to the end of the wait, int64."""
    age = tokens.issue[links.token] - tokens.issue[links.newest]
    return age - tokens.busy[links.newest] if architecture.busy_is_issue else age


def latency_samples(tokens: TokenColumns, links: WaitLinks, architecture: Architecture) -> Sums:
    """Return keys (line, whether it is a bound, latency), and the number of samples of each."""
    is_exact, is_bound = measured(tokens, links)
    line = tokens.line[links.newest].astype(np.int64) << (_SHIFT + 1)
    latency = np.clip(ages(tokens, links, architecture), 0, _MAX_CYCLES)
    key = np.append((line | latency)[is_exact], (line | 1 << _SHIFT)[is_bound])
    return np.unique(key, return_counts=True)


def wait_latency(_trace: Trace, samples: Sums) -> WaitLatency:
    """Return the statistics of each line over `latency_samples`."""
    key, times = samples
    lines, place = np.unique(key >> (_SHIFT + 1), return_inverse=True)
    place, is_bound = place.reshape(-1), key >> _SHIFT & 1 == 1
    censored = saturated.sums(place[is_bound], times[is_bound], len(lines))
    place, times, latency = place[~is_bound], times[~is_bound], key[~is_bound] & _MAX_CYCLES
    exact = saturated.sums(place, times, len(lines))
    p10, median, p90 = at_ranks(place, latency, len(lines), ((1, 10), MEDIAN, (9, 10)), times)
    cycles = np.bincount(place, latency.astype(np.float64) * times, len(lines))
    mean = np.where(exact > 0, cycles / np.maximum(exact, 1), np.nan)
    line = lines.astype(np.int32)
    table = WaitLatency(line, exact, censored, p10=p10, median=median, p90=p90, mean=mean)
    return table.at(np.lexsort((lines, -exact)))


def _map(trace: Trace, parcel: Parcel) -> Sums:
    tokens = parcel.own
    links = replay(tokens, trace.code, trace.architecture)
    return latency_samples(tokens, links, trace.architecture)


LATENCIES = Reduction(_map, added(1), wait_latency)


class Awaited(Value):
    """An instruction that a wait waited for."""

    row: int  # token of the wave
    line: int  # code row
    counter: str  # "vmcnt"
    issued: int  # cycles, aligned
    ago: int  # cycles from its issue to the start of the wait


class ReleasedBy(Value):
    """A wait that released an instruction."""

    row: int  # token of the wait
    line: int  # code row
    counter: str  # "vmcnt"
    latency: int  # cycles from its issue to the end of the wait
    is_exact: bool  # the latency is exact; else it is an upper bound


class TokenWaits(Value):
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
    awaited, released = list[Awaited](), list[ReleasedBy]()
    for at in np.flatnonzero(links.token == row).tolist():
        for producer in links.of(at).tolist():
            issued, ago = int(issue[producer]), int(tokens.start[row] - issue[producer])
            awaited.append(Awaited(producer, int(tokens.line[producer]), names[at], issued, ago))
    ended = issue[row] + (tokens.busy[row] if architecture.busy_is_issue else 0)
    for at in links.row_of[links.producers == row].tolist():
        wait = int(links.token[at])
        latency, line = int(issue[wait] - ended), int(tokens.line[wait])
        released.append(ReleasedBy(wait, line, names[at], latency, bool(is_exact[at])))
    return TokenWaits(tuple(awaited), tuple(released), bool(effect.waits), bool(effect.raises))
