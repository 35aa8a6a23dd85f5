"""A language with a word for every text of the program: what is still English was not looked up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from importlib import util
from types import ModuleType

from rcv_py.base.languages import Catalogue, language_named
from tests.house import modules
from tests.support.paths import ROOT
from tests.support.samples import once

WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}
_KEPT = re.compile(r"(\{[^{}\s]*\}|<[^<>]*>)")  # places of values, and markup


@cache
def script() -> ModuleType:
    """packaging/texts.py, which finds the texts in the files that the tests of the house read, once a run."""
    spec = util.spec_from_file_location("packaging_texts", ROOT / "packaging" / "texts.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.files = _files  # type: ignore[attr-defined]
    module.said = partial(once, "texts", module.said)  # type: ignore[attr-defined]
    return module


def _files() -> Iterator[tuple[str, Iterable[ast.AST]]]:
    for module in modules().values():
        path = module.name.replace(".", "/")
        yield f"{path}/__init__.py".lstrip("/") if module.is_init else f"{path}.py", module.nodes


def wide(text: str) -> str:
    """The same in letters of full width: no word of it is one of the Latin alphabet."""
    return "".join(part if at % 2 else part.translate(WIDE) for at, part in enumerate(_KEPT.split(text)))


@cache
def pseudo() -> Catalogue:
    """All texts, in wide letters."""
    every, wanted = script().said()
    chinese = script().read(script().FOLDER / "zh_CN.json")
    return Catalogue(
        language_named("zh_CN"), {text: wide(text) for text in wanted | (every & chinese.keys())}
    )
