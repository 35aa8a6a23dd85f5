"""Help on instructions: what each does, its unit, how long it takes, what waits for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rcv_py.analysis.attribution.instruction_help import instruction_help
from rcv_py.features.isa import result
from rcv_py.model.trace import Trace
from rcv_py.results import common, kinds
from rcv_py.results.table import Columns, Form, ResultTable, Schema, Spec, form

HELP = Spec(
    "instruction_help",
    "One row per requested mnemonic.",
    "mnemonic",
    kinds.TEXT("mnemonic", "The mnemonic"),
    kinds.NOTE("what", "What it does, by the family of its mnemonic; empty if unknown", "what it does"),
    kinds.TEXT("unit", "The unit that executes it"),
    kinds.NOTE("kind", "Its class, in words"),
    kinds.CYCLES("cycles", "Minimum time during which its unit accepts nothing else; 0: none"),
    kinds.COUNT("passes", "Passes of the matrix unit, 4 cycles each; 0 for others"),
    kinds.COUNT("flop", "Operations of one execution, of the wave for matrix instructions, else of a lane"),
    kinds.texts("A counter.")("counters", "Counters that it increments or waits for"),
    kinds.texts("A sentence.")("distances", "What must lie between it and a consumer of its result"),
    kinds.NOTE("described", "What the machine-readable ISA file says; empty without one"),
    kinds.COUNT("hits", "Executions of all instructions of that mnemonic by all traced waves"),
    nothing="No instruction of the program has that mnemonic.",
)
DOCS = Spec(
    "isa_docs",
    "One row per GPU family whose machine-readable ISA file from AMD was read.",
    "file",
    kinds.TEXT("family", "The family of GPUs, such as cdna3"),
    kinds.TEXT("architecture", "Its name in the file"),
    kinds.COUNT("instructions", "Names of instructions that it describes"),
    kinds.SOURCE("file", "Where the file was"),
    nothing="No ISA file is kept.",
)
DOCS_SCHEMA = Schema(
    "isa-docs",
    "AMD's machine-readable ISA files that are kept, or the file that was added.",
    (DOCS.field(),),
    version=1,
)
FACTS = (common.CAPTURE, kinds.TEXT("target", "The instruction set, such as gfx942"))
SCHEMA = Schema(
    "isa",
    "The program: instructions, basic blocks, branches or labels.",
    forms=(
        *(form(words, result.FACTS, "kind", kind, spec) for kind, (spec, words) in result.VARIANTS.items()),
        Form("What instructions do: --help-of.", (*FACTS, HELP.field())),
    ),
)


def asked(trace: Trace, wanted: str) -> list[str]:
    """Return one text per selected mnemonic: by the index of an instruction, or by a prefix of the mnemonic.

    A mnemonic that the program does not have stands for itself.
    """
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 10:
        row = int(wanted)
        return [trace.code.text[row].strip()] if row < len(trace.code) else []
    name = wanted.strip().lower()
    found: dict[str, str] = {}
    for text, is_label in zip(trace.code.text, trace.code.is_label.tolist(), strict=True):
        if not is_label and _mnemonic(text).lower().startswith(name):
            found.setdefault(_mnemonic(text), text.strip())
    return list(found.values()) or [wanted]


def help_table(trace: Trace, texts: Sequence[str], described: Mapping[str, str]) -> ResultTable:
    """Return one row per text; `described` has a file's descriptions of mnemonics."""
    found = [instruction_help(text, trace.architecture, trace.code.text) for text in texts]
    hits: Counter[str] = Counter()
    for text, count in zip(trace.code.text, trace.code.hits.tolist(), strict=True):
        hits[_mnemonic(text)] += count
    columns: Columns = {
        "counters": [list(one.counters) for one in found],
        "distances": [list(one.distances) for one in found],
        "described": [described.get(one.mnemonic, "") for one in found],
        "hits": [hits[one.mnemonic] for one in found],
    }
    return ResultTable.of(HELP, found, columns)


def _mnemonic(text: str) -> str:
    return text.strip().partition(" ")[0]


def help_facts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a row for people, as names and texts; unknown values are omitted."""
    known = (field for field in HELP.fields if row[field.name] not in (0, "", []))
    return [(field.title, field.text(row[field.name])) for field in known]
