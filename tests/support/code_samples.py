"""Small traces by hand for the views of code: a few instructions, two sources, two waves."""

from pathlib import Path

import numpy as np

from rcv_py.model.code import CodeTable, Kernel, SourceFile
from rcv_py.model.device import Clock, WaveEvents
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import TokenKind
from rcv_py.model.tokens import Tokens, Waits
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveIndex
from tests.support.drawing import states, tokens

ROWS = (
    # text, kind, hits, latency, stall, idle, chain
    ("; my_kernel", TokenKind.NONE, 0, 0, 0, 0, ()),
    ("s_load_dword s4, s[0:1], 0x3c", TokenKind.SMEM, 2, 40, 20, 100, ((0, 2),)),
    ("ds_read_b128 v[0:3], v9", TokenKind.LDS, 4, 300, 200, 0, ((0, 3), (1, 2))),
    ("s_waitcnt lgkmcnt(0)", TokenKind.IMMED, 4, 2000, 1990, 10, ((0, 3),)),
    (
        "v_mfma_f32_32x32x16_bf16 v[80:95], v[0:3], v[4:7], v[80:95]",
        TokenKind.MATRIX,
        4,
        600,
        0,
        0,
        ((1, 2),),
    ),
    ("v_add_u32_e32 v1, 32, v34", TokenKind.VALU, 0, 0, 0, 0, ((1, 3),)),
    ("s_cbranch_scc1 65530", TokenKind.JUMP, 4, 50, 0, 0, ()),
    ("s_endpgm", TokenKind.MSG, 2, 10, 0, 0, ()),
)

SOURCES = (
    SourceFile(
        "/src/kernels/attn.py", ("import math", "def load(a):", "    return a  # a value", "x = 'text'")
    ),
    SourceFile("/src/lib/attn.py", ("def mul(a, b):", "\treturn a * b", "", "")),
    SourceFile("/src/lib/lost.py", None, "The copy of lost.py is missing."),
)


def code_table(rows: tuple = ROWS, has_source: bool = True) -> CodeTable:
    """The code table of rows (text, kind, hits, latency, stall, idle, chain)."""
    chains = [row[6] if has_source else () for row in rows]
    flat = [place for chain in chains for place in chain]
    column = [np.array([row[at] for row in rows], dtype=np.int64) for at in range(2, 6)]
    n = len(rows)
    return CodeTable(
        text=tuple(row[0] for row in rows),
        number=np.arange(n, dtype=np.int64),
        codeobj=np.full(n, 4, dtype=np.int64),
        address=(np.arange(n) * 8 + 0x1000).astype(np.uint64),
        hits=column[0],
        latency=column[1],
        stall=column[2],
        idle=column[3],
        is_label=np.array([row[0].startswith(";") for row in rows], dtype=bool),
        kind=np.array([row[1] for row in rows], dtype=np.uint8),
        kernel=np.zeros(n, dtype=np.int32),
        chain_first=np.cumsum([0, *map(len, chains)]).astype(np.int32),
        chain_file=np.array([place[0] for place in flat], dtype=np.int32),
        chain_line=np.array([place[1] for place in flat], dtype=np.int32),
        kernels=(Kernel("my_kernel", "my_kernel", 0, n),) if n else (),
    )


def waves_of(count: int = 2) -> WaveIndex:
    """An index of waves on one SIMD."""
    number = np.arange(count)
    return WaveIndex(
        se=np.zeros(count, dtype=np.int16),
        simd=np.zeros(count, dtype=np.int16),
        slot=number.astype(np.int16),
        wid=np.zeros(count, dtype=np.int32),
        begin=number.astype(np.int64) * 1000,
        end=number.astype(np.int64) * 1000 + 500,
        cu=np.zeros(count, dtype=np.int16),
        sa=np.zeros(count, dtype=np.int16),
        kernel=np.full(count, -1, dtype=np.int32),
        size=np.full(count, 100, dtype=np.int64),
        file=tuple(f"se0_sm0_sl{slot}_wv0.json" for slot in number),
    )


class _NoReader:
    def read(self, rows: list[int]) -> WaveBatch:
        raise AssertionError(f"nobody should read {rows}")


def no_events() -> WaveEvents:
    """No wave began or ended."""
    whole = np.empty(0, dtype=np.int64)
    return WaveEvents(*(whole for _ in range(6)), whole.astype(bool), *(whole for _ in range(5)))


def trace(
    code: CodeTable | None = None, sources: tuple[SourceFile, ...] = SOURCES, **changes: object
) -> Trace:
    """A small gfx9 trace with two waves that are not loaded."""
    columns: dict = {
        "path": Path("/nowhere/ui_output_agent_1_dispatch_1"),
        "name": "ui_output_agent_1_dispatch_1",
        "version": "3.0.0",
        "gfxip": 9,
        "target": "gfx9",
        "has_thread_trace": True,
        "has_pc_samples": False,
        "waves": waves_of(),
        "code": code_table() if code is None else code,
        "sources": sources,
        "occupancy": no_events(),
        "clock": Clock(),
        "reader": _NoReader(),
    }
    return Trace(**(columns | changes))


def wave(row: int, drawing: str, lines: list[int], waits: Waits | None = None) -> TracedWave:
    """A wave at an index row whose tokens are drawn."""
    base = row * 1000
    return TracedWave(
        row,
        WaveId(0, 0, row, 0),
        0,
        base,
        base + 500,
        tokens(drawing, base, lines),
        states("EEWW", base),
        waits,
    )


def waits(*entries: tuple[int, tuple[int, ...]]) -> Waits:
    """Waits of (line, producer lines), in execution order."""
    depends = [producer for _, producers in entries for producer in producers]
    first = np.cumsum([0, *(len(producers) for _, producers in entries)])
    return Waits(
        np.array([line for line, _ in entries], dtype=np.int32),
        first.astype(np.int32),
        np.array(depends, dtype=np.int32),
    )


def batch(*waves: TracedWave) -> WaveBatch:
    """A batch of these waves."""
    tables: list[Tokens] = [wave.tokens for wave in waves]
    return WaveBatch(
        waves,
        np.cumsum([0, *map(len, tables)]).astype(np.int64),
        np.concatenate([table.stall for table in tables]),
        np.concatenate([table.busy for table in tables]),
        np.concatenate([table.kind for table in tables]),
        np.concatenate([table.line for table in tables]),
    )


def two_waves() -> WaveBatch:
    """Both waves of `trace`: each loads, reads, waits and multiplies twice around a branch."""
    drawing = "cC..lLL|iiiiiI|MMM|J|lLL|iiI|MMM|N|I"
    lines = [1, 2, 3, 4, 6, 2, 3, 4, 6, 7]
    dependencies = waits((3, (2, 1)), (3, (2,)))
    return batch(wave(0, drawing, lines, dependencies), wave(1, drawing, lines, None))
