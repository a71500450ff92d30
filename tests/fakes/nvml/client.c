/* An NVML client that knows nothing of the library: it opens it by path, and checks every answer of
 * the node that simulator.py makes up. Every buffer it hands over lies between canaries.
 *
 *     client LIBRARY CHAPTER
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef void *device;

#define GIB (1ull << 30)
#define CANARY 64
#define PATIENCE_S 60 /* on a machine that is busy with other things */

static void *library;
static int failures;

#define CHECK(what, ...)                                                                           \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            failures++;                                                                            \
            printf("line %d: %s: ", __LINE__, #what);                                              \
            printf("" __VA_ARGS__);                                                                \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

/* CALL(name, arguments...) calls an int function with arguments as they are. */
#define CALL(name, ...) (((int (*)())symbol(#name))(__VA_ARGS__))

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        printf("no symbol %s\n", name);
        exit(3);
    }
    return found;
}

/* `size` bytes between canaries, filled with a pattern. */
static void *guarded(size_t size)
{
    unsigned char *block = malloc(size + 2 * CANARY + 16);
    memcpy(block, &size, sizeof size);
    memset(block + 16, 0xa5, size + 2 * CANARY);
    return block + 16 + CANARY;
}

static int intact(void *buffer)
{
    unsigned char *block = (unsigned char *)buffer - CANARY - 16;
    size_t size;
    memcpy(&size, block, sizeof size);
    for (int i = 0; i < CANARY; i++)
        if (block[16 + i] != 0xa5 || block[16 + CANARY + size + i] != 0xa5)
            return 0;
    return 1;
}

/* Whether nobody wrote to bytes `from` to `to` of a guarded buffer. */
static int untouched(void *buffer, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (((unsigned char *)buffer)[i] != 0xa5)
            return 0;
    return 1;
}

static u32 word(void *buffer, size_t at)
{
    u32 value;
    memcpy(&value, (char *)buffer + at, 4);
    return value;
}

static u64 wide(void *buffer, size_t at)
{
    u64 value;
    memcpy(&value, (char *)buffer + at, 8);
    return value;
}

static device gpu(u32 index)
{
    device handle = 0;
    int code = CALL(nvmlDeviceGetHandleByIndex_v2, index, &handle);
    CHECK(code == 0 && handle, "GPU %u: %d", index, code);
    return handle;
}

/* -- chapters ---------------------------------------------------------------------------------- */

/* A function that gives a list of a device's, whatever else it takes. */
typedef int (*lister)(device on, u32 *count, void *list);

/* A list of `n` records of `record` bytes, asked for with every sort of room. `asked` is what asking
 * for the count alone returns; `room_for_null` what NULL does where there would be room. */
static void one_list(const char *name, lister call, device on, u32 n, size_t record, int asked,
                     int room_for_null)
{
    u32 *count = guarded(4);
    *count = 0;
    CHECK(call(on, count, (void *)0) == asked, "%s", name);
    CHECK(*count == n && intact(count), "%s: %u", name, *count);
    u32 sizes[] = {0, n ? n - 1 : 0, n, n + 1};
    for (int i = 0; i < 4; i++) {
        unsigned char *list = guarded(sizes[i] * record);
        int fits = sizes[i] >= n;
        *count = sizes[i];
        int code = call(on, count, list);
        CHECK(code == (sizes[i] == 0 && n ? asked : fits ? 0 : 7), "%s[%u]: %d", name, sizes[i],
              code);
        CHECK(*count == n && intact(count) && intact(list), "%s[%u]", name, sizes[i]);
        CHECK(untouched(list, fits ? n * record : 0, sizes[i] * record), "%s[%u]", name, sizes[i]);
    }
    *count = n + 1;
    if (n)
        CHECK(call(on, count, (void *)0) == room_for_null, "%s", name);
}

static int graphics_clocks(device on, u32 *count, void *list)
{
    return CALL(nvmlDeviceGetSupportedGraphicsClocks, on, 2619u, count, list);
}

static int retired_pages(device on, u32 *count, void *list)
{
    return CALL(nvmlDeviceGetRetiredPages, on, 0u, count, list);
}

static int process_utilization(device on, u32 *count, void *list)
{
    return CALL(nvmlDeviceGetProcessUtilization, on, list, count, (u64)0);
}

