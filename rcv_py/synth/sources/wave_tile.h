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
