"""The real captures as a whole: what they are of, what is told of them, how much work it is to open them."""

from functools import cache

import numpy as np
import pytest

from rcv_py.formats.open import find_captures, open_trace
from rcv_py.model.trace import Trace
from tests.real.captures import SHARED, THREAD_TRACES, TRACES, golden, synthetic_path, trace_path
from tests.real.measured import MEASURED
from tests.support.python_calls import python_calls
from tests.support.reference_clock import open_as_reference


@cache
def opened(name: str) -> Trace:
    return open_trace(trace_path(name))


def test_pc_samples_are_what_was_measured() -> None:
    code = opened("pcsampling").code
    assert (len(code), code.samples_issued.sum(), code.samples_stalled.sum()) == (1635, 1306, 3384)
    assert code.stall_reasons.sum(axis=0).tolist() == [0, 190, 138, 657, 252, 761, 609, 777, 0, 0]
    assert np.array_equal(code.stall_reasons.sum(axis=1), code.samples_stalled)


@pytest.mark.parametrize("name", TRACES)
def test_a_capture_opens_without_a_problem_that_is_not_there(name: str) -> None:
    where = {problem.where for problem in opened(name).problems}
    expected = {"pcsampling": {"snapshots.json", "filenames.json"}}
    assert where == expected.get(name, {"code.json"} if name.startswith("pa_mqa") else set())


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_every_capture_is_known_to_be_of_gfx950(name: str) -> None:
    trace = opened(name)
    assert (trace.target, trace.gfxip, trace.version) == ("gfx950", 9, "3.0.0")
    assert 1.5e9 < trace.clock.shader_hz < 2.3e9


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_each_wave_ran_on_unit_1_for_one_kernel_that_has_a_name(name: str) -> None:
    trace = opened(name)
    assert set(trace.waves.cu.tolist()) == {1}
    kernels = set(trace.waves.kernel.tolist())
    assert len(kernels) == 1
    assert trace.occupancy.names[kernels.pop()] == trace.code.kernels[0].name == trace.kernel_name


# -- clocks -----------------------------------------------------------------------------------------------


def test_a_made_up_capture_is_aligned_as_the_reference_does() -> None:
    expected = golden("synthetic/counters_gfx9.rcv.json")["se_time_offset"]
    path = synthetic_path("counters_gfx9")
    reference = open_as_reference(path).clock.offsets
    assert {str(se): cycles for se, cycles in reference.items()} == expected == {"0": 0, "1": 799}
    assert open_trace(path).clock.offsets == {0: 0, 1: 800}  # what the file was made with


def test_the_captures_of_a_folder_are_listed_with_their_facts() -> None:
    entries = {entry.path: entry for entry in find_captures(SHARED / "traces")}
    assert len(entries) == len(TRACES)
    for name, known in MEASURED.items():
        entry = entries[trace_path(name)]
        facts = (
            entry.waves,
            entry.instructions,
            entry.instructions - entry.executed,
            entry.hits,
            entry.latency,
        )
        assert facts == (known.waves, known.rows - 1, known.unexecuted - 1, known.tokens, known.latency)
        assert entry.note == ""


@pytest.mark.parametrize("name", ["moe_reduce", "mla_decode"])
def test_opening_takes_no_step_an_occupancy_event(name: str) -> None:
    trace = opened(name)
    # moe_reduce takes 82,864 calls and has 65,536 events: a call for each would be seen; mla_decode 25,103.
    most = 25 * len(trace.waves) + 8 * len(trace.code)
    assert python_calls(lambda: open_trace(trace_path(name))) < most
