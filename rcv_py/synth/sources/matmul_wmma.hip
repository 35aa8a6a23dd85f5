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
