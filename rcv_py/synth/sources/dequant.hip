// out = relu(A * W), where W has 8 bits a weight and a scale for every block of 64 rows.
// One wave makes a 32 x 32 tile of the result; the weights of the next block are loaded while it works on this one.

#include <hip/hip_runtime.h>

#include "tile_io.h"

constexpr int BLOCK = 64;  // rows of W that share a scale

__global__ __launch_bounds__(256, 1)
void dequant_matmul(const half* A, const char* W, const float* scales, half* out, int K) {
    const int lane = threadIdx.x & 63;
    const int column = (blockIdx.x * 4 + (threadIdx.x >> 6)) * 32;
    const half8* a = fragments_of(A, lane);
    const uint4* next = blocks_of(W, column, lane);
    const float* block_scale = scales + column;

    float16 sum = {};
    uint4 packed = *next;
    for (int k = 0; k < K; k += BLOCK) {
        half8 weights[8];
        unpack(weights, packed);
        next += 64;
        packed = *next;
        for (int i = 0; i < 8; i++)
            sum = mfma(a[i], weights[i], sum);
        const float scale = *block_scale;
        block_scale += 32;
        for (int i = 0; i < 16; i++)
            sum[i] = softclip(sum[i] * scale);
    }
    store_tile(out + column, sum, lane);
}