static int processes_utilization(device on, u32 *count, void *list)
{
    struct { u32 version, count; u64 since; void *list; } *info = guarded(sizeof *info);
    info->version = 0x1000018;
    info->count = *count;
    info->since = 0;
    info->list = list;
    int code = CALL(nvmlDeviceGetProcessesUtilizationInfo, on, info);
    CHECK(intact(info) && info->version == 0x1000018 && info->list == list);
    *count = info->count;
    return code;
}

static int details(device on, u32 *count, void *list)
{
    struct { u32 version, mode, count; void *list; } *details = guarded(sizeof *details);
    details->version = 0x1000018;
    details->mode = 0;
    details->count = *count;
    details->list = list;
    int code = CALL(nvmlDeviceGetRunningProcessDetailList, on, details);
    CHECK(intact(details) && details->version == 0x1000018 && details->list == list);
    *count = details->count;
    return code;
}

static void lists_once(void)
{
    device busy = gpu(0), idle = gpu(1);
    const char *kinds[] = {"Compute", "Graphics", "MPSCompute"};
    const char *versions[] = {"", "_v2", "_v3"};
    for (int kind = 0; kind < 3; kind++)
        for (int version = 0; version < 3; version++) {
            char name[64];
            snprintf(name, sizeof name, "nvmlDeviceGet%sRunningProcesses%s", kinds[kind],
                     versions[version]);
            lister call = (lister)symbol(name);
            one_list(name, call, busy, 3, version ? 24 : 16, 7, 2);
            one_list(name, call, idle, 0, version ? 24 : 16, 0, 2);
            CHECK(call(busy, (void *)0, (void *)0) == 2, "%s", name);
        }
#define ONE_LIST(name, ...) one_list(#name, (lister)symbol(#name), busy, __VA_ARGS__)
    ONE_LIST(nvmlDeviceGetSupportedMemoryClocks, 2, 4, 7, 2);
    ONE_LIST(nvmlDeviceGetEncoderSessions, 2, 32, 0, 2);
    ONE_LIST(nvmlDeviceGetFBCSessions, 3, 48, 0, 2);
    one_list("graphics clocks", graphics_clocks, busy, 5, 4, 7, 2);
    one_list("retired pages", retired_pages, busy, 2, 8, 7, 2);
    one_list("process utilization", process_utilization, busy, 3, 32, 7, 7);
    one_list("processes utilization", processes_utilization, busy, 3, 40, 7, 7);
    one_list("details", details, busy, 3, 32, 7, 2);
    one_list("details", details, idle, 0, 32, 0, 2);

    struct { u32 pid; u64 memory; } first[4];
    struct { u32 pid; u64 memory; u32 gi, ci; } third[4];
    u32 count = 4;
    CHECK(CALL(nvmlDeviceGetComputeRunningProcesses, busy, &count, first) == 0 && count == 3);
    for (u32 i = 0; i < 3; i++)
        CHECK(first[i].pid == 101 + i && first[i].memory == (101 + i) * GIB);
    count = 4;
    CHECK(CALL(nvmlDeviceGetComputeRunningProcesses_v3, busy, &count, third) == 0 && count == 3);
    for (u32 i = 0; i < 3; i++)
        CHECK(third[i].pid == 101 + i && third[i].memory == (101 + i) * GIB &&
              third[i].gi == 0xffffffff && third[i].ci == 5);
}

static void lists(void)
{
    lists_once(); /* from the socket */
    usleep(150000);
    lists_once(); /* from the page */
}

