"""The published schemas of `--json`: what every document begins with, and the fields of each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rcv_py.base.errors import UsageError
from rcv_py.features.compare import library_result as library
from rcv_py.features.compare import result as compare
from rcv_py.features.compare import trend_result as trend
from rcv_py.features.compat import result as hotspot_like
from rcv_py.features.counters import pmc_result as pmc
from rcv_py.features.counters import result as counters
from rcv_py.features.events import result as events
from rcv_py.features.findings import result as triage
from rcv_py.features.flame import result as flame
from rcv_py.features.health import result as check
from rcv_py.features.hotspot import result as hotspot
from rcv_py.features.isa import help_result as instruction_help
from rcv_py.features.isa import result as isa
from rcv_py.features.latency import result as latency
from rcv_py.features.line import place_result as place
from rcv_py.features.line import result as line
from rcv_py.features.loops import result as loops
from rcv_py.features.notes import result as notes
from rcv_py.features.notes import search_result as search
from rcv_py.features.occupancy import result as occupancy
from rcv_py.features.range import result as clock_range
from rcv_py.features.record import result as recording
from rcv_py.features.registers import result as registers
from rcv_py.features.roofline import result as roofline
from rcv_py.features.source import result as source
from rcv_py.features.summary import info_result as info
from rcv_py.features.summary import result as summary
from rcv_py.features.waves import result as waves
from rcv_py.features.waves import units_result as units
from rcv_py.features.whatif import result as whatif
from rcv_py.features.whatif import schedule_result as schedule
from rcv_py.features.why import bubbles_result as bubbles
from rcv_py.features.why import result as causes
from rcv_py.features.why import waits_result as waits
from rcv_py.results import json_types, profile, written
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field, Kind, optional, record, shapes
from rcv_py.results.json_types import Shape, named, text
from rcv_py.results.kinds import TEXT, WHOLE, fixed, texts
from rcv_py.results.table import Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VALUE = {
    "type": ["string", "number", "boolean", "null", "array"],
    "description": "The value; null if the option was not given and has no default.",
}
_WAVES = (
    TEXT("chosen", "What was chosen: `working`, `all`, or the id of a population"),
    WHOLE("counted", "Waves whose costs are summed"),
    WHOLE("read", "Waves that could be read; waves that are not counted still occupy units"),
    WHOLE("traced", "Waves that the capture names; more than were read if files are missing"),
    TEXT("text", "The choice in words"),
)
_ABOUT = (
    TEXT("command", "Name of the command that printed it, without `rcv`"),
    Field(
        "arguments",
        Kind(json=lambda sentence: named(sentence, _VALUE)),
        "The options of the command, defaults included, without the output format",
    ),
    Field("captures", texts("Name of a capture."), "Names of the captures that were read"),
    Field(
        "problems",
        texts("A sentence; of several captures it begins with the name of the capture."),
        "Problems of the files of these captures, which affect the numbers below",
    ),
    Field(
        "waves",
        record(*_WAVES),
        "Waves whose costs are summed, in documents whose waves `--waves` chooses; over "
        "both sides in a comparison, over all captures in a list of reports",
        is_optional=True,
    ),
    Field(
        "run_files",
        texts("Path of a file."),
        "Tables of the run that were used, where the command uses them; empty if none was found",
        is_optional=True,
    ),
    TEXT(
        "alarm",
        "Warning that the instruction texts are missing or belong to other code than was "
        "traced, so that no statement about them holds; empty if they fit. In documents of "
        "commands that check this",
        is_optional=True,
    ),
)
_HEAD = (
    TEXT("rcv", "Version of rcv that printed it"),
    Field("about", record(*_ABOUT), "How the document came about"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form of the content of a document."""

    words: str  # its option: a sentence
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind of document.

    The version grows when a reader of the old document could misread the new one: a field was removed,
    renamed or changed its meaning.  A new field does not count.
    """

    short: str  # its name without "rcv."
    meaning: str  # what the document contains: a sentence
    fields: tuple[Field, ...] = ()  # of a document that has one form
    forms: tuple[Form, ...] = ()  # of one that has several
    version: int = 2
    command: str = ""  # that prints it; by default the first word of its name

    def __post_init__(self) -> None:
        if not self.command:
            object.__setattr__(self, "command", re.split("[._]", self.short)[0])

    @property
    def name(self) -> str:
        """Its name: `rcv.hotspot`."""
        return f"rcv.{self.short}"

    @property
    def id(self) -> str:
        """Name and version as in documents: `rcv.hotspot/1`."""
        return f"{self.name}/{self.version}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON Schema of the whole document, envelope included."""
        head = {
            "$schema": DIALECT,
            "$id": f"urn:{self.name.replace('.', ':')}:{self.version}",
            "title": self.id,
            "description": self.meaning,
        }
        if not self.forms:
            return {**self._record(self.meaning, self.fields), **head}
        return {**head, "oneOf": [self._record(form.words, form.fields) for form in self.forms]}

    def _record(self, words: str, fields: tuple[Field, ...]) -> Shape:
        return json_types.record(words, {**envelope(self.id), **shapes(fields)}, optional(fields))


