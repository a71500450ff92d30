/* A client compiled from NVIDIA's own public header and linked to the library by its name: whether a
 * real node's NVML keeps to it. Every buffer ends where memory ends, so that a byte too many, read or
 * written, is a crash; before it stands a canary.
 *
 *     by_header     asks for an event by a line "xid GPU CODE" on stdout, awaits one on stdin
 *                   exit 0: nothing wrong; else what was wrong is on stderr
 */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define FRONT 64u
#define FILLING 0xa5

static int failures;
static const char *subject = ""; /* what is being asked for */

#define CHECK(what, ...)                                                                           \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            failures++;                                                                            \
            fprintf(stderr, "line %d: %s: %s", __LINE__, subject, #what);                          \
            fprintf(stderr, " " __VA_ARGS__);                                                      \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)

/* A place for up to PAGES pages of data, with a page behind that nobody may touch. */
struct place {
    unsigned char *base;
    size_t size;
};
enum { PLACES = 6, PAGES = 8 };
static struct place places[PLACES];

/* `size` bytes, filled, at the end of place `which`. */
static void *guarded(unsigned which, size_t size)
{
    struct place *place = &places[which];
    if (!place->base) {
        place->base = mmap(0, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place->base == MAP_FAILED || mprotect(place->base + PAGES * PAGE, PAGE, PROT_NONE))
            exit(3);
    }
    place->size = size;
    memset(place->base + PAGES * PAGE - size - FRONT, FILLING, size + FRONT);
    return place->base + PAGES * PAGE - size;
}

static int filled(const unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != FILLING)
            return 0;
    return 1;
}

