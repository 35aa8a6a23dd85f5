"""Findings from recorded addresses: bank conflicts, lanes that lie apart, and that recording takes time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.findings.evidence import LINES, line_of
from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, Evidence, Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.analysis.findings.remedies import finding_of
from rcv_py.analysis.findings.situation import situation_of
from rcv_py.analysis.latency.address_access import APART, AddressAccesses
from rcv_py.base.text import Message, count, join_texts, plural


def conflicts(inputs: FindingInputs) -> Iterator[Finding]:
    """Bank conflicts of LDS accesses, by the addresses of their lanes."""
    found = inputs.addresses
    rows = _worst(found, np.nan_to_num(found.conflict) > 1, found.passes - found.least_passes)
    for worst in rows[:1].tolist():
        sentence = Message(
            "By the addresses of their lanes, {0} in conflict: an execution of instruction {1} takes "
            "{2:.1f} passes of LDS, where {3:.1f} are needed.",
            plural(len(rows), "LDS instruction is", "LDS instructions are"),
            int(found.line[worst]),
            float(found.passes[worst] / found.blocks[worst]),
            float(found.least_passes[worst] / found.blocks[worst]),
        )
        yield finding_of(
            situation_of(inputs),
            "lds-bank-conflicts",
            title="LDS accesses with bank conflicts",
            sentence=sentence,
            remedy="Lanes that LDS serves together want different words of a bank: pad rows by one bank or "
            "XOR the column with the row (swizzle).",
            **_shown(inputs, rows, found.conflict, "{0:.1f} times the passes"),
            assumption=_certain(found, rows, "The cycles are counted under LDS issue stall (queue full)."),
        )


def lanes_apart(inputs: FindingInputs) -> Iterator[Finding]:
    """Accesses of vector memory that touch more cache lines than their bytes need."""
    found = inputs.addresses
    rows = _worst(found, np.nan_to_num(found.spread) >= APART, found.requests - found.least_requests)
    for worst in rows[:1].tolist():
        sentence = Message(
            "By the addresses of their lanes, {0} at least twice the cache lines that hold as many bytes: an "
            "execution of instruction {1} touches {2:.1f}, where {3:.1f} are needed, and uses {4:.1f} of {5} "
            "bytes of each.",
            plural(len(rows), "VMEM instruction touches", "VMEM instructions touch"),
            int(found.line[worst]),
            float(found.requests[worst] / found.blocks[worst]),
            float(found.least_requests[worst] / found.blocks[worst]),
            float(found.used[worst] / found.requests[worst]),
            found.cache_line,
        )
        yield finding_of(
            situation_of(inputs),
            "lanes-apart",
            title="VMEM accesses whose lanes lie apart",
            sentence=sentence,
            remedy="Let neighbouring lanes access neighbouring addresses: change which lane handles which "
            "element, change the layout of the data, or exchange elements through LDS.",
            **_shown(inputs, rows, found.spread, "{0:.1f} times the lines"),
            assumption=_certain(found, rows, "Whether a line is in a cache is not known."),
        )


def recorded(inputs: FindingInputs) -> Iterator[Finding]:
    """A caution: the kernel spent time to write addresses."""
    found = inputs.addresses
    if not found.blocks.any() and not found.incomplete.any():
        return
    yield finding_of(
        situation_of(inputs),
        "addresses-recorded",
        title="The kernel wrote the addresses of its lanes",
        is_upper_bound=False,
        sentence=Message(
            "Before {0} it wrote a word or two for every lane: times, stalls and their causes include this.",
            plural(len(found), "memory instruction"),
        ),
        remedy="Take strides, cache lines and bank conflicts from this capture, and times from a capture of "
        "the kernel without SQTT_TRACE_ADDRESSES.",
        rank=CAUTION,
    )


def _worst(found: AddressAccesses, chosen: np.ndarray, beyond: np.ndarray) -> np.ndarray:
    """The chosen rows of known instructions, those with most beyond the needed first."""
    rows = np.flatnonzero(chosen & (found.line >= 0))
    return rows[np.argsort(-beyond[rows], kind="stable")]


def _shown(inputs: FindingInputs, rows: np.ndarray, times: np.ndarray, text: str) -> dict[str, Any]:
    """Fields of both findings: they are context, with the worst instructions and strides as evidence."""
    found, evidence = inputs.addresses, list[Evidence]()
    for row in rows[:LINES].tolist():
        words = [Message(text, float(times[row]))]
        if not np.isnan(found.stride[row]):
            words.append(Message("stride {0} bytes", count(int(found.stride[row]))))
        evidence.append(line_of(inputs, int(found.line[row]), join_texts(", ", words)))
    return {"evidence": tuple(evidence), "is_upper_bound": False, "rank": CONTEXT}


def _certain(found: AddressAccesses, rows: np.ndarray, more: str) -> str:
    executions = plural(int(found.blocks[rows].sum()), "execution")
    text = Message("Certain for {0} whose addresses were recorded.", executions)
    return join_texts(" ", filter(None, (text, more, found.guess)))


DETECTORS = (conflicts, lanes_apart, recorded)
