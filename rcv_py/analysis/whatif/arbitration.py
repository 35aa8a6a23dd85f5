"""Which of several waves a unit takes first if they want it at the same moment.

A recording shows the order in which they went.  With a change other waves meet, and a rule is needed: real
captures show that arithmetic and the matrix unit take the oldest wave of their SIMD (96 to 100 % of ties
where there are many), and that memory pipes, which all SIMDs share, do not look at the age.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.lines import LDS, MATRIX, MESSAGE, SMEM, VALU, VMEM
from rcv_py.analysis.attribution.stream import TokenStream
from rcv_py.analysis.whatif.queues import in_time

KINDS = ((True, (VALU, MATRIX)), (False, (VMEM, LDS, SMEM)))  # by age if few ties are recorded; the units
FEW = 8  # ties that decide
MOSTLY = 0.8  # of the ties go to the older wave: the age decides


def by_age(stream: TokenStream) -> np.ndarray:
    """Return which units take the oldest wave first, bool by unit of `attribution.lines`."""
    found = np.zeros(MESSAGE + 1, dtype=bool)
    for usual, units in KINDS:
        ties = {unit: _ties(stream, unit, usual) for unit in units}
        whole = np.concatenate([*ties.values()])
        for unit in units:
            won = ties[unit] if len(ties[unit]) >= FEW else whole
            found[unit] = won.mean() >= MOSTLY if len(won) >= FEW else usual
    return found


def _ties(stream: TokenStream, unit: int, is_of_simd: bool) -> np.ndarray:
    """Return whether the older wave went first, for each two waves that both waited for a unit, bool."""
    token = in_time(stream, stream.of_unit(unit))
    if is_of_simd:
        token = token[np.argsort(stream.simd[stream.owner[token]], kind="stable")]
    first, second = token[:-1], token[1:]
    one, other = stream.owner[first], stream.owner[second]
    begin = stream.tokens.lives[0]
    is_tie = (stream.start[first] < stream.issue[first]) & (stream.start[second] <= stream.issue[first])
    is_tie &= begin[one] != begin[other]
    if is_of_simd:
        is_tie &= stream.simd[one] == stream.simd[other]
    return (begin[one] < begin[other])[is_tie]
