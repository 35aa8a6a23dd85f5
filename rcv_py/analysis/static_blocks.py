"""Basic blocks by the text of the code alone: no wave has to be read."""

from __future__ import annotations

import re

import numpy as np

from rcv_py.model.code import CodeTable

_BRANCH = re.compile(r"s_(?:cbranch_\w+|branch|call_b64)\b(?:.*[ ,])?\s*(-?\d+|0x[0-9a-f]+)$")
_ENDS = ("s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc", "s_endpgm")


def static_blocks(code: CodeTable) -> np.ndarray:
    """Return the row at which the basic block of each code row begins, int32.

    A block begins at a label, behind a branch, and where a branch with a 16-bit offset leads to: the address
    behind the branch plus four bytes an offset.  A label begins the block of the line behind it.
    """
    begins = code.is_label.copy()
    begins[:1] = True
    branches = [row for row, text in enumerate(code.text) if text.startswith(_ENDS)]
    behind = np.array(branches, dtype=np.int64) + 1
    begins[behind[behind < len(code)]] = True
    begins[_targets(code, branches)] = True
    return np.maximum.accumulate(np.where(begins, np.arange(len(code)), 0)).astype(np.int32)


def _targets(code: CodeTable, branches: list[int]) -> np.ndarray:
    """Rows that direct branches lead to, as far as the code table has them."""
    found = [(row, match[1]) for row in branches if (match := _BRANCH.match(code.text[row]))]
    plain = np.flatnonzero(~code.is_label)
    if not found or not len(plain):
        return np.empty(0, dtype=np.int64)
    rows = np.array([row for row, _ in found], dtype=np.int64)
    offset = np.array([int(text, 0) & 0xFFFF for _, text in found], dtype=np.int64)
    offset -= (offset >> 15) << 16
    wanted = code.address[rows].astype(np.int64) + 4 + 4 * offset
    order = plain[np.lexsort((code.address[plain].astype(np.int64), code.codeobj[plain]))]
    places = _paired(code.codeobj[order], code.address[order].astype(np.int64))
    at = np.searchsorted(places, _paired(code.codeobj[rows], wanted))
    at = np.minimum(at, len(order) - 1)
    hit = places[at] == _paired(code.codeobj[rows], wanted)
    return order[at[hit]]


def _paired(codeobj: np.ndarray, address: np.ndarray) -> np.ndarray:
    """Code object and address as one sortable column."""
    pairs = np.empty(len(address), dtype=[("codeobj", np.int64), ("address", np.int64)])
    pairs["codeobj"], pairs["address"] = codeobj, address
    return pairs
