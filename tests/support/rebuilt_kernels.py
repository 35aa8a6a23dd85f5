"""Another build of a kernel: instructions inserted, removed, moved or renamed, and what became of each.

The new kernel runs in the simulator like the old one: branches lead to the same instructions, and a moved
piece stands behind the end of the program, with a branch there and one back.

```
A                     B
0  v_add  v1, v2      0  v_add  v5, v6          registers renamed
1  v_mul  v3, v1      1  s_branch 4             moved away
2  s_nop 0            2  v_xor  v97, v96, v95   inserted; s_nop was removed
3  s_endpgm           3  s_endpgm
                      4  v_mul  v7, v5          moved
                      5  s_branch 2
```
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from rcv_py.synth.isa import meaning
from rcv_py.synth.program import Source, SyntheticInstruction, SyntheticKernel

_NEW = ("v_xor_b32_e32 v97, v96, v95", "v_mov_b32_e32 v99, v98", "s_nop 0", "s_mov_b32 s90, s91")
_VECTOR = re.compile(r"\bv(?:\[(\d+):(\d+)\]|(\d+)\b)")
_STRAIGHT = ("valu", "salu", "lds")  # units of instructions that may be removed or moved
_PIECE = (4, 10)  # instructions of a piece that is moved


@dataclass(frozen=True, slots=True)
class Edits:
    """How many edits of each kind; `shift` is added to the numbers of vector registers."""

    inserted: int = 0
    removed: int = 0
    moved: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """A new build of a kernel."""

    kernel: SyntheticKernel
    to_b: np.ndarray  # int32 [instructions of A], the same instruction in B, -1 if it was removed


@dataclass(eq=False)
class _Item:
    """An instruction while the program is edited; branches name the item they lead to."""

    origin: int  # instruction of A, -1 if it is new
    text: str
    source: str
    notes: Mapping[str, str] = field(default_factory=dict)
    target: _Item | None = None


def rebuilt(kernel: SyntheticKernel, edits: Edits, seed: int = 0) -> Rebuilt:
    """Return another build of a kernel; a seed gives the same one each time."""
    rng = random.Random(f"{kernel.symbol}/{seed}")
    items = [_Item(row, one.text, one.source, one.notes) for row, one in enumerate(kernel.instructions)]
    for item, one in zip(items, kernel.instructions, strict=True):
        item.target = items[one.target] if one.target >= 0 else None
    labels = {name: items[row] for name, row in kernel.labels.items()}
    for _ in range(edits.removed):
        _remove(items, labels, rng, kernel.generation)
    for _ in range(edits.moved):
        _move(items, labels, rng, kernel.generation)
    for _ in range(edits.inserted):
        at = rng.randrange(len(items) - 1)
        items.insert(at, _Item(-1, rng.choice(_NEW), items[at].source))
    for item in items:
        item.text = _renamed(item.text, edits.shift)
    return _assembled(kernel, items, labels)


def slowed(kernel: SyntheticKernel, row: int, factor: float) -> SyntheticKernel:
    """Return a kernel in which a memory instruction takes so many times as long to answer."""
    rows = list(kernel.instructions)
    rows[row] = replace(rows[row], notes={**rows[row].notes, "slow": str(factor)})
    return replace(kernel, instructions=tuple(rows))


def with_lines(
    kernel: SyntheticKernel, sources: Mapping[str, Source], path: str, by: int
) -> tuple[SyntheticKernel, dict[str, Source]]:
    """Return the kernel and its sources after so many lines were put in front of a source file."""
    pattern = re.compile(re.escape(path) + r":(\d+)")
    rows = tuple(
        replace(one, source=pattern.sub(lambda found: f"{path}:{int(found[1]) + by}", one.source))
        for one in kernel.instructions
    )
    moved = {
        name: replace(source, text="// new\n" * by + source.text) if source.path == path else source
        for name, source in sources.items()
    }
    return replace(kernel, instructions=rows), moved


def _free(items: list[_Item], labels: Mapping[str, _Item], generation: int) -> list[bool]:
    """Which instructions nothing leads to and that lead nowhere."""
    held = {id(item.target) for item in items if item.target} | {id(item) for item in labels.values()}
    return [
        item.origin >= 0 and id(item) not in held and meaning(item.text, generation).unit in _STRAIGHT
        for item in items
    ]


def _remove(items: list[_Item], labels: Mapping[str, _Item], rng: random.Random, generation: int) -> None:
    places = [at for at, is_free in enumerate(_free(items, labels, generation)) if is_free]
    if places:
        del items[rng.choice(places)]


def _move(items: list[_Item], labels: Mapping[str, _Item], rng: random.Random, generation: int) -> None:
    """Put a straight piece behind everything else; where it stood a branch leads there."""
    free, size = _free(items, labels, generation), rng.randint(*_PIECE)
    places = [at for at in range(len(items) - size) if all(free[at : at + size])]
    if not places:
        return
    at = rng.choice(places)
    piece, back = items[at : at + size], items[at + size]
    away = _Item(-1, "s_branch", piece[0].source, target=piece[0])
    items[at : at + size] = [away]
    items += [*piece, _Item(-1, "s_branch", piece[-1].source, target=back)]


def _renamed(text: str, shift: int) -> str:
    def name(found: re.Match[str]) -> str:
        if found[3] is not None:
            return f"v{int(found[3]) + shift}"
        return f"v[{int(found[1]) + shift}:{int(found[2]) + shift}]"

    return _VECTOR.sub(name, text) if shift else text


def _assembled(kernel: SyntheticKernel, items: list[_Item], labels: Mapping[str, _Item]) -> Rebuilt:
    row_of = {id(item): row for row, item in enumerate(items)}
    texts = [f"{item.text.split()[0]} 0" if item.target else item.text for item in items]
    meanings = [meaning(text, kernel.generation) for text in texts]
    starts = kernel.address + np.cumsum([0, *(what.size for what in meanings)])
    rows = []
    for row, (item, text, what) in enumerate(zip(items, texts, meanings, strict=True)):
        target, words = -1, text
        if item.target is not None:
            target = row_of[id(item.target)]
            words = f"{text.split()[0]} {int(starts[target] - starts[row + 1]) // 4 & 0xFFFF}"
        rows.append(SyntheticInstruction(words, item.source, what, target, dict(item.notes)))
    to_b = np.full(len(kernel.instructions), -1, dtype=np.int32)
    for row, item in enumerate(items):
        if item.origin >= 0:
            to_b[item.origin] = row
    places = {name: row_of[id(item)] for name, item in labels.items()}
    return Rebuilt(replace(kernel, instructions=tuple(rows), labels=places), to_b)