static void lists_of_their_own_kind(void)
{
    device busy = gpu(0);
    u32 count = 0, *guarded_count = guarded(4);

    /* Utilization since a time: NULL asks, and the time is an input. */
    CHECK(CALL(nvmlDeviceGetProcessUtilization, busy, (void *)0, &count, (u64)0) == 7);
    CHECK(count == 3);
    unsigned char *samples = guarded(3 * 32);
    CHECK(CALL(nvmlDeviceGetProcessUtilization, busy, samples, &count, (u64)0) == 0);
    CHECK(word(samples, 64) == 103 && wide(samples, 8) == 5000 && intact(samples));
    CHECK(CALL(nvmlDeviceGetProcessUtilization, busy, samples, &count, (u64)6000) == 6);

    /* Samples: as many as there is room for; asking succeeds. */
    u32 type = 99;
    CHECK(CALL(nvmlDeviceGetSamples, busy, 0u, (u64)0, &type, &count, (void *)0) == 0);
    CHECK(count == 10 && type == 1, "%u %u", count, type);
    unsigned char *few = guarded(4 * 16);
    *guarded_count = 4;
    CHECK(CALL(nvmlDeviceGetSamples, busy, 0u, (u64)0, &type, guarded_count, few) == 0);
    CHECK(*guarded_count == 4 && wide(few, 48) == 1003 && intact(few) && intact(guarded_count));

    /* Nearest GPUs: handles, as many as asked for. */
    device *near = guarded(2 * sizeof(device));
    count = 0;
    CHECK(CALL(nvmlDeviceGetTopologyNearestGpus, busy, 10u, &count, (void *)0) == 0 && count == 3);
    count = 2;
    CHECK(CALL(nvmlDeviceGetTopologyNearestGpus, busy, 10u, &count, near) == 0);
    CHECK(count == 2 && near[0] == gpu(1) && near[1] == gpu(2) && intact(near));

    /* Two lists with one count. */
    u64 *pages = guarded(16), *times = guarded(16);
    count = 1;
    CHECK(CALL(nvmlDeviceGetRetiredPages_v2, busy, 0u, &count, pages, times) == 7 && count == 2);
    CHECK(untouched(pages, 0, 16) && untouched(times, 0, 16));
    CHECK(CALL(nvmlDeviceGetRetiredPages_v2, busy, 0u, &count, pages, times) == 0);
    CHECK(pages[1] == 0xb000 && times[1] == 12 && intact(pages) && intact(times));

    /* A list inside a structure. */
    struct { u32 version, mode, count; unsigned char *list; } *detail = guarded(sizeof *detail);
    unsigned char *records = guarded(3 * 32);
    memset(detail, 0, sizeof *detail);
    CHECK(CALL(nvmlDeviceGetRunningProcessDetailList, busy, detail) == 25);
    detail->version = 0x1000018;
    detail->mode = 2;
    CHECK(CALL(nvmlDeviceGetRunningProcessDetailList, busy, detail) == 7 && detail->count == 3);
    detail->count = 2;
    detail->list = records;
    CHECK(CALL(nvmlDeviceGetRunningProcessDetailList, busy, detail) == 7 && detail->count == 3);
    CHECK(untouched(records, 0, 96));
    CHECK(CALL(nvmlDeviceGetRunningProcessDetailList, busy, detail) == 0 && detail->count == 3);
    CHECK(word(records, 64) == 103 && word(records, 16) == 2 && intact(records) && intact(detail));
    detail->list = 0;
    CHECK(CALL(nvmlDeviceGetRunningProcessDetailList, busy, detail) == 2);
}

static void texts(void)
{
    device on = gpu(0);
    const char *name = "NVIDIA H100 80GB HBM3";
    u32 length = (u32)strlen(name);
    u32 rooms[] = {0, 1, length, length + 1, length + 20};
    for (int i = 0; i < 5; i++) {
        char *text = guarded(rooms[i]);
        int code = CALL(nvmlDeviceGetName, on, text, rooms[i]);
        CHECK(code == (rooms[i] > length ? 0 : 7), "%u: %d", rooms[i], code);
        CHECK(intact(text));
        if (code == 0)
            CHECK(!strcmp(text, name) && untouched(text, length + 1, rooms[i]));
        else
            CHECK(untouched(text, 0, rooms[i]));
    }
    char *version = guarded(64);
    CHECK(CALL(nvmlDeviceGetGspFirmwareVersion, on, version) == 0 && !strcmp(version, "570.00"));
    CHECK(intact(version) && untouched(version, 7, 64));

    u64 *cpus = guarded(3 * 8);
    CHECK(CALL(nvmlDeviceGetCpuAffinity, on, 3u, cpus) == 0);
    CHECK(cpus[0] == 0xff && cpus[1] == 0xff00 && cpus[2] == 0 && intact(cpus));
    u64 *one = guarded(8);
    CHECK(CALL(nvmlDeviceGetCpuAffinity, on, 1u, one) == 0 && *one == 0xff && intact(one));
    CHECK(CALL(nvmlDeviceGetCpuAffinity, on, 0u, one) == 2);
    u32 *states = guarded(16 * 4);
    CHECK(CALL(nvmlDeviceGetSupportedPerformanceStates, on, states, 64u) == 0 && intact(states));
    CHECK(states[0] == 0 && states[1] == 8 && states[2] == 32 && states[15] == 32);
    u32 *short_states = guarded(4);
    CHECK(CALL(nvmlDeviceGetSupportedPerformanceStates, on, short_states, 4u) == 7);
    CHECK(untouched(short_states, 0, 4) && intact(short_states));
}

