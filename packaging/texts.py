"""Find every text of the program, and keep the catalogues of `resources/texts` in step with them.

Usage: texts.py [--missing | --check | --new LANGUAGE]

Without options it updates each `rcv.po` as msgmerge does, and compiles `rcv.mo`.  --missing lists what is not
translated; --check does so, too, and fails if there is any, or a translation has other places for values than
the English: for releases.  --new begins a catalogue.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages

from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "rcv_py"
FOLDER = ROOT / "resources" / "texts"
PLACE = re.compile(r"\{[^{}\s]*\}")
LEFT_OUT = (
    *("cli/mcp/", "bundled/"),  # agents read English, as scripts do
    "export/report/style.py",  # rules of CSS
    *("tuning/", "__init__.py", "api/__init__.py"),  # names of Qt, and of what is imported late
    *("cli/commands/completion.py", "formats/rocpd/guarded.py"),  # other languages
)
HELP = re.compile(
    r"(?:cli/options/program|features/\w+/options)\.py"
)  # with the help of commands as docstrings
ENGLISH = ("AgentTool", "Enum", "IntEnum")  # what calls of these say, agents and programs read
COUNTED = {  # nouns of tables that are counted, and their plurals
    "branch": "branches", "class": "classes", "dispatch": "dispatches", "event": "", "group": "", "kind": "",
    "marker": "", "shader value": "", "source line": "", "state": "",
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_LETTERS = re.compile(r"[A-Za-z]{2}")
_WORDS = re.compile(r"[a-z]{2,} |[A-Z][a-z]+|(?<![\w./:$@%#-])[a-z]{3,}(?![\w./:=@-])")
_MENU = re.compile(r"[A-Z][a-z]+(?:/[A-Z][a-z]+(?: [a-z]+)*)+")  # a menu within another
_LABEL = re.compile(r"[A-Z][a-z]+(?:[ …]|$)")
_KEYS = re.compile(r"(?:(?:Ctrl|Alt|Shift)\+)+(?!Drag|Wheel)\S+")

Text = str | tuple[str, str]  # a text, or the forms for one and for many


def is_for_people(text: str) -> bool:
    """Whether a text reads as words, not as a shortcut or a name."""
    if not _LETTERS.search(PLACE.sub("", text)) or _KEYS.fullmatch(text):
        return False
    is_sentence = " " in text.strip() and _WORDS.search(text) is not None
    return is_sentence or _LABEL.match(text) is not None


def texts_of(nodes: Iterable[ast.AST], *, has_help: bool = False) -> Iterator[tuple[Text, str]]:
    """Yield the texts of the nodes of a module, and what the values in each are; no docstrings."""
    nodes = list(nodes)
    unseen = {id(one) for node in nodes for one in _unseen(node, has_help=has_help)}
    for node in nodes:
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Call):
            name = _name(node)
            if name == "plural":
                yield from ((both, "") for both in _plurals(node))
            elif name == "Message":
                values = (f"{{{at}}} {ast.unparse(value)}" for at, value in enumerate(node.args[1:]))
                about = ", ".join(values) or "no values"
                yield from ((text, about) for text in _templates(node, nodes))
            elif name == "join_texts" and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value, "between texts"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, ""
            yield from ((menu, "") for menu in node.value.split("/") if _MENU.fullmatch(node.value))


def _templates(call: ast.Call, nodes: Iterable[ast.AST]) -> list[str]:
    """The texts that the first argument of a message may be, or that its function assigned to it before."""
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Name):
        return _constants(first)
    functions = (one for one in nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    begin = max((one.lineno for one in functions if one.lineno <= call.lineno <= one.end_lineno), default=0)
    assigned = {
        one.lineno: texts
        for one in nodes
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == first.id
        if (texts := _constants(one.value))
    }
    return assigned.get(max((line for line in assigned if begin < line < call.lineno), default=0), [])


def _constants(node: ast.AST | None) -> list[str]:
    """The text of a constant, or the texts of a choice between some."""
    if isinstance(node, ast.IfExp):
        return _constants(node.body) + _constants(node.orelse)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    return [node.value] if is_text else []


def _unseen(node: ast.AST, *, has_help: bool) -> Iterator[ast.AST]:
    """Docstrings, types, texts for agents, pieces of f-strings, nouns, templates that come with values."""
    types = getattr(node, "annotation", None), getattr(node, "returns", None)
    yield from (one for given in types if given is not None for one in ast.walk(given))
    if isinstance(node, DOCUMENTED):
        first = node.body[0] if node.body else None
        is_help = has_help and isinstance(node, ast.ClassDef)
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and not is_help:
            yield first.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield part
            if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                yield from ast.walk(part.format_spec)
    elif isinstance(node, ast.Call):
        english = {name: [node] for name in ENGLISH}
        unseen = {**english, "Message": node.args[:1], "plural": node.args[1:]}.get(_name(node), [])
        yield from (one for given in unseen for one in ast.walk(given))


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _plurals(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The forms of `plural(number, "wave")`, or of each noun of a choice."""
    nouns = [
        [one.value for one in ast.walk(given) if isinstance(one, ast.Constant)]
        for given in call.args[1:]
        if not isinstance(given, ast.JoinedStr)
    ]
    for one in nouns[0] if nouns else ():
        if isinstance(one, str):
            yield forms(one, nouns[1][0] if len(nouns) > 1 and nouns[1] else "")


