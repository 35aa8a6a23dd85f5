"""Changes as users, scripts and agents request them: instructions by number, memory units by name."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rcv_py.analysis.program.instruction_classes import PERMUTES
from rcv_py.analysis.program.matrix_forms import passes_of
from rcv_py.analysis.waits.hoisting import why_not_before
from rcv_py.analysis.waits.load_batch import load_batches
from rcv_py.analysis.waits.program_waits import program_waits, wait_pairs
from rcv_py.analysis.waits.waitcnt.generations import UNORDERED, generation_of
from rcv_py.analysis.whatif import changes as kinds
from rcv_py.analysis.whatif.hoist import hoisted
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message
from rcv_py.model.trace import Trace

MEMORY = "memory"  # all memory units


class ChangeRequest(NamedTuple):
    """The changes to apply, all together."""

    latency: Sequence[tuple[str, float]] = ()  # a unit or an instruction, and the factor of its latency
    move: Sequence[tuple[int, int]] = ()  # an instruction, and the instruction it moves before
    batch: Sequence[int] = ()  # waits before which the loads below them are issued
    relax: Sequence[tuple[int, int]] = ()  # a wait, and how many more operations it leaves outstanding
    only: Sequence[tuple[int, int]] = ()  # a wait, and one of the loads for which alone it waits
    dpp: Sequence[int] = ()  # cross-lane moves that become DPP operands of arithmetic
    merge: Sequence[tuple[int, int]] = ()  # an access, and another access that becomes part of it
    free: Sequence[int] = ()  # instructions that take no time
    no_barriers: bool = False
    more_waves: int = 0  # additional waves on each SIMD

    @property
    def words(self) -> tuple[str, ...]:
        """Return the changes as options of `rcv whatif`."""
        pairs, rows = ("move", "relax", "only", "merge"), ("batch", "dpp", "free")
        return (
            *(f"--latency={what}={factor:g}" for what, factor in self.latency),
            *(f"--{name}={one}:{other}" for name in pairs for one, other in getattr(self, name)),
            *(f"--{name}={line}" for name in rows for line in getattr(self, name)),
            *(("--no-barriers",) if self.no_barriers else ()),
            *((f"--more-waves={self.more_waves}",) if self.more_waves else ()),
        )

    @property
    def slowed(self) -> list[int]:
        """The instructions that get a different latency."""
        return [int(what) for what, _ in self.latency if what.isascii() and what.isdigit()]

    def changes(self, trace: Trace) -> list[kinds.Change]:
        """Return the changes; raise UsageError for instructions that cannot be changed so, or never ran."""
        pairs = sum((*self.move, *self.only, *self.merge), ())
        rows = [*self.slowed, *self.batch, *self.free, *self.dpp, *pairs, *(wait for wait, _ in self.relax)]
        trace.check_line(*rows)
        for row in (row for row in rows if not trace.code.hits[row]):
            text = Message("Instruction {0} never ran, so nothing follows from it.", row)
            raise UsageError(text, hint="`rcv isa` has hits.")
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
        for why in chain(_impossible(trace, self), _impossible_waits(trace, self)):
            raise UsageError(why)
        return changes


def _impossible(trace: Trace, asked: ChangeRequest) -> Iterator[str]:
    """Yield a sentence for each instruction whose text does not allow to change it so."""
    texts = [text.strip() for text in trace.code.text]
    effect = generation_of(trace.architecture, trace.code.text).effect
    passes = passes_of(trace).cycles
    for line in asked.slowed:
        if not effect(texts[line]).raises and not passes[line]:
            why = "Instruction {0}, {1}, has no latency: no wait is for it, and it is no matrix instruction."
            yield Message(why, line, texts[line])
    for line, before in asked.move:
        if why := why_not_before(trace, line, before):
            yield Message("Instruction {0} cannot be moved before {1}: {2}", line, before, why)
    for line in asked.dpp:
        if not texts[line].startswith(PERMUTES):
            yield Message("Instruction {0}, {1}, moves nothing across lanes through LDS.", line, texts[line])
    for pair in asked.merge:
        one, other = (texts[row].partition(" ")[0].rstrip("x0123456789") for row in pair)
        if pair[0] == pair[1] or one != other or not effect(texts[pair[0]]).raises:
            yield Message("Instructions {0} and {1} are not two accesses of one kind.", *pair)


def _impossible_waits(trace: Trace, asked: ChangeRequest) -> Iterator[str]:
    """Yield a sentence for each wait that the instruction texts do not allow to wait for less."""
    rules, code = generation_of(trace.architecture, trace.code.text), trace.code
    effects = [rules.effect(text.strip()) for text in code.text]
    ordered = [{counter for counter, kind in one.raises if kind not in UNORDERED} for one in effects]
    pairs = wait_pairs(program_waits(code, trace.architecture)) if asked.relax else ((), ())
    for wait, more in asked.relax:
        found = [ordered[load] for row, load in zip(*pairs, strict=True) if row == wait]
        if found and not any(found):
            yield Message("Wait {0} is for results that return in any order, so none may be left.", wait)
        most = max((rules.most(counter) - left for counter, left in effects[wait].waits), default=0)
        if more > most:
            why = "Instruction {0}, {1}, can leave at most {2} more operations outstanding."
            yield Message(why, wait, code.text[wait].strip(), most)
    for wait, load in asked.only:
        if ordered[load].isdisjoint(counter for counter, _ in effects[wait].waits):
            why = "Instruction {0}, {1}, cannot wait for {2} alone: no result of it returns there in order."
            yield Message(why, wait, code.text[wait].strip(), load)


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
