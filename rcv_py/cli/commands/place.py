"""`rcv place`: an instruction, one execution of it, what it waited for, and why it was late."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rcv_py.analysis.timeline.wave_places import waves_of_unit
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count
from rcv_py.cli.about import about
from rcv_py.cli.chosen import counted_batches, wave_of
from rcv_py.cli.options.wave_options import PlaceOptions
from rcv_py.cli.report import json_text, print_facts
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.place import execution_facts, line_facts, wave_facts
from rcv_py.state.selection import Selection

SCHEMA = "rcv.place/1"


def run(arguments: PlaceOptions) -> int:
    """Print what is known of some places as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
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
        place |= line_facts(trace, line)
    if selection.wave is not None:
        wave = wave_of(trace, str(selection.wave))
        place |= wave_facts(wave)
        if line is not None:
            beside = set(waves_of_unit(trace, wave.row).tolist())
            read = counted_batches(trace, beside)
            place |= execution_facts(trace, wave, line, selection.hit, read)
    return place


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
