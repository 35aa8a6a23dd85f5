"""Tables of counters as rocprofv3 --pmc writes them, from numbers."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

Dispatch = tuple[str, int, Mapping[str, float]]  # kernel, id, counters
# Two kernels, in a table of L2 and one of memory; `other_kernel` reads half lines.
L2: tuple[Dispatch, ...] = (
    ("kern_a", 10, {"TCC_HIT_sum": 17_000, "TCC_MISS_sum": 983_000, "TCC_REQ_sum": 1_000_000}),
    ("kern_a", 11, {"TCC_HIT_sum": 18_000, "TCC_MISS_sum": 982_000, "TCC_REQ_sum": 1_000_000}),
    ("other_kernel", 12, {"TCC_HIT_sum": 500_000, "TCC_MISS_sum": 500_000}),
)
_ALL = {"TCC_EA0_RDREQ_sum": 70_000_000, "TCC_EA0_RDREQ_DRAM_sum": 69_000_000}
MEMORY: tuple[Dispatch, ...] = (
    ("kern_a", 10, {**_ALL, "TCC_EA0_RDREQ_32B_sum": 700_000, "TCP_TCC_READ_REQ_sum": 1_100_000}),
    ("kern_a", 11, {**_ALL, "TCC_EA0_RDREQ_32B_sum": 0}),
    ("other_kernel", 12, {"TCC_EA0_RDREQ_sum": 1_000, "TCC_EA0_RDREQ_32B_sum": 900}),
)
HEAD = ("Correlation_Id", "Dispatch_Id", "Agent_Id", "Kernel_Name", "Counter_Name", "Counter_Value")


def write_long(path: Path, dispatches: Sequence[Dispatch], length: int = 0) -> Path:
    """A row a dispatch and counter; `length` in nanoseconds adds times."""
    times = ("Start_Timestamp", "End_Timestamp") if length else ()
    rows = [
        (1, number, "Agent 2", kernel, name, value, *((5_000, 5_000 + length) if length else ()))
        for kernel, number, counters in dispatches
        for name, value in counters.items()
    ]
    return _write(path, (*HEAD, *times), rows)


def write_tables(folder: Path) -> tuple[Path, Path]:
    """The table of L2 and that of memory."""
    return write_long(folder / "l2.csv", L2), write_long(folder / "ea.csv", MEMORY)


def write_wide(path: Path, dispatches: Sequence[Dispatch]) -> Path:
    """A row a dispatch, a column a counter."""
    names = list(dict.fromkeys(name for _, _, counters in dispatches for name in counters))
    rows = [
        (number, 0, kernel, *(counters.get(name, "") for name in names))
        for kernel, number, counters in dispatches
    ]
    return _write(path, ("Dispatch_ID", "GPU_ID", "Kernel_Name", *names), rows)


def _write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path
