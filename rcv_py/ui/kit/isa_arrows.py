"""Arrows of one wave for the gutter of the instruction table: what it waited for, where it jumped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.branches import branches
from rcv_py.analysis.waitcnt.replay import waits_of
from rcv_py.analysis.waits import Arrows, arrows, wait_pairs
from rcv_py.base.text import plural
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.waves import Wave
from rcv_py.ui.kit.arrow_gutter import ArrowRows

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


def wait_arrows(wave: Wave | None, code: CodeTable, gfxip: int) -> GutterArrows:
    """Return arrows from producers to the waits of a wave, by its file or else by a replay."""
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
        _wait_tip(code, wait, producer)
        for wait, producer in zip(found.wait.tolist(), found.producer.tolist(), strict=True)
    )
    return GutterArrows(_rows(found, found.producer, found.wait, found.wait), tips, note)


def branch_arrows(wave: Wave | None, code: CodeTable, gfxip: int) -> GutterArrows:
    """Return arrows from the branches of a wave to where they jumped; every generation branches alike."""
    del gfxip
    if wave is None:
        return GutterArrows(
            ArrowRows.none(), note="The selected wave is not read yet, so its branches are not known."
        )
    found = branches(wave, code)
    if not len(found):
        return GutterArrows(ArrowRows.none(), note=f"Wave {wave.id} took no branch.")
    placed = arrows(found.source, found.target)
    taken = {
        (source, target): (yes, no)
        for source, target, yes, no in zip(
            found.source.tolist(),
            found.target.tolist(),
            found.taken.tolist(),
            found.not_taken.tolist(),
            strict=True,
        )
    }
    tips = tuple(
        _branch_tip(code, source, target, *taken[source, target])
        for source, target in zip(placed.wait.tolist(), placed.producer.tolist(), strict=True)
    )
    return GutterArrows(_rows(placed, placed.wait, placed.producer, placed.wait), tips)


MODES: dict[str, tuple[str, Callable[[Wave | None, CodeTable, int], GutterArrows]]] = {
    "waits": ("Waits", wait_arrows),
    "branches": ("Branches", branch_arrows),
}


def _rows(found: Arrows, source: np.ndarray, target: np.ndarray, group: np.ndarray) -> ArrowRows:
    columns = (source, target, found.slot, found.color, group)
    return ArrowRows(*(column.astype(np.int64) for column in columns))


def _wait_tip(code: CodeTable, wait: int, producer: int) -> str:
    names = (
        _COUNTERS.get(TokenKind(int(code.kind[producer])), ()) if code.kind[producer] < len(TokenKind) else ()
    )
    counter = next((name for name in names if name in code.text[wait]), "")
    through = f"\nthrough {counter}" if counter else ""
    return (
        f"{wait}  {code.text[wait]}\nwaits for\n{producer}  {code.text[producer]}{through}\n"
        "Click an end to go to the other, the middle to show this wait alone (Esc: all)."
    )


def _branch_tip(code: CodeTable, source: int, target: int, taken: int, passed: int) -> str:
    passed_text = f"\nnot taken {plural(passed, 'time')}" if passed else ""
    return (
        f"{source}  {code.text[source]}\njumped {plural(taken, 'time')} to\n"
        f"{target}  {code.text[target]}{passed_text}"
    )
