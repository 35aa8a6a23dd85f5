"""Every text of the program is in every catalogue, which hold nothing else."""

from __future__ import annotations

import json

import pytest

from tests.support.pseudo import script


@pytest.mark.parametrize("language", script().languages())
def test_a_catalogue_has_every_text_and_nothing_else(language: str) -> None:
    texts = script()
    found = list(texts.faults(texts.read(texts.languages()[language])))
    assert not found, "\n".join([*found[:20], "packaging/texts.py --missing lists them, --add takes them"])


@pytest.mark.parametrize("language", script().languages())
def test_a_catalogue_reads_well_and_changes_line_by_line(language: str) -> None:
    texts = script()
    written = texts.languages()[language].read_text(encoding="utf-8")
    found = json.loads(written)
    assert list(found) == sorted(found)
    assert len(written.splitlines()) == len(found) + 2, "an entry a line"
    assert all(other.strip() for other in found.values())


def test_texts_are_found_in_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    import ast

    code = '''
"""About the module."""
def say(n, name):
    """What it does."""
    label.setText(f"{n} rows of {name!r}, {n:,.1f} in all")
    return plural(n, "wave"), "look.theme", "Save as …", plural(n, "entry", "entries")
class TopOptions:
    """Print the first."""
'''
    found = set(script().texts_of(ast.walk(ast.parse(code)), has_help=False))
    assert {
        "{0} rows of {1}, {2} in all",
        "1 wave",
        "{0} waves",
        "Save as …",
        "1 entry",
        "{0} entries",
    } <= found
    assert not {"About the module.", "What it does.", "Print the first."} & found
    assert "Print the first." in set(script().texts_of(ast.walk(ast.parse(code)), has_help=True))
    assert script().is_for_people("Save as …")
    assert not script().is_for_people("look.theme")


def test_what_is_missing_left_over_or_has_other_places_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script(), "said", lambda: ({"Rows", "{0} rows"}, {"Rows", "{0} rows"}))
    assert list(script().faults({"{0} rows": "{0} 行", "Rows": "行"})) == []
    assert list(script().faults({"{0} rows": "行", "Old": "旧"})) == [
        "missing: 'Rows'",
        "no longer said: 'Old'",
        "other places: '{0} rows'",
    ]
