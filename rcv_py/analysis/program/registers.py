"""Which registers an instruction reads and writes, where another one does, and how many a program names.

Sets of registers are integers with one bit per register: vector registers, accumulators, scalar registers,
then the special ones.  What is read and written follows LLVM's tables of operands; left out are the mode
register, m0 of LDS instructions before gfx10, and exec unless it is printed or written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.text import number
from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable, has_known_operands
from rcv_py.model.operands import written_operands

V, A, S = 0, 1024, 1280  # first bit of each file
SPECIAL = {"vcc": 1408, "exec": 1409, "scc": 1410, "m0": 1411}
BITS = 1472  # a multiple of 64
_FIRST = {"v": V, "a": A, "s": S}
_SIZE = {"v": 1024, "a": 256, "s": 128}

_COMMENT = re.compile(r"//|;")
_REGISTER = re.compile(r"\b([vas])(?:\[(\d+):(\d+)\]|(\d+)\b)|\b(vcc|exec|m0)(?:_lo|_hi)?\b")
_BY_OPERANDS = re.compile(
    r"\blds\b|lds_direct\b|row_en|_atomic|v_cmpx|v_dual_cndmask"
)  # the mnemonic alone does not say it
_BOTH = re.compile(r"v_(swap|permlane\d+_swap)")
# The first operand is also read: sums, lanes or bytes that keep their value, data of an atomic operation.
_READS_FIRST = re.compile(
    r"v_(dual_)?(pk_)?(fmac|mac_|dot\dc|dot2acc)|v_(writelane|movreld|smfmac|swmmac|permlanex?16)"
    r"|s_(fmac|cmov|addk|mulk|bitset)|(buffer|tbuffer|image|s|s_buffer)_atomic|v_(?!cmp)\w+_dpp"
    r"|v_(fma|mad)_mix(lo|hi)|v_interp_p2_f32_e32|(buffer|global|flat|scratch|ds)_(load|read)_(?!\w*format)\w*d16"
    r"|v_cvt_(pk_(fp8|bf8)_f32|sr_(fp8|bf8|f16|bf16)_)|v_cvt_scalef32_((pk|sr|f16)_(fp8|bf8)|pk_fp4)"
)


def _special(names: str) -> int:
    return sum(1 << SPECIAL[name] for name in names.split())


_UNPRINTED = tuple(  # mnemonics, and the special registers that they write and read without showing them
    (re.compile(text), _special(writes), _special(reads))
    for text, writes, reads in (
        (
            r"s_(?!\w*(_f16|_f32|_f64|_nc_|_pc_|vector))"
            r"(add|sub|and|or|xor|nand|nor|xnor|andn|orn|not|lsh|ash|bfe|abs|min|max)",
            "scc",
            "",
        ),
        (r"s_(cmp|bitcmp|bcnt|quadmask|wqm|barrier_signal_isfirst|barrier_leave|alloc_vgpr)", "scc", ""),
        (r"s_(cbranch_scc|addc|subb|add_co_ci|sub_co_ci|cselect|cmov)", "", "scc"),
        (r"s_\w+_(save|wr)exec", "exec", "exec"),
        (r"v_cmpx", "exec", ""),
        (r"s_cbranch_exec", "", "exec"),
        (r"s_cbranch_vcc|v_div_fmas|v_dual_cndmask_b32 [^,]*,[^,]*,[^,]*$", "", "vcc"),
        (
            r"\S.*\b(src_)?lds(_direct)?\b|\S*_load_lds|[sv]_movrel|v_(interp|swaprel)"
            r"|s_(sendmsg(?!_rtn)|barrier_init|ttracedata$)|exp.*\brow_en",
            "",
            "m0",
        ),
        (r"l?ds_(direct|param)_load|cluster_|\w+_(load|store)_block", "", "m0"),
        (
            r"ds_(gws|append|consume|ordered_count|nop|bvh_stack|bpermute_fi|(add|sub)_gs_reg|\w+_(src2|addtid)_)",
            "",
            "m0",
        ),
        (r"s_set_gpr_idx_(on|idx|mode)", "m0", "m0"),
    )
)


class Registers(NamedTuple):
    """Sets of registers as integers, bit n for register n."""

    writes: int
    reads: int


UNREADABLE = Registers((1 << BITS) - 1, (1 << BITS) - 1)


@lru_cache(maxsize=1 << 15)
def registers(text: str) -> Registers:
    """Return what one instruction writes and reads; empty sets if the text is not an instruction.

    An instruction whose operands are unknown may write and read any register: both sets hold all.
    """
    if not has_known_operands(text):
        return UNREADABLE
    writes = reads = 0
    for half in _COMMENT.split(text, maxsplit=1)[0].split("::"):
        instruction = half.strip()
        form, rest = _form(instruction), instruction.partition(" ")[2]
        operands = [_set(part.strip()) for part in rest.split(",")] if rest else []
        writes = reduce(or_, operands[: form.written], writes | form.writes)
        reads = reduce(or_, operands[: form.kept] + operands[form.written :], reads | form.reads)
    return Registers(writes, reads)


def bits(found: int) -> list[int]:
    """Return the numbers of the bits that are set, ascending: the members of a set."""
    numbers = []
    while found:
        low = found & -found
        numbers.append(low.bit_length() - 1)
        found ^= low
    return numbers


def words(sets: list[int]) -> np.ndarray:
    """Return sets as rows of uint64 words, [sets, BITS // 64]."""
    data = b"".join(value.to_bytes(BITS // 8, "little") for value in sets)
    return np.frombuffer(data, dtype="<u8").reshape(len(sets), BITS // 64)


@lru_cache(maxsize=1 << 13)  # a program of 2,000 lines has a quarter as many different operands
def _set(operand: str) -> int:
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


class _Form(Value):
    """How an instruction, or a half of a dual instruction, uses its operands."""

    written: int  # number of leading operands that are written
    kept: int  # number of leading operands whose old value is read too
    writes: int  # special registers that are not printed
    reads: int


def _form(instruction: str) -> _Form:
    return _form_of(instruction if _BY_OPERANDS.search(instruction) else instruction.partition(" ")[0])


@lru_cache(maxsize=1 << 12)
def _form_of(instruction: str) -> _Form:
    written = 2 if _BOTH.match(instruction) else written_operands(instruction)
    kept = written if _BOTH.match(instruction) else int(bool(written and _READS_FIRST.match(instruction)))
    unprinted = [(writes, reads) for fits, writes, reads in _UNPRINTED if fits.match(instruction)]
    return _Form(
        written, kept, reduce(or_, (w for w, _ in unprinted), 0), reduce(or_, (r for _, r in unprinted), 0)
    )


class Operand(Value):
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
    found: list[Operand] = []
    at = 0
    for half in _COMMENT.split(text, maxsplit=1)[0].split("::"):
        instruction = half.strip()
        start = at + len(half) - len(half.lstrip())
        form, first = _form(instruction), start + len(instruction.partition(" ")[0])
        if form.writes or form.reads:
            found.append(Operand(start, first, form.writes, form.reads, is_printed=False))
        for match in _REGISTER.finditer(half, first - at):
            named, place = _set(match[0]), half.count(",", 0, match.start())
            writes, reads = place < form.written, place < form.kept or place >= form.written
            begin, end = at + match.start(), at + match.end()
            found.append(Operand(begin, end, named * writes, named * reads))
        at += len(half) + len("::")
    return tuple(found)


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


_NAMED = re.compile(r"\b([vas])(?:(\d{1,3})\b|\[(\d{1,3}):(\d{1,3})\])")
_COMMENTS = re.compile(r"\s*(?://|;).*$")
_HALF_MASK = re.compile(r"\b(?:exec|vcc)_lo\b")
_MASK = re.compile(r"\b(?:exec|vcc)\b")
_CALLS = ("s_swappc", "s_swap_pc", "s_call")


class RegisterUse(Value):
    """How many registers of each kind the text needs: the highest number it names plus one."""

    vector: int
    accumulation: int
    scalar: int
    is_wave32: bool  # lane masks have 32 bits
    has_calls: bool = False  # functions may use more registers than the text names


def register_use(code: CodeTable, first: int = 0, stop: int | None = None) -> RegisterUse:
    """Return the registers that the code lines from `first` to `stop` (None: the last) name."""
    most = {"v": -1, "a": -1, "s": -1}
    rows = range(first, len(code) if stop is None else stop)
    texts = {_COMMENTS.sub("", code.text[row]) for row in rows if not code.is_label[row]}
    for text in texts:
        for kind, single, _, high in _NAMED.findall(text):
            most[kind] = max(most[kind], int(single or high))
    names_half = any(_HALF_MASK.search(text) for text in texts)
    is_wave32 = names_half or not any(_MASK.search(text) for text in texts)
    has_calls = any(text.startswith(_CALLS) for text in texts)
    return RegisterUse(most["v"] + 1, most["a"] + 1, most["s"] + 1, is_wave32, has_calls)


def wave_lanes(code: CodeTable, architecture: Architecture) -> int:
    """Return the lanes of a wave by the code object, else 64, or 32 on RDNA without a mask of 64 bits."""
    size, kernel = architecture.wave_size, code.main_kernel
    if kernel is not None and kernel.lanes in (32, 64):
        return kernel.lanes
    return size if size == 64 or register_use(code).is_wave32 else 64
