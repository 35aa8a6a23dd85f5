"""Tables: columns that cannot be changed, rows that are chosen and ordered, and how they look."""

import copy
import pickle

import numpy as np
import pytest

from rcv_py.api import Answer, NoColumn, NoRow, RcvError, Table, UnequalColumns
from rcv_py.api.table import joined, of_rows
from rcv_py.results.kinds import ROW, listed
from rcv_py.results.table import DictionaryColumn, Spec
from rcv_py.results.tables import SOURCES, TOKENS

STALL = np.array([5, 1, 3, 1], dtype=np.int32)


@pytest.fixture
def table() -> Table:
    return Table(
        {
            "line": np.arange(4),
            "stall": STALL,
            "kind": DictionaryColumn(["VALU", "LDS"], np.array([1, 0, 1, 0])),
            "text": list("dcba"),
        },
        "tokens",
    )


def test_columns_are_arrays_that_cannot_be_changed(table: Table) -> None:
    assert table.columns == ("line", "stall", "kind", "text")
    assert len(table) == 4
    assert table["kind"].tolist() == ["LDS", "VALU", "LDS", "VALU"]
    assert table["text"].tolist() == list("dcba")
    for name in table:
        with pytest.raises(ValueError, match="read-only"):
            table[name][0] = table[name][1]
    assert STALL.flags.writeable  # that of the giver is as it was


def test_some_columns_and_some_rows(table: Table) -> None:
    assert table["line", "stall"].columns == ("line", "stall")
    assert table[1:3]["text"].tolist() == ["c", "b"]
    assert table[table["stall"] > 2]["line"].tolist() == [0, 2]
    assert table[[3, 0]]["kind"].tolist() == ["VALU", "LDS"]
    assert table[[-1]]["line"].tolist() == [3]
    assert len(table[[]]) == 0
    assert table.head(2)["line"].tolist() == [0, 1]
    assert table.row(-1) == {"line": 3, "stall": 1, "kind": "VALU", "text": "a"}
    assert next(table.rows()) == table.row(0)


def test_a_row_is_its_values_by_column(table: Table) -> None:
    assert table[0] == {"line": 0, "stall": 5, "kind": "LDS", "text": "d"}
    assert table[np.int64(-1)] == table[-1] == table.row(-1)
    for number in (4, -5):
        with pytest.raises(NoRow, match=f"The table has no row {number}") as caught:
            table[number]
        assert isinstance(caught.value, IndexError)


