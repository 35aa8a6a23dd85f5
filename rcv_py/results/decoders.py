"""Where two decoders of a raw capture differ, as rows."""

from __future__ import annotations

from collections.abc import Sequence

from rcv_py.analysis.compare.decoders import LIFE, MISSING, STATES, TOKENS, Difference
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field
from rcv_py.results.table import Spec, Table

DECODERS = Spec.of(
    "decode differences",
    "One row a wave and a thing about it that differs.",
    "difference",
    kinds.WAVE("wave", "The wave"),
    Field(
        "what",
        kinds.choice(LIFE, TOKENS, STATES, MISSING),
        "What differs; missing: one of them lacks the wave",
    ),
    kinds.SIGNED_INDEX(
        "first", "The first token or state that differs, counted from 0; -1: the whole wave does"
    ),
    kinds.COUNT("count", "How many differ"),
    kinds.NOTE("ours", "What this program says there"),
    kinds.NOTE("official", "What AMD's decoder says there"),
    nothing="Both decoders say the same of every wave.",
)
FACTS = (
    CAPTURE,
    kinds.COUNT("waves", "Waves that either of them knows"),
    kinds.COUNT("equal", "Waves of which both say the same"),
)


def decoder_rows(found: Sequence[Difference]) -> Table:
    """Return one row a difference."""
    return Table(
        DECODERS,
        {
            "wave": [one.wave for one in found],
            "what": [one.what for one in found],
            "first": [one.first for one in found],
            "count": [one.count for one in found],
            "ours": [one.a for one in found],
            "official": [one.b for one in found],
        },
    )
