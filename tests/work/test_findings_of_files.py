"""Findings of files are those of waves in memory, however the waves are cut, and by whichever processes."""

import pytest

from rcv_py.analysis.core import parcels
from rcv_py.analysis.findings.detect import findings, findings_from
from rcv_py.formats.open import open_trace
from rcv_py.work import load, reduce
from rcv_py.work.reduce import Reducer
from tests.support.equal import differences
from tests.support.samples import sample_path


@pytest.mark.parametrize(
    ("name", "choices", "slab_bytes"),
    [
        ("matmul_small", ("working", "all"), 100_000),
        ("mixed_populations", ("all", "working"), 100_000),
        ("vector_add", ("working", "all"), 600_000),
    ],
)
def test_findings_of_files_are_those_of_memory(
    name: str, choices: tuple[str, ...], slab_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", slab_bytes)
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    monkeypatch.setattr(parcels, "MOSTLY", 1)  # cut whatever lives on
    trace = open_trace(sample_path(name))
    batch = trace.reader.read(list(range(len(trace.waves))))
    whole = {waves: findings(trace, [batch], waves=waves) for waves in choices}
    for workers in (0, 2):
        with Reducer(trace, workers=workers) as found:
            assert sum(map(len, found._strips(is_together=True))) > 4, "many slabs"
            for waves in choices:
                assert not differences(whole[waves], findings_from(found, waves=waves))
