"""Rules of the house that a reader of one file cannot see broken."""

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from bench.table import discover as bench_measures
from tests.house import ROOT, Module, inner, modules, read

Known = Mapping[str, Module]
COLOURED = ("ui.core.theme", "base.colors")  # the modules that name colours
EVALUATES = {"eval", "exec", "compile"}
QUOTES = re.compile(r'["\']\s*\n\s*["\']')  # what joins two pieces of a text that is cut over lines
WIDE = 7  # fields of a record (dataclass or NamedTuple) that has to be made by their names
MOST_PLACES = 3  # arguments without a name that it may have
FEWEST_WORDS = 3
SMALL = 40  # lines; a module below has at least two importers, or its idea belongs to the one that imports it
SMALL_MAY_BE = {  # found, not imported, or started
    "__main__",
    "cli.commands.help",
    "cli.commands.mcp",
    "cli.commands.schema",
    "cli.commands.skill",
    "cli.commands.synth",
    "export.report.style",  # rules of CSS, in which packaging/texts.py looks for no texts
    "features.notes.search_command",
    "features.record.result",
}
OF_QT = {"count", "data", "done", "event", "paint", "parent", "reject", "sort"}  # methods that Qt names
BANNED = {"behind", "bury", "nobody", "patience", "somebody", "told", "whoever"}
UNUSUAL_LIMIT = re.compile(r"_?(MOST|FEWEST|LONGEST|WIDEST|FARTHEST|DEEPEST)(_|$)")  # not MAX or MIN
Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Name | ast.Attribute | ast.arg
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def undescribed(known: Known) -> Iterator[str]:
    """Modules that do not say what they are about."""
    return (module.name for module in known.values() if not ast.get_docstring(module.tree))


def colours(known: Known) -> Iterator[str]:
    """Colours that do not come from the theme."""
    for module in known.values():
        if module.name not in COLOURED:
            for found in re.findall(r"QColor\(\s*[\"'\d]|[\"']#[0-9a-fA-F]{6}[\"']", module.text):
                yield f"{module.name}: {found}"


def evaluated(known: Known) -> Iterator[str]:
    """Calls that run a text as a program."""
    for module in known.values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EVALUATES:
                yield f"{module.name}:{node.lineno}: {node.func.id}"


def docstrings(module: Module) -> Iterator[tuple[Documented, bool, str]]:
    """Every docstring: what it describes, whether that may override a base's, and its text."""
    waiting: list[tuple[Documented, bool]] = [(module.tree, False)]
    while waiting:
        node, may_override = waiting.pop()
        if (text := ast.get_docstring(node, clean=False)) is not None:
            yield node, may_override, text
        has_bases = isinstance(node, ast.ClassDef) and bool(node.bases)
        waiting += [(one, has_bases) for one in node.body if isinstance(one, Documented)]


def quoted(known: Known) -> Iterator[str]:
    """Docstrings with the quotes of two pieces of a text left in the middle."""
    for module in known.values():
        for _, _, text in docstrings(module):
            if QUOTES.search(text):
                yield f"{module.name}: {text}"


def terse(known: Known) -> Iterator[str]:
    """Docstrings of one or two words, except of methods that Qt names or that another class describes."""
    said = [(module, *found) for module in known.values() for found in docstrings(module)]
    described = {
        node.name
        for _, node, may_override, text in said
        if isinstance(node, ast.FunctionDef) and len(text.split()) >= FEWEST_WORDS and may_override
    }
    for module, node, may_override, text in said:
        name = getattr(node, "name", "")
        is_known = may_override and (name in described or name != name.lower())
        if len(text.split()) < FEWEST_WORDS and not is_known:
            yield f"{module.name}: {name}: {text}"


def undocumented(known: Known) -> Iterator[str]:
    """Public methods without a docstring that override nothing, of the package or of Qt (in camel case)."""
    nodes = [(module, node) for module in known.values() for node in module.nodes]
    classes = {node.name: node for _, node in nodes if isinstance(node, ast.ClassDef)}
    for module, node in nodes:
        if isinstance(node, ast.ClassDef) and node in module.tree.body and not node.name.startswith("_"):
            names = {one.name for one in _methods(node) if one.name[0] != "_" and one.name.islower()}
            for name in names.difference(OF_QT, *map(_declared, _bases(node, classes))):
                yield f"{module.name}: {node.name}.{name}"


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Methods without a docstring, and without the setters of properties."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not ast.get_docstring(one):
            is_setter = any(ast.unparse(decorator).endswith(".setter") for decorator in one.decorator_list)
            yield from () if is_setter else (one,)


def _declared(node: ast.ClassDef) -> set[str]:
    targets = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    return methods | {target.id for target in targets if isinstance(target, ast.Name)}


