"""Category and kind of an instruction's token, by mnemonic, for all readers; branch targets."""

import numpy as np

from rcv_py.formats.isa.program import Category
from rcv_py.model.architecture import Architecture
from rcv_py.model.kinds import MATRIX_PREFIXES, TokenKind

# The longest matching prefix counts.  The scalar entries come from traces, not from manuals: some
# instructions that a manual calls memory or ALU instructions are issued without a unit.
PREFIXES = {
    Category.VALU: ("v_",),
    Category.SALU: ("s_", "s_setprio_inc"),
    Category.IMMED: (
        "s_waitcnt", "s_wait_", "s_nop", "s_sleep", "s_wakeup", "s_sendmsg", "s_setprio", "s_set_inst",
        "s_inst_prefetch", "s_setkill", "s_version", "s_trap", "s_barrier", "s_endpgm", "s_icache_inv",
        "s_dcache_inv", "s_incperf", "s_decperf", "s_sethalt", "s_setvskip", "s_ttrace", "s_clause",
        "s_monitor",
    ),
    Category.SKIP: ("s_delay", "s_wait_alu", "s_wait_dep", "s_set_vgpr", "buffer_nop"),
    Category.SMEM: (
        "s_load", "s_buffer", "s_store", "s_atomic", "s_atc", "s_scratch", "s_dcache", "s_memrealtime",
        "s_prefetch",
    ),
    Category.FLAT: ("flat_",),
    Category.VMEM: ("global_", "buffer_", "tbuffer_", "scratch_", "image_", "cluster_", "tensor_", "dds_"),
    Category.LDS: ("ds_", "lds_"),
    Category.BVH: ("image_bvh", "ds_bvh_stack_push"),
}  # fmt: skip
SORTED_PREFIXES = sorted(
    ((prefix, category) for category, prefixes in PREFIXES.items() for prefix in prefixes),
    key=lambda row: -len(row[0]),
)
# Kinds that decoders tell apart within a category.
MESSAGES = ("s_sendmsg", "s_ttrace", "s_endpgm")
SEGMENTS = ("global_", "scratch_")  # FLAT for gfx9


def mnemonic(text: str) -> str:
    """The first word of an instruction's text."""
    return text.split(maxsplit=1)[0] if text else ""


def category_of(word: str) -> Category:
    """Return the category of instructions with this mnemonic."""
    if "branch" in word and word.startswith("s_"):
        return Category.BRANCH
    return next(
        (category for prefix, category in SORTED_PREFIXES if word.startswith(prefix)), Category.UNKNOWN
    )


def kind_of(word: str, architecture: Architecture) -> TokenKind:
    """Return the token kind of instructions with this mnemonic: NONE if unknown, JUMP for any branch."""
    is_later = architecture.layout == "navi"
    if word.startswith(MATRIX_PREFIXES):
        return TokenKind.MATRIX
    if word.startswith(MESSAGES) or (is_later and word.startswith("s_barrier") and "_wait" not in word):
        return TokenKind.MSG
    if word.startswith("s_trap"):
        return TokenKind.TRAP
    if not is_later and word.startswith(SEGMENTS):
        return TokenKind.FLAT
    category = category_of(word)
    return TokenKind.IMMED if category is Category.SKIP else TokenKind(category)


def categories(texts: tuple[str, ...]) -> np.ndarray:
    """Return the Category of each text as uint8 [n]."""
    words = [mnemonic(text)[:64] for text in texts]
    known = {word: category_of(word) for word in dict.fromkeys(words)}
    return np.array([known[word] for word in words], dtype=np.uint8)


def written_targets(address: np.ndarray, texts: tuple[str, ...]) -> np.ndarray:
    """Return branch targets from texts alone, int64 [n], -1 for rows without a branch.

    AMD's assemblers write the distance in words of 4 bytes from the next one, as an unsigned 16-bit number.
    """
    target = np.full(len(texts), -1, dtype=np.int64)
    for row, text in enumerate(texts):
        if "branch" not in text:
            continue
        words = text.split()
        distance = words[-1] if len(words) > 1 else ""
        if "branch" in words[0] and distance.lstrip("-").isascii() and distance.lstrip("-").isdigit():
            places = int(distance[-6:]) if len(distance) <= 6 else 0
            target[row] = int(address[row]) + 4 + 4 * ((places + 0x8000) % 0x10000 - 0x8000)
    target[target < 0] = -1
    return target
