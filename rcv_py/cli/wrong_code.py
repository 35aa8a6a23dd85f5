"""A warning in front of tables of instructions whose texts belong to other code."""

from __future__ import annotations

import sys

import numpy as np

from rcv_py.analysis.program.code_match import CONSEQUENCE, REMEDY, CodeMatch, code_match
from rcv_py.model.trace import Trace

WAVES = 4  # that are looked at: a wave has hundreds of executions
LARGEST = 4 << 20  # bytes of a wave file


NO_CODE = (
    "The instructions of the capture could not be read: costs of instructions, loops, causes, waits and the "
    "work of the matrix unit are not known, and zeros of them mean nothing."
)


def warn(trace: Trace) -> str:
    """Say on stderr that instruction texts are missing or of other code, and return it; "" if they fit."""
    if len(trace.waves) and not len(trace.code):
        print(f"rcv: {NO_CODE}", file=sys.stderr)
        return NO_CODE
    found = looked_at(trace)
    if not found.is_wrong:
        return ""
    print(f"rcv: {found.sentence} {found.examples_text(trace.code)}", file=sys.stderr)
    print(f"     {CONSEQUENCE} {REMEDY}", file=sys.stderr)
    return found.sentence


def looked_at(trace: Trace) -> CodeMatch:
    """Return how well the texts fit the largest waves whose files are quickly read."""
    size = np.where(trace.waves.size <= LARGEST, trace.waves.size, 0)
    rows = np.argsort(-size, kind="stable")[:WAVES]
    rows = rows[size[rows] > 0]
    return code_match(trace, [trace.reader.read(np.sort(rows).tolist())] if len(rows) else ())
