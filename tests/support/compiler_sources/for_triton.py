"""Compile two kernels with Triton for a GPU that need not be there: `for_triton.py gfx942`."""

import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled(x, factor):
    return x * factor


@triton.jit
def add(out, a, b, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(out + at, scaled(x, 2.0) + y, mask=inside)


@triton.jit
def matmul(out, a, b, depth, block: tl.constexpr):
    rows = tl.arange(0, block)
    sums = tl.zeros((block, block), dtype=tl.float32)
    for k in range(0, depth, block):
        left = tl.load(a + rows[:, None] * depth + k + rows[None, :])
        right = tl.load(b + (k + rows[:, None]) * block + rows[None, :])
        sums += tl.dot(left, right)
    tl.store(out + rows[:, None] * block + rows[None, :], sums)


ADD = {"out": "*fp32", "a": "*fp32", "b": "*fp32", "n": "i32", "block": "constexpr"}
MATMUL = {"out": "*fp32", "a": "*fp16", "b": "*fp16", "depth": "i32", "block": "constexpr"}

target = GPUTarget("hip", sys.argv[1], 32 if sys.argv[1].startswith("gfx1") else 64)
for kernel, types, block in ((add, ADD, 1024), (matmul, MATMUL, 32)):
    triton.compile(ASTSource(kernel, types, constexprs={"block": block}), target=target)