def _bases(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    for base in node.bases:
        known = classes.get(ast.unparse(base).partition("[")[0])
        if known is not None and known is not node:
            yield known
            yield from _bases(known, classes)


def small(known: Known) -> Iterator[str]:
    """Short modules with one importer, or none."""
    importers = Counter(name for module in known.values() for name in set(inner(module, known)))
    for module in known.values():
        is_short = not module.is_init and module.text.count("\n") < SMALL
        is_declared = module.name.endswith(
            (".feature", ".options", ".report", "command", "panel")
        )  # by manifests
        if is_short and importers[module.name] < 2 and module.name not in SMALL_MAY_BE and not is_declared:
            yield module.name


def positional(known: Known) -> Iterator[str]:
    """Wide records that are made by the places of their fields, not by their names."""
    classes = {(name, node.name): node for name, module in known.items() for node in _records(module)}
    for module in known.values():
        names = _imported(module)
        for call in module.nodes:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                key = names.get(call.func.id, (module.name, call.func.id))
                is_many = len(call.args) > MOST_PLACES
                is_many |= any(isinstance(one, ast.Starred) for one in call.args)
                if is_many and key in classes and len(_fields(key, classes, known)) >= WIDE:
                    yield f"{module.name}:{call.lineno}: {call.func.id}"


def _records(module: Module) -> Iterator[ast.ClassDef]:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            is_tuple = "NamedTuple" in map(ast.unparse, node.bases) and not node.name.startswith("_")
            if is_tuple or any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield node


@cache
def _imported(module: Module) -> dict[str, tuple[str, str]]:
    return {
        alias.asname or alias.name: ((node.module or "").removeprefix("rcv_py."), alias.name)
        for node in module.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _fields(key: tuple[str, str], classes: dict[tuple[str, str], ast.ClassDef], known: Known) -> set[str]:
    """The fields of a dataclass and of its bases."""
    names = _imported(known[key[0]])
    bases = [
        names.get(base.id, (key[0], base.id)) for base in classes[key].bases if isinstance(base, ast.Name)
    ]
    places = [names.get(base, (key[0], base)) for base in bases]
    own = {
        node.target.id
        for node in classes[key].body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if "ClassVar" not in ast.unparse(node.annotation)
    }
    return own.union(*(_fields(base, classes, known) for base in places if base in classes))


def ambiguous(known: Known) -> Iterator[str]:
    """Names of public classes that several modules define."""
    places: dict[str, list[str]] = {}
    for module in known.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module.name)
    yield from (f"{name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1)


def homemade(known: Known) -> Iterator[str]:
    """Names of functions, classes, variables and attributes with words that say too little."""
    for module in known.values():
        for node, name in _defined(module):
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
            if words & BANNED or UNUSUAL_LIMIT.match(name):
                yield f"{module.name}:{node.lineno}: {name}"


def early(known: Known) -> Iterator[str]:
    """Annotations that name a class too early, or one that only checkers import, if they are evaluated."""
    for module in known.values():
        classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef)]
        there = {node.name: node.end_lineno or 0 for node in classes}
        there |= dict.fromkeys(_checked_names(module), len(module.text))
        for noted in () if "__future__" in module.imports else _evaluated_annotations(module):
            for one in ast.walk(noted):
                if isinstance(one, ast.Name) and there.get(one.id, 0) >= noted.lineno:
                    yield f"{module.name}:{noted.lineno}: {one.id}"


def _checked_names(module: Module) -> Iterator[str]:
    for node in module.tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (
                alias.name for one in node.body if isinstance(one, ast.ImportFrom) for alias in one.names
            )


def _evaluated_annotations(module: Module) -> Iterator[ast.expr]:
    for node in module.nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from (one.annotation for one in node.body if isinstance(one, ast.AnnAssign))
        elif isinstance(node, ast.FunctionDef) and node.returns:
            yield node.returns
        elif isinstance(node, ast.arg) and node.annotation:
            yield node.annotation


def _defined(module: Module) -> Iterator[tuple[Named, str]]:
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node, node.attr
        elif isinstance(node, ast.arg):
            yield node, node.arg


RULES: dict[str, Callable[[Known], Iterator[str]]] = {
    rule.__name__: rule
    for rule in (
        undescribed,
        undocumented,
        colours,
        evaluated,
        quoted,
        terse,
        small,
        positional,
        ambiguous,
        homemade,
        early,
    )
}
PLANTED = {
    "undescribed": "x = 1",
    "undocumented": "class Wave:\n    def wait(self) -> None: ...",
    "colours": 'pen = "#aabbcc"',
    "evaluated": "x = eval('1')",
    "quoted": '"""What it is,"\n" and what it is not."""',
    "terse": '"""It is said what is here."""\ndef wait() -> None:\n    """Waves."""',
    "small": "",
    "positional": "from rcv_py.model.waves import TracedWave\nwave = TracedWave(*range(8))",
    "ambiguous": "class TracedWave: ...",
    "homemade": "def bury(nobody: int) -> None:\n    MOST_BYTES = told = 1",
    "early": "def first(waves: list[Later]) -> None: ...\nclass Later: ...",
}


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(rule: str) -> None:
    found = list(RULES[rule](modules()))
    assert not found, "\n".join(found)


