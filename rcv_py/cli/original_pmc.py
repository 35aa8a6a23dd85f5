"""`rcv pmc --like`: the text of `pmc_l2_analyzer.py`, letter by letter."""

from __future__ import annotations

from collections.abc import Iterator

from rcv_py.analysis.counters.pmc.original import OriginalNumbers

NOTHING = "No matching counter rows found."
_LOW = 0.05
_STREAM = (
    "  L2 hit rate is near-zero => pure streaming, no reuse to exploit.",
    "  Improving 'L2 hit rate' is a non-goal here; only real KV reuse",
    "  (shared-prefix serving) would change it. ",
)
_FULL = "  Line utilization is full (>=95% 64B) => no spatial-locality waste."


def original_lines(found: OriginalNumbers) -> Iterator[str]:
    """Yield the lines of a report; the last ones are empty of words if no verdict fits."""
    yield f"  Dispatches matched: {found.dispatches}"
    if found.hits is not None or found.misses is not None:
        yield from _title("L2 cache")
        yield f"  TCC_HIT_sum  = {found.hits or 0:,.0f}"
        yield f"  TCC_MISS_sum = {found.misses or 0:,.0f}"
        yield f"  L2 hit rate  = {100 * found.hit_rate:.1f}%   (streaming decode: ~1-3% expected)"
        if found.l1_reads:
            yield f"  TCP->TCC read req (L1->L2) = {found.l1_reads:,.0f}"
    if found.reads:
        yield from _title("HBM read efficiency")
        yield from _memory(found)
    yield from _title("Verdict")
    if found.hits is not None and found.hit_rate < _LOW:
        yield from _STREAM
    if found.reads and found.partial < _LOW:
        yield _FULL


def _memory(found: OriginalNumbers) -> Iterator[str]:
    yield f"  TCC_EA0_RDREQ (L2->HBM) = {found.reads:,.0f}"
    yield f"  32B partial fraction    = {100 * found.partial:.1f}%   (~0% = full 64B lines, no waste)"
    yield f"  DRAM reads              = {found.dram_reads:,.0f}"
    yield f"  est HBM read bytes      = {found.read / 1e9:.1f} GB  (EA0 x{found.channels} channels)"
    if found.ideal:
        each, times = found.ideal / 1e9, found.dispatches
        yield f"  ideal bytes             = {each * times:.1f} GB  ({each:g} GB x {times} disp)"
        yield f"  over-fetch ratio        = {found.over_fetch:.2f}x   (~1.0 = no redundant fetch)"


def _title(text: str) -> tuple[str, str, str]:
    return "", f"  {text}", f"  {'-' * len(text)}"
