"""Operations of a whole launch of a known size."""

import csv

from rcv_py.analysis.program.matrix_forms import flops_of
from rcv_py.formats.open import open_trace
from tests.real.captures import trace_path


def test_a_launch_multiplies_square_matrices_of_4096() -> None:
    """Every wave does as much as a traced one, and the table of the run says how many there are."""
    folder = trace_path("preshuffle_gemm")
    trace = open_trace(folder)
    per_wave = float(trace.code.hits @ flops_of(trace.code)) / len(trace.waves)
    (table,) = folder.parent.glob("*_kernel_trace.csv")
    with table.open() as file:
        rows = [row for row in csv.DictReader(file) if row["Kernel_Name"] == "kernel_gemm_0"]
    waves = {int(row["Grid_Size_X"]) * int(row["Grid_Size_Y"]) // 64 for row in rows}
    assert {per_wave * number for number in waves} == {2.0 * 4096**3}
