"""A folder of wave files and a trace that reads it, made by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from rcv_py.formats.uiout.waves import WaveFiles
from rcv_py.model.kinds import TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveIndex
from tests.support import code_samples

CODE = ("; kernel", "s_nop 0", "v_mfma_f32_32x32x8_f16 a[0:15]", "v_add_f32 v0, v1, v2", "s_endpgm")
LABEL, NOP, MFMA, ADD, END = range(5)
TOKENS = [[100, 9, 0, 4, NOP], [104, 6, 8, 12, MFMA], [120, 6, 0, 4, ADD], [124, 11, 0, 16, END]]
MANY = [[100 + 4 * at, 6, 0, 4, 3] for at in range(9000)]  # tokens whose columns fill a block
TIMELINE = [[1, 20], [2, 4], [4, 8], [2, 12], [3, 16]]


def wave(tokens: Any = TOKENS, timeline: Any = TIMELINE, waits: Any = None, **facts: Any) -> dict[str, Any]:
    """The content of a wave file."""
    body = {"begin": 80, "end": 140, "cu": 1, "id": 0, "simd": 0, "slot": 0, **facts}
    body |= {"instructions": tokens, "timeline": timeline, "waitcnt": waits}
    return {"duration": 60, "name": "SE0", "num_insts": len(tokens or ()), "wave": body}


def index(files: Sequence[str], sizes: Sequence[int], begin: int = 80, end: int = 140) -> WaveIndex:
    """An index of waves that all ran at the same time, one a slot."""
    n = len(files)
    small = np.zeros(n, dtype=np.int16)
    return WaveIndex(
        **dict.fromkeys(("se", "simd", "slot", "sa"), small),
        wid=np.arange(n, dtype=np.int32),
        begin=np.full(n, begin, dtype=np.int64),
        end=np.full(n, end, dtype=np.int64),
        cu=small - 1,
        kernel=np.full(n, -1, dtype=np.int32),
        size=np.array(sizes, dtype=np.int64).reshape(n),
        file=tuple(files),
    )


def reader(folder: Path, files: Mapping[str, Any], **changes: Any) -> WaveFiles:
    """Write the files (bytes, or content for JSON; None: no such file) and return their reader."""
    sizes = []
    for name, content in files.items():
        data = content if isinstance(content, bytes) else orjson.dumps(content)
        sizes.append(len(data) if content is not None else 0)
        if content is not None:
            (folder / name).write_bytes(data)
    options: dict[str, Any] = {
        "offset_of_se": {},
        "row_of_number": np.arange(len(CODE), dtype=np.int32),
        "matrix": np.array([text.startswith("v_mfma") for text in CODE]),
        "labels": np.array([text.startswith(";") for text in CODE]),
    }
    return WaveFiles(folder, index(list(files), sizes), **options | changes)


def trace(files: WaveFiles) -> Trace:
    """A trace that holds nothing but those waves."""
    code = code_samples.code_table(tuple((text, TokenKind.NONE, 0, 0, 0, 0, ()) for text in CODE))
    of_files = {"path": files.folder, "name": files.folder.name, "waves": files.index, "reader": files}
    return code_samples.trace(code, (), target="gfx942", **of_files)
