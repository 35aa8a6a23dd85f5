"""Arrows of one wave for the gutter of the instruction table: what it waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.analysis.waits.waits import Arrows, arrows, wait_pairs
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave
from rcv_py.ui.panels.isa.arrow_gutter import ArrowRows

_COUNTERS = {
    TokenKind.LDS: ("lgkmcnt", "dscnt"),
    TokenKind.SMEM: ("lgkmcnt", "kmcnt"),
    TokenKind.MSG: ("lgkmcnt", "kmcnt"),
    TokenKind.VMEM: ("vmcnt", "loadcnt", "vscnt", "storecnt"),
    TokenKind.FLAT: ("vmcnt", "loadcnt", "vscnt", "storecnt", "lgkmcnt", "dscnt"),
    TokenKind.BVH: ("vmcnt", "bvhcnt"),
}


@dataclass(frozen=True, eq=False)
class GutterArrows:
    """Arrows with a tooltip each, and a sentence why there are none."""

    rows: ArrowRows
    tips: tuple[str, ...] = ()
    note: str = ""


def wait_arrows(
    wave: Wave | None, code: CodeTable, gfxip: int, place: Callable[[int], str] = lambda row: ""
) -> GutterArrows:
    """Return arrows from producers to the waits of a wave, by its file or else by a replay.

    `place` says what tooltips put behind the text of an instruction: its source place.
    """
    if wave is None:
        return GutterArrows(
            ArrowRows.none(), note="The selected wave is not read yet, so its waits are not known."
        )
    found = arrows(*wait_pairs(waits_of(wave, code, gfxip)))
    if not len(found):
        return GutterArrows(ArrowRows.none(), note=f"Wave {wave.id} waited for no instruction.")
    is_replayed = not wave.waits
    note = "Found by replaying the wave's counters, since its file lists no waits." if is_replayed else ""
    tips = tuple(
        _wait_tip(code, wait, producer, place)
        for wait, producer in zip(found.wait.tolist(), found.producer.tolist(), strict=True)
    )
    return GutterArrows(_rows(found, found.producer, found.wait, found.wait), tips, note)


def _rows(found: Arrows, source: np.ndarray, target: np.ndarray, group: np.ndarray) -> ArrowRows:
    columns = (source, target, found.slot, found.color, group)
    return ArrowRows(*(column.astype(np.int64) for column in columns))


def _wait_tip(code: CodeTable, wait: int, producer: int, place: Callable[[int], str]) -> str:
    names = (
        _COUNTERS.get(TokenKind(int(code.kind[producer])), ()) if code.kind[producer] < len(TokenKind) else ()
    )
    counter = next((name for name in names if name in code.text[wait]), "")
    through = f"\nthrough {counter}" if counter else ""
    return (
        f"{wait}  {code.text[wait]}{place(wait)}\nwaits for\n"
        f"{producer}  {code.text[producer]}{place(producer)}{through}\n"
        "Click an end to go to the other, the middle to show this wait alone (Esc: all)."
    )
