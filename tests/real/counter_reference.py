"""The table of counters that the reference viewer writes, from our sums."""

import numpy as np

from rcv_py.analysis.counters.counter_shares import ACTIVE, BUSY, MATRIX, CounterShares

DOUBLED = tuple(ACTIVE + name for name in ("FLAT", "LDS", "VMEM"))  # its counts of half-rate pipes


def reference_table(found: CounterShares) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headers and rows as the reference viewer writes them: peaks first, then every unit.

    Its raw columns of half-rate counters are doubled, too; halves are rounded up.
    """
    pipes, factor = found.utilized, np.array([2.0 if name in DOUBLED else 1.0 for name in found.names])
    busy = found.names.index(BUSY) if BUSY in found.names else -1
    values = [("Peak", found.peak * factor)]
    values += [
        (f"SE {se} CU {cu}", row * factor)
        for se, cu, row in zip(found.se.tolist(), found.cu.tolist(), found.total, strict=True)
    ]
    rows = []
    for name, row in values:
        shares = []
        for pipe in pipes:
            part = (
                row[found.names.index(MATRIX)] / 4
                if pipe == "MFMA"
                else row[found.names.index(ACTIVE + pipe)]
            )
            shares.append(f"{np.floor(100 * part / max(row[busy], 1) + 0.5):.0f}%")
        rows.append((name, *shares, *(f"{value:.0f}" for value in row)))
    return (*(f"{pipe} Util" for pipe in pipes), *found.names), rows