def forms(one: str, many: str = "") -> tuple[str, str]:
    """Return the templates for one and for many of a noun."""
    from rcv_py.base.text import plural

    first, second = plural(1, one, many).template.split("\n")
    return first, second


def columns() -> Iterator[Text]:
    """Yield titles, units and nouns of the columns of results."""
    from rcv_py import features, results
    from rcv_py.results.field import Field, Kind, ShownIn
    from rcv_py.results.table import Spec

    def walk(value: object) -> Iterator[Text]:
        if isinstance(value, Spec):
            yield from (value.noun, forms(value.noun)) if value.noun else ()
            yield from (one for field in value.fields for one in walk(field))
        elif isinstance(value, Field) and value.at & ShownIn.PEOPLE:
            yield from (value.title, value.kind.unit)
        elif isinstance(value, Kind):
            yield value.unit

    names = [info.name for info in iter_modules(results.__path__, f"{results.__name__}.")]
    every = walk_packages(features.__path__, f"{features.__name__}.")
    for name in (*names, *(info.name for info in every if info.name.endswith("result"))):
        for value in vars(import_module(name)).values():
            for one in value if isinstance(value, tuple) else (value,):
                yield from walk(one)


def page_texts() -> Iterator[str]:
    """Yield what markup and script of the page to look around in say."""
    from rcv_py.export.interactive.page import MARKUP_TEXT, SAY, headings

    folder = CODE / "export" / "interactive"
    script = (folder / "page.js").read_text(encoding="utf-8")
    yield from headings(script)
    yield from map(json.loads, SAY.findall(script))
    yield from MARKUP_TEXT.findall((folder / "page.html").read_text(encoding="utf-8"))


def table_texts() -> Iterator[str]:
    """Yield what the tables of `resources/tables` say."""

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            yield from (
                text for one in (value.values() if isinstance(value, dict) else value) for text in walk(one)
            )

    for path in sorted(FOLDER.with_name("tables").glob("*.toml")):
        yield from walk(tomllib.loads(path.read_text(encoding="utf-8")))


def template() -> Catalog:
    """Return the texts of the program: those that read as words, and of the others those in a catalogue."""
    found: dict[Text, str] = {}
    for file in sorted(CODE.rglob("*.py")):
        name = file.relative_to(CODE).as_posix()
        if not name.startswith(LEFT_OUT):
            nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            for text, values in texts_of(nodes, has_help=HELP.match(name) is not None):
                found[text] = found.get(text) or values
    every = {one.id for path in catalogues().values() for one in read(path)}
    found |= {text: found.get(text, "") for text in table_texts()}
    kept = {text: note for text, note in found.items() if text in every or note or _is_wanted(text)}
    kept |= {text: "" for text in (*columns(), *page_texts()) if _is_wanted(text) or _has_letters(text)}
    kept |= {forms(one, many): "" for one, many in COUNTED.items()}
    made = Catalog(project="rcv")
    for text in sorted(kept, key=str):
        made.add(text, auto_comments=[kept[text]] if kept[text] else [])
    return made


def _is_wanted(text: Text) -> bool:
    return isinstance(text, tuple) or is_for_people(text)


def _has_letters(text: Text) -> bool:
    return _LETTERS.search(str(text)) is not None


def catalogues() -> dict[str, Path]:
    """Return the catalogues by language."""
    return {path.parts[-3]: path for path in sorted(FOLDER.glob("*/LC_MESSAGES/rcv.po"))}


def read(path: Path) -> Catalog:
    """Return what a catalogue holds."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3], abort_invalid=True)


def compiled(catalogue: Catalog) -> bytes:
    """Return the form of a catalogue that is read at run time."""
    target = io.BytesIO()
    write_mo(target, catalogue)
    return target.getvalue()


def update(path: Path) -> None:
    """Put the texts of the program into a catalogue, and compile it."""
    catalogue = read(path)
    catalogue.update(template(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    with path.open("wb") as file:
        write_po(file, catalogue, width=110, sort_output=True)
    path.with_suffix(".mo").write_bytes(compiled(read(path)))


def missing(catalogue: Catalog) -> list[str]:
    """Return the texts of the program that a catalogue has no translation of."""
    done = {one.id for one in catalogue if all(strings(one)) and not one.fuzzy}
    return [str(one.id) for one in template() if one.id and one.id not in done]


def other_places(catalogue: Catalog) -> list[str]:
    """Return the texts whose translation has other places for values."""
    return [
        str(one.id)
        for one in catalogue
        for other in strings(one)
        if one.id and other and places(other) != places(one.id if isinstance(one.id, str) else one.id[1])
    ]


def strings(message: Message) -> tuple[str, ...]:
    """Return the translation of a text, in each form; empty texts if there is none."""
    return message.string if isinstance(message.string, tuple) else (message.string,)


def places(text: str) -> set[str]:
    """Return the places for values of a text."""
    return set(PLACE.findall(text))


def main(words: list[str]) -> int:
    """Do what the words say."""
    if words[:1] == ["--new"]:
        path = FOLDER / words[1] / "LC_MESSAGES" / "rcv.po"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            write_po(file, Catalog(locale=words[1], project="rcv"))
    if words[:1] not in (["--missing"], ["--check"]):
        for path in catalogues().values():
            update(path)
        return 0
    found = [
        f"{language}: {text}"
        for language, path in catalogues().items()
        for text in missing(read(path)) + (other_places(read(path)) if words == ["--check"] else [])
    ]
    print("\n".join(found), end="\n" if found else "")
    return int(words == ["--check"] and bool(found))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
