"""Catalogues are compiled, hold nothing that cannot be filled in, and their script finds every text."""

import ast

import pytest
from babel.messages import Catalog

from tests.support.pseudo import script

LANGUAGES = script().catalogues()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_read_at_run_time_is_compiled_from_what_translators_edit(language: str) -> None:
    path = LANGUAGES[language]
    made = script().compiled(script().read(path))
    assert path.with_suffix(".mo").read_bytes() == made, "packaging/texts.py compiles it"


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_places_of_the_english(language: str) -> None:
    assert script().other_places(script().read(LANGUAGES[language])) == []


def test_texts_are_found_in_the_code() -> None:
    code = '''
"""About the module."""
def say(n: "first | second", name) -> "third | fourth":
    """What it does."""
    label.setText(Message("{0:,} rows of {1}", n, name.title))
    log(f"{n} rows of {name!r}")
    text = "{0} of {1}"
    box.setText(Message(text, n, name))
    return plural(n, "wave"), "look.theme", "Save as …", plural(n, "index", "indices"), join_texts("; ", name)
class TopOptions:
    """Print the first."""
'''
    found = dict(script().texts_of(ast.walk(ast.parse(code))))
    assert found["{0:,} rows of {1}"] == "{0} n, {1} name.title", "what a translator reads"
    assert found["{0} of {1}"] == "{0} n, {1} name", "of a text that was assigned first, too"
    assert {
        "Save as …",
        "; ",
        ("{0:,} wave", "{0:,} waves"),
        ("{0:,} index", "{0:,} indices"),
    } <= found.keys()
    assert not {"About the module.", "What it does.", "Print the first.", " rows of "} & found.keys()
    assert not {"first | second", "third | fourth"} & found.keys(), "types"
    assert "Print the first." in dict(script().texts_of(ast.walk(ast.parse(code)), has_help=True))
    assert script().is_for_people("Save as …")
    assert not script().is_for_people("look.theme")
    assert not script().is_for_people("Ctrl+Shift+B")


def test_choices_between_templates_are_found() -> None:
    code = """
def said(is_guess, name):
    text = "perhaps {0} waits" if is_guess else "{0} waits"
    return Message(text, name), Message("← perhaps {0}" if is_guess else "← {0}", name)
"""
    found = dict(script().texts_of(ast.walk(ast.parse(code))))
    both = ("perhaps {0} waits", "{0} waits", "← perhaps {0}", "← {0}")
    assert found == dict.fromkeys(both, "{0} name")


def test_missing_and_broken_translations_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Catalog()
    for text in ("Rows", "{0} rows", "Columns", ("{0:,} row", "{0:,} rows")):
        said.add(text)
    monkeypatch.setattr(script(), "template", lambda: said)
    chinese = Catalog(locale="zh_CN")
    chinese.add("Rows", "行")
    chinese.add("{0} rows", "行")
    chinese.add("Columns", "")
    assert script().missing(chinese) == ["Columns", "('{0:,} row', '{0:,} rows')"]
    assert script().other_places(chinese) == ["{0} rows"]
    chinese.add(("{0:,} row", "{0:,} rows"), ("{0:,} 行",))
    assert script().missing(chinese) == ["Columns"]
