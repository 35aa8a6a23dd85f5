"""The programs the made-up kernels come from, as a developer would have written them."""

from __future__ import annotations

from rcv_py.synth.program import Source

MATMUL_HIP = """\
// C = alpha * A * B, all in half precision, row-major; B is given transposed.
// One workgroup of four waves makes a 128 x 128 tile of C, each wave a quarter of it.

#include <hip/hip_runtime.h>

#include "tile_io.h"

constexpr int TILE = 128;
constexpr int STEP = 32;  // columns of A that one round consumes
constexpr int WAVES = 4;

// Prepares A: each row gets its own factor, so that the product itself stays simple.
__global__ void scale_rows(const half* in, const float* factor, half* out, int columns) {
    const int row = blockIdx.x;
    const float f = factor[row];
    for (int column = threadIdx.x * 8; column < columns; column += blockDim.x * 8) {
        half8 value = load8(in + row * columns + column);
        value = scale8(value, f);
        store8(out + row * columns + column, value);
    }
}

__global__ __launch_bounds__(64 * WAVES, 2)
void matmul_tiled(const half* A, const half* Bt, half* C, int M, int N, int K, float alpha) {
    __shared__ half a_tile[2][TILE * STEP];
    __shared__ half b_tile[2][TILE * STEP];

    const int lane = threadIdx.x & 63;
    const int wave = threadIdx.x >> 6;
    const int tile_row = blockIdx.x * TILE;
    const int tile_column = blockIdx.y * TILE;
    const int wave_row = (wave >> 1) * 64;
    const int wave_column = (wave & 1) * 64;

    float16 sum[2][2] = {};
    TileReader<STEP> a(A, tile_row, K);
    TileReader<STEP> b(Bt, tile_column, K);

    a.fetch();
    b.fetch();
    for (int k = 0, half_of_lds = 0; k < K; k += STEP, half_of_lds ^= 1) {
        a.store(a_tile[half_of_lds]);
        b.store(b_tile[half_of_lds]);
        if (k + STEP < K) {
            a.advance();
            b.advance();
            a.fetch();
            b.fetch();
        }
        __syncthreads();
        Fragment fa[2], fb[2];
        read_fragment(fa, a_tile[half_of_lds], wave_row, lane);
        read_fragment(fb, b_tile[half_of_lds], wave_column, lane);
        multiply(sum, fa, fb);
    }

    const int row = tile_row + wave_row + (lane & 31);
    const int column = tile_column + wave_column + (lane >> 5) * 4;
    half* target = C + row * N + column;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            write_block(target + 32 * (i * N + j), sum[i][j], alpha);
}
"""

TILE_IO_H = """\
// Moving tiles between memory, LDS and registers.

#pragma once

#include <hip/hip_fp16.h>

using half4 = __attribute__((ext_vector_type(4))) _Float16;
using half8 = __attribute__((ext_vector_type(8))) _Float16;
using float16 = __attribute__((ext_vector_type(16))) float;

struct Fragment {
    half8 part[2];
};

__device__ inline half8 load8(const half* from) {
    return *reinterpret_cast<const half8*>(from);
}

__device__ inline void store8(half* to, half8 value) {
    *reinterpret_cast<half8*>(to) = value;
}

__device__ inline half8 scale8(half8 value, float factor) {
    return value * half8(_Float16(factor));
}

// Neighbouring rows use different banks.
__device__ inline int swizzle(int row, int chunk) {
    return row * 32 + ((chunk ^ (row >> 1)) & 3) * 8;
}

template <int STEP>
struct TileReader {
    const half* place;
    int pitch;
    half8 held[2];

    __device__ TileReader(const half* matrix, int row, int columns) : pitch(columns) {
        place = matrix + (row + threadIdx.x / 4) * columns + (threadIdx.x & 3) * 8;
    }
    __device__ void fetch() {
        held[0] = load8(place);
        held[1] = load8(place + 64 * pitch);
    }
    __device__ void advance() {
        place += STEP;
    }
    __device__ void store(half* tile) {
        store8(tile + swizzle(threadIdx.x / 4, threadIdx.x), held[0]);
        store8(tile + swizzle(threadIdx.x / 4 + 64, threadIdx.x), held[1]);
    }
};

__device__ inline void read_fragment(Fragment (&f)[2], const half* tile, int row, int lane) {
    for (int block = 0; block < 2; block++)
        for (int part = 0; part < 2; part++)
            f[block].part[part] = load8(
                tile + swizzle(row + 32 * block + (lane & 31), 2 * part + (lane >> 5)));
}

__device__ inline float16 mma(half4 a, half4 b, float16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
}

__device__ inline void multiply(float16 (&sum)[2][2], const Fragment (&a)[2], const Fragment (&b)[2]) {
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                sum[i][j] = mma(a[i].part[part].lo, b[j].part[part].lo, sum[i][j]);
                sum[i][j] = mma(a[i].part[part].hi, b[j].part[part].hi, sum[i][j]);
            }
}

__device__ inline void write_block(half* to, float16 value, float alpha) {
    for (int group = 0; group < 4; group++) {
        half4 four;
        for (int i = 0; i < 4; i++)
            four[i] = _Float16(alpha * value[4 * group + i]);
        *reinterpret_cast<half4*>(to + 8 * group) = four;
    }
}
"""

