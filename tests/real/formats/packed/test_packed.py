"""Real captures are the same packed, and so is what tables of their run tell."""

from pathlib import Path

import pytest

from rcv_py.formats.open import capture_entry, open_trace, origin_of
from rcv_py.formats.uiout.run_files import facts_about
from tests.formats.packed.test_packed import pack
from tests.real import captures
from tests.support.equal import differences, trace_differences


@pytest.mark.parametrize("name", captures.TRACES)
def test_a_real_capture_is_the_same_packed(name: str, tmp_path: Path) -> None:
    trace = captures.real_trace(name)
    assert trace_differences(trace, pack(trace, tmp_path / "it.rcvz")) == []


@pytest.mark.parametrize("name", captures.SYNTHETIC)
@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_made_up_capture_is_the_same_packed(name: str, is_compressed: bool, tmp_path: Path) -> None:
    trace = open_trace(captures.synthetic_path(name))
    assert trace_differences(trace, pack(trace, tmp_path / "it.rcvz", is_compressed=is_compressed)) == []


def test_a_packed_recording_tells_what_its_folder_does(tmp_path: Path) -> None:
    trace = captures.real_trace("flash_attn_small_after")
    facts, origin = facts_about(trace), origin_of(trace.path)
    packed = pack(trace, tmp_path / "it.rcvz", facts=facts, origin=origin)
    assert packed.facts == facts_about(packed) == facts
    assert packed.facts.agent is not None
    ours, theirs = capture_entry(packed.path), capture_entry(trace.path)
    assert differences(ours, theirs, without=("path", "name", "size")) == []
    assert (ours.agent, ours.dispatch, ours.recorded) != (-1, -1, "")
    assert origin_of(packed.path) == origin
