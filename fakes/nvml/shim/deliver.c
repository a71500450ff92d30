/* The answer out: every output into the caller's place, by the size rules of the table. */
#include "fakenvml.h"

#include <string.h>

static int is_output(const struct param *param)
{
    switch (param->kind) {
    case KIND_DEVICE_OUT:
    case KIND_OUT:
    case KIND_TEXT_OUT:
    case KIND_LIST:
    case KIND_ARRAY:
    case KIND_VERSIONED:
    case KIND_VERSIONED_LIST:
    case KIND_VERSIONED_EACH:
    case KIND_EACH:
        return 1;
    default:
        return 0;
    }
}

static void copy(void *to, const struct output *from, size_t room)
{
    memcpy(to, from->bytes, from->length < room ? from->length : room);
}

/* Copy `count` records, putting handles where they have devices' numbers. */
static void copy_records(const struct param *param, uint8_t *to, const uint8_t *from,
                         uint32_t count, uint32_t size)
{
    memcpy(to, from, (size_t)count * size);
    if (!param->device_count || size < param->devices[0] + 8u)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *at = to + (size_t)i * size + param->devices[0];
        uint64_t number;
        memcpy(&number, at, sizeof number);
        number = device_handle(number);
        memcpy(at, &number, sizeof number);
    }
}

/* A list: how many records, how many fit, and what that means. */
struct counted {
    uint32_t records, fits;
    int code;
};

static struct counted count_list(const struct param *param, uint32_t records, uint32_t room,
                                 int has_list)
{
    struct counted counted = {records, records, SUCCESS};
    if (param->flags & FIT_TRUST) {
        counted.fits = has_list ? records : 0;
    } else if (!has_list || !room) {
        counted.fits = 0;
        if (records && !(param->flags & ASKING_SUCCEEDS))
            counted.code = INSUFFICIENT_SIZE;
    } else if (records > room) {
        counted.fits = room;
        if (param->flags & FIT_CUT)
            counted.records = room;
        else
            counted.code = INSUFFICIENT_SIZE;
    }
    return counted;
}

static int deliver_list(const struct param *param, const struct output *output, uint8_t *list,
                        uint8_t *count, uint32_t size, int write)
{
    struct counted counted = count_list(param, output->length / size, first_word(count), list != 0);
    if (counted.code != SUCCESS)
        memcpy(count, &counted.records, 4);
    else if (write)
        copy_records(param, list, output->bytes, counted.fits, size);
    return counted.code;
}

static int deliver_text(const struct param *param, const struct output *output,
                        const uint64_t *arguments, const struct param *params_of, char *text,
                        int write)
{
    uint32_t room = param->size, needed = output->length + 1;
    uint32_t *count = 0;
    if (param->partner >= 0) {
        uint64_t partner = arguments[param->partner];
        if (params_of[param->partner].kind == KIND_COUNT) {
            count = (uint32_t *)(uintptr_t)partner;
            room = *count;
        } else {
            room = (uint32_t)partner;
        }
    }
    if (needed > room && !(param->flags & FIT_CUT && room)) {
        if (count)
            *count = needed;
        return INSUFFICIENT_SIZE;
    }
    if (write) {
        uint32_t length = needed > room ? room - 1 : output->length;
        memcpy(text, output->bytes, length);
        text[length] = 0;
        if (count)
            *count = needed;
    }
    return SUCCESS;
}

static int deliver_array(const struct param *param, const struct output *output, uint64_t elements,
                         uint8_t *to, int write)
{
    uint64_t room = (uint32_t)elements * (uint64_t)param->size;
    if (output->length > room && !(param->flags & FIT_CUT))
        return INSUFFICIENT_SIZE;
    if (write) {
        copy(to, output, room);
        for (uint64_t at = output->length; at + 4 <= room; at += 4)
            memcpy(to + at, &param->pad, 4);
    }
    return SUCCESS;
}

/* One output: whether it fits, and with `write`, the bytes into the caller's place. */
static int deliver(const struct param *params_of, unsigned at, const uint64_t *arguments,
                   struct output output, int write)
{
    const struct param *param = &params_of[at];
    uint8_t *to = (uint8_t *)(uintptr_t)arguments[at];
    uint64_t handle = 0;
    uint8_t *list;

    switch (param->kind) {
    case KIND_TEXT_OUT:
        return deliver_text(param, &output, arguments, params_of, (char *)to, write);
    case KIND_ARRAY:
        return deliver_array(param, &output, arguments[param->partner], to, write);
    case KIND_LIST:
        return deliver_list(param, &output, to, (uint8_t *)(uintptr_t)arguments[param->partner],
                            param->size, write);
    case KIND_VERSIONED_LIST:
        memcpy(&list, to + param->list_at, sizeof list);
        return deliver_list(param, &output, list, to + param->count_at, param->record, write);
    default:
        break;
    }
    if (!write || !to)
        return SUCCESS;
    switch (param->kind) {
    case KIND_DEVICE_OUT:
        copy(&handle, &output, sizeof handle);
        handle = device_handle(handle);
        memcpy(to, &handle, sizeof handle);
        break;
    case KIND_OUT:
        if (output.length < param->size)
            copy(to, &output, param->size);
        else
            copy_records(param, to, output.bytes, 1, param->size);
        break;
    case KIND_VERSIONED:
        copy(to, &output, versioned_size(param, first_word(to)));
        break;
    case KIND_VERSIONED_EACH:
        copy(to, &output,
             param->list_at + (size_t)word_at(to, param->count_at) * param->record);
        break;
    case KIND_EACH:
        copy(to, &output, (uint32_t)arguments[param->partner] * (size_t)param->size);
        break;
    default:
        break;
    }
    return SUCCESS;
}

/* A list that was delivered tells its count last: until then the count says how much room is. */
static void tell_counts(const struct param *params_of, unsigned at, const uint64_t *arguments,
                        struct output output)
{
    const struct param *param = &params_of[at];
    uint8_t *structure = (uint8_t *)(uintptr_t)arguments[at], *count = 0;
    int has_list = structure != 0;
    uint32_t size = param->size;
    if (param->kind == KIND_LIST) {
        count = (uint8_t *)(uintptr_t)arguments[param->partner];
    } else if (param->kind == KIND_VERSIONED_LIST) {
        uint64_t list;
        memcpy(&list, structure + param->list_at, sizeof list);
        has_list = list != 0;
        count = structure + param->count_at;
        size = param->record;
    }
    if (count) {
        struct counted counted =
            count_list(param, output.length / size, first_word(count), has_list);
        memcpy(count, &counted.records, 4);
    }
}

/* All outputs, or none: what does not fit is found before anything is written. */
int deliver_all(const struct param *params_of, unsigned count, const uint64_t *arguments,
                const struct reply *reply)
{
    int code = SUCCESS;
    for (int pass = 0; pass < 3; pass++) {
        struct reply rest = *reply;
        for (unsigned i = 0; i < count; i++) {
            if (!is_output(&params_of[i]))
                continue;
            struct output output = take(&rest);
            if (!output.bytes)
                return UNKNOWN;
            if (pass == 2)
                tell_counts(params_of, i, arguments, output);
            else if (code == SUCCESS)
                code = deliver(params_of, i, arguments, output, pass);
        }
        if (code != SUCCESS)
            return code;
    }
    return SUCCESS;
}
