"""Which registers an instruction writes and reads, told from its disassembly.

Sets of registers are integers with a bit a register: vector registers, accumulators, scalar registers, then
the special ones.  What is not printed is known for the usual cases only (scc, vcc of carries, exec, m0).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rcv_py.base.numbers import number

V, A, S = 0, 1024, 1280  # first bit of each file
SPECIAL = {"vcc": 1408, "exec": 1409, "scc": 1410, "m0": 1411}
BITS = 1472  # a multiple of 64
_FIRST = {"v": V, "a": A, "s": S}
_SIZE = {"v": 1024, "a": 256, "s": 128}

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
_USES_SCC = re.compile(r"s_(cbranch_scc|addc|subb|cselect|cmov)")
_NAMED = {"s_cbranch_vcc": "vcc", "s_cbranch_exec": "exec"}
_M0 = re.compile(r"\S.*\blds\b|s_movrel|v_movrel|s_sendmsg|ds_gws")


class Registers(NamedTuple):
    """Sets of registers as integers, bit n for register n."""

    writes: int
    reads: int


@lru_cache(maxsize=1 << 15)
def registers(text: str) -> Registers:
    """Return what one instruction writes and reads; nothing for what is no instruction."""
    name, _, rest = text.strip().partition(" ")
    operands = [_bits(part) for part in rest.split(",")] if rest else []
    count = _destinations(name, text)
    writes = reads = 0
    for at, bits in enumerate(operands):
        if at < count:
            writes |= bits
        else:
            reads |= bits
    if count and (_READS_FIRST.match(name) or _BOTH.match(name) or _ATOMIC.match(name)):
        reads |= writes
    return _implied(name, text, writes, reads)


def words(sets: list[int]) -> np.ndarray:
    """Return sets as rows of uint64 words, [sets, BITS // 64]."""
    data = b"".join(value.to_bytes(BITS // 8, "little") for value in sets)
    return np.frombuffer(data, dtype="<u8").reshape(len(sets), BITS // 64)


def _bits(operand: str) -> int:
    found = 0
    for file, low, high, single, special in _REGISTER.findall(operand):
        if special:
            found |= 1 << SPECIAL[special]
            continue
        first, last = (number(single), number(single)) if single else (number(low), number(high))
        last = min(last, _SIZE[file] - 1)
        if first <= last:
            found |= ((1 << (last - first + 1)) - 1) << (_FIRST[file] + first)
    return found


def _destinations(name: str, text: str) -> int:
    """How many of the first operands are written."""
    if _NO_DESTINATION.match(name) or _TO_LDS.search(text):
        return 0
    if _ATOMIC.match(name) and not name.startswith("s_"):
        return int(bool(_RETURNS.search(text)) or "_rtn" in name)
    return 2 if _TWO.match(name) or _BOTH.match(name) else 1


def _implied(name: str, text: str, writes: int, reads: int) -> Registers:
    if _SETS_SCC.match(name):
        writes |= 1 << SPECIAL["scc"]
    if _USES_SCC.match(name):
        reads |= 1 << SPECIAL["scc"]
    if "saveexec" in name or name.startswith("v_cmpx"):
        writes |= 1 << SPECIAL["exec"]
    for prefix, special in _NAMED.items():
        if name.startswith(prefix):
            reads |= 1 << SPECIAL[special]
    if name.startswith("v_div_fmas"):
        reads |= 1 << SPECIAL["vcc"]
    if _M0.match(text):
        reads |= 1 << SPECIAL["m0"]
    return Registers(writes, reads)
