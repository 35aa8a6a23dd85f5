"""What changes would gain: one row per experiment."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rcv_py.analysis.findings.finding import KERNEL_DURATION
from rcv_py.analysis.findings.predicted import KernelChange
from rcv_py.base.text import Message, capitalized, percent, some
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INDEX_OR_NONE, PLACE, TOTAL_ROWS
from rcv_py.results.field import DATA, Field, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

if TYPE_CHECKING:  # the window names fields before any replay
    from rcv_py.analysis.whatif.critical_path import PathTable
    from rcv_py.analysis.whatif.experiments import SampledWaves
    from rcv_py.analysis.whatif.predict import Prediction
    from rcv_py.model.trace import Trace


def signed(share: float) -> str:
    """A change of a duration: `−12.3 %`, `0.0 %` where it is less than 0.05 %."""
    if abs(share) < 0.0005:
        return percent(0.0, 1)
    return ("−" if share < 0 else "+") + percent(abs(share), 1)


_BOUND = "Most of the kernel's duration that the finding of the change can gain"
CHANGE = replace(kinds.RATIO, text=signed, digits=4)
PREDICTIONS = Spec(
    "whatif",
    "One row per experiment, the largest gain first.",
    "experiment",
    kinds.NOTE("text", "What is changed", "what if"),
    CHANGE(
        "share_of_kernel",
        "Predicted change of the kernel's duration, at most the bound of the finding that it is about",
        "of kernel's duration",
    ),
    CHANGE("kernel_low", "Minimum of that change under all guesses and on each compute unit", "from"),
    CHANGE("kernel_high", "Maximum of that change under all guesses", "to"),
    kinds.SHARE.maybe("bound", _BOUND, "at most"),
    CHANGE(
        "share_of_span",
        "Predicted change of the span of the traced compute units, as a part of it; not cut at a bound",
        at=DATA,
        key="share",
    ),
    CHANGE("low", "Minimum of it under all guesses and on each compute unit", at=DATA),
    CHANGE("high", "Maximum of it under all guesses", at=DATA),
    kinds.CYCLES("before", "Spans of all replayed compute units, summed", at=DATA),
    kinds.CYCLES("after", "The same with the change, predicted", at=DATA),
    kinds.MEAN_CYCLES("life_before", "Mean lifetime of a wave", at=DATA),
    kinds.MEAN_CYCLES("life_after", "Mean lifetime of a wave with the change, predicted", at=DATA),
    nothing="No experiment was run.",
)
TRIED = Spec(
    "whatif tried",
    "One row per experiment of the window.",
    "experiment",
    kinds.NOTE("origin", "The finding whose remedy it is, or that it is your own experiment", "finding"),
    *unknown(*(PREDICTIONS[name] for name in ("share_of_kernel", "kernel_low", "kernel_high"))),
    PREDICTIONS["bound"],
    PREDICTIONS["text"],
    kinds.NOTE("why_not", "Why nothing is predicted", "why not"),
    nothing="No experiment was run.",
)
PATH = Spec(
    "whatif path",
    "One row per instruction and cause of the critical path, the largest part first; "
    "then instructions off the path.",
    "piece",
    INDEX_OR_NONE,
    *PLACE[1:],
    kinds.TEXT("cause", "What the cycles were spent on; empty for an instruction off the path"),
    kinds.CYCLES("cycles", "Cycles on the critical paths of all replayed compute units"),
    kinds.SHARE("share_of_path", "Part of these paths", "share"),
    kinds.COUNT("pieces", "Pieces of these paths"),
    kinds.CYCLES("slack", "How much later any execution could have been without lengthening the span"),
    nothing="No wave was replayed.",
)
PATH_CAUSES = Spec(
    "whatif path causes",
    "What the critical paths were spent on, the largest part first.",
    "cause",
    kinds.TEXT("cause", "What the cycles were spent on"),
    kinds.NOTE("meaning", "Meaning of the cause"),
    kinds.CYCLES("cycles", "Cycles on the paths"),
    kinds.SHARE("share_of_path", "Part of the paths", "share"),
    order="cause cycles share_of_path meaning",
)
PATH_FACTS = (
    CAPTURE,
    kinds.CYCLES.maybe(
        "length", "Length of the paths: the spans of the compute units, summed; null: unknown"
    ),
    PATH_CAUSES.field("causes"),
    TOTAL_ROWS,
)
FACTS = (
    CAPTURE,
    kinds.COUNT("played_tokens", "Executed instructions that were replayed"),
    Field("engines", kinds.listed(kinds.INDEX, "A shader engine."), "Shader engines that were replayed"),
    kinds.FLAG("is_part", "Whether waves were left out"),
    kinds.TEXT("gain_base", "What changes and bounds are parts of"),
    Field("assumes", kinds.texts("A sentence."), "What predictions assume"),
)
SCHEMA = Schema(
    "whatif",
    "What changes of the kernel would gain, predicted by replaying the recording.",
    (*FACTS, PREDICTIONS.field("experiments")),
)
PATH_SCHEMA = Schema(
    "whatif.path",
    "The critical path, which makes up the span of the compute units (--path).",
    (*PATH_FACTS, PATH.field()),
)
LIMITS = (
    "The waves of a compute unit run alone with their shared resources; traffic of other units stays as "
    "recorded.",
    "Clocks and caches stay as recorded; the compiler is assumed not to change other code.",
)
OWN = "your experiment"
UNKNOWN = KernelChange(nan, nan, nan)
MAX_NAMED = 3  # experiments that a sentence names


def prediction_table(found: Sequence[Prediction], changes: Sequence[KernelChange]) -> ResultTable:
    """Return one row per experiment, given its change of the kernel's duration."""
    return ResultTable.of(PREDICTIONS, found, _of_kernel(changes))


