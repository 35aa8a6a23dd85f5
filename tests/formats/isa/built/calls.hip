// A kernel that calls functions, has LDS, a loop and scratch: for fixtures of every generation.
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))

DEVICE __attribute__((noinline)) float polynomial(float x, const float *factors, int count) {
    float sum = 0.0f;
    for (int i = 0; i < count; i++) sum = sum * x + factors[i];
    return sum;
}

DEVICE static inline __attribute__((always_inline)) float halved(float x) { return 0.5f * x; }

KERNEL __attribute__((amdgpu_flat_work_group_size(128, 128)))
void evaluate(float *out, const float *in, const float *factors, int count) {
    static __attribute__((shared)) float kept[32];
    int lane = __builtin_amdgcn_workitem_id_x();
    if (lane < 32) kept[lane] = factors[lane];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    int i = __builtin_amdgcn_workgroup_id_x() * 128 + lane;
    out[i] = polynomial(halved(in[i]), kept, count);
}

KERNEL void copy(float *out, const float *in) {
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    out[i] = halved(in[i]);
}
