"""Files of PC samples in the window, and the panel that compares them with a trace."""

from pathlib import Path

import numpy as np
import pytest

from rcv_py.formats.open import open_trace
from rcv_py.ui.app import App
from tests.features.samples.test_command import sampled
from tests.support.sampled import database
from tests.support.samples import write_sample
from tests.ui.test_pc_sampling import shown
from tests.ui.window import open_sample, settle


def columns(view: object) -> dict[str, list[object]]:
    return {column.id: list(column.values) for column in view.table.columns if column.has_values}


def test_a_database_opens_as_a_program_with_samples(blank: App, tmp_path: Path) -> None:
    path = database(tmp_path / "x.db")
    open_sample(blank, path)
    isa = columns(shown(blank, "isa").view)
    assert isa["samples"] == [0, 3, 6]
    assert isa["issued"] == [0, 3, 1]
    assert isa["stalled"] == [0, 0, 5]
    assert isa["reason"] == ["", "", "wait count 80 %"]
    assert np.nan_to_num(np.array(isa["lanes"], dtype=float)).tolist() == [0, 64, 24]
    assert np.nan_to_num(np.array(isa["waves"], dtype=float)).tolist() == [0, 4, 8]


@pytest.mark.parametrize("has_file", [True, False])
def test_samples_beside_a_capture_are_compared(blank: App, tmp_path: Path, has_file: bool) -> None:
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    write_sample("matmul_small", folder)
    if has_file:
        trace = open_trace(folder)
        sampled(tmp_path / "1_results.json", trace, np.where(trace.code.is_label, 0, 2))
    open_sample(blank, folder)
    panel = shown(blank, "samples")
    settle(blank)
    if has_file:
        assert set(columns(panel.view)["samples"]) == {2}
        assert "of the samples lie where the traced cycles do" in panel.note.text()
        panel.view.set_current(0)
        panel._go(3)
        assert blank.ui.session.line == int(panel.lines[3])
    else:
        assert "stochastic" in panel.empty.sentence.text()
