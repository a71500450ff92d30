/* The shared page: finding the node and mapping what it shares (page.h reads it). */
#define _GNU_SOURCE
#include "page.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x316c6d766e757467ull /* "gtunvml1" */
#define LAYOUT 1u
#define FIXED_DIRECTORY "/run/gputui-node"
#define PATH_BYTES 4096

const struct view *page_view;

static char directory[PATH_BYTES - 64];
static dev_t mapped_dev;
static ino_t mapped_ino;

static int is_node(const char *path)
{
    char name[PATH_BYTES];
    snprintf(name, sizeof name, "%s/page", path);
    return access(name, R_OK) == 0;
}

static int try_directory(const char *path, size_t length)
{
    if (length >= sizeof directory)
        return 0;
    char tried[sizeof directory];
    memcpy(tried, path, length);
    tried[length] = 0;
    if (!is_node(tried))
        return 0;
    memcpy(directory, tried, length + 1);
    return 1;
}

/* Beside the library itself first, so that several nodes coexist; then where the environment
 * says; then a fixed place, for environments that were wiped. */
static int find_directory(void)
{
    Dl_info self;
    if (dladdr((void *)(uintptr_t)&page_attach, &self) && self.dli_fname) {
        const char *slash = strrchr(self.dli_fname, '/');
        if (slash && try_directory(self.dli_fname, (size_t)(slash - self.dli_fname)))
            return 1;
    }
    const char *named = getenv("GPUTUI_FAKE_NODE");
    if (named && try_directory(named, strlen(named)))
        return 1;
    return try_directory(FIXED_DIRECTORY, strlen(FIXED_DIRECTORY));
}

const char *page_directory(void)
{
    return directory;
}

static int open_beside(const char *name, int flags, struct stat *status)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, flags | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, status) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Where clients mark what they read. Without it (a file system that may not be written) nothing
 * would keep the answers in the page fresh: then every question goes over the socket. */
static uint8_t *map_touched(void)
{
    struct stat status;
    void *map = MAP_FAILED;
    int fd = open_beside("touched", O_RDWR, &status);
    if (fd >= 0 && status.st_size >= TOUCHED_BYTES)
        map = mmap(0, TOUCHED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return map == MAP_FAILED ? 0 : map;
}

/* Map a page of `bytes`: SUCCESS, or why it cannot be used. One of another layout, or made with
 * another table, is what NVML calls a mismatch of driver and library. */
static int map_page(int fd, size_t bytes, uint32_t fingerprint)
{
    static const uint32_t always_alive = 1;
    if (bytes < HEADER_BYTES)
        return LIB_RM_VERSION_MISMATCH;
    void *map = mmap(0, bytes, PROT_READ, MAP_SHARED, fd, 0);
    struct view *view = malloc(sizeof *view);
    if (map == MAP_FAILED || !view) {
        free(view);
        return UNKNOWN;
    }
    const struct header *header = map;
    if (header->magic != MAGIC || header->layout != LAYOUT || header->fingerprint != fingerprint ||
        header->bank_bytes < sizeof(struct bank) || header->bank_bytes > bytes ||
        HEADER_BYTES + 2 * header->bank_bytes > bytes || header->owner_at > HEADER_BYTES - 4) {
        munmap(map, bytes);
        free(view);
        return LIB_RM_VERSION_MISMATCH;
    }
    view->header = header;
    view->banks = (const uint8_t *)map + HEADER_BYTES;
    view->bank_bytes = header->bank_bytes;
    view->owner = header->owner_at
                      ? (const uint32_t *)((const uint8_t *)map + header->owner_at)
                      : &always_alive;
    view->touched = map_touched();
    __atomic_store_n(&page_view, view, __ATOMIC_RELEASE);
    return SUCCESS;
}

/* Map the node's page, unless it is mapped already, and say what nvmlInit returns. Called with the
 * library's lock held. */
int page_attach(uint32_t fingerprint)
{
    struct stat status;
    int fd = find_directory() ? open_beside("page", O_RDONLY, &status) : -1;
    if (fd < 0)
        return DRIVER_NOT_LOADED;
    int code = SUCCESS;
    if (!page_view || status.st_dev != mapped_dev || status.st_ino != mapped_ino) {
        code = map_page(fd, (size_t)status.st_size, fingerprint);
        mapped_dev = status.st_dev;
        mapped_ino = status.st_ino;
    }
    close(fd);
    if (code != SUCCESS)
        return code;
    if (!page_alive(page_view))
        return DRIVER_NOT_LOADED;
    return (int)__atomic_load_n(&page_view->header->init_code, __ATOMIC_RELAXED);
}