/* Whether nothing before a place's buffer was written. */
static int intact(unsigned which)
{
    const struct place *place = &places[which];
    return filled(place->base + PAGES * PAGE - place->size - FRONT, FRONT);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* -- one value and several -------------------------------------------------------------------- */

#define FITS(code) ((code) == NVML_SUCCESS || (code) == NVML_ERROR_NOT_SUPPORTED)

/* A function whose one output is a T: within its bounds; NULL and a handle of nobody are refused. */
#define VALUE(function, T, ...)                                                                    \
    do {                                                                                           \
        T *value = guarded(0, sizeof(T));                                                          \
        nvmlReturn_t code = function(gpu, ##__VA_ARGS__, value);                                   \
        CHECK(FITS(code) && intact(0), #function ": %d", code);                                    \
        CHECK(code == 0 || filled((void *)value, sizeof(T)), #function);                           \
        CHECK(function(gpu, ##__VA_ARGS__, 0) == NVML_ERROR_INVALID_ARGUMENT, #function);          \
        CHECK(function(nobody, ##__VA_ARGS__, value) == NVML_ERROR_INVALID_ARGUMENT, #function);   \
    } while (0)

#define TWO_VALUES(function, T, U)                                                                 \
    do {                                                                                           \
        T *first = guarded(0, sizeof(T));                                                          \
        U *second = guarded(1, sizeof(U));                                                         \
        CHECK(FITS(function(gpu, first, second)) && intact(0) && intact(1), #function);            \
        CHECK(function(gpu, 0, second) == NVML_ERROR_INVALID_ARGUMENT, #function);                 \
        CHECK(function(gpu, first, 0) == NVML_ERROR_INVALID_ARGUMENT, #function);                  \
    } while (0)

static void values(nvmlDevice_t gpu)
{
    nvmlDevice_t nobody = (nvmlDevice_t)(uintptr_t)0x5a5a5a5a5a58;
    VALUE(nvmlDeviceGetPowerUsage, unsigned);
    VALUE(nvmlDeviceGetEnforcedPowerLimit, unsigned);
    VALUE(nvmlDeviceGetPowerManagementLimit, unsigned);
    VALUE(nvmlDeviceGetPowerManagementDefaultLimit, unsigned);
    VALUE(nvmlDeviceGetTotalEnergyConsumption, unsigned long long);
    VALUE(nvmlDeviceGetTemperature, unsigned, NVML_TEMPERATURE_GPU);
    VALUE(nvmlDeviceGetTemperatureThreshold, unsigned, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
    VALUE(nvmlDeviceGetClockInfo, unsigned, NVML_CLOCK_SM);
    VALUE(nvmlDeviceGetMaxClockInfo, unsigned, NVML_CLOCK_MEM);
    VALUE(nvmlDeviceGetMaxCustomerBoostClock, unsigned, NVML_CLOCK_SM);
    VALUE(nvmlDeviceGetClock, unsigned, NVML_CLOCK_SM, NVML_CLOCK_ID_CURRENT);
    VALUE(nvmlDeviceGetUtilizationRates, nvmlUtilization_t);
    VALUE(nvmlDeviceGetMemoryInfo, nvmlMemory_t);
    VALUE(nvmlDeviceGetBAR1MemoryInfo, nvmlBAR1Memory_t);
    VALUE(nvmlDeviceGetConfComputeMemSizeInfo, nvmlConfComputeMemSizeInfo_t);
    VALUE(nvmlDeviceGetPerformanceState, nvmlPstates_t);
    VALUE(nvmlDeviceGetPowerState, nvmlPstates_t);
    VALUE(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long);
    VALUE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long);
    VALUE(nvmlDeviceGetViolationStatus, nvmlViolationTime_t, NVML_PERF_POLICY_THERMAL);
    VALUE(nvmlDeviceGetPcieThroughput, unsigned, NVML_PCIE_UTIL_TX_BYTES);
    VALUE(nvmlDeviceGetCurrPcieLinkGeneration, unsigned);
    VALUE(nvmlDeviceGetCurrPcieLinkWidth, unsigned);
    VALUE(nvmlDeviceGetMaxPcieLinkGeneration, unsigned);
    VALUE(nvmlDeviceGetMaxPcieLinkWidth, unsigned);
    VALUE(nvmlDeviceGetPcieLinkMaxSpeed, unsigned);
    VALUE(nvmlDeviceGetPcieReplayCounter, unsigned);
    VALUE(nvmlDeviceGetPciInfo, nvmlPciInfo_t);
    VALUE(nvmlDeviceGetPciInfo_v2, nvmlPciInfo_t);
    VALUE(nvmlDeviceGetPciInfo_v3, nvmlPciInfo_t);
    VALUE(nvmlDeviceGetIndex, unsigned);
    VALUE(nvmlDeviceGetMinorNumber, unsigned);
    VALUE(nvmlDeviceGetBrand, nvmlBrandType_t);
    VALUE(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t);
    VALUE(nvmlDeviceGetComputeMode, nvmlComputeMode_t);
    VALUE(nvmlDeviceGetPersistenceMode, nvmlEnableState_t);
    VALUE(nvmlDeviceGetDisplayMode, nvmlEnableState_t);
    VALUE(nvmlDeviceGetDisplayActive, nvmlEnableState_t);
    VALUE(nvmlDeviceGetFanSpeed, unsigned);
    VALUE(nvmlDeviceGetNumaNodeId, unsigned);
    VALUE(nvmlDeviceGetTotalEccErrors, unsigned long long, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
          NVML_VOLATILE_ECC);
    VALUE(nvmlDeviceGetMemoryErrorCounter, unsigned long long, NVML_MEMORY_ERROR_TYPE_CORRECTED,
          NVML_AGGREGATE_ECC, NVML_MEMORY_LOCATION_DRAM);
    VALUE(nvmlDeviceGetRowRemapperHistogram, nvmlRowRemapperHistogramValues_t);
    VALUE(nvmlDeviceGetNvLinkState, nvmlEnableState_t, 0);
    VALUE(nvmlDeviceGetNvLinkCapability, unsigned, 0, NVML_NVLINK_CAP_P2P_SUPPORTED);
    VALUE(nvmlDeviceGetNvLinkErrorCounter, unsigned long long, 0, NVML_NVLINK_ERROR_DL_REPLAY);
    VALUE(nvmlDeviceGetNvLinkRemoteDeviceType, nvmlIntNvLinkDeviceType_t, 0);
    VALUE(nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlPciInfo_t, 0);
    VALUE(nvmlDeviceGetGpuFabricInfo, nvmlGpuFabricInfo_t);
    VALUE(nvmlDeviceGetSupportedEventTypes, unsigned long long);
    VALUE(nvmlDeviceIsMigDeviceHandle, unsigned);
    VALUE(nvmlDeviceGetMaxMigDeviceCount, unsigned);
    VALUE(nvmlDeviceGetHostVgpuMode, nvmlHostVgpuMode_t);
    VALUE(nvmlDeviceGetAttributes_v2, nvmlDeviceAttributes_t);
    TWO_VALUES(nvmlDeviceGetMigMode, unsigned, unsigned);
    TWO_VALUES(nvmlDeviceGetEccMode, nvmlEnableState_t, nvmlEnableState_t);
    TWO_VALUES(nvmlDeviceGetEncoderUtilization, unsigned, unsigned);
    TWO_VALUES(nvmlDeviceGetDecoderUtilization, unsigned, unsigned);
    TWO_VALUES(nvmlDeviceGetCudaComputeCapability, int, int);
    TWO_VALUES(nvmlDeviceGetPowerManagementLimitConstraints, unsigned, unsigned);
    TWO_VALUES(nvmlDeviceGetGspFirmwareMode, unsigned, unsigned);
    unsigned *rows[4];
    for (unsigned i = 0; i < 4; i++)
        rows[i] = guarded(i, sizeof(unsigned));
    CHECK(nvmlDeviceGetRemappedRows(gpu, rows[0], rows[1], rows[2], rows[3]) == 0);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(intact(i) && *rows[i] == 0);
        unsigned *missing[4] = {rows[0], rows[1], rows[2], rows[3]};
        missing[i] = 0;
        CHECK(nvmlDeviceGetRemappedRows(gpu, missing[0], missing[1], missing[2], missing[3]) == 2);
    }
    nvmlMemory_t memory;
    CHECK(nvmlDeviceGetMemoryInfo(gpu, &memory) == 0);
    CHECK(memory.total == memory.free + memory.used && memory.used > 60ull << 30);
}

/* -- versioned structures ---------------------------------------------------------------------- */

/* A structure that says its version: the header's is taken, every other one refused untouched. */
#define VERSIONED(call, T, good)                                                                   \
    do {                                                                                           \
        T *it = guarded(0, sizeof(T));                                                             \
        unsigned wrong[] = {0, 1, (good) + 8, (good) + (9u << 24), sizeof(T), ~0u};                \
        for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {                            \
            if (wrong[i] == (good))                                                                \
                continue;                                                                          \
            it->version = wrong[i];                                                                \
            CHECK((call) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH, #call " %x", wrong[i]);          \
            CHECK(it->version == wrong[i] && filled((unsigned char *)it + 4, sizeof(T) - 4));      \
        }                                                                                          \
        memset(it, 0, sizeof(T));                                                                  \
        it->version = (good);                                                                      \
        nvmlReturn_t code = (call);                                                                \
        CHECK(FITS(code) && it->version == (good) && intact(0), #call ": %d", code);               \
        it = 0;                                                                                    \
        CHECK((call) == NVML_ERROR_INVALID_ARGUMENT, #call);                                       \
    } while (0)

static void versions(nvmlDevice_t gpu)
{
    VERSIONED(nvmlDeviceGetMemoryInfo_v2(gpu, it), nvmlMemory_v2_t, nvmlMemory_v2);
    VERSIONED(nvmlDeviceGetTemperatureV(gpu, it), nvmlTemperature_v1_t, nvmlTemperature_v1);
    VERSIONED(nvmlDeviceGetMarginTemperature(gpu, it), nvmlMarginTemperature_v1_t,
              nvmlMarginTemperature_v1);
    VERSIONED(nvmlDeviceGetPciInfoExt(gpu, it), nvmlPciInfoExt_v1_t, nvmlPciInfoExt_v1);
    VERSIONED(nvmlDeviceGetPlatformInfo(gpu, it), nvmlPlatformInfo_v2_t, nvmlPlatformInfo_v2);
    VERSIONED(nvmlDeviceGetSramEccErrorStatus(gpu, it), nvmlEccSramErrorStatus_v1_t,
              nvmlEccSramErrorStatus_v1);
    VERSIONED(nvmlDeviceGetFanSpeedRPM(gpu, it), nvmlFanSpeedInfo_v1_t, nvmlFanSpeedInfo_v1);
    VERSIONED(nvmlDeviceGetCoolerInfo(gpu, it), nvmlCoolerInfo_v1_t, nvmlCoolerInfo_v1);
    VERSIONED(nvmlDeviceGetClockOffsets(gpu, it), nvmlClockOffset_v1_t, nvmlClockOffset_v1);
    VERSIONED(nvmlDeviceGetPerformanceModes(gpu, it), nvmlDevicePerfModes_v1_t,
              nvmlDevicePerfModes_v1);
    VERSIONED(nvmlDeviceGetCurrentClockFreqs(gpu, it), nvmlDeviceCurrentClockFreqs_v1_t,
              nvmlDeviceCurrentClockFreqs_v1);
    VERSIONED(nvmlSystemGetConfComputeSettings(it), nvmlSystemConfComputeSettings_v1_t,
              nvmlSystemConfComputeSettings_v1);
    VERSIONED(nvmlSystemGetDriverBranch(it, 80), nvmlSystemDriverBranchInfo_v1_t,
              nvmlSystemDriverBranchInfo_v1);
    VERSIONED(nvmlGpmQueryDeviceSupport(gpu, it), nvmlGpmSupport_t, NVML_GPM_SUPPORT_VERSION);
    for (int newer = 0; newer < 2; newer++) {
        size_t size = newer ? sizeof(nvmlGpuFabricInfo_v3_t) : sizeof(nvmlGpuFabricInfo_v2_t);
        nvmlGpuFabricInfoV_t *fabric = guarded(0, size);
        fabric->version = newer ? nvmlGpuFabricInfo_v3 : nvmlGpuFabricInfo_v2;
        CHECK(nvmlDeviceGetGpuFabricInfoV(gpu, fabric) == 0 && intact(0));
        CHECK(fabric->state == NVML_GPU_FABRIC_STATE_COMPLETED && fabric->status == 0);
        fabric->version = 0;
        CHECK(nvmlDeviceGetGpuFabricInfoV(gpu, fabric) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    }
}

/* -- lists ------------------------------------------------------------------------------------- */

/* Asks for a list: how many there is room for and are, where they go. */
typedef nvmlReturn_t (*asker)(nvmlDevice_t gpu, unsigned *count, void *list);

/* A list of records of so many bytes: asked with NULL, and with room for 0, n-1, n, n+1. `asked` is
 * what asking with no room returns where there is something. */
static void list(const char *name, asker ask, nvmlDevice_t gpu, size_t record, nvmlReturn_t asked)
{
    subject = name;
    unsigned *count = guarded(0, sizeof(unsigned));
    *count = 0;
    nvmlReturn_t code = ask(gpu, count, 0);
    unsigned n = *count;
    CHECK(code == (n ? asked : NVML_SUCCESS) && intact(0), ": %d, %u", code, n);
    for (unsigned room = n > 1 ? n - 1 : 0; room <= n + 1; room++) {
        unsigned char *records = guarded(1, room * record);
        *count = room;
        code = ask(gpu, count, records);
        if (room >= n) {
            CHECK(code == 0 && *count == n, "[%u of %u]: %d, %u", room, n, code, *count);
            CHECK(filled(records + n * record, (room - n) * record), "[%u]", room);
            CHECK(!n || !filled(records, n * record), "[%u]", room);
        } else {
            CHECK(code == (room ? NVML_ERROR_INSUFFICIENT_SIZE : asked), "[%u]: %d", room, code);
            CHECK(*count == n && filled(records, room * record), "[%u]", room);
        }
        CHECK(intact(0) && intact(1), "[%u]", room);
    }
    CHECK(ask(gpu, 0, guarded(1, record)) == NVML_ERROR_INVALID_ARGUMENT, "no count");
    subject = "";
}

static nvmlReturn_t graphics_clocks(nvmlDevice_t gpu, unsigned *count, void *list)
{
    return nvmlDeviceGetSupportedGraphicsClocks(gpu, 2619, count, list);
}

static nvmlReturn_t utilization(nvmlDevice_t gpu, unsigned *count, void *list)
{
    return nvmlDeviceGetProcessUtilization(gpu, list, count, 0);
}

static nvmlReturn_t details(nvmlDevice_t gpu, unsigned *count, void *list)
{
    nvmlProcessDetailList_v1_t *asked = count ? guarded(2, sizeof *asked) : 0;
    if (asked) {
        memset(asked, 0, sizeof *asked);
        asked->version = nvmlProcessDetailList_v1;
        asked->mode = NVML_PROCESS_MODE_COMPUTE;
        asked->numProcArrayEntries = *count;
        asked->procArray = list;
    }
    nvmlReturn_t code = nvmlDeviceGetRunningProcessDetailList(gpu, asked);
    if (asked) {
        CHECK(intact(2) && asked->procArray == list && asked->version == nvmlProcessDetailList_v1);
        *count = asked->numProcArrayEntries;
    }
    return code;
}

static nvmlReturn_t all_utilization(nvmlDevice_t gpu, unsigned *count, void *list)
{
    nvmlProcessesUtilizationInfo_v1_t *asked = count ? guarded(2, sizeof *asked) : 0;
    if (asked) {
        memset(asked, 0, sizeof *asked);
        asked->version = nvmlProcessesUtilizationInfo_v1;
        asked->processSamplesCount = *count;
        asked->procUtilArray = list;
    }
    nvmlReturn_t code = nvmlDeviceGetProcessesUtilizationInfo(gpu, asked);
    if (asked) {
        CHECK(intact(2) && asked->procUtilArray == list);
        *count = asked->processSamplesCount;
    }
    return code;
}

/* The lists without a suffix have the records of the first version, which no binding uses but
 * PyTorch's, nvtop's of old and btop's. */
static void lists(nvmlDevice_t gpu)
{
    const nvmlReturn_t small = NVML_ERROR_INSUFFICIENT_SIZE;
#define LIST(function, T, asked) list(#function, (asker)function, gpu, sizeof(T), asked)
    LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, small);
    LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, small);
    LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, small);
    LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, small);
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, small);
    LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, small);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, small);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, small);
    LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, small);
    LIST(nvmlDeviceGetSupportedMemoryClocks, unsigned, small);
    LIST(nvmlDeviceGetEncoderSessions, nvmlEncoderSessionInfo_t, NVML_SUCCESS);
    LIST(nvmlDeviceGetFBCSessions, nvmlFBCSessionInfo_t, NVML_SUCCESS);
    list("graphics clocks", graphics_clocks, gpu, sizeof(unsigned), small);
    list("utilization", utilization, gpu, sizeof(nvmlProcessUtilizationSample_t), small);
    list("details", details, gpu, sizeof(nvmlProcessDetail_v1_t), small);
    list("all utilization", all_utilization, gpu, sizeof(nvmlProcessUtilizationInfo_v1_t), small);

    nvmlProcessInfo_v1_t first[8];
    nvmlProcessInfo_t third[8];
    unsigned count = 8, again = 8;
    CHECK(nvmlDeviceGetComputeRunningProcesses(gpu, &count, first) == 0 && count == 3);
    CHECK(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &again, third) == 0 && again == 3);
    for (unsigned i = 0; i < count && i < again; i++) {
        CHECK(first[i].pid == third[i].pid && first[i].usedGpuMemory == third[i].usedGpuMemory);
        CHECK(third[i].gpuInstanceId == ~0u && third[i].computeInstanceId == ~0u);
    }
}

/* -- strings and field values ------------------------------------------------------------------ */

static nvmlReturn_t driver_version(nvmlDevice_t gpu, char *text, unsigned length)
{
    (void)gpu;
    return nvmlSystemGetDriverVersion(text, length);
}

static void strings(nvmlDevice_t gpu)
{
    typedef nvmlReturn_t (*texter)(nvmlDevice_t, char *, unsigned);
    texter askers[] = {nvmlDeviceGetName, nvmlDeviceGetUUID, nvmlDeviceGetSerial,
                       nvmlDeviceGetVbiosVersion, driver_version};
    for (unsigned i = 0; i < sizeof askers / sizeof askers[0]; i++) {
        char whole[256];
        CHECK(askers[i](gpu, whole, sizeof whole) == 0);
        size_t length = strlen(whole);
        for (size_t room = 0; room <= length + 3; room++) {
            char *text = guarded(0, room);
            nvmlReturn_t code = askers[i](gpu, text, (unsigned)room);
            CHECK(code == (room > length ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE));
            CHECK(intact(0) && (code ? filled((void *)text, room) : !strcmp(text, whole)));
        }
        CHECK(askers[i](gpu, 0, sizeof whole) == NVML_ERROR_INVALID_ARGUMENT);
    }
}

static void fields(nvmlDevice_t gpu)
{
    const unsigned ids[] = {NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_POWER_INSTANT, 99999,
                            NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION};
    for (int n = 1; n <= 5; n++) {
        nvmlFieldValue_t *asked = guarded(0, (size_t)n * sizeof *asked);
        for (int i = 0; i < n; i++) {
            asked[i].fieldId = ids[i];
            asked[i].scopeId = 0;
        }
        CHECK(nvmlDeviceGetFieldValues(gpu, n, asked) == 0 && intact(0));
        for (int i = 0; i < n; i++) {
            CHECK(asked[i].fieldId == ids[i]);
            CHECK((asked[i].nvmlReturn == 0) == (ids[i] != 99999), "%u", ids[i]);
            CHECK(asked[i].nvmlReturn || asked[i].timestamp > 1700000000000000, "%u", ids[i]);
        }
    }
    CHECK(nvmlDeviceGetFieldValues(gpu, 0, guarded(0, 40)) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlDeviceGetFieldValues(gpu, 1, 0) == NVML_ERROR_INVALID_ARGUMENT);
}

static void performance_samples(nvmlDevice_t gpu)
{
    nvmlGpmSample_t first = 0, second = 0;
    CHECK(nvmlGpmSampleAlloc(&first) == 0 && nvmlGpmSampleAlloc(&second) == 0 && first != second);
    CHECK(nvmlGpmSampleGet(gpu, first) == 0);
    usleep(250000);
    CHECK(nvmlGpmSampleGet(gpu, second) == 0);
    size_t used = offsetof(nvmlGpmMetricsGet_t, metrics) + 3 * sizeof(nvmlGpmMetric_t);
    nvmlGpmMetricsGet_t *asked = guarded(0, used); /* only as long as it says */
    memset(asked, 0, used);
    asked->version = NVML_GPM_METRICS_GET_VERSION;
    asked->numMetrics = 3;
    asked->sample1 = first;
    asked->sample2 = second;
    asked->metrics[0].metricId = NVML_GPM_METRIC_SM_UTIL;
    asked->metrics[1].metricId = NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC;
    asked->metrics[2].metricId = NVML_GPM_METRIC_MAX;
    CHECK(nvmlGpmMetricsGet(asked) == 0 && intact(0));
    CHECK(asked->metrics[0].nvmlReturn == 0 && asked->metrics[0].value > 50);
    CHECK(asked->metrics[1].nvmlReturn == 0 && asked->metrics[1].value > 0);
    CHECK(asked->metrics[2].nvmlReturn == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlGpmSampleFree(first) == 0 && nvmlGpmSampleFree(first) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlGpmSampleFree(second) == 0);
}

/* -- errors, events, children ------------------------------------------------------------------ */

static void errors(void)
{
    static const char *const texts[] = {
        "Success", "Uninitialized", "Invalid Argument", "Not Supported", "Insufficient Permissions",
        "Already Initialized", "Not Found", "Insufficient Size", "Insufficient External Power",
        "Driver Not Loaded", "Timeout", "Interrupt Request Issue", "NVML Shared Library Not Found",
        "Function Not Found", "Corrupted infoROM", "GPU is lost",
    };
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(!strcmp(nvmlErrorString((nvmlReturn_t)i), texts[i]), "%u is %s", i,
              nvmlErrorString((nvmlReturn_t)i));
    CHECK(!strcmp(nvmlErrorString(NVML_ERROR_UNKNOWN), "Unknown Error"));
    nvmlDevice_t gpu, again;
    char uuid[96];
    nvmlPciInfo_t pci;
    unsigned count;
    CHECK(nvmlDeviceGetCount_v2(&count) == 0 && count == 20, "%u GPUs", count);
    for (unsigned i = 0; i < count; i++) {
        CHECK(nvmlDeviceGetHandleByIndex_v2(i, &gpu) == 0);
        CHECK(nvmlDeviceGetUUID(gpu, uuid, sizeof uuid) == 0);
        CHECK(nvmlDeviceGetHandleByUUID(uuid, &again) == 0 && again == gpu);
        CHECK(nvmlDeviceGetPciInfo_v3(gpu, &pci) == 0);
        CHECK(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &again) == 0 && again == gpu);
        CHECK(nvmlDeviceGetHandleByPciBusId(pci.busIdLegacy, &again) == 0 && again == gpu);
    }
    CHECK(nvmlDeviceGetHandleByIndex_v2(count, &gpu) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlDeviceGetHandleByUUID("GPU-00000000", &gpu) == NVML_ERROR_NOT_FOUND);
    CHECK(nvmlDeviceGetHandleByPciBusId_v2("00000000:00:00.0", &gpu) == NVML_ERROR_NOT_FOUND);
}

/* Let the node have an Xid; it has been announced when this returns. */
static void xid(unsigned gpu, unsigned code)
{
    char line[64];
    printf("xid %u %u\n", gpu, code);
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin) != 0);
}

static int is_told(nvmlEventSet_t set, nvmlDevice_t gpu, unsigned code)
{
    nvmlEventData_t *event = guarded(0, sizeof *event);
    nvmlReturn_t got = nvmlEventSetWait_v2(set, event, 5000);
    return got == 0 && intact(0) && event->device == gpu && event->eventData == code &&
           event->eventType == nvmlEventTypeXidCriticalError && event->gpuInstanceId == ~0u &&
           event->computeInstanceId == ~0u;
}

static int waits(nvmlEventSet_t set, unsigned milliseconds)
{
    nvmlEventData_t *event = guarded(0, sizeof *event);
    double began = seconds();
    nvmlReturn_t code = nvmlEventSetWait_v2(set, event, milliseconds);
    double took = seconds() - began;
    return code == NVML_ERROR_TIMEOUT && filled((void *)event, sizeof *event) &&
           took > milliseconds / 1000.0 - 0.05 && took < milliseconds / 1000.0 + 5;
}

static void events(void)
{
    nvmlDevice_t first, second;
    nvmlEventSet_t all, one;
    unsigned long long critical = nvmlEventTypeXidCriticalError;
    CHECK(nvmlDeviceGetHandleByIndex_v2(3, &first) == 0);
    CHECK(nvmlDeviceGetHandleByIndex_v2(17, &second) == 0);
    CHECK(nvmlEventSetCreate(&all) == 0 && nvmlEventSetCreate(&one) == 0 && all != one);
    xid(3, 13); /* before anybody asked for it: told to nobody */
    CHECK(nvmlDeviceRegisterEvents(first, critical, all) == 0);
    CHECK(nvmlDeviceRegisterEvents(second, critical, all) == 0);
    CHECK(nvmlDeviceRegisterEvents(second, critical, one) == 0);
    CHECK(nvmlDeviceRegisterEvents(second, nvmlEventTypeClock, one) == NVML_ERROR_NOT_SUPPORTED);
    CHECK(waits(all, 0) && waits(one, 100));
    xid(17, 43);
    xid(3, 31);
    xid(17, 43);
    CHECK(is_told(all, second, 43) && is_told(all, first, 31) && is_told(all, second, 43));
    CHECK(waits(all, 0));
    CHECK(is_told(one, second, 43) && is_told(one, second, 43) && waits(one, 0));
    CHECK(nvmlEventSetFree(one) == 0);
    CHECK(nvmlEventSetWait_v2(one, guarded(0, 32), 0) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlEventSetFree(one) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlEventSetWait_v2(all, 0, 0) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvmlDeviceRegisterEvents(first, critical, 0) == NVML_ERROR_INVALID_ARGUMENT);
    int asked[2];
    char byte;
    CHECK(pipe(asked) == 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        failures = 0;
        CHECK(waits(all, 0)); /* also in the set that it inherited */
        CHECK(write(asked[1], "x", 1) == 1);
        CHECK(is_told(all, first, 45));
        _exit(failures != 0);
    }
    CHECK(read(asked[0], &byte, 1) == 1);
    xid(3, 45);
    CHECK(is_told(all, first, 45));
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "%x", status);
    CHECK(nvmlEventSetFree(all) == 0);
}

