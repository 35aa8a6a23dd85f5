"""Tables of results: what a field declares is what each form of a value is."""

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.api import Answer
from rcv_py.base.errors import UsageError
from rcv_py.results.field import Field, ShownIn, record, rows
from rcv_py.results.kinds import (
    COUNT,
    CYCLES,
    FLAG,
    INSTRUCTION,
    MEAN_CYCLES,
    RANK_CYCLES,
    ROW,
    SHARE,
    TEXT,
    choice,
    mapping,
)
from rcv_py.results.table import DictionaryColumn, ResultTable, Spec

SPEC = Spec(
    "things",
    "One row a thing.",
    "thing",
    *(
        Field("line", ROW, "Row of the program", is_unknown=True),
        Field("stall", CYCLES, "Stall"),
        Field("median", RANK_CYCLES, "Median", is_unknown=True),
        Field("share", SHARE, "Part", digits=3),
        Field("kinds", mapping(COUNT, ("A", "B", "C"), "Times"), "Times by name", at=ShownIn.DATA),
        Field("outlier", replace(FLAG, text=lambda value: "outlier" if value else ""), "Whether it is one"),
        Field("text", INSTRUCTION, "The instruction"),
        Field(
            "what", TEXT, "Line and stall", at=ShownIn.TEXT, of=lambda row: f"{row['line']}: {row['stall']}"
        ),
        Field("note", choice("", "entry"), "What it is", is_optional=True, at=ShownIn.DATA),
    ),
    order="text line",
)


def table(**more: object) -> ResultTable:
    """Three rows."""
    return ResultTable(
        SPEC,
        {
            "line": [1234, -1, 7],
            "stall": [10, 30000, 10],
            "median": [2.5, np.nan, 4.0],
            "share": [0.12345, 0.5, 0],
            "kinds": [[0, 2, 5], [1, 0, 0], [0, 0, 0]],
            "outlier": [True, False, False],
            "text": DictionaryColumn(["s_nop", "v_add"], np.array([0, 1, 0])),
            **more,
        },
    )


def test_rows_of_documents_are_plain_and_rounded() -> None:
    first, second, third = table().rows()
    numbers = {"line": 1234, "stall": 10, "median": 2.5, "share": 0.123}
    assert first == numbers | {"kinds": {"C": 5, "B": 2}, "outlier": True, "text": "s_nop"}
    assert (second["line"], second["median"], second["kinds"]) == (None, None, {"A": 1})
    assert (third["median"], type(third["median"])) == (4, int)


def test_people_read_names_ungrouped_numbers_grouped_and_nothing_where_nothing_is_known() -> None:
    shown = [field.name for field in table().fields(ShownIn.TEXT)]
    assert shown == ["text", "line", "stall", "median", "share", "outlier", "what"]
    assert table().cells(ShownIn.TEXT, "–") == [
        ["s_nop", "1234", "10", "2.5", "12.3 %", "outlier", "1234: 10"],
        ["v_add", "–", "30,000", "–", "50.0 %", "", "None: 30000"],
        ["s_nop", "7", "10", "4", "0.0 %", "", "7: 10"],
    ]


def test_a_spreadsheet_has_no_cells_with_an_inside() -> None:
    head, body = table().csv()
    assert head == ["line", "stall", "median", "share", "outlier", "text"]
    assert body[1] == (None, 30000, None, 0.5, False, "v_add")
    assert table()[:0].csv() == (head, [])


def test_an_optional_column_is_there_when_it_is_given() -> None:
    assert "note" not in table().rows()[0]
    assert table(note=["", "entry", ""]).rows()[1]["note"] == "entry"
    required = ["line", "stall", "median", "share", "kinds", "outlier", "text"]
    assert SPEC.field().shape["items"]["required"] == required


@pytest.mark.parametrize(
    ("by", "descending", "order"),
    [
        ("stall", True, [1, 0, 2]),
        ("stall", False, [0, 2, 1]),
        ("line", True, [0, 2, 1]),
        ("line", False, [2, 0, 1]),
        ("median", True, [2, 0, 1]),
        ("text", False, [0, 2, 1]),
        ("text", True, [1, 0, 2]),
        (None, True, [0, 1, 2]),
    ],
)
def test_rows_are_sorted_unknown_ones_come_last(by: str | None, descending: bool, order: list[int]) -> None:
    found = table().sorted(by, descending=descending)
    stalls, lines = [10, 30000, 10], [1234, -1, 7]
    rows = zip(found.columns["stall"], found.columns["line"], strict=True)
    assert list(rows) == [(stalls[at], lines[at]) for at in order]


