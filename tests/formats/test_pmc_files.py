"""Tables of counters: long and wide, passes and instances, folders, damage."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.counters.pmc.traffic import repeated, role_values, traffic
from rcv_py.base.errors import TraceError
from rcv_py.formats.pmc_files import beside, counter_name, pmc_table
from tests.support.pmc import write_long, write_wide
from tests.support.samples import write_sample

TWO = [("one", 1, {"TCC_HIT_sum": 30, "TCC_MISS_sum": 70}), ("two", 2, {"TCC_HIT_sum": 5, "TCC_MISS_sum": 0})]


def numbers(*paths: Path) -> dict[str, list[float]]:
    found = traffic(pmc_table(list(paths)), "dispatch")
    values = {key: [one.counted[key] for one in found] for key in found[0].counted}
    return {key: column for key, column in values.items() if not np.isnan(column).all()}


def test_long_and_wide_tell_the_same(tmp_path: Path) -> None:
    long, wide = write_long(tmp_path / "a.csv", TWO), write_wide(tmp_path / "b.csv", TWO)
    assert numbers(long) == numbers(wide) == {"hits": [30, 5], "misses": [70, 0]}


def test_passes_of_one_run_are_one_dispatch(tmp_path: Path) -> None:
    write_long(tmp_path / "pass_1" / "x.csv", [("one", 1, {"TCC_HIT_sum": 30})])
    write_long(tmp_path / "host" / "pass_2" / "x.csv", [("one", 1, {"TCC_MISS_sum": 70, "TCC_HIT_sum": 34})])
    table = pmc_table([tmp_path])
    assert len(table.dispatches) == 1
    assert numbers(tmp_path) == {"hits": [34], "misses": [70]}, "of the pass with both"
    assert repeated(table) == ("TCC_HIT_sum",)


def test_instances_add_up_unless_a_sum_is_there(tmp_path: Path) -> None:
    some = [("one", 1, {"TCC_HIT[0]": 3, "TCC_HIT[1]": 4})]
    assert numbers(write_wide(tmp_path / "a.csv", some)) == {"hits": [7]}
    both = [("one", 1, {"TCC_HIT[0]": 3, "TCC_HIT[1]": 4, "TCC_HIT_sum": 8})]
    assert numbers(write_wide(tmp_path / "b.csv", both)) == {"hits": [8]}


def test_case_order_and_more_columns_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "\ufeffcounter_value, COUNTER NAME,Kernel-Name,Queue_Id,dispatch_id\n3,tcc_hit_SUM,one,9,1\n"
    )
    assert numbers(path) == {"hits": [3]}
    assert (counter_name("FETCH_SIZE"), counter_name("gl2c_hit[12]")) == ("", "GL2C_HIT")


def test_what_is_no_count_is_left_out_and_told(tmp_path: Path) -> None:
    bad = {
        "TCC_HIT_sum": "",
        "TCC_MISS_sum": "nan",
        "TCC_REQ_sum": -1,
        "TCC_EA0_RDREQ_sum": "x",
        "TCC_WRITE_sum": 2,
    }
    table = pmc_table([write_long(tmp_path / "x.csv", [("one", 1, bad)])])  # type: ignore[list-item]
    assert table.value.tolist() == [2]
    assert table.notes == ("Left out of x.csv, as no counts: 3 values.",)


@pytest.mark.parametrize("value", ["1e308", "9" * 400, "1_0", "-1", "inf", "NULL"])
def test_a_value_beyond_any_count_is_left_out(tmp_path: Path, value: str) -> None:
    path = write_long(tmp_path / "x.csv", [("one", 1, {"TCC_HIT_sum": 30, "TCC_MISS_sum": 77})])
    path.write_text(path.read_text().replace("77", value))
    assert numbers(path) == {"hits": [30]}
    assert pmc_table([path]).notes == ("Left out of x.csv, as no counts: 1 value.",)


def test_repeated_rows_count_once(tmp_path: Path) -> None:
    """Rows that were copied, and tables one behind the other."""
    path = write_long(tmp_path / "x.csv", TWO)
    text = path.read_text()
    path.write_text(text + text)
    assert numbers(path) == {"hits": [30, 5], "misses": [70, 0]}
    (note,) = pmc_table([path]).notes
    assert "the first counts: 4 values left out" in note


def test_a_table_that_was_cut_off_says_so(tmp_path: Path) -> None:
    path = write_long(tmp_path / "x.csv", TWO)
    path.write_text(path.read_text().rstrip().rpartition("TCC_MISS_sum")[0])
    assert numbers(path)["hits"] == [30, 5]
    assert "as if it was cut off: 1 row" in " ".join(pmc_table([path]).notes)


def test_a_damaged_table_costs_only_itself(tmp_path: Path) -> None:
    write_long(tmp_path / "pass_1" / "x.csv", TWO)
    whole = gzip.compress(write_long(tmp_path / "y.csv", TWO).read_bytes())
    (tmp_path / "y.csv").unlink()
    damaged = tmp_path / "pass_2" / "y.csv.gz"
    damaged.parent.mkdir()
    damaged.write_bytes(whole[:-12])
    assert numbers(tmp_path) == {"hits": [30, 5], "misses": [70, 0]}
    assert "y.csv.gz is damaged: it is cut off." in pmc_table([tmp_path]).notes
    with pytest.raises(TraceError, match="it is cut off"):
        pmc_table([damaged])


def test_lengths_of_dispatches(tmp_path: Path) -> None:
    table = pmc_table([write_long(tmp_path / "x.csv", TWO, length=2_000)])
    assert table.nanoseconds.tolist() == [2_000, 2_000]


def test_beside_a_capture(tmp_path: Path) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_2"
    folder.mkdir()
    (folder / "filenames.json").write_text("{}")
    assert beside(folder) is None
    write_long(tmp_path / "pass_1" / "x.csv", TWO)
    write_long(tmp_path / "other_run" / "x.csv", [("three", 3, {"TCC_HIT_sum": 1})])
    found = beside(folder)
    assert found is not None
    assert [one.kernel for one in found.dispatches] == ["one", "two"]


@pytest.mark.parametrize("name", ["gone.csv", "plain.csv", "."])
def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TraceError) as found:
        pmc_table([tmp_path / name])
    assert found.value.hint
    assert "\n" not in str(found.value)


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = write_long(tmp_path / "secret" / "x.csv", TWO)
    inside = tmp_path / "run"
    inside.mkdir()
    (inside / "y.csv").symlink_to(secret)
    with pytest.raises(TraceError):
        pmc_table([inside])
    assert len(pmc_table([inside / "y.csv"])) == 4, "named by somebody, it is wanted"


CELLS = st.sampled_from(
    [
        *("Kernel_Name", "Counter_Name", "Counter_Value", "TCC_HIT[1]", "TCC_HIT_sum", "1", "1e400"),
        *("-0", "", '"', "\n", "é", "\0"),
    ]
)


@given(st.lists(st.lists(CELLS, max_size=5), max_size=6))
def test_any_text_is_a_table_or_a_sentence(rows: list[list[str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_text("\n".join(",".join(row) for row in rows))
        try:
            table = pmc_table([path])
        except TraceError:
            return
        values = role_values(table)
        assert np.isfinite(table.value).all()
        assert all(len(column) == len(table.of) for column in values.values())


def test_kernel_traces_are_no_such_tables(tmp_path: Path) -> None:
    write_sample("gfx12", tmp_path / "capture")
    launches = "Kind,Dispatch_Id,Kernel_Name,VGPR_Count\nKERNEL_DISPATCH,1,mine,32\n"
    (tmp_path / "run_kernel_trace.csv").write_text(launches)
    for path in (tmp_path, tmp_path / "capture"):
        with pytest.raises(TraceError, match="holds no table"):
            pmc_table([path])


def test_packed_tables_are_read(tmp_path: Path) -> None:
    plain = write_wide(tmp_path / "plain" / "pmc_perf.csv", TWO)
    packed = tmp_path / "run" / "pmc_perf.csv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert numbers(packed) == numbers(packed.parent) == {"hits": [30, 5], "misses": [70, 0]}


@pytest.mark.parametrize(
    "data",
    [b"", b"no gzip", gzip.compress(b"x" * 2_000)[:-20], gzip.compress(b"a,b")],
    ids=["empty", "plain", "cut", "no table"],  # a stream holds the time: names would differ
)
def test_a_packed_file_that_is_no_table_is_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.csv.gz").write_bytes(data)
    for path in (tmp_path, tmp_path / "x.csv.gz"):
        with pytest.raises(TraceError):
            pmc_table([path])


def test_a_packed_table_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = write_wide(tmp_path / "x.csv", TWO)
    plain.with_suffix(".csv.gz").write_bytes(gzip.compress(plain.read_bytes() + b"\n" * 10_000))
    monkeypatch.setattr("rcv_py.formats.pmc_files.LIMIT", 5_000)
    with pytest.raises(TraceError):
        pmc_table([tmp_path / "x.csv.gz"])


def test_tables_of_passes_come_before_a_table_that_joins_them(tmp_path: Path) -> None:
    write_long(
        tmp_path / "out" / "pass_1" / "host" / "7.csv", [("one", 1, {"TCC_HIT_sum": 90, "TCC_MISS_sum": 10})]
    )
    write_long(tmp_path / "out" / "pass_2" / "host" / "8.csv", [("one", 1, {"TCC_HIT_sum": 30})])
    joined = write_wide(tmp_path / "pmc_perf.csv", [("one", 1, {"TCC_HIT_sum": 30, "TCC_MISS_sum": 10})])
    (found,) = traffic(pmc_table([tmp_path]))
    assert found.hit_rate == 0.9
    assert "joins" not in " ".join(pmc_table([tmp_path]).notes)
    (alone,) = traffic(pmc_table([joined]))
    assert alone.hit_rate == 0.75
    assert "joins" in pmc_table([joined]).notes[0]