VECTOR_HIP = """\
// Small kernels: an element-wise sum, and the sum of everything.

#include <hip/hip_runtime.h>

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__device__ float wave_sum(float value) {
    for (int distance = 32; distance > 0; distance >>= 1)
        value += __shfl_xor(value, distance);
    return value;
}

__global__ void reduce(const float* in, float* out, int n) {
    __shared__ float partial[4];
    float value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        value += in[i];
    value = wave_sum(value);
    if ((threadIdx.x & 63) == 0)
        partial[threadIdx.x >> 6] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, partial[0] + partial[1] + partial[2] + partial[3]);
}
"""

WMMA_HIP = """\
// A 16 x 16 tile a wave with the matrix instructions of RDNA.

#include <hip/hip_runtime.h>

#include "wave_tile.h"

__global__ void matmul_wmma(const half* A, const half* B, float* C, int N, int K) {
    __shared__ half staged[4][16 * 16];
    WaveTile tile(threadIdx.x);
    float8 sum = {};
    for (int k = 0; k < K; k += 16) {
        half16 a = tile.load(A, k);
        half16 b = tile.load(B, k);
        a = tile.turn(staged[tile.wave], a);
        sum = tile.multiply(a, b, sum);
    }
    tile.write(C, N, sum);
}
"""

WAVE_TILE_H = """\
// One wave's tile.

#pragma once

struct WaveTile {
    int wave, lane;

    __device__ explicit WaveTile(int thread) : wave(thread / 32), lane(thread % 32) {}
    __device__ half16 load(const half* from, int k) const {
        return *reinterpret_cast<const half16*>(from + lane * 16 + k);
    }
    __device__ half16 turn(half* staged, half16 value) const {
        *reinterpret_cast<half16*>(staged + lane * 16) = value;
        __syncthreads();
        return *reinterpret_cast<const half16*>(staged + (lane ^ 16) * 16);
    }
    __device__ float8 multiply(half16 a, half16 b, float8 c) const {
        return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
    }
    __device__ void write(float* to, int pitch, float8 value) const {
        for (int i = 0; i < 8; i++)
            to[(2 * i + lane / 16) * pitch + lane % 16] = value[i];
    }
};
"""

_HIP_HEADER = "/opt/rocm/include/hip/amd_detail/amd_hip_runtime.h"

SOURCES = {
    "matmul": Source("/src/matmul/matmul.hip", MATMUL_HIP),
    "tile": Source("/src/matmul/./include/tile_io.h", TILE_IO_H),
    "vector": Source("/src/vector/vector.hip", VECTOR_HIP),
    "wmma": Source("/src/wmma/matmul_wmma.hip", WMMA_HIP),
    "wave": Source("/src/wmma/wave_tile.h", WAVE_TILE_H),
    # As in real captures, headers of the toolkit are referred to but not copied.
    "hip": Source(_HIP_HEADER, is_copied=False),
}
