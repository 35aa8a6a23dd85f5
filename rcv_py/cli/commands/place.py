"""`rcv place`: an instruction, one execution of it, what it waited for, and why it was late."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT
from rcv_py.analysis.attribution.token import token_causes
from rcv_py.analysis.cost.stall_reasons import reason_name, stall_reasons
from rcv_py.analysis.timeline.token_details import line_totals, token_details
from rcv_py.analysis.timeline.wave_places import waves_of_unit
from rcv_py.analysis.waits.token_waits import token_waits
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted_batches, wave_of
from rcv_py.cli.options.wave_options import PlaceOptions
from rcv_py.cli.places import source_of
from rcv_py.cli.report import csv_text, json_text, print_facts
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave
from rcv_py.state.selection import Selection

SCHEMA = "rcv.place/1"


def run(arguments: PlaceOptions) -> int:
    """Print what is known of some places as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    found = [_place(trace, text) for text in arguments.places]
    if arguments.csv:
        rows = [[place["place"], name, value] for place in found for name, value in _facts(place)]
        sys.stdout.write(csv_text(("place", "what", "value"), rows))
    elif arguments.json:
        print(json_text(SCHEMA, {"capture": trace.name, "places": found}, about(arguments, trace)))
    else:
        for at, place in enumerate(found):
            print(("\n" if at else "") + place["place"])
            print_facts([(name, _text(value)) for name, value in _facts(place)])
    return 0


def _place(trace: Trace, text: str) -> dict[str, Any]:
    try:
        selection = Selection.parse(text)
    except ValueError as error:
        raise UsageError(f"{error}.", hint="Places look like se0/simd2/slot1/wv0:line 62#0.") from error
    line = selection.line
    if selection.wave is None and line is None:
        raise UsageError("An empty text is no place.", hint="Places look like se0/simd2/slot1/wv0:line 62#0.")
    if line is not None and line >= len(trace.code):
        raise UsageError(f"The capture has no line {line}.", hint=f"Its last one is {len(trace.code) - 1}.")
    place: dict[str, Any] = {"place": text, "wave": None, "line": line, "hit": selection.hit}
    if line is not None:
        place |= _line(trace, line)
    if selection.wave is not None:
        wave = wave_of(trace, str(selection.wave))
        place |= {"wave": str(wave.id), "begin": wave.begin, "end": wave.end}
        if line is not None:
            place |= _execution(trace, wave, selection)
    return place


def _line(trace: Trace, line: int) -> dict[str, Any]:
    totals = line_totals(trace.code, line)
    found: dict[str, Any] = {"instruction": trace.code.text[line], "source": source_of(trace, line)}
    found["totals"] = {name: getattr(totals, name) for name in ("hits", "latency", "stall", "idle", "whole")}
    if trace.has_pc_samples:
        samples = stall_reasons(trace.code, slice(line, line + 1))
        reasons = {reason_name(reason): number for reason, number in samples.ranked()}
        found["samples"] = {"issued": samples.issued, "stalled": samples.stalled, "reasons": reasons}
    return found


def _execution(trace: Trace, wave: Wave, selection: Selection) -> dict[str, Any]:
    """What is known of the n-th time a wave ran a line; how often it did if none is named."""
    rows = np.flatnonzero(wave.tokens.line == selection.line)
    if selection.hit is None or selection.hit >= len(rows):
        return {"hits_of_wave": len(rows)}
    token = int(rows[selection.hit])
    one = token_details(wave, token)
    waits = token_waits(wave, token, trace.code, trace.gfxip, trace.target)
    beside = set(waves_of_unit(trace, wave.row).tolist())
    return {
        "hits_of_wave": one.hits,
        "token": token,
        "start": one.start,
        "stall": one.stall,
        "issue": one.busy,
        "idle": one.idle,
        "waited_for": [
            {
                "line": by.line,
                "text": trace.code.text[by.line],
                "source": source_of(trace, by.line),
                "cycles_before": by.ago,
            }
            for by in waits.awaited
        ],
        "released_by": [
            {
                "line": by.line,
                "text": trace.code.text[by.line],
                "source": source_of(trace, by.line),
                "latency": by.latency,
                "is_exact": by.is_exact,
            }
            for by in waits.released_by
        ],
        "causes": [
            {
                "cause": by.cause.name.lower(),
                "because": CAUSE_TEXT[by.cause].sentence,
                "cycles": by.cycles,
                "is_idle": by.is_idle,
                "producer": by.line if by.line >= 0 else None,
                "producer_text": trace.code.text[by.line] if by.line >= 0 else "",
                "producer_source": source_of(trace, by.line),
                "is_guess": by.is_guess,
            }
            for by in token_causes(trace, counted_batches(trace, beside), wave, token)
        ],
    }


def _facts(place: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every fact of a place as a name and a value."""
    for name, value in place.items():
        if name == "place" or value is None or value == "":
            continue
        if isinstance(value, dict):
            yield from ((f"{name}, {part}", one) for part, one in _plain(value))
        elif isinstance(value, list):
            yield from _each(name, value)
        else:
            yield name.replace("_", " "), value


def _plain(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for part, one in value.items():
        if isinstance(one, dict):
            yield from one.items()
        else:
            yield part, one


def _each(name: str, items: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for item in items:
        parts = [
            f"{part.replace('_', ' ')} {_text(one)}" for part, one in item.items() if one not in (None, "")
        ]
        yield name.replace("_", " "), ", ".join(parts)


def _text(value: Any) -> str:
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)