def facts(
    found: Sequence[Prediction], changes: Sequence[KernelChange], played: SampledWaves
) -> dict[str, Any]:
    """Return the facts about all predictions."""
    return {
        "played_tokens": found[0].tokens if found else 0,
        "engines": list(played.engines),
        "is_part": played.is_part,
        "gain_base": KERNEL_DURATION,
        "assumes": said_of(found, changes),
    }


def _of_kernel(changes: Sequence[KernelChange]) -> dict[str, Sequence[Any]]:
    names = {"share_of_kernel": "share", "kernel_low": "low", "kernel_high": "high", "bound": "bound"}
    return {field: [getattr(one, name) for one in changes] for field, name in names.items()}


def tried_table(found: Sequence[tuple[str, str, KernelChange | None, str]]) -> ResultTable:
    """Return one row per experiment: text, remedied finding, and the prediction or why there is none."""
    columns: dict[str, Sequence[Any]] = {
        "origin": [origin or OWN for _, origin, _, _ in found],
        "text": [text for text, _, _, _ in found],
        **_of_kernel([UNKNOWN if one is None else one for _, _, one, _ in found]),
        "why_not": [why_not for _, _, _, why_not in found],
    }
    return ResultTable(TRIED, columns)


def said_of(found: Sequence[Prediction], changes: Sequence[KernelChange]) -> list[str]:
    """Return what predictions assume, and what cuts them, as sentences."""
    return [*(assumptions(found[0]) if found else LIMITS), *cuts(found), *_bounded(found, changes)]


def _bounded(found: Sequence[Prediction], changes: Sequence[KernelChange]) -> list[str]:
    """Return which predictions are cut at the bound of a finding, as sentences."""
    cut = "{0}: cut at the bound of “{1}”, {2}; the replay alone says {3}, as waves then wait elsewhere."
    return [
        Message(cut, capitalized(prediction.text), one.finding, percent(one.bound, 1), signed(one.replayed))
        for prediction, one in zip(found, changes, strict=True)
        if not isnan(one.replayed) and not isnan(one.bound)
    ]


def assumptions(found: Prediction) -> list[str]:
    """Return the assumptions of a prediction, as sentences."""
    return [*LIMITS, *(Message("{0}.", capitalized(text)) for text in found.guesses)]


def cuts(found: Sequence[Prediction]) -> list[str]:
    """Return what of the device or the recording cuts predictions, as sentences."""
    texts: dict[str, list[str]] = {}
    for one in found:
        for note in one.notes:
            texts.setdefault(note, []).append(one.text)
    if len(found) == 1:
        return [Message("{0}.", capitalized(note)) for note in texts]
    return [Message("{0} ({1}).", capitalized(note), some(of, MAX_NAMED)) for note, of in texts.items()]


def path_rows(trace: Trace, found: PathTable) -> ResultTable:
    """Return one row per instruction and cause of the critical path, then instructions off it."""
    from rcv_py.analysis.whatif.critical_path import CAUSES  # noqa: PLC0415 - only a replay needs it

    names = {int(cause): name for cause, (name, _) in CAUSES.items()}
    columns: Columns = {
        **placed(trace, found.line),
        "cause": [names.get(cause, "") for cause in found.cause.tolist()],
        "cycles": found.cycles,
        "share_of_path": found.cycles / max(1, found.length),
        "pieces": found.times,
        "slack": found.slack,
    }
    return ResultTable(PATH, columns)


def path_causes(found: PathTable) -> ResultTable:
    """Return the causes of the paths' cycles, one row per cause that occurs."""
    from rcv_py.analysis.whatif.critical_path import CAUSES  # noqa: PLC0415 - as above

    length = max(1, found.length)
    rows = [(*CAUSES[cause], cycles, cycles / length) for cause, cycles in found.by_cause().items() if cycles]
    return ResultTable.of_rows(PATH_CAUSES, rows)


def path_facts(found: PathTable, trace: Trace) -> dict[str, Any]:
    """Return the facts about the paths of all compute units."""
    return {"capture": trace.name, "length": found.length or None, "causes": path_causes(found).rows()}
