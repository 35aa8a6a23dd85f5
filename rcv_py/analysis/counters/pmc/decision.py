"""Which of a few stories the traffic of a kernel fits: tests in order, each with its number and its limit.

```
32-byte reads ≥ 5 %  ─ yes → scattered
      │ no
over-fetch > 1.25    ─ yes → refetched
      │ no → minimal      (streaming or reusing: without the ideal, by hit rate alone)
```
The hit rate comes first and only colours the answer: a program that reads everything once has none, and
needs none.  Limits are rules of thumb.  A test whose counter is missing is unknown and the tree goes on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rcv_py.analysis.counters.pmc.traffic import Range, Traffic

LOW_HITS = 0.05
PARTIAL = 0.05
OVER_FETCH = 1.25
YES, NO, UNKNOWN = "yes", "no", "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """A question of the tree."""

    name: str
    question: str
    value: Range | None  # what was measured
    limit: float
    answer: str  # YES, NO or UNKNOWN
    means: str  # what the answer says
    missing: tuple[str, ...]  # keys of the roles that would answer it


@dataclass(frozen=True, slots=True)
class Branch:
    """Where the tree ends."""

    name: str
    sentence: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The branch taken, and all tests, also those behind it."""

    branch: Branch
    tests: tuple[Step, ...]
    deciding: str  # name of the step that ended it, "" if none could


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


def decision(found: Traffic) -> Decision:
    """Return the branch that the numbers lead to."""
    tests = tuple(_tests(found))
    hit_rate, partial, over_fetch = (test.answer for test in tests)
    if partial == YES:
        return Decision(BRANCHES["scattered"], tests, "partial")
    if over_fetch == YES:
        return Decision(BRANCHES["refetched"], tests, "over_fetch")
    if over_fetch == NO:
        return Decision(BRANCHES["minimal"], tests, "over_fetch")
    if partial == NO and hit_rate != UNKNOWN:
        return Decision(BRANCHES["streaming" if hit_rate == YES else "reusing"], tests, "hit_rate")
    return Decision(BRANCHES["unknown"], tests, "")


def missing(decided: Decision) -> tuple[str, ...]:
    """Return the keys of the roles that would answer what is unknown, each once."""
    return tuple(dict.fromkeys(key for test in decided.tests for key in test.missing))


def _tests(found: Traffic) -> Iterator[Step]:
    """Yield the tests, each with what it means if the answer is yes, no or unknown."""
    yield _step(
        ("hit_rate", "L2 hit rate below 5 %", LOW_HITS, operator.lt),
        _exactly(found.hit_rate),
        {
            YES: "data is streamed: usual where everything is read once; only shared data could raise it",
            NO: "part of the requests found their line in L2",
            UNKNOWN: "hits and misses were not recorded",
        },
        [key for key in ("hits", "misses") if found.counted[key] is None],
    )
    yield _step(
        ("partial", "32 bytes in 5 % or more of the reads", PARTIAL, operator.ge),
        _exactly(found.partial),
        {
            YES: "lines are fetched in part: neighbouring lanes do not read neighbouring addresses",
            NO: "lines are fetched whole",
            UNKNOWN: "sizes of reads were not recorded",
        },
        [key for key in ("reads", "reads_32") if found.counted[key] is None],
    )
    # Where only the ideal is missing, counters would not answer.
    is_countable = found.over_fetch is not None or found.read is None
    yield _step(
        ("over_fetch", "read more than 1.25 of the ideal bytes", OVER_FETCH, operator.gt),
        found.over_fetch,
        {
            YES: "the same bytes are read from memory more than once",
            NO: "no more is read than has to be",
            UNKNOWN: "it takes --ideal-mb, and sizes of reads where the range spans the limit",
        },
        [key for key in ("reads", "reads_32", "reads_128") if is_countable and found.counted[key] is None],
    )


def _step(
    test: tuple[str, str, float, Callable[[float, float], bool]],
    value: Range | None,
    means: dict[str, str],
    lacks: list[str],
) -> Step:
    name, question, limit, is_yes = test
    answers = set() if value is None else {is_yes(end, limit) for end in (value.least, value.most)}
    answer = UNKNOWN if len(answers) != 1 else YES if answers == {True} else NO
    return Step(
        name, question, value, limit, answer, means[answer], tuple(lacks) if answer == UNKNOWN else ()
    )


def _exactly(value: float | None) -> Range | None:
    return None if value is None else Range(value, value)
