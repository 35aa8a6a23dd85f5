"""Measure how many instructions of real code objects have other registers than LLVM's operand tables say.

    python -m tests.support.register_errors FILE… [--flags "-I/usr/include/llvm-22 … -lLLVM-22"]

A FILE is anything with code objects: .hsaco, .co, .o, a library, a bundle.  Needs a C++ compiler and LLVM's
headers (on Debian g++ and llvm-22-dev), and no GPU.  Prints a line a target with the rate and the mnemonics
that are most often wrong; fails where it is above 0.1 %.
"""

import argparse
import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rcv_py.analysis.program.registers import SPECIAL, A, S, V, registers
from rcv_py.base.problems import Problems
from rcv_py.formats.isa.code_object import CodeObject
from rcv_py.formats.isa.containers import found_objects, read_object
from rcv_py.formats.isa.elf import lanes_of, read_image
from rcv_py.formats.isa.program import with_high_registers
from tests.support.limits import HANG_S
from tests.support.paths import ROOT

SOURCE = ROOT / "tests" / "analysis" / "operands.cpp"
FLAGS = "-I/usr/include/llvm-22 -I/usr/include/llvm-c-22 -lLLVM-22"
MOST = 0.001  # wrong of all
FIRST = {"v": V, "a": A, "s": S}
HIGH = re.compile(r" ?/\*v[^*]*\*/")
VECTOR = re.compile(r"\bv(?:\d+|\[\d+:\d+\])")
# What keeps a part of its destination, which the tables do not say; `test_registers.py` holds these by hand.
KEEPS = re.compile(r"s_cmov|s_bitset|v_pk_fmac|\S+_d16|v_cvt_")


class Tally:
    """The comparison of one target."""

    def __init__(self) -> None:
        self.instructions = self.unknown = 0
        self.wrong: Counter[str] = Counter()
        self.example: dict[str, str] = {}

    def line(self, target: str) -> str:
        rate = self.wrong.total() / max(self.instructions, 1)
        return f"{target:16} {self.instructions:9,} instructions, {self.wrong.total():6,} wrong ({rate:.4%})"


def names(bits: int) -> set[str]:
    """The registers of a set, by names as LLVM's."""
    found = set()
    while bits:
        number = bits.bit_length() - 1
        bits ^= 1 << number
        special = {place: name for name, place in SPECIAL.items()}.get(number)
        file, first = max((one for one in FIRST.items() if one[1] <= number), key=lambda one: one[1])
        found.add(special or f"{file}{number - first}")
    return found


def functions(path: Path) -> Iterator[tuple[str, str, CodeObject, list[int], list[bytes]]]:
    """Target, features, code object, addresses and bytes of the kernels of each object in a file."""
    for found in found_objects(path, Problems()):
        image = read_image(read_object(found, path.name), path.name, found.target)
        one = CodeObject(0, path.name, image)
        by_lanes: defaultdict[int, list[int]] = defaultdict(list)
        for kernel in one.kernels:
            raw = image.descriptors.get(kernel.name)
            by_lanes[lanes_of(raw) if raw else 0].append(kernel.address)
        for lanes, addresses in by_lanes.items():
            features = ["+wavefrontsize64", "-wavefrontsize32"] * (
                lanes == 64 and image.target.startswith("gfx1")
            )
            features += ["+real-true16"] * image.target.startswith(("gfx11", "gfx12"))
            code = [bytes(_bytes(image, one, at)) for at in addresses]
            yield image.target, ",".join(features), one, addresses, code


def _bytes(image: object, one: CodeObject, address: int) -> memoryview:
    program = one.program(address)
    assert program is not None
    region = next(part for part in image.regions if part.address <= address < part.stop)
    begin = int(program.address[0]) - region.address
    return region.data[begin : begin + int(program.size.sum())]


def compare(tool: Path, path: Path, tallies: dict[str, Tally]) -> None:
    for target, features, one, addresses, codes in functions(path):
        asked = b"".join(struct.pack("<I", len(code)) + code for code in codes)
        done = subprocess.run(
            [tool, target, features], input=asked, capture_output=True, check=False, timeout=HANG_S
        )
        for address, said in zip(addresses, done.stdout.decode().split("\n\n"), strict=False):
            _compare(tallies[target], one, address, said)


def _compare(tally: Tally, one: CodeObject, address: int, said: str) -> None:
    program = one.program(address)
    at, texts = int(program.address[0]), dict(zip(program.address.tolist(), program.text, strict=True))
    for row in said.splitlines():
        size, *rest = row.split("\t")
        ours = texts.get(at)
        at += int(size)
        if len(rest) < 3:
            tally.unknown += 1
            continue
        tally.instructions += 1
        if ours is None or not is_right(ours, *rest[:3]):
            name = rest[0].split()[0]
            tally.wrong[name] += 1
            tally.example[name] = f"{ours} | {rest}"


def is_right(ours: str, said: str, writes: str, reads: str) -> bool:
    """Whether the sets by our text are those of LLVM, up to what `registers.py` leaves out or adds."""
    written, read = set(writes.split()), set(reads.split())
    if "/*v" in said:  # the tables do not know the switch of gfx1250
        named = with_high_registers([said])[0]
        if VECTOR.findall(named) != VECTOR.findall(ours):
            return False
        ours = HIGH.sub("", said).strip()
    known = registers(ours)
    own_writes, own_reads = names(known.writes), names(known.reads)
    unprinted = {"exec"} if "exec" not in ours else set()
    unprinted |= {"m0"} if ours.startswith("ds_") or "src_lds_direct" in ours else set()
    kept = written if KEEPS.match(ours) else set()
    return own_writes == written and own_reads - kept - unprinted == read - kept - unprinted


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--flags", default=FLAGS)
    chosen = options.parse_args()
    tallies: dict[str, Tally] = defaultdict(Tally)
    with TemporaryDirectory() as folder:
        tool = Path(folder) / "operands"
        words = ["g++", "-std=c++17", "-fno-rtti", "-O1", str(SOURCE), "-o", str(tool), *chosen.flags.split()]
        subprocess.run(words, check=True, timeout=HANG_S)
        for path in chosen.files:
            compare(tool, path, tallies)
    for target, tally in sorted(tallies.items()):
        print(tally.line(target))
        for name, count in tally.wrong.most_common(8):
            print(f"    {count:6,} {tally.example[name]}")
    return any(one.wrong.total() > MOST * one.instructions for one in tallies.values())


if __name__ == "__main__":
    sys.exit(main())