def test_planted_violations_are_found() -> None:
    for rule, text in PLANTED.items():
        planted = read({"base.planted": text}, modules())
        found = list(RULES[rule]({**modules(), **planted}))
        assert any("base.planted" in one for one in found), rule


def test_no_exception_of_a_rule_is_left_over() -> None:
    known = modules()
    for name in SMALL_MAY_BE:
        assert known[name].text.count("\n") < SMALL, name


# -- waiting --------------------------------------------------------------------------------------------

STARTS = {"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"}
SHOWN = {"waitUntil", "waitSignal", "waitSignals"}  # of pytest-qt, with a limit of their own
WAITS = re.compile(r"subprocess|\.wait\(\)|communicate|pause|waitUntil|waitSignal")


def unlimited(name: str, text: str) -> Iterator[str]:
    """Waits without a limit, or with another one than that of all tests; `pause` may wait for what was."""
    for node in ast.walk(ast.parse(text)) if WAITS.search(text) else ():
        if not isinstance(node, ast.Call):
            continue
        call, limits = ast.unparse(node.func), [one.arg for one in node.keywords].count("timeout")
        method = call.rpartition(".")[2]
        is_bad = call in STARTS and not limits
        is_bad |= method == "communicate" and not limits
        is_bad |= method == "wait" and method != call and not (node.args or node.keywords)
        is_bad |= method in SHOWN and limits > 0 and not call.startswith("super()")
        if is_bad or call == "signal.pause":
            yield f"{name}:{node.lineno}: {call}"


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.run(words, check=True)",
        "process.communicate()",
        "process.wait()",
        "signal.pause()",
        "qtbot.waitUntil(is_there, timeout=5000)",
    ],
)
def test_a_planted_wait_without_a_limit_is_found(text: str) -> None:
    assert list(unlimited("planted", text))


def test_whatever_a_test_waits_for_has_the_same_limit() -> None:
    files = {path.relative_to(ROOT): path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))}
    found = [one for name, text in files.items() for one in unlimited(str(name), text)]
    assert not found, "\n".join(found)


def beside_the_clone(name: str, text: str) -> Iterator[str]:
    """Lines of a test that ask for real captures, which do not come with a clone."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"^\s*(from|import) tests\.real\b|from tests import real\b|RCV_SHARED", line):
            yield f"{name}:{number}: {line.strip()}"


def test_only_the_tests_on_real_captures_ask_for_them() -> None:
    assert list(beside_the_clone("planted", "from tests.real import captures"))
    assert list(beside_the_clone("planted", "place = os.environ['RCV_SHARED']"))
    tests = ROOT / "tests"
    files = [path for path in sorted(tests.rglob("*.py")) if not path.is_relative_to(tests / "real")]
    texts = {path.relative_to(ROOT): path.read_text() for path in files if path.name != "test_house.py"}
    found = [one for name, text in texts.items() for one in beside_the_clone(str(name), text)]
    assert not found, "\n".join(found)


def test_the_product_waits_for_no_signal_that_may_have_come() -> None:
    assert not [module.name for module in modules().values() if "signal.pause" in module.text]


MACHINE = re.compile(r"(^|[^A-Za-z0-9_.~])/(work|root|farm|tmp/wt)/")


def of_a_machine(files: Mapping[str, str]) -> list[str]:
    """Paths that are only there on the machine of who wrote them."""
    return [f"{name}: {match.group()}" for name, text in files.items() for match in MACHINE.finditer(text)]


def written_files() -> Iterator[Path]:
    """Every file of the tree that people write."""
    kinds = {".py", ".md", ".toml", ".sh", ".json", ".txt", ".cfg", ".spec"}
    skip = {".venv", ".git", "build", "dist"}
    for folder, below, names in os.walk(ROOT):
        below[:] = set(below) - skip
        yield from (Path(folder, name) for name in names if Path(name).suffix in kinds)


def test_no_path_of_a_machine_is_in_the_tree() -> None:
    assert of_a_machine({"planted": "open('/" + "work/x')"})
    files = {str(path.relative_to(ROOT)): path.read_text(errors="replace") for path in written_files()}
    assert "rcv_py/__init__.py" in files
    found = of_a_machine({name: text for name, text in files.items() if name != "tests/test_house.py"})
    assert not found, found


def test_the_benchmark_can_be_started() -> None:
    assert {"analyses", "frame", "load", "settled-small", "settled-large"} <= set(bench_measures().keys())
