"""Which counters tell what about L2 and memory, and how to record them.

Names differ between generations: `TCC` is the L2 of gfx9, `GL2C` that of gfx10 and later; `EA` is the way
from L2 to memory.  A read of memory has 32, 64 or 128 bytes.  gfx942 counts those of 128 as `TCC_BUBBLE`,
which stays 0 on gfx950; there they have a counter of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.model.pmc import PmcTable


@dataclass(frozen=True, slots=True)
class Role:
    """What is counted, and the counters that do; the first that was recorded is taken."""

    key: str
    names: tuple[str, ...]
    meaning: str


ROLES = (
    Role("hits", ("TCC_HIT", "GL2C_HIT"), "requests that found their line in L2"),
    Role("misses", ("TCC_MISS", "GL2C_MISS"), "requests that did not"),
    Role("requests", ("TCC_REQ", "GL2C_REQ"), "requests of all kinds to L2"),
    Role("l1_reads", ("TCP_TCC_READ_REQ",), "reads that L1 asked L2 for"),
    Role("reads", ("TCC_EA0_RDREQ", "TCC_EA_RDREQ", "GL2C_EA_RDREQ"), "reads that L2 asked memory for"),
    Role("reads_32", ("TCC_EA0_RDREQ_32B", "TCC_EA_RDREQ_32B", "GL2C_EA_RDREQ_32B"), "of 32 bytes"),
    Role("reads_64", ("TCC_EA0_RDREQ_64B", "GL2C_EA_RDREQ_64B"), "of 64 bytes"),
    Role("reads_96", ("GL2C_EA_RDREQ_96B",), "of 96 bytes"),
    Role("reads_128", ("TCC_EA0_RDREQ_128B", "GL2C_EA_RDREQ_128B"), "of 128 bytes"),
    Role("bubbles", ("TCC_BUBBLE",), "reads of 128 bytes, on gfx942"),
    Role(
        "dram_reads",
        ("TCC_EA0_RDREQ_DRAM", "TCC_EA_RDREQ_DRAM"),
        "reads that went to the memory of the device",
    ),
    Role("writes", ("TCC_EA0_WRREQ", "TCC_EA_WRREQ", "GL2C_EA_WRREQ"), "writes from L2 to memory"),
    Role("writes_64", ("TCC_EA0_WRREQ_64B", "TCC_EA_WRREQ_64B", "GL2C_EA_WRREQ_64B"), "of 64 bytes"),
)
_BY_KEY = {role.key: role for role in ROLES}
PASSES = (
    ("hits", "misses", "requests", "l1_reads"),
    ("reads", "reads_32", "reads_64", "reads_128"),
    ("writes", "writes_64", "dram_reads"),
)


def role_values(table: PmcTable) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Return, by the key of a role, the number of each dispatch; and the roles that were recorded twice.

    Columns are float64 [dispatches], NaN where nothing was recorded.  Rows of one file add up; files are
    passes over the same dispatches, so their mean counts.
    """
    values, repeated = {}, []
    for role in ROLES:
        counter = _recorded(table, role)
        column = np.full(len(table.dispatches), np.nan)
        if counter >= 0:
            column, is_repeated = _by_dispatch(table, table.counter == counter)
            repeated += [table.counters[counter]] if is_repeated else []
        values[role.key] = column
    return values, tuple(repeated)


def counter_of(key: str, family: str = "TCC") -> str:
    """Return the counter to record for a role in a family of names; "" if the family has none."""
    names = _BY_KEY[key].names
    return next((f"{name}_sum" for name in names if name.startswith((family, "TCP"))), "")


def pmc_lines(keys: Iterable[str], family: str = "TCC") -> tuple[str, ...]:
    """Return the commands that record what is missing, each a pass of at most four counters of a block."""
    wanted = set(keys)
    lines = []
    for group in PASSES:
        if wanted & set(group):
            names = [name for name in (counter_of(key, family) for key in group) if name]
            lines.append(f"rocprofv3 --pmc {' '.join(names)} -f csv -d OUT -- APPLICATION")
    return tuple(lines)


def family_of(table: PmcTable) -> str:
    """Return `GL2C` if only such counters were recorded, else `TCC`."""
    starts = {name.partition("_")[0] for name in table.counters}
    return "GL2C" if "GL2C" in starts and "TCC" not in starts else "TCC"


def _recorded(table: PmcTable, role: Role) -> int:
    """The counter to take: a sum goes before the same counter without the word."""
    known = {name: at for at, name in enumerate(table.counters)}
    names = (name for base in role.names for name in (f"{base}_sum", base))
    return next((known[name] for name in names if name in known), -1)


def _by_dispatch(table: PmcTable, rows: np.ndarray) -> tuple[np.ndarray, bool]:
    files, n = len(table.files), len(table.dispatches)
    # Only (dispatch, file) pairs that occur: many files of many dispatches would not fit otherwise.
    pair = table.dispatch[rows].astype(np.int64) * files + table.file[rows]
    pairs, place = np.unique(pair, return_inverse=True)
    sums = np.bincount(place.reshape(-1), table.value[rows], len(pairs))
    total = np.bincount(pairs // files, sums, n)
    seen = np.bincount(pairs // files, minlength=n)
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan), bool((seen > 1).any())
