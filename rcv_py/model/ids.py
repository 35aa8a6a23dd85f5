"""Identifiers of waves and slots: small, frozen, ordered."""

from __future__ import annotations

import re
from typing import NamedTuple

from rcv_py.base.record import Value
from rcv_py.base.text import Message

MAX_SHOWN = 60  # characters shown of an invalid id
_WAVE = re.compile(r"se(\d{1,18})/simd(\d{1,18})/slot(\d{1,18})/wv(\d{1,18})", re.ASCII)


class WaveId(Value, order=True):
    """Identifies a traced wave: shader engine, SIMD, slot and the ordinal of the wave in its slot.

    Texts, documents, links and options all write it as `str` does.
    """

    se: int
    simd: int
    slot: int
    wid: int

    def __str__(self) -> str:
        return f"se{self.se}/simd{self.simd}/slot{self.slot}/wv{self.wid}"

    @classmethod
    def parse(cls, text: str) -> WaveId:
        """Parse the result of `str`; raise ValueError for anything else."""
        match = _WAVE.fullmatch(text.strip())
        if match is None:
            raise ValueError(Message("{0!r} does not name a wave", text[:MAX_SHOWN]))
        return cls(*map(int, match.groups()))


class SlotId(NamedTuple):
    """A slot of the device, which holds one wave at a time."""

    se: int
    sa: int
    cu: int
    simd: int
    slot: int


def place_name(
    se: int, sa: int = 0, cu: int = -1, simd: int = -1, slot: int = -1, *, unit: str = "CU"
) -> str:
    """Return a place of the device as all texts write it: `SE2 CU1 SIMD0 slot 3`, `SE2 SA1 WGP0`."""
    parts = (
        f"SE{se}",
        f"SA{sa}" if sa > 0 else "",
        f"{unit}{cu}" if cu >= 0 else "",
        f"SIMD{simd}" if simd >= 0 else "",
        f"slot {slot}" if slot >= 0 else "",
    )
    return " ".join(filter(None, parts))