@pytest.mark.parametrize("by", ["no", "kinds", "what", "note"])
def test_what_has_no_order_is_named_with_those_that_have(by: str) -> None:
    with pytest.raises(UsageError) as caught:
        table().sorted(by)
    assert "Columns: line, stall, median, share, outlier, text." in str(caught.value.hint)


def test_rows_are_chosen_by_mask_by_number_and_from_the_top() -> None:
    whole = table()
    assert whole[np.array([False, True, True])].columns["line"].tolist() == [-1, 7]
    assert whole[np.array([2, 0])].plain("text") == ["s_nop", "s_nop"]
    assert (len(whole.head(2)), len(whole.head(0)), len(whole.head(None))) == (2, 3, 3)
    with pytest.raises(ValueError, match="read-only"):
        whole.columns["stall"][0] = 1


@pytest.mark.parametrize("columns", [{"stall": [1]}, {"other": [1, 2, 3]}])
def test_columns_that_are_not_declared_or_do_not_fit_are_refused(columns: dict[str, list[int]]) -> None:
    with pytest.raises(ValueError, match="things"):
        table(**columns)
    with pytest.raises(ValueError, match="lacking"):
        ResultTable(SPEC, {"line": [1]})


def test_a_type_says_unit_null_and_what_is_inside() -> None:
    shape = SPEC.field().shape["items"]["properties"]
    assert shape["stall"] == {"type": "integer", "minimum": 0, "description": "Stall, in cycles."}
    assert shape["line"]["type"] == ["integer", "null"]
    assert shape["kinds"]["additionalProperties"]["description"] == "Times, as a count."
    inner = Field("mean", MEAN_CYCLES, "Mean")
    assert Field("it", record(inner), "It").shape["properties"]["mean"]["type"] == "number"
    assert Field("all", rows(inner), "All").shape["items"]["required"] == ["mean"]
    assert not Field("all", rows(inner), "All").is_sortable


def test_a_count_that_is_not_known_is_nan_in_columns_and_null_in_documents() -> None:
    spec = Spec("counts", "One row.", "row", Field("taken", COUNT, "Jumps", is_unknown=True))
    found = ResultTable(spec, {"taken": [3, -1, np.nan]})
    assert found.columns["taken"].dtype == np.float64  # type: ignore[union-attr]
    assert [row["taken"] for row in found.rows()] == [3, None, None]
    assert [type(row["taken"]) for row in found.rows()][:1] == [int]
    assert found.cells(ShownIn.TEXT, "–") == [["3"], ["–"], ["–"]]
    assert found.sorted("taken", descending=False).rows()[0]["taken"] == 3


def test_csv_spreads_a_mapping_that_says_so_the_largest_first() -> None:
    kinds = mapping(CYCLES, ("A", "B", "C"), "Cycles", is_spread=True)
    spec = Spec("bins", "One row.", "row", Field("first", ROW, "Row"), Field("kinds", kinds, "Kinds"))
    found = ResultTable(spec, {"first": [0, 1], "kinds": [[1, 0, 5], [1, 0, 0]]})
    assert found.csv() == (["first", "C", "A"], [(0, 5, 1), (1, 0, 1)])
    assert found.rows()[0]["kinds"] == {"C": 5, "A": 1}


def test_what_is_hidden_from_people_stays_in_documents() -> None:
    hidden = SPEC.hide(ShownIn.TEXT, "median", "share")
    shown, left = ({field.name for field in spec.at(ShownIn.TEXT)} for spec in (SPEC, hidden))
    assert shown - left == {"median", "share"}
    assert hidden.at(ShownIn.DATA) != ()
    assert hidden.field().shape == SPEC.field().shape


def test_the_window_may_have_an_order_of_its_own() -> None:
    spec = SPEC.but(window=("stall", "line"))
    assert [field.name for field in spec.at(ShownIn.WINDOW)][:2] == ["stall", "line"]
    assert [field.name for field in spec.at(ShownIn.TEXT)][:2] == ["text", "line"]


def test_the_api_has_whole_numbers_unless_one_is_not_known() -> None:
    spec = Spec("counts", "One row.", "row", Field("taken", COUNT, "Jumps", is_unknown=True))
    assert Answer.of(ResultTable(spec, {"taken": [3, 4]}), None)["taken"].dtype == np.int64
    assert np.isnan(Answer.of(ResultTable(spec, {"taken": [3, -1]}), None)["taken"][1])
