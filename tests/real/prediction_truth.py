"""How exactly real captures come out again when they are played unchanged.

`python -m tests.real.prediction_truth` prints the table; `--write` writes it into `docs/prediction.md`
between its marks.
"""

import sys

from tests.real import captures
from tests.support.attribution_truth import markdown
from tests.support.prediction_truth import identity, show


def identity_rows() -> list[tuple[str, ...]]:
    """Rows of the table of real captures, the head first."""
    rows: list[tuple[str, ...]] = [("capture", "instructions", "largest difference")]
    for name in captures.THREAD_TRACES:
        trace = captures.real_trace(name)
        rows.append((name, f"{int(trace.code.hits.sum()):,}", f"{100 * identity(trace):.3f} %"))
    return rows


if __name__ == "__main__":
    show(markdown(identity_rows()), "table of real captures", "--write" in sys.argv[1:])
