// Two kernels of our own: a straight one, and one with a loop, LDS and barriers.
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
#define KERNEL extern "C" __attribute__((global))
#define DEVICE static inline __attribute__((device, always_inline))

#ifdef CHANGED  // another build, to compare with: more work an iteration
#define WORK(i) scaled(a[row * n + i], 0.5f) * scaled(a[i], 3.0f)
#else
#define WORK(i) scaled(a[row * n + i], 0.5f)
#endif

DEVICE float scaled(float x, float s) { return x * s + 1.0f; }

KERNEL void vector_add(float *out, const float *a, const float *b) {
    int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    out[i] = scaled(a[i], 2.0f) + b[i];
}

KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256)))
void sum_rows(float *out, const float *a, int n) {
    static __attribute__((shared)) float part[256];
    int row = __builtin_amdgcn_workgroup_id_x(), lane = __builtin_amdgcn_workitem_id_x();
    float sum = 0.0f;
    for (int i = lane; i < n; i += 256) sum += WORK(i);
    part[lane] = sum;
    for (int half_way = 128; half_way > 0; half_way >>= 1) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        if (lane < half_way) part[lane] += part[lane + half_way];
    }
    if (lane == 0) out[row] = part[0];
}
