"""One name, one meaning and unit, over all documents; names and words that are gone do not come back."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rcv_py.cli.schemas import SCHEMAS
from tests.house import ROOT, modules
from tests.support.pseudo import script

# What a field of this name is, wherever it stands: the type of its JSON, and how its description ends.
GLOSSARY = {
    "instruction": ("integer", r"^(Index of|Position|.*program)"),
    "producer": ("integer", "instruction"),
    "head": ("integer", "instruction"),
    "branch": ("integer|string", ""),
    "source_line": ("integer", "source file|Line, counted from 1"),
    "hottest_source_line": ("integer", "source file"),
    "is_upper_bound": ("boolean", "^Whether"),
    "simd_cycles": ("integer", "cycles"),
    "no_issue": ("integer", "cycles"),
    "mfma_busy": ("integer", "cycles"),
    "stall": ("integer|number|object", "cycles|percent|in percent|Time until it could issue"),
    "idle": ("integer|number|object", "cycles|percent|Gap before"),
    "latency": ("integer|number|array|object", "cycles|issue|samples"),
    "start": ("integer|number", "cycles|unit"),
    "end": ("integer|number", "cycles"),
    "range": ("array", "in cycles"),
    "total_rows": ("integer", "as a count"),
    "median": ("integer|number", "cycles"),
    "p90": ("integer|number", "cycles"),
    "wave": ("string", "wave"),
    "cu": ("integer", "[Cc]ompute unit"),
    "hit": ("integer", "counted from 0"),
    "token": ("integer", "counted from 0"),
    "gain": ("number", "from 0 to 1"),
}
GONE = {  # names of version 1 that said too little, or said it in words of our own
    "begin", "bubble", "codeobj", "cost_a", "cost_b", "given", "least", "line", "line_a", "line_b", "matrix",
    "matrix_busy", "most", "n", "nanoseconds", "nothing", "ns", "of", "producer_line", "row", "share",
    "silent", "std", "times", "top_line", "twin", "vector", "whole", "within",
}  # fmt: skip
WORDS = (  # of texts and names in the code
    r"how-manieth",
    r"GLANCE|PATIENCE|_patience|POLITENESS|STOPS_BORNE",  # also as parts of a name
    r"KeptReader|triage_in_peace|evidence_go",
    r"\bdoes not accept more\b",
    r"\bleft places empty\b",
    r"instruction without a code line",
    r"Latency and idle of all lines",
    r"most expensive line\"",
    r"lines of the program with",
)
RATE = r"(?:cycles?|bytes?|FLOP|instructions|operations) an? (?:cycle|lane|SIMD|CU|unit|wave|second|byte)"
TEXT_WORDS = (  # of what the window, the commands and reports say
    r"(?i)\b(?:nobody|somebody|everybody|whoever)\b",
    r"(?i)\b(?:behind|tells?|told|patience|under way|on (?:its|their) way)\b",
    r"(?i)\b(?:those|that) of\b",
    r"(?i)\b(?:playing|(?:is|are|be|was|were) played)\b",  # a recording is replayed
    rf"\b{RATE}\b",  # bytes/cycle, cycles per wave
    r"\bwaves a SIMD\b(?! (?:of|can))",
)


def fields(shape: Mapping[str, Any], place: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every field of a schema at any depth: where it stands, its name and its type."""
    for name, below in shape.get("properties", {}).items():
        yield place, name, below
        yield from fields(below, f"{place}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(shape.get(key), dict):
            yield from fields(shape[key], place)
    for form in (*shape.get("oneOf", ()), *shape.get("anyOf", ())):
        yield from fields(form, place)


def strange(place: str, name: str, shape: Mapping[str, Any]) -> str | None:
    """What is wrong with a field of this name, None if nothing is."""
    if name in GONE:
        return f"{place}.{name} is a name of version 1"
    if name not in GLOSSARY:
        return None
    types, words = GLOSSARY[name]
    own = shape.get("type", "object")
    own = {own} if isinstance(own, str) else set(own)
    if not own - {"null"} <= set(types.split("|")):
        return f"{place}.{name} is {sorted(own)}, not {types}"
    return None if re.search(words, shape["description"]) else f"{place}.{name}: {shape['description']}"


def test_a_name_means_the_same_everywhere() -> None:
    found = [strange(*field) for schema in SCHEMAS for field in fields(schema.as_json(), schema.name)]
    assert [text for text in found if text] == []


def test_a_planted_name_is_found() -> None:
    assert strange("rcv.x", "line", {"type": "integer", "description": "Index of the instruction."})
    assert strange("rcv.x", "instruction", {"type": "string", "description": "Text of the instruction."})
    assert strange("rcv.x", "range", {"type": "array", "description": "Lines."})


def test_every_share_names_its_denominator() -> None:
    for schema in SCHEMAS:
        for place, name, _ in fields(schema.as_json(), schema.name):
            if re.search(r"(^|_)share", name) and name != "share_base":  # which names that of a document
                assert re.search(r"share_of_\w+$", name), f"{place}.{name}"


def texts() -> dict[str, str]:
    """The modules of the package and the hand-written pages."""
    pages = {path.name: path.read_text() for path in (ROOT / "docs").rglob("*.md")}
    return pages | {name: module.text for name, module in modules().items()}


def gone_words(known: Mapping[str, str], words: tuple[str, ...] = WORDS) -> Iterator[str]:
    """Words that must not come back."""
    for name, text in known.items():
        yield from (f"{name}: {word}" for word in words if re.search(word, text))


def test_words_that_are_gone_do_not_come_back() -> None:
    assert list(gone_words(texts())) == []


def test_a_planted_word_is_found() -> None:
    assert list(gone_words({"planted": "PATIENCE = 3"}))
    assert list(gone_words({"planted": "PATIENCE_MS = 3"}))


def test_texts_for_people_use_the_terms_of_the_field() -> None:
    ids = [[one.id] if isinstance(one.id, str) else one.id for one in script().template()]
    shown = {text: text for forms in ids for text in forms}
    assert len(shown) > 5000, "the texts are found"
    assert list(gone_words(shown, TEXT_WORDS)) == []


def test_a_planted_text_is_found() -> None:
    for text in (
        "operations that nobody stalled for",
        "Predicted by playing 12 instructions.",
        "512 FLOP a cycle and compute unit",
        "3.3 waves a SIMD",
        "Their sums are those of the first run.",
    ):
        assert list(gone_words({text: text}, TEXT_WORDS)), text
    assert not list(gone_words({"": "How many waves a SIMD can hold, and 16 bytes/cycle"}, TEXT_WORDS))
