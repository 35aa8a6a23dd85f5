"""Kernels that are simulated for predictions: what each does, and on which hardware and launch."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import rcv_py.synth
from rcv_py.base.record import Record
from rcv_py.synth.build import Plan
from rcv_py.synth.hardware import CDNA, RDNA3, RDNA4, Hardware
from rcv_py.synth.program import SOURCES, SyntheticKernel, assemble
from rcv_py.synth.wave_state import SyntheticLaunch

KERNELS = Path(rcv_py.synth.__file__).parent / "kernels"
# Waves compete as on hardware: the oldest first, a cache beside memory, counters of few bits.
_FULL: dict[str, Any] = {"oldest_first": True, "slots": 8, "near_bytes_per_cycle": 64.0}
_LATER: dict[str, Any] = {**_FULL, "valu_latency": 5}
HARDWARE = {
    9: replace(CDNA, **_FULL, outstanding={"vmcnt": 63, "lgkmcnt": 15}),
    11: replace(RDNA3, **_LATER, outstanding={"vmcnt": 63, "vscnt": 63, "lgkmcnt": 63}),
    12: replace(RDNA4, **_LATER, outstanding={"loadcnt": 63, "storecnt": 63, "dscnt": 63, "kmcnt": 31}),
}


class Scene(Record):
    """A kernel on some hardware, as one launch.  Instructions are named by the note `at`."""

    name: str
    text: str
    hardware: Hardware
    groups: int
    rounds: tuple[int, ...]
    waves: int = 4  # of a workgroup
    resident: int = 2  # waves a SIMD
    traced: tuple[int, ...] = (0, 1, 2, 3)

    @cached_property
    def kernel(self) -> SyntheticKernel:
        """The kernel."""
        return assemble(self.text, "_Z4testv", self.hardware.generation, SOURCES, demangled="test()")

    def plan(self, seed: int) -> Plan:
        """What the simulator runs: two shader engines."""
        launch = SyntheticLaunch(
            self.kernel,
            self.groups,
            {"n": self.rounds, "K": self.rounds},
            waves_per_group=self.waves,
            resident=self.resident,
        )
        return Plan(self.hardware, (launch,), (0, 752), traced_simds=self.traced, seed=seed)

    def at(self, name: str) -> int:
        """The code row of an instruction."""
        (row,) = (1 + row for row, one in enumerate(self.kernel.instructions) if one.notes.get("at") == name)
        return row

    def rows(self, mnemonic: str) -> tuple[int, ...]:
        """The code rows of all instructions that begin so."""
        rows = enumerate(self.kernel.instructions)
        return tuple(1 + row for row, one in rows if one.text.startswith(mnemonic))

    def memory(self, kind: str) -> tuple[int, ...]:
        """The code rows of operations of a kind of memory, as the simulator tells them."""
        rows = enumerate(self.kernel.instructions)
        return tuple(
            1 + row
            for row, one in rows
            if kind == _kind(one.meaning.unit, one.meaning.is_store, "near" in one.notes)
        )

    def edited(self, **texts: str) -> Scene:
        """The same with other text instead of instructions."""
        lines = []
        for line in self.text.splitlines():
            names = [note[3:] for note in line.partition("//")[2].split() if note.startswith("at=")]
            lines += [texts.pop(name) for name in names if name in texts] or [line]
        assert not texts
        return replace(self, text="\n".join(lines))

    def replaced(self, *texts: tuple[str, str], **changes: Any) -> Scene:
        """The same with the first of each text replaced, and other fields."""
        text = self.text
        for old, new in texts:
            assert old in text, old
            text = text.replace(old, new, 1)
        return replace(self, text=text, **changes)

    def slower(self, factor: float, *kinds: str) -> Scene:
        """The same with another latency of some kinds of memory."""
        names = [f"{kind}_latency" for kind in kinds]
        changed: dict[str, Any] = {name: round(getattr(self.hardware, name) * factor) for name in names}
        return replace(self, hardware=replace(self.hardware, **changed))


def _kind(unit: str, is_store: bool, is_near: bool) -> str:
    if unit == "vmem":
        return "near" if is_near else "store" if is_store else "far"
    return unit


def _file(name: str) -> str:
    return (KERNELS / f"{name}.s").read_text(encoding="utf-8")


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _arithmetic(count: int, add: str) -> str:
    return _lines(*(f"{add} v{140 + i % 16}, v{160 + i % 16}, v{180 + i % 16}" for i in range(count)))


SWIZZLES = (1, 2, 4, 8, 16)


class Words:
    """How a generation writes things."""

    def __init__(self, generation: int) -> None:
        is_new = generation > 9
        self.generation = generation
        self.add = "v_add_f32_e32"
        self.wide, self.one = ("b128", "b32") if is_new else ("dwordx4", "dword")
        self.read, self.write = ("ds_load", "ds_store") if is_new else ("ds_read", "ds_write")
        self.lds, self.scalar = {12: ("s_wait_dscnt 0x0", "s_wait_kmcnt 0x0")}.get(
            generation, ("s_waitcnt lgkmcnt(0)",) * 2
        )
        subtract = "s_sub_co_i32" if generation == 12 else "s_sub_i32"
        self.tail = (
            f"{subtract} s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 loop  // iterations=n at=back\n"
        )
        self.head = f"s_load_{'b128' if is_new else 'dwordx4'} s[4:7], s[0:1], 0x0\n"
        self.head += f"v_lshlrev_b32_e32 v1, 4, v0\n{self.scalar}\n"
        self.barrier = (
            _lines("s_barrier_signal -1", "s_barrier_wait 0xffff") if generation == 12 else "s_barrier\n"
        )
        self.nop = "s_nop 1\n" if generation == 9 else ""

    def vm(self, left: int) -> str:
        """A wait for loads."""
        return f"s_wait_loadcnt 0x{left}" if self.generation == 12 else f"s_waitcnt vmcnt({left})"

    def load(self, to: int, offset: int, notes: str = "") -> str:
        """A load of 16 bytes a lane."""
        return f"global_load_{self.wide} v[{to}:{to + 3}], v1, s[4:5] offset:{offset}  // {notes}"

    def work(self, count: int) -> str:
        """Arithmetic that depends on nothing."""
        return _arithmetic(count, self.add)

    def stream(self) -> str:
        """Two loads that arithmetic hides in part, and a store."""
        return (
            self.head
            + _lines("loop:", self.load(8, 0), self.load(12, 1024))
            + self.work(24)
            + _lines(self.vm(0), f"{self.add} v2, v8, v12")
            + _lines(f"global_store_{self.wide} v1, v[16:19], s[6:7]")
            + self.tail
            + "s_endpgm\n"
        )

    def inverted(self) -> str:
        """The load that is used first is issued last, right in front of its wait."""
        return (
            self.head
            + _lines("loop:", self.load(8, 0, "at=head"), self.load(12, 1024))
            + self.work(30)
            + _lines(self.load(16, 2048, "at=load"), f"{self.vm(0)}  // at=wait")
            + _lines(f"{self.add} v2, v16, v17")
            + self.work(90)
            + _lines(self.vm(0), f"{self.add} v2, v8, v12")
            + self.tail
            + "s_endpgm\n"
        )

    def strict(self) -> str:
        """A wait that leaves nothing outstanding where only the oldest load is used."""
        return (
            self.head
            + _lines("loop:", self.load(8, 0))
            + self.work(60)
            + _lines(self.load(12, 1024), self.load(16, 2048), f"{self.vm(0)}  // at=wait")
            + _lines(f"{self.add} v2, v8, v9")
            + self.work(90)
            + _lines(self.vm(0), f"{self.add} v2, v12, v16")
            + self.tail
            + "s_endpgm\n"
        )

    def chain(self) -> str:
        """A reduction over the lanes of a wave: each step waits for a cross-lane move."""
        steps = "".join(
            _lines(
                f"ds_swizzle_b32 v7, v2 offset:{far}  // at=move{far}",
                f"{self.lds}  // at=wait{far}",
                f"{self.add} v2, v2, v7  // at=add{far}",
            )
            for far in SWIZZLES
        )
        return self.head + "loop:\n" + steps + self.work(10) + self.tail + "s_endpgm\n"

    def barriers(self) -> str:
        """Tiles with two barriers an iteration; two of four waves work longer."""
        is_old = self.generation == 9
        product = (
            "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[20:21], v[32:47]"
            if is_old
            else "v_wmma_f32_16x16x16_f16 v[40:47], v[16:23], v[24:31], v[40:47]"
        )
        first, *second = self.barrier.splitlines()
        second = [f"{second[0]}  // at=two"] if second else []
        first = f"{first}  // at=one"
        return (
            self.head
            + _lines(
                "loop:", self.load(8, 0, "near=1"), self.vm(0), f"{self.write}_b128 v1, v[8:11]", self.lds
            )
            + self.barrier
            + _lines(
                f"{self.read}_b128 v[16:19], v1", f"{self.read}_b128 v[20:23], v1 offset:2048  // conflict=2"
            )
            + _lines(self.lds, "s_cbranch_scc1 short  // waves=0-1")
            + self.work(30)
            + _lines("short:", product, first, *second)
            + self.tail
            + "s_endpgm\n"
        )

    def short(self) -> str:
        """Many waves that do little."""
        return (
            self.head
            + _lines(f"global_load_{self.one} v6, v1, s[4:5]", f"global_load_{self.one} v7, v1, s[6:7]")
            + self.work(10)
            + _lines(
                self.vm(0), f"{self.add} v2, v6, v7", f"global_store_{self.one} v1, v2, s[4:5]", "s_endpgm"
            )
        )

    def spills(self) -> str:
        """Values that do not fit in registers go to scratch memory and come back."""
        is_old = self.generation == 9
        wide, base = f"scratch_{{}}_{self.wide}", "off" if is_old else "off, s32"
        kept = tuple(enumerate((20, 24, 28)))
        return (
            self.head
            + _lines("loop:", self.load(8, 0, "near=1"))
            + self.work(8)
            + _lines(
                *(
                    f"{wide.format('store')} off, v[{at}:{at + 3}], s32 offset:{16 * i}  // near=1 at=out{i}"
                    for i, at in kept
                )
            )
            + _lines(self.vm(0), f"{self.add} v2, v8, v9")
            + self.work(40)
            + _lines(
                *(
                    f"{wide.format('load')} v[{at}:{at + 3}], {base} offset:{16 * i}  // near=1 at=back{i}"
                    for i, at in kept
                ),
                f"{self.vm(0)}  // at=wait",
                f"{self.add} v3, v20, v24",
                f"{self.add} v4, v28, v3",
            )
            + self.work(30)
            + self.tail
            + "s_endpgm\n"
        )

    def scalars(self) -> str:
        """Short waves that begin with a chain of scalar loads."""
        small = "b64" if self.generation > 9 else "dwordx2"
        return (
            _lines(*(f"s_load_{small} s[{10 + 2 * i}:{11 + 2 * i}], s[0:1], {8 * i:#x}" for i in range(4)))
            + _lines(self.scalar, f"s_load_{small} s[20:21], s[10:11], 0x0", self.scalar)
            + self.work(20)
            + _lines(f"global_load_{self.one} v6, v1, s[20:21]  // near=1", self.vm(0))
            + _lines(f"{self.add} v2, v6, v7", f"global_store_{self.one} v1, v2, s[12:13]", "s_endpgm")
        )

    def narrow(self, load: str, operands: str, wait: str) -> str:
        """Four accesses where one would do."""
        loads = (f"{load}_{self.one} v{8 + i}, {operands} offset:{4 * i}  // at=n{i}" for i in range(4))
        return self.head + _lines("loop:", *loads, wait) + self.work(12) + self.tail + "s_endpgm\n"


W9, W11, W12 = Words(9), Words(11), Words(12)
_H9, _H11, _H12 = HARDWARE[9], HARDWARE[11], HARDWARE[12]
# Hazard distances that the program keeps with s_nop.
_NOPS = (
    W9.head
    + _lines("loop:", "ds_read_b128 v[8:11], v1", W9.lds)
    + _lines(
        "v_mfma_f32_16x16x16_f16 v[32:35], v[8:9], v[10:11], v[32:35]",
        "s_nop 15  // at=one",
        "s_nop 7  // at=two",
    )
    + W9.work(8)
    + _lines("s_nop 3  // at=three", "v_add_f32_e32 v2, v3, v4")
    + W9.tail
    + "s_endpgm\n"
)
# Two halves of a workgroup that take turns: while one half fetches, the other multiplies.
_PING_PONG = (
    W9.head
    + _lines("s_cbranch_scc1 loop  // waves=0-3", "s_barrier", "loop:")
    + _lines("global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1", "ds_read_b128 v[16:19], v1")
    + _lines(
        "ds_read_b128 v[20:23], v1 offset:2048  // conflict=2", W9.vm(0), W9.lds, "s_barrier", "s_setprio 1"
    )
    + _lines(
        *(
            f"v_mfma_f32_32x32x8_f16 v[{at}:{at + 15}], v[16:17], v[20:21], v[{at}:{at + 15}]"
            for at in (32, 48, 64, 80)
        )
    )
    + _lines("s_setprio 0", "s_barrier")
    + W9.tail
    + _lines("s_cbranch_scc1 last  // waves=4-7", "s_barrier", "last:", "s_endpgm")
)
SCENES = {
    one.name: one
    for one in (
        Scene("matmul", _file("matmul_tiled"), _H9, 3, (8,)),
        Scene("matmul_plain", _file("matmul_tiled"), CDNA, 3, (8,)),
        Scene("rivals", _file("rivals"), _H9, 4, (8,)),
        Scene("crowded", _file("crowded"), _H9, 6, (6,), resident=3),
        Scene("ceiling", _file("ceiling"), _H9, 4, (10,)),
        Scene("combined", _file("combined"), replace(_H9, jitter=0.6), 6, (8,)),
        Scene("stream", W9.stream(), _H9, 6, (10,)),
        Scene("stream_full", W9.stream(), _H9, 16, (8,), resident=8),
        Scene("inverted", W9.inverted(), _H9, 6, (10,), resident=1),
        Scene("strict", W9.strict(), _H9, 6, (10,)),
        Scene("barriers", W9.barriers(), _H9, 6, (10,)),
        Scene("nops", _NOPS, _H9, 4, (16,), resident=1),
        Scene("chain", W9.chain(), _H9, 4, (10,)),
        Scene("narrow", W9.narrow("ds_read", "v1", W9.lds), _H9, 6, (16,)),
        Scene("narrow_loads", W9.narrow("global_load", "v1, s[4:5]", W9.vm(0)), _H9, 6, (10,), resident=4),
        Scene("short", W9.short(), _H9, 48, (1,), resident=4),
        Scene("ping_pong", _PING_PONG, _H9, 4, (10,), waves=8, resident=4),
        Scene("spills", W9.spills(), _H9, 6, (10,)),
        Scene("scalars", W9.scalars(), _H9, 48, (1,), resident=4),
        Scene("roof", W9.stream(), replace(_H9, bytes_per_cycle=9.0), 8, (8,), resident=3),
        Scene("near_roof", W9.stream(), replace(_H9, bytes_per_cycle=16.0), 6, (8,), resident=2),
        Scene("matmul_11", _file("matmul_gfx11"), _H11, 6, (12,), resident=4),
        Scene("matmul_11_one", _file("matmul_gfx11"), _H11, 6, (12,), resident=4, traced=(0,)),
        Scene("stream_11", W11.stream(), _H11, 8, (10,), resident=4),
        Scene("stream_11_one", W11.stream(), _H11, 8, (10,), resident=4, traced=(0,)),
        Scene("inverted_11", W11.inverted(), _H11, 6, (10,)),
        Scene("strict_11", W11.strict(), _H11, 6, (10,)),
        Scene("chain_11", W11.chain(), _H11, 4, (12,)),
        Scene("barriers_11", W11.barriers(), _H11, 6, (10,)),
        Scene("spills_11", W11.spills(), _H11, 6, (10,)),
        Scene("scalars_11", W11.scalars(), _H11, 48, (1,), resident=4),
        Scene("short_11", W11.short(), _H11, 48, (1,), resident=4),
        Scene("matmul_12", _file("matmul_gfx12"), _H12, 6, (12,), resident=4),
        Scene("matmul_12_one", _file("matmul_gfx12"), _H12, 6, (12,), resident=4, traced=(0,)),
        Scene("stream_12", W12.stream(), _H12, 8, (10,), resident=4),
        Scene("inverted_12", W12.inverted(), _H12, 6, (10,)),
        Scene("strict_12", W12.strict(), _H12, 6, (10,)),
        Scene("chain_12", W12.chain(), _H12, 4, (12,)),
        Scene("barriers_12", W12.barriers(), replace(_H12, splits_barriers=True), 6, (10,)),
        Scene("spills_12", W12.spills(), _H12, 6, (10,)),
        Scene("scalars_12", W12.scalars(), _H12, 48, (1,), resident=4),
        Scene("roof_12", W12.stream(), replace(_H12, bytes_per_cycle=10.0), 8, (8,), resident=3),
        Scene("short_12", W12.short(), _H12, 48, (1,), resident=4),
    )
}
