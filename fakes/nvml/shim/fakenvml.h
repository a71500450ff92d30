/* The parts of the fake node's NVML library.
 *
 * The library knows no GPU. It takes a caller's arguments by a generated table, finds the answer in
 * a page that the simulator keeps (page.h), asks for it over a socket where the page has none
 * (wire.c), and puts it where the caller wants it, by the size rules in the table (fakenvml.c).
 * fakes/nvml/page.py and fakes/nvml/endpoint.py are the other side of both.
 */
#ifndef FAKENVML_H
#define FAKENVML_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* nvmlReturn_t, as far as the library itself returns it. */
enum code {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    LIB_RM_VERSION_MISMATCH = 18,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

/* What a parameter is; fakes.nvml.function.Kind says what each means. KIND_SIZE is a U32 that only
 * says how long another parameter's buffer is. */
enum kind {
    KIND_DEVICE,
    KIND_DEVICE_OUT,
    KIND_HANDLE,
    KIND_U32,
    KIND_SIZE,
    KIND_U64,
    KIND_TEXT_IN,
    KIND_STRUCT_IN,
    KIND_OUT,
    KIND_TEXT_OUT,
    KIND_COUNT,
    KIND_LIST,
    KIND_ARRAY,
    KIND_VERSIONED,
    KIND_VERSIONED_LIST,
    KIND_VERSIONED_EACH,
    KIND_EACH,
};

enum param_flag { FIT_CUT = 1, FIT_TRUST = 2, OPTIONAL = 4, ASKING_SUCCEEDS = 8 };
enum function_flag { PAGED = 1, PLAIN = 2 };

struct param {
    uint8_t kind, flags;
    int8_t partner;
    uint8_t version_count, word_count, device_count;
    uint16_t count_at, list_at, record;
    uint32_t size, pad, versions[2];
    uint16_t words[4], devices[1];
};

struct function {
    uint16_t first_param;
    uint8_t param_count, flags;
    uint8_t integers; /* of a PLAIN one: how many it takes between device and pointers */
};

struct text {
    int code;
    const char *text;
};

#define NO_DEVICE 0xffffu

/* A question, as the page's directory has it. `low`: the function (16 bits), the device (16 bits,
 * NO_DEVICE: none), the first input word (32 bits); `high`: the second and the third. */
struct key {
    uint64_t low, high;
};

static inline struct key key_of(unsigned function, uint32_t device)
{
    return (struct key){function | (uint64_t)device << 16, 0};
}

/* Set input word `at` (0 to 2), which is 0 so far. */
static inline void key_input(struct key *key, unsigned at, uint32_t word)
{
    if (at == 0)
        key->low |= (uint64_t)word << 32;
    else
        key->high |= (uint64_t)word << (at == 1 ? 0 : 32);
}

/* An answer: a code and the outputs, each a length of 32 bits and its bytes, padded to four. */
struct reply {
    int code;
    uint32_t length;
    const uint8_t *outputs;
};

#define SLOT_LIMIT 4096u     /* the longest answer that the page holds */
#define PLAIN_LIMIT 256u     /* the longest answer of a plain function (fakenvml.c) */
#define MESSAGE_LIMIT 65536u /* the longest request, and the longest reply */

/* A request being packed. */
struct request {
    uint8_t *bytes; /* MESSAGE_LIMIT of them, or 0: only device and words are wanted */
    size_t length;
    uint32_t device; /* NO_DEVICE so far, or for a function of the system */
    unsigned word_count;
    uint32_t words[3];
};

/* One output of a reply. */
struct output {
    const uint8_t *bytes;
    uint32_t length;
};

/* A device's handle is the address of its element here: valid as long as the process lives. */
#define DEVICE_LIMIT 4096u
extern const uint64_t device_handles[DEVICE_LIMIT];

static inline int device_number(uint64_t handle, uint32_t *number)
{
    uint64_t offset = handle - (uintptr_t)device_handles;
    *number = (uint32_t)(offset / sizeof device_handles[0]);
    return offset < sizeof device_handles && offset % sizeof device_handles[0] == 0;
}

static inline uint64_t device_handle(uint64_t number)
{
    return number < DEVICE_LIMIT ? (uintptr_t)&device_handles[number] : 0;
}

static inline uint32_t word_at(const uint8_t *bytes, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, bytes + offset, 4);
    return word;
}

static inline uint32_t first_word(const void *structure)
{
    return word_at(structure, 0);
}

/* How many bytes a structure has that says this version: NVML puts the size in the word. */
static inline uint32_t versioned_size(const struct param *param, uint32_t version)
{
    return version >> 24 ? version & 0xffffffu : param->size;
}

/* The next output of a reply; one without bytes where it has none. */
static inline struct output take(struct reply *rest)
{
    struct output output = {0, 0};
    if (rest->length < 4)
        return output;
    uint32_t length = first_word(rest->outputs);
    uint64_t padded = ((uint64_t)length + 3) & ~3ull;
    if (padded > rest->length - 4)
        return output;
    output.bytes = rest->outputs + 4;
    output.length = length;
    rest->outputs += 4 + padded;
    rest->length -= 4 + (uint32_t)padded;
    return output;
}

/* fakenvml.c. Taken over every fork(), so that no child finds it held. */
extern pthread_mutex_t library_lock;

/* pack.c */
int pack_all(const struct param *params_of, unsigned count, const uint64_t *arguments,
             struct request *request);

/* deliver.c */
int deliver_all(const struct param *params_of, unsigned count, const uint64_t *arguments,
                const struct reply *reply);

/* page.c */
struct view;
int page_attach(uint32_t fingerprint);
const char *page_directory(void);

/* wire.c */
void wire_forked(void);
int wire_ask(const struct view *view, const uint8_t *request, size_t length, uint8_t *room,
             struct reply *reply);

#endif
