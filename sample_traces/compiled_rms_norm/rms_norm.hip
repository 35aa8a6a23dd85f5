// The root mean square of each row, by which the row is divided: one workgroup of 256 threads a row.
// It needs no header and no ROCm: see ../README.md.  UNROLL=4 makes another build, with more loads in flight.
#ifndef UNROLL
#define UNROLL 1
#endif
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))
#define DEVICE static inline __attribute__((device, always_inline))

typedef float float4 __attribute__((ext_vector_type(4)));

DEVICE float squares(float4 x) { return x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w; }

DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE float sum_of_workgroup(float mine) {
    static __attribute__((shared)) float part[256];
    int lane = __builtin_amdgcn_workitem_id_x();
    part[lane] = mine;
#pragma unroll 1
    for (int half_way = 128; half_way > 0; half_way >>= 1) {
        barrier();
        float other = part[(lane + half_way) & 255];
        barrier();
        part[lane] += other;
    }
    barrier();
    return part[0];
}

KERNEL void rms_norm(float4 *out, const float4 *in, int groups) {
    int lane = __builtin_amdgcn_workitem_id_x(), row = __builtin_amdgcn_workgroup_id_x();
    const float4 *from = in + row * groups * 256;
    float4 *to = out + row * groups * 256;
    float sum = 0.0f;
#pragma unroll UNROLL
    for (int i = 0; i < groups; i++) sum += squares(from[i * 256 + lane]);
    float scale = __builtin_amdgcn_rsqf(sum_of_workgroup(sum) / (groups * 1024.0f) + 1e-6f);
#pragma unroll UNROLL
    for (int i = 0; i < groups; i++) to[i * 256 + lane] = from[i * 256 + lane] * scale;
}
