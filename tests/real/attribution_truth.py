"""What attribution says about the real captures, whose truth is not known: how much is explained and named.

`python -m tests.real.attribution_truth` prints the tables; `--markdown` as they stand in
`docs/attribution.md`.
"""

import sys
from functools import cache

import numpy as np

from rcv_py.analysis.attribution.attribute import ATTRIBUTION, Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.model.trace import Trace
from tests.real import captures
from tests.support.attribution_shares import named, together
from tests.support.attribution_truth import as_text, markdown

_CERTAIN = [cause for cause in Cause if CAUSE_TEXT[cause].is_certain]


@cache
def of(name: str) -> tuple[Trace, Attribution]:
    """A real capture and its attribution."""
    trace = captures.real_trace(name)
    return trace, ATTRIBUTION.of(trace, [trace.reader.read(list(range(len(trace.waves))))])


def explained_rows() -> list[tuple[str, ...]]:
    """Rows of the table of what is explained, the head first."""
    heads = ("capture", "stalled cycles", "explained", "by certain causes", "idle explained")
    rows: list[tuple[str, ...]] = [(*heads, "stalls together", "by chance")]
    for name in captures.THREAD_TRACES:
        trace, table = of(name)
        sure = np.isin(table.cause, _CERTAIN)
        certain = int((table.stall - np.minimum(table.guessed, table.stall))[sure].sum())
        shares = (table.explained or 0.0, certain / table.total_stall, table.explained_idle or 0.0)
        pair = (f"{cycles:,}" for cycles in together(trace))
        rows.append((name, f"{table.total_stall:,}", *(f"{100 * share:.1f} %" for share in shares), *pair))
    return rows


def named_rows() -> list[tuple[str, ...]]:
    """Rows of the table of named producers, the head first."""
    rows: list[tuple[str, ...]] = [
        ("capture", "stalled cycles", "with someone to blame", "named", "of that a guess", "named, of all")
    ]
    for name in captures.THREAD_TRACES:
        found = named(of(name)[1])
        shares = (found.share, found.guessed / found.named, found.of_all)
        numbers = (f"{found.stalled:,}", f"{found.blamable:,}")
        rows.append((name, *numbers, *(f"{100 * share:.1f} %" for share in shares)))
    return rows


def main(words: list[str]) -> None:
    """Print the tables."""
    for rows in (explained_rows(), named_rows()):
        print("", markdown(rows) if "--markdown" in words else as_text(rows), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
