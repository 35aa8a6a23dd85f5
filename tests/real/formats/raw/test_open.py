"""The rules of tests/formats/raw/test_open.py on real raw captures, and what is known of some of them."""

import pytest

from rcv_py.base.problems import Affects
from rcv_py.formats.open import capture_entry, find_captures
from tests.formats.raw import test_open as rules
from tests.formats.raw.test_open import (  # noqa: F401 - collected here, too
    opened,
    test_every_resident_and_dispatch_is_the_expected_one,
    test_every_token_and_state_is_the_expected_one,
)
from tests.real.golden_sqtt import NAMES, raw, raw_folder
from tests.support.llvm import need_llvm


@pytest.mark.parametrize("name", NAMES)
def test_instructions_have_the_expected_texts(name: str) -> None:
    need_llvm()
    rules.test_instructions_have_the_expected_texts(raw(name))


def test_both_dispatches_of_a_folder_are_listed() -> None:
    folder = raw_folder("gfx1100/sync_run_0")
    assert [(entry.path.name, entry.about) for entry in find_captures(folder)] == [
        (
            f"1_0_shader_engine_0_{number}.att",
            f"Process 1 · Agent 0 · Dispatch {number} · SE0-5 · {size} · 6 files",
        )
        for number, size in ((1, "27.7 KB"), (2, "27.5 KB"))
    ]


def test_an_entry_tells_kernel_and_costs() -> None:
    entry = capture_entry(raw_folder("gfx950/gemm_run_0"))
    assert (entry.kernel, entry.waves, entry.hits) == ("r_32_32_16_2", 4, 232)
    assert "the clocks of 32 engines are not aligned" in entry.note


def test_a_capture_whose_waves_ran_elsewhere_says_so() -> None:
    trace = opened(raw("gfx1100/sync_run_0", 2))
    assert not len(trace.waves)
    assert [problem.affects for problem in trace.problems if "traced compute unit" in problem.text] == [
        (Affects.WAVES, Affects.CODE)
    ]
