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
