"""Find every text of the program, and keep the catalogues of `resources/texts` in step with them.

Usage: texts.py [--missing [LANGUAGE] | --check | --add LANGUAGE FILE]

Without options it leaves out of each catalogue what the program no longer says, and sorts it.  --missing
prints, as a JSON object to fill in, what a catalogue lacks; --add puts such a file into it (null: not a text
for people, which goes into `packaging/no_texts.json`); --check writes nothing and fails if anything is
missing, left over, or has other places for values than the English.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "rcv_py"
FOLDER = ROOT / "resources" / "texts"
NO_TEXTS = ROOT / "packaging" / "no_texts.json"
TOGETHER = ROOT / "packaging" / "composed_texts.json"  # more of what COMPOSED is, of commands and reports
LEFT_OUT = (
    *("cli/mcp/", "bundled/"),  # agents read English, as scripts do
    *("export/report/style.py", "ui/core/style_sheet.py"),  # rules of CSS
    "tuning/",  # names of Qt
)
HELP = re.compile(
    r"(?:cli/options/program|features/\w+/options)\.py"
)  # docstrings of classes are help of commands
ENGLISH = "AgentTool"  # what calls of it say, agents read

COMPOSED = (  # what parts of the program say together, and no text of it says alone
    "Hazard nop",
    "Panels",
    "launch-bound",
    "memory-bound",
    "compute-bound",
    "issue-bound",
    "latency-bound",
    "{0}, in cycles.",
    "Below {0} of the kernel's duration: {1}",
    "about {0}",
    "at most {0}",
    "about {0} of the kernel's duration",
    "at most {0} of the kernel's duration",
    "about {0} cycles ({1}) of cycles in which a SIMD held a traced wave",
    "at most {0} cycles ({1}) of cycles in which a SIMD held a traced wave",
    "at most {0} cycles ({1}) of cycles from the first start of a wave to the last end",
    "{0} waves a SIMD, {1} fit, the device holds {2}",
    "{0}, of {1} wave cycles; {2} explained",
    "{0}, of {1} SIMD cycles",
    "{0}, of {1} SIMD cycles, {2}",
    "{0} of {1} SIMD cycles",
    "cycles {0} to {1}",
    "{0} of all {1} cycles",
    "{0} working waves",
    "{0} of {1} source files",
    "{0} of {1} instructions",
    "{0} waves, traced, on {1} shader engines; median life {2}",
    "{0}, traced, on {1}; median life {2}",
    "{0} of {1} waves on the device",
    "{0} of {1} instructions: {2} of all {3}",
    "SIMDs do nothing in {0} of their cycles, while the matrix pipe is {1} busy",
    "{0} of their time, {1} of it stalled",
    "Predicted by playing {0} instructions again.",
    "Predicted by replaying {0} instructions.",
    "{0} of {1} stalled and {2} of {3} idle cycles explained in {4}.",
    "{0} of files: `rcv info` lists them.",
    "Cycles are attributed, not elapsed: several waves stall at once.",
    "Only traced waves can be seen to use a unit.",
    "Peaks are from data sheets, per compute unit and cycle.",
    "Bytes and VALU operations count full waves, and caches may serve bytes: both are upper bounds.",
)

PLACE = re.compile(r"\{[^{}\s]*\}")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_WORDS = re.compile(r"[a-z]{2,} |[A-Z][a-z]+|(?<![\w./:$@%#-])[a-z]{3,}(?![\w./:=@-])")
_MENU = re.compile(r"[A-Z][a-z]+(?:/[A-Z][a-z]+(?: [a-z]+)*)+")  # a menu within another
_LABEL = re.compile(r"[A-Z][a-z]+[ …]?")
_KEYS = re.compile(r"(?:(?:Ctrl|Alt|Shift)\+)+(?!Drag|Wheel)\S+")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
MAY_SAY = (*DOCUMENTED, ast.Constant, ast.JoinedStr, ast.Call)


def template(node: ast.AST) -> str | None:
    """Return the text of a constant, or of an f-string with `{0}` for the first value; None of others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    number, written = 0, ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            written += str(part.value)
        else:
            written, number = f"{written}{{{number}}}", number + 1
    return written


def is_for_people(text: str) -> bool:
    """Whether a text reads as words, not as a shortcut or a name."""
    if not _LETTERS.search(PLACE.sub("", text)) or _KEYS.fullmatch(text):
        return False
    is_sentence = " " in text.strip() and _WORDS.search(text) is not None
    return is_sentence or _LABEL.match(text) is not None


def texts_of(nodes: Iterable[ast.AST], *, has_help: bool) -> Iterator[str]:
    """Yield all texts of the nodes of a module but what is written for those who read the code."""
    nodes = [node for node in nodes if isinstance(node, MAY_SAY)]
    skipped = {id(one) for node in nodes for one in _unseen(node, has_help=has_help)}
    for node in nodes:
        if id(node) in skipped:
            continue
        text = template(node)
        if text is not None:
            yield text
            yield from text.split("/") if _MENU.fullmatch(text) else ()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "plural":
            yield from _plurals(node)


def _unseen(node: ast.AST, *, has_help: bool) -> Iterator[ast.AST]:
    """Docstrings, texts for agents, and what is inside of f-strings beside their values."""
    if isinstance(node, DOCUMENTED):
        first = node.body[0] if node.body else None
        is_help = has_help and isinstance(node, ast.ClassDef)
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and not is_help:
            yield first.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == ENGLISH:
        yield from ast.walk(node)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield part
            if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                yield from ast.walk(part.format_spec)


