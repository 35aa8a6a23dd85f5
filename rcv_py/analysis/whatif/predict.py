"""Predict what a change gains: play the recording with and without it, under several guesses."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.whatif.ceilings import Ceilings
from rcv_py.analysis.whatif.changes import Change, MoreWaves, changes_text, repeated
from rcv_py.analysis.whatif.critical_path import PathTable, path_table
from rcv_py.analysis.whatif.event_loop import Board, Played, play
from rcv_py.analysis.whatif.queues import seen
from rcv_py.analysis.whatif.recording import OTHERS, USUAL, Guess, Recording, arbitrated, recording, reordered
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Value
from rcv_py.base.text import Message, plural

AT_ROOF = (
    "cut at what memory delivers, {0:.1f} bytes per compute unit and cycle, where all requested bytes "
    "come from it"
)
NOTHING = "where a range has no width, nothing that was recorded depends on the change"
# What a range allows for besides the guesses: the model and chance.  Measured on simulated kernels, so that
# nine of ten ranges hold what the changed kernel does; docs/prediction.md has the proof.
MARGIN = 0.004  # of the span
MARGIN_OF_CHANGE = 0.06  # of the change that the range would end at
NAMES = ("row", "slot")  # columns that say which waves these are, and nothing of how they play
AT_ONCE = min(8, os.cpu_count() or 1)  # compute units that are played in parallel: each takes memory


class UnitChange(Value):
    """One compute unit; cycles from its first begin to its last end."""

    before: int
    after: int


class Prediction(Value):
    """What a change does to the traced compute units, all together.

    `share` is the relative change of their spans, -0.1 for a tenth less; `low` and `high` are the least and
    the greatest change over all guesses and over the single units, with a margin on both sides.
    """

    text: str
    before: int  # cycles, summed over the compute units
    after: int
    low: float
    high: float
    life_before: float  # mean cycles of a wave
    life_after: float
    units: tuple[UnitChange, ...]
    guesses: tuple[str, ...]  # the assumptions, in words
    tokens: int
    notes: tuple[str, ...] = ()  # what of the device cuts the prediction, in words

    @property
    def share(self) -> float:
        """The relative change of the span."""
        return self.after / self.before - 1 if self.before else 0.0


class PlayedUnit:
    """The recordings of a compute unit, made once for any number of experiments."""

    def __init__(self, stream: TokenStream) -> None:
        self.stream = stream
        self._made: dict[Guess, Recording] = {}
        self._bases: dict[tuple[Guess, int], tuple[Recording, Played]] = {}
        self._ruled: dict[tuple[Guess, int, bytes], Played] = {}
        # On each board little changes from one play to the next, and boards are played in parallel.
        self._boards: defaultdict[int, Board] = defaultdict(Board)  # by lane

    def recording(self, guess: Guess = USUAL) -> Recording:
        """Return the recording under a guess."""
        if guess not in self._made:
            self._made[guess] = recording(self.stream, guess)
        return self._made[guess]

    def forget(self, guess: Guess) -> None:
        """Free the recording under a guess."""
        del self._made[guess]

    def unchanged(self, guess: Guess = USUAL, times: int = 1) -> tuple[Recording, Played]:
        """Return the unit before a change, and its waves; they run `times` times if none of them queues."""
        if (guess, times) not in self._bases:
            base = one = self.recording(guess)
            if times > 1 and not (one.before >= 0).any():
                base = repeated(one, times)
            if guess.order:
                base = arbitrated(reordered(base, guess.order))
            self._bases[guess, times] = base, self._played(base, guess)
        return self._bases[guess, times]

    def changed(self, guess: Guess, changes: Sequence[Change]) -> _Pair:
        """Return when waves begin and end before and after changes, the same object if nothing changes.

        A change takes the rules of ties instead of the recorded order, and turns where loads move together:
        these make a difference without the change, too.  What counts is the smaller of the changes against
        the recorded order and against the rules, none if one is a gain and the other a loss.
        """
        base, before = self.unchanged(guess, _times(changes))
        made = applied(base, changes)
        if made is base:
            return _Pair(before, before, before.span)
        after = self._played(made, guess)
        key = guess, _times(changes), made.in_turn.tobytes()
        if key not in self._ruled:
            self._ruled[key] = self._played(arbitrated(replace(base, in_turn=made.in_turn)), guess)
        more = sorted((after.span - before.span, after.span - self._ruled[key].span, 0))[1]
        return _Pair(before, after, before.span + more)

    def _played(self, recorded: Recording, guess: Guess) -> Played:
        return ended(self._boards[guess.lane].play(recorded, waves_only=True))


class Player:
    """Compute units in which experiments are played."""

    def __init__(self, streams: Sequence[TokenStream], ceilings: Callable[[], Ceilings] = Ceilings) -> None:
        """Take compute units, and what no change can exceed, which is asked for when the first is played."""
        self._ceilings = cache(ceilings)
        self._units = [PlayedUnit(stream) for stream in streams if len(stream)]
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._firsts: dict[Guess, Future[list[PlayedUnit]]] = {}
        self._quick: dict[tuple[Change, ...], _Compared] = {}  # under the usual guess alone

    def recordings(self, guess: Guess = USUAL) -> list[Recording]:
        """Return the recording of each compute unit under a guess."""
        return [unit.recording(guess) for unit in self._units]

    def changed(self, changes: Sequence[Change]) -> Iterator[tuple[int, Recording, Played]]:
        """Yield the base, recording and times of each compute unit with the changes, under the usual guess.

        Times count from the base, which is in aligned cycles.
        """
        changes = self._ceilings().fitted(changes)
        for unit in self._units:
            checkpoint()
            base, _ = unit.unchanged(times=_times(changes))
            made = applied(base, changes)
            yield unit.stream.base, made, ended(play(made))

    def path(self, changes: Sequence[Change] = ()) -> PathTable:
        """Return what the critical paths of the compute units are spent on, with the given changes."""
        return path_table([(made, played) for _, made, played in self.changed(changes)])

    def predict(self, changes: Sequence[Change], *, is_quick: bool = False) -> Prediction:
        """Play all units with and without the changes; `is_quick`: only under the usual guess."""
        text, ceilings = changes_text(changes), self._ceilings()
        guesses = (USUAL, *(() if is_quick else OTHERS))
        changes = ceilings.fitted(changes)
        if not self._firsts:  # all guesses share parts of the usual recordings, about half of which is `seen`
            for unit in self._units:
                self._pool.submit(seen, unit.stream)
            wait([self._pool.submit(unit.recording) for unit in self._units])
        known = [self._quick.pop(changes)] if changes in self._quick else []
        found = known + self._compared(guesses[len(known) :], changes)
        usual = found[0]
        if is_quick:
            self._quick[changes] = usual
        shares = [one.share for one in found if one.total]
        shares += [unit.after / unit.before - 1 for unit in usual.units if unit.before]
        is_affected = any(one.is_affected for one in found)
        low, high = min(shares, default=0.0), max(shares, default=0.0)
        if is_affected:
            low = min(low, max(usual.lowest, low - MARGIN - MARGIN_OF_CHANGE * abs(low)))
            high += MARGIN + MARGIN_OF_CHANGE * abs(high)
        units = dict.fromkeys(self._alike(USUAL).result())
        notes = [*ceilings.sentences([unit.recording() for unit in units], changes)]
        if usual.is_cut:
            notes.append(Message(AT_ROOF, ceilings.roof))
        if not is_affected and not notes:
            notes.append(Message(NOTHING))
        return Prediction(
            text=text,
            before=usual.total,
            after=sum(unit.after for unit in usual.units),
            low=low,
            high=high,
            life_before=_life([one.before for one in usual.pairs]),
            life_after=_life([one.after for one in usual.pairs]),
            units=usual.units,
            guesses=tuple(dict.fromkeys(guess.text for guess in guesses)),
            tokens=sum(len(unit.stream) for unit in self._units),
            notes=tuple(notes),
        )

    def _compared(self, guesses: Sequence[Guess], changes: Sequence[Change]) -> list[_Compared]:
        """Play all units under each guess."""
        checkpoint()
        made = [self._alike(guess) for guess in guesses]
        firsts = {guess: units.result() for guess, units in zip(guesses, made, strict=True)}
        checkpoint()
        own: dict[tuple[PlayedUnit, int], list[Guess]] = {}
        for guess, units in firsts.items():
            for unit in dict.fromkeys(units):
                own.setdefault((unit, guess.lane), []).append(guess)

        def play(unit: PlayedUnit, some: Sequence[Guess]) -> dict[tuple[PlayedUnit, Guess], _Pair]:
            return {(unit, guess): unit.changed(guess, changes) for guess in some}

        lanes = [self._pool.submit(play, unit, some) for (unit, _), some in own.items()]
        for guess in OTHERS:  # the usual guess leaves processors idle, and these are played next
            self._alike(guess)
        played = {key: pair for lane in lanes for key, pair in lane.result().items()}
        return [
            _Compared(
                [played[unit, guess] for unit in units], [self._least(unit, guess, changes) for unit in units]
            )
            for guess, units in firsts.items()
        ]

    def _least(self, unit: PlayedUnit, guess: Guess, changes: Sequence[Change]) -> int:
        """Return the cycles that memory needs for what a unit requests with changes."""
        base, before = unit.unchanged(guess, _times(changes))
        return self._ceilings().least(unit.stream, base, before.span, changes)

    def _alike(self, guess: Guess) -> Future[list[PlayedUnit]]:
        """Find for each unit the first one with the same recording, in a thread: equal units play once."""

        def alike() -> list[PlayedUnit]:
            found: list[PlayedUnit] = []
            for unit in self._units:
                own = unit.recording(guess)
                same = (one for one in dict.fromkeys(found) if _plays_as(own, one.recording(guess)))
                found.append(next(same, unit))
                if found[-1] is not unit:
                    unit.forget(guess)
            return found

        if guess not in self._firsts:
            self._firsts[guess] = self._pool.submit(alike)
        return self._firsts[guess]


class _Pair(Value):
    """A compute unit before and after a change."""

    before: Played
    after: Played
    span: int  # cycles with the change


class _Compared(Value):
    """All units under a guess, before and after a change."""

    pairs: list[_Pair]
    least: list[int]  # cycles that memory needs

    @property
    def units(self) -> tuple[UnitChange, ...]:
        """The spans, cut at what memory needs."""
        pairs = zip(self.pairs, self.least, strict=True)
        return tuple(UnitChange(one.before.span, max(one.span, least)) for one, least in pairs)

    @property
    def total(self) -> int:
        """Cycles before, of all units."""
        return sum(one.before.span for one in self.pairs)

    @property
    def share(self) -> float:
        """The relative change of the spans."""
        return sum(unit.after for unit in self.units) / self.total - 1 if self.total else 0.0

    @property
    def lowest(self) -> float:
        """The change that memory allows at most."""
        return sum(self.least) / self.total - 1 if self.total else 0.0

    @property
    def is_cut(self) -> bool:
        """Whether a unit would be faster than memory allows."""
        return any(one.span < least for one, least in zip(self.pairs, self.least, strict=True))

    @property
    def is_affected(self) -> bool:
        """Whether the change alters anything that is played."""
        return any(one.before is not one.after for one in self.pairs)


def applied(recorded: Recording, changes: Sequence[Change]) -> Recording:
    """Return a recording with the changes, applied one after the other."""
    made = recorded
    for change in changes:
        made = change.of(made)
    return recorded if _is_same(made, recorded) else arbitrated(made)


def _plays_as(one: Recording, other: Recording) -> bool:
    """Whether two recordings of different waves play alike, earlier or later as a whole."""
    shift = one.begin.min() - other.begin.min()
    return _is_same(replace(one, begin=one.begin - shift, issued=one.issued - shift), other, NAMES)


def _is_same(one: Recording, other: Recording, apart: Collection[str] = ()) -> bool:
    """Whether two recordings have the same columns; those `apart` may differ."""
    names = [name for name in one.__struct_fields__ if name not in apart]
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(mine is its or np.array_equal(mine, its) for mine, its in pairs)


def ended(played: Played) -> Played:
    """Return what was played; raise UsageError if waves wait for each other for ever."""
    if played.unended:
        waves = plural(len(played.end), "wave")
        raise UsageError(
            Message(
                "With this change {0} of {1} would never end, so nothing is predicted.", played.unended, waves
            )
        )
    return played


def _times(changes: Sequence[Change]) -> int:
    """How often waves are repeated, in case none queues and the changes let waves start sooner."""
    return 2 if any(isinstance(change, MoreWaves) for change in changes) else 1


def _life(played: Sequence[Played]) -> float:
    lives = np.concatenate([np.zeros(0), *(one.end - one.begin for one in played)])
    return float(lives.mean()) if len(lives) else 0.0