/* A child forked here reads, waits, and ends. */
static void fork_here(int line, nvmlDevice_t gpu)
{
    pid_t child = fork();
    if (child == 0) {
        nvmlEventSet_t set;
        unsigned power = 0, count = 0;
        alarm(60);
        failures = 0;
        CHECK(nvmlDeviceGetPowerUsage(gpu, &power) == 0 && power > 0);
        CHECK(nvmlDeviceGetProcessUtilization(gpu, 0, &count, 0) == 7 && count == 3);
        CHECK(nvmlEventSetCreate(&set) == 0 && waits(set, 10) && nvmlEventSetFree(set) == 0);
        _exit(failures != 0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "forked at line %d: %x", line, status);
}

static void forks(nvmlDevice_t gpu)
{
    unsigned value, count;
    nvmlEventSet_t set;
    nvmlGpmSample_t sample;
    nvmlMemory_t memory;
#define THEN(call)                                                                                 \
    CHECK((call) == 0);                                                                            \
    fork_here(__LINE__, gpu)
    THEN(nvmlDeviceGetPowerUsage(gpu, &value));
    THEN(nvmlDeviceGetMemoryInfo(gpu, &memory));
    THEN(nvmlSystemGetCudaDriverVersion_v2((int *)&value));
    THEN(nvmlEventSetCreate(&set));
    THEN(nvmlDeviceRegisterEvents(gpu, nvmlEventTypeXidCriticalError, set));
    THEN(nvmlDeviceSetPowerManagementLimit(gpu, 650000));
    THEN(nvmlGpmSampleAlloc(&sample));
    THEN(nvmlGpmSampleGet(gpu, sample));
    THEN(nvmlGpmSampleFree(sample));
    THEN(nvmlEventSetFree(set));
    THEN(nvmlInit_v2());
    THEN(nvmlShutdown());
    THEN(nvmlDeviceGetCount_v2(&count));
}

int main(void)
{
    nvmlDevice_t gpu = 0;
    unsigned value;
    CHECK(nvmlDeviceGetCount_v2(&value) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
    CHECK(nvmlInit_v2() == 0 && nvmlDeviceGetHandleByIndex_v2(5, &gpu) == 0);
    for (int time = 0; time < 2; time++, usleep(300000)) { /* asked, and then from the page */
        values(gpu);
        versions(gpu);
        lists(gpu);
        strings(gpu);
        fields(gpu);
    }
    performance_samples(gpu);
    errors();
    events();
    forks(gpu);
    CHECK(nvmlShutdown() == 0);
    CHECK(nvmlDeviceGetPowerUsage(gpu, &value) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvmlInit_v2() == 0 && nvmlDeviceGetPowerUsage(gpu, &value) == 0 && nvmlShutdown() == 0);
    return failures != 0;
}
