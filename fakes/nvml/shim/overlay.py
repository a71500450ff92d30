"""What the header's types do not say: the exceptions to the generator's rules.

Each stands in the comments of nvml.h at the function that is named, unless another source is given.
Members are named as in the header; ``generate.py`` turns them into offsets.
"""

from __future__ import annotations

from fakes.nvml.function import Fit

OLD_PROTOTYPES = """
nvmlReturn_t DECLDIR nvmlGetBlacklistDeviceCount(unsigned int *deviceCount);
nvmlReturn_t DECLDIR nvmlGetBlacklistDeviceInfoByIndex(
    unsigned int index, nvmlExcludedDeviceInfo_t *info);
"""
"""Names that older libraries export and the header now only renames by a macro."""

BY_HAND = frozenset(
    {
        "nvmlInit",
        "nvmlInit_v2",
        "nvmlInitWithFlags",
        "nvmlShutdown",
        "nvmlErrorString",
        "nvmlInternalGetExportTable",
    }
)
"""What the C library defines itself: it concerns the process that calls, not the node."""


def _names(stems: str) -> frozenset[str]:
    return frozenset(f"nvml{stem}" for stem in stems.split())


STEADY = _names(
    """
    SystemGetDriverVersion SystemGetNVMLVersion SystemGetCudaDriverVersion
    SystemGetCudaDriverVersion_v2 SystemGetProcessName SystemGetHicVersion SystemGetDriverBranch
    SystemGetTopologyGpuSet SystemGetConfComputeCapabilities SystemGetConfComputeState
    SystemGetConfComputeSettings SystemGetConfComputeSettings_v2 SystemGetNvlinkBwMode
    DeviceGetCount DeviceGetCount_v2 DeviceGetHandleByIndex DeviceGetHandleByIndex_v2
    DeviceGetName DeviceGetBrand DeviceGetIndex DeviceGetSerial DeviceGetModuleId DeviceGetUUID
    DeviceGetMinorNumber DeviceGetBoardPartNumber DeviceGetBoardId DeviceGetMultiGpuBoard
    DeviceGetArchitecture DeviceGetCudaComputeCapability DeviceGetNumGpuCores DeviceGetIrqNum
    DeviceGetMemoryBusWidth DeviceGetBusType DeviceGetPciInfo DeviceGetPciInfo_v2
    DeviceGetPciInfo_v3 DeviceGetPciInfoExt DeviceGetVbiosVersion DeviceGetInforomVersion
    DeviceGetInforomImageVersion DeviceGetInforomConfigurationChecksum DeviceGetGspFirmwareVersion
    DeviceGetGspFirmwareMode DeviceGetMaxPcieLinkGeneration DeviceGetGpuMaxPcieLinkGeneration
    DeviceGetMaxPcieLinkWidth DeviceGetPcieLinkMaxSpeed DeviceGetMaxClockInfo
    DeviceGetMaxCustomerBoostClock DeviceGetApplicationsClock DeviceGetDefaultApplicationsClock
    DeviceGetSupportedMemoryClocks DeviceGetSupportedGraphicsClocks
    DeviceGetSupportedPerformanceStates DeviceGetSupportedEventTypes
    DeviceGetSupportedClocksEventReasons DeviceGetSupportedClocksThrottleReasons
    DeviceGetMinMaxClockOfPState DeviceGetNumFans DeviceGetMinMaxFanSpeed
    DeviceGetTemperatureThreshold DeviceGetPowerManagementMode DeviceGetPowerManagementLimit
    DeviceGetPowerManagementLimitConstraints DeviceGetPowerManagementDefaultLimit
    DeviceGetComputeMode DeviceGetPersistenceMode DeviceGetDisplayMode DeviceGetDisplayActive
    DeviceGetEccMode DeviceGetDefaultEccMode DeviceGetDriverModel DeviceGetDriverModel_v2
    DeviceGetGpuOperationMode DeviceGetAPIRestriction DeviceGetAccountingMode
    DeviceGetAccountingBufferSize DeviceGetMigMode DeviceGetMaxMigDeviceCount
    DeviceIsMigDeviceHandle DeviceGetGpuInstanceId DeviceGetComputeInstanceId
    DeviceGetMigDeviceHandleByIndex DeviceGetDeviceHandleFromMigDeviceHandle
    DeviceGetAttributes DeviceGetAttributes_v2 DeviceGetVirtualizationMode DeviceGetHostVgpuMode
    DeviceGetConfComputeMemSizeInfo DeviceGetNumaNodeId DeviceGetMemoryAffinity
    DeviceGetCpuAffinity DeviceGetCpuAffinityWithinScope DeviceGetTopologyCommonAncestor
    DeviceGetTopologyNearestGpus DeviceGetP2PStatus DeviceOnSameBoard DeviceGetNvLinkVersion
    DeviceGetNvLinkCapability DeviceGetNvLinkRemotePciInfo DeviceGetNvLinkRemotePciInfo_v2
    DeviceGetNvLinkRemoteDeviceType DeviceGetPlatformInfo DeviceGetC2cModeInfoV
    GpmQueryDeviceSupport GpmQueryIfStreamingEnabled
    """
)
"""Readings that only an event changes: a fault, a setter, a process that starts or ends."""

