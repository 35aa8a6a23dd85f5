// Kernels whose calls are inlined three deep and mixed with each other: what `-gsplit-dwarf` moves out of the object.
#define KERNEL extern "C" __attribute__((global))
#define INLINED __attribute__((device)) static inline __attribute__((always_inline))

INLINED float square(float x) { return x * x; }

INLINED float blend(float x, float y) {
    float sum = square(x) + 3.0f * y;
    return sum > 1.0f ? square(sum - y) : sum;
}

INLINED float scaled(const float *in, int i, float by) {
    float x = in[i] * by;
    return blend(x, in[i + 1]);
}

KERNEL void two(float *out, const float *in, float by) {
    int i = __builtin_amdgcn_workitem_id_x();
    float one = scaled(in, i, by), other = scaled(in, i + 64, by + 1.0f);
    out[i] = blend(one, other);
}

KERNEL void loop(float *out, const float *in, int count) {
    int i = __builtin_amdgcn_workitem_id_x();
    float sum = 0.0f;
    for (int at = 0; at < count; at++) sum = blend(sum, scaled(in, i + at * 64, 0.5f));
    out[i] = sum;
}