static void structures(void)
{
    device on = gpu(0);
    unsigned char *memory = guarded(40);
    u32 good = 0x2000028, bad[] = {0, 1, 0x1000028, 0x2000030, 0xffffffff};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(memory, &bad[i], 4);
        CHECK(CALL(nvmlDeviceGetMemoryInfo_v2, on, memory) == 25, "%x", bad[i]);
        CHECK(untouched(memory, 4, 40) && intact(memory));
    }
    memcpy(memory, &good, 4);
    CHECK(CALL(nvmlDeviceGetMemoryInfo_v2, on, memory) == 0 && intact(memory));
    CHECK(word(memory, 0) == good && wide(memory, 8) == 80 * GIB && wide(memory, 32) == 9 * GIB);

    struct { u32 version, sensor, value; } *temperature = guarded(12);
    temperature->version = 0x100000c;
    temperature->sensor = 0;
    CHECK(CALL(nvmlDeviceGetTemperatureV, on, temperature) == 0 && temperature->value == 55);
    CHECK(intact(temperature));

    u32 versions[] = {0x2000024, 0x3000028};
    for (int i = 0; i < 2; i++) {
        size_t size = versions[i] & 0xffffff;
        unsigned char *fabric = guarded(size);
        memcpy(fabric, &versions[i], 4);
        CHECK(CALL(nvmlDeviceGetGpuFabricInfoV, on, fabric) == 0 && intact(fabric));
        CHECK(fabric[19] == 15 && fabric[size - 1] == 0x11);
    }

    const char *pci[] = {"nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2",
                         "nvmlDeviceGetPciInfo_v3"};
    size_t sizes[] = {32, 36, 68};
    for (int i = 0; i < 3; i++) {
        unsigned char *info = guarded(sizes[i]);
        CHECK(((int (*)())symbol(pci[i]))(on, info) == 0 && intact(info), "%s", pci[i]);
        CHECK(!strcmp((char *)info, "0000:3B:00.0") && word(info, 20) == 0x3b, "%s", pci[i]);
    }

    u32 *current = guarded(4), *pending = guarded(4);
    CHECK(CALL(nvmlDeviceGetEccMode, on, current, pending) == 0 && *current == 1 && *pending == 0);
    CHECK(CALL(nvmlDeviceGetDriverModel_v2, on, current, (void *)0) == 0 && *current == 1);
    u32 *rates = guarded(8);
    CHECK(CALL(nvmlDeviceGetUtilizationRates, on, rates) == 0 && rates[0] == 90 && intact(rates));
    u32 status = 0;
    CHECK(CALL(nvmlDeviceGetP2PStatus, gpu(3), gpu(12), 2u, &status) == 0 && status == 31202);
}

static void fields(void)
{
    struct field { u32 id, scope; u64 stamp, latency; u32 type, code; u64 value; };
    device on = gpu(2);
    for (u32 n = 1; n <= 40; n += 13) {
        for (int again = 0; again < 2; again++) {
            struct field *values = guarded(n * sizeof *values);
            for (u32 i = 0; i < n; i++) {
                values[i].id = i % 5 == 4 ? 2000 : 100 + i;
                values[i].scope = i;
            }
            CHECK(CALL(nvmlDeviceGetFieldValues, on, n, values) == 0 && intact(values));
            for (u32 i = 0; i < n; i++) {
                CHECK(values[i].code == (i % 5 == 4 ? 3u : 0u), "%u of %u", i, n);
                CHECK(values[i].value == values[i].id * 1000ull + i, "%u of %u", i, n);
                CHECK(values[i].stamp == values[0].stamp, "%u of %u", i, n);
            }
            usleep(120000);
        }
    }
    struct field one = {.id = 1};
    CHECK(CALL(nvmlDeviceGetFieldValues, on, 0, &one) == 2);
    CHECK(CALL(nvmlDeviceGetFieldValues, on, -1, &one) == 2);
    CHECK(CALL(nvmlDeviceGetFieldValues, on, 1, (void *)0) == 2);
}

