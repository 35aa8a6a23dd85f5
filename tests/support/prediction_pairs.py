"""Kernels simulated before and after a change, and the same change as it is asked of the replay.

A pair says twice what is changed: to the simulator as other hardware, another text or another launch, and to
the replay as changes of what was recorded before.  The replay gets nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from rcv_py.analysis.whatif.changes import (
    Change,
    Dpp,
    Free,
    Latency,
    Merge,
    MoreWaves,
    Move,
    NoBarrier,
    Only,
    Relax,
)
from tests.support.prediction_scenes import SCENES, SWIZZLES, W9, W11, W12, Scene, Words

MEMORY = {"near": "cache", "far": "memory", "store": "stores", "lds": "LDS", "smem": "scalar loads"}


@dataclass(frozen=True)
class Pair:
    """A scene before and after a change, and the change."""

    what: str
    before: Scene
    after: Scene
    changes: Sequence[Change] = ()
    finding: str = ""  # whose own remedy is played instead of `changes`
    is_limit: bool = False  # its limit rather than its remedy

    @property
    def name(self) -> str:
        """The scene, and what is changed."""
        return f"{self.before.name}: {self.what}"


def _latency(scene: str, kind: str, factor: float) -> Pair:
    before = SCENES[scene]
    change = Latency(lines=before.memory(kind), factor=factor)
    return Pair(f"latency of {MEMORY[kind]} × {factor:g}", before, before.slower(factor, kind), (change,))


def _more(scene: str, more: int) -> Pair:
    before = SCENES[scene]
    after = replace(before, resident=before.resident + more)
    return Pair(f"{more} more {'wave' if more == 1 else 'waves'} a SIMD", before, after, (MoreWaves(more),))


def _hoisted(scene: str, words: Words) -> Pair:
    before = SCENES[scene]
    load, head = words.load(16, 2048), words.load(8, 0)
    after = before.edited(load="", head=f"{load}\n{head}", wait=words.vm(2))
    changes = Move(before.at("load"), before.at("head")), Only(before.at("wait"), (before.at("load"),))
    return Pair("the load that is used first issued first", before, after, changes)


def _strict(scene: str, words: Words) -> Pair:
    before = SCENES[scene]
    change = Relax(before.at("wait"), 2)
    return Pair("a wait that leaves two outstanding", before, before.edited(wait=words.vm(2)), (change,))


def _dpp(scene: str, words: Words) -> Pair:
    before = SCENES[scene]
    texts = {f"move{far}": "" for far in SWIZZLES} | {f"wait{far}": "" for far in SWIZZLES}
    for far in SWIZZLES:
        texts[f"add{far}"] = f"{words.nop}v_add_f32_dpp v2, v2, v2 row_shr:{far}"
    change = Dpp(before.rows("ds_swizzle"))
    return Pair("DPP instead of LDS moves", before, before.edited(**texts), (change,))


def _no_barrier(scene: str, words: Words) -> Pair:
    before = SCENES[scene]
    names = ("one", "two")[: len(words.barrier.splitlines())]
    after = before.edited(**dict.fromkeys(names, ""))
    return Pair("a barrier removed", before, after, (NoBarrier((before.at(names[-1]),)),))


def _wide(scene: str, text: str) -> Pair:
    before = SCENES[scene]
    after = before.edited(n0=text, n1="", n2="", n3="")
    rows = tuple(before.at(f"n{i}") for i in range(4))
    return Pair("one wide access for four", before, after, (Merge(rows),))


def _without_nops() -> Pair:
    before = SCENES["nops"]
    rows = tuple(before.at(name) for name in ("one", "two", "three"))
    return Pair("no s_nop", before, before.edited(one="", two="", three=""), (Free(rows),))


_VECTOR = ("near", "far", "store")


def _all_of(scene: str, unit: str, factor: float) -> Pair:
    """All operations of a unit at once."""
    before = SCENES[scene]
    kinds = _VECTOR if unit == "vmem" else (unit,)
    change = Latency(units=(unit,), factor=factor)
    return Pair(f"latency of all {unit} × {factor:g}", before, before.slower(factor, *kinds), (change,))


def _several(scene: str, *kinds: str) -> Pair:
    """Several kinds of memory at once, one change each."""
    before = SCENES[scene]
    what = " and ".join(MEMORY[kind] for kind in kinds)
    changes = tuple(Latency(lines=before.memory(kind), factor=0.5) for kind in kinds)
    return Pair(f"latency of {what} × 0.5", before, before.slower(0.5, *kinds), changes)


def _remedy(scene: str, finding: str, after: Scene) -> Pair:
    return Pair(f"remedy of {finding}", SCENES[scene], after, finding=finding)


def _limit(scene: str, finding: str, *kinds: str) -> Pair:
    """What is waited for returns at once."""
    before = SCENES[scene]
    after = before.slower(0, *kinds)
    return Pair(f"limit of {finding}", before, after, finding=finding, is_limit=True)


def _footprint(scene: str, finding: str, more: int) -> Pair:
    """The remedy is more waves."""
    return _remedy(scene, finding, replace(SCENES[scene], resident=SCENES[scene].resident + more))


def _loads_together(scene: str) -> Pair:
    """The other loads of a wait move right before the first; it still waits for all."""
    head, loop, body = SCENES[scene].text.partition("loop:\n")
    first, *rest = body.splitlines()
    loads = [line for line in rest if line.startswith("global_load")]
    rest = [line for line in rest if line not in loads]
    after = replace(SCENES[scene], text=head + loop + "\n".join((*loads, first, *rest)))
    return _remedy(scene, "exposed-vector-load", after)


def _partial(scene: str, words: Words) -> Pair:
    return _remedy(scene, "redundant-wait", SCENES[scene].edited(wait=words.vm(1)))


def _unspilled(scene: str) -> Pair:
    names = [*(f"out{i}" for i in range(3)), *(f"back{i}" for i in range(3)), "wait"]
    return _remedy(scene, "scratch-spills", SCENES[scene].edited(**dict.fromkeys(names, "")))


def _preloaded(scene: str, *loads: str) -> Pair:
    """Arguments are in registers when a wave begins; its waits stay."""
    texts = tuple((load, "") for load in loads)
    return _remedy(scene, "exposed-scalar-load", SCENES[scene].replaced(*texts))


def _no_barriers(scene: str, *texts: str) -> Pair:
    after = SCENES[scene].replaced(*((text, "") for text in texts))
    return Pair("limit of barrier-skew", SCENES[scene], after, finding="barrier-skew", is_limit=True)


PAIRS = (
    *(_latency("matmul", *each) for each in (("far", 0.5), ("far", 0.25), ("lds", 0.5), ("store", 0.5))),
    _latency("matmul_plain", "far", 0.5),
    *(_latency("rivals", *each) for each in (("near", 0.5), ("lds", 0.5), ("store", 0.5))),
    *(_latency("crowded", *each) for each in (("far", 0.5), ("near", 0.5), ("lds", 0.5), ("smem", 0.5))),
    _latency("ceiling", "near", 0.5),
    *(_latency("combined", *each) for each in (("near", 0.5), ("lds", 0.5), ("smem", 0.5))),
    *(_latency("stream", *each) for each in (("far", 0.5), ("far", 0.25), ("store", 0.25))),
    _latency("stream_full", "far", 0.5),
    *(_latency("ping_pong", *each) for each in (("near", 0.5), ("near", 0.25), ("lds", 0.5))),
    *(_latency("short", *each) for each in (("far", 0.5), ("smem", 0.5))),
    *(_more("stream", more) for more in (1, 2)),
    _more("short", 2),
    _more("matmul_plain", 1),
    _more("chain", 1),
    _hoisted("inverted", W9),
    _strict("strict", W9),
    _dpp("chain", W9),
    _no_barrier("barriers", W9),
    _without_nops(),
    _wide("narrow", "ds_read_b128 v[8:11], v1"),
    _wide("narrow_loads", "global_load_dwordx4 v[8:11], v1, s[4:5]"),
    *(
        pair
        for words in (W11, W12)
        for number in (str(words.generation),)
        for pair in (
            *(_latency(f"matmul_{number}", *each) for each in (("far", 0.5), ("lds", 0.5))),
            *(_latency(f"matmul_{number}_one", *each) for each in (("far", 0.5), ("far", 0.25))),
            *(_latency(f"stream_{number}", *each) for each in (("far", 0.5), ("far", 0.25), ("store", 0.25))),
            _latency(f"short_{number}", "far", 0.5),
            _more(f"stream_{number}", 1),
            _hoisted(f"inverted_{number}", words),
            _strict(f"strict_{number}", words),
            _dpp(f"chain_{number}", words),
            _no_barrier(f"barriers_{number}", words),
        )
    ),
    _latency("stream_11_one", "far", 0.5),
    # more waves, whole workgroups
    *(_more(*each) for each in (("stream_11", 2), ("stream_12", 2), ("short", 1), ("short_11", 2))),
    *(_more(*each) for each in (("short_12", 2), ("matmul", 1), ("inverted", 1), ("narrow_loads", 1))),
    *(_more(*each) for each in (("spills", 1), ("spills_11", 1), ("scalars", 1), ("barriers_11", 1))),
    _more("rivals", 1),
    # several loads at once
    *(_all_of(scene, "vmem", 0.5) for scene in ("crowded", "rivals", "combined", "matmul", "ceiling")),
    *(_all_of(scene, "vmem", 0.5) for scene in ("matmul_11", "stream", "spills", "spills_12", "short_11")),
    *(_all_of(scene, "smem", 0.5) for scene in ("scalars", "scalars_11", "scalars_12", "combined")),
    _several("combined", "near", "lds"),
    _several("crowded", "far", "near"),
    _several("matmul_12", "far", "lds"),
    _several("barriers_12", "near", "lds"),
    _several("ping_pong", "near", "lds"),
    # spills
    *(_unspilled(scene) for scene in ("spills", "spills_11", "spills_12")),
    _latency("spills_11", "near", 0.5),
    # memory at its roof
    *(_latency(scene, "far", 0.5) for scene in ("roof", "near_roof", "roof_12")),
    *(_latency(scene, "store", 0.5) for scene in ("roof", "roof_12")),
    *(_more(scene, 1) for scene in ("roof", "near_roof", "roof_12")),
    # remedies of findings
    *(_loads_together(f"{scene}{each}") for scene in ("inverted", "strict") for each in ("", "_11", "_12")),
    *(_partial(f"strict{each}", words) for each, words in (("", W9), ("_11", W11), ("_12", W12))),
    *(_footprint(scene, "low-occupancy", 1) for scene in ("strict", "barriers", "narrow", "stream_11")),
    _footprint("ping_pong", "low-occupancy", 2),
    _footprint("short_12", "exposed-vector-load", 4),
    _footprint("barriers_12", "exposed-lds", 5),
    _footprint("matmul_11", "exposed-lds", 12),
    _remedy("matmul_11", "waits-for-stores", SCENES["matmul_11"].replaced(("s_waitcnt_vscnt null, 0x0", ""))),
    _preloaded("barriers", W9.head.splitlines()[0]),
    _preloaded("nops", W9.head.splitlines()[0]),
    _preloaded("ceiling", "s_load_dwordx4 s[4:7], s[0:1], 0x0"),
    _preloaded("rivals", "s_load_dwordx4 s[4:7], s[0:1], 0x0", "s_load_dwordx2 s[8:9], s[0:1], 0x10"),
    _preloaded("ping_pong", W9.head.splitlines()[0]),
    _no_barriers("barriers", "s_barrier\n", "s_barrier  // at=one\n"),
    _no_barriers("matmul_11", "s_barrier\n"),
    *(_limit(scene, "exposed-vector-load", "far") for scene in ("short", "stream_11", "inverted")),
    _limit("short", "exposed-scalar-load", "smem"),
    _limit("stream_12", "exposed-vector-load", "far"),
)
