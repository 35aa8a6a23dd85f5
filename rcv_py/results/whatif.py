"""What changes would gain: one row an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rcv_py.analysis.whatif.experiments import Sample
from rcv_py.analysis.whatif.predict import Prediction
from rcv_py.base.text import percent
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import At, Field
from rcv_py.results.table import Spec, Table


def signed(share: float) -> str:
    """A change of a duration: `−12.3 %`."""
    return ("−" if share < 0 else "+" if share > 0 else "") + percent(abs(share), 1)


CHANGE = replace(kinds.RATIO, text=signed, digits=4)
PREDICTIONS = Spec.of(
    "whatif",
    "One row an experiment, what gains most first.",
    "experiment",
    kinds.NOTE("text", "What is changed", "what if"),
    CHANGE(
        "share_of_span",
        "Predicted change of the span of the traced compute units, as a part of it",
        "predicted",
    ),
    CHANGE("low", "The least that the change can be under all guesses and on each compute unit", "from"),
    CHANGE("high", "The most that it can be", "to"),
    kinds.CYCLES("before", "Spans of all compute units that were played, summed", at=At.DATA),
    kinds.CYCLES("after", "The same with the change, predicted", at=At.DATA),
    kinds.MEAN_CYCLES("life_before", "Mean life of a wave", at=At.DATA),
    kinds.MEAN_CYCLES("life_after", "Mean life of a wave with the change, predicted", at=At.DATA),
    nothing="Nothing was tried.",
)
FACTS = (
    CAPTURE,
    kinds.COUNT("played_tokens", "Executed instructions that were played"),
    Field("engines", kinds.listed(kinds.INDEX, "A shader engine."), "Shader engines that were played"),
    kinds.FLAG("is_part", "Whether there are others, which were left out"),
    Field("assumes", kinds.texts("A sentence."), "What predictions take for true"),
)
LIMITS = (
    "The waves of a compute unit run alone with what they share; traffic of others stays as it was.",
    "Clocks, caches and what a compiler would make of the change stay as they were.",
)


def prediction_table(found: Sequence[Prediction]) -> Table:
    """Return one row an experiment."""
    columns: dict[str, Sequence[Any]] = {
        "text": [one.text for one in found],
        "share_of_span": [one.share for one in found],
        "low": [one.low for one in found],
        "high": [one.high for one in found],
        "before": [one.before for one in found],
        "after": [one.after for one in found],
        "life_before": [one.life_before for one in found],
        "life_after": [one.life_after for one in found],
    }
    return Table(PREDICTIONS, columns)


def facts(found: Sequence[Prediction], played: Sample) -> dict[str, Any]:
    """Return what is said about all predictions."""
    guesses = found[0].guesses if found else ()
    return {
        "played_tokens": found[0].tokens if found else 0,
        "engines": list(played.engines),
        "is_part": played.is_part,
        "assumes": [*LIMITS, *(f"{text[:1].upper()}{text[1:]}." for text in guesses)],
    }
