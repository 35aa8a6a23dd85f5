"""Changes as users, scripts and agents request them: instructions by number, memory units by name."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rcv_py.analysis.waits.load_batch import load_batches
from rcv_py.analysis.whatif import changes as kinds
from rcv_py.analysis.whatif.hoist import hoisted
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.trace import Trace

MEMORY = "memory"  # all memory units


class ChangeRequest(NamedTuple):
    """The changes to apply, all together."""

    latency: Sequence[tuple[str, float]] = ()  # a unit or an instruction, and the factor of its latency
    move: Sequence[tuple[int, int]] = ()  # an instruction, and the instruction it moves before
    batch: Sequence[int] = ()  # waits before which the loads below them are issued
    relax: Sequence[tuple[int, int]] = ()  # a wait, and how many more operations it leaves outstanding
    only: Sequence[
        tuple[int, int]
    ] = ()  # a wait, and a load; the wait waits only for the loads that are paired with it
    dpp: Sequence[int] = ()  # cross-lane moves that become DPP operands of arithmetic
    merge: Sequence[tuple[int, int]] = ()  # an access, and another access that becomes part of it
    free: Sequence[int] = ()  # instructions that take no time
    no_barriers: bool = False
    more_waves: int = 0  # additional waves on each SIMD

    @property
    def words(self) -> tuple[str, ...]:
        """Return the changes as options of `rcv whatif`."""
        return (
            *(f"--latency={what}={factor:g}" for what, factor in self.latency),
            *(f"--move={line}:{before}" for line, before in self.move),
            *(f"--batch={wait}" for wait in self.batch),
            *(f"--relax={line}:{more}" for line, more in self.relax),
            *(f"--free={line}" for line in self.free),
            *(("--no-barriers",) if self.no_barriers else ()),
            *((f"--more-waves={self.more_waves}",) if self.more_waves else ()),
        )

    def changes(self, trace: Trace) -> list[kinds.Change]:
        """Return the changes; raise UsageError for instructions that cannot be changed so, or never ran."""
        _check(trace.code, [*self.batch])
        changes: list[kinds.Change] = [_latency(*given) for given in self.latency]
        changes += [kinds.Move(*given) for given in self.move]
        changes += [_batch(trace, wait) for wait in self.batch]
        changes += [kinds.Relax(*given) for given in self.relax]
        changes += [kinds.Only(wait, loads) for wait, loads in _together(self.only)]
        changes += [kinds.Dpp(tuple(self.dpp))] if self.dpp else []
        changes += [kinds.Merge((line, *others)) for line, others in _together(self.merge)]
        changes += [kinds.Free(tuple(self.free))] if self.free else []
        changes += [kinds.NoBarrier()] if self.no_barriers else []
        changes += [kinds.MoreWaves(self.more_waves)] if self.more_waves else []
        named = [line for change in changes if isinstance(change, kinds.Latency) for line in change.lines]
        pairs = sum((*self.move, *self.only, *self.merge), ())
        _check(trace.code, [*named, *self.free, *self.dpp, *pairs, *(line for line, _ in self.relax)])
        return changes


def _together(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, tuple[int, ...]]]:
    """Group the second values of the pairs by the first value."""
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return [(first, tuple(others)) for first, others in found.items()]


def _batch(trace: Trace, wait: int) -> kinds.Change:
    """The loads below a wait before it, for the counter with most of them."""
    found = load_batches(trace.code, trace.architecture, wait).values()
    if not found:
        raise UsageError(
            Message("No load below instruction {0} can be issued before it.", wait),
            hint="It must be a wait, and nothing between may use what the loads read or write.",
        )
    return hoisted(max(found, key=lambda batch: len(batch.loads)))


def _latency(what: str, factor: float) -> kinds.Latency:
    if what.isascii() and what.isdigit():
        return kinds.Latency(lines=(int(what),), factor=factor)
    if what not in (*kinds.UNITS, MEMORY):
        hint = Message("Name {0}, {1} or an instruction.", ", ".join(kinds.UNITS), MEMORY)
        raise UsageError(Message("There is no memory called {0}.", what), hint=hint)
    return kinds.Latency(units=() if what == MEMORY else (what,), factor=factor)


def _check(code: CodeTable, lines: Iterable[int]) -> None:
    for line in lines:
        if not 0 <= line < len(code):
            what = Message("The program has no instruction {0}: rows are 0 to {1:,}.", line, len(code) - 1)
            raise UsageError(what, hint="`rcv isa` lists them.")
        if not code.hits[line]:
            what = Message("Instruction {0} never ran, so nothing follows from it.", line)
            raise UsageError(what, hint="`rcv isa` has hits.")