def test_a_table_is_a_dictionary_of_columns_that_cannot_be_changed(table: Table) -> None:
    assert list(table.keys()) == list(table) == list(table.columns)
    columns = {name: table[name].tolist() for name in table}
    for other in (dict(table), {**table}, dict(table.items()), dict(zip(table, table.values(), strict=True))):
        assert {name: column.tolist() for name, column in other.items()} == columns
    assert table.get("stall") is table["stall"]
    assert table.get("nothing") is None
    assert table.copy() is table
    assert table != Table({}) != Table({})
    assert len({table, table[:2]}) == 2
    for change in (
        lambda: table.update(line=1),
        lambda: table.pop("line"),
        table.clear,
        lambda: table.setdefault("line", 1),
        lambda: table.__setitem__("line", 1),
        lambda: table.__delitem__("line"),
        lambda: table | {"line": 1},
        lambda: {"line": 1} | table,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert table.columns == ("line", "stall", "kind", "text")


def test_tables_and_answers_can_be_stored_and_copied(table: Table) -> None:
    answer = Answer("tokens", {"line": np.arange(2)}, result=(1, 2), facts={"unit": "cycles"})
    for one in (table, answer):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert type(again) is type(one)
            assert again.to_dict() == one.to_dict()
            assert again.name == one.name
            with pytest.raises(ValueError, match="read-only"):
                again["line"][0] = 1
    assert pickle.loads(pickle.dumps(answer)).facts == answer.facts


def test_where_takes_masks_values_and_lists(table: Table) -> None:
    assert table.where(kind="LDS")["line"].tolist() == [0, 2]
    assert table.where(kind=["LDS", "VALU"], stall=1)["line"].tolist() == [1, 3]
    assert table.where(table["stall"] < 4, text={"d", "b"})["line"].tolist() == [2]
    assert table.where(line=np.array([1, 2]))["line"].tolist() == [1, 2]
    assert len(table.where(kind="SALU")) == 0
    with pytest.raises(UnequalColumns, match=r"tokens.*4, 2"):
        table.where(np.array([True, False]))


def test_where_looks_into_columns_of_lists() -> None:
    spec = Spec("orders", "One row per order.", "order", listed(ROW, "An instruction")("leaves", "Loads"))
    table = of_rows(spec, [([1, 2],), ([],), ([2],)])
    assert table.where(leaves=2)["leaves"].tolist() == [[1, 2], [2]]
    assert table.where(leaves=(1, 7))["leaves"].tolist() == [[1, 2]]
    assert table.help["type"].tolist() == ["list"]


def test_sort_keeps_the_order_of_equal_rows(table: Table) -> None:
    assert table.sort("stall")["line"].tolist() == [1, 3, 2, 0]
    assert table.sort("stall", descending=True)["line"].tolist() == [0, 2, 1, 3]
    assert table.sort("text")["line"].tolist() == [3, 2, 1, 0]
    assert table.sort("kind", descending=True)["line"].tolist() == [1, 3, 0, 2]


def test_sums_do_not_overflow(table: Table) -> None:
    found = table.sums("kind", "stall")
    assert dict(zip(found["kind"], found["stall"], strict=True)) == {"LDS": 8, "VALU": 2}
    assert found["rows"].tolist() == [2, 2]
    large = Table({"key": np.zeros(3, dtype=np.int8), "cycles": np.full(3, 2**31 - 1, dtype=np.int32)})
    assert large.sums("key", "cycles")["cycles"].tolist() == [3 * (2**31 - 1)]


def test_tables_below_each_other_keep_each_text_once() -> None:
    parts = [
        Table({"kind": DictionaryColumn(["a", "b"], np.array([1]))}),
        Table({"kind": DictionaryColumn(["b", "c"], np.array([0, 1]))}),
    ]
    whole = joined(parts)
    assert whole["kind"].tolist() == ["b", "b", "c"]
    assert whole.raw("kind").texts == ("a", "b", "c")


def test_a_wrong_name_is_a_sentence_and_a_key_error(table: Table) -> None:
    with pytest.raises(NoColumn, match="The table has no column stal") as caught:
        table["stal"]
    assert str(caught.value) == "The table has no column stal."
    assert caught.value.hint == "Did you mean stall?"
    assert isinstance(caught.value, RcvError | KeyError)
    assert isinstance(caught.value, KeyError)
    assert caught.value.__notes__ == ["Did you mean stall?"]  # what a traceback shows
    with pytest.raises(UnequalColumns):
        Table({"a": np.arange(2), "b": np.arange(3)})


def test_how_it_looks() -> None:
    table = Table(
        {
            "line": np.array([1234]),
            "stall": np.array([1234]),
            "share": np.array([np.nan]),
            "text": ["<b>\x1b"],
        },
        "tokens",
        TOKENS,
    )
    assert repr(table) == ("tokens: 1 row of 4 columns\nline  stall  share  text\n1234  1,234         <b>")
    page = table._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert 'title="Time it waited to issue cycles"' in page
    many = Table({f"column{i}": ["x" * 40] for i in range(9)})
    assert repr(many).splitlines()[-1] == "… and 6 columns: " + ", ".join(f"column{i}" for i in range(3, 9))
    assert max(map(len, repr(many).splitlines()[:-1])) <= 160
    assert repr(Table({})) == "0 rows of 0 columns"


def test_a_source_place_that_is_cut_keeps_its_line() -> None:
    place = "/a/very/long/path/" + "x" * 40 + "/kernel.hip:1234"
    table = Table({"line": np.arange(1), "source": [place], "text": ["v_add " + "y" * 60]}, "hotspot")
    for shown in (repr(table), table._repr_html_()):
        assert "/kernel.hip:1234" in shown
        assert "v_add" in shown
        assert place not in shown


def test_a_table_of_rows() -> None:
    table = of_rows(SOURCES, [("a.py", 2, True, ""), ("b.py", 0, False, "it is gone")])
    assert table["lines"].tolist() == [2, 0]
    assert table["has_text"].tolist() == [True, False]
    assert table["note"].tolist() == ["", "it is gone"]
    assert table.name == "sources"
    assert list(of_rows(SOURCES, [])) == ["path", "lines", "has_text", "note"]
