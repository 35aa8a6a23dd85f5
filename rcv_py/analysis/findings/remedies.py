"""Remedies of findings: rows with preconditions that are tested against program and launch.

The rows are in `resources/tables/remedies.toml`.  A finding gets the first of its rows whose preconditions
all hold; if none does, the finding says so.  `docs/findings.md` shows the same table, which a test compares.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from rcv_py.analysis.findings.finding import Finding, RemedyAdvice
from rcv_py.analysis.findings.situation import PRECONDITIONS, FindingContext
from rcv_py.analysis.findings.trials import trial_of
from rcv_py.base.tables import table
from rcv_py.base.text import Message, join_texts


class Remedy(NamedTuple):
    """What to do about a finding."""

    id: str
    effort: str  # low, medium or high
    needs: list[str]  # names of preconditions, all of them
    text: str  # sentences; words in braces are filled in


@cache
def remedies() -> Mapping[str, tuple[Remedy, ...]]:
    """Return the remedies of each finding, by its name, in the order in which they are tried."""
    tables = dict(table("remedies"))
    shared = tables.pop("shared")
    return {
        name: tuple(Remedy(id, **(own.get(id) or shared[id])) for id in own.get("order", own))
        for name, own in tables.items()
    }


_WORDS = re.compile(r"\{(\w+)\}")
NONE_FITS = "No remedy that is known for it can be applied here: {reasons}."


def remedy_fields(name: str, case: FindingContext) -> dict[str, Any]:
    """Return the first remedy of a finding whose preconditions all hold, or why none fits.

    The result is fields of a finding, including the trial to replay and the remedies that fit as well, up to
    the first that cannot be replayed; id and effort are left out if no remedy fits.
    """
    failed: dict[str, None] = {}  # the first precondition of each remedy that does not hold, in that order
    fitting: list[RemedyAdvice] = []
    for remedy in remedies().get(name, ()):
        lacking = next((need for need in remedy.needs if not PRECONDITIONS[need].holds(case)), None)
        if lacking is None:
            words = {word: case[word] for word in _WORDS.findall(remedy.text)}
            text, trial = Message(remedy.text, **words), trial_of(name, remedy.id, case)
            fitting.append(RemedyAdvice(text, remedy.id, remedy.effort, trial))
            if trial is None or trial.is_limit:  # no replay will say that it slows the kernel
                break
        else:
            failed[lacking] = None
    if fitting:
        first, *others = fitting
        advice = {"remedy": first.text, "remedy_id": first.id, "effort": first.effort, "trial": first.trial}
        return {**advice, "others": tuple(others)}
    reasons = join_texts(
        "; ", (Message("that {0} is not so", PRECONDITIONS[need].text) for need in list(failed)[:3])
    )
    limit = trial_of(name, "", case)
    known = {} if limit is None else {"trial": limit}
    return {"remedy": Message(NONE_FITS, reasons=reasons or "none is known"), **known}


def finding_of(case: FindingContext, name: str, **words: Any) -> Finding:
    """Return a finding whose cycles are the bound of a situation, with the remedy that fits.

    `words` are all other fields; they may also replace the numbers or the remedy.
    """
    claimed, remedy = case.claimed, {} if "remedy" in words else remedy_fields(name, case)
    numbers = {**claimed.bound._asdict(), "attributed": int(claimed.attributed.sum()), "is_upper_bound": True}
    hot = case.inputs.hot_lines(claimed.rows)
    return Finding(name=name, **{**numbers, **remedy, "hot": hot, **words})
