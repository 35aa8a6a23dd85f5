"""Record again what every command prints on every small real capture.

Usage: record.py [--check].  These files prove no number right, they only show what changed: see
tests/golden/record.py, which does the same for samples.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.golden.record import expected, record
from tests.real.captures import SHARED, TRACES, trace_path

CLI = Path(__file__).resolve().parent / "cli"
NAMES = tuple(name for name in TRACES if name != "moe_reduce")  # which takes as long as all others


def of_capture(name: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a capture and what they should hold."""
    return expected(trace_path(name), CLI / name, SHARED / "traces")


if __name__ == "__main__":
    sys.exit(record((pair for name in NAMES for pair in of_capture(name)), CLI))
