"""How many bytes a memory instruction moves per lane, and the total that the executed ones requested.

The width is in the mnemonic: `_dwordx4` and `_b128` are 16 bytes, `_ushort` is 2.  The trace does not record
which lanes were active, so bytes are for a full wave: an upper bound.  Cache hits are unknown as well: bytes
are those requested by the compute unit, not the DRAM traffic.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rcv_py.analysis.core.intervals import occupied_cycles
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, stacked
from rcv_py.analysis.core.saturated import Sums, dense, nonzero, summed
from rcv_py.analysis.program.instruction_classes import InstructionClass, instruction_classes
from rcv_py.analysis.program.registers import wave_lanes
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.model.trace import Trace

UNKNOWN = -1  # bytes of an instruction that matches no rule
MAX_BYTES_PER_LANE = 16  # bytes per lane of the widest vector access
_SCALAR = re.compile(r"s_(?:buffer_|scratch_)?(?:load|store|atomic)")

_DWORDS = {"": 4, "x2": 8, "x3": 12, "x4": 16, "x8": 32, "x16": 64}
_BYTES = {"byte": 1, "short": 2, "8": 1, "16": 2}
_ANY = r"(?:ds|s|buffer|global|flat|scratch)_\w*?(?:load|store|read|write)"


def _bits(text: str) -> int:
    return int(text) // 8


# The first rule that matches decides; its group gives the bytes per lane (scalar instructions: per wave).
_RULES: tuple[tuple[re.Pattern[str], Callable[[str], int]], ...] = tuple(
    (re.compile(pattern), size)
    for pattern, size in (
        # No data, or a size that is in a descriptor and not in the instruction.
        (r"(?:buffer|global|flat|scratch)_(?:wb|inv|gl[012]|wbinv|wbl2|prefetch)()", lambda _: 0),
        (r"(?:s_dcache|s_atc|s_prefetch|s_gl1|s_get_|ds_gws|ds_nop)()", lambda _: 0),
        (r"(?:tensor_|cluster_|image_bvh|ds_bvh)()", lambda _: 0),
        (r"s_mem(?:real)?time()", lambda _: 8),
        (r"ds_(?:b?permute|swizzle|append|consume|ordered_count)()", lambda _: 4),
        (r"(?:ds_\w*?)(?:2|2st64|2addr|2addr_stride64)_(?:rtn_)?b(\d+)", lambda text: 2 * _bits(text)),
        (r"\w+?_(?:load|store)_(?:lds_)?format_d16_(?:hi_)?([xyzw]+)", lambda text: 2 * len(text)),
        (r"\w+?_(?:load|store)_d16_(?:hi_)?format_([xyzw]+)", lambda text: 2 * len(text)),
        (r"\w+?_(?:load|store)_(?:lds_)?format_([xyzw]+)", lambda text: 4 * len(text)),
        (r"\w+?_(?:load|store)_(?:lds_)?dword(x\d+|)", _DWORDS.__getitem__),
        (r"\w+?_(?:load|store)_(?:lds_)?[us]?(byte|short)", _BYTES.__getitem__),
        (rf"{_ANY}\w*?_[iu](8|16)", _BYTES.__getitem__),
        (rf"{_ANY}\w*?_b(\d+)", _bits),
        (r"\w+?_atomic_(?:pk_)\w+()", lambda _: 4),
        (r"(?>\w+?_atomic_)\w+?(?:_x2|_[ubifp]64)()", lambda _: 8),
        (r"\w+?_atomic_()", lambda _: 4),
        (r"ds_pk_\w+()", lambda _: 4),
        (r"ds_\w+?_[ubif](32|64)", _bits),
        (r"ds_\w+?_b(128|96|64|32|16|8)", _bits),
    )
)  # fmt: skip
_IMAGE = re.compile(r"image_(?:load|store|sample|gather|msaa|atomic)")
_MASK = re.compile(r"\bdmask:(0x[0-9a-f]{1,2}|\d{1,2})\b")
_D16 = re.compile(r"\bd16\b")


@lru_cache(maxsize=1 << 14)
def access_width(text: str) -> int:
    """Return the bytes that one instruction moves per lane; for scalar memory, per wave.

    0 if it moves no data or its size is in a descriptor, UNKNOWN if no rule matches.
    """
    plain = text.strip().lower()
    name = plain.partition(" ")[0]
    if _IMAGE.match(name):
        # Components in the mask, four bytes each: gathers always return four components
        mask = _MASK.search(plain)
        parts = 4 if "gather4" in name else int(mask[1], 0).bit_count() if mask else 1
        return parts * (2 if _D16.search(plain) else 4)
    for rule, size in _RULES:
        if matched := rule.match(name):
            return size(matched[1])
    return UNKNOWN


_VECTOR_CLASSES = ("VMEM_LOAD", "VMEM_STORE", "LDS_DMA", "ATOMIC", "SCRATCH")
VECTOR_MEMORY = tuple(InstructionClass[name] for name in _VECTOR_CLASSES)
_VECTOR_NAMES = ("buffer_", "tbuffer_", "global_", "flat_", "image_", "scratch_")


def is_scalar(text: str) -> bool:
    """Whether an instruction accesses scalar memory, whose bytes are per wave."""
    return _SCALAR.match(text.strip()) is not None


class AccessWidths(Value):
    """Bytes per lane of each code row, and how often it ran."""

    width: np.ndarray  # int64 [code rows], bytes per lane; 0: no memory access or no data; UNKNOWN
    is_vector: np.ndarray  # bool [code rows], buffer, global, flat, scratch, image
    is_local: np.ndarray  # bool [code rows], LDS reads and writes
    is_hidden: np.ndarray  # bool [code rows], moves an unknown number of bytes, or raw words that may
    executions: np.ndarray  # int64 [code rows], of the waves that were read
    lanes: int  # per wave
    unit_cycles: int  # cycles in which a compute unit held one of these waves, summed over units
    wave_cycles: int  # lives of these waves, summed
    part: float  # SIMDs of a compute unit that were traced, as a part of those that held waves

    @property
    def vector_bytes(self) -> int:
        """Bytes that vector memory executions requested, with all lanes active: an upper bound.

        Those of accesses of unknown width are missing.
        """
        width = np.maximum(0, self.width) * self.is_vector
        return int((width * self.executions).sum()) * self.lanes

    @property
    def vector_rate(self) -> float | None:
        """Vector bytes per compute unit and cycle; None if no unit held a wave or a width is unknown."""
        return None if self.hides_bytes(self.is_vector) else self.rate(self.vector_bytes)

    def rate(self, bytes: int) -> float | None:
        """Bytes per compute unit and cycle, where untraced SIMDs request as much; None without waves."""
        return bytes / self.unit_cycles / self.part if self.unit_cycles else None

    def hides_bytes(self, accesses: np.ndarray, rows: slice = slice(None)) -> bool:
        """Whether accesses of a kind, bool [code rows], moved an unknown number of bytes in some rows."""
        others = ~(self.is_vector | self.is_local)
        return bool((self.is_hidden & (accesses | others) & (self.executions > 0))[rows].any())

    def by_width(self, rows: np.ndarray) -> list[tuple[int, int]]:
        """(bytes per lane, executions) of some code rows, most executions first."""
        rows = rows[(self.width[rows] > 0) & (self.executions[rows] > 0)]
        widths, times = summed(self.width[rows], self.executions[rows])
        order = np.lexsort((-widths, -times))
        return [(int(widths[at]), int(times[at])) for at in order]


class _Accesses(Value):
    """Executions of some waves, and when the waves lived."""

    executions: Sums  # code row, and count
    lives: np.ndarray  # int64 [waves, 3]: number of the compute unit, begin, end


def _map(trace: Trace, parcel: Parcel) -> _Accesses:
    tokens, rows = parcel.own, len(trace.code)
    return _Accesses(nonzero(tokens.executions(rows)), np.column_stack([tokens.units, *tokens.lives]))


def _traced_part(trace: Trace) -> float:
    """SIMDs that were traced, as a part of those of the same compute units that held waves."""
    traced, events, gpu = trace.waves, trace.occupancy, trace.architecture
    if not len(traced):
        return 1.0
    units = traced.se.astype(np.int64) << 20 | traced.cu.astype(np.int64) + 1
    others = events.se.astype(np.int64) << 20 | events.cu.astype(np.int64) + 1
    known, simds = ascending(units), ascending(units * gpu.simds + traced.simd)
    is_near = known.take(np.searchsorted(known, others), mode="clip") == others
    if not is_near.any() and not gpu.traces_all_simds:  # where others ran is not known
        return len(simds) / len(known) / gpu.simds_per_cu
    held = ascending(np.concatenate([simds, (others * gpu.simds + events.simd)[is_near]]))
    return len(simds) / len(held) * len(ascending(held // gpu.simds_per_cu)) / len(known)


def _finish(trace: Trace, part: _Accesses) -> AccessWidths:
    code = trace.code
    classes = instruction_classes(code)
    others = (InstructionClass.LDS, InstructionClass.SMEM, InstructionClass.CROSS_LANE)
    width = np.zeros(len(code), dtype=np.int64)
    for row in np.flatnonzero(np.isin(classes, (*VECTOR_MEMORY, *others))).tolist():
        width[row] = 0 if code.text[row].startswith("v_") else access_width(code.text[row])
    is_ds = np.array([text.lstrip().startswith("ds_") for text in code.text], dtype=bool)
    is_vector = np.isin(classes, VECTOR_MEMORY) & ~is_ds
    is_local = (classes == InstructionClass.LDS) | (is_ds & (classes == InstructionClass.ATOMIC))

    def begins(names: str | tuple[str, ...]) -> np.ndarray:
        """Rows of raw words whose first bits show such an instruction, "." if they show nothing."""
        rows = zip(code.text, code.is_unreadable.tolist(), strict=True)
        return np.array([raw and text.strip().startswith(names) for text, raw in rows], dtype=bool)

    return AccessWidths(
        width=width,
        is_vector=is_vector | begins(_VECTOR_NAMES),
        is_local=is_local | begins("ds_"),
        is_hidden=((width == UNKNOWN) & (is_vector | is_local)) | begins((*_VECTOR_NAMES, "ds_", ".")),
        executions=dense(part.executions, len(code))[0],
        lanes=wave_lanes(code, trace.architecture),
        unit_cycles=occupied_cycles(part.lives),
        wave_cycles=int((part.lives[:, 2] - part.lives[:, 1]).sum()),
        part=_traced_part(trace),
    )


WIDTHS = Reduction(_map, by_field(_Accesses, executions=added(1), lives=stacked(3)), _finish)
