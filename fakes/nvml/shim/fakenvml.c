/* NVML's functions: arguments in by the table, the answer out by its size rules.
 *
 * What NVML means stands in fakes/nvml/answers; here are only the rules that are the same for every
 * function (fakes/nvml/function.py lists them) and the few names that concern the calling process:
 * counting nvmlInit against nvmlShutdown, handles, error strings.
 */
#define _GNU_SOURCE
#include "page.h"

#include <stdlib.h>
#include <time.h>

static int answer(unsigned id, const uint64_t *arguments);

#include "table.inc"

/* Which sources this was made from; build.py looks for it. */
__attribute__((used)) static const char sources[] = SOURCES;

const uint64_t device_handles[DEVICE_LIMIT];

static int users; /* nvmlInit less nvmlShutdown */
pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* -- asking ------------------------------------------------------------------------------------ */

/* What the function returns, its outputs delivered. */
static int finish(const struct function *function, const uint64_t *arguments,
                  const struct reply *reply)
{
    if (reply->code != SUCCESS)
        return reply->code;
    return deliver_all(&params[function->first_param], function->param_count, arguments, reply);
}

static int ask_socket(const struct view *view, const struct function *function, unsigned id,
                      const uint64_t *arguments)
{
    struct header {
        uint16_t function, device;
        uint32_t reserved;
    } head = {(uint16_t)id, NO_DEVICE, 0};
    const struct param *params_of = &params[function->first_param];
    uint8_t *bytes = malloc(2 * MESSAGE_LIMIT);
    if (!bytes)
        return UNKNOWN;
    struct request request = {bytes, sizeof head, NO_DEVICE, 0, {0, 0, 0}};
    int code = pack_all(params_of, function->param_count, arguments, &request);
    if (code == SUCCESS) {
        struct reply reply;
        head.device = (uint16_t)request.device;
        memcpy(bytes, &head, sizeof head);
        code = wire_ask(view, bytes, request.length, bytes + MESSAGE_LIMIT, &reply);
        if (code == SUCCESS)
            code = finish(function, arguments, &reply);
    }
    free(bytes);
    return code;
}

/* nvmlDeviceGetFieldValues: each record is a question of its own; 1 if the page answered them all,
 * every one by the same generation. */
static int each_from_page(const struct view *view, const struct param *each, struct key whole,
                          uint8_t *record, uint32_t count, int *code)
{
    uint8_t room[SLOT_LIMIT];
    uint64_t generation = 0;
    for (uint32_t i = 0; i < count; i++, record += each->size) {
        struct key key = whole;
        struct reply reply;
        for (unsigned word = 0; word < each->word_count; word++)
            key_input(&key, word, word_at(record, each->words[word]));
        if (!page_find(view, &key, room, sizeof room, &reply, &generation))
            return 0;
        *code = reply.code;
        if (reply.code != SUCCESS)
            return 1;
        struct output output = take(&reply);
        if (output.length != each->size)
            return 0;
        memcpy(record, output.bytes, each->size);
    }
    return 1;
}

/* 1 if the page has the answer: `code` is what the function returns. */
static int answer_from_page(const struct view *view, const struct function *function, unsigned id,
                            const uint64_t *arguments, const struct request *request, int *code)
{
    const struct param *params_of = &params[function->first_param];
    struct key key = key_of(id, request->device);
    for (unsigned i = 0; i < function->param_count; i++)
        if (params_of[i].kind == KIND_EACH)
            return each_from_page(view, &params_of[i], key, (uint8_t *)(uintptr_t)arguments[i],
                                  (uint32_t)arguments[params_of[i].partner], code);
    for (unsigned i = 0; i < request->word_count; i++)
        key_input(&key, i, request->words[i]);

    uint8_t room[SLOT_LIMIT];
    struct reply reply;
    uint64_t generation = 0;
    if (!page_find(view, &key, room, sizeof room, &reply, &generation))
        return 0;
    *code = finish(function, arguments, &reply);
    return 1;
}

/* The short way for the commonest shape: a device, integers, and pointers to fixed sizes (table
 * flag PLAIN). 1 if it was enough; the long way would have done the same. */
