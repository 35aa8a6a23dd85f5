"""Findings: what limits a kernel, what to look at first, and the same for several captures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.findings.bound_class import CLASS_NAMES, SHOWN_NAMES
from rcv_py.analysis.findings.finding import Finding, Findings, gain_percent, signed_percent
from rcv_py.base.record import Value
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, known
from rcv_py.results.field import DATA, PEOPLE, WINDOW, ShownIn, of_analysis, only, record, rows, unknown
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

_LINE_IN_FILE = record(
    kinds.WHOLE("file", "Number of the source file"), kinds.WHOLE("source_line", "Line, counted from 1")
)
_EVIDENCE = (
    kinds.choice("instruction", "wave", "token", "window", "source")(
        "kind", "Which of the other fields are present"
    ),
    kinds.TEXT("text", "What is seen there"),
    replace(INSTRUCTION_INDEX, is_optional=True),
    kinds.TEXT("source", "Source place of the instruction, `file.py:186`", is_optional=True),
    kinds.WAVE("wave", "A wave, such as se0/simd2/slot5/wv3", is_optional=True),
    kinds.ROW_OR_NONE("token", "Row among the wave's instructions, counted from 0", is_optional=True),
    kinds.CYCLE("start", "Start", is_optional=True),
    kinds.CYCLE("end", "End", is_optional=True),
    _LINE_IN_FILE("position", "A line of a source file", is_optional=True),
)
_PLACES = replace(
    rows(*_EVIDENCE, row="A place where the finding can be seen."),
    document=lambda evidence: [place.as_json() for place in evidence],
    text=lambda evidence: "; ".join(map(str, evidence)),
)
GAIN = kinds.SHARE(
    "gain", "Most of the kernel's duration that can be saved; an estimate if it is not an upper bound"
)
PREDICTED = replace(kinds.RATIO, ending=", 1 being all; below 0 it would take longer.", text=signed_percent)
AT_STAKE = kinds.WHOLE("cycles", "Amount at stake, in cycles or, for PC samples, in samples")
_GAINS = "Bound, prediction with its range, and limit, in percent of the kernel's duration or of the samples"
_GAINED = "Part of the kernel's duration that the remedy is predicted to save, by replaying the recording"
_LIMIT = "Predicted part if all operations of the finding cost nothing: no change of them gains more"
FINDINGS = Spec(
    "triage",
    "The findings.",
    "finding",
    *only(
        DATA | WINDOW,
        kinds.TEXT("name", "Stable name of the pattern", "finding"),
        kinds.TEXT("title", "The finding in one line"),
        kinds.TEXT("gains", _GAINS, "gain", key="gain_row"),
        kinds.choice("ranked", "context", "caution")("rank", "How it is listed"),
        *(GAIN, AT_STAKE),
        kinds.FLAG("is_upper_bound", "Whether a change of this alone cannot save more than that"),
        kinds.SHARE("share_of_unit", "Amount at stake as a part of the unit", key="share"),
        kinds.TEXT("unit", "What the share is a part of", "of"),
        kinds.CYCLES("exposed", "Part of it in which nothing happened on the SIMD, summed over waves"),
        kinds.CYCLES("attributed", "Stalled and idle time of all waves, hidden by other waves or not"),
        kinds.FLAG("is_small", "Whether it is listed on one line with others because it gains less than 2 %"),
        kinds.NOTE("sentence", "What is seen, with numbers"),
        kinds.NOTE("remedy", "What to do"),
        kinds.TEXT("remedy_id", "Name of the remedy in the table of docs/findings.md; empty if none fits"),
        kinds.TEXT("effort", "Effort of the remedy: low, medium or high; empty if none fits"),
        PREDICTED.maybe("predicted_gain", _GAINED, "predicted"),
        PREDICTED.maybe("predicted_low", "Minimum of the prediction under all guesses", "from"),
        PREDICTED.maybe("predicted_high", "Maximum of the prediction under all guesses", "to"),
        PREDICTED.maybe("limit_gain", _LIMIT, "limit"),
        kinds.NOTE("experiment", "Change that was replayed; empty if there was no replay"),
        kinds.FLAG(
            "is_limit",
            "Whether the replayed change is not the remedy, but the most that can be done about the finding",
        ),
        kinds.NOTE("assumption", "What the finding assumes"),
        _PLACES("evidence", "Where it can be seen"),
    ),
    csv="rank name title gain cycles is_upper_bound share_of_unit unit exposed attributed sentence remedy "
    "remedy_id effort predicted_gain predicted_low predicted_high experiment evidence assumption",
).hide(WINDOW, "rank", "is_small", "remedy_id", "effort", "limit_gain", "is_limit", "assumption")
_BOUND_CLASS = record(
    kinds.choice(*CLASS_NAMES)("name", "The class"),
    kinds.TEXT("sentence", "The class with the number that supports it, in a few words"),
    kinds.TEXT("detail", "The same with more numbers"),
    rows(
        kinds.choice(*SHOWN_NAMES)("id", "What it is"),
        kinds.FROM_0("value", "A share from 0 to 1; `rate`: bytes per compute unit and cycle"),
        kinds.TEXT("text", "The number with its denominator"),
    )("numbers", "The numbers that support it, the deciding one first"),
)
_NUMBERS = (
    kinds.TEXT("id", "Stable name"),
    kinds.TEXT("name", "Displayed name"),
    kinds.TEXT("text", "The number with its unit"),
    kinds.TEXT("part_of", "What it is a part of", key="of"),
)
_TOTALS = unknown(
    kinds.CYCLES(
        "simd_cycles",
        "Time in which a SIMD held a traced wave, summed over SIMDs; null without waves",
        key="resident",
    ),
    kinds.CYCLES("no_issue", "Part of it in which no wave issued"),
    kinds.CYCLES("bubbles", "Part of that in which the matrix unit did not work either"),
)
HEAD = (
    CAPTURE,
    kinds.NAME("kernel", "Name of the kernel"),
    record(
        kinds.WAVES("read", "Waves that were read"),
        kinds.WAVES("traced", "Traced waves"),
        kinds.WAVES("counted", "Waves whose costs are ranked"),
        kinds.WAVES("missing", "Waves whose file is missing or damaged"),
    )("waves", "How much was analysed"),
    record(*_TOTALS)("totals", "What findings are measured against"),
    rows(*_NUMBERS)("numbers", "Numbers that frame all findings"),
    kinds.TEXT(
        "alarm", "Why nothing may be concluded from the capture, and what to do; empty if all is well"
    ),
    kinds.TEXT(
        "unreadable", "How many instruction texts are unreadable, and what helps; empty if all were read"
    ),
    _BOUND_CLASS.maybe("class", "What limits the kernel; null if nothing can be concluded"),
    kinds.TEXT("headline", "The first finding in one line"),
    kinds.TEXT("gain_base", "What gains, bounds and predictions are parts of"),
    kinds.COUNT("total_findings", "All findings, including findings that --top omits"),
    kinds.COUNT("below_threshold", "Findings that can save less than 2 % of the kernel's duration"),
)
FOOT = (
    kinds.TEXT("assumption", "What all findings assume"),
    kinds.texts("A sentence.")("predictions_assume", "What predicted gains assume, if there are any"),
    kinds.TEXT("note", "Why there is nothing, or what is missing; empty if nothing is missing"),
)


def finding_table(found: Sequence[Finding]) -> ResultTable:
    """Return one row per finding."""
    return ResultTable.of(FINDINGS, found)


def document(trace: Trace, found: Findings, table: ResultTable) -> dict[str, Any]:
    """Return the findings of a table and the facts about all, as `HEAD` and `FOOT` declare them."""
    totals = of_analysis(_TOTALS, found)
    return {
        "capture": trace.name,
        "kernel": trace.kernel_name,
        "waves": {"read": found.waves, "traced": found.of, **_waves(found)},
        "totals": known(totals, found.resident > 0),
        "numbers": [of_analysis(_NUMBERS, number) for number in found.numbers],
        **_conclusion(found),
        "gain_base": found.gain_base,
        "total_findings": len(found.findings),
        "below_threshold": len(found.small),
        "findings": table.rows(),
        **_assumed(found),
    }


def facts(found: Findings) -> dict[str, Any]:
    """Return the facts about all findings, without nesting, for the API."""
    return {
        **_conclusion(found),
        "waves": found.waves,
        **_waves(found),
        **of_analysis(_TOTALS, found),
        "gain_base": found.gain_base,
        "below_threshold": len(found.small),
        "numbers": {number.id: number.text for number in found.numbers},
        **_assumed(found),
    }


def _assumed(found: Findings) -> dict[str, Any]:
    return {"assumption": found.assumption, "predictions_assume": list(found.guesses), "note": found.why}


def _waves(found: Findings) -> dict[str, int]:
    return {"counted": found.waves if found.choice is None else found.choice.waves, "missing": found.unread}


def _conclusion(found: Findings) -> dict[str, Any]:
    bound = None if found.bound_class is None else found.bound_class.as_json()
    return {"alarm": found.alarm, "unreadable": found.unreadable, "class": bound, "headline": found.headline}


class Judged(Value):
    """A capture of a folder with its findings, or why there are none."""

    entry: CaptureEntry
    found: Findings | None
    note: str
    problems: tuple[str, ...] = ()  # of its files

    @property
    def first(self) -> Finding | None:
        """The first finding."""
        return self.found.findings[0] if self.found is not None and self.found.findings else None


CAPTURES = Spec(
    "triage folder",
    "One row per capture.",
    "capture",
    kinds.TEXT("path", "Path of the capture", at=DATA),
    kinds.SOURCE("place", "Folder of the capture below the given folder", "capture", at=ShownIn.TEXT),
    kinds.TEXT("folder_name", "Name of its folder", "capture", at=ShownIn.REPORT),
    kinds.CODE("kernel", "Name of the kernel"),
    kinds.WAVES("waves", "Traced waves"),
    kinds.TEXT.maybe("class", "What limits the kernel"),
    kinds.TEXT.maybe("name", "Stable name of the first finding's pattern", at=DATA),
    kinds.SHARE(
        "gain_text",
        "Most of the kernel's duration that it can save",
        "gain",
        at=PEOPLE,
        of=lambda row: "" if row["gain"] is None or not row["is_ranked"] else gain_percent(row["gain"]),
    ),
    kinds.NOTE(
        "first_finding",
        "The first finding in one line, or why there is none",
        "headline",
        at=PEOPLE,
        of=lambda row: row["headline"] if row["name"] is not None else row["note"],
    ),
    *only(
        DATA,
        kinds.NOTE("headline", "The first finding in one line"),
        replace(GAIN, meaning="Most of the kernel's duration that it can save", is_unknown=True),
        replace(AT_STAKE, is_unknown=True),
        replace(kinds.SHARE, digits=None).maybe("share_of_unit", "Amount at stake as a part of its unit"),
        kinds.NOTE("note", "Why there is no finding"),
    ),
    kinds.FLAG("is_ranked", "Whether the first finding has a gain", at=ShownIn(0)),
)
SCHEMA = Schema(
    "triage",
    "What limits the kernel, and findings with evidence and remedy, by possible gain.",
    (*HEAD, FINDINGS.field("findings"), *FOOT),
)
FOLDER_SCHEMA = Schema(
    "triage.folder",
    "The first finding of every capture below a folder.",
    (kinds.TEXT("folder", "The folder, as it was given"), CAPTURES.field("captures")),
)


def capture_table(judged: Sequence[Judged], root: Path) -> ResultTable:
    """Return one row per capture, with its first finding; people see its path relative to `root`."""
    paths = [row.entry.path for row in judged]
    first = [row.first for row in judged]
    classes = [None if row.found is None else row.found.bound_class for row in judged]
    columns: Columns = {
        "path": [str(path) for path in paths],
        "place": [str(path.relative_to(root) if path.is_relative_to(root) else path) for path in paths],
        "folder_name": [row.entry.name for row in judged],
        "kernel": [row.entry.kernel for row in judged],
        "waves": [row.entry.waves for row in judged],
        "class": [None if one is None else one.name for one in classes],
        "name": [None if one is None else one.name for one in first],
        "headline": ["" if one is None else one.title for one in first],
        "gain": [float("nan") if one is None else one.gain for one in first],
        "cycles": [-1 if one is None else one.cycles for one in first],
        "share_of_unit": [float("nan") if one is None else one.share for one in first],
        "note": [row.note for row in judged],
        "is_ranked": [one is not None and bool(one.gain_text) for one in first],
    }
    return ResultTable(CAPTURES, columns)
