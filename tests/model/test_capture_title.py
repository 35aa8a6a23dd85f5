"""What people call a capture."""

from pathlib import Path

import pytest

from rcv_py.model.trace import capture_title


@pytest.mark.parametrize(
    ("path", "kernel", "title"),
    [
        (
            "gemm/big/ui_output_agent_58177_dispatch_135",
            "kernel_gemm_0",
            "kernel_gemm_0 · dispatch 135 · big",
        ),
        ("gemm/ui_output_agent_1_dispatch_2", "", "dispatch 2 · gemm"),
        ("gemm/ui_output_agent_1_dispatch_2_after_fix", "k", "k · dispatch 2 · after_fix · gemm"),
        ("samples/matmul_tiled", "matmul(float*, int)", "matmul · matmul_tiled"),
        ("a/ui_output_agent_1_dispatch_7", "k" * 60, f"{'k' * 39}… · dispatch 7 · a"),
    ],
)
def test_a_title_says_kernel_dispatch_and_folder(path: str, kernel: str, title: str) -> None:
    assert capture_title(Path(path), kernel) == title
