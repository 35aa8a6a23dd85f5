"""A kernel for the simulator: instructions with their meaning, from assembly in `kernels/*.s`.

The text has one instruction a line, comments start with `;`, and directives such as `.symbol NAME` describe
the kernel.  Lines that start with `@` give the source of the following instructions:
`@ inner: fragment -> outer: fragment`, innermost place first; a place is the nickname of a source and the
first text line of it that contains the fragment.  `name:` is a label.  Notes follow `//`:

    s_cbranch_scc1 loop  // iterations=K   taken K - 1 times, then not
    s_cbranch_scc1 skip  // last=K         taken only the K-th time
    s_cbranch_vccz out   // chance=0.2     taken with this probability
    s_cbranch_scc1 half  // waves=0-3      taken by these waves of a workgroup
    global_load_dword …  // near=1         served by a cache
    ds_read_b128 …       // conflict=4     bank conflicts: four times the cycles
    global_load_dword …  // slow=1.2       latency multiplied by this
    s_ttracedata         // marker=10      value written to the trace
    s_ttracedata         // block=load     the words after it are the addresses of such an instruction
    s_ttracedata         // word=1         the next of these words
"""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path

from msgspec import field

from rcv_py.base.record import Value
from rcv_py.synth.isa import InstructionTiming, meaning


class Source(Value):
    """A source file of the kernels; `is_copied` states whether the capture has a copy."""

    path: str
    text: str = ""
    is_copied: bool = True

    def place(self, fragment: str) -> str:
        """Return `path:line` of the first line with the fragment, or of the line with this number."""
        if fragment.isdigit():
            return f"{self.path}:{fragment}"
        for number, line in enumerate(self.text.splitlines(), start=1):
            if fragment in line:
                return f"{self.path}:{number}"
        raise ValueError(f"{self.path} has no line with {fragment!r}")


def _copied(path: str, name: str = "") -> Source:
    text = Path(__file__).parent / "sources" / (name or path.rpartition("/")[2])
    return Source(path, text.read_text(encoding="utf-8"))


SOURCES = {
    "matmul": _copied("/src/matmul/matmul.hip"),
    "tile": _copied("/src/matmul/./include/tile_io.h"),
    "dequant": _copied("/src/dequant/dequant.hip"),
    "early": _copied("/src/dequant/dequant.hip", "dequant_early.hip"),  # the same file after a change
    "vector": _copied("/src/vector/vector.hip"),
    "columns": _copied("/src/columns/copy_columns.hip"),
    "wmma": _copied("/src/wmma/matmul_wmma.hip"),
    "wave": _copied("/src/wmma/wave_tile.h"),
    # As in real captures, headers of the toolkit are referred to but not copied.
    "hip": Source("/opt/rocm/include/hip/amd_detail/amd_hip_runtime.h", is_copied=False),
}


class SyntheticInstruction(Value):
    """One instruction of a kernel."""

    text: str
    source: str  # chain of places, "" without debug info
    meaning: InstructionTiming
    target: int = -1  # instruction a branch jumps to
    notes: Mapping[str, str] = field(default_factory=dict)


class SyntheticKernel(Value):
    """A kernel: its instructions and their addresses."""

    symbol: str
    demangled: str
    generation: int
    address: int
    instructions: tuple[SyntheticInstruction, ...]
    labels: Mapping[str, int]  # name to instruction
    codeobj: int = 2

    @property
    def addresses(self) -> list[int]:
        """Address of each instruction, bytes inside the code object."""
        return [*accumulate((one.meaning.size for one in self.instructions), initial=self.address)][:-1]

    @property
    def stop(self) -> int:
        """Address after the last instruction."""
        return self.address + sum(instruction.meaning.size for instruction in self.instructions)


def first_rows(kernels: Iterable[SyntheticKernel]) -> list[int]:
    """Return the code row of each kernel's label, which its instructions follow, and the number of rows."""
    return [*accumulate((1 + len(kernel.instructions) for kernel in kernels), initial=0)]


