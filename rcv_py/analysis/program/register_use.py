"""Which registers a program names: the minimum of its allocation, derived from its text alone."""

import re
from typing import NamedTuple

from rcv_py.model.architecture import Architecture
from rcv_py.model.code import CodeTable

_REGISTER = re.compile(r"\b([vas])(?:(\d{1,3})\b|\[(\d{1,3}):(\d{1,3})\])")
_COMMENT = re.compile(r"\s*(?://|;).*$")
_HALF_MASK = re.compile(r"\b(?:exec|vcc)_lo\b")
_MASK = re.compile(r"\b(?:exec|vcc)\b")
_CALLS = ("s_swappc", "s_swap_pc", "s_call")


class RegisterUse(NamedTuple):
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
    texts = {_COMMENT.sub("", code.text[row]) for row in rows if not code.is_label[row]}
    for text in texts:
        for kind, single, _, high in _REGISTER.findall(text):
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
