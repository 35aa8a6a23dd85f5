"""Reductions that tell who was whose neighbour: processes import this and not pytest."""

from collections.abc import Sequence
from functools import partial

from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.model.trace import Trace

Pairs = tuple[tuple[int, int], ...]


def beside(trace: Trace, parcel: Parcel) -> Pairs:
    """Each chosen wave of the slab with each that lived beside it."""
    mine = {wave.row for wave in parcel.own.waves}
    waves = parcel.tokens.waves
    return tuple(
        (one.row, other.row)
        for one in waves
        for other in waves
        if one.row in mine and one.id.se == other.id.se and one.begin <= other.end and other.begin <= one.end
    )


def _joined(parts: Sequence[Pairs]) -> Pairs:
    return tuple(sorted(pair for part in parts for pair in part))


def _as_it_is(trace: Trace, part: Pairs) -> Pairs:
    return part


BESIDE = Reduction(beside, _joined, _as_it_is, is_together=True)


def _later(trace: Trace, parcel: Parcel, count: int) -> tuple[int, ...]:
    return (count,) * len(parcel.own.waves)


def _joined_counts(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(count for part in parts for count in part)


def after(pairs: Pairs) -> Reduction[tuple[int, ...], tuple[int, ...]]:
    """What says of each wave how many neighbours there are in all."""
    return Reduction(partial(_later, count=len(pairs)), _joined_counts, _as_it_is)
