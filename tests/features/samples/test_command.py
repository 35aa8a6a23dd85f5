"""`rcv samples`: PC samples on the rows of a trace, compared with its cycles."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rcv_py
from rcv_py.analysis.cost.pc_samples import placed_samples, sampled_shares
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.formats.open import open_trace
from rcv_py.formats.rocpd.read import read_profile
from rcv_py.model.trace import Trace
from tests.support.command_runs import printed, printed_json
from tests.support.rocpd import document
from tests.support.sampled import SAMPLES, database, table
from tests.support.samples import write_sample

EVERY = 40_000  # samples, about


def sampled(
    path: Path, trace: Trace, count: np.ndarray, *, codeobj: int | None = None, text: str = ""
) -> Path:
    """Write a document with so many samples of each row."""
    found = document()
    run = found["rocprofiler-sdk-tool"][0]
    run["code_objects"], run["strings"]["pc_sample_instructions"] = [], [*trace.code.text, text]
    records = []
    for row in np.flatnonzero(count).tolist():
        place = {
            "code_object_id": int(trace.code.codeobj[row]) if codeobj is None else codeobj,
            "code_object_offset": int(trace.code.address[row]),
        }
        one = {"record": {"pc": place, "wave_issued": 1}, "inst_index": len(trace.code) if text else row}
        records += [one] * int(count[row])
    run["buffer_records"]["pc_sample_stochastic"] = records
    path.write_text(json.dumps(found))
    return path


def cost_of(trace: Trace) -> np.ndarray:
    return np.where(trace.code.is_label, 0, trace.code.latency + trace.code.idle)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A capture in the folder of its run."""
    write_sample("matmul_small", tmp_path / "ui_output_agent_1_dispatch_1")
    return tmp_path / "ui_output_agent_1_dispatch_1"


def asked(*words: str) -> dict[str, Any]:
    return printed_json("samples", *words)


def test_samples_beside_a_capture_agree_or_not(run: Path) -> None:
    """As many samples as the cycles say, but one row has a fifth of all on top."""
    trace = open_trace(run)
    count = np.round(EVERY * cost_of(trace) / cost_of(trace).sum()).astype(np.int64)
    sampled(run.parent / "1_results.json", trace, count)
    found = asked(str(run), "--top", "0")
    assert found["file"].endswith("1_results.json")
    assert found["differing"] == 0
    assert found["agreement"] > 0.99
    assert found["expected_agreement"] < found["agreement"], "chance would part them more than rounding"
    assert sum(row["samples"] for row in found["rows"]) == int(count.sum())
    odd = int(np.flatnonzero(count)[3])
    extra = EVERY // 5
    count[odd] += extra
    sampled(run.parent / "1_results.json", trace, count)
    found = asked(str(run), "--top", "0")
    (more,) = (row for row in found["rows"] if row["differs"] == "more")
    assert more["instruction"] == odd
    # Every other row keeps a share of 1 / 1.2 of its own: that is what both have in common.
    before = cost_of(trace)[odd] / cost_of(trace).sum()
    assert found["agreement"] == pytest.approx(before + (1 - before) * EVERY / (EVERY + extra), abs=2e-3)
    shares = asked(str(run), "--by", "source", "--top", "0")["rows"]
    assert sum(row["share_of_samples"] for row in shares) == pytest.approx(1, abs=1e-4)
    assert sum(row["share_of_traced"] for row in shares) == pytest.approx(1, abs=1e-4)


def test_code_objects_of_another_number_are_found_by_their_texts(run: Path, tmp_path: Path) -> None:
    trace = open_trace(run)
    rows = np.zeros(len(trace.code), dtype=np.int64)
    rows[np.flatnonzero(~trace.code.is_label)[:5]] = 2
    path = sampled(tmp_path / "x_results.json", trace, rows, codeobj=77)
    samples = read_profile(path).samples
    found = placed_samples(samples, trace)
    assert found.samples.tolist() == rows.tolist()
    assert found.elsewhere == 0


def test_samples_of_other_code_are_left_out(run: Path, tmp_path: Path) -> None:
    trace = open_trace(run)
    rows = np.where(trace.code.is_label, 0, 1)
    path = sampled(tmp_path / "x_results.json", trace, rows, text="s_other_build")
    found = asked(str(run), "--samples", str(path))
    assert found["rows"] == []
    assert "another build" in found["missing"]
    assert found["elsewhere"] == int(rows.sum())


def test_a_table_is_placed_by_texts_and_lines(run: Path, tmp_path: Path) -> None:
    """A row stands for all equal instructions of its line, with their cycles."""
    trace = open_trace(run)
    keys = [(trace.code.text[row], source_of(trace, row)) for row in range(len(trace.code))]
    rows = np.flatnonzero(~trace.code.is_label).tolist()
    text, source = keys[rows[-1]]
    path = tmp_path / "1_pc_sampling_host_trap.csv"
    path.write_text(f'Exec_Mask,Instruction,Instruction_Comment\n255,"{text}","{source} -> /main.cpp:1"\n')
    found = placed_samples(open_samples(path), trace)
    same = [row for row in rows if keys[row] == (text, source)]
    assert found.samples[same[0]] == 1
    assert found.of[same].tolist() == [same[0]] * len(same)
    shares = sampled_shares(trace.code, found)
    at = shares.row.tolist().index(same[0])
    assert shares.traced[at] == pytest.approx(cost_of(trace)[same].sum() / cost_of(trace).sum())


def test_scripts_get_the_same(run: Path) -> None:
    trace = open_trace(run)
    path = sampled(run.parent / "1_results.json", trace, np.where(trace.code.is_label, 0, 3))
    found = rcv_py.open(run).sampled(path)
    assert found.facts["all_samples"] == 3 * np.count_nonzero(~trace.code.is_label)
    assert set(found["samples"]) == {3}


def test_a_table_without_addresses_stands_for_equal_instructions(run: Path) -> None:
    """Two rows of the same text and line share what the table has of them."""
    trace = open_trace(run)
    found = placed_samples(open_samples(table(run.parent / "1_pc_sampling_stochastic.csv")), trace)
    assert found.samples.sum() == 0
    assert found.elsewhere == len(SAMPLES)
    shares = sampled_shares(trace.code, found)
    assert np.isnan(shares.agreement)


def open_samples(path: Path) -> Any:
    from rcv_py.base.problems import Problems
    from rcv_py.formats.listed.open import read_samples

    return read_samples(path, Problems())[0]


def test_samples_alone_have_no_traced_shares(tmp_path: Path) -> None:
    found = asked(str(database(tmp_path / "x.db")))
    assert [(row["text"], row["samples"], row["issued"]) for row in found["rows"]] == [
        ("s_waitcnt vmcnt(0)", 6, 1),
        ("v_add_f32 v0, v1, v2", 3, 3),
    ]
    assert {row["share_of_traced"] for row in found["rows"]} == {None}
    assert found["agreement"] is None


def test_a_capture_without_samples_says_how_to_get_some(run: Path) -> None:
    assert "--pc-sampling-method" in printed("samples", run)
