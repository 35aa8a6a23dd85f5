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
