"""A real document of rocprofv3."""

import json

from rcv_py.formats.rocpd.read import read_profile
from tests.real import captures


def test_a_real_document_is_read() -> None:
    folder = captures.trace_path("flash_attn_small_after").parent
    profile = read_profile(folder / "small_results.json")
    raw = json.loads((folder / "small_results.json").read_text())["rocprofiler-sdk-tool"][0]
    gpus = [agent for agent in raw["agents"] if agent["type"] == 2]
    assert [agent.cus for agent in profile.agents if agent.is_gpu] == [gpu["cu_count"] for gpu in gpus]
    assert len(profile.kernels) == len(raw["kernel_symbols"]) - 1
    assert len(profile.files) == len(raw["strings"]["att_filenames"]) + len(raw["code_objects"]) - 1
