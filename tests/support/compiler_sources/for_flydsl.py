"""Compile a sum of vectors with FlyDSL for the GPU that ARCH names, with COMPILE_ONLY=1 without it."""

import flydsl.compiler as flyc
import flydsl.expr as fx
import torch

LANES = 64


@flyc.kernel
def add(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor):
    block, lane = fx.block_idx.x, fx.thread_idx.x
    one_lane = fx.make_layout(1, 1)
    mine = []
    for tensor in (a, b, out):
        part = fx.slice(fx.logical_divide(tensor, fx.make_layout(LANES, 1)), (None, block))
        mine.append(fx.slice(fx.logical_divide(part, one_lane), (None, lane)))
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    register = fx.MemRefType.get(fx.T.f32, fx.LayoutType.get(1, 1), fx.AddressSpace.Register)
    left, right, sums = (fx.memref_alloca(register, one_lane) for _ in range(3))
    fx.copy_atom_call(atom, mine[0], left)
    fx.copy_atom_call(atom, mine[1], right)
    fx.memref_store_vec(fx.arith.addf(fx.memref_load_vec(left), fx.memref_load_vec(right)), sums)
    fx.copy_atom_call(atom, sums, mine[2])


@flyc.jit
def launch(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor, n: fx.Int32):
    add(a, b, out).launch(grid=((n + LANES - 1) // LANES, 1, 1), block=[LANES, 1, 1])


vectors = [torch.zeros(256) for _ in range(3)]
launch(*vectors, 256)