static int answer_plainly(const struct view *view, const struct function *function, unsigned id,
                          const uint64_t *arguments, int *code)
{
    const struct param *param = &params[function->first_param + 1 + function->integers];
    const uint64_t *outs = arguments + 1 + function->integers;
    unsigned out_count = function->param_count - 1u - function->integers;
    uint32_t number;
    if (!device_number(arguments[0], &number))
        return 0;
    struct key key = key_of(id, number);
    for (unsigned i = 0; i < function->integers; i++)
        key_input(&key, i, (uint32_t)arguments[1 + i]);
    for (unsigned i = 0; i < out_count; i++)
        if (!outs[i])
            return 0;

    uint8_t room[PLAIN_LIMIT];
    const uint8_t *from = room;
    struct reply reply;
    if (!page_alive(view) ||
        page_try(view, &key, page_generation(view), room, sizeof room, &reply) != FOUND)
        return 0;
    *code = reply.code;
    if (reply.code != SUCCESS)
        return 1;
    for (unsigned i = 0; i < out_count; i++) {
        uint32_t size = param[i].size;
        if (first_word(from) != size)
            return 0;
        if (size == 4)
            memcpy((void *)(uintptr_t)outs[i], from + 4, 4);
        else
            memcpy((void *)(uintptr_t)outs[i], from + 4, size);
        from += 4 + ((size + 3) & ~3u);
    }
    return 1;
}

/* Apart from the short way, so that that stays short: it needs few registers and little stack. */
__attribute__((noinline)) static int answer_fully(const struct view *view,
                                                  const struct function *function, unsigned id,
                                                  const uint64_t *arguments)
{
    const struct param *params_of = &params[function->first_param];
    struct request request = {0, 0, NO_DEVICE, 0, {0, 0, 0}};
    int code = pack_all(params_of, function->param_count, arguments, &request);
    if (code != SUCCESS)
        return code;
    if (!page_alive(view))
        return UNKNOWN;
    if (function->flags & PAGED && view->touched &&
        answer_from_page(view, function, id, arguments, &request, &code))
        return code;
    return ask_socket(view, function, id, arguments);
}

static int answer(unsigned id, const uint64_t *arguments)
{
    const struct function *function = &functions[id];
    int code;
    if (__atomic_load_n(&users, __ATOMIC_ACQUIRE) == 0)
        return UNINITIALIZED;
    const struct view *view = __atomic_load_n(&page_view, __ATOMIC_ACQUIRE);
    if (function->flags & PLAIN && view->touched &&
        answer_plainly(view, function, id, arguments, &code))
        return code;
    return answer_fully(view, function, id, arguments);
}

/* -- the calling process ----------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&library_lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&library_lock);
}

static void after_fork_in_child(void)
{
    pthread_mutex_unlock(&library_lock);
    wire_forked();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

EXPORT int nvmlInitWithFlags(uint32_t flags)
{
    (void)flags; /* they choose how GPUs are attached, and this call attaches none */
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&library_lock);
    int code = SUCCESS;
    while (users == 0 && (code = page_attach(TABLE_FINGERPRINT)) == INIT_BLOCKS) {
        static const struct timespec a_moment = {0, 20000000};
        pthread_mutex_unlock(&library_lock);
        nanosleep(&a_moment, 0);
        pthread_mutex_lock(&library_lock);
    }
    if (code == SUCCESS)
        __atomic_store_n(&users, users + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&library_lock);
    return code;
}

EXPORT int nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

EXPORT int nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

EXPORT int nvmlShutdown(void)
{
    pthread_mutex_lock(&library_lock);
    int code = users ? SUCCESS : UNINITIALIZED;
    if (users)
        __atomic_store_n(&users, users - 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&library_lock);
    return code;
}

EXPORT const char *nvmlErrorString(int code)
{
    unsigned last = sizeof texts / sizeof texts[0] - 1;
    for (unsigned i = 0; i < last; i++)
        if (texts[i].code == code)
            return texts[i].text;
    return texts[last].text;
}

/* The door to NVIDIA's private tables, which this library does not have. */
EXPORT int nvmlInternalGetExportTable(const void **table, const void *id)
{
    (void)id;
    if (table)
        *table = 0;
    return NOT_SUPPORTED;
}

/* For tests: which moment of the node the page shows. Two readings at one generation agree. */
EXPORT uint64_t gputui_fake_generation(void)
{
    const struct view *view = __atomic_load_n(&page_view, __ATOMIC_ACQUIRE);
    return view ? page_generation(view) : 0;
}
