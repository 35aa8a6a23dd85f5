"""Remedies of findings: rows with preconditions that are tested against program and launch.

A finding gets the first of its rows whose preconditions all hold; if none does, the finding says so.
`docs/findings.md` shows the same table, and a test compares the two.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from rcv_py.analysis.findings.finding import Finding, RemedyAdvice
from rcv_py.analysis.findings.situation import PRECONDITIONS, FindingContext
from rcv_py.analysis.findings.trials import trial_of
from rcv_py.base.text import Message, join_texts

LOW, MEDIUM, HIGH = "low", "medium", "high"


class Remedy(NamedTuple):
    """What to do about a finding."""

    id: str
    effort: str  # LOW: moves instructions, MEDIUM: changes a loop or a launch, HIGH: changes the algorithm
    needs: tuple[str, ...]  # names of preconditions, all of them
    text: str  # sentences; words in braces are filled in


# fmt: off
_SECOND_SET = Remedy("prefetch-registers", MEDIUM, ("repeated", "hot", "free-registers", "in-order"),
    "Load the data of the next iteration into a second set of registers ({wanted} of {free} "
    "free registers) and wait with a count that leaves those loads outstanding: {prefetch}.")
_HOIST = Remedy("hoist", LOW, ("room-before",),
    "Issue {early} earlier: the {room_before} instructions before neither write their addresses nor touch "
    "their destinations.")
_BATCH = Remedy("hoist-batch", LOW, ("batch",),
    "Issue the loads of the next tile before the wait for this tile, and let it leave them outstanding: "
    "{batch}. {held} are then held at a time.")
_WAIT_LATER = Remedy("wait-later", LOW, ("room-after",),
    "Move the wait after the next {room_after} instructions: none of them touches a result that it waits "
    "for.")
_SEVERAL_TILES = Remedy("several-tiles", MEDIUM, ("cold",),
    "This is a cold start: let a workgroup process several tiles (a persistent kernel), so "
    "that it occurs once, and load the next tile while the current tile is computed.")
_MORE_WAVES = Remedy("more-waves", MEDIUM, ("room-for-waves",),
    "Let other waves cover the wait: {fits} waves fit on a SIMD, {resident} were resident in the mean.")
_WIDEN = Remedy("widen", MEDIUM, ("narrow",),
    "Use wider accesses: most accesses move {width} per lane, where 16 (dwordx4, b128) are possible.")
_FREE_REGISTERS = Remedy("fewer-registers", HIGH, ("repeated", "hot", "in-order", "returns-data"),
    "Free registers for loads ahead: {registers}.")

REMEDIES: Mapping[str, tuple[Remedy, ...]] = {
    "exposed-vector-load": (
        _BATCH, _HOIST, _SECOND_SET,
        Remedy("lds-dma", MEDIUM, ("repeated", "through-registers"),
            "Copy from memory to LDS directly (buffer_load … lds): what {producer} loads is next written "
            "to LDS. The hardware writes lanes to consecutive LDS addresses, so a swizzled layout has to "
            "move into the addresses of the loads."),
        _WAIT_LATER, _MORE_WAVES, _WIDEN, _SEVERAL_TILES, _FREE_REGISTERS,
    ),
    "exposed-lds-dma": (
        Remedy("second-lds-buffer", MEDIUM, ("repeated", "hot", "free-lds", "in-order"),
            "Copy the next tile into a second LDS buffer while this tile is computed, and leave "
            "those copies outstanding in the wait before the barrier: {prefetch}."),
        _HOIST, _WAIT_LATER, _MORE_WAVES, _WIDEN, _SEVERAL_TILES,
        Remedy("smaller-tiles", HIGH, ("repeated", "hot", "in-order"),
            "Make tiles smaller, so that two of them fit into LDS, and copy one while the other is "
            "computed."),
    ),
    "exposed-lds": (
        _BATCH, _HOIST,
        Remedy("read-ahead", MEDIUM,
            ("repeated", "hot", "free-registers", "in-order", "returns-data", "no-barrier"),
            "Read the operands of the next step before this step is computed ({wanted} of {free} "
            "free registers), and wait with a count that leaves those reads outstanding."),
        Remedy("write-next-buffer", MEDIUM, ("repeated", "hot", "free-lds", "writes-lds"),
            "Write the next tile into a second LDS buffer while the current tile is computed, so "
            "that the writes are done before the barrier."),
        Remedy("write-fewer", HIGH, ("repeated", "hot", "wide", "writes-lds"),
            "Write fewer bytes to LDS: a narrower type, or operands that each wave loads into its own "
            "registers."),
        _WAIT_LATER, _WIDEN, _MORE_WAVES, _SEVERAL_TILES, _FREE_REGISTERS,
    ),
    "exposed-cross-lane": (
        Remedy("dpp", MEDIUM, ("through-lds",),
            "Exchange lanes with DPP (row_shr, row_bcast, quad_perm), v_permlane or v_readlane, which take "
            "a few cycles and do not go through LDS."),
        _WAIT_LATER,
    ),
    "serial-cross-lane-chain": (
        Remedy("dpp", MEDIUM, ("through-lds",),
            "Write the reduction with DPP (row_shr, row_bcast, quad_perm) or v_permlane, which take a few "
            "cycles and do not go through LDS; or reduce several values side by side, so that one wait "
            "serves all."),
    ),
    "exposed-scalar-load": (
        Remedy("preload-arguments", LOW, ("argument",),
            "Have kernel arguments preloaded into registers (amdgpu-kernarg-preload-count), or pack "
            "the arguments that are used first, so that a single scalar load reads them."),
        Remedy("no-pointer-chase", MEDIUM, ("pointer-chase",),
            "Pass what {producer} loads as an argument: its address is itself the result of a scalar load, "
            "so that two latencies add up."),
        _HOIST,
        Remedy("one-wait", LOW, ("same-base",),
            "Issue the {same_base} scalar loads through the same base together and wait for them once."),
        _WAIT_LATER, _MORE_WAVES, _SEVERAL_TILES,
    ),
    "waits-for-stores": (
        Remedy("no-wait-at-end", LOW, ("before-end",),
            "Leave out the wait: only s_endpgm follows it, which waits for stores itself."),
        Remedy("loads-first", MEDIUM, ("counted-together", "in-order"),
            "Issue loads before stores: both are counted by vmcnt here, so that a wait for a load after a "
            "store waits for the store too. Or wait with a count that leaves the stores outstanding."),
        _WAIT_LATER, _MORE_WAVES,
    ),
    "atomics": (
        Remedy("no-return", LOW, ("unread",),
            "Use the form of the atomic operation that returns nothing: no instruction reads its result."),
        Remedy("reduce-first", MEDIUM, (),
            "Reduce inside the wave and the workgroup first (DPP, LDS) and issue one atomic per "
            "workgroup; spread counters over several addresses."),
    ),
    "scratch-spills": (
        Remedy("fewer-live-values", MEDIUM, (),
            "Registers spill to memory: {registers}; index private arrays with constants only."),
    ),
    "redundant-wait": (
        Remedy("partial-count", LOW, ("in-order",),
            "Wait with a count that leaves the newest operation outstanding, and for the rest where it is "
            "read."),
    ),
    "memory-back-pressure": (
        _WIDEN,
        Remedy("spread", MEDIUM, ("back-to-back",),
            "Spread vector memory instructions over the iteration, between arithmetic, instead of back to "
            "back."),
        Remedy("fewer-bytes", HIGH, ("wide",),
            "The accesses already move {width} per lane: request fewer bytes (narrower types, reuse "
            "in registers or LDS) or check that lanes access consecutive addresses."),
    ),
    "lds-back-pressure": (
        _WIDEN,
        Remedy("spread", MEDIUM, ("back-to-back",), "Spread LDS accesses between matrix instructions."),
        Remedy("reuse-registers", HIGH, ("wide",),
            "The accesses already move {width} per lane: keep values that several steps share in "
            "registers, and check for bank conflicts."),
    ),
    "scalar-back-pressure": (
        Remedy("merge-scalar", LOW, ("same-base",),
            "Merge the {same_base} scalar loads through the same base into wider loads "
            "(s_load_dwordx8, x16)."),
    ),
    "matrix-unit-busy": (
        Remedy("cheaper-matrix", HIGH, (),
            "This is work: only fewer or cheaper matrix instructions help (lower precision, a form with "
            "fewer passes, sparsity)."),
    ),
    "matrix-dependency": (
        Remedy("more-accumulators", MEDIUM, ("free-registers",),
            "Interleave independent accumulators ({wanted} of {free} free registers), so that the next "
            "instruction does not need the last result."),
        _WAIT_LATER,
        Remedy("reorder", MEDIUM, (),
            "Move what reads a result further after the matrix instruction that writes it."),
    ),
    "hazard-nops": (
        Remedy("fill-nops", MEDIUM, (),
            "Put independent instructions in the place of s_nop: a second chain of matrix instructions, "
            "address arithmetic or loads of the next step. The compiler inserts s_nop where its schedule "
            "finds nothing else."),
    ),
    "instruction-fetch": (
        Remedy("smaller-loop", LOW, ("loop-too-large",),
            "Unroll less, so that the loop fits the instruction cache of 32 to 64 KB."),
        Remedy("fall-through", LOW, ("after-branch", "repeated"),
            "Turn {producer} around, so that the usual way falls through, or replace the branch by a "
            "select."),
        _SEVERAL_TILES,
    ),
    "wave-launch": (
        Remedy("fewer-waves", MEDIUM, (),
            "Let fewer waves do more each: persistent workgroups or more work per thread."),
    ),
    "dependent-arithmetic": (
        Remedy("interleave", MEDIUM, (),
            "Interleave independent computations: two elements per lane at a time, or unroll by two."),
    ),
    "issue-bound": (
        Remedy("less-address-arithmetic", MEDIUM, ("address-arithmetic",),
            "Compute addresses once: keep pointers in registers and advance them, use immediate offsets "
            "and buffer instructions with scalar offsets."),
        Remedy("fewer-conversions", MEDIUM, ("conversions",),
            "Keep values in the type they are used in, and use packed conversions and moves."),
        Remedy("replace-nops", MEDIUM, ("nops",),
            "Put independent instructions in the place of nops: a second chain of matrix instructions, "
            "address arithmetic or loads of the next step. The compiler inserts nops for hazards where its "
            "schedule finds nothing else."),
        Remedy("fewer-instructions", MEDIUM, (),
            "Execute fewer instructions: packed math (v_pk_*), fused forms, and values that do not change "
            "moved out of the loop."),
    ),
    "memory-bound": (
        Remedy("fewer-wider-accesses", HIGH, ("narrow",),
            "Request fewer bytes (narrower types, fused kernels, reuse in registers or LDS), and use "
            "wider accesses: most accesses move {width} per lane, where 16 (dwordx4, b128) are "
            "possible."),
        Remedy("fewer-bytes", HIGH, (),
            "Request fewer bytes: narrower types, fused kernels, reuse in registers or LDS. Check that "
            "lanes access consecutive addresses, so that no fetched byte is left unused."),
    ),
    "barrier-skew": (
        Remedy("share-work", MEDIUM, ("uneven-arrival",),
            "One wave does more than the others: share its work, or let it start first."),
        Remedy("double-buffer-lds", MEDIUM, ("repeated", "free-lds"),
            "Double-buffer LDS, so that one barrier per iteration is enough, and put independent "
            "work before it."),
        Remedy("shorten-last", MEDIUM, (),
            "Shorten the work of the last wave before it arrives: it waited for {producer}, or ran "
            "it last."),
    ),
    "drain-at-end": (
        Remedy("earlier-stores", MEDIUM, (),
            "Issue the last stores earlier, or let a wave continue with another tile instead of ending."),
    ),
    "low-occupancy": (
        Remedy("smaller-footprint", MEDIUM, ("resource-bound",), "{step} For that, {registers}."),
        Remedy("more-workgroups", MEDIUM, ("grid-bound",),
            "Launch more or smaller workgroups (split K or the sequence, smaller tiles), so that each SIMD "
            "has {fits} waves."),
    ),
    "grid-underfill": (
        Remedy("split-work", MEDIUM, (),
            "Split the work into more workgroups (split K or the sequence, smaller tiles), so that every "
            "SIMD gets one."),
    ),
    "ramp-up": (
        Remedy("larger-workgroups", MEDIUM, (),
            "Launch fewer, longer workgroups (persistent kernel), so that the device fills once."),
    ),
    "grid-tail": (
        Remedy("even-tail", MEDIUM, (),
            "Make the last workgroups as long as the others: start the longest first, use persistent "
            "workgroups that take tiles from a counter (stream-K), or choose a grid that fills the device "
            "a whole number of times."),
    ),
    "uneven-waves": (
        Remedy("even-work", MEDIUM, (),
            "Give waves equal work: pair long with short tiles (causal masks, ragged batches), start "
            "long tiles first, or distribute tiles by an atomic counter."),
    ),
    "long-prologue": (
        Remedy("persistent", MEDIUM, (),
            "Let a workgroup process several tiles (persistent kernel), so that arguments, descriptors and "
            "the first loads are paid for once; start the first loads at once and compute addresses "
            "meanwhile."),
    ),
}
# fmt: on

_WORDS = re.compile(r"\{(\w+)\}")
NONE_FITS = "No remedy that is known for it can be applied here: {reasons}."


def remedy_fields(name: str, case: FindingContext) -> dict[str, Any]:
    """Return the first remedy of a finding whose preconditions all hold, or why none fits.

    The result is fields of a finding, including the trial to replay and the remedies that fit as well, up to
    the first that cannot be replayed; id and effort are left out if no remedy fits.
    """
    failed: dict[str, None] = {}  # the first precondition of each remedy that does not hold, in that order
    fitting: list[RemedyAdvice] = []
    for remedy in REMEDIES.get(name, ()):
        lacking = next((need for need in remedy.needs if not PRECONDITIONS[need].holds(case)), None)
        if lacking is None:
            words = {word: case[word] for word in _WORDS.findall(remedy.text)}
            text, trial = Message(remedy.text, **words), trial_of(name, remedy.id, case)
            fitting.append(RemedyAdvice(text, remedy.id, remedy.effort, trial))
            if trial is None or trial.is_limit:  # no replay will say that it slows the kernel
                break
        else:
            failed[lacking] = None
    if fitting:
        first = fitting[0]
        return {
            "remedy": first.text,
            "remedy_id": first.id,
            "effort": first.effort,
            "trial": first.trial,
            "others": tuple(fitting[1:]),
        }
    reasons = join_texts(
        "; ", (Message("that {0} is not so", PRECONDITIONS[need].text) for need in list(failed)[:3])
    )
    limit = trial_of(name, "", case)
    known = {} if limit is None else {"trial": limit}
    return {"remedy": Message(NONE_FITS, reasons=reasons or "none is known"), **known}


def finding_of(case: FindingContext, name: str, **words: Any) -> Finding:
    """Return a finding whose cycles are the bound of a situation, with the remedy that fits.

    `words` are all other fields; they may also replace the numbers or the remedy.
    """
    claimed, remedy = case.claimed, {} if "remedy" in words else remedy_fields(name, case)
    numbers = {**claimed.bound._asdict(), "attributed": int(claimed.attributed.sum()), "is_upper_bound": True}
    hot = case.inputs.hot_lines(claimed.rows)
    return Finding(name=name, **{**numbers, **remedy, "hot": hot, **words})