static void errors(void)
{
    device on = gpu(0), lost = (device)((char *)gpu(6) + ((char *)gpu(1) - (char *)gpu(0)));
    u32 value = 0;
    CHECK(CALL(nvmlDeviceGetPowerUsage, (device)0, &value) == 2);
    CHECK(CALL(nvmlDeviceGetPowerUsage, on, (void *)0) == 2);
    CHECK(CALL(nvmlDeviceGetPowerUsage, (device)0x1234, &value) == 2);
    CHECK(CALL(nvmlDeviceGetPowerUsage, (device)((char *)on + 1), &value) == 2);
    CHECK(CALL(nvmlDeviceGetPowerUsage, (device)((char *)on - 8), &value) == 2);
    CHECK(CALL(nvmlDeviceGetPowerUsage, (device)((char *)on + (8 << 20)), &value) == 2);
    CHECK(CALL(nvmlDeviceGetEccMode, on, &value, (void *)0) == 2);
    CHECK(CALL(nvmlDeviceGetP2PStatus, on, (device)0, 0u, &value) == 2);
    CHECK(CALL(nvmlDeviceGetMemoryInfo_v2, on, (void *)0) == 2);
    CHECK(CALL(nvmlDeviceGetName, on, (void *)0, 64u) == 2);
    CHECK(CALL(nvmlDeviceGetHandleByUUID, (void *)0, &lost) == 2);
    device found = 0;
    CHECK(CALL(nvmlDeviceGetHandleByUUID, "GPU-00000000-0000-0000-0000-000000000003", &found) == 0);
    CHECK(found == gpu(3));
    CHECK(CALL(nvmlDeviceGetHandleByUUID, "GPU-nonsense", &found) == 6 && found == gpu(3));
    CHECK(CALL(nvmlDeviceGetHandleByIndex_v2, 20u, &found) == 2);
    CHECK(CALL(nvmlDeviceGetHandleByIndex_v2, 7u, &found) == 999);
    for (int again = 0; again < 3; again++, usleep(120000)) {
        CHECK(CALL(nvmlDeviceGetPowerUsage, lost, &value) == 15);
        CHECK(CALL(nvmlDeviceGetTemperature, lost, 0u, &value) == 15);
        CHECK(CALL(nvmlDeviceGetFanSpeed, on, &value) == 3);
        CHECK(CALL(nvmlDeviceGetTemperature, gpu(19), 0u, &value) == 0 && value == 59);
    }
    /* A mistake in an answer function is an error, and not the node's end. */
    CHECK(CALL(nvmlDeviceGetComputeMode, on, &value) == 999);
    CHECK(CALL(nvmlDeviceGetTemperature, on, 0u, &value) == 0 && value == 40);
    void *table = &value;
    CHECK(CALL(nvmlInternalGetExportTable, &table, (void *)0) == 3 && !table);
}

static void setters(void)
{
    device on = gpu(5);
    u32 limit = 0;
    for (u32 wanted = 300000; wanted < 300050; wanted++) {
        CHECK(CALL(nvmlDeviceSetPowerManagementLimit, on, wanted) == 0);
        CHECK(CALL(nvmlDeviceGetPowerManagementLimit, on, &limit) == 0);
        CHECK(limit == wanted, "%u after %u was set", limit, wanted);
    }
}

static const char *text_of(int code)
{
    return ((const char *(*)(int))symbol("nvmlErrorString"))(code);
}

static void lifecycle(void)
{
    u32 value;
    device on = gpu(4);
    CHECK(CALL(nvmlInit) == 0);
    CHECK(CALL(nvmlInitWithFlags, 1u) == 0);
    CHECK(CALL(nvmlShutdown) == 0);
    CHECK(CALL(nvmlShutdown) == 0);
    CHECK(CALL(nvmlDeviceGetPowerUsage, on, &value) == 0);
    CHECK(CALL(nvmlShutdown) == 0);
    CHECK(CALL(nvmlDeviceGetPowerUsage, on, &value) == 1);
    CHECK(CALL(nvmlDeviceGetCount_v2, (void *)0) == 1);
    CHECK(CALL(nvmlSystemGetDriverVersion, (void *)0, 0u) == 1);
    CHECK(CALL(nvmlShutdown) == 1);
    CHECK(CALL(nvmlInit_v2) == 0);
    CHECK(CALL(nvmlDeviceGetTemperature, on, 0u, &value) == 0 && value == 44);
    CHECK(gpu(4) == on);
    CHECK(!strcmp(text_of(0), "Success") && !strcmp(text_of(15), "GPU is lost"));
    CHECK(!strcmp(text_of(18), "Driver/library version mismatch"));
    CHECK(!strcmp(text_of(999), "Unknown Error") && !strcmp(text_of(-5), "Unknown Error"));
}

