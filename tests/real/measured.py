"""What other programs counted in the real captures."""

from tests.formats.test_invariants import Measured

MEASURED = {
    "flash_attn_small_before": Measured(4, 26412, 2070, 176, 64, 208060, 107884, 12312, 108, 8, 0, 2),
    "flash_attn_small_after": Measured(8, 43360, 2070, 176, 64, 342176, 176060, 25964, 164, 16, 0, 4),
    "fused_rope_cache": Measured(4, 824, 208, 2, 32, 17856, 12412, 872, 4, 0, 0, 0),
    "mla_decode": Measured(32, 544, 4949, 4932, 256, 45952, 43464, 1752, 0, 24, 148, 6),
    "moe_reduce": Measured(4112, 622968, 432, 261, 32768, 59005036, 45693520, 722052, 236, 5724, 100, 1431),
    "pa_mqa_big": Measured(32, 165632, 727, 6, 256, 1482216, 791816, 119980, 12, 32, 0, 8),
    "pa_mqa_small": Measured(4, 1576, 727, 333, 36, 19088, 11820, 1220, 4, 4, 0, 1),
    "preshuffle_gemm": Measured(68, 192916, 864, 1, 512, 6420596, 5309332, 92968, 0, 72, 0, 18),
    "vec_add": Measured(632, 13904, 23, 1, 5000, 3729624, 2101364, 45744, 4, 804, 452, 201),
}
