"""The named places of the code and what the code behind each costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.model.code import CodeTable


@dataclass(frozen=True, slots=True)
class Label:
    """A label row."""

    row: int  # of the code table
    name: str
    cost: int  # cycles of latency from here to the next label
    share: float  # of what all labels cost, 0 to 1
    codeobj: int
    address: int


def labels(code: CodeTable, cost: np.ndarray | None = None) -> tuple[Label, ...]:
    """Return the labels in program order; `cost` (int64, one a code row) is by default the latency."""
    rows = np.flatnonzero(code.is_label)
    running = np.concatenate([[0], np.cumsum(code.latency if cost is None else cost)])
    costs = np.diff(running[np.append(rows, len(code))])
    whole = max(int(costs.sum()), 1)
    names = {kernel.first: kernel.demangled for kernel in code.kernels}
    return tuple(
        Label(
            row,
            names.get(row) or code.text[row].lstrip("; ").rstrip(": "),
            worth,
            worth / whole,
            int(code.codeobj[row]),
            int(code.address[row]),
        )
        for row, worth in zip(rows.tolist(), costs.tolist(), strict=True)
    )