NEVER_PAGED = frozenset(
    {
        "nvmlDeviceGetProcessesUtilizationInfo",
        "nvmlDeviceGetVgpuInstancesUtilizationInfo",
        "nvmlDeviceGetVgpuProcessesUtilizationInfo",
    }
)
"""Readings since a time that every call names anew: they would fill the page."""

WORDS: dict[str, tuple[str, ...]] = {
    "nvmlDeviceGetTemperatureV": ("sensorType",),
    "nvmlDeviceGetCoolerInfo": ("index",),
    "nvmlDeviceGetFanSpeedRPM": ("fan",),
    "nvmlDeviceGetClockOffsets": ("type", "pstate"),
    "nvmlDeviceGetRunningProcessDetailList": ("mode",),
    "nvmlDeviceGetProcessesUtilizationInfo": ("lastSeenTimeStamp",),
    "nvmlDeviceGetVgpuInstancesUtilizationInfo": ("lastSeenTimeStamp",),
    "nvmlDeviceGetVgpuProcessesUtilizationInfo": ("lastSeenTimeStamp",),
    "nvmlGpuInstanceGetVgpuTypeCreatablePlacements": ("vgpuTypeId",),
    "nvmlVgpuTypeGetMaxInstancesPerGpuInstance": ("vgpuTypeId",),
    "nvmlGpuInstanceGetVgpuSchedulerState": ("engineId",),
    "nvmlGpuInstanceGetVgpuSchedulerLog": ("engineId",),
    "nvmlSystemEventSetWait": ("timeoutms", "set"),
    "nvmlDeviceGetFieldValues": ("fieldId", "scopeId"),
    "nvmlDeviceClearFieldValues": ("fieldId", "scopeId"),
}
"""Members of a structure, besides its version, that the caller sets."""

BARE_VERSIONS = {"nvmlGpmMetricsGet_t": 1, "nvmlGpmSupport_t": 1}
"""NVML_GPM_METRICS_GET_VERSION and NVML_GPM_SUPPORT_VERSION: without the size in them."""

INPUTS = frozenset(
    {
        ("nvmlDeviceModifyDrainState", "pciInfo"),
        ("nvmlDeviceQueryDrainState", "pciInfo"),
        ("nvmlDeviceRemoveGpu", "pciInfo"),
        ("nvmlDeviceRemoveGpu_v2", "pciInfo"),
        ("nvmlDeviceDiscoverGpus", "pciInfo"),
        ("nvmlGetVgpuCompatibility", "vgpuMetadata"),
        ("nvmlGetVgpuCompatibility", "pgpuMetadata"),
        ("nvmlSystemRegisterEvents", "request"),
        ("nvmlSystemEventSetFree", "request"),
    }
)
"""Pointers that are not const, and yet only read."""

OUTPUTS = frozenset(
    {
        ("nvmlDeviceSetMigMode", "activationStatus"),
        ("nvmlGetVgpuCompatibility", "compatibilityInfo"),
    }
)
"""Pointers of functions that set something, and yet only written."""

NOT_COUNTS = frozenset(
    {
        ("nvmlDeviceGetEncoderStats", "sessionCount"),
        ("nvmlVgpuInstanceGetEncoderStats", "sessionCount"),
    }
)
"""Numbers of something, but not of records in a buffer."""