def _plurals(call: ast.Call) -> Iterator[str]:
    """What `plural(number, "wave")` says: `1 wave` and `{0} waves`."""
    from rcv_py.base.text import plural

    words = [[one for one in map(template, ast.walk(given)) if one] for given in call.args[1:]]
    for one in words[0] if words else ():
        many = words[1][0] if len(words) > 1 and words[1] else ""
        yield plural(1, one, many)
        yield plural(2, one, many).replace("2", "{0}", 1)


def columns() -> Iterator[str]:
    """Yield titles and units of the columns of results."""
    from rcv_py import features, results
    from rcv_py.results.field import Field, Kind, ShownIn
    from rcv_py.results.table import Spec

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, Spec):
            yield value.noun
            yield from (one for field in value.fields for one in walk(field))
        elif isinstance(value, Field) and value.at & ShownIn.PEOPLE:
            yield value.title
            yield value.kind.unit
        elif isinstance(value, Kind):
            yield value.unit

    names = [info.name for info in iter_modules(results.__path__, f"{results.__name__}.")]
    names += [
        info.name
        for info in walk_packages(features.__path__, f"{features.__name__}.")
        if info.name.endswith("result")
    ]
    for name in names:
        for value in vars(import_module(name)).values():
            for one in value if isinstance(value, tuple) else (value,):
                yield from (text for text in walk(one) if _LETTERS.search(text))


def page_texts() -> Iterator[str]:
    """Yield what markup and script of the page to look around in say."""
    from rcv_py.export.interactive.page import MARKUP_TEXT, SAY, headings

    folder = CODE / "export" / "interactive"
    script = (folder / "page.js").read_text(encoding="utf-8")
    yield from headings(script)
    yield from map(json.loads, SAY.findall(script))
    yield from MARKUP_TEXT.findall((folder / "page.html").read_text(encoding="utf-8"))


def files() -> Iterator[tuple[str, Iterable[ast.AST]]]:
    """Yield the path of each file of the program below `rcv_py`, and its nodes."""
    for file in sorted(CODE.rglob("*.py")):
        yield file.relative_to(CODE).as_posix(), ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def said() -> tuple[set[str], set[str]]:
    """Return all texts of the program, and those of them that every catalogue must have."""
    every: set[str] = set()
    for name, nodes in files():
        if not name.startswith(LEFT_OUT):
            every.update(texts_of(nodes, has_help=HELP.match(name) is not None))
    titles = {*columns(), *COMPOSED, *composed(), *page_texts()}
    wanted = {text for text in every if is_for_people(text)} | titles
    return every | titles, wanted - set(no_texts())


def no_texts() -> list[str]:
    """Return what reads as words and is shown to nobody, such as style sheets."""
    return json.loads(NO_TEXTS.read_text(encoding="utf-8")) if NO_TEXTS.exists() else []


def composed() -> list[str]:
    """Return what several texts say together, which a catalogue has as one for its word order."""
    return json.loads(TOGETHER.read_text(encoding="utf-8"))


def places(text: str) -> Counter[str]:
    """Return the places for values of a text."""
    return Counter(PLACE.findall(text))


def faults(texts: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with a catalogue, a sentence each."""
    every, wanted = said()
    yield from (f"missing: {text!r}" for text in sorted(wanted - texts.keys()))
    yield from (f"no longer said: {text!r}" for text in sorted(texts.keys() - every))
    yield from (f"other places: {text!r}" for text, other in texts.items() if places(text) != places(other))


def languages() -> dict[str, Path]:
    """Return the catalogues by language."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.json"))}


def read(path: Path) -> dict[str, str]:
    """Return what a catalogue holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, texts: dict[str, str]) -> None:
    """Write a catalogue: sorted, an entry a line."""
    path.write_text(
        json.dumps(texts, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8", newline="\n"
    )


def add(language: str, found: dict[str, str | None]) -> None:
    """Put translations into a catalogue, and what is null into the list of what is no text."""
    path = FOLDER / f"{language}.json"
    texts = read(path) if path.exists() else {}
    write(path, texts | {english: other for english, other in found.items() if other is not None})
    none = {english for english, other in found.items() if other is None}
    lines = json.dumps(sorted(none | set(no_texts())), ensure_ascii=False, indent=0)
    NO_TEXTS.write_text(lines + "\n", encoding="utf-8", newline="\n")


def tidy(every: Iterable[str]) -> None:
    """Leave out what the program no longer says."""
    known = set(every)
    for path in languages().values():
        write(path, {english: other for english, other in read(path).items() if english in known})
    kept = json.dumps(sorted(known & set(no_texts())), ensure_ascii=False, indent=0)
    NO_TEXTS.write_text(kept + "\n", encoding="utf-8", newline="\n")


def main(words: list[str]) -> int:
    """Do what the words say."""
    if words[:1] == ["--add"]:
        add(words[1], json.loads(Path(words[2]).read_text(encoding="utf-8")))
    elif words[:1] == ["--missing"]:
        _, wanted = said()
        for language, path in languages().items():
            if words[1:] in ([], [language]):
                lacks = sorted(wanted - read(path).keys())
                print(json.dumps(dict.fromkeys(lacks), ensure_ascii=False, indent=0))
    elif words[:1] == ["--check"]:
        wrong = [f"{language}: {one}" for language, path in languages().items() for one in faults(read(path))]
        print("\n".join(wrong), end="\n" if wrong else "")
        return int(bool(wrong))
    else:
        tidy(said()[0])
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
