"""Decision tree for the memory traffic of a kernel: tests in order, each with its number and its limit.

```
32-byte reads ≥ 5 %  ─ yes → scattered
      │ no
over-fetch > 1.25    ─ yes → refetched
      │ no → minimal      (streaming or reusing: without the ideal, by hit rate alone)
```
The hit rate comes first and only refines the result: a program that reads everything once has no hits and
needs none.  Limits are rules of thumb.  A test without its counter is unknown, and the tree goes on.
"""

import operator
from collections.abc import Callable
from math import isnan

from msgspec.structs import replace

from rcv_py.analysis.counters.pmc.traffic import Range, Traffic
from rcv_py.base.record import Value

LOW_HITS = 0.05
PARTIAL = 0.05
OVER_FETCH = 1.25
YES, NO, UNKNOWN = "yes", "no", "unknown"


class DecisionStep(Value):
    """A question of the tree."""

    name: str
    question: str
    value: Range  # what was measured
    limit: float
    answer: str  # YES, NO or UNKNOWN
    means: str  # the meaning of the answer
    missing: tuple[str, ...]  # keys of the unrecorded roles that it needs


class Branch(Value):
    """A leaf of the tree."""

    name: str
    sentence: str
    remedy: str


class Decision(Value):
    """The branch taken, and all tests, including tests after it."""

    branch: Branch
    tests: tuple[DecisionStep, ...]
    deciding: str  # name of the deciding step, "" if none decided


BRANCHES = {
    one.name: one
    for one in (
        Branch(
            "scattered",
            "Reads are scattered: part of each line that memory delivers was not requested.",
            "Let neighbouring lanes read neighbouring addresses, and use wider loads.",
        ),
        Branch(
            "refetched",
            "More is read than the algorithm needs: lines are evicted before they are used again, or several"
            " XCDs fetch the same.",
            "Order workgroups so that those with common data run together on one XCD, or make tiles larger.",
        ),
        Branch(
            "minimal",
            "No more is read than the algorithm has to: there is little to gain by better use of L2.",
            "What is left is bandwidth: more bytes in flight, or fewer bytes by smaller types. 50 to 60 % of"
            " the peak is usual.",
        ),
        Branch(
            "streaming",
            "Lines are read whole and hardly ever found in L2: a stream without reuse, unless it is read"
            " more than once.",
            "--ideal-mb MB, the bytes a dispatch has to read, distinguishes streams from repeated reads.",
        ),
        Branch(
            "reusing",
            "Lines are read whole and part of the requests hit in L2.",
            "--ideal-mb MB, the bytes a dispatch has to read, shows whether the rest is too much.",
        ),
        Branch("unknown", "The recorded counters do not decide.", "Record the counters named below."),
    )
}


class _Test(Value):
    name: str
    question: str
    is_yes: Callable[[float, float], bool]
    limit: float
    keys: tuple[str, ...]  # of the roles that it needs
    yes: str  # the meaning of each answer
    no: str
    unknown: str


_APART = "recorded, but in different passes: a ratio takes both counters of the same pass"
_IS_ZERO = "recorded, and 0: this GPU does not deliver these counters, or the kernel makes no such requests"
_ZEROS = "Some GPUs deliver counters at a stable power level only: set it and record again."
_TESTS = (
    _Test(
        *("hit_rate", "L2 hit rate below 5 %", operator.lt, LOW_HITS, ("hits", "misses")),
        yes="data is streamed: usual where everything is read once; only shared data could raise it",
        no="part of the requests found their line in L2",
        unknown="hits and misses were not recorded",
    ),
    _Test(
        *("partial", "32 bytes in 5 % or more of the reads", operator.ge, PARTIAL, ("reads", "reads_32")),
        yes="lines are fetched in part: neighbouring lanes do not read neighbouring addresses",
        no="lines are fetched whole",
        unknown="sizes of reads were not recorded",
    ),
    _Test(
        *("over_fetch", "read more than 1.25 of the ideal bytes", operator.gt, OVER_FETCH),
        ("reads", "reads_32", "reads_128"),
        yes="the same bytes are read from memory more than once",
        no="no more is read than has to be",
        unknown="it takes --ideal-mb, and sizes of reads where the range spans the limit",
    ),
)


def decision(row: Traffic) -> Decision:
    """Return the branch that the numbers lead to, with all tests."""
    values = (Range(row.hit_rate, row.hit_rate), Range(row.partial, row.partial), row.over_fetch)
    tests = tuple(_step(test, value, row) for test, value in zip(_TESTS, values, strict=True))
    hit_rate, partial, over_fetch = (test.answer for test in tests)
    if partial == YES:
        return Decision(BRANCHES["scattered"], tests, "partial")
    if over_fetch != UNKNOWN:
        return Decision(BRANCHES["refetched" if over_fetch == YES else "minimal"], tests, "over_fetch")
    if partial == NO and hit_rate != UNKNOWN:
        return Decision(BRANCHES["streaming" if hit_rate == YES else "reusing"], tests, "hit_rate")
    unknown = Decision(BRANCHES["unknown"], tests, "")
    return unknown if missing(unknown) else replace(unknown, branch=replace(unknown.branch, remedy=_ZEROS))


def missing(decided: Decision) -> tuple[str, ...]:
    """Return the keys of the roles that unknown tests need, each once."""
    return tuple(dict.fromkeys(key for test in decided.tests for key in test.missing))


def _step(test: _Test, value: Range, row: Traffic) -> DecisionStep:
    answers = {test.is_yes(end, test.limit) for end in (value.low, value.high)} if value.is_known else set()
    answer = UNKNOWN if len(answers) != 1 else YES if answers == {True} else NO
    # If only the ideal is missing, no counter helps.
    is_countable = value.is_known or test.name != "over_fetch" or not row.read.is_known
    is_apart = test.name in row.apart
    lacks = [key for key in test.keys if is_apart or isnan(row.counted[key])] if answer == UNKNOWN else []
    is_zero = not is_apart and not any(row.counted[key] for key in test.keys[:2])
    unknown = _APART if is_apart else _IS_ZERO if is_zero else test.unknown
    means = {YES: test.yes, NO: test.no, UNKNOWN: unknown}[answer]
    missing = tuple(lacks) if is_countable else ()
    return DecisionStep(
        test.name, test.question, value, limit=test.limit, answer=answer, means=means, missing=missing
    )
