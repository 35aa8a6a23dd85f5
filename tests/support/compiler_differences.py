"""Compile with clang, Triton, IREE and FlyDSL as they are today; hold what rcv reads against LLVM's tools.

    python -m tests.support.compiler_differences [--targets gfx942,gfx1201] [--clang clang-22]
        [--triton PYTHON] [--iree iree-compile] [--flydsl PYTHON]

Outside CI.  PYTHON is one that has the package; a compiler that is not named is left out, apart from clang.
FlyDSL needs torch, and an ld.lld in $ROCM_PATH/llvm/bin.
Compares kernels, registers, LDS, scratch, lanes, starts of instructions and source lines of each object, and
fails if any differs.  LLVM's tools are those of `llvm_truth`; words that they do not know differ, too.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rcv_py.base.problems import Problems
from rcv_py.formats.compiled import files_below
from rcv_py.formats.isa.containers import found_objects, read_object
from tests.support.limits import HANG_S
from tests.support.llvm_truth import differences, told_by_llvm, told_by_rcv
from tests.support.paths import ROOT

SOURCES = ROOT / "tests" / "support" / "compiler_sources"
HIP = ROOT / "tests" / "formats" / "isa" / "built" / "calls.hip"
TARGETS = "gfx90a,gfx942,gfx950,gfx1100,gfx1151,gfx1201,gfx1250"
SHOWN = 5  # differences of an object


def by_clang(program: str, target: str, folder: Path) -> None:
    words = [program, "-x", "hip", "-g", "-nogpuinc", "-nogpulib", "--offload-device-only", "-fuse-cuid=none"]
    words += [f"--offload-arch={target}", "--no-gpu-bundle-output", str(HIP)]
    for level in ("-O0", "-O3"):
        _run([*words, level, "-o", f"{folder}/clang{level}.co"])


def by_triton(program: str, target: str, folder: Path) -> None:
    _run([program, str(SOURCES / "for_triton.py"), target], TRITON_CACHE_DIR=str(folder))


def by_iree(program: str, target: str, folder: Path) -> None:
    where = "--iree-hal-target-device=hip", f"--iree-rocm-target={target}"
    _run([program, *where, str(SOURCES / "for_iree.mlir"), "-o", f"{folder}/iree.vmfb"])


def by_flydsl(program: str, target: str, folder: Path) -> None:
    told = {"FLYDSL_RUNTIME_CACHE_DIR": str(folder), "FLYDSL_DEBUG_ENABLE_DEBUG_INFO": "1"}
    _run([program, str(SOURCES / "for_flydsl.py")], ARCH=target, COMPILE_ONLY="1", **told)


COMPILERS = {"clang": by_clang, "triton": by_triton, "iree": by_iree, "flydsl": by_flydsl}


def _run(words: list[str], **told: str) -> None:
    subprocess.run(
        words, check=True, timeout=10 * HANG_S, env={**os.environ, **told}, stdout=subprocess.DEVNULL
    )


def objects(folder: Path) -> Iterator[Path]:
    """Yield the code objects in what a compiler wrote, each as a file of its own."""
    for file in sorted(files_below(folder, 4)):
        for one in found_objects(file, Problems()):
            alone = folder / f"{file.stem}_{one.number}.elf"
            alone.write_bytes(read_object(one, file.name))
            yield alone


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--targets", default=TARGETS)
    for name in COMPILERS:
        options.add_argument(f"--{name}", default="clang-22" if name == "clang" else "")
    given = vars(options.parse_args())
    wrong = 0
    for name, compiled_by in COMPILERS.items():
        for target in given["targets"].split(",") if given[name] else ():
            with TemporaryDirectory() as folder:
                try:
                    compiled_by(given[name], target, Path(folder))
                except subprocess.CalledProcessError as error:
                    print(f"{name} {target}: it does not compile ({error.returncode})")
                    continue
                found = {
                    file.name: differences(told_by_llvm(file), told_by_rcv(file))
                    for file in objects(Path(folder))
                }
            print(f"{name} {target}: {len(found)} objects, {sum(map(len, found.values()))} differences")
            wrong += sum(map(len, found.values())) + (not found)
            for file, lines in found.items():
                print(*(f"    {file}: {line}" for line in lines[:SHOWN]), sep="\n", end="\n" * bool(lines))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
