"""Remedies of findings: each a row with preconditions that are tested against program and launch.

The first row of a finding whose preconditions all hold is what a reader should do; where none holds, that
is said.  `docs/findings.md` shows the same table, and a test holds both together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from rcv_py.analysis.findings.situation import ROOM, Situation
from rcv_py.analysis.latency.access_widths import WIDEST

LOW, MEDIUM, HIGH = "low", "medium", "high"


class Precondition(NamedTuple):
    """What must hold before a remedy is named."""

    text: str  # for people: completes "only if"
    holds: Callable[[Situation], bool]


class Remedy(NamedTuple):
    """What to do about a finding."""

    id: str
    text: str  # sentences; words in braces are filled in
    needs: tuple[str, ...]  # names of preconditions, all of them
    effort: str  # LOW: moves instructions, MEDIUM: changes a loop or a launch, HIGH: changes the algorithm


def _flag(name: str) -> Callable[[Situation], bool]:
    return lambda one: name in one.flags


PRECONDITIONS: Mapping[str, Precondition] = {
    "repeated": Precondition("waves execute the instruction more than once", lambda one: one.is_repeated),
    "cold": Precondition(
        "most of the stall is that of the first execution in each wave", lambda one: one.is_cold
    ),
    "hot": Precondition("most of the stall is not that of the first execution", lambda one: not one.is_cold),
    "room-before": Precondition(
        f"at least {ROOM} instructions in front of the load, back to the last wait, branch or barrier, write "
        "neither its address nor touch its destination",
        lambda one: one.room_before >= ROOM,
    ),
    "room-behind": Precondition(
        f"at least {ROOM} instructions behind the wait, up to the next wait, branch or barrier, touch no "
        "result that it waits for",
        lambda one: one.room_behind >= ROOM,
    ),
    "in-order": Precondition(
        "the counter returns in order: no scalar load, message or FLAT instruction is counted with it",
        lambda one: one.is_in_order,
    ),
    "free-registers": Precondition(
        "vector registers for a second set of results are free without losing a resident wave",
        lambda one: one.has_free_vectors,
    ),
    "returns-data": Precondition(
        "the operation to blame returns data to registers", lambda one: one.returns_data is True
    ),
    "writes-lds": Precondition(
        "the operation to blame writes to LDS", lambda one: one.returns_data is False
    ),
    "free-lds": Precondition(
        "LDS of the workgroup fits twice beside the resident workgroups", lambda one: one.has_free_lds
    ),
    "narrow": Precondition(
        f"most of the accesses move less than {WIDEST} bytes a lane", lambda one: one.is_narrow
    ),
    "wide": Precondition(f"the accesses already move {WIDEST} bytes a lane", lambda one: one.width >= WIDEST),
    "through-registers": Precondition(
        "what is loaded is written to LDS, and the target can copy memory to LDS directly",
        lambda one: one.is_through_registers,
    ),
    "room-for-waves": Precondition(
        "registers and LDS leave room for a wave more on each SIMD than were ever resident, and every SIMD "
        "had one",
        lambda one: one.has_room_for_waves,
    ),
    "through-lds": Precondition(
        "lanes are exchanged by ds_bpermute, ds_permute or ds_swizzle, not by DPP already",
        lambda one: one.is_through_lds,
    ),
    "argument": Precondition(
        "the load reads through a base that the launch set, and the target can preload arguments",
        lambda one: one.is_argument,
    ),
    "pointer-chase": Precondition(
        "the address of the load was itself loaded by a scalar load", lambda one: one.is_pointer_chase
    ),
    "same-base": Precondition(
        "several executed scalar loads read through the same base", lambda one: one.same_base > 1
    ),
    "counted-together": Precondition(
        "stores and loads share a counter (gfx9)", lambda one: one.is_counted_together
    ),
    "before-end": Precondition("only s_endpgm follows the wait", lambda one: one.is_before_end),
    "unread": Precondition("no instruction reads what the operation returns", lambda one: one.is_unread),
    "back-to-back": Precondition(
        "the instruction in front is a memory instruction too", lambda one: one.is_back_to_back
    ),
    "loop-too-large": Precondition(
        "the loop has more than 32 KB of code", lambda one: one.is_loop_too_large
    ),
    "behind-branch": Precondition("the gap follows a branch", lambda one: one.is_behind_branch),
    "uneven-arrival": Precondition(
        "one wave is last at more than half of the barriers", _flag("uneven-arrival")
    ),
    "resource-bound": Precondition("a resource limits the waves of a SIMD", _flag("resource-bound")),
    "grid-bound": Precondition("the grid, not a resource, is short of waves", _flag("grid-bound")),
    "address-arithmetic": Precondition(
        "integer address arithmetic issues for more cycles than any other kind of VALU and SALU work",
        _flag("address-arithmetic"),
    ),
    "conversions": Precondition(
        "conversions and moves issue for more cycles than other VALU work", _flag("conversions")
    ),
}  # fmt: skip

_SECOND_SET = Remedy(
    "prefetch-registers",
    "Load the data of the next iteration into a second set of registers ({wanted} of {free} free ones) and "
    "wait with a count that leaves those loads outstanding: {prefetch}.",
    ("repeated", "hot", "free-registers", "in-order"),
    MEDIUM,
)
_HOIST = Remedy(
    "hoist",
    "Issue {producer} earlier: the {room_before} instructions in front of it neither write its address nor "
    "touch its destination.",
    ("room-before",),
    LOW,
)
_WAIT_LATER = Remedy(
    "wait-later",
    "Move the wait behind the next {room_behind} instructions: none of them touches a result that it waits "
    "for.",
    ("room-behind",),
    LOW,
)
_SEVERAL_TILES = Remedy(
    "several-tiles",
    "This is a cold start: let a workgroup process several tiles (a persistent kernel), so that it is paid "
    "for once, and load the next tile while this one is computed.",
    ("cold",),
    MEDIUM,
)
_MORE_WAVES = Remedy(
    "more-waves",
    "Let other waves cover the wait: {fits} waves fit on a SIMD, {resident} were resident in the mean.",
    ("room-for-waves",),
    MEDIUM,
)
_WIDEN = Remedy(
    "widen",
    "Move more with each instruction: most accesses move {width} a lane, where 16 (dwordx4, b128) are "
    "possible.",
    ("narrow",),
    MEDIUM,
)
_FREE_REGISTERS = Remedy(
    "fewer-registers",
    "Free registers for loads ahead: {registers}.",
    ("repeated", "hot", "in-order", "returns-data"),
    HIGH,
)

REMEDIES: Mapping[str, tuple[Remedy, ...]] = {
    "exposed-vector-load": (
        _HOIST,
        _SECOND_SET,
        Remedy(
            "lds-dma",
            "Copy from memory to LDS directly (buffer_load … lds): what {producer} loads is next written "
            "to LDS. The hardware writes lanes to consecutive LDS addresses, so a swizzled layout has to "
            "move into the addresses of the loads.",
            ("repeated", "through-registers"),
            MEDIUM,
        ),
        _WAIT_LATER, _MORE_WAVES, _WIDEN, _SEVERAL_TILES, _FREE_REGISTERS,
    ),
    "exposed-lds-dma": (
        Remedy(
            "second-lds-buffer",
            "Copy the next tile into a second LDS buffer while this one is computed, and leave those copies "
            "outstanding in the wait in front of the barrier: {prefetch}.",
            ("repeated", "hot", "free-lds", "in-order"),
            MEDIUM,
        ),
        _HOIST,
        _WAIT_LATER,
        _MORE_WAVES,
        _WIDEN,
        _SEVERAL_TILES,
        Remedy(
            "smaller-tiles",
            "Make tiles smaller, so that two of them fit into LDS, and copy one while the other is computed.",
            ("repeated", "hot", "in-order"),
            HIGH,
        ),
    ),
    "exposed-lds": (
        _HOIST,
        Remedy(
            "read-ahead",
            "Read the operands of the next step before this one is computed ({wanted} of {free} free "
            "registers), and wait with a count that leaves those reads outstanding.",
            ("repeated", "hot", "free-registers", "in-order", "returns-data"),
            MEDIUM,
        ),
        Remedy(
            "write-next-buffer",
            "Write the next tile into a second LDS buffer while this one is computed, so that the writes are "
            "done when the barrier comes.",
            ("repeated", "hot", "free-lds", "writes-lds"),
            MEDIUM,
        ),
        Remedy(
            "write-fewer",
            "Write fewer bytes to LDS: a narrower type, or operands that each wave loads into its own "
            "registers.",
            ("repeated", "hot", "wide", "writes-lds"),
            HIGH,
        ),
        _WAIT_LATER, _WIDEN, _MORE_WAVES, _SEVERAL_TILES, _FREE_REGISTERS,
    ),
    "exposed-cross-lane": (
        Remedy(
            "dpp",
            "Exchange lanes with DPP (row_shr, row_bcast, quad_perm), v_permlane or v_readlane, which take "
            "a few cycles and do not go through LDS.",
            ("through-lds",),
            MEDIUM,
        ),
        _WAIT_LATER,
    ),
    "serial-cross-lane-chain": (
        Remedy(
            "dpp",
            "Write the reduction with DPP (row_shr, row_bcast, quad_perm) or v_permlane, which take a few "
            "cycles and do not go through LDS; or reduce several values side by side, so that one wait "
            "serves all.",
            ("through-lds",),
            MEDIUM,
        ),
    ),
    "exposed-scalar-load": (
        Remedy(
            "preload-arguments",
            "Have kernel arguments preloaded into registers (amdgpu-kernarg-preload-count), or pack those "
            "that are used first, so that one scalar load takes them all.",
            ("argument",),
            LOW,
        ),
        Remedy(
            "no-pointer-chase",
            "Pass what {producer} loads as an argument: its address is itself the result of a scalar load, "
            "so that two latencies add up.",
            ("pointer-chase",),
            MEDIUM,
        ),
        _HOIST,
        Remedy(
            "one-wait",
            "Issue the {same_base} scalar loads through the same base together and wait for them once.",
            ("same-base",),
            LOW,
        ),
        _WAIT_LATER, _MORE_WAVES, _SEVERAL_TILES,
    ),
    "waits-for-stores": (
        Remedy(
            "no-wait-at-end",
            "Leave out the wait: only s_endpgm follows it, which waits for stores itself.",
            ("before-end",),
            LOW,
        ),
        Remedy(
            "loads-first",
            "Issue loads before stores: both are counted by vmcnt here, so that a wait for a load behind a "
            "store waits for the store too. Or wait with a count that leaves the stores outstanding.",
            ("counted-together", "in-order"),
            MEDIUM,
        ),
        _WAIT_LATER,
        _MORE_WAVES,
    ),
    "atomics": (
        Remedy(
            "no-return",
            "Use the form of the atomic operation that returns nothing: no instruction reads its result.",
            ("unread",),
            LOW,
        ),
        Remedy(
            "reduce-first",
            "Reduce inside the wave and the workgroup first (DPP, LDS) and issue one atomic a workgroup; "
            "spread counters over several addresses.",
            (),
            MEDIUM,
        ),
    ),
    "scratch-spills": (
        Remedy(
            "fewer-live-values",
            "Registers spill to memory: {registers}; index private arrays with constants only.",
            (),
            MEDIUM,
        ),
    ),
    "redundant-wait": (
        Remedy(
            "partial-count",
            "Wait with a count that leaves the newest operation outstanding, and for the rest where it is "
            "read.",
            ("in-order",),
            LOW,
        ),
    ),
    "memory-back-pressure": (
        _WIDEN,
        Remedy(
            "spread",
            "Spread vector memory instructions over the iteration, between arithmetic, instead of back to "
            "back.",
            ("back-to-back",),
            MEDIUM,
        ),
        Remedy(
            "fewer-bytes",
            "The accesses already move {width} a lane: ask for fewer bytes (narrower types, reuse in "
            "registers or LDS) or check that lanes access consecutive addresses.",
            ("wide",),
            HIGH,
        ),
    ),
    "lds-back-pressure": (
        _WIDEN,
        Remedy("spread", "Spread LDS accesses between matrix instructions.", ("back-to-back",), MEDIUM),
        Remedy(
            "reuse-registers",
            "The accesses already move {width} a lane: keep values that several steps share in registers, "
            "and check for bank conflicts.",
            ("wide",),
            HIGH,
        ),
    ),
    "scalar-back-pressure": (
        Remedy(
            "merge-scalar",
            "Merge the {same_base} scalar loads through the same base into wider ones (s_load_dwordx8, x16).",
            ("same-base",),
            LOW,
        ),
    ),
    "matrix-unit-busy": (
        Remedy(
            "cheaper-matrix",
            "This is work: only fewer or cheaper matrix instructions help (lower precision, a form with "
            "fewer passes, sparsity).",
            (),
            HIGH,
        ),
    ),
    "matrix-dependency": (
        Remedy(
            "more-accumulators",
            "Interleave independent accumulators ({wanted} of {free} free registers), so that the next "
            "instruction does not need the last result.",
            ("free-registers",),
            MEDIUM,
        ),
        _WAIT_LATER,
        Remedy(
            "reorder",
            "Move what reads a result further behind the matrix instruction that writes it.",
            (),
            MEDIUM,
        ),
    ),
    "hazard-nops": (
        Remedy(
            "fill-nops",
            "Put independent instructions in the place of s_nop: a second chain of matrix instructions, "
            "address arithmetic or loads of the next step. The compiler inserts s_nop where its schedule "
            "finds nothing else.",
            (),
            MEDIUM,
        ),
    ),
    "instruction-fetch": (
        Remedy(
            "smaller-loop",
            "Unroll less, so that the loop fits the instruction cache of 32 to 64 KB.",
            ("loop-too-large",),
            LOW,
        ),
        Remedy(
            "fall-through",
            "Turn {producer} around, so that the usual way falls through, or replace the branch by a select.",
            ("behind-branch", "repeated"),
            LOW,
        ),
        _SEVERAL_TILES,
    ),
    "wave-launch": (
        Remedy(
            "fewer-waves",
            "Let fewer waves do more each: persistent workgroups or more work a thread.",
            (),
            MEDIUM,
        ),
    ),
    "dependent-arithmetic": (
        Remedy(
            "interleave",
            "Interleave independent computations: two elements a lane at a time, or unroll by two.",
            (),
            MEDIUM,
        ),
    ),
    "issue-bound": (
        Remedy(
            "less-address-arithmetic",
            "Compute addresses once: keep pointers in registers and advance them, use immediate offsets and "
            "buffer instructions with scalar offsets.",
            ("address-arithmetic",),
            MEDIUM,
        ),
        Remedy(
            "fewer-conversions",
            "Keep values in the type they are used in, and use packed conversions and moves.",
            ("conversions",),
            MEDIUM,
        ),
        Remedy(
            "fewer-instructions",
            "Execute fewer instructions: packed math (v_pk_*), fused forms, and values that do not change "
            "moved out of the loop.",
            (),
            MEDIUM,
        ),
    ),
    "memory-bound": (
        Remedy(
            "fewer-bytes",
            "Ask for fewer bytes: narrower types, fused kernels, reuse in registers or LDS. Check that "
            "lanes access consecutive addresses, so that no fetched byte is left unused.",
            (),
            HIGH,
        ),
    ),
    "barrier-skew": (
        Remedy(
            "share-work",
            "One wave does more than the others: share its work, or let it start first.",
            ("uneven-arrival",),
            MEDIUM,
        ),
        Remedy(
            "double-buffer-lds",
            "Double-buffer LDS, so that one barrier an iteration is enough, and put independent work in "
            "front of it.",
            ("repeated", "free-lds"),
            MEDIUM,
        ),
        Remedy(
            "shorten-last",
            "Shorten what the last wave does before it arrives: {producer} is what it waited for or ran "
            "last.",
            (),
            MEDIUM,
        ),
    ),
    "drain-at-end": (
        Remedy(
            "earlier-stores",
            "Issue the last stores earlier, or let a wave go on with another tile instead of ending.",
            (),
            MEDIUM,
        ),
    ),
    "low-occupancy": (
        Remedy("smaller-footprint", "{step} For that, {registers}.", ("resource-bound",), MEDIUM),
        Remedy(
            "more-workgroups",
            "Launch more or smaller workgroups (split K or the sequence, smaller tiles), so that each SIMD "
            "has {fits} waves.",
            ("grid-bound",),
            MEDIUM,
        ),
    ),
    "grid-underfill": (
        Remedy(
            "split-work",
            "Split the work into more workgroups (split K or the sequence, smaller tiles), so that every "
            "SIMD gets one.",
            (),
            MEDIUM,
        ),
    ),
    "ramp-up": (
        Remedy(
            "larger-workgroups",
            "Launch fewer, longer workgroups (persistent kernel), so that the device fills once.",
            (),
            MEDIUM,
        ),
    ),
    "grid-tail": (
        Remedy(
            "even-tail",
            "Make the last workgroups as long as the others: start the longest first, use persistent "
            "workgroups that take tiles from a counter (stream-K), or choose a grid that fills the device "
            "a whole number of times.",
            (),
            MEDIUM,
        ),
    ),
    "uneven-waves": (
        Remedy(
            "even-work",
            "Give waves equal work: pair long with short tiles (causal masks, ragged batches), start long "
            "ones first, or hand tiles out from a counter.",
            (),
            MEDIUM,
        ),
    ),
    "long-prologue": (
        Remedy(
            "persistent",
            "Let a workgroup process several tiles (persistent kernel), so that arguments, descriptors and "
            "the first loads are paid for once; start the first loads at once and compute addresses "
            "meanwhile.",
            (),
            MEDIUM,
        ),
    ),
}  # fmt: skip

NONE_FITS = "No remedy that is known for it can be applied here: {reasons}."


class Advice(NamedTuple):
    """What a reader should do, as text and id."""

    id: str  # of the remedy, "" if none fits
    text: str
    effort: str = ""


def advice(name: str, one: Situation) -> Advice:
    """Return the first remedy of a finding whose preconditions all hold, or why none does."""
    failed: dict[str, None] = {}
    for remedy in REMEDIES.get(name, ()):
        lacking = [need for need in remedy.needs if not PRECONDITIONS[need].holds(one)]
        if not lacking:
            return Advice(remedy.id, _filled(remedy.text, one), remedy.effort)
        failed |= dict.fromkeys(lacking[:1])
    reasons = "; ".join(f"{remedy_of} is not so" for remedy_of in _named(failed))
    return Advice("", NONE_FITS.format(reasons=reasons or "none is known"))


def _named(failed: Mapping[str, None]) -> list[str]:
    return [f"that {PRECONDITIONS[need].text}" for need in list(failed)[:3]]


class _Words(dict[str, str]):
    def __init__(self, one: Situation) -> None:
        super().__init__()
        self._one = one

    def __missing__(self, name: str) -> str:
        return self._one[name]


def _filled(text: str, one: Situation) -> str:
    return text.format_map(_Words(one))


def rows() -> list[tuple[str, str, str, str]]:
    """The table of the docs: finding, remedy, what it needs, effort."""
    return [
        (
            name,
            remedy.id,
            "; ".join(PRECONDITIONS[need].text for need in remedy.needs) or "always",
            remedy.effort,
        )
        for name, found in REMEDIES.items()
        for remedy in found
    ]
