"""PC samples as they stand in code.json, read with json alone."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# In the order of the last column; "none" is that of a sample whose instruction was issued.
REASONS = (
    *("none", "instruction fetch", "ALU dependency", "wait count", "internal instruction", "barrier"),
    *("lost arbitration", "pipe stalled", "other wait", "sleeping"),
)


@dataclass(frozen=True)
class Sampled:
    """The samples of an instruction."""

    text: str
    issued: int
    stalled: int
    reasons: Counter[str]  # of those that stalled


def sampled(folder: Path) -> list[Sampled]:
    """Return the rows of the code."""
    rows = json.loads((folder / "code.json").read_text())["code"]
    return [
        Sampled(row[0], row[10], row[11], +Counter(dict(zip(REASONS, row[12], strict=False)))) for row in rows
    ]


def reasons(folder: Path) -> Counter[str]:
    """Return the samples by reason, of all instructions."""
    return sum((row.reasons for row in sampled(folder)), Counter())
