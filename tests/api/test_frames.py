"""Data frames and tables of Arrow hold what the table holds; without the packages there is a sentence."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcv_py import __version__
from rcv_py.api import MissingPackage, RcvError, Table
from rcv_py.api.table import of_rows
from rcv_py.results.kinds import ROW, listed, texts
from rcv_py.results.table import DictionaryColumn, Spec
from rcv_py.results.tables import TOKENS

TABLE = Table(
    {
        "stall": np.array([2**31 - 1] * 2, dtype=np.int32),
        "share": np.array([0.5, np.nan]),
        "is_real": np.array([True, False]),
        "kind": DictionaryColumn(["LDS", "VALU", "LDS"], np.array([0, 2], dtype=np.uint8)),
        "text": ["a", "\udcff"],
    }
)


class Categories:
    """What a stand-in for pandas makes of categories."""

    def __init__(self, codes: np.ndarray, categories: np.ndarray) -> None:
        assert len(set(categories)) == len(categories), "pandas refuses categories that are equal"
        self.values = categories[codes]

    def __iter__(self) -> Any:
        return iter(self.values)


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, or where it is not installed as much of it as is used here."""
    if find_spec("pandas") is None:
        categorical = SimpleNamespace(from_codes=Categories)
        monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict, Categorical=categorical))


def test_a_data_frame(pandas: None) -> None:
    frame = TABLE.to_pandas()
    assert list(frame) == list(TABLE.columns)
    assert list(frame["kind"]) == ["LDS", "LDS"]
    assert list(frame["text"]) == ["a", "\\udcff"]  # no valid text: pandas and Arrow know only UTF-8
    assert frame["stall"].dtype == np.int64
    assert int(frame["stall"].sum()) == 2 * (2**31 - 1)
    assert np.isnan(frame["share"][1])
    assert not np.shares_memory(np.asarray(frame["share"]), TABLE["share"])


def test_an_empty_data_frame_has_its_columns(pandas: None) -> None:
    frame = TABLE[[]].to_pandas()
    assert list(frame) == list(TABLE.columns)
    assert len(frame["kind"].values if hasattr(frame["kind"], "values") else frame["kind"]) == 0
    assert list(Table({"kind": DictionaryColumn([], np.zeros(0, dtype=np.int64))}).to_pandas()["kind"]) == []


def test_a_table_of_arrow() -> None:
    table = TABLE.to_arrow()
    assert table.column_names == list(TABLE.columns)
    assert table.column("kind").to_pylist() == ["LDS", "LDS"]
    assert table.column("text").to_pylist() == ["a", "\\udcff"]
    assert str(table.schema.field("kind").type) == "dictionary<values=string, indices=int32, ordered=0>"
    assert str(table.schema.field("stall").type) == "int64"
    assert table.column("is_real").to_pylist() == [True, False]


def test_columns_of_lists_are_lists_in_arrow() -> None:
    pytest.importorskip("pyarrow")
    loads, sentences = (
        listed(ROW, "An instruction")("leaves", "Loads"),
        texts("A sentence.")("why", "Reasons"),
    )
    spec = Spec("orders", "One row per order.", "order", loads, sentences)
    for rows in ([([1, 2], ["a", "\udcff"]), ([], [])], [([], [])], []):
        table = of_rows(spec, rows).to_arrow()
        assert str(table.schema.field("leaves").type) == "list<item: int64>"
        assert str(table.schema.field("why").type) == "list<item: string>"
        assert table.column("leaves").to_pylist() == [leaves for leaves, _ in rows]
        said = [[text.replace("\udcff", "\\udcff") for text in why] for _, why in rows]
        assert table.column("why").to_pylist() == said


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_without_the_package_there_is_a_sentence(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingPackage, match=f"needs the package {package}, which is not installed"
    ) as caught:
        getattr(TABLE, method)()
    assert f"pip install {package}" in caught.value.hint
    assert isinstance(caught.value, RcvError)
    assert isinstance(caught.value, ImportError)


def test_constructors_take_a_table_as_it_is() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE)
    assert list(frame) == list(TABLE.columns)
    assert list(frame["text"]) == ["a", "\\udcff"]
    frame = pandas.DataFrame(TABLE[:1])
    assert frame.to_dict("records") == [TABLE[0]]
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(TABLE[:1])
    assert table.to_pylist() == [TABLE[0]]
    stream = arrow.RecordBatchReader.from_stream(TABLE[:1])  # the interface that DuckDB and others use
    assert stream.read_all().equals(TABLE[:1].to_arrow(), check_metadata=True)


def test_polars_takes_a_table_as_it_is() -> None:
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(TABLE).head(1).to_dicts() == [TABLE[0]]


def test_arrow_carries_units_and_meanings() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = Table({"stall": np.arange(2)}, "tokens", TOKENS)
    schema = arrow.RecordBatchReader.from_stream(table).schema
    assert schema.metadata[b"rcv.table"] == b"tokens"
    assert schema.metadata[b"rcv.version"] == __version__.encode()
    assert schema.field("stall").metadata == {b"unit": b"cycles", b"meaning": b"Time it waited to issue"}


def test_the_extras_that_the_sentence_names_exist() -> None:
    project = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    assert 'pandas = ["pandas' in project
    assert 'arrow = ["pyarrow' in project
    assert 'rcv_py = ["py.typed"' in project
