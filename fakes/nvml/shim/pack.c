/* Arguments in: every argument checked by the table, and its input packed into a request. */
#define _GNU_SOURCE
#include "fakenvml.h"

#include <string.h>

static int put(struct request *request, const void *bytes, size_t length)
{
    if (!request->bytes)
        return 1;
    if (length > MESSAGE_LIMIT - request->length)
        return 0;
    memcpy(request->bytes + request->length, bytes, length);
    request->length += length;
    return 1;
}

static int put_word(struct request *request, uint32_t word)
{
    if (request->word_count < 3)
        request->words[request->word_count++] = word;
    return put(request, &word, 4);
}

static int put_counted(struct request *request, const void *bytes, size_t length)
{
    uint32_t counted = (uint32_t)length;
    return length <= MESSAGE_LIMIT && put(request, &counted, 4) && put(request, bytes, length);
}

static int known_version(const struct param *param, uint32_t version)
{
    for (unsigned i = 0; i < param->version_count; i++)
        if (param->versions[i] == version)
            return 1;
    return param->version_count == 0;
}

static int pack_versioned(const struct param *param, const uint8_t *structure,
                          struct request *request)
{
    uint32_t version = first_word(structure);
    if (!known_version(param, version))
        return ARGUMENT_VERSION_MISMATCH;
    uint32_t size = versioned_size(param, version);
    if (param->kind == KIND_VERSIONED_EACH) {
        uint64_t records = word_at(structure, param->count_at);
        uint64_t bytes = param->list_at + records * param->record;
        if (bytes > size)
            return INVALID_ARGUMENT;
        return put_counted(request, structure, bytes) ? SUCCESS : INVALID_ARGUMENT;
    }
    for (unsigned i = 0; i < param->word_count; i++) {
        uint32_t offset = param->words[i];
        if (!put_word(request, offset + 4 <= size ? word_at(structure, offset) : 0))
            return INVALID_ARGUMENT;
    }
    if (param->kind == KIND_VERSIONED_LIST) {
        uint64_t list;
        memcpy(&list, structure + param->list_at, sizeof list);
        if (!list && word_at(structure, param->count_at) && !(param->flags & OPTIONAL))
            return INVALID_ARGUMENT;
    }
    return SUCCESS;
}

static int pack_struct(const struct param *param, const uint8_t *structure, struct request *request)
{
    uint32_t size = param->size;
    if (param->version_count) {
        uint32_t version = first_word(structure);
        if (!known_version(param, version))
            return ARGUMENT_VERSION_MISMATCH;
        size = versioned_size(param, version);
    }
    return put_counted(request, structure, size) ? SUCCESS : INVALID_ARGUMENT;
}

/* One argument: its own rules, and its input into the request. */
static int pack(const struct param *param, unsigned at, const uint64_t *arguments,
                struct request *request)
{
    uint64_t argument = arguments[at];
    const void *pointer = (const void *)(uintptr_t)argument;
    uint32_t number;
    size_t length;

    switch (param->kind) {
    case KIND_DEVICE:
        if (!device_number(argument, &number))
            return INVALID_ARGUMENT;
        if (request->device == NO_DEVICE)
            request->device = number;
        else if (!put_word(request, number))
            return INVALID_ARGUMENT;
        return SUCCESS;
    case KIND_SIZE:
        return SUCCESS;
    case KIND_U32:
        return put_word(request, (uint32_t)argument) ? SUCCESS : INVALID_ARGUMENT;
    case KIND_U64:
    case KIND_HANDLE:
        return put(request, &argument, 8) ? SUCCESS : INVALID_ARGUMENT;
    case KIND_OUT:
        return pointer || param->flags & OPTIONAL ? SUCCESS : INVALID_ARGUMENT;
    case KIND_LIST:
        if (!pointer && !(param->flags & OPTIONAL)) {
            const void *room = (const void *)(uintptr_t)arguments[param->partner];
            if (param->flags & FIT_TRUST || (room && first_word(room)))
                return INVALID_ARGUMENT;
        }
        return SUCCESS;
    default:
        break;
    }
    if (!pointer)
        return INVALID_ARGUMENT;
    switch (param->kind) {
    case KIND_TEXT_IN:
        length = strnlen(pointer, 4096);
        return put_counted(request, pointer, length) ? SUCCESS : INVALID_ARGUMENT;
    case KIND_STRUCT_IN:
        return pack_struct(param, pointer, request);
    case KIND_ARRAY:
        return (uint32_t)arguments[param->partner] ? SUCCESS : INVALID_ARGUMENT;
    case KIND_VERSIONED:
    case KIND_VERSIONED_LIST:
    case KIND_VERSIONED_EACH:
        return pack_versioned(param, pointer, request);
    case KIND_EACH:
        length = (uint32_t)arguments[param->partner] * (size_t)param->size;
        if (!(uint32_t)arguments[param->partner])
            return INVALID_ARGUMENT;
        return put_counted(request, pointer, length) ? SUCCESS : INVALID_ARGUMENT;
    default:
        return SUCCESS;
    }
}

/* Check all arguments, and pack their inputs: SUCCESS, or what the function returns. */
int pack_all(const struct param *params_of, unsigned count, const uint64_t *arguments,
             struct request *request)
{
    for (unsigned i = 0; i < count; i++) {
        int code = pack(&params_of[i], i, arguments, request);
        if (code != SUCCESS)
            return code;
    }
    return SUCCESS;
}