static void before_init(void)
{
    u32 value = 0;
    CHECK(CALL(nvmlDeviceGetCount_v2, &value) == 1);
    CHECK(CALL(nvmlShutdown) == 1);
    CHECK(!strcmp(text_of(1), "Uninitialized"));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct event { device device; u64 type, data; u32 gi, ci; };

/* Wait on a set to which nothing happens: 0 if that ends on time. */
static int waits(void *set, u32 milliseconds)
{
    struct event event;
    double began = seconds();
    if (CALL(nvmlEventSetWait_v2, set, &event, milliseconds) != 10)
        return 4;
    double took = seconds() - began;
    return took > milliseconds / 1000.0 - 0.05 && took < 5 ? 0 : 5;
}

/* Read over page and socket, and wait for an event that does not come. */
static int works_for(u32 milliseconds)
{
    u32 value = 0, count = 0;
    void *set = 0;
    if (CALL(nvmlDeviceGetTemperature, gpu(4), 0u, &value) || value != 44)
        return 1;
    if (CALL(nvmlDeviceGetProcessUtilization, gpu(0), (void *)0, &count, (u64)0) != 7)
        return 2;
    if (CALL(nvmlEventSetCreate, &set))
        return 3;
    int code = waits(set, milliseconds);
    return CALL(nvmlEventSetFree, set) ? 6 : code;
}

static int works_here(void)
{
    return works_for(100);
}

static int forked(int depth)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        int code = works_here();
        if (!code && depth)
            code = forked(depth - 1);
        _exit(code);
    }
    int status = 0;
    int code = works_here();
    waitpid(child, &status, 0);
    if (!WIFEXITED(status))
        return 99;
    return code ? code : WEXITSTATUS(status);
}

static void forks(void)
{
    CHECK(forked(1) == 0); /* before the first call */
    CHECK(works_here() == 0);
    CHECK(forked(2) == 0);
    CALL(nvmlShutdown);
    pid_t child = fork();
    if (child == 0) {
        int code = CALL(nvmlInit_v2);
        _exit(code ? 50 + code : works_here());
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    CHECK(CALL(nvmlInit_v2) == 0);
    /* A daemon closes every descriptor, and its next files get their numbers. */
    child = fork();
    if (child == 0) {
        int first = works_here();
        for (int fd = 3; fd < 256; fd++)
            close(fd);
        int pair[2];
        char got[64];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
            _exit(30);
        int second = works_here();
        if (recv(pair[1], got, sizeof got, MSG_DONTWAIT) >= 0 || send(pair[0], "x", 1, 0) != 1 ||
            recv(pair[1], got, sizeof got, MSG_DONTWAIT) != 1)
            _exit(20); /* the library wrote to a stranger, or closed it */
        _exit(first ? first : second ? 10 + second : 0);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
}

/* In a child forked at this moment: read and wait, in a set of its own and in one inherited. */
static void works_in_a_child(int line, int initialised, void *set)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        int code = initialised ? 0 : CALL(nvmlInit_v2);
        if (!code)
            code = works_for(20);
        if (!code && set)
            code = waits(set, 20) ? 40 : 0;
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "forked at line %d: %x", line, status);
}

static void *reads_once(void *unused)
{
    u32 value;
    return CALL(nvmlDeviceGetTemperature, gpu(1), 0u, &value) ? unused : 0;
}

/* fork() after every call of a program that uses everything. */
static void forks_anywhere(void)
{
    u32 value, count = 0;
    char name[96];
    void *set = 0;
    struct event event;
    struct { u32 id, scope; u64 rest[4]; } fields[2] = {{.id = 100}, {.id = 101}};
    pthread_t thread;
#define THEN(...) (__VA_ARGS__, works_in_a_child(__LINE__, 1, set))
    THEN(count);
    THEN(CALL(nvmlDeviceGetCount_v2, &count));
    device on = gpu(3);
    THEN(CALL(nvmlDeviceGetName, on, name, 96u));
    usleep(120000); /* from now on the page has the name */
    THEN(CALL(nvmlDeviceGetName, on, name, 96u));
    THEN(CALL(nvmlDeviceGetComputeRunningProcesses_v3, on, &count, (void *)0));
    THEN(CALL(nvmlDeviceGetFieldValues, on, 2, fields));
    THEN(CALL(nvmlDeviceGetPowerManagementLimit, on, &value));
    THEN(CALL(nvmlDeviceSetPowerManagementLimit, on, 500000u));
    THEN(CALL(nvmlEventSetCreate, &set));
    THEN(CALL(nvmlDeviceRegisterEvents, on, (u64)8, set));
    THEN(CALL(nvmlEventSetWait_v2, set, &event, 0u));
    THEN(pthread_create(&thread, 0, reads_once, 0), pthread_join(thread, 0));
    THEN(CALL(nvmlDeviceGetPowerUsage, (device)0, &value));
    THEN(CALL(nvmlInit_v2));
    THEN(CALL(nvmlShutdown));
    CALL(nvmlEventSetFree, set);
    CALL(nvmlShutdown);
    works_in_a_child(__LINE__, 0, 0);
    CHECK(CALL(nvmlInit_v2) == 0 && works_for(20) == 0);
}

