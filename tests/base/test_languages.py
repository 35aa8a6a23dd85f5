"""Texts in another language: by their templates, with values that are looked up in turn."""

import io
import os
import pickle
from collections.abc import Iterator

import numpy as np
import orjson
import pytest
from babel.messages import Catalog
from babel.messages.mofile import write_mo

from rcv_py.base import text
from rcv_py.base.errors import UsageError
from rcv_py.base.languages import Catalogue, language_named, language_of_system
from rcv_py.base.text import (
    Message,
    capitalized,
    cells,
    elide_left,
    elide_right,
    join_texts,
    padded,
    plural,
    some,
    speak,
    translated,
    uncapitalized,
)

TEXTS = {
    "Open …": "打开 …",
    "Nothing was opened yet.": "尚未打开任何内容。",
    "stall": "停顿",
    "the queue": "队列",
    "{0} of {1} cycles": "{1} 个周期中的 {0} 个",
    "{0} waits for {1}, {2} of it hidden": "{0} 等待 {1}，其中 {2} 被隐藏",
    "Saved {0}": "已保存 {0}",
    "No {topic} are known.": "没有已知的 {topic}。",
    ", ": "，",
    "{0}: {1}": "{0}：{1}",
    "<b>{}</b> is full": "<b>{}</b> 已满",
}


def catalogue(locale: str, texts: dict[str, str], counted: tuple[str, ...]) -> Catalogue:
    made = Catalog(locale=locale)
    for english, other in texts.items():
        made.add(english, other)
    made.add(("{0:,} wave", "{0:,} waves"), counted)
    target = io.BytesIO()
    write_mo(target, made)
    return Catalogue(io.BytesIO(target.getvalue()))


@pytest.fixture
def chinese() -> Iterator[None]:
    speak(catalogue("zh_CN", TEXTS, ("{0:,} 个 wave",)), "zh_CN")
    yield
    speak(None)


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        ("Open …", "打开 …"),
        ("  Open …\n", "  打开 …\n"),
        ("open …", "打开 …"),
        ("STALL", "停顿"),
        (plural(64, "wave"), "64 个 wave"),
        (plural(2.5, "wave"), "2.5 个 wave"),
        (plural(np.int64(64), "wave"), "64 个 wave"),
        (Message("{0} of {1} cycles", 12, "3,400"), "3,400 个周期中的 12 个"),
        (Message("Saved {0}", "report.html"), "已保存 report.html"),
        (
            Message("{0} waits for {1}, {2} of it hidden", "s_waitcnt", "the queue", "20 %"),
            "s_waitcnt 等待队列，其中 20 % 被隐藏",
        ),
        (Message("{0}: {1}", "stall", plural(64, "wave")), "停顿：64 个 wave"),
        (join_texts(", ", ("the queue", "s_nop", plural(1, "wave"))), "队列，s_nop，1 个 wave"),
        (join_texts(" ", ("Nothing was opened yet.", Message("Saved {0}", 1))), "尚未打开任何内容。已保存 1"),
        (Message("No {topic} are known.", topic="the queue"), "没有已知的队列。"),
        (Message("Saved {0}", UsageError(Message("Saved {0}", 2))), "已保存已保存 2"),
        ("stall" + Message(" {0}", "the queue"), "停顿 队列"),
        (capitalized("the queue"), "队列"),
        (uncapitalized(Message("Saved {0}", 3)), "已保存 3"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("chinese")
def test_a_text_is_found_by_its_template(english: str, shown: str) -> None:
    assert translated(english) == shown
    assert translated(shown) == shown, "what is translated stays so"


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "data",
    [
        "v_add_f32 v0, v1, v2",
        "const int row = tile_row + wave_row;",
        "64 waves", "s_nop waits for the queue, 20 % of it hidden", "Saved a.csv",
        "12,345", "", " ", "–", "%s {0} {name}", "<b>Kernel of a stranger</b>",
    ],
)  # fmt: skip
def test_what_is_no_text_of_ours_stays_as_it_is(data: str) -> None:
    assert translated(data) == data


@pytest.mark.usefixtures("chinese")
def test_a_value_is_never_a_template() -> None:
    for hostile in ("{0}", "{1}.html", "{0.__class__}", "{topic}", "{", "%(x)s"):
        assert Message("Saved {0}", hostile) == f"Saved {hostile}"
        assert translated(Message("Saved {0}", hostile)) == f"已保存 {hostile}"
        assert translated(hostile) == hostile
    assert translated("<b>{}</b> is full") == "<b>{}</b> 已满"


@pytest.mark.usefixtures("chinese")
def test_a_text_without_a_translation_stays_english_and_its_values_are_translated() -> None:
    assert translated("Not yet translated") == "Not yet translated"
    assert translated(Message("{0} is new", "the queue")) == "队列 is new"
    assert translated(plural(2, "entry")) == "2 entries"


@pytest.mark.parametrize(
    ("number", "shown"), [(1, "1 волна"), (3, "3 волны"), (5, "5 волн"), (1021, "1,021 волна")]
)
def test_a_language_has_its_own_plurals(number: int, shown: str) -> None:
    forms = ("{0:,} волна", "{0:,} волны", "{0:,} волн", "{0:,} волны")
    speak(catalogue("ru", {}, forms[: Catalog(locale="ru").num_plurals]), "ru")
    try:
        assert translated(plural(number, "wave")) == shown
    finally:
        speak(None)


def test_a_message_is_its_english_text() -> None:
    said = Message("{0:,} waves of {1}", 3_000, "k")
    assert said == "3,000 waves of k"
    assert {said: 1} == {"3,000 waves of k": 1}
    assert orjson.dumps([said, plural(1, "wave")]) == b'["3,000 waves of k","1 wave"]'
    assert str(UsageError(said)) == said
    assert some(["a", "b", "c"], 2) == "a, b and 1 other"
    assert some(["a", "b", "c", "d"], 2) == "a, b and 2 others"
    assert some([], 2) == "none"


@pytest.mark.usefixtures("chinese")
def test_a_message_survives_the_way_to_another_process() -> None:
    for said in (Message("Saved {0}", "the queue"), plural(2, "wave"), join_texts(", ", ("stall", "x"))):
        assert translated(pickle.loads(pickle.dumps(said))) == translated(said) != said
    error = pickle.loads(pickle.dumps(UsageError(Message("Saved {0}", 1), hint=Message("Saved {0}", 2))))
    assert translated(str(error)) == "已保存 1"
    assert translated(error.hint) == "已保存 2"


def test_in_english_a_text_is_itself() -> None:
    said = "Open …"
    assert text.is_english()
    assert translated(said) is said
    assert text.spoken_language() == "en"


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