def envelope(identity: str = "") -> dict[str, Shape]:
    """Return the fields that every document has; `identity` is the value of `schema`, "" for any."""
    meaning = "Name of the schema and its version, joined by a slash."
    name = (
        json_types.fixed(meaning, identity)
        if identity
        else {**text(meaning), "pattern": r"^rcv\.[a-z_.]+/[1-9][0-9]*$"}
    )
    return {"schema": name, **shapes(_HEAD)}


def envelope_schema() -> dict[str, Any]:
    """Return the JSON Schema of the fields common to all documents."""
    shape = json_types.record("What every document of rcv begins with.", envelope())
    head = {"$schema": DIALECT, "$id": "urn:rcv:envelope:1", "title": "rcv.envelope/2"}
    return {**head, **shape, "additionalProperties": True}


ENVELOPE = "envelope"
_DOCUMENTS = Kind(
    json=lambda sentence: json_types.listed(sentence, {"type": "object", "description": "A document."}),
    is_nested=True,
)


def _form(words: str, facts: Iterable[Field], name: str, kind: str, spec: Spec) -> Form:
    """The form that this field's value distinguishes from the others."""
    return Form(words, (*facts, Field(name, fixed(kind), "What a row is"), spec.field()))


def schemas() -> tuple[Schema, ...]:
    """Return every schema, built from the fields that results declare."""
    return (
        Schema("info", "What a capture holds.", info.FACTS),
        Schema("captures", "The captures below a folder.", info.BELOW, command="info"),
        Schema(
            "profile",
            "What a database or document of rocprofv3 holds.",
            profile.FACTS,
            version=1,
            command="info",
        ),
        Schema(
            "check",
            "Whether the capture can be trusted, and how to record a better one.",
            (*check.HEAD, check.NOTES.field("notes"), *check.FOOT),
        ),
        Schema("summary", "The capture on one page.", summary.DOCUMENT),
        Schema(
            "occupancy",
            "How many waves were resident, and for how long.",
            forms=tuple(
                _form(words, occupancy.FACTS, "by", by, spec)
                for by, (spec, words) in occupancy.VARIANTS.items()
            ),
        ),
        Schema(
            "schedule",
            "How long hot blocks take in the executed order, and in the best order found.",
            (*schedule.FACTS, schedule.DOCUMENT.field()),
            version=1,
        ),
        Schema(
            "roofline",
            "How near the kernel and its loops are to the peaks of a compute unit and of memory.",
            (*roofline.FACTS, roofline.DOCUMENT.field()),
            version=1,
        ),
        Schema(
            "registers",
            "Registers that hold values still needed, and where the most do.",
            forms=tuple(
                Form(words, (*facts, spec.field())) for spec, facts, words in registers.VARIANTS.values()
            ),
            version=1,
        ),
        Schema(
            "occupancy_limits",
            "What limits the waves of a SIMD, and what the next step requires (--limits).",
            occupancy.LIMITS_DOCUMENT,
        ),
        Schema("counters", "Hardware counters and formulas over them.", counters.FACTS),
        Schema("counters.list", "The recorded counters (--list).", counters.RECORDED_FACTS),
        Schema(
            "events",
            "Dispatches, hardware events, markers and shader data by time.",
            (*events.FACTS, events.EVENTS.field()),
        ),
        Schema(
            "hotspot",
            "Instructions, source lines, kinds or classes, ranked by what they cost.",
            (*hotspot.RANKING_FACTS, hotspot.ranking_spec("instruction", "").field()),
        ),
        Schema(
            "hotspot_like",
            "The tables of hotspot_analyzer.py by the rules of one generation, mistakes included (--like).",
            (*hotspot_like.FACTS, hotspot_like.SOURCES.field("sources"), hotspot_like.ROWS.field()),
        ),
        Schema(
            "isa",
            "The program: instructions, basic blocks, branches or labels.",
            forms=(
                *(
                    _form(words, isa.FACTS, "kind", kind, spec)
                    for kind, (spec, words) in isa.VARIANTS.items()
                ),
                Form(
                    "What instructions do: --help-of.",
                    (*instruction_help.FACTS, instruction_help.HELP.field()),
                ),
            ),
        ),
        Schema(
            "line",
            "How long the executions of one instruction took.",
            forms=(
                Form("Thread traces.", (*line.FACTS, line.HITS.field("slowest"))),
                Form("PC samples, which have no times.", line.SAMPLE_FACTS),
            ),
        ),
        Schema(
            "latency",
            "How much latency other waves hide, or how long memory takes by counters.",
            forms=tuple(
                _form(words, (*latency.FACTS, sums), "kind", kind, spec)
                for kind, (spec, sums, words) in latency.VARIANTS.items()
            ),
        ),
        Schema(
            "flame",
            "A flamegraph: nested frames, parents before children.",
            (*flame.FACTS, flame.FRAMES.field("frames")),
        ),
        Schema(
            "flame.sandwich",
            "A place with what leads to it above and what it leads to below (--content sandwich --around).",
            (
                CAPTURE,
                Field("content", fixed("sandwich"), "What frames are"),
                *flame.SANDWICH_FACTS,
                flame.SANDWICH.field("frames"),
            ),
        ),
        Schema(
            "hotspot.bins",
            "A histogram of the program: cycles by range of instructions and kind (--bins).",
            (*hotspot.BINS_FACTS, hotspot.BINS.field()),
        ),
        Schema(
            "hotspot.places",
            "Source lines, instructions, or the tree of places, with the cost charged to each (--charge).",
            (*hotspot.PLACES_FACTS, hotspot.places_spec("instruction", "cycles").field()),
        ),
        Schema(
            "compare.listing",
            "Both programs side by side (--by listing).",
            (*compare.VIEW_FACTS, compare.LISTING.field()),
        ),
        Schema(
            "compare.work",
            "What an operation, a byte and the launch cost in A and in B (--by work).",
            (*compare.VIEW_FACTS, compare.WORK.field()),
            version=1,
        ),
        Schema(
            "compare.flame",
            "The flamegraph of B with the cost of each frame in both (--by flame).",
            (*compare.VIEW_FACTS, compare.FRAMES.field("frames")),
        ),
        Schema(
            "waves",
            "Traced waves: where and when they ran, and what they did.",
            (*waves.HEAD, waves.WAVES.field()),
        ),
        Schema(
            "waves.resident",
            "Every wave that was on the device, traced or not (--resident).",
            (*waves.HEAD, waves.RESIDENT.field()),
        ),
        Schema(
            "waves.populations",
            "Paths that waves took through the code, and which of them work (--populations).",
            (*waves.POPULATION_FACTS, waves.POPULATIONS.field()),
        ),
        Schema(
            "wave", "What one wave did; with --tokens also its instructions.", waves.WAVE, command="waves"
        ),
        Schema(
            "units",
            "For how long each unit of a compute unit was busy with traced waves.",
            (*units.FACTS, units.UNITS.field()),
            command="summary",
        ),
        Schema(
            "place",
            "Facts about places: an instruction, a wave, one execution of an instruction by a wave.",
            (CAPTURE, place.PLACES),
            command="line",
        ),
        Schema(
            "record",
            "Runs of rocprofv3, and the resulting capture.",
            (*recording.HEAD, recording.DOCUMENT.field("runs")),
        ),
        Schema(
            "whatif",
            "What changes of the kernel would gain, predicted by replaying the recording.",
            (*whatif.FACTS, whatif.PREDICTIONS.field("experiments")),
        ),
        Schema(
            "whatif.path",
            "The critical path, which makes up the span of the compute units (--path).",
            (*whatif.PATH_FACTS, whatif.PATH.field()),
        ),
        Schema(
            "search",
            "Where a text occurs: instructions and labels, then source lines, then markers.",
            (*search.FACTS, search.HITS.field()),
        ),
        Schema(
            "source",
            "What source files and lines cost, or the instructions of a line.",
            forms=tuple(
                _form(spec.row, source.FACTS, "kind", kind, spec) for kind, spec in source.FORMS.items()
            ),
        ),
        Schema(
            "pmc",
            "Hit rate of L2 and bytes to and from memory, by counters of rocprofv3 --pmc.",
            (*pmc.FACTS, pmc.PMC.field()),
        ),
        Schema(
            "triage",
            "What limits the kernel, and findings with evidence and remedy, by possible gain.",
            (*triage.HEAD, triage.FINDINGS.field("findings"), *triage.FOOT),
        ),
        Schema(
            "triage.folder",
            "The first finding of every capture below a folder.",
            (*triage.FOLDER_FACTS, triage.CAPTURES.field("captures")),
        ),
        Schema(
            "waits",
            "What waits waited for, or the memory latency that waits show.",
            forms=(
                Form("Waits and what they waited for.", (*waits.FACTS, waits.DOCUMENT.field("waits"))),
                Form(
                    "Memory latency of instructions: --latency.",
                    (*waits.FACTS, waits.LATENCIES.field("latency")),
                ),
                Form("Inverted waits: --inverted.", (*waits.LOAD_FACTS, waits.LOAD_ORDER.field())),
            ),
        ),
        Schema(
            "range",
            "What waves did in a range of cycles, cut at its borders.",
            (*clock_range.FACTS, clock_range.RANGE_PARTS.field()),
            version=1,
        ),
        Schema(
            "causes",
            "Why waves stalled and idled; cycles of waves, not elapsed time.",
            forms=tuple(
                _form(causes.WORDS[by], causes.FACTS, "by", by, spec) for by, spec in causes.DOCUMENTS.items()
            ),
            version=3,
        ),
        Schema(
            "bubbles",
            "Instructions by the cycles in which waves waited in them while nothing happened on their SIMD.",
            (*bubbles.FACTS, bubbles.BUBBLES.field()),
        ),
        Schema(
            "loops",
            "Iterations of loops, phases of waves, and what costs cycles in and around them.",
            forms=tuple(
                _form(f"{spec.row.removesuffix('.')}: --by {name}.", loops.FACTS, "show", name, spec)
                for name, (spec, _) in loops.TABLES.items()
            ),
        ),
        Schema(
            "compare",
            "Whether B takes more or fewer cycles than A, beyond noise, and where.",
            (*compare.FACTS, compare.CHANGES["instruction"].field()),
        ),
        Schema(
            "index",
            "All captures below a folder, ranked.",
            (*library.FACTS, library.LIBRARY.field("captures")),
        ),
        Schema(
            "compare.several",
            "Several captures, each compared with the same baseline.",
            (*trend.SEVERAL_FACTS, trend.TREND.field("captures")),
        ),
        Schema(
            "trend",
            "The captures below a folder in order, each compared with the previous one of the same kernel.",
            (*trend.TREND_FACTS, trend.TREND.field("captures")),
        ),
        Schema("notes", "Notes about a capture.", (*notes.FACTS, notes.NOTES.field()), version=1),
        Schema("report", "Reports that were written.", written.REPORT),
        Schema("export", "What was exported.", written.EXPORT),
        Schema("pack", "A capture that was written as one file.", written.PACKED, version=1),
        Schema("unpack", "A packed capture that was written as a folder.", written.PACKED, version=1),
        Schema("decode", "A capture that was written as a folder.", written.PACKED, version=1),
        Schema(
            "samples",
            "Synthetic samples: the available ones, or the written ones.",
            written.SYNTH,
            command="synth",
        ),
        Schema(
            "isa-docs",
            "AMD's machine-readable ISA files that are kept, or the file that was added.",
            (instruction_help.DOCS.field(),),
            version=1,
        ),
        Schema(
            "documents",
            "What a command prints for several captures: one document each (check and summary).",
            (Field("documents", _DOCUMENTS, "In the order of the captures"),),
            command="check",
        ),
        Schema("schemas", "All schemas.", written.LIST, command="schema"),
    )


SCHEMAS = schemas()
BY_ID = {schema.id: schema for schema in SCHEMAS}


def of_command(command: str) -> tuple[Schema, ...]:
    """Return the schemas of the documents that a command prints with --json."""
    return tuple(schema for schema in SCHEMAS if schema.command == command)


def schema_document(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a command or of a schema; for a command with several, any of them.

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
        hint = f"Did you mean `rcv schema {near[0]}`?" if near else ("`rcv schema` lists all of them.")
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