static void raise_xid(u32 index, u32 code)
{
    CHECK(CALL(nvmlDeviceSetComputeMode, gpu(index), code) == 0);
}

/* What waits in a set, Xid by Xid; as many as expected, and then nothing. */
static int has(void *set, u32 count, const u32 *codes)
{
    struct event event;
    for (u32 i = 0; i < count; i++)
        if (CALL(nvmlEventSetWait_v2, set, &event, 0u) || event.data != codes[i] ||
            event.type != 8 || event.gi != 0xffffffff || event.ci != 0xffffffff)
            return 0;
    return CALL(nvmlEventSetWait_v2, set, &event, 0u) == 10;
}

static void *makes_a_set(void *unused)
{
    void *set = 0;
    (void)unused;
    CALL(nvmlEventSetCreate, &set);
    CALL(nvmlDeviceRegisterEvents, gpu(1), (u64)8, set);
    return set;
}

static void events(void)
{
    const u32 codes[] = {13, 45, 45, 74};
    void *set = 0, *other = 0, *of_thread = 0;
    struct event *event = guarded(sizeof *event), *first_form = guarded(24);

    CHECK(CALL(nvmlEventSetCreate, (void *)0) == 2);
    CHECK(CALL(nvmlEventSetCreate, &set) == 0 && CALL(nvmlEventSetCreate, &other) == 0);
    CHECK(set && other && set != other);
    CHECK(CALL(nvmlDeviceRegisterEvents, gpu(0), (u64)0x10, set) == 3);
    CHECK(CALL(nvmlDeviceRegisterEvents, gpu(0), (u64)8, (void *)0) == 2);
    CHECK(CALL(nvmlDeviceRegisterEvents, gpu(0), (u64)8, &set) == 2);
    for (u32 i = 0; i < 2; i++)
        CHECK(CALL(nvmlDeviceRegisterEvents, gpu(i), (u64)8, set) == 0);
    CHECK(CALL(nvmlDeviceRegisterEvents, gpu(1), (u64)8, other) == 0);

    /* Once each, in order, to every set that asked. */
    for (u32 i = 0; i < 4; i++)
        raise_xid(i % 2, codes[i]);
    raise_xid(2, 99);
    CHECK(CALL(nvmlEventSetWait_v2, set, event, 0u) == 0 && intact(event));
    CHECK(event->device == gpu(0) && event->type == 8 && event->data == 13);
    CHECK(event->gi == 0xffffffff && event->ci == 0xffffffff);
    CHECK(CALL(nvmlEventSetWait, set, first_form, 0u) == 0 && intact(first_form));
    CHECK(first_form->device == gpu(1) && first_form->data == 45);
    CHECK(has(set, 2, codes + 2));
    CHECK(has(other, 2, (const u32[]){45, 74}));

    /* A child has its own copy of what its parent has not been told. */
    raise_xid(0, 62);
    pid_t child = fork();
    if (child == 0) {
        int good = has(set, 1, (const u32[]){62}) && has(other, 0, 0);
        CALL(nvmlEventSetFree, other); /* its own */
        _exit(!good);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "%x", status);
    raise_xid(1, 63);
    CHECK(has(set, 2, (const u32[]){62, 63}));
    CHECK(has(other, 1, (const u32[]){63}));

    /* A daemon goes on with the sets of the parent that is gone. */
    int results[2];
    char good = 0;
    CHECK(pipe(results) == 0);
    child = fork();
    if (child == 0) {
        alarm(30);
        void *made = makes_a_set(0);
        if (fork())
            _exit(0);
        usleep(100000);
        raise_xid(1, 31);
        good = has(made, 1, (const u32[]){31}) && has(set, 1, (const u32[]){31});
        _exit(write(results[1], &good, 1) != 1);
    }
    waitpid(child, &status, 0);
    CHECK(read(results[0], &good, 1) == 1 && good);
    CHECK(has(set, 1, (const u32[]){31}));

    /* A set outlives the thread that made it. */
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, makes_a_set, 0);
        pthread_join(thread, &of_thread);
        raise_xid(1, 43);
        CHECK(has(of_thread, 1, (const u32[]){43}));
    }

    /* Also where no other thread has ever asked. */
    child = fork();
    if (child == 0) {
        pthread_t thread;
        alarm(30);
        pthread_create(&thread, 0, makes_a_set, 0);
        pthread_join(thread, &of_thread);
        usleep(50000);
        _exit(waits(of_thread, 20));
    }
    waitpid(child, &status, 0);
    CHECK(status == 0, "%x", status);

    CHECK(CALL(nvmlEventSetFree, set) == 0 && CALL(nvmlEventSetFree, set) == 2);
    CHECK(CALL(nvmlEventSetWait_v2, set, event, 1000u) == 2);
    CHECK(CALL(nvmlEventSetFree, (void *)0) == 2);
}

