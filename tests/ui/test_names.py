"""A wave, a place of the device, a kind and a state are each written in one way."""

import ast
import re
from collections.abc import Iterator

import numpy as np
import pytest

from rcv_py.base.languages import use
from rcv_py.base.text import translated
from rcv_py.model.ids import WaveId, place_name
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, STATE_NAME, STATE_TEXT, TokenKind, WaveState
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.timeline.timeline_plot import activity_swatches
from tests.house import Module, modules
from tests.support.paths import ROOT

# A number apart from its unit, and a slot without the space that it has.
APART = re.compile(r"(?<!\[)\b(SE|SA|CU|WGP|SIMD|ME) (\d|\{\d)|\bslot(\d|\{\d)")
ID = re.compile(r"se(\d|\{[^}]*\})/simd(\d|\{[^}]*\})/slot(\d|\{[^}]*\})/wv(\d|\{[^}]*\})")


def texts(module: Module) -> Iterator[str]:
    """Every text of a module but docstrings; a value in an f-string is `{0}`."""
    inner = {id(part) for node in module.nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    alone = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr)}
    for node in module.nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{0}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | alone:
            yield node.value


def spelt_otherwise(text: str) -> list[str]:
    """What a text says about units and waves in another way."""
    return [found[0] for found in APART.finditer(ID.sub("", text))]


def test_a_wave_and_a_place_have_one_spelling() -> None:
    assert str(WaveId(0, 2, 5, 3)) == "se0/simd2/slot5/wv3"
    assert place_name(2, 0, 1, 0, 3) == "SE2 CU1 SIMD0 slot 3"
    assert place_name(2, 1, 0, unit="WGP") == "SE2 SA1 WGP0"
    assert place_name(0, cu=-1, simd=1) == "SE0 SIMD1"


@pytest.mark.parametrize("text", ["SE 0 · SIMD 1 · slot 1", "SE {0}", "SE0 SIMD2 slot{3}", "CU 1"])
def test_another_spelling_is_found(text: str) -> None:
    assert spelt_otherwise(text)
    assert not spelt_otherwise("SE0 CU1 SIMD2 slot 3 of se0/simd2/slot3/wv{}")


def test_no_text_of_the_program_has_another_spelling() -> None:
    wrong = {
        (module.name, text)
        for module in modules().values()
        if not module.name.startswith("synth")
        for text in texts(module)
        if spelt_otherwise(text)
    }
    assert not wrong


@pytest.mark.parametrize("name", ["docs", "resources/texts/zh_CN/LC_MESSAGES"])
def test_no_page_and_no_translation_has_another_spelling(name: str) -> None:
    pages = [*(ROOT / name).glob("*.md"), *(ROOT / name).glob("*.po")]
    assert pages
    wrong = [
        (page.name, line)
        for page in pages
        for line in page.read_text("utf-8").splitlines()
        if not line.startswith("#.") and spelt_otherwise(line)
    ]
    assert not wrong


def test_a_kind_is_called_by_its_name_wherever_it_is_explained() -> None:
    assert KIND_TEXT.keys() == KIND_NAME.keys() == set(TokenKind)
    assert all(KIND_TEXT[kind].startswith(KIND_NAME[kind]) for kind in TokenKind)
    assert {KIND_NAME[kind] for kind in (TokenKind.VMEM, TokenKind.FLAT, TokenKind.MATRIX)} == {
        "VMEM", "FLAT", "MFMA/WMMA",
    }  # fmt: skip


def test_the_legend_of_the_timeline_has_the_names_of_kinds_and_states(ui: UiContext) -> None:
    names = {str(swatch.name) for swatch in activity_swatches(ui.theme, np.ones(256, dtype=bool))}
    states = {f"wave: {STATE_NAME[state]}" for state in STATE_TEXT}
    assert names - set(KIND_NAME.values()) == {"branch", "stall: paler", *states}
    assert set(STATE_NAME) == set(WaveState)


@pytest.mark.parametrize("kind", ["FLAT", "VMEM", "LDS", "SMEM", "SALU", "VALU", "BVH", "MFMA/WMMA"])
def test_an_abbreviation_is_the_same_in_chinese(kind: str) -> None:
    assert kind in KIND_NAME.values()
    use("zh_CN")
    try:
        assert translated(kind) == kind
        assert translated(STATE_NAME[WaveState.EXEC]) == "执行"
    finally:
        use("en")


def test_only_documents_use_the_names_of_states_in_capitals() -> None:
    """Colours and documents have members as keys; texts have `STATE_NAME`."""
    data = {
        "model.kinds", "ui.core.theme", "results.tables", "export.tables",
        "export.traces.perfetto", "features.summary.result", "features.waves.report",
        "features.waves.result", "ui.plot.curves", "work.occupancy",
    }  # fmt: skip
    users = {module.name for module in modules().values() if re.search(r"\bstate\.name\b", module.text)}
    assert users <= data
