"""PC samples by instruction, source line and stall reason."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rcv_py.analysis.cost.pc_samples import reason_meaning, reason_name
from rcv_py.model.kinds import StallReason
from rcv_py.model.profile import PcSamples
from rcv_py.results import kinds
from rcv_py.results.field import DATA
from rcv_py.results.table import ResultTable, Spec

RECORDING = kinds.INDEX("recording", "Number of the process in the file, from 0", at=DATA)
_SOURCE = kinds.SOURCE("source", "Innermost source place as file:line; empty if the file does not say")
OUTCOMES = (
    kinds.COUNT("samples", "Samples that hit it"),
    kinds.COUNT("issued", "Of these, samples that issued"),
    kinds.COUNT("stalled", "Of these, samples that did not issue; host traps record neither"),
    kinds.TEXT("reason", "Why most of these did not issue; empty if none is known", "main stall reason"),
    kinds.mapping(kinds.COUNT, [reason.name.lower() for reason in StallReason], "Samples", is_spread=True)(
        "reasons", "Samples that did not issue, by reason", at=DATA
    ),
    kinds.NUMBER("lanes", "Mean number of active lanes (EXEC)", is_unknown=True, digits=2),
    kinds.NUMBER("waves", "Mean number of waves on the sampled unit", is_unknown=True, digits=2),
)
SAMPLES = Spec(
    "profile samples",
    "Instructions by PC samples, most samples first.",
    "instruction",
    kinds.INSTRUCTION("text", "The instruction; empty if the file has no text of it", "instruction"),
    kinds.INDEX("code_object", "Its code object", "code object"),
    kinds.ADDRESS("offset", "Its address inside the code object", "address"),
    *OUTCOMES,
    kinds.NAME("kernel", "Kernel of most of its samples; empty if unknown", at=DATA),
    _SOURCE,
    RECORDING,
    nothing="It has no PC samples.",
)
LINES = Spec(
    "profile lines",
    "Source lines by PC samples, most samples first.",
    "line",
    _SOURCE,
    *OUTCOMES,
    nothing="No PC sample has a source line.",
)
STALLS = Spec(
    "profile stalls",
    "Why PC samples did not issue, the most frequent reason first.",
    "reason",
    kinds.TEXT("reason", "The reason"),
    kinds.COUNT("samples", "Samples"),
    kinds.SHARE("share_of_stalled", "Part of the samples that did not issue", "share"),
    kinds.NOTE("meaning", "What it means"),
    nothing="No PC sample says why it did not issue.",
)


def sample_table(found: PcSamples | None) -> ResultTable:
    """Return one row an instruction."""
    if found is None:
        return ResultTable.of_rows(SAMPLES, [])
    return ResultTable(
        SAMPLES,
        {
            "text": list(found.text),
            "code_object": found.code_object,
            "offset": found.offset.astype(np.int64),
            "kernel": list(found.kernel),
            "source": [source.partition(" -> ")[0] for source in found.source],
            "recording": found.recording,
            **outcomes(found, np.arange(len(found)), len(found)),
        },
    )


def line_table(found: PcSamples | None) -> ResultTable:
    """Return one row a source line, without samples whose line is unknown."""
    number: dict[str, int] = {"": 0}
    sources = () if found is None else found.source
    of = [number.setdefault(source.partition(" -> ")[0], len(number)) for source in sources]
    if found is None or len(number) == 1:
        return ResultTable.of_rows(LINES, [])
    columns = outcomes(found, np.array(of, dtype=np.int64), len(number))
    return ResultTable(LINES, {"source": list(number), **columns})[1:].sorted("samples")


def stall_table(found: PcSamples | None) -> ResultTable:
    """Return one row a stall reason that occurs."""
    count = np.zeros(0, dtype=np.int64) if found is None else found.reasons.sum(axis=0)
    order = np.argsort(-count, kind="stable")
    reasons = order[count[order] > 0]
    return ResultTable(
        STALLS,
        {
            "reason": [reason_name(reason) for reason in reasons.tolist()],
            "samples": count[reasons],
            "share_of_stalled": count[reasons] / max(1, int(count.sum())),
            "meaning": [reason_meaning(reason) for reason in reasons.tolist()],
        },
    )


def outcomes(found: PcSamples, row: np.ndarray, size: int) -> Mapping[str, Any]:
    """Return the columns of OUTCOMES for groups of instructions; `row`, int64 [n], is the group of each."""

    def total(column: np.ndarray) -> np.ndarray:
        return np.bincount(row, column, size).astype(np.int64)

    def mean(column: np.ndarray) -> np.ndarray:
        known = ~np.isnan(column)
        weight = np.bincount(row[known], found.samples[known], size)
        value = np.bincount(row[known], (column * found.samples)[known], size)
        return np.where(weight > 0, value / np.maximum(weight, 1), np.nan)

    return {
        "samples": total(found.samples),
        "issued": total(found.issued),
        **by_reason(np.stack([total(column) for column in found.reasons.T], axis=1)),
        "lanes": mean(found.lanes),
        "waves": mean(found.waves),
    }


def by_reason(reasons: np.ndarray) -> dict[str, Any]:
    """Return columns of samples that did not issue, from their counts by StallReason, int64 [n, k]."""
    known = np.zeros((len(reasons), len(StallReason)), dtype=np.int64)
    known[:, : reasons.shape[1]] = reasons[:, : len(StallReason)]
    known[:, StallReason.OTHER] += reasons[:, len(StallReason) :].sum(axis=1)
    main = np.where(reasons.any(axis=1), reasons.argmax(axis=1), -1)
    return {
        "stalled": reasons.sum(axis=1),
        "reason": [reason_name(reason) if reason >= 0 else "" for reason in main.tolist()],
        "reasons": known,
    }
