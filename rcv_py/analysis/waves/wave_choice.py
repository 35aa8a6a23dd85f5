"""Which waves a table is of: those that work, all of them, or those of one population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.waves.populations import ALL, WORKING, Populations, ran_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural


@dataclass(frozen=True, slots=True)
class WaveChoice:
    """Waves that a table is of."""

    name: str  # `working`, `all`, or the id of a population
    rows: frozenset[int] | None  # rows of the wave index whose costs count; None: all that were read
    waves: int
    of: int  # waves that were read
    text: str  # "3,598 working waves of 4,112"


def wave_choice(found: Populations, name: str = WORKING) -> WaveChoice:
    """Return the waves that a name stands for: `working`, `all`, or the id or name of a population.

    Where no wave works, `working` stands for all of them, and the text says so.  Raise UsageError for a name
    that there is not, with those that there are.
    """
    whole = found.read
    if name == ALL or (name == WORKING and not found.has_working):
        text = f"all {plural(whole, 'wave')}" if whole != 1 else "the only wave"
        if name == WORKING and whole:
            text += f", none of which works: {ran_text(found)}"
        return WaveChoice(name, None, whole, whole, text)
    if name == WORKING:
        which, kind = np.flatnonzero(found.is_working), "working "
    else:
        which, kind = np.array([_place(found, name)]), ""
    rows = found.rows(which)
    of = "" if len(rows) == whole else f" of {whole:,}"
    text = f"{len(rows):,} {kind}{'wave' if len(rows) == 1 else 'waves'}{of}"
    text += "" if kind else f" ({found.name[int(which[0])]})"
    return WaveChoice(name, None if len(rows) == whole else rows, len(rows), whole, text)


def chosen_or_working(found: Populations, name: str) -> WaveChoice:
    """Return the waves that a name stands for; if there is no such population (yet), those that work."""
    try:
        return wave_choice(found, name)
    except UsageError:
        return wave_choice(found)


def _place(found: Populations, name: str) -> int:
    for at, known in enumerate(zip(found.id, found.name, strict=True)):
        if name.lower() in (known[0].lower(), known[1].lower()):
            return at
    known_names = dict.fromkeys((WORKING, ALL, *found.id))
    raise UsageError(
        f"There is no population {name!r} of waves.", hint=f"There are: {', '.join(known_names)}."
    )
