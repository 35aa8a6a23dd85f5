"""`rcv info` of a document that rocprofv3 wrote."""

from tests.real import captures
from tests.support.command_runs import run


def test_a_real_document_is_short_for_people() -> None:
    path = captures.trace_path("flash_attn_small_after").parent / "small_results.json"
    text = run("info", str(path)).out
    assert "16 code objects, 2,216 kernels" in text
    assert len(text) < 4_000
