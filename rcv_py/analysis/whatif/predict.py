"""Predict what a change gains: play the recording with and without it, under several guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.whatif.ceilings import Ceilings
from rcv_py.analysis.whatif.changes import Change, MoreWaves, repeated
from rcv_py.analysis.whatif.critical_path import PathTable, path_table
from rcv_py.analysis.whatif.event_loop import Played, play
from rcv_py.analysis.whatif.recording import OTHERS, USUAL, Guess, Recording, recording
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import checkpoint
from rcv_py.base.text import Message, join_texts, plural

AT_ROOF = (
    "cut at what memory delivers, {0:.1f} bytes per compute unit and cycle, where all requested bytes "
    "come from it"
)
AT_ONCE = 2  # compute units that are played in parallel


NO_WIDTH = "Where a range has no width, all guesses agree; the prediction is no more certain for that."


class UnitChange(NamedTuple):
    """One compute unit; cycles from its first begin to its last end."""

    before: int
    after: int


class Prediction(NamedTuple):
    """What a change does to the traced compute units, all together.

    `share` is the relative change of their spans, -0.1 for a tenth less; `low` and `high` are the least and
    the greatest change over all guesses and over the single units.
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
    def has_no_width(self) -> bool:
        """Whether all guesses agree, without being cut."""
        return self.low == self.high and not self.notes

    @property
    def share(self) -> float:
        """The relative change of the span."""
        return self.after / self.before - 1 if self.before else 0.0


class Player:
    """Recordings of compute units, made once for any number of experiments."""

    def __init__(self, streams: Sequence[TokenStream], ceilings: Callable[[], Ceilings] = Ceilings) -> None:
        """Take compute units, and what no change can exceed, which is asked for when the first is played."""
        self._ceilings = cache(ceilings)
        self._streams = [stream for stream in streams if len(stream)]
        self._made: dict[Guess, list[Recording]] = {}
        self._played: dict[tuple[Guess, int], list[tuple[Recording, Played]]] = {}

    def recordings(self, guess: Guess = USUAL) -> list[Recording]:
        """Return the recording of each compute unit under a guess."""
        if guess not in self._made:
            self._made[guess] = [recording(stream, guess) for stream in self._streams]
        return self._made[guess]

    def unchanged(self, guess: Guess = USUAL, times: int = 1) -> list[tuple[Recording, Played]]:
        """Return each compute unit before a change; its waves run `times` times if none of them queues."""
        if (guess, times) not in self._played:
            made = []
            for one in self.recordings(guess):
                checkpoint()
                base = one if times == 1 or (one.before >= 0).any() else repeated(one, times)
                made.append((base, _played(base)))
            self._played[guess, times] = made  # stored whole: a run may be cancelled or called in two threads
        return self._played[guess, times]

    def changed(self, changes: Sequence[Change]) -> Iterator[tuple[int, Recording, Played]]:
        """Yield the base, recording and times of each compute unit with the changes, under the usual guess.

        Times count from the base, which is in aligned cycles.
        """
        unchanged, changes = self.unchanged(times=_times(changes)), self._ceilings().fitted(changes)
        for stream, (base, _) in zip(self._streams, unchanged, strict=True):
            checkpoint()
            made = applied(base, changes)
            yield stream.base, made, _played(made)

    def path(self, changes: Sequence[Change] = ()) -> PathTable:
        """Return what the critical paths of the compute units are spent on, with the given changes."""
        return path_table([(made, played) for _, made, played in self.changed(changes)])

    def predict(self, changes: Sequence[Change], *, is_quick: bool = False) -> Prediction:
        """Play all units with and without the changes; `is_quick`: only under the usual guess."""
        shares, usual_spans = list[float](), list[int]()
        usual: tuple[list[Played], list[Played]] = ([], [])
        times, text = _times(changes), join_texts("; ", (change.text for change in changes))
        ceilings = self._ceilings()
        changes = ceilings.fitted(changes)
        notes = [*ceilings.sentences(self.recordings(), changes)]
        for guess in (USUAL, *(() if is_quick else OTHERS)):
            checkpoint()
            bases = self.unchanged(guess, times)
            before = [played for _, played in bases]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                after = list(pool.map(lambda base: _played(applied(base[0], changes)), bases))
            least = [
                ceilings.least(stream, base, whole.span, changes)
                for stream, (base, whole) in zip(self._streams, bases, strict=True)
            ]
            spans = [max(one.span, most) for one, most in zip(after, least, strict=True)]
            if guess == USUAL:
                if spans != [one.span for one in after]:
                    notes.append(Message(AT_ROOF, ceilings.roof))
                usual_spans = spans
                usual = (before, after)
                shares += [
                    part / whole.span - 1 for whole, part in zip(before, spans, strict=True) if whole.span
                ]
            total = sum(one.span for one in before)
            shares += [sum(spans) / total - 1] if total else []
        before, after = usual
        return Prediction(
            text=text,
            before=sum(one.span for one in before),
            after=sum(usual_spans),
            low=min(shares, default=0.0),
            high=max(shares, default=0.0),
            life_before=_life(before),
            life_after=_life(after),
            units=tuple(UnitChange(a.span, b) for a, b in zip(before, usual_spans, strict=True)),
            guesses=(USUAL.text, *(() if is_quick else (guess.text for guess in OTHERS))),
            tokens=sum(map(len, self.recordings())),
            notes=tuple(notes),
        )


def applied(recorded: Recording, changes: Sequence[Change]) -> Recording:
    """Return a recording with the changes, applied one after the other."""
    for change in changes:
        recorded = change.of(recorded)
    return recorded


def _played(recorded: Recording) -> Played:
    """Play a recording; raise UsageError if waves wait for each other for ever."""
    played = play(recorded)
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
