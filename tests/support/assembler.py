"""An assembler for AMD GPUs: libLLVM's, in a process of its own (`python assembler.py LIBRARY TARGET`).

Lines of assembler come in, an object file goes out.
"""

import ctypes
import subprocess
import sys
from io import BytesIO

OBJECT = 1  # a kind of file


def assembled(library: str, target: str, lines: list[str]) -> bytes:
    """The bytes of the instructions."""
    from elftools.elf.elffile import ELFFile

    from tests.support.limits import HANG_S  # not above: this file is a program, too

    command = [sys.executable, "-I", __file__, library, target]
    done = subprocess.run(
        command, input="\n".join(lines).encode(), capture_output=True, check=False, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return ELFFile(BytesIO(done.stdout)).get_section_by_name(".text").data()


def main(library: str, target: str) -> None:
    lib = ctypes.CDLL(library)
    for part in ("TargetInfo", "Target", "TargetMC", "AsmParser", "AsmPrinter"):
        getattr(lib, f"LLVMInitializeAMDGPU{part}")()
    pointer = ctypes.c_void_p
    for name in ("LLVMModuleCreateWithName", "LLVMCreateTargetMachine", "LLVMGetBufferStart"):
        getattr(lib, name).restype = pointer
    lib.LLVMGetBufferSize.restype = ctypes.c_size_t
    triple, found, error = b"amdgcn-amd-amdhsa", pointer(), ctypes.c_char_p()
    assert not lib.LLVMGetTargetFromTriple(triple, ctypes.byref(found), ctypes.byref(error)), error.value
    machine = pointer(lib.LLVMCreateTargetMachine(found, triple, target.encode(), b"", 0, 0, 0))
    module = pointer(lib.LLVMModuleCreateWithName(b"test"))
    lib.LLVMSetTarget(module, triple)
    text = b".text\n" + sys.stdin.buffer.read() + b"\n"
    lib.LLVMSetModuleInlineAsm2(module, text, ctypes.c_size_t(len(text)))
    made = pointer()
    failed = lib.LLVMTargetMachineEmitToMemoryBuffer(
        machine, module, OBJECT, ctypes.byref(error), ctypes.byref(made)
    )
    assert not failed, error.value
    start, size = lib.LLVMGetBufferStart(made), lib.LLVMGetBufferSize(made)
    sys.stdout.buffer.write(ctypes.string_at(start, size))


if __name__ == "__main__":
    main(*sys.argv[1:])
