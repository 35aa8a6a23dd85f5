/* The C interface of a trace decoder that replays records from the file in STUB_RECORDS.
   Each record: kind, count, bytes (u64 each), then the bytes; of a wave its states and tokens follow.
   STUB_FIRST chooses the first interface at build time, STUB_CRASH a crash when it is asked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t value; } handle_t;
typedef struct { uint64_t address, id; } pc_t;
typedef int (*isa_t)(char *, uint64_t *, uint64_t *, pc_t, void *);
typedef int (*trace_t)(int, void *, uint64_t, void *);
typedef uint64_t (*data_t)(uint8_t **, uint64_t *, void *);
typedef struct {
    uint8_t facts[8];
    uint64_t size;
    int64_t begin, end;
    uint64_t states, tokens;
    void *state_at, *token_at;
} wave_t;
typedef struct { uint32_t word; int32_t duration; int64_t time; pc_t pc; } token_t;

const char *rocprof_trace_decoder_get_status_string(int status) { return status ? "refused" : "success"; }

static int known(isa_t isa, void *user, pc_t pc) {
    char text[512];
    uint64_t size = 0, room = 4;
    int status = isa(text, &size, &room, pc, user);
    if (status == 2 && room <= sizeof text) status = isa(text, &size, &room, pc, user);
    return status == 0 && room > 0 && size % 4 == 0;
}

static uint64_t analyses;

static int replay(isa_t isa, void *isa_user, trace_t trace, void *user, uint64_t given) {
    uint64_t head[3];
    if (getenv("STUB_CRASH")) abort();
    if (given < 16) return 3;
    FILE *file = fopen(getenv("STUB_RECORDS"), "rb");
    if (!file) return 1;
    while (fread(head, sizeof head, 1, file) == 1) {
        char *bytes = malloc(head[2] + 1);
        if (head[2] && fread(bytes, head[2], 1, file) != 1) return 1;
        int status = 0;
        if (head[0] == 12 && !analyses) {
            /* it was not asked for these */
        } else if (head[0] == 3) {
            wave_t *wave = (wave_t *)bytes;
            wave->state_at = bytes + sizeof *wave;
            wave->token_at = (char *)wave->state_at + 8 * wave->states;
            token_t *token = wave->token_at;
            for (uint64_t at = 0; at < wave->tokens; at++)
                if (token[at].pc.address && !known(isa, isa_user, token[at].pc))
                    token[at].pc.address = token[at].pc.id = 0;
            status = trace(3, wave, 1, user);
        } else if (head[0] == 0) {
            status = trace(0, (void *)(uintptr_t)head[1], 1, user);
        } else {
            status = trace((int)head[0], bytes, head[1], user);
        }
        memset(bytes, 0x5A, head[2]);
        free(bytes);
        if (status) return status;
    }
    fclose(file);
    return 0;
}

#ifdef STUB_FIRST
int rocprof_trace_decoder_parse_data(data_t data, trace_t trace, isa_t isa, void *user) {
    uint8_t *at = NULL;
    uint64_t size = 0, all = 0;
    while (data(&at, &size, user)) all += at ? size : 0;
    return replay(isa, user, trace, user, all);
}
#else
static isa_t kept;
static void *kept_user;
int rocprof_trace_decoder_create_handle(handle_t *handle) { handle->value = 42; return 0; }
int rocprof_trace_decoder_destroy_handle(handle_t handle) { return handle.value == 42 ? 0 : 3; }
int rocprof_trace_decoder_set_isa_callback(handle_t handle, isa_t isa, void *user) {
    kept = isa;
    kept_user = user;
    return handle.value == 42 ? 0 : 3;
}
int rocprof_trace_decoder_set_analysis(handle_t handle, uint64_t flags) {
    if (handle.value != 42 || flags & ~1ull) return 3;
    analyses = flags;
    return 0;
}
int rocprof_trace_decoder_parse(handle_t handle, const void *data, uint64_t size, trace_t trace, void *user) {
    return handle.value == 42 && data ? replay(kept, kept_user, trace, user, size) : 3;
}
#endif
