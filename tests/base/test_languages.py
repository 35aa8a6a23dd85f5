"""Looking texts up: whole, by templates, in parts; and what is no text of ours stays as it is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from rcv_py.base import text
from rcv_py.base.errors import UsageError
from rcv_py.base.languages import MAX_LENGTH, Catalogue, language_named, language_of_system
from rcv_py.base.text import cells, elide_left, elide_right, padded, speak, translated, translated_template

TEXTS = {
    "Open …": "打开 …",
    "Kernel": "kernel",
    "wave": "wave",
    "Nothing was opened yet.": "尚未打开任何内容。",
    "{0} waves": "{0} 个 wave",
    "1 wave": "1 个 wave",
    "stall": "停顿",
    "{0} of {1} cycles": "{1} 个周期中的 {0} 个",
    "{0} waits for {1}, {2} of it hidden": "{0} 等待 {1}，其中 {2} 被隐藏",
    "Saved {0}": "已保存 {0}",
    "Fix": "改进",
    ", in cycles.": "，单位为周期。",
    "Share of the unit": "占单元的比例",
    "the queue": "队列",
    " and {0} more": "等另外 {0} 个",
    "<b>{}</b> is full": "<b>{}</b> 已满",
}


@pytest.fixture
def chinese() -> Iterator[None]:
    speak(Catalogue("zh_CN", TEXTS))
    yield
    speak(None)


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        ("Open …", "打开 …"),
        ("  Open …\n", "  打开 …\n"),
        ("open …", "打开 …"),
        ("Nothing was opened yet", "尚未打开任何内容"),
        ("64 waves", "64 个 wave"),
        ("12 of 3,400 cycles", "3,400 个周期中的 12 个"),
        ("Saved report.html", "已保存 report.html"),
        ("s_waitcnt waits for the queue, 20 % of it hidden", "s_waitcnt 等待队列，其中 20 % 被隐藏"),
        ("64 waves · stall", "64 个 wave · 停顿"),
        ("stall: 64 waves", "停顿：64 个 wave"),
        ("Fix: Nothing was opened yet.", "改进：尚未打开任何内容。"),
        ("Share of the unit, in cycles.", "占单元的比例，单位为周期。"),
        ("Nothing was opened yet. Saved a.csv", "尚未打开任何内容。已保存 a.csv"),
        ("stall\n64 waves", "停顿\n64 个 wave"),
        ("the queue (stall)", "队列（停顿）"),
        ("the queue and 3 more", "队列等另外 3 个"),
        ("Open …  (Ctrl+O)", "打开 …  (Ctrl+O)"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("chinese")
def test_a_text_is_found_whole_by_templates_and_in_parts(english: str, shown: str) -> None:
    assert translated(english) == shown
    assert translated(shown) == shown, "what is translated stays so"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "data",
    [
        "v_add_f32 v0, v1, v2",
        "const int row = tile_row + wave_row;",
        "matmul_tiled(__half const*, int, float)",
        "/src/open/kernel file of waves.hip:36",
        "for (int i = 0; i < n; ++i) sum += a[i] of",
        "list of things, in cycles of a sort",
        "12,345", "", " ", "–", "%s {0} {name}", "<b>Kernel of a stranger</b>",
    ],
)  # fmt: skip
def test_what_is_no_text_of_ours_stays_as_it_is(data: str) -> None:
    assert translated(data) == data


@pytest.mark.usefixtures("chinese")
def test_a_value_is_never_a_place_or_a_template() -> None:
    assert translated("Saved {0}") == "已保存 {0}"
    assert translated("Saved {1}.html") == "已保存 {1}.html"
    assert translated_template("<b>{}</b> is full") == "<b>{}</b> 已满"
    assert translated_template("<b>{}</b> is empty") == "<b>{}</b> is empty"


def test_in_english_a_text_is_itself() -> None:
    said = "Open …"
    assert text.is_english()
    assert translated(said) is said
    assert translated_template(said) is said
    assert text.spoken_language() == "en"


@pytest.mark.usefixtures("chinese")
def test_long_texts_of_strangers_cost_little() -> None:
    begun = time.process_time()
    for piece in ("x of ", "a, b; c: ", "(((", "waits for ", "{0} waves and ", "64 waves · ", "A. B. "):
        hostile = (piece * MAX_LENGTH)[:MAX_LENGTH]
        translated(hostile)
        assert translated(hostile + " " * MAX_LENGTH) == hostile + " " * MAX_LENGTH
    assert time.process_time() - begun < 10, "seconds: nothing grows with a power of the length"


@pytest.mark.parametrize("name", ["zh_CN", "zh-cn", "zh_CN.UTF-8", "zh", "ZH_cn"])
def test_a_language_has_many_spellings(name: str) -> None:
    assert language_named(name) == "zh_CN"
    assert language_of_system(name) == "zh_CN"


def test_a_language_that_there_is_not_is_told() -> None:
    with pytest.raises(UsageError, match="no language 'fr'"):
        language_named("fr")
    assert language_of_system("fr_FR") == "en"
    assert language_of_system("C") == "en"


def test_letters_of_east_asia_take_two_columns() -> None:
    assert cells("停顿 3") == 6
    assert padded("停顿", 6) == "停顿  "
    assert padded("停顿", 6, is_right=True) == "  停顿"
    assert elide_right("停顿停顿", 5) == "停顿…"
    assert elide_left("停顿停顿", 5) == "…停顿"
    assert elide_right("stalled", 5) == "stal…"


@pytest.mark.skipif("RCV_LANGUAGE" in os.environ, reason="it is what is tested")
def test_words_of_the_environment_choose_nothing_by_themselves() -> None:
    assert text.is_english()