FITS: dict[tuple[str, str], Fit] = {
    ("nvmlSystemGetProcessName", "name"): Fit.CUT,
    ("nvmlDeviceGetSamples", "samples"): Fit.CUT,
    ("nvmlDeviceGetTopologyNearestGpus", "deviceArray"): Fit.CUT,
    ("nvmlSystemGetTopologyGpuSet", "deviceArray"): Fit.CUT,
    ("nvmlDeviceGetMemoryAffinity", "nodeSet"): Fit.CUT,
    ("nvmlDeviceGetCpuAffinity", "cpuSet"): Fit.CUT,
    ("nvmlDeviceGetCpuAffinityWithinScope", "cpuSet"): Fit.CUT,
    ("nvmlDeviceGetGpuInstancePossiblePlacements", "placements"): Fit.TRUST,
    ("nvmlDeviceGetGpuInstancePossiblePlacements_v2", "placements"): Fit.TRUST,
    ("nvmlGpuInstanceGetComputeInstancePossiblePlacements", "placements"): Fit.TRUST,
    ("nvmlDeviceGetGpuInstances", "gpuInstances"): Fit.TRUST,
    ("nvmlGpuInstanceGetComputeInstances", "computeInstances"): Fit.TRUST,
}
"""Where an answer that is too long is not refused."""

OPTIONAL = frozenset(
    {
        ("nvmlDeviceGetAutoBoostedClocksEnabled", "defaultIsEnabled"),
        ("nvmlDeviceGetDriverModel", "current"),
        ("nvmlDeviceGetDriverModel", "pending"),
        ("nvmlDeviceGetDriverModel_v2", "current"),
        ("nvmlDeviceGetDriverModel_v2", "pending"),
        ("nvmlDeviceGetProcessUtilization", "utilization"),
        ("nvmlDeviceGetSamples", "samples"),
        ("nvmlDeviceGetVgpuUtilization", "utilizationSamples"),
        ("nvmlDeviceGetVgpuProcessUtilization", "utilizationSamples"),
        ("nvmlDeviceGetProcessesUtilizationInfo", "procesesUtilInfo"),
        ("nvmlDeviceGetGpuInstancePossiblePlacements", "placements"),
        ("nvmlDeviceGetGpuInstancePossiblePlacements_v2", "placements"),
        ("nvmlGpuInstanceGetComputeInstancePossiblePlacements", "placements"),
    }
)
"""Pointers that may be NULL: nothing is written, or (a list's) only the count is asked for."""

ASKING_SUCCEEDS = frozenset(
    {
        ("nvmlDeviceGetSamples", "samples"),
        ("nvmlDeviceGetTopologyNearestGpus", "deviceArray"),
        ("nvmlSystemGetTopologyGpuSet", "deviceArray"),
        ("nvmlDeviceGetEncoderSessions", "sessionInfos"),
        ("nvmlDeviceGetFBCSessions", "sessionInfo"),
        ("nvmlVgpuInstanceGetEncoderSessions", "sessionInfo"),
        ("nvmlVgpuInstanceGetFBCSessions", "sessionInfo"),
        ("nvmlDeviceGetGpuInstancePossiblePlacements", "placements"),
        ("nvmlDeviceGetGpuInstancePossiblePlacements_v2", "placements"),
        ("nvmlGpuInstanceGetComputeInstancePossiblePlacements", "placements"),
    }
)
"""Lists whose count is told with SUCCESS."""

FIXED_TEXTS = {("nvmlDeviceGetGspFirmwareVersion", "version"): 64}
"""Strings without a length: NVML_GSP_FIRMWARE_VERSION_BUF_SIZE."""

PADS = {("nvmlDeviceGetSupportedPerformanceStates", "pstates"): (1, 32)}
"""Arrays counted in bytes (the first number is the element's size), and what fills them up
(NVML_PSTATE_UNKNOWN)."""

EXACT_SIZES = {
    ("nvmlDeviceGetPciInfo", "pci"): 32,
    ("nvmlDeviceGetPciInfo_v2", "pci"): 36,
    ("nvmlDeviceGetNvLinkRemotePciInfo", "pci"): 36,
    ("nvmlDeviceRemoveGpu", "pciInfo"): 36,
    ("nvmlEventSetWait", "data"): 24,
}
"""Structures that were shorter in the programs these names stand for: nvmlPciInfo_t had no
``pciSubSystemId`` before NVML 2.285, and no second, longer ``busId`` before ``_v3``; in
nvmlEventData_t there were no MIG instances before ``_v2``."""
