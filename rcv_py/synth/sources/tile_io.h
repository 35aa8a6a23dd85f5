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
