"""All schemas, and how to find one: by command, by name, or by name and version."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
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
from rcv_py.results.field import Field
from rcv_py.results.unit import fixed

ENVELOPE = "envelope"


def _fixed(name: str, value: str, meaning: str = "What a row is") -> Field:
    return Field(name, fixed(value), meaning)


def schemas() -> Iterator[Schema]:
    """Yield every schema, made of the fields that results declare."""
    yield Schema("info", "info", "What a capture holds.", info.FACTS)
    yield Schema("captures", "info", "The captures below a folder.", (info.CAPTURES.field("captures"),))
    yield Schema(
        "check",
        "check",
        "Whether the capture can be trusted, and how to record a better one.",
        (*check.HEAD, check.NOTES.field("notes"), *check.FOOT),
    )
    yield Schema("summary", "summary", "The capture on one page.", summary.DOCUMENT)
    yield Schema(
        "occupancy",
        "occupancy",
        "How many waves were resident, and for how long.",
        forms=tuple(
            Form(
                f"By {occupancy.BY[by][1].lower()}: --by {by}.",
                (*occupancy.FACTS, _fixed("by", by), occupancy.curves(by, has_ids=by == "kernel").field()),
            )
            for by in ("se", "kernel", "state")
        ),
    )
    yield Schema(
        "occupancy_limits",
        "occupancy",
        "What limits the waves of a SIMD, and what the next step takes (--limits).",
        occupancy.LIMITS_DOCUMENT,
    )
    yield Schema("counters", "counters", "Hardware counters and formulas over them.", counters.FACTS)
    yield Schema("counters.list", "counters", "The recorded counters (--list).", counters.RECORDED_FACTS)
    yield Schema(
        "events",
        "events",
        "Dispatches, hardware events, markers and shader data by time.",
        (*events.FACTS, events.EVENTS.field()),
    )
    yield Schema(
        "hotspot",
        "hotspot",
        "Instructions, source lines, kinds or classes, ranked by what they cost.",
        (*hotspot.RANKING_FACTS, hotspot.ranking_spec("line", "").field()),
    )
    yield Schema(
        "hotspot_like",
        "hotspot",
        "The tables of hotspot_analyzer.py by the rules of one generation, mistakes included (--like).",
        (*hotspot_like.FACTS, hotspot_like.SOURCES.field("sources"), hotspot_like.ROWS.field()),
    )
    yield Schema(
        "isa",
        "isa",
        "The program: instructions, basic blocks, branches or labels.",
        forms=tuple(
            Form(words, (*isa.FACTS, _fixed("kind", kind), spec.field()))
            for kind, (spec, words) in isa.VARIANTS.items()
        ),
    )
    yield Schema(
        "line",
        "line",
        "How long the hits of one instruction took.",
        forms=(
            Form("Thread traces.", (*line.FACTS, line.HITS.field("slowest"))),
            Form("PC samples, which have no times.", line.SAMPLE_FACTS),
        ),
    )
    yield Schema(
        "latency",
        "latency",
        "What of the latency other waves hide, or how long memory takes by counters.",
        forms=tuple(
            Form(words, (*latency.FACTS, sums, _fixed("kind", kind, "Which of the tables"), spec.field()))
            for kind, (spec, sums, words) in latency.VARIANTS.items()
        ),
    )
    yield Schema(
        "flame",
        "flame",
        "A flamegraph: frames in frames, parents before children.",
        (*flame.FACTS, flame.FRAMES.field("frames")),
    )
    yield Schema(
        "flame.sandwich",
        "flame",
        "A place with what leads to it above and what it leads to below (--content sandwich --around).",
        (
            CAPTURE,
            _fixed("content", "sandwich", "What frames are"),
            *flame.SANDWICH_FACTS,
            flame.SANDWICH.field("frames"),
        ),
    )
    yield Schema(
        "hotspot.bins",
        "hotspot",
        "A histogram of the program: cycles by range of code rows and kind (--bins).",
        (*hotspot.BINS_FACTS, hotspot.BINS.field()),
    )
    yield Schema(
        "hotspot.places",
        "hotspot",
        "Source lines, instructions, or the tree of places with what they are charged (--charge).",
        (*hotspot.PLACES_FACTS, hotspot.places_spec("line", "cycles").field()),
    )
    yield Schema(
        "compare.listing",
        "compare",
        "Both programs side by side (--by listing).",
        (*compare.VIEW_FACTS, compare.LISTING.field()),
    )
    yield Schema(
        "compare.flame",
        "compare",
        "The flamegraph of B with what each frame takes in both (--by flame).",
        (*compare.VIEW_FACTS, compare.FRAMES.field("frames")),
    )
    yield Schema(
        "waves",
        "waves",
        "Traced waves: where and when they lived, and what they did.",
        (*waves.HEAD, waves.WAVES.field()),
    )
    yield Schema(
        "waves.resident",
        "waves",
        "Every wave that was on the device, traced or not (--resident).",
        (*waves.HEAD, waves.RESIDENT.field()),
    )
    yield Schema(
        "waves.populations",
        "waves",
        "Ways that waves took through the code, and which of them work (--populations).",
        (*waves.POPULATION_FACTS, waves.POPULATIONS.field()),
    )
    yield Schema("wave", "wave", "What one wave did; with --tokens also its instructions.", waves.WAVE)
    yield Schema(
        "units",
        "units",
        "For how long each unit of a compute unit was busy with traced waves.",
        (*units.FACTS, units.UNITS.field()),
    )
    yield Schema(
        "place",
        "place",
        "What is known of places: a line, a wave, one execution of a line by a wave.",
        (CAPTURE, place.PLACES),
    )
    yield Schema(
        "search",
        "search",
        "Where a text occurs: instructions and labels, then source lines, then markers.",
        (*search.FACTS, search.HITS.field()),
    )
    yield Schema(
        "source",
        "source",
        "What source files and lines cost, or the instructions of a line.",
        forms=tuple(
            Form(spec.row, (*source.FACTS, _fixed("kind", kind), spec.field()))
            for kind, spec in source.FORMS.items()
        ),
    )
    yield Schema(
        "pmc",
        "pmc",
        "Hit rate of L2 and bytes to and from memory, by counters of rocprofv3 --pmc.",
        (*pmc.FACTS, pmc.PMC.field()),
    )
    yield Schema(
        "triage",
        "triage",
        "What limits the kernel, and findings with evidence and remedy, by what its duration can gain.",
        (*triage.HEAD, triage.FINDINGS.field("findings"), *triage.FOOT),
    )
    yield Schema(
        "triage.folder",
        "triage",
        "The first finding of every capture below a folder.",
        (*triage.FOLDER_FACTS, triage.CAPTURES.field("captures")),
    )
    yield Schema(
        "waits",
        "waits",
        "What waits waited for, or the memory latency that waits tell.",
        forms=(
            Form("Waits and what they waited for.", (*waits.FACTS, waits.DOCUMENT.field("waits"))),
            Form(
                "Memory latency of instructions: --latency.",
                (*waits.FACTS, waits.LATENCIES.field("latency")),
            ),
        ),
    )
    yield Schema(
        "causes",
        "causes",
        "Why waves stalled and idled; cycles of waves, not elapsed time.",
        forms=tuple(
            Form(causes.WORDS[by], (*causes.FACTS, _fixed("by", by), spec.field()))
            for by, spec in causes.DOCUMENTS.items()
        ),
        version=2,
    )
    yield Schema(
        "bubbles",
        "bubbles",
        "Instructions by the cycles in which waves waited in them while nothing happened on their SIMD.",
        (*bubbles.FACTS, bubbles.BUBBLES.field()),
    )
    yield Schema(
        "loops",
        "loops",
        "Iterations of loops, phases of waves, and what costs cycles in and around them.",
        forms=tuple(
            Form(
                f"{spec.row.removesuffix('.')}: --show {name}.",
                (*loops.HEAD, *loops.FACTS, _fixed("show", name, "Which table"), spec.field()),
            )
            for name, (spec, _) in loops.TABLES.items()
        ),
    )
    yield Schema(
        "compare",
        "compare",
        "Whether B takes more or fewer cycles than A, beyond noise, and where.",
        (*compare.FACTS, compare.CHANGES["line"].field()),
    )
    yield Schema(
        "index",
        "index",
        "All captures below a folder, ranked.",
        (*library.FACTS, library.LIBRARY.field("captures")),
    )
    yield Schema("report", "report", "Reports that were written.", (written.REPORTS.field("reports"),))
    yield Schema("export", "export", "What was exported.", written.EXPORT)
    yield Schema(
        "samples",
        "synth",
        "Made-up samples: those there are, or those that were written.",
        (written.SAMPLES.field("samples"),),
    )
    yield Schema("schemas", "schema", "The schemas there are.", (written.SCHEMAS.field("schemas"),))


SCHEMAS: tuple[Schema, ...] = tuple(schemas())
BY_ID = {schema.id: schema for schema in SCHEMAS}


def of_command(command: str) -> tuple[Schema, ...]:
    """Return the schemas of the documents that a command prints with --json."""
    return tuple(schema for schema in SCHEMAS if schema.command == command)


def schema_document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command or of a schema; of a command with several: any of them.

    Raise UsageError for a name that is neither.
    """
    if name in (ENVELOPE, "rcv.envelope", "rcv.envelope/1"):
        return envelope_schema()
    found = [schema for schema in SCHEMAS if name in (schema.id, schema.name)] or list(of_command(name))
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