static void *thread_works(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)works_here();
}

static void threads(void)
{
    pthread_t all[16];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 16; i++)
            pthread_create(&all[i], 0, thread_works, 0);
        for (int i = 0; i < 16; i++) {
            void *code = 0;
            pthread_join(all[i], &code);
            CHECK(!code, "%ld", (long)(intptr_t)code);
        }
    }
}

/* Two readings between which the generation stood still are of one moment. */
static void one_moment(void)
{
    u64 (*generation)(void) = (u64(*)(void))symbol("gputui_fake_generation");
    u64 energy, last = 0, agreed = 0, moved = 0;
    u32 power;
    device on = gpu(9), other = gpu(3);
    double began = seconds();
    while (seconds() < began + 1.0 || (moved <= 20 && seconds() < began + PATIENCE_S)) {
        u64 before = generation();
        int one = CALL(nvmlDeviceGetPowerUsage, on, &power);
        int two = CALL(nvmlDeviceGetTotalEnergyConsumption, other, &energy);
        CHECK(one == 0 && two == 0, "%d %d", one, two);
        if (generation() != before)
            continue;
        CHECK(power == (u32)energy, "generation %lu: %u and %u", before, power, (u32)energy);
        CHECK(energy >= last, "time went back");
        moved += energy != last;
        last = energy;
        agreed++;
        if (failures > 10)
            return;
    }
    printf("%lu readings, %lu moments\n", agreed, moved);
    CHECK(agreed > 100 && moved > 20);
}

/* A long answer is never half of one moment and half of another. */
static void whole(void)
{
    enum { PIDS = 1000 };
    static u32 pids[PIDS];
    u64 moments = 0;
    u32 last = 0;
    device on = gpu(9);
    double began = seconds();
    while (seconds() < began + 1.5 || (moments <= 20 && seconds() < began + PATIENCE_S)) {
        u32 count = PIDS;
        int code = CALL(nvmlDeviceGetAccountingPids, on, &count, pids);
        CHECK(code == 0 && count == PIDS, "%d %u", code, count);
        for (u32 i = 1; i < PIDS; i++)
            if (pids[i] != pids[0]) {
                CHECK(0, "pid %u is of %u, the first of %u", i, pids[i], pids[0]);
                return;
            }
        moments += pids[0] != last;
        last = pids[0];
    }
    printf("%lu moments\n", moments);
    CHECK(moments > 20);
}

int main(int count, char **arguments)
{
    static const struct { const char *name; void (*run)(void); } chapters[] = {
        {"before_init", before_init}, {"lists", lists}, {"own_lists", lists_of_their_own_kind},
        {"texts", texts}, {"structures", structures}, {"fields", fields}, {"errors", errors},
        {"setters", setters}, {"lifecycle", lifecycle}, {"forks", forks},
        {"forks_anywhere", forks_anywhere}, {"events", events}, {"threads", threads},
        {"one_moment", one_moment}, {"whole", whole},
    };
    if (count != 3 || !(library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL))) {
        printf("client LIBRARY CHAPTER: %s\n", count == 3 ? dlerror() : "two arguments");
        return 2;
    }
    for (unsigned i = 0; i < sizeof chapters / sizeof chapters[0]; i++) {
        if (strcmp(chapters[i].name, arguments[2]))
            continue;
        if (i) {
            int code = CALL(nvmlInit_v2);
            CHECK(code == 0, "nvmlInit_v2: %d", code);
        }
        chapters[i].run();
        return failures ? 1 : 0;
    }
    printf("no chapter %s\n", arguments[2]);
    return 2;
}
