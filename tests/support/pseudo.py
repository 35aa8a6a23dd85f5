"""A language with a word for every text of the program: what is still English was not looked up."""

import io
import re
from functools import cache
from importlib import util
from types import ModuleType

from rcv_py.base.languages import Catalogue
from tests.support.paths import ROOT

WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}
_KEPT = re.compile(r"(\{[^{}\s]*\}|<[^<>]*>)")  # places of values, and markup


@cache
def script() -> ModuleType:
    """packaging/texts.py."""
    spec = util.spec_from_file_location("packaging_texts", ROOT / "packaging" / "texts.py")
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wide(text: str) -> str:
    """The same in letters of full width: no word of it is one of the Latin alphabet."""
    return "".join(part if at % 2 else part.translate(WIDE) for at, part in enumerate(_KEPT.split(text)))


@cache
def pseudo() -> Catalogue:
    """All texts, in wide letters."""
    texts = script()
    made = texts.template()
    for one in made:
        if one.id:
            one.string = wide(one.id) if isinstance(one.id, str) else tuple(map(wide, one.id))
    return Catalogue(io.BytesIO(texts.compiled(made)))
