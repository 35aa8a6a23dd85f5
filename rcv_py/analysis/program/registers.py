"""Which registers an instruction reads and writes, by its text, and where another instruction does.

Sets of registers are integers with one bit per register: vector registers, accumulators, scalar registers,
then the special ones.  Implicit operands are known for the usual cases only (scc, vcc of carries, exec, m0).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from rcv_py.base.text import number
from rcv_py.model.code import has_known_operands

V, A, S = 0, 1024, 1280  # first bit of each file
SPECIAL = {"vcc": 1408, "exec": 1409, "scc": 1410, "m0": 1411}
BITS = 1472  # a multiple of 64
_FIRST = {"v": V, "a": A, "s": S}
_SIZE = {"v": 1024, "a": 256, "s": 128}

_COMMENT = re.compile(r"//|;")
_REGISTER = re.compile(r"\b([vas])(?:\[(\d+):(\d+)\]|(\d+)\b)|\b(vcc|exec|m0|scc)(?:_lo|_hi)?\b")
_NO_DESTINATION = re.compile(
    r"\S*_store|ds_(write|store)|s_(cmp|cbranch|branch|bitcmp|wait|nop|sleep|barrier|endpgm|setprio|setreg"
    r"|sendmsg|delay_alu|clause|ttracedata|icache|dcache)|exp\b|export|(buffer|global)_(inv|wb|gl)"
)
_ATOMIC = re.compile(r"\S*_(atomic|cmpst|cmpswap)")
_RETURNS = re.compile(r"\b(glc|sc0|th:TH_ATOMIC_\w*RETURN)\b")
_TO_LDS = re.compile(r"\blds\b|_load_lds|load_async_to_lds")
_TWO = re.compile(r"v_(\w*_co_|div_scale|mad_[iu]64_)")
_BOTH = re.compile(r"v_(swap|permlane\d+_swap)")
_READS_FIRST = re.compile(r"v_(fmac|pk_fmac|mac_|dot\dc|writelane|movrel)|s_(cmov|addk|mulk|cmpk|setreg)")
_SETS_SCC = re.compile(
    r"s_(cmp|bitcmp|add|sub|and|or|xor|nand|nor|xnor|andn|orn|not|lshl|lshr|ashr|bfe|abs|min|max)"
)
_READ_UNPRINTED = tuple(
    (re.compile(text), special)
    for text, special in (
        (r"s_(cbranch_scc|addc|subb|cselect|cmov)", "scc"),
        (r"s_cbranch_vcc|v_div_fmas", "vcc"),
        (r"s_cbranch_exec", "exec"),
        (r"\S.*\blds\b|s_movrel|v_movrel|s_sendmsg|ds_gws", "m0"),
    )
)


class Registers(NamedTuple):
    """Sets of registers as integers, bit n for register n."""

    writes: int
    reads: int


UNREADABLE = Registers((1 << BITS) - 1, (1 << BITS) - 1)


@lru_cache(maxsize=1 << 15)
def registers(text: str) -> Registers:
    """Return what one instruction writes and reads; empty sets if the text is no instruction.

    An instruction whose operands are unknown may write and read any register: both sets hold all.
    """
    if not has_known_operands(text):
        return UNREADABLE
    name, _, rest = text.strip().partition(" ")
    operands = [_bits(part.strip()) for part in rest.split(",")] if rest else []
    count = _destinations(name, text)
    writes, reads = (reduce(or_, part, 0) for part in (operands[:count], operands[count:]))
    if count and (_READS_FIRST.match(name) or _BOTH.match(name) or _ATOMIC.match(name)):
        reads |= writes
    # Implicit operands.
    if _SETS_SCC.match(name):
        writes |= 1 << SPECIAL["scc"]
    if "saveexec" in name or name.startswith("v_cmpx"):
        writes |= 1 << SPECIAL["exec"]
    for fits, special in _READ_UNPRINTED:
        if fits.match(text.strip()):
            reads |= 1 << SPECIAL[special]
    return Registers(writes, reads)


def words(sets: list[int]) -> np.ndarray:
    """Return sets as rows of uint64 words, [sets, BITS // 64]."""
    data = b"".join(value.to_bytes(BITS // 8, "little") for value in sets)
    return np.frombuffer(data, dtype="<u8").reshape(len(sets), BITS // 64)


@lru_cache(maxsize=1 << 13)  # a program of 2,000 lines has a quarter as many different operands
def _bits(operand: str) -> int:
    bits = 0
    for file, low, high, single, special in _REGISTER.findall(operand):
        if special:
            bits |= 1 << SPECIAL[special]
            continue
        first, last = (number(single), number(single)) if single else (number(low), number(high))
        last = min(last, _SIZE[file] - 1)
        if first <= last:
            bits |= ((1 << (last - first + 1)) - 1) << (_FIRST[file] + first)
    return bits


def _destinations(name: str, text: str) -> int:
    """The number of leading operands that are written."""
    if _NO_DESTINATION.match(name) or _TO_LDS.search(text):
        return 0
    if _ATOMIC.match(name) and not name.startswith("s_"):
        return int(bool(_RETURNS.search(text)) or "_rtn" in name)
    return 2 if _TWO.match(name) or _BOTH.match(name) else 1


class Operand(NamedTuple):
    """Registers that a part [start, stop) of an instruction's text represents, as sets.

    The mnemonic represents implicit reads and writes.
    """

    start: int
    stop: int
    writes: int
    reads: int
    is_printed: bool = True

    @property
    def registers(self) -> int:
        """All registers of the operand."""
        return self.writes | self.reads


@lru_cache(maxsize=1 << 13)
def operands(text: str) -> tuple[Operand, ...]:
    """Return the registers of an instruction by their place in the text, from the left; none for a label."""
    if not has_known_operands(text):
        return ()
    body = _COMMENT.split(text, maxsplit=1)[0]
    known = registers(body)
    start = len(body) - len(body.lstrip())
    name, _, _ = body.strip().partition(" ")
    count, first = _destinations(name, body), start + len(name)
    is_read_too = bool(count and (_READS_FIRST.match(name) or _BOTH.match(name) or _ATOMIC.match(name)))
    found: list[Operand] = []
    for match in _REGISTER.finditer(body, first):
        bits, is_written = _bits(match[0]), body.count(",", first, match.start()) < count
        found.append(
            Operand(
                match.start(),
                match.end(),
                bits if is_written else 0,
                bits if not is_written or is_read_too else 0,
            )
        )
    writes, reads = (
        reduce(or_, part, 0) for part in ([one.writes for one in found], [one.reads for one in found])
    )
    hidden = Operand(start, first, known.writes & ~writes, known.reads & ~reads, is_printed=False)
    return (hidden, *found) if hidden.registers else tuple(found)


def definition(texts: Sequence[str], row: int, wanted: int, region: range, loop: range | None = None) -> int:
    """Return the last row before `row` that wrote any of the registers `wanted`; -1: none known in `region`.

    Rows are in program order.  If only a later instruction of the `loop` around the row writes them, the
    value comes from the previous iteration.
    """
    above = range(row - 1, region.start - 1, -1)
    below = range(loop.stop - 1, row - 1, -1) if loop is not None else range(0)
    for at in (at for part in (above, below) for at in part):
        if registers(texts[at]).writes & wanted:
            return at if has_known_operands(texts[at]) else -1
    return -1


def next_use(texts: Sequence[str], row: int, wanted: int, region: range, loop: range | None = None) -> int:
    """Return the next row after `row` that reads any of the registers `wanted`; -1: none in `region`.

    The begin of the `loop` around the row follows its end.  A register that is overwritten before it is read
    holds another value and no longer counts.
    """
    around = range(loop.start, row + 1) if loop is not None else range(0)
    for at in (*range(row + 1, region.stop), *around):
        here = registers(texts[at])
        if not has_known_operands(texts[at]):
            break
        if here.reads & wanted:
            return at
        wanted &= ~here.writes
        if not wanted:
            break
    return -1
