/* One of many clients: reads every GPU over and over, and notes for each generation what it read.
 *
 *     crowd LIBRARY      prints "ready"; at the end of its stdin:
 *                        "read GENERATION HASH" for each generation, "told GPU:CODE,..." for Xids
 *
 * Any code that a healthy or a broken GPU may return is noted as a reading; any other ends it.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *device;

enum { GPUS = 64, KEPT = 1 << 20, XIDS = 1 << 20, TIMEOUT = 10, LOST = 15, RESET = 16, UNKNOWN = 999 };

struct event { device device; uint64_t type, data; uint32_t gi, ci; };
struct process { uint32_t pid; uint64_t memory; uint32_t gi, ci; };

static void *library;
static device gpus[GPUS];
static unsigned gpu_count, xid_count;
static struct { uint64_t generation, hash; } kept[KEPT];
static struct { unsigned gpu; uint64_t code; } xids[XIDS];
static void *set;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        printf("no symbol %s\n", name);
        exit(3);
    }
    return found;
}

#define CALL(name, ...) (((int (*)())symbol(#name))(__VA_ARGS__))

static uint64_t hash;

static void note(const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

/* Note a reading: its code, and its value where there is one. */
static void noted(const char *name, int code, const void *value, size_t length)
{
    if (code && code != LOST && code != RESET) {
        printf("%s: %d\n", name, code);
        exit(4);
    }
    note(&code, sizeof code);
    if (!code)
        note(value, length);
}

#define READ(name, type, ...)                                                                      \
    do {                                                                                           \
        type value;                                                                                \
        memset(&value, 0, sizeof value);                                                           \
        noted(#name, CALL(name, __VA_ARGS__, &value), &value, sizeof value);                       \
    } while (0)

static void read_gpu(device gpu)
{
    struct process processes[16];
    uint32_t count = 16;
    struct { uint64_t words[3]; } one;
    READ(nvmlDeviceGetTemperature, uint32_t, gpu, 0);
    READ(nvmlDeviceGetPowerUsage, uint32_t, gpu);
    READ(nvmlDeviceGetEnforcedPowerLimit, uint32_t, gpu);
    READ(nvmlDeviceGetClockInfo, uint32_t, gpu, 1);
    READ(nvmlDeviceGetTotalEnergyConsumption, uint64_t, gpu);
    READ(nvmlDeviceGetTotalEccErrors, uint64_t, gpu, 1, 0);
    READ(nvmlDeviceGetUtilizationRates, uint64_t, gpu);
    int code = CALL(nvmlDeviceGetMemoryInfo, gpu, &one);
    noted("nvmlDeviceGetMemoryInfo", code, &one, sizeof one);
    memset(processes, 0, sizeof processes);
    code = CALL(nvmlDeviceGetComputeRunningProcesses_v3, gpu, &count, processes);
    noted("nvmlDeviceGetComputeRunningProcesses_v3", code, processes, sizeof processes);
}

/* Take what the driver has to tell; 0 once it has nothing more. */
static int told(void)
{
    struct event event;
    int code = CALL(nvmlEventSetWait_v2, set, &event, 0u);
    if (code && code != TIMEOUT && code != LOST) {
        printf("nvmlEventSetWait_v2: %d\n", code);
        exit(5);
    }
    if (code || xid_count == XIDS)
        return 0;
    for (unsigned i = 0; i < gpu_count; i++)
        if (gpus[i] == event.device)
            xids[xid_count].gpu = i;
    xids[xid_count++].code = event.data;
    return 1;
}

int main(int count, char **arguments)
{
    if (count != 2 || !(library = dlopen(arguments[1], RTLD_NOW))) {
        printf("crowd LIBRARY: %s\n", count == 2 ? dlerror() : "one argument");
        return 2;
    }
    uint64_t (*generation)(void) = (uint64_t(*)(void))symbol("gputui_fake_generation");
    struct pollfd input = {.fd = 0, .events = POLLIN};
    unsigned used = 0;
    int failed = CALL(nvmlInit_v2) || CALL(nvmlDeviceGetCount_v2, &gpu_count) ||
                 CALL(nvmlEventSetCreate, &set);
    for (unsigned i = 0; !failed && i < gpu_count; i++)
        failed = CALL(nvmlDeviceGetHandleByIndex_v2, i, &gpus[i]) ||
                 CALL(nvmlDeviceRegisterEvents, gpus[i], (uint64_t)8, set);
    if (failed)
        return 6;
    puts("ready");
    fflush(stdout);
    for (unsigned round = 0; poll(&input, 1, 10) == 0; round++) {
        uint64_t before = generation();
        hash = 0xcbf29ce484222325u;
        for (unsigned i = 0; i < gpu_count; i++)
            read_gpu(gpus[i]);
        if (generation() == before && used < KEPT) {
            kept[used].generation = before;
            kept[used++].hash = hash;
        }
        if (round % 8 == 0)
            while (told())
                ;
    }
    while (told())
        ;
    for (unsigned i = 0; i < used; i++)
        printf("read %lu %lx\n", (unsigned long)kept[i].generation, (unsigned long)kept[i].hash);
    printf("told ");
    for (unsigned i = 0; i < xid_count; i++)
        printf("%s%u:%lu", i ? "," : "", xids[i].gpu, (unsigned long)xids[i].code);
    puts("");
    return 0;
}
