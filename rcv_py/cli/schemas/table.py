"""All schemas, and how to find one: by command, by name, or by name and version."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.cli.schemas.envelope import DIALECT, Form, Schema, envelope_schema
from rcv_py.results import (
    bubbles,
    causes,
    check,
    compare,
    counters,
    events,
    flame,
    hotspot,
    hotspot_like,
    info,
    isa,
    json_types,
    latency,
    library,
    line,
    loops,
    occupancy,
    place,
    pmc,
    search,
    source,
    summary,
    triage,
    units,
    waits,
    waves,
    written,
)
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field, Kind
from rcv_py.results.kinds import fixed
from rcv_py.results.table import Spec

ENVELOPE = "envelope"
_DOCUMENTS = Kind(
    json=lambda sentence: json_types.listed(sentence, {"type": "object", "description": "A document."}),
    is_nested=True,
)


def _form(words: str, facts: Iterable[Field], name: str, kind: str, spec: Spec) -> Form:
    """The form that its field of this name tells from the others."""
    return Form(words, (*facts, Field(name, fixed(kind), "What a row is"), spec.field()))


def schemas() -> Iterator[Schema]:
    """Yield every schema, made of the fields that results declare."""
    yield Schema("info", "What a capture holds.", info.FACTS)
    yield Schema("captures", "The captures below a folder.", info.BELOW, command="info")
    yield Schema(
        "check",
        "Whether the capture can be trusted, and how to record a better one.",
        (*check.HEAD, check.NOTES.field("notes"), *check.FOOT),
    )
    yield Schema("summary", "The capture on one page.", summary.DOCUMENT)
    yield Schema(
        "occupancy",
        "How many waves were resident, and for how long.",
        forms=tuple(
            _form(words, occupancy.FACTS, "by", by, spec) for by, (spec, words) in occupancy.VARIANTS.items()
        ),
    )
    yield Schema(
        "occupancy_limits",
        "What limits the waves of a SIMD, and what the next step takes (--limits).",
        occupancy.LIMITS_DOCUMENT,
    )
    yield Schema("counters", "Hardware counters and formulas over them.", counters.FACTS)
    yield Schema("counters.list", "The recorded counters (--list).", counters.RECORDED_FACTS)
    yield Schema(
        "events",
        "Dispatches, hardware events, markers and shader data by time.",
        (*events.FACTS, events.EVENTS.field()),
    )
    yield Schema(
        "hotspot",
        "Instructions, source lines, kinds or classes, ranked by what they cost.",
        (*hotspot.RANKING_FACTS, hotspot.ranking_spec("instruction", "").field()),
    )
    yield Schema(
        "hotspot_like",
        "The tables of hotspot_analyzer.py by the rules of one generation, mistakes included (--like).",
        (*hotspot_like.FACTS, hotspot_like.SOURCES.field("sources"), hotspot_like.ROWS.field()),
    )
    yield Schema(
        "isa",
        "The program: instructions, basic blocks, branches or labels.",
        forms=tuple(
            _form(words, isa.FACTS, "kind", kind, spec) for kind, (spec, words) in isa.VARIANTS.items()
        ),
    )
    yield Schema(
        "line",
        "How long the executions of one instruction took.",
        forms=(
            Form("Thread traces.", (*line.FACTS, line.HITS.field("slowest"))),
            Form("PC samples, which have no times.", line.SAMPLE_FACTS),
        ),
    )
    yield Schema(
        "latency",
        "What of the latency other waves hide, or how long memory takes by counters.",
        forms=tuple(
            _form(words, (*latency.FACTS, sums), "kind", kind, spec)
            for kind, (spec, sums, words) in latency.VARIANTS.items()
        ),
    )
    yield Schema(
        "flame",
        "A flamegraph: frames in frames, parents before children.",
        (*flame.FACTS, flame.FRAMES.field("frames")),
    )
    yield Schema(
        "flame.sandwich",
        "A place with what leads to it above and what it leads to below (--content sandwich --around).",
        (
            CAPTURE,
            Field("content", fixed("sandwich"), "What frames are"),
            *flame.SANDWICH_FACTS,
            flame.SANDWICH.field("frames"),
        ),
    )
    yield Schema(
        "hotspot.bins",
        "A histogram of the program: cycles by range of instructions and kind (--bins).",
        (*hotspot.BINS_FACTS, hotspot.BINS.field()),
    )
    yield Schema(
        "hotspot.places",
        "Source lines, instructions, or the tree of places with what they are charged (--charge).",
        (*hotspot.PLACES_FACTS, hotspot.places_spec("instruction", "cycles").field()),
    )
    yield Schema(
        "compare.listing",
        "Both programs side by side (--by listing).",
        (*compare.VIEW_FACTS, compare.LISTING.field()),
    )
    yield Schema(
        "compare.flame",
        "The flamegraph of B with what each frame takes in both (--by flame).",
        (*compare.VIEW_FACTS, compare.FRAMES.field("frames")),
    )
    yield Schema(
        "waves",
        "Traced waves: where and when they lived, and what they did.",
        (*waves.HEAD, waves.WAVES.field()),
    )
    yield Schema(
        "waves.resident",
        "Every wave that was on the device, traced or not (--resident).",
        (*waves.HEAD, waves.RESIDENT.field()),
    )
    yield Schema(
        "waves.populations",
        "Ways that waves took through the code, and which of them work (--populations).",
        (*waves.POPULATION_FACTS, waves.POPULATIONS.field()),
    )
    yield Schema(
        "wave", "What one wave did; with --tokens also its instructions.", waves.WAVE, command="waves"
    )
    yield Schema(
        "units",
        "For how long each unit of a compute unit was busy with traced waves.",
        (*units.FACTS, units.UNITS.field()),
        command="summary",
    )
    yield Schema(
        "place",
        "What is known of places: an instruction, a wave, one execution of an instruction by a wave.",
        (CAPTURE, place.PLACES),
        command="line",
    )
    yield Schema(
        "search",
        "Where a text occurs: instructions and labels, then source lines, then markers.",
        (*search.FACTS, search.HITS.field()),
    )
    yield Schema(
        "source",
        "What source files and lines cost, or the instructions of a line.",
        forms=tuple(_form(spec.row, source.FACTS, "kind", kind, spec) for kind, spec in source.FORMS.items()),
    )
    yield Schema(
        "pmc",
        "Hit rate of L2 and bytes to and from memory, by counters of rocprofv3 --pmc.",
        (*pmc.FACTS, pmc.PMC.field()),
    )
    yield Schema(
        "triage",
        "What limits the kernel, and findings with evidence and remedy, by what its duration can gain.",
        (*triage.HEAD, triage.FINDINGS.field("findings"), *triage.FOOT),
    )
    yield Schema(
        "triage.folder",
        "The first finding of every capture below a folder.",
        (*triage.FOLDER_FACTS, triage.CAPTURES.field("captures")),
    )
    yield Schema(
        "waits",
        "What waits waited for, or the memory latency that waits show.",
        forms=(
            Form("Waits and what they waited for.", (*waits.FACTS, waits.DOCUMENT.field("waits"))),
            Form(
                "Memory latency of instructions: --latency.", (*waits.FACTS, waits.LATENCIES.field("latency"))
            ),
        ),
    )
    yield Schema(
        "causes",
        "Why waves stalled and idled; cycles of waves, not elapsed time.",
        forms=tuple(
            _form(causes.WORDS[by], causes.FACTS, "by", by, spec) for by, spec in causes.DOCUMENTS.items()
        ),
        version=3,
    )
    yield Schema(
        "bubbles",
        "Instructions by the cycles in which waves waited in them while nothing happened on their SIMD.",
        (*bubbles.FACTS, bubbles.BUBBLES.field()),
    )
    yield Schema(
        "loops",
        "Iterations of loops, phases of waves, and what costs cycles in and around them.",
        forms=tuple(
            _form(f"{spec.row.removesuffix('.')}: --by {name}.", loops.FACTS, "show", name, spec)
            for name, (spec, _) in loops.TABLES.items()
        ),
    )
    yield Schema(
        "compare",
        "Whether B takes more or fewer cycles than A, beyond noise, and where.",
        (*compare.FACTS, compare.CHANGES["instruction"].field()),
    )
    yield Schema(
        "index", "All captures below a folder, ranked.", (*library.FACTS, library.LIBRARY.field("captures"))
    )
    yield Schema("report", "Reports that were written.", written.REPORT)
    yield Schema("export", "What was exported.", written.EXPORT)
    yield Schema(
        "samples",
        "Synthetic samples: those there are, or those that were written.",
        written.SYNTH,
        command="synth",
    )
    yield Schema(
        "documents",
        "What a command prints of several captures: a document each (check and summary).",
        (Field("documents", _DOCUMENTS, "In the order of the captures"),),
        command="check",
    )
    yield Schema("schemas", "The schemas there are.", written.LIST, command="schema")


SCHEMAS: tuple[Schema, ...] = tuple(schemas())
BY_ID = {schema.id: schema for schema in SCHEMAS}


def of_command(command: str) -> tuple[Schema, ...]:
    """Return the schemas of the documents that a command prints with --json."""
    return tuple(schema for schema in SCHEMAS if schema.command == command)


def schema_document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command or of a schema; of a command with several: any of them.

    Raise UsageError for a name that is neither.
    """
    if name in (ENVELOPE, "rcv.envelope", "rcv.envelope/2"):
        return envelope_schema()
    found = list(of_command(name)) or [
        schema for schema in SCHEMAS if name in (schema.id, schema.name, schema.name.removeprefix("rcv."))
    ]
    if not found:
        names = sorted({ENVELOPE, *(one.command for one in SCHEMAS), *(one.name for one in SCHEMAS)})
        near = difflib.get_close_matches(name, names, 1)
        hint = f"Did you mean `rcv schema {near[0]}`?" if near else "`rcv schema` lists what there is."
        raise UsageError(f"There is no schema called {name}.", hint=hint)
    if len(found) == 1:
        return found[0].as_json()
    return {
        "$schema": DIALECT,
        "$id": f"urn:rcv:command:{name}",
        "title": f"rcv {name} --json",
        "description": f"Any document that rcv {name} prints with --json.",
        "oneOf": [schema.as_json() for schema in found],
    }
