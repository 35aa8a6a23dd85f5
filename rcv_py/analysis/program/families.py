"""A sentence about what an instruction does, by the family of its mnemonic; from gfx9 to gfx12."""

import re

from rcv_py.base.text import Message

_ENCODING = re.compile(r"_(e32|e64|sdwa|dpp|dpp8|e64_dpp)$")
_TYPE_TEXT = {
    "f16": "half floats",
    "bf16": "bfloat16",
    "f32": "floats",
    "f64": "doubles",
    "i16": "signed 16-bit integers",
    "i32": "signed integers",
    "i64": "signed 64-bit integers",
    "u16": "16-bit integers",
    "u24": "24-bit integers",
    "u32": "unsigned integers",
    "u64": "unsigned 64-bit integers",
    "b8": "bytes",
    "b16": "16 bits",
    "b32": "32 bits",
    "b64": "64 bits",
    "b128": "128 bits",
    "fp8": "8-bit floats",
}
_COMPARED = {
    "eq": "equal",
    "ne": "not equal",
    "lg": "not equal",
    "lt": "less",
    "le": "less or equal",
    "gt": "greater",
    "ge": "greater or equal",
    "u": "not comparable (NaN)",
    "o": "comparable (no NaN)",
    "class": "of a class of floats",
}
# The first pattern that matches the mnemonic without its encoding; {0} and so on are its groups.
_WHAT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (
            r"v_s?mfmac?_|v_s?wmmac?_|v_smfmac_|v_swmmac_",
            "Multiplies two small matrices, distributed over the lanes of the wave, and adds a third.",
        ),
        (
            r"v_accvgpr_(read|write)",
            "Copies between accumulation and vector registers ({0}s an accumulation register).",
        ),
        (
            r"v_cmpx?_(\w+?)_\w+$",
            "Compares lane by lane: one bit of the mask per lane, set where the first operand is {c0}.",
        ),
        (r"v_cndmask", "Selects one of two operands in each lane, by a bit of a mask."),
        (r"v_accvgpr_mov", "Copies an accumulation register."),
        (
            r"v_cvt_scalef32_(?:sr_)?(?:2x)?(?:pk\d*_)?(\w+)_(\w+)",
            "Converts each lane from {t1} to {t0}, with a scale.",
        ),
        (r"v_cvt_pk_(\w+)_(\w+)", "Converts two values of each lane from {t1} to {t0} and packs them."),
        (r"v_cvt_(\w+?)_(\w+)", "Converts each lane from {t1} to {t0}."),
        (r"v_pk_(\w+?)_(\w+)", "Does the operation ({0}) on two values of each lane at once, of {t1}."),
        (r"v_fma_mix|v_mad_mix", "Multiplies and adds; operands may be floats or half floats."),
        (
            r"v_(?:fma|fmac|mad|mac|fmamk|fmaak|madmk|madak)_(?:legacy_)?(\w+)",
            "Multiplies two operands and adds a third in each lane, of {t0}.",
        ),
        (r"v_mad_(?:u64_u32|i64_i32)", "Multiplies two integers of 32 bits and adds one of 64."),
        (r"v_dot(\d)c?", "Adds {0} products of small parts of two operands to a third."),
        (r"v_add3", "Adds three integers."),
        (
            r"v_(?:add|sub|subrev)_co_|v_(?:addc|subb|subbrev)_co",
            "Adds or subtracts integers, with a carry per lane.",
        ),
        (r"v_add_lshl|v_lshl_add", "Adds and shifts left in one instruction, as addresses need it."),
        (r"v_(?:and_or|or3|lshl_or|bitop3|xad|xor3)", "Combines several logic operations in one."),
        (
            r"v_(add|sub|subrev|mul)_(?:legacy_|nc_|u24_|lo_|hi_|dx9_zero_)*(\w+)",
            "Computes lane by lane ({0}), of {t1}.",
        ),
        (r"v_mul_(?:lo|hi|u32|i32)", "Multiplies integers; a quarter of the usual rate."),
        (
            r"v_(max|min|max3|min3|med3|maximum|minimum|maximum3|minimum3"
            r"|maxmin|minmax|maximumminimum|minimummaximum)_(?:num_|legacy_)?(\w+)",
            "Takes the {0} of its operands in each lane, of {t1}.",
        ),
        (
            r"v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos|tanh)_(\w+)",
            "A transcendental function ({0}) of each lane, approximated; a quarter of the usual rate.",
        ),
        (r"v_(trunc|floor|ceil|rndne|fract)_", "Rounds each lane ({0})."),
        (r"v_(ldexp|frexp_mant|frexp_exp)", "Splits floats into mantissa and exponent, or combines them."),
        (r"v_div_(scale|fmas|fixup)", "A step ({0}) of a division with full precision."),
        (r"v_(lshlrev|lshrrev|ashrrev|lshl|lshr|ashr)_", "Shifts the bits of each lane."),
        (r"v_(and|or|xor|not|xnor)_", "Combines bits of each lane ({0})."),
        (r"v_(bfe|bfi|bfm|alignbit|alignbyte|perm)_", "Selects bits or bytes of its operands ({0})."),
        (r"[vs]_(mbcnt|bcnt(?!\d)|ffbh|ffbl|clz|ctz|cls)", "Counts bits ({0})."),
        (r"v_readfirstlane", "Copies the value of the first active lane into a scalar register."),
        (r"v_readlane", "Copies the value of one lane into a scalar register."),
        (r"v_writelane", "Writes a scalar value into one lane."),
        (r"v_permlane(\w*)_swap", "Swaps rows of lanes between two registers, without LDS."),
        (r"v_permlane", "Moves values between lanes, without LDS."),
        (r"v_mov_", "Copies a value into each lane."),
        (r"v_swap", "Swaps two registers."),
        (r"v_nop", "Does nothing for one issue."),
        (
            r"ds_(?:read|load)2st64_",
            "Reads two values of each lane from LDS, at offsets that count 64 elements.",
        ),
        (r"ds_(?:read|load)2_", "Reads two values of each lane from LDS, at two offsets."),
        (
            r"ds_read_\w*_tr_",
            "Reads from LDS and transposes between lanes, in the layout of matrix operands.",
        ),
        (r"ds_(?:read|load)_", "Reads a value of each lane from LDS."),
        (r"ds_(?:write|store)2", "Writes two values of each lane into LDS, at two offsets."),
        (r"ds_(?:write|store)_", "Writes a value of each lane into LDS."),
        (
            r"ds_(b?permute)",
            "Moves values between any lanes through the LDS crossbar; LDS memory is not touched.",
        ),
        (r"ds_swizzle", "Moves values between lanes in a fixed pattern through the LDS crossbar."),
        (r"ds_", "An operation of LDS, such as an atomic one."),
        (r"lds_|exp|v_(?:cube|interp|mullit|screen)", "An operation of graphics pipelines."),
        (
            r"\w+_load_lds|\w+_async_to_lds|tensor_load|\w+_load_async",
            "Copies from memory into LDS, without registers.",
        ),
        (r"\w+_async_from_lds|tensor_store|\w+_store_async", "Copies from LDS to memory, without registers."),
        (
            r"(buffer|global|flat|scratch|tbuffer|s|s_buffer)_atomic",
            "An atomic operation in memory; the old value comes back only if it is asked for.",
        ),
        (
            r"(buffer|tbuffer)_load",
            "Loads a value of each lane from memory, by a descriptor in scalar registers and an "
            "offset of each lane.",
        ),
        (
            r"(buffer|tbuffer)_store",
            "Stores a value of each lane to memory, by a descriptor in scalar registers.",
        ),
        (r"(global|flat|cluster)_load", "Loads a value of each lane from the address that the lane holds."),
        (r"(global|flat)_store", "Stores a value of each lane to the address that the lane holds."),
        (r"scratch_load", "Loads from the lane's private memory, usually a spilled register."),
        (r"scratch_store", "Stores to the lane's private memory, usually a spilled register."),
        (r"\w+_prefetch", "Prefetches data into a cache."),
        (
            r"(buffer|global)_(inv|gl0_inv|gl1_inv|wbinvl1\w*)",
            "Invalidates a cache, so that later loads see stores of others.",
        ),
        (r"(buffer|global)_(wb\w*)", "Writes back a cache, so that others see its stores."),
        (r"image_bvh", "Tests a ray against a node of a tree of boxes or triangles."),
        (r"image_", "Reads or writes a texture."),
        (
            r"s_(?:buffer_|scratch_)?load",
            "Loads into scalar registers, once for the wave; results come back in any order.",
        ),
        (r"s_(?:buffer_|scratch_)?store", "Stores scalar registers."),
        (r"v_pack_b32_f16", "Packs two half floats of each lane into a register."),
        (r"v_dual_", "Issues two vector instructions as one."),
        (r"s_(memtime|memrealtime|get_shader_cycles)", "Reads a clock."),
        (
            r"s_waitcnt_depctr|s_wait_alu",
            "Waits for reads and writes of registers by earlier instructions of the wave.",
        ),
        (r"s_wait_xcnt", "Waits until at most that many memory operations have addresses to translate."),
        (r"s_wait", "Waits until at most that many operations of a counter are outstanding."),
        (r"s_barrier", "Waits until all waves of the workgroup have arrived."),
        (r"s_nop", "Does nothing for n + 1 issue turns; compilers keep required distances with it."),
        (
            r"s_delay_alu",
            ("States how long the results take that the next instructions need: the wave sleeps until then."),
        ),
        (r"s_clause", "Keeps the next n + 1 instructions of the wave together."),
        (r"s_ttracedata", "Writes a value into the thread trace: a marker."),
        (r"s_(?:monitor_)?sleep", "Sleeps for a while."),
        (r"s_setprio", "Sets the priority of the wave among the waves of its SIMD."),
        (r"s_sendmsg", "Sends a message, such as to an interrupt or to give back registers."),
        (r"s_endpgm", "Ends the wave."),
        (r"s_cbranch_(\w+)", "Jumps if the condition ({0}) holds."),
        (r"s_branch", "Jumps."),
        (r"s_(setpc|swappc|call|getpc|\w+_pc_|rfe)", "Jumps to, or reads, a computed address."),
        (r"s_(\w+?)_?saveexec", "Saves the mask of active lanes and narrows it ({0})."),
        (r"s_cmpk?_(\w+?)_", "Compares scalars: scc is set where the first is {c0}."),
        (r"s_bitcmp", "Tests a bit: the result is scc."),
        (r"s_cselect", "Selects one of two scalars by scc."),
        (r"s_set_gpr_idx", "Switches relative addressing of vector registers."),
        (r"s_(mov|movk|cmov)", "Copies a scalar."),
        (
            r"s_(add|sub|addc|subb|addk|mul|mulk|mul_hi|lshl\d_add|abs|min|max)",
            "Computes with scalars ({0}).",
        ),
        (
            r"s_(and|or|xor|not|nand|nor|xnor|andn\d|orn\d|and_not\d|or_not\d"
            r"|lshl|lshr|ashr|bfe|bfm|bitset\d|brev|bcnt\d|ff\d|flbit)",
            "Works on bits of scalars ({0}).",
        ),
        (r"s_fma", "Multiplies two scalars and adds a third."),
        (r"s_cvt_(?:hi_|pk_rtz_)?(\w+?)_(\w+)", "Converts a scalar from {t1} to {t0}."),
        (r"s_(ceil|floor|trunc|rndne)_", "Rounds a scalar ({0})."),
        (r"s_pack_", "Packs halves of two scalars into one."),
        (r"s_sext_", "Extends the sign of a scalar."),
        (r"s_bitreplicate", "Doubles each bit of a scalar."),
        (r"s_(quadmask|wqm)", "Forms a mask of groups of four lanes ({0})."),
        (r"s_getreg", "Reads a hardware register, such as a mode or the place of the wave."),
        (r"s_setreg", "Writes a hardware register, such as the mode of floats."),
        (r"s_(round|denorm)_mode", "Sets the mode of floats ({0})."),
        (r"s_(?:dcache|icache|gl1)", "Invalidates or writes back a cache of scalars or instructions."),
        (r"s_get_barrier_state", "Reads the state of a barrier."),
        (r"s_wakeup", "Wakes waves that sleep or wait at a barrier."),
        (r"s_alloc_vgpr", "Changes the number of vector registers of the wave."),
        (r"s_set_vgpr_msb", "Selects which 256 vector registers the next instructions name."),
        (r"s_setvskip", "Turns vector instructions of the wave off or on."),
        (
            r"s_(?:sethalt|setkill|trap|version|incperflevel|decperflevel|atc_probe)",
            "Serves debuggers, profilers and trap handlers.",
        ),
        (r"v_bfrev", "Reverses the bits of each lane."),
        (r"v_movrel", "Copies between registers; m0 is added to their numbers."),
        (r"v_m?q?sad_", "Adds absolute differences of small integers in each lane."),
        (r"v_lerp", "Averages bytes of two operands in each lane."),
        (r"v_sat_pk", "Packs integers of each lane, limited to the range of the smaller type."),
        (r"v_s_(exp|log|rcp|rsq|sqrt)_", "A transcendental function ({0}) of a scalar, approximated."),
        (r"v_prng", "Computes the next pseudo-random number of each lane."),
        (r"v_trig_preop", "A step of the range reduction for sines and cosines."),
        (r"v_pipeflush", "Flushes results of vector instructions."),
        (r"tensor_", "Controls copies between memory and LDS."),
    )
)


def what_it_does(text: str) -> str:
    """Return a sentence about an instruction by its mnemonic; "" if no family matches."""
    plain = _ENCODING.sub("", text.strip().partition(" ")[0].lower())
    for pattern, sentence in _WHAT:
        if found := pattern.match(plain):
            groups = [group or "" for group in found.groups()]
            types = [group.rsplit("_", 1)[-1] for group in groups]
            spelled = {f"t{at}": _TYPE_TEXT.get(name, name) for at, name in enumerate(types)}
            spelled |= {f"c{at}": _COMPARED.get(group, group) for at, group in enumerate(groups)}
            return Message(sentence, *groups, **spelled)
    return ""
