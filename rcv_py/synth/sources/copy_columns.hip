// A copy of a matrix through LDS, 64 columns a wave, with two mistakes: a column of the tile lies in one bank of LDS,
// and lanes write a row apart.

#include <hip/hip_runtime.h>

__global__ void copy_columns(const float* in, float* out, int pitch) {
    __shared__ float tile[64][64];  // 65 numbers a row would avoid the bank conflicts
    const int lane = threadIdx.x & 63;
    for (int row = 0; row < 64; ++row) {
        tile[row][lane] = in[row * pitch + lane];
        out[lane * pitch + row] = tile[lane][row];
    }
}
