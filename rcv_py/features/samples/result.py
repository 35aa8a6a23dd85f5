"""PC samples beside a thread trace: rows by instruction, source line or stall reason."""

from typing import Any

import numpy as np

from rcv_py.analysis.cost.pc_samples import RowSamples, SampledShares, SamplesOfRun, grouped, sampled_shares
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_TEXT, SOURCE_PLACE, TOTAL_ROWS
from rcv_py.results.field import PEOPLE, Field, unknown
from rcv_py.results.profile import OUTCOMES, outcomes
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

_OF_TRACED = "Part of the latency and idle time of the traced waves; null without a thread trace"
_OF_AGREEMENT = "Part of the samples that lie where the traced cycles do; null without a thread trace"
_OF_CHANCE = "The same part on average, if samples had the shares of the traced cycles: what chance leaves"
_LINE_OR_NONE = "Index of the instruction in the program, counted from 0; -1 for a source line"
ROWS = Spec(
    "pc samples",
    "Rows by PC samples, most samples first; beside a thread trace also rows that no sample hit.",
    "row",
    kinds.ROW_OR_NONE("instruction", _LINE_OR_NONE, "#"),
    kinds.COUNT("samples", "Samples of it"),
    kinds.SHARE("share_of_samples", "Part of the samples that lie in this program", "of samples"),
    kinds.SHARE.maybe("share_of_traced", _OF_TRACED, "of traced cycles"),
    Field(
        "differs",
        kinds.choice("more", "fewer", ""),
        "Whether it has more or fewer samples than its traced cycles explain, beyond chance",
    ),
    *(field for field in OUTCOMES if field.name != "samples"),
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
    *unknown(kinds.SHARE("agreement", _OF_AGREEMENT), kinds.SHARE("expected_agreement", _OF_CHANCE)),
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
_AGREEMENT = (
    "{0} of the samples lie where the traced cycles do, {1} if chance alone parts them. "
    "Rows that differ beyond chance: {2:,}."
)
_WHY_DIFFERENT = "There the traced compute units are not like the rest, or the samples are of other launches."


def samples_table(
    trace: Trace, found: RowSamples, by: str = "instruction"
) -> tuple[ResultTable, SampledShares]:
    """Return one row an instruction or a source line, most samples first, and the shares."""
    is_line = by == "source"
    if is_line:
        number: dict[str, int] = {}
        first = [number.setdefault(source_of(trace, row), row) for row in range(len(trace.code))]
        found = grouped(found, np.array(first, dtype=np.int64))
    shares = sampled_shares(trace.code, found)
    rows = shares.row
    hidden = {
        "instruction text": is_line,
        "share_of_traced differs": np.isnan(shares.agreement),
        "issued stalled reason": not (found.issued.any() or found.reasons.any()),
        "lanes": np.isnan(found.lanes).all(),
        "waves": np.isnan(found.waves).all(),
    }
    spec = ROWS.hide(PEOPLE, *" ".join(names for names, is_so in hidden.items() if is_so).split())
    columns: Columns = {
        **outcomes(found.at(rows)),
        "instruction": np.full(len(rows), -1) if is_line else rows,
        "share_of_samples": shares.sampled,
        "share_of_traced": shares.traced,
        "differs": [_DIFFERS[sign] for sign in shares.sure.tolist()],
        "text": ["" if is_line else trace.code.text[row] for row in rows.tolist()],
        "source": [source_of(trace, row) for row in rows.tolist()],
    }
    return ResultTable(spec, columns), shares


def facts(found: SamplesOfRun, shares: SampledShares | None) -> dict[str, Any]:
    """Return the facts of the document besides capture and rows."""
    is_known = shares is not None and not np.isnan(shares.agreement)
    return {
        "file": "" if found.file is None else str(found.file),
        "all_samples": found.all,
        "invalid_samples": sum(found.invalid.values()),
        "elsewhere": 0 if found.rows is None else found.rows.elsewhere,
        "agreement": round(shares.agreement, 6) if shares is not None and is_known else None,
        "expected_agreement": round(shares.expected, 6) if shares is not None and is_known else None,
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
        agreement, chance = percent(shares.agreement, 1), percent(shares.expected, 1)
        lines.append(Message(_AGREEMENT, agreement, chance, differing))
        lines += [_WHY_DIFFERENT] if differing else []
    if found.rows.elsewhere:
        lines.append(Message("{0} are of other code.", plural(found.rows.elsewhere, "sample")))
    if invalid:
        counts = count(invalid), count(found.all), percent(invalid, found.all)
        lines.append(Message("{0} of {1} samples are invalid ({2}).", *counts))
    if (found.rows.of != np.arange(len(found.rows.of))).any():
        lines.append("The file has no addresses: a row stands for all equal instructions of its line.")
    return tuple(lines)
