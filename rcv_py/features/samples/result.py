"""PC samples beside a thread trace: rows by instruction, source line or stall reason."""

from typing import Any

import numpy as np

from rcv_py.analysis.cost.pc_samples import RowSamples, SampledShares, SamplesOfRun, grouped, sampled_shares
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_TEXT, SOURCE_PLACE, TOTAL_ROWS
from rcv_py.results.field import PEOPLE, Field
from rcv_py.results.sampled import OUTCOMES, by_reason
from rcv_py.results.schema import Schema
from rcv_py.results.table import ResultTable, Spec

_OUTCOMES = tuple(field for field in OUTCOMES if field.name != "samples")
ROWS = Spec(
    "pc samples",
    "Rows by PC samples, most samples first; beside a thread trace also rows that no sample hit.",
    "row",
    kinds.ROW_OR_NONE(
        "instruction", "Index of the instruction in the program, counted from 0; -1 for a source line", "#"
    ),
    kinds.COUNT("samples", "Samples of it"),
    kinds.SHARE("share_of_samples", "Part of the samples that lie in this program", "of samples"),
    kinds.SHARE(
        "share_of_traced",
        "Part of the latency and idle time of the traced waves; null without a thread trace",
        "of traced cycles",
        is_unknown=True,
    ),
    Field(
        "differs",
        kinds.choice("more", "fewer", ""),
        "Whether it has more or fewer samples than its traced cycles explain, beyond chance",
    ),
    *_OUTCOMES,
    INSTRUCTION_TEXT,
    SOURCE_PLACE,
    order="instruction samples share_of_samples share_of_traced differs issued stalled reason lanes waves",
    nothing="It has no PC samples.",
)
FACTS = (
    CAPTURE,
    kinds.TEXT("file", "File with the samples; empty if the capture has them"),
    Field("by", kinds.choice("instruction", "source"), "What a row is"),
    kinds.COUNT("all_samples", "PC samples of the file, including invalid ones and samples of other code"),
    kinds.COUNT("invalid_samples", "PC samples that cannot be right"),
    kinds.COUNT("elsewhere", "PC samples of other code than this program"),
    kinds.SHARE(
        "agreement",
        "Part of the samples that lie where the traced cycles do; null without a thread trace",
        is_unknown=True,
    ),
    kinds.SHARE(
        "expected_agreement",
        "The same part on average, if samples had the shares of the traced cycles: what chance leaves",
        is_unknown=True,
    ),
    kinds.COUNT("differing", "Rows with more or fewer samples than the trace explains, beyond chance"),
    kinds.TEXT("missing", "Why nothing is known, a sentence; empty if samples were found"),
    TOTAL_ROWS,
)
SCHEMA = Schema(
    "pc_samples",
    "PC samples by instruction or source line, beside the cycles of a thread trace.",
    (*FACTS, ROWS.field()),
    command="samples",
)
_DIFFERS = {1: "more", -1: "fewer", 0: ""}


def samples_table(
    trace: Trace, found: RowSamples, by: str = "instruction"
) -> tuple[ResultTable, SampledShares]:
    """Return one row an instruction or a source line, most samples first, and the shares."""
    n = len(trace.code)
    if by == "source":
        number: dict[str, int] = {}
        first = np.array([number.setdefault(source_of(trace, row), row) for row in range(n)], dtype=np.int64)
        found = grouped(found, first)
    shares = sampled_shares(trace.code, found)
    rows = shares.row
    is_line, has_trace = by == "source", not np.isnan(shares.agreement)
    hidden = {
        "instruction text": is_line,
        "share_of_traced differs": not has_trace,
        "issued stalled reason": not (found.issued.any() or found.reasons.any()),
        "lanes": np.isnan(found.lanes).all(),
        "waves": np.isnan(found.waves).all(),
    }
    spec = ROWS.hide(PEOPLE, *" ".join(names for names, is_so in hidden.items() if is_so).split())
    table = ResultTable(
        spec,
        {
            "instruction": np.full(len(rows), -1) if is_line else rows,
            "samples": found.samples[rows],
            "share_of_samples": shares.sampled,
            "share_of_traced": shares.traced,
            "differs": [_DIFFERS[sign] for sign in shares.sure.tolist()],
            "issued": found.issued[rows],
            **by_reason(found.reasons[rows]),
            "lanes": found.lanes[rows],
            "waves": found.waves[rows],
            "text": ["" if is_line else trace.code.text[row] for row in rows.tolist()],
            "source": [source_of(trace, row) for row in rows.tolist()],
        },
    )
    return table, shares


def facts(found: SamplesOfRun, shares: SampledShares | None) -> dict[str, Any]:
    """Return the facts of the document besides capture and rows."""
    is_known = shares is not None and not np.isnan(shares.agreement)
    parts = (shares.agreement, shares.expected) if shares is not None and is_known else (None, None)
    agreement, expected = (None if part is None else round(part, 6) for part in parts)
    return {
        "file": "" if found.file is None else str(found.file),
        "all_samples": found.all,
        "invalid_samples": sum(found.invalid.values()),
        "elsewhere": 0 if found.rows is None else found.rows.elsewhere,
        "agreement": agreement,
        "expected_agreement": expected,
        "differing": 0 if shares is None else int(np.count_nonzero(shares.sure)),
        "missing": found.why,
    }


def sentences(found: SamplesOfRun, shares: SampledShares | None) -> tuple[str, ...]:
    """Return what the rows say as a whole: where both agree, what is left out."""
    if found.rows is None or shares is None:
        return ()
    invalid, lines = sum(found.invalid.values()), list[str]()
    if not np.isnan(shares.agreement):
        differing = int(np.count_nonzero(shares.sure))
        lines.append(
            Message(
                "{0} of the samples lie where the traced cycles do, {1} if chance alone parts them. "
                "Rows that differ beyond chance: {2:,}.",
                percent(shares.agreement, 1),
                percent(shares.expected, 1),
                differing,
            )
        )
        if differing:
            lines.append(
                "There the traced compute units are not like the rest, or the samples are of other launches."
            )
    if found.rows.elsewhere:
        lines.append(Message("{0} are of other code.", plural(found.rows.elsewhere, "sample")))
    if invalid:
        lines.append(
            Message(
                "{0} of {1} samples are invalid ({2}).",
                count(invalid),
                count(found.all),
                percent(invalid, found.all),
            )
        )
    if (found.rows.of != np.arange(len(found.rows.of))).any():
        lines.append("The file has no addresses: a row stands for all equal instructions of its line.")
    return tuple(lines)