@cache
def kernel(name: str, address: int | None = None) -> SyntheticKernel:
    """Return a kernel of `kernels/`, at `address` if given, else at its own."""
    text = (Path(__file__).parent / "kernels" / f"{name}.s").read_text(encoding="utf-8")
    head = dict(line[1:].split(" ", 1) for line in text.splitlines() if line.startswith("."))
    symbol, demangled, generation = head["symbol"], head["demangled"], int(head["generation"])
    address = int(head["address"], 0) if address is None else address
    return assemble(text, symbol, generation, SOURCES, demangled=demangled, address=address)


def assemble(
    text: str,
    symbol: str,
    generation: int,
    sources: Mapping[str, Source],
    *,
    demangled: str = "",
    address: int = 0x1600,
) -> SyntheticKernel:
    """Make a kernel from the assembly text described above; ValueError for an invalid line."""
    lines: list[tuple[str, str, str]] = []  # instruction, notes, source
    labels: dict[str, int] = {}
    source = ""
    for raw in text.splitlines():
        line, _, notes = raw.strip().partition("//")
        line = line.strip()
        if line.startswith("@"):
            source = _chain(line[1:].strip(), sources)
        elif line.endswith(":"):
            labels[line[:-1]] = len(lines)
        elif line and not line.startswith((";", ".")):
            lines.append((line, notes.strip(), source))
    meanings = [meaning(line[0], generation) for line in lines]
    starts = [*accumulate((one.size for one in meanings), initial=address)]
    instructions = []
    for number, ((line, notes, place), what) in enumerate(zip(lines, meanings, strict=True)):
        target = -1
        if what.unit == "branch":
            name, label = line.split()
            target = labels[label]
            distance = (starts[target] - starts[number + 1]) // 4
            line = f"{name} {distance & 0xFFFF}"  # noqa: PLW2901 - the same, with a distance for the label
        values = dict(note.split("=") for note in notes.split())
        instructions.append(SyntheticInstruction(line, place, what, target, values))
    return SyntheticKernel(
        symbol, demangled, generation, address=address, instructions=tuple(instructions), labels=labels
    )


def _chain(text: str, sources: Mapping[str, Source]) -> str:
    parts = [part.partition(":") for part in text.split(" -> ")] if text else []
    return " -> ".join(sources[nickname.strip()].place(line.strip()) for nickname, _, line in parts)


# The words that a kernel writes before a memory instruction: EXEC, and the address of each lane.  They are
# those of `copy_columns`: its loads lie side by side, its stores a row apart, and it reads a column of LDS.
# Every fourth wave has 48 columns: its other lanes are off, and their words are not addresses.
LANES = 64
PITCH = 1024  # bytes of a row of the matrices
_SOURCE, _RESULT = 0x7F3C_4000_0000, 0x7F3C_8000_0000
_TILE, _TILE_ROW = 0x4000, 256  # bytes of LDS
_GARBAGE = 0xDEAD_BEE0_0000_0001

# Number of the marker: kind of the access, words of a lane, and the source line that it is for.
BLOCKS = {1: ("load", 2, 10), 2: ("lds_store", 1, 10), 3: ("lds_load", 1, 11), 4: ("store", 2, 11)}


def block_words(kind: str, wave: int, row: int) -> list[int]:
    """Return the words of a block after its header: EXEC, then a word or two a lane.

    `wave` is the number of the wave in its workgroup, `row` the iteration of the loop.
    """
    first, pitch = {  # the address of lane 0, and the bytes from lane to lane
        "load": (_SOURCE + row * PITCH + 4 * LANES * wave, 4),
        "store": (_RESULT + LANES * wave * PITCH + 4 * row, PITCH),
        "lds_store": (_TILE * wave + _TILE_ROW * row, 4),
        "lds_load": (_TILE * wave + 4 * row, _TILE_ROW),
    }[kind]
    active = 48 if wave % 4 == 3 else LANES
    mask, shifts = (1 << active) - 1, (0,) if kind.startswith("lds") else (0, 32)
    addresses = [first + pitch * lane if lane < active else _GARBAGE for lane in range(LANES)]
    words = [address >> shift & 0xFFFFFFFF for address in addresses for shift in shifts]
    return [mask & 0xFFFFFFFF, mask >> 32, *words]
