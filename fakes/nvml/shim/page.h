/* Reading answers from the shared page while the simulator writes it.
 *
 * The page holds two banks, each a whole set of answers. The simulator fills the idle one and then
 * publishes it by adding one to `generation`, whose lowest bit names the bank in force. A reader
 * copies an answer out and looks at the generation again: had it changed, the bank may have been
 * refilled meanwhile, and the reader starts over. A simulator that dies while writing leaves the
 * bank in force whole. fakes/nvml/page.py and slots.py are the writer.
 *
 * Here and not in page.c, so that the commonest readings are compiled in one piece: they are timed
 * in nanoseconds.
 */
#ifndef PAGE_H
#define PAGE_H

#include "fakenvml.h"

#define HEADER_BYTES 4096u
#define TOUCHED_BYTES 16384u
#define ATTEMPTS 1000
#define ASK (-1) /* instead of a code: this question goes over the socket */
#define INIT_BLOCKS (-1) /* in place of what nvmlInit returns: it does not return */
#define OWNER_MASK 0x3fffffffu /* FUTEX_TID_MASK */

struct header {
    uint64_t magic;
    uint32_t layout, fingerprint;
    uint64_t generation;
    uint32_t init_code;
    uint32_t owner_at; /* where the robust mutex's owner word is, or 0: this system has none */
    uint8_t owner_mutex[64];
    uint64_t bank_bytes;
};

struct bank {
    uint32_t entry_count; /* a power of two */
    uint32_t used_bytes;
    int64_t at_us;
};

struct entry {
    struct key key;
    uint32_t offset; /* of the slot in its bank; 0: no entry */
    uint32_t touched;
};

struct slot {
    int32_t code;
    uint32_t length; /* the outputs follow */
};

/* A page as this process has it mapped. Never changed and never freed: threads may be reading. */
struct view {
    const struct header *header;
    const uint8_t *banks;
    uint64_t bank_bytes;
    const uint32_t *owner;
    uint8_t *touched;
};

extern const struct view *page_view; /* set by page_attach() */

/* Whether the simulator lives. It holds a robust mutex: when it ends, however it ends, the kernel
 * takes its thread id out of the mutex's word. */
static inline int page_alive(const struct view *view)
{
    return (__atomic_load_n(view->owner, __ATOMIC_RELAXED) & OWNER_MASK) != 0;
}

/* How often the page was published. */
static inline uint64_t page_generation(const struct view *view)
{
    return __atomic_load_n(&view->header->generation, __ATOMIC_ACQUIRE);
}

static inline uint32_t page_hash(const struct key *key)
{
    uint64_t mixed = key->low * 0x9e3779b97f4a7c15u ^ key->high * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(mixed >> 32);
}

/* The entry for `key` in a bank of `limit` bytes, or 0. The bank may be changing: every number
 * read from it is checked before it is used. */
static inline const struct entry *page_entry(const uint8_t *bank, uint64_t limit,
                                             const struct key *key)
{
    const struct entry *entries = (const struct entry *)(bank + sizeof(struct bank));
    uint32_t count = ((const volatile struct bank *)bank)->entry_count;
    uint32_t at = page_hash(key);
    if (count & (count - 1) || count > limit / 32) /* an entry has 24 bytes */
        return 0;
    for (uint32_t probes = 0; probes < count; probes++, at++) {
        const struct entry *entry = &entries[at & (count - 1)];
        if (entry->key.low == key->low && entry->key.high == key->high)
            return entry;
        if (!entry->offset)
            return 0;
    }
    return 0;
}

enum found { ABSENT, FOUND, MOVED };

/* Try once to copy the answer to `key` into `room` (`room_bytes`, at least 16). ABSENT: the page
 * has none, or none that fits. MOVED: the bank was left while it was read. */
static inline __attribute__((always_inline)) enum found
page_try(const struct view *view, const struct key *key, uint64_t generation, uint8_t *room,
         uint32_t room_bytes, struct reply *reply)
{
    uint64_t limit = view->bank_bytes;
    const uint8_t *bank = view->banks + (generation & 1 ? limit : 0);
    const struct entry *entry = page_entry(bank, limit, key);
    if (!entry)
        return ABSENT;
    uint32_t mark = entry->touched % TOUCHED_BYTES;
    uint64_t offset = ((const volatile struct entry *)entry)->offset;
    if (offset + sizeof(struct slot) + 16 > limit)
        return ABSENT;
    const struct slot *slot = (const struct slot *)(bank + offset);
    reply->code = (int)slot->code;
    reply->length = slot->length;
    reply->outputs = room;
    if (reply->length <= 16)
        memcpy(room, slot + 1, 16); /* most answers; of fixed size it is two instructions */
    else if (reply->length <= room_bytes && offset + sizeof(struct slot) + reply->length <= limit)
        memcpy(room, slot + 1, reply->length);
    else
        reply->code = ASK;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (page_generation(view) != generation)
        return MOVED;
    if (!view->touched[mark])
        view->touched[mark] = 1;
    return reply->code == ASK ? ABSENT : FOUND;
}

/* Copy the answer to `key` into `room`: 1 if the page has it and it fits, 0 if not. `generation`,
 * where it is not 0 on entry, must still be in force; else it becomes the one read. */
static inline int page_find(const struct view *view, const struct key *key, uint8_t *room,
                            uint32_t room_bytes, struct reply *reply, uint64_t *generation)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t now = page_generation(view);
        if (*generation && now != *generation)
            return 0;
        enum found found = page_try(view, key, now, room, room_bytes, reply);
        if (found == FOUND)
            *generation = now;
        if (found != MOVED)
            return found == FOUND;
    }
    return 0;
}

#endif
