"""NVML's functions, each as a :class:`~fakes.nvml.function.Function`. Generated.

Written by ``python -m fakes.nvml.shim.generate`` from NVIDIA's public nvml.h; do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from fakes.nvml.function import Function, Param, parse

FINGERPRINT = 0xBF3448EE
"""Tells this table from another one; the page and the C library carry it."""

_ROWS = """\
nvmlSystemGetDriverVersion paged steady | version TEXT_OUT partner=1 | length U32
nvmlSystemGetNVMLVersion paged steady | version TEXT_OUT partner=1 | length U32
nvmlSystemGetCudaDriverVersion paged steady | cudaDriverVersion OUT size=4
nvmlSystemGetCudaDriverVersion_v2 paged steady | cudaDriverVersion OUT size=4
nvmlSystemGetProcessName paged steady | pid U32 | name TEXT_OUT partner=2 fit=CUT | length U32
nvmlSystemGetHicVersion paged steady | hwbcCount COUNT size=4 | hwbcEntries LIST size=36 partner=0
nvmlSystemGetTopologyGpuSet paged steady | cpuNumber U32 | count COUNT size=4 | deviceArray LIST size=8 partner=1 devices=0 fit=CUT asking_succeeds=yes
nvmlSystemGetDriverBranch paged steady | branchInfo VERSIONED size=84 versions=0x1000054 words=0 | length U32
nvmlSystemGetCPER_v1 paged | cper OUT size=112
nvmlUnitGetCount paged | unitCount OUT size=4
nvmlUnitGetHandleByIndex paged | index U32 | unit OUT size=8
nvmlUnitGetUnitInfo | unit HANDLE | info OUT size=384
nvmlUnitGetLedState | unit HANDLE | state OUT size=260
nvmlUnitGetPsuInfo | unit HANDLE | psu OUT size=268
nvmlUnitGetTemperature | unit HANDLE | type U32 | temp OUT size=4
nvmlUnitGetFanSpeedInfo | unit HANDLE | fanSpeeds OUT size=196
nvmlUnitGetDevices | unit HANDLE | deviceCount COUNT size=4 | devices LIST size=8 partner=1 devices=0
nvmlDeviceGetCount_v2 paged steady | deviceCount OUT size=4
nvmlDeviceGetAttributes_v2 paged steady | device DEVICE | attributes OUT size=40
nvmlDeviceGetHandleByIndex_v2 paged steady | index U32 | device DEVICE_OUT size=8
nvmlDeviceGetHandleBySerial | serial TEXT_IN | device DEVICE_OUT size=8
nvmlDeviceGetHandleByUUID | uuid TEXT_IN | device DEVICE_OUT size=8
nvmlDeviceGetHandleByUUIDV | uuid STRUCT_IN size=52 versions=0x1000034 | device DEVICE_OUT size=8
nvmlDeviceGetHandleByPciBusId_v2 | pciBusId TEXT_IN | device DEVICE_OUT size=8
nvmlDeviceGetName paged steady | device DEVICE | name TEXT_OUT partner=2 | length U32
nvmlDeviceGetBrand paged steady | device DEVICE | type OUT size=4
nvmlDeviceGetIndex paged steady | device DEVICE | index OUT size=4
nvmlDeviceGetSerial paged steady | device DEVICE | serial TEXT_OUT partner=2 | length U32
nvmlDeviceGetModuleId paged steady | device DEVICE | moduleId OUT size=4
nvmlDeviceGetC2cModeInfoV paged steady | device DEVICE | c2cModeInfo OUT size=4
nvmlDeviceGetMemoryAffinity paged steady | device DEVICE | nodeSetSize U32 | nodeSet ARRAY size=8 partner=1 fit=CUT | scope U32
nvmlDeviceGetCpuAffinityWithinScope paged steady | device DEVICE | cpuSetSize U32 | cpuSet ARRAY size=8 partner=1 fit=CUT | scope U32
nvmlDeviceGetCpuAffinity paged steady | device DEVICE | cpuSetSize U32 | cpuSet ARRAY size=8 partner=1 fit=CUT
nvmlDeviceSetCpuAffinity | device DEVICE
nvmlDeviceClearCpuAffinity | device DEVICE
nvmlDeviceGetNumaNodeId paged steady | device DEVICE | node OUT size=4
nvmlDeviceGetAddressingMode paged | device DEVICE | mode VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceGetRepairStatus paged | device DEVICE | repairStatus VERSIONED size=12 versions=0x100000C words=0
nvmlDeviceGetUnrepairableMemoryFlag_v1 paged | device DEVICE | unrepairableMemoryStatus OUT size=4
nvmlDeviceGetTopologyCommonAncestor paged steady | device1 DEVICE | device2 DEVICE | pathInfo OUT size=4
nvmlDeviceGetTopologyNearestGpus paged steady | device DEVICE | level U32 | count COUNT size=4 | deviceArray LIST size=8 partner=2 devices=0 fit=CUT asking_succeeds=yes
nvmlDeviceGetP2PStatus paged steady | device1 DEVICE | device2 DEVICE | p2pIndex U32 | p2pStatus OUT size=4
nvmlDeviceGetUUID paged steady | device DEVICE | uuid TEXT_OUT partner=2 | length U32
nvmlDeviceGetMinorNumber paged steady | device DEVICE | minorNumber OUT size=4
nvmlDeviceGetBoardPartNumber paged steady | device DEVICE | partNumber TEXT_OUT partner=2 | length U32
nvmlDeviceGetInforomVersion paged steady | device DEVICE | object U32 | version TEXT_OUT partner=3 | length U32
nvmlDeviceGetInforomImageVersion paged steady | device DEVICE | version TEXT_OUT partner=2 | length U32
nvmlDeviceGetInforomConfigurationChecksum paged steady | device DEVICE | checksum OUT size=4
nvmlDeviceValidateInforom | device DEVICE
nvmlDeviceGetLastBBXFlushTime paged | device DEVICE | timestamp OUT size=8 | durationUs OUT size=8
nvmlDeviceGetBBXTimeData_v1 paged | device DEVICE | timeData OUT size=4
nvmlDeviceGetGpuUptime_v1 paged | device DEVICE | uptime OUT size=4
nvmlDeviceGetDisplayMode paged steady | device DEVICE | display OUT size=4
nvmlDeviceGetDisplayActive paged steady | device DEVICE | isActive OUT size=4
nvmlDeviceGetPersistenceMode paged steady | device DEVICE | mode OUT size=4
nvmlDeviceGetPciInfoExt paged steady | device DEVICE | pci VERSIONED size=64 versions=0x1000040 words=0
nvmlDeviceGetPciInfo_v3 paged steady | device DEVICE | pci OUT size=68
nvmlDeviceGetMaxPcieLinkGeneration paged steady | device DEVICE | maxLinkGen OUT size=4
nvmlDeviceGetGpuMaxPcieLinkGeneration paged steady | device DEVICE | maxLinkGenDevice OUT size=4
nvmlDeviceGetMaxPcieLinkWidth paged steady | device DEVICE | maxLinkWidth OUT size=4
nvmlDeviceGetCurrPcieLinkGeneration paged | device DEVICE | currLinkGen OUT size=4
nvmlDeviceGetCurrPcieLinkWidth paged | device DEVICE | currLinkWidth OUT size=4
nvmlDeviceGetPcieThroughput paged | device DEVICE | counter U32 | value OUT size=4
nvmlDeviceGetPcieReplayCounter paged | device DEVICE | value OUT size=4
nvmlDeviceGetClockInfo paged | device DEVICE | type U32 | clock OUT size=4
nvmlDeviceGetMaxClockInfo paged steady | device DEVICE | type U32 | clock OUT size=4
nvmlDeviceGetGpcClkVfOffset paged | device DEVICE | offset OUT size=4
nvmlDeviceGetApplicationsClock paged steady | device DEVICE | clockType U32 | clockMHz OUT size=4
nvmlDeviceGetDefaultApplicationsClock paged steady | device DEVICE | clockType U32 | clockMHz OUT size=4
nvmlDeviceGetClock paged | device DEVICE | clockType U32 | clockId U32 | clockMHz OUT size=4
nvmlDeviceGetMaxCustomerBoostClock paged steady | device DEVICE | clockType U32 | clockMHz OUT size=4
nvmlDeviceGetSupportedMemoryClocks paged steady | device DEVICE | count COUNT size=4 | clocksMHz LIST size=4 partner=1
nvmlDeviceGetSupportedGraphicsClocks paged steady | device DEVICE | memoryClockMHz U32 | count COUNT size=4 | clocksMHz LIST size=4 partner=2
nvmlDeviceGetAutoBoostedClocksEnabled paged | device DEVICE | isEnabled OUT size=4 | defaultIsEnabled OUT size=4 optional=yes
nvmlDeviceGetFanSpeed paged | device DEVICE | speed OUT size=4
nvmlDeviceGetFanSpeed_v2 paged | device DEVICE | fan U32 | speed OUT size=4
nvmlDeviceGetFanSpeedRPM paged | device DEVICE | fanSpeed VERSIONED size=12 versions=0x100000C words=0,4
nvmlDeviceGetTargetFanSpeed paged | device DEVICE | fan U32 | targetSpeed OUT size=4
nvmlDeviceGetMinMaxFanSpeed paged steady | device DEVICE | minSpeed OUT size=4 | maxSpeed OUT size=4
nvmlDeviceGetFanControlPolicy_v2 paged | device DEVICE | fan U32 | policy OUT size=4
nvmlDeviceGetNumFans paged steady | device DEVICE | numFans OUT size=4
nvmlDeviceGetTemperature paged | device DEVICE | sensorType U32 | temp OUT size=4
nvmlDeviceGetCoolerInfo paged | device DEVICE | coolerInfo VERSIONED size=16 versions=0x1000010 words=0,4
nvmlDeviceGetTemperatureV paged | device DEVICE | temperature VERSIONED size=12 versions=0x100000C words=0,4
nvmlDeviceGetTemperatureThreshold paged steady | device DEVICE | thresholdType U32 | temp OUT size=4
nvmlDeviceGetMarginTemperature paged | device DEVICE | marginTempInfo VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceGetThermalSettings paged | device DEVICE | sensorIndex U32 | pThermalSettings OUT size=64
nvmlDeviceGetPerformanceState paged | device DEVICE | pState OUT size=4
nvmlDeviceGetCurrentClocksEventReasons paged | device DEVICE | clocksEventReasons OUT size=8
nvmlDeviceGetCurrentClocksThrottleReasons paged | device DEVICE | clocksThrottleReasons OUT size=8
nvmlDeviceGetSupportedClocksEventReasons paged steady | device DEVICE | supportedClocksEventReasons OUT size=8
nvmlDeviceGetSupportedClocksThrottleReasons paged steady | device DEVICE | supportedClocksThrottleReasons OUT size=8
nvmlDeviceGetPowerState paged | device DEVICE | pState OUT size=4
nvmlDeviceGetDynamicPstatesInfo paged | device DEVICE | pDynamicPstatesInfo OUT size=132
nvmlDeviceGetMemClkVfOffset paged | device DEVICE | offset OUT size=4
nvmlDeviceGetMinMaxClockOfPState paged steady | device DEVICE | type U32 | pstate U32 | minClockMHz OUT size=4 | maxClockMHz OUT size=4
nvmlDeviceGetSupportedPerformanceStates paged steady | device DEVICE | pstates ARRAY size=1 partner=2 pad=32 | size U32
nvmlDeviceGetGpcClkMinMaxVfOffset paged | device DEVICE | minOffset OUT size=4 | maxOffset OUT size=4
nvmlDeviceGetMemClkMinMaxVfOffset paged | device DEVICE | minOffset OUT size=4 | maxOffset OUT size=4
nvmlDeviceGetClockOffsets paged | device DEVICE | info VERSIONED size=24 versions=0x1000018 words=0,4,8
nvmlDeviceSetClockOffsets | device DEVICE | info STRUCT_IN size=24 versions=0x1000018
nvmlDeviceGetPerformanceModes paged | device DEVICE | perfModes VERSIONED size=2052 versions=0x1000804 words=0
nvmlDeviceGetCurrentClockFreqs paged | device DEVICE | currentClockFreqs VERSIONED size=2052 versions=0x1000804 words=0
nvmlDeviceGetPowerManagementMode paged steady | device DEVICE | mode OUT size=4
nvmlDeviceGetPowerManagementLimit paged steady | device DEVICE | limit OUT size=4
nvmlDeviceGetPowerManagementLimitConstraints paged steady | device DEVICE | minLimit OUT size=4 | maxLimit OUT size=4
nvmlDeviceGetPowerManagementDefaultLimit paged steady | device DEVICE | defaultLimit OUT size=4
nvmlDeviceGetPowerUsage paged | device DEVICE | power OUT size=4
nvmlDeviceGetPowerMizerMode_v1 paged | device DEVICE | powerMizerMode OUT size=12
nvmlDeviceSetPowerMizerMode_v1 | device DEVICE | powerMizerMode STRUCT_IN size=12
nvmlDeviceGetTotalEnergyConsumption paged | device DEVICE | energy OUT size=8
nvmlDeviceGetEnforcedPowerLimit paged | device DEVICE | limit OUT size=4
nvmlDeviceSetAdaptiveTgpMode_v1 | device DEVICE | mode U32
nvmlDeviceGetAdaptiveTgpModeInfo_v1 paged | device DEVICE | info OUT size=20
nvmlDeviceGetGpuOperationMode paged steady | device DEVICE | current OUT size=4 | pending OUT size=4
nvmlDeviceGetMemoryInfo paged | device DEVICE | memory OUT size=24
nvmlDeviceGetMemoryInfo_v2 paged | device DEVICE | memory VERSIONED size=40 versions=0x2000028 words=0
nvmlDeviceSetMemoryLimits_v1 | device DEVICE | limits STRUCT_IN size=24
nvmlDeviceGetMemoryLimits_v1 paged | device DEVICE | limits OUT size=32
nvmlDeviceGetComputeMode paged steady | device DEVICE | mode OUT size=4
nvmlDeviceGetCudaComputeCapability paged steady | device DEVICE | major OUT size=4 | minor OUT size=4
nvmlDeviceGetDramEncryptionMode paged | device DEVICE | current VERSIONED size=8 versions=0x1000008 words=0 | pending VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceSetDramEncryptionMode | device DEVICE | dramEncryption STRUCT_IN size=8 versions=0x1000008
nvmlDeviceGetEccMode paged steady | device DEVICE | current OUT size=4 | pending OUT size=4
nvmlDeviceGetDefaultEccMode paged steady | device DEVICE | defaultMode OUT size=4
nvmlDeviceGetBoardId paged steady | device DEVICE | boardId OUT size=4
nvmlDeviceGetMultiGpuBoard paged steady | device DEVICE | multiGpuBool OUT size=4
nvmlDeviceGetTotalEccErrors paged | device DEVICE | errorType U32 | counterType U32 | eccCounts OUT size=8
nvmlDeviceGetDetailedEccErrors paged | device DEVICE | errorType U32 | counterType U32 | eccCounts OUT size=32
nvmlDeviceGetMemoryErrorCounter paged | device DEVICE | errorType U32 | counterType U32 | locationType U32 | count OUT size=8
nvmlDeviceGetUtilizationRates paged | device DEVICE | utilization OUT size=8
nvmlDeviceGetEncoderUtilization paged | device DEVICE | utilization OUT size=4 | samplingPeriodUs OUT size=4
nvmlDeviceGetEncoderCapacity paged | device DEVICE | encoderQueryType U32 | encoderCapacity OUT size=4
nvmlDeviceGetEncoderStats paged | device DEVICE | sessionCount OUT size=4 | averageFps OUT size=4 | averageLatency OUT size=4
nvmlDeviceGetEncoderSessions paged | device DEVICE | sessionCount COUNT size=4 | sessionInfos LIST size=32 partner=1 asking_succeeds=yes
nvmlDeviceGetDecoderUtilization paged | device DEVICE | utilization OUT size=4 | samplingPeriodUs OUT size=4
nvmlDeviceGetJpgUtilization paged | device DEVICE | utilization OUT size=4 | samplingPeriodUs OUT size=4
nvmlDeviceGetOfaUtilization paged | device DEVICE | utilization OUT size=4 | samplingPeriodUs OUT size=4
nvmlDeviceGetFBCStats paged | device DEVICE | fbcStats OUT size=12
nvmlDeviceGetFBCSessions paged | device DEVICE | sessionCount COUNT size=4 | sessionInfo LIST size=48 partner=1 asking_succeeds=yes
nvmlDeviceGetDriverModel_v2 paged steady | device DEVICE | current OUT size=4 optional=yes | pending OUT size=4 optional=yes
nvmlDeviceGetVbiosVersion paged steady | device DEVICE | version TEXT_OUT partner=2 | length U32
nvmlDeviceGetBridgeChipInfo paged | device DEVICE | bridgeHierarchy OUT size=1028
nvmlDeviceGetComputeRunningProcesses_v3 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetGraphicsRunningProcesses_v3 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetMPSComputeRunningProcesses_v3 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetRunningProcessDetailList paged | device DEVICE | plist VERSIONED_LIST size=24 versions=0x1000018 words=0,4 count_at=8 list_at=16 record=32
nvmlDeviceOnSameBoard paged steady | device1 DEVICE | device2 DEVICE | onSameBoard OUT size=4
nvmlDeviceGetAPIRestriction paged steady | device DEVICE | apiType U32 | isRestricted OUT size=4
nvmlDeviceGetSamples | device DEVICE | type U32 | lastSeenTimeStamp U64 | sampleValType OUT size=4 | sampleCount COUNT size=4 | samples LIST size=16 partner=4 fit=CUT optional=yes asking_succeeds=yes
nvmlDeviceGetBAR1MemoryInfo paged | device DEVICE | bar1Memory OUT size=24
nvmlDeviceGetViolationStatus paged | device DEVICE | perfPolicyType U32 | violTime OUT size=16
nvmlDeviceGetIrqNum paged steady | device DEVICE | irqNum OUT size=4
nvmlDeviceGetNumGpuCores paged steady | device DEVICE | numCores OUT size=4
nvmlDeviceGetPowerSource paged | device DEVICE | powerSource OUT size=4
nvmlDeviceGetMemoryBusWidth paged steady | device DEVICE | busWidth OUT size=4
nvmlDeviceGetPcieLinkMaxSpeed paged steady | device DEVICE | maxSpeed OUT size=4
nvmlDeviceGetPcieSpeed paged | device DEVICE | pcieSpeed OUT size=4
nvmlDeviceGetAdaptiveClockInfoStatus paged | device DEVICE | adaptiveClockStatus OUT size=4
nvmlDeviceGetBusType paged steady | device DEVICE | type OUT size=4
nvmlDeviceGetGpuFabricInfo paged | device DEVICE | gpuFabricInfo OUT size=28
nvmlDeviceGetGpuFabricInfoV paged | device DEVICE | gpuFabricInfo VERSIONED size=40 versions=0x2000024,0x3000028 words=0
nvmlDeviceGetGpuFabricInfo_v4 paged | device DEVICE | gpuFabricInfo OUT size=548
nvmlSystemGetConfComputeCapabilities paged steady | capabilities OUT size=8
nvmlSystemGetConfComputeState paged steady | state OUT size=12
nvmlDeviceGetConfComputeMemSizeInfo paged steady | device DEVICE | memInfo OUT size=16
nvmlSystemGetConfComputeGpusReadyState paged | isAcceptingWork OUT size=4
nvmlDeviceGetConfComputeProtectedMemoryUsage paged | device DEVICE | memory OUT size=24
nvmlDeviceGetConfComputeGpuCertificate paged | device DEVICE | gpuCert OUT size=9224
nvmlDeviceGetConfComputeGpuAttestationReport paged | device DEVICE | gpuAtstReport OUT size=12332
nvmlSystemGetConfComputeKeyRotationThresholdInfo paged | pKeyRotationThrInfo OUT size=16
nvmlDeviceSetConfComputeUnprotectedMemSize | device DEVICE | sizeKiB U64
nvmlSystemSetConfComputeGpusReadyState | isAcceptingWork U32
nvmlSystemSetConfComputeKeyRotationThresholdInfo | pKeyRotationThrInfo STRUCT_IN size=16
nvmlSystemGetConfComputeSettings paged steady | settings VERSIONED size=20 versions=0x1000014,0x2000018 words=0
nvmlSystemGetConfComputeSettings_v2 paged steady | settings VERSIONED size=24 versions=0x2000018 words=0
nvmlDeviceGetGspFirmwareVersion paged steady | device DEVICE | version TEXT_OUT size=64
nvmlDeviceGetGspFirmwareMode paged steady | device DEVICE | isEnabled OUT size=4 | defaultMode OUT size=4
nvmlDeviceGetSramEccErrorStatus paged | device DEVICE | status VERSIONED size=104 versions=0x1000068 words=0
nvmlDeviceSetPowerManagementLimit_v2 | device DEVICE | powerValue STRUCT_IN size=12 versions=0x200000C
nvmlDeviceGetAccountingMode paged steady | device DEVICE | mode OUT size=4
nvmlDeviceGetAccountingStats paged | device DEVICE | pid U32 | stats OUT size=56
nvmlDeviceGetAccountingPids paged | device DEVICE | count COUNT size=4 | pids LIST size=4 partner=1
nvmlDeviceGetAccountingBufferSize paged steady | device DEVICE | bufferSize OUT size=4
nvmlDeviceGetAccountingStats_v2 paged | device DEVICE | stats OUT size=64
nvmlDeviceGetRetiredPages paged | device DEVICE | cause U32 | pageCount COUNT size=4 | addresses LIST size=8 partner=2
nvmlDeviceGetRetiredPages_v2 paged | device DEVICE | cause U32 | pageCount COUNT size=4 | addresses LIST size=8 partner=2 | timestamps LIST size=8 partner=2
nvmlDeviceGetRetiredPagesPendingStatus paged | device DEVICE | isPending OUT size=4
nvmlDeviceGetRemappedRows paged | device DEVICE | corrRows OUT size=4 | uncRows OUT size=4 | isPending OUT size=4 | failureOccurred OUT size=4
nvmlDeviceGetRowRemapperHistogram paged | device DEVICE | values OUT size=20
nvmlDeviceGetArchitecture paged steady | device DEVICE | arch OUT size=4
nvmlDeviceGetClkMonStatus paged | device DEVICE | status OUT size=264
nvmlDeviceGetProcessUtilization | device DEVICE | utilization LIST size=32 partner=2 optional=yes | processSamplesCount COUNT size=4 | lastSeenTimeStamp U64
nvmlDeviceGetProcessesUtilizationInfo | device DEVICE | procesesUtilInfo VERSIONED_LIST size=24 versions=0x1000018 words=0,8,12 count_at=4 list_at=16 record=40 optional=yes
nvmlDeviceGetPlatformInfo paged steady | device DEVICE | platformInfo VERSIONED size=44 versions=0x100002C,0x200002C words=0
nvmlDeviceGetPdi paged | device DEVICE | pdi VERSIONED size=16 versions=0x1000010 words=0
nvmlDeviceSetHostname_v1 | device DEVICE | hostname STRUCT_IN size=64
nvmlDeviceGetHostname_v1 paged | device DEVICE | hostname OUT size=64
nvmlDevicePerfMetricsGetSamples_v1 paged | device DEVICE | samples OUT size=115344
nvmlUnitSetLedState | unit HANDLE | color U32
nvmlDeviceSetPersistenceMode | device DEVICE | mode U32
nvmlDeviceSetComputeMode | device DEVICE | mode U32
nvmlDeviceSetEccMode | device DEVICE | ecc U32
nvmlDeviceClearEccErrorCounts | device DEVICE | counterType U32
nvmlDeviceSetDriverModel | device DEVICE | driverModel U32 | flags U32
nvmlDeviceSetGpuLockedClocks | device DEVICE | minGpuClockMHz U32 | maxGpuClockMHz U32
nvmlDeviceResetGpuLockedClocks | device DEVICE
nvmlDeviceSetMemoryLockedClocks | device DEVICE | minMemClockMHz U32 | maxMemClockMHz U32
nvmlDeviceResetMemoryLockedClocks | device DEVICE
nvmlDeviceSetApplicationsClocks | device DEVICE | memClockMHz U32 | graphicsClockMHz U32
nvmlDeviceResetApplicationsClocks | device DEVICE
nvmlDeviceSetAutoBoostedClocksEnabled | device DEVICE | enabled U32
nvmlDeviceSetDefaultAutoBoostedClocksEnabled | device DEVICE | enabled U32 | flags U32
nvmlDeviceSetDefaultFanSpeed_v2 | device DEVICE | fan U32
nvmlDeviceSetFanControlPolicy | device DEVICE | fan U32 | policy U32
nvmlDeviceSetTemperatureThreshold | device DEVICE | thresholdType U32 | temp STRUCT_IN size=4
nvmlDeviceSetPowerManagementLimit | device DEVICE | limit U32
nvmlDeviceSetGpuOperationMode | device DEVICE | mode U32
nvmlDeviceSetAPIRestriction | device DEVICE | apiType U32 | isRestricted U32
nvmlDeviceSetFanSpeed_v2 | device DEVICE | fan U32 | speed U32
nvmlDeviceSetGpcClkVfOffset | device DEVICE | offset U32
nvmlDeviceSetMemClkVfOffset | device DEVICE | offset U32
nvmlDeviceSetAccountingMode | device DEVICE | mode U32
nvmlDeviceClearAccountingPids | device DEVICE
nvmlDeviceGetNvLinkState paged | device DEVICE | link U32 | isActive OUT size=4
nvmlDeviceGetNvLinkVersion paged steady | device DEVICE | link U32 | version OUT size=4
nvmlDeviceGetNvLinkCapability paged steady | device DEVICE | link U32 | capability U32 | capResult OUT size=4
nvmlDeviceGetNvLinkRemotePciInfo_v2 paged steady | device DEVICE | link U32 | pci OUT size=68
nvmlDeviceGetNvLinkErrorCounter paged | device DEVICE | link U32 | counter U32 | counterValue OUT size=8
nvmlDeviceResetNvLinkErrorCounters | device DEVICE | link U32
nvmlDeviceSetNvLinkUtilizationControl | device DEVICE | link U32 | counter U32 | control STRUCT_IN size=8 | reset U32
nvmlDeviceGetNvLinkUtilizationControl paged | device DEVICE | link U32 | counter U32 | control OUT size=8
nvmlDeviceGetNvLinkUtilizationCounter paged | device DEVICE | link U32 | counter U32 | rxcounter OUT size=8 | txcounter OUT size=8
nvmlDeviceFreezeNvLinkUtilizationCounter | device DEVICE | link U32 | counter U32 | freeze U32
nvmlDeviceResetNvLinkUtilizationCounter | device DEVICE | link U32 | counter U32
nvmlDeviceGetNvLinkRemoteDeviceType paged steady | device DEVICE | link U32 | pNvLinkDeviceType OUT size=4
nvmlDeviceSetNvLinkDeviceLowPowerThreshold | device DEVICE | info STRUCT_IN size=4
nvmlSystemSetNvlinkBwMode | nvlinkBwMode U32
nvmlSystemGetNvlinkBwMode paged steady | nvlinkBwMode OUT size=4
nvmlDeviceGetNvlinkSupportedBwModes paged | device DEVICE | supportedBwMode VERSIONED size=28 versions=0x100001C words=0
nvmlDeviceGetNvlinkBwMode paged | device DEVICE | getBwMode VERSIONED size=12 versions=0x100000C words=0
nvmlDeviceSetNvlinkBwMode | device DEVICE | setBwMode STRUCT_IN size=12 versions=0x100000C
nvmlDeviceSetNvlinkBwModeAsync_v1 | device DEVICE | setBwModeAsync STRUCT_IN size=12
nvmlDeviceGetNvLinkInfo paged | device DEVICE | info VERSIONED size=1612 versions=0x1000008,0x200064C words=0
nvmlDeviceGetNvLinkInfo_v3 paged | device DEVICE | info OUT size=1612
nvmlDeviceGetNvLinkTelemetrySamples_v1 paged | device DEVICE | samples OUT size=16
nvmlDeviceGetNvlinkRemapTableInfo_v1 paged | device DEVICE | remapTableInfo OUT size=32776
nvmlDeviceSetNvlinkNvleReady_v1 | device DEVICE | setNvleReady STRUCT_IN size=1
nvmlDeviceLockNvlinkRemapTable_v1 | device DEVICE | remapTableLockInfo STRUCT_IN size=2
nvmlDeviceSetupNvlinkNvleEncryptionKey_v1 | device DEVICE | encryptionKey STRUCT_IN size=560
nvmlDeviceGetNvlinkNvlePrivateInfo_v1 paged | device DEVICE | privateInfo OUT size=260
nvmlEventSetCreate | set OUT size=8
nvmlDeviceRegisterEvents | device DEVICE | eventTypes U64 | set HANDLE
nvmlDeviceGetSupportedEventTypes paged steady | device DEVICE | eventTypes OUT size=8
nvmlEventSetWait_v2 | set HANDLE | data OUT size=32 devices=0 | timeoutms U32
nvmlEventSetRegisterGpuOperationalEvents_v1 | eventSet HANDLE | config STRUCT_IN size=104
nvmlEventSetWait_v3 | set HANDLE | params OUT size=224
nvmlEventSetGetContextCount_v1 | set HANDLE | params OUT size=4
nvmlEventSetGetContextInfo_v1 | set HANDLE | params OUT size=20
nvmlEventSetGetContextData_v1 | set HANDLE | params OUT size=16
nvmlEventSetGetGpuOperationalEventContextLegacyXid_v1 | set HANDLE | params OUT size=8
nvmlEventSetFree | set HANDLE
nvmlSystemEventSetCreate | request VERSIONED size=16 versions=0x1000010 words=0
nvmlSystemEventSetFree | request STRUCT_IN size=16 versions=0x1000010
nvmlSystemRegisterEvents | request STRUCT_IN size=24 versions=0x1000018
nvmlSystemEventSetWait | request VERSIONED size=32 versions=0x1000020 words=0,4,8,12
nvmlDeviceModifyDrainState | pciInfo STRUCT_IN size=68 | newState U32
nvmlDeviceQueryDrainState | pciInfo STRUCT_IN size=68 | currentState OUT size=4
nvmlDeviceRemoveGpu_v2 | pciInfo STRUCT_IN size=68 | gpuState U32 | linkState U32
nvmlDeviceDiscoverGpus | pciInfo STRUCT_IN size=68
nvmlDeviceGetFieldValues paged | device DEVICE | valuesCount U32 | values EACH size=40 partner=1 words=0,4
nvmlDeviceClearFieldValues | device DEVICE | valuesCount U32 | values EACH size=40 partner=1 words=0,4
nvmlDeviceGetVirtualizationMode paged steady | device DEVICE | pVirtualMode OUT size=4
nvmlDeviceGetHostVgpuMode paged steady | device DEVICE | pHostVgpuMode OUT size=4
nvmlDeviceSetVirtualizationMode | device DEVICE | virtualMode U32
nvmlDeviceGetVgpuHeterogeneousMode paged | device DEVICE | pHeterogeneousMode VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceSetVgpuHeterogeneousMode | device DEVICE | pHeterogeneousMode STRUCT_IN size=8 versions=0x1000008
nvmlVgpuInstanceGetPlacementId paged | vgpuInstance U32 | pPlacement VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceGetVgpuTypeSupportedPlacements paged | device DEVICE | vgpuTypeId U32 | pPlacementList VERSIONED_LIST size=32 versions=0x1000018,0x2000020 words=0 count_at=8 list_at=16 record=4
nvmlDeviceGetVgpuTypeCreatablePlacements paged | device DEVICE | vgpuTypeId U32 | pPlacementList VERSIONED_LIST size=32 versions=0x1000018,0x2000020 words=0 count_at=8 list_at=16 record=4
nvmlVgpuTypeGetGspHeapSize paged | vgpuTypeId U32 | gspHeapSize OUT size=8
nvmlVgpuTypeGetFbReservation paged | vgpuTypeId U32 | fbReservation OUT size=8
nvmlVgpuInstanceGetRuntimeStateSize paged | vgpuInstance U32 | pState VERSIONED size=16 versions=0x1000010 words=0
nvmlDeviceSetVgpuCapabilities | device DEVICE | capability U32 | state U32
nvmlDeviceVgpuForceGspUnload | device DEVICE
nvmlDeviceGetGridLicensableFeatures_v4 paged | device DEVICE | pGridLicensableFeatures OUT size=860
nvmlGetVgpuDriverCapabilities paged | capability U32 | capResult OUT size=4
nvmlDeviceGetVgpuCapabilities paged | device DEVICE | capability U32 | capResult OUT size=4
nvmlDeviceGetSupportedVgpus paged | device DEVICE | vgpuCount COUNT size=4 | vgpuTypeIds LIST size=4 partner=1
nvmlDeviceGetCreatableVgpus paged | device DEVICE | vgpuCount COUNT size=4 | vgpuTypeIds LIST size=4 partner=1
nvmlVgpuTypeGetClass paged | vgpuTypeId U32 | vgpuTypeClass TEXT_OUT partner=2 | size COUNT size=4
nvmlVgpuTypeGetName paged | vgpuTypeId U32 | vgpuTypeName TEXT_OUT partner=2 | size COUNT size=4
nvmlVgpuTypeGetGpuInstanceProfileId paged | vgpuTypeId U32 | gpuInstanceProfileId OUT size=4
nvmlVgpuTypeGetDeviceID paged | vgpuTypeId U32 | deviceID OUT size=8 | subsystemID OUT size=8
nvmlVgpuTypeGetFramebufferSize paged | vgpuTypeId U32 | fbSize OUT size=8
nvmlVgpuTypeGetNumDisplayHeads paged | vgpuTypeId U32 | numDisplayHeads OUT size=4
nvmlVgpuTypeGetResolution paged | vgpuTypeId U32 | displayIndex U32 | xdim OUT size=4 | ydim OUT size=4
nvmlVgpuTypeGetLicense paged | vgpuTypeId U32 | vgpuTypeLicenseString TEXT_OUT partner=2 | size U32
nvmlVgpuTypeGetFrameRateLimit paged | vgpuTypeId U32 | frameRateLimit OUT size=4
nvmlVgpuTypeGetMaxInstances paged | device DEVICE | vgpuTypeId U32 | vgpuInstanceCount OUT size=4
nvmlVgpuTypeGetMaxInstancesPerVm paged | vgpuTypeId U32 | vgpuInstanceCountPerVm OUT size=4
nvmlVgpuTypeGetBAR1Info paged | vgpuTypeId U32 | bar1Info VERSIONED size=16 versions=0x1000010 words=0
nvmlDeviceGetActiveVgpus paged | device DEVICE | vgpuCount COUNT size=4 | vgpuInstances LIST size=4 partner=1
nvmlVgpuInstanceGetVmID paged | vgpuInstance U32 | vmId TEXT_OUT partner=2 | size U32 | vmIdType OUT size=4
nvmlVgpuInstanceGetUUID paged | vgpuInstance U32 | uuid TEXT_OUT partner=2 | size U32
nvmlVgpuInstanceGetVmDriverVersion paged | vgpuInstance U32 | version TEXT_OUT partner=2 | length U32
nvmlVgpuInstanceGetFbUsage paged | vgpuInstance U32 | fbUsage OUT size=8
nvmlVgpuInstanceGetLicenseStatus paged | vgpuInstance U32 | licensed OUT size=4
nvmlVgpuInstanceGetType paged | vgpuInstance U32 | vgpuTypeId OUT size=4
nvmlVgpuInstanceGetFrameRateLimit paged | vgpuInstance U32 | frameRateLimit OUT size=4
nvmlVgpuInstanceGetEccMode paged | vgpuInstance U32 | eccMode OUT size=4
nvmlVgpuInstanceGetEncoderCapacity paged | vgpuInstance U32 | encoderCapacity OUT size=4
nvmlVgpuInstanceSetEncoderCapacity | vgpuInstance U32 | encoderCapacity U32
nvmlVgpuInstanceGetEncoderStats paged | vgpuInstance U32 | sessionCount OUT size=4 | averageFps OUT size=4 | averageLatency OUT size=4
nvmlVgpuInstanceGetEncoderSessions paged | vgpuInstance U32 | sessionCount COUNT size=4 | sessionInfo LIST size=32 partner=1 asking_succeeds=yes
nvmlVgpuInstanceGetFBCStats paged | vgpuInstance U32 | fbcStats OUT size=12
nvmlVgpuInstanceGetFBCSessions paged | vgpuInstance U32 | sessionCount COUNT size=4 | sessionInfo LIST size=48 partner=1 asking_succeeds=yes
nvmlVgpuInstanceGetGpuInstanceId paged | vgpuInstance U32 | gpuInstanceId OUT size=4
nvmlVgpuInstanceGetGpuPciId paged | vgpuInstance U32 | vgpuPciId TEXT_OUT partner=2 | length COUNT size=4
nvmlVgpuTypeGetCapabilities paged | vgpuTypeId U32 | capability U32 | capResult OUT size=4
nvmlVgpuInstanceGetMdevUUID paged | vgpuInstance U32 | mdevUuid TEXT_OUT partner=2 | size U32
nvmlGpuInstanceGetCreatableVgpus | gpuInstance HANDLE | pVgpus VERSIONED_LIST size=16 versions=0x1000010 words=0 count_at=4 list_at=8 record=4
nvmlVgpuTypeGetMaxInstancesPerGpuInstance paged | pMaxInstance VERSIONED size=12 versions=0x100000C words=0,4
nvmlGpuInstanceGetActiveVgpus | gpuInstance HANDLE | pVgpuInstanceInfo VERSIONED_LIST size=16 versions=0x1000010 words=0 count_at=4 list_at=8 record=4
nvmlGpuInstanceSetVgpuSchedulerState | gpuInstance HANDLE | pScheduler STRUCT_IN size=24 versions=0x1000018
nvmlGpuInstanceGetVgpuSchedulerState | gpuInstance HANDLE | pSchedulerStateInfo VERSIONED size=24 versions=0x1000018 words=0,4
nvmlGpuInstanceGetVgpuSchedulerLog | gpuInstance HANDLE | pSchedulerLogInfo VERSIONED size=9632 versions=0x10025A0 words=0,4
nvmlGpuInstanceGetVgpuTypeCreatablePlacements | gpuInstance HANDLE | pCreatablePlacementInfo VERSIONED_LIST size=32 versions=0x1000020 words=0,4 count_at=8 list_at=16 record=4
nvmlGpuInstanceGetVgpuHeterogeneousMode | gpuInstance HANDLE | pHeterogeneousMode VERSIONED size=8 versions=0x1000008 words=0
nvmlGpuInstanceSetVgpuHeterogeneousMode | gpuInstance HANDLE | pHeterogeneousMode STRUCT_IN size=8 versions=0x1000008
nvmlDeviceGetVgpuSchedulerState_v2 paged | device DEVICE | pSchedulerStateInfo OUT size=16
nvmlGpuInstanceGetVgpuSchedulerState_v2 | gpuInstance HANDLE | pSchedulerStateInfo OUT size=16
nvmlDeviceGetVgpuSchedulerLog_v2 paged | device DEVICE | pSchedulerLogInfo OUT size=11224
nvmlGpuInstanceGetVgpuSchedulerLog_v2 | gpuInstance HANDLE | pSchedulerLogInfo OUT size=11224
nvmlDeviceSetVgpuSchedulerState_v2 | device DEVICE | pSchedulerState STRUCT_IN size=16
nvmlGpuInstanceSetVgpuSchedulerState_v2 | gpuInstance HANDLE | pSchedulerState STRUCT_IN size=16
nvmlVgpuInstanceGetMetadata paged | vgpuInstance U32 | vgpuMetadata OUT size=212 | bufferSize OUT size=4
nvmlDeviceGetVgpuMetadata paged | device DEVICE | pgpuMetadata OUT size=128 | bufferSize OUT size=4
nvmlGetVgpuCompatibility | vgpuMetadata STRUCT_IN size=212 | pgpuMetadata STRUCT_IN size=128 | compatibilityInfo OUT size=8
nvmlDeviceGetPgpuMetadataString paged | device DEVICE | pgpuMetadata TEXT_OUT partner=2 | bufferSize COUNT size=4
nvmlDeviceGetVgpuSchedulerLog paged | device DEVICE | pSchedulerLog OUT size=9624
nvmlDeviceGetVgpuSchedulerState paged | device DEVICE | pSchedulerState OUT size=16
nvmlDeviceSetVgpuSchedulerState | device DEVICE | pSchedulerState STRUCT_IN size=16
nvmlDeviceGetVgpuSchedulerCapabilities paged | device DEVICE | pCapabilities OUT size=40
nvmlGetVgpuVersion paged | supported OUT size=8 | current OUT size=8
nvmlSetVgpuVersion | vgpuVersion STRUCT_IN size=8
nvmlDeviceGetVgpuUtilization | device DEVICE | lastSeenTimeStamp U64 | sampleValType OUT size=4 | vgpuInstanceSamplesCount COUNT size=4 | utilizationSamples LIST size=48 partner=3 optional=yes
nvmlDeviceGetVgpuInstancesUtilizationInfo | device DEVICE | vgpuUtilInfo VERSIONED_LIST size=32 versions=0x1000020 words=0,16,20 count_at=8 list_at=24 record=64
nvmlDeviceGetVgpuProcessUtilization | device DEVICE | lastSeenTimeStamp U64 | vgpuProcessSamplesCount COUNT size=4 | utilizationSamples LIST size=96 partner=2 optional=yes
nvmlDeviceGetVgpuProcessesUtilizationInfo | device DEVICE | vgpuProcUtilInfo VERSIONED_LIST size=24 versions=0x1000018 words=0,8,12 count_at=4 list_at=16 record=104
nvmlVgpuInstanceGetAccountingMode paged | vgpuInstance U32 | mode OUT size=4
nvmlVgpuInstanceGetAccountingPids paged | vgpuInstance U32 | count COUNT size=4 | pids LIST size=4 partner=1
nvmlVgpuInstanceGetAccountingStats paged | vgpuInstance U32 | pid U32 | stats OUT size=56
nvmlVgpuInstanceClearAccountingPids | vgpuInstance U32
nvmlVgpuInstanceGetLicenseInfo_v2 paged | vgpuInstance U32 | licenseInfo OUT size=24
nvmlGetExcludedDeviceCount paged | deviceCount OUT size=4
nvmlGetExcludedDeviceInfoByIndex paged | index U32 | info OUT size=148
nvmlDeviceReadWritePRM_v1 | device DEVICE | buffer STRUCT_IN size=504
nvmlDeviceReadPRMCounters_v1 | device DEVICE | counterList STRUCT_IN size=16
nvmlDeviceSetMigMode | device DEVICE | mode U32 | activationStatus OUT size=4
nvmlDeviceGetMigMode paged steady | device DEVICE | currentMode OUT size=4 | pendingMode OUT size=4
nvmlDeviceGetGpuInstanceProfileInfo paged | device DEVICE | profile U32 | info OUT size=48
nvmlDeviceGetGpuInstanceProfileInfoV paged | device DEVICE | profile U32 | info VERSIONED size=152 versions=0x2000098,0x3000098 words=0
nvmlDeviceGetGpuInstanceProfileInfoByIdV paged | device DEVICE | profileId U32 | info VERSIONED size=152 versions=0x2000098,0x3000098 words=0
nvmlDeviceGetGpuInstancePossiblePlacements_v2 paged | device DEVICE | profileId U32 | placements LIST size=8 partner=3 fit=TRUST optional=yes asking_succeeds=yes | count COUNT size=4 fit=TRUST
nvmlDeviceGetGpuInstanceRemainingCapacity paged | device DEVICE | profileId U32 | count OUT size=4
nvmlDeviceCreateGpuInstance | device DEVICE | profileId U32 | gpuInstance OUT size=8
nvmlDeviceCreateGpuInstanceWithPlacement | device DEVICE | profileId U32 | placement STRUCT_IN size=8 | gpuInstance OUT size=8
nvmlGpuInstanceDestroy | gpuInstance HANDLE
nvmlDeviceGetGpuInstances paged | device DEVICE | profileId U32 | gpuInstances LIST size=8 partner=3 fit=TRUST | count COUNT size=4 fit=TRUST
nvmlDeviceGetGpuInstanceById paged | device DEVICE | id U32 | gpuInstance OUT size=8
nvmlGpuInstanceGetInfo | gpuInstance HANDLE | info OUT size=24 devices=0
nvmlGpuInstanceGetComputeInstanceProfileInfo | gpuInstance HANDLE | profile U32 | engProfile U32 | info OUT size=36
nvmlGpuInstanceGetComputeInstanceProfileInfoV | gpuInstance HANDLE | profile U32 | engProfile U32 | info VERSIONED size=136 versions=0x2000088,0x300008C words=0
nvmlGpuInstanceGetComputeInstanceRemainingCapacity | gpuInstance HANDLE | profileId U32 | count OUT size=4
nvmlGpuInstanceGetComputeInstancePossiblePlacements | gpuInstance HANDLE | profileId U32 | placements LIST size=8 partner=3 fit=TRUST optional=yes asking_succeeds=yes | count COUNT size=4 fit=TRUST
nvmlGpuInstanceCreateComputeInstance | gpuInstance HANDLE | profileId U32 | computeInstance OUT size=8
nvmlGpuInstanceCreateComputeInstanceWithPlacement | gpuInstance HANDLE | profileId U32 | placement STRUCT_IN size=8 | computeInstance OUT size=8
nvmlComputeInstanceDestroy | computeInstance HANDLE
nvmlGpuInstanceGetComputeInstances | gpuInstance HANDLE | profileId U32 | computeInstances LIST size=8 partner=3 fit=TRUST | count COUNT size=4 fit=TRUST
nvmlGpuInstanceGetComputeInstanceById | gpuInstance HANDLE | id U32 | computeInstance OUT size=8
nvmlComputeInstanceGetInfo_v2 | computeInstance HANDLE | info OUT size=32 devices=0
nvmlDeviceIsMigDeviceHandle paged steady | device DEVICE | isMigDevice OUT size=4
nvmlDeviceGetGpuInstanceId paged steady | device DEVICE | id OUT size=4
nvmlDeviceGetComputeInstanceId paged steady | device DEVICE | id OUT size=4
nvmlDeviceGetMaxMigDeviceCount paged steady | device DEVICE | count OUT size=4
nvmlDeviceGetMigDeviceHandleByIndex paged steady | device DEVICE | index U32 | migDevice DEVICE_OUT size=8
nvmlDeviceGetDeviceHandleFromMigDeviceHandle paged steady | migDevice DEVICE | device DEVICE_OUT size=8
nvmlGpmMetricsGet | metricsGet VERSIONED_EACH size=19104 versions=0x1 count_at=4 list_at=24 record=40
nvmlGpmSampleFree | gpmSample HANDLE
nvmlGpmSampleAlloc | gpmSample OUT size=8
nvmlGpmSampleGet | device DEVICE | gpmSample HANDLE
nvmlGpmMigSampleGet | device DEVICE | gpuInstanceId U32 | gpmSample HANDLE
nvmlGpmQueryDeviceSupport paged steady | device DEVICE | gpmSupport VERSIONED size=8 versions=0x1 words=0
nvmlGpmQueryIfStreamingEnabled paged steady | device DEVICE | state OUT size=4
nvmlGpmSetStreamingEnabled | device DEVICE | state U32
nvmlDeviceGetCapabilities paged | device DEVICE | caps VERSIONED size=8 versions=0x1000008 words=0
nvmlDeviceWorkloadPowerProfileGetProfilesInfo paged | device DEVICE | profilesInfo VERSIONED size=11256 versions=0x1002BF8 words=0
nvmlDeviceWorkloadPowerProfileGetCurrentProfiles paged | device DEVICE | currentProfiles VERSIONED size=100 versions=0x1000064 words=0
nvmlDeviceWorkloadPowerProfileSetRequestedProfiles | device DEVICE | requestedProfiles STRUCT_IN size=36 versions=0x1000024
nvmlDeviceWorkloadPowerProfileClearRequestedProfiles | device DEVICE | requestedProfiles STRUCT_IN size=36 versions=0x1000024
nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1 | device DEVICE | updateProfiles STRUCT_IN size=36
nvmlDevicePowerSmoothingActivatePresetProfile | device DEVICE | profile STRUCT_IN size=24 versions=0x1000018
nvmlDevicePowerSmoothingUpdatePresetProfileParam | device DEVICE | profile STRUCT_IN size=24 versions=0x1000018
nvmlDevicePowerSmoothingSetState | device DEVICE | state STRUCT_IN size=8 versions=0x1000008
nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts paged | device DEVICE | errorCounts VERSIONED_LIST size=16 versions=0x1000010 words=0 count_at=4 list_at=8 record=28
nvmlDeviceGetRemappedRows_v2 paged | device DEVICE | info OUT size=24
nvmlDeviceSetRusdSettings_v1 | device DEVICE | settings STRUCT_IN size=16 versions=0x1000010
nvmlDeviceGetBankRemapperStatus_v1 paged | device DEVICE | pBankRemapperStatus OUT size=20
nvmlDeviceGetCount paged steady | deviceCount OUT size=4
nvmlDeviceGetHandleByIndex paged steady | index U32 | device DEVICE_OUT size=8
nvmlDeviceGetHandleByPciBusId | pciBusId TEXT_IN | device DEVICE_OUT size=8
nvmlDeviceGetPciInfo paged steady | device DEVICE | pci OUT size=32
nvmlDeviceGetPciInfo_v2 paged steady | device DEVICE | pci OUT size=36
nvmlDeviceGetNvLinkRemotePciInfo paged steady | device DEVICE | link U32 | pci OUT size=36
nvmlDeviceGetGridLicensableFeatures paged | device DEVICE | pGridLicensableFeatures OUT size=860
nvmlDeviceGetGridLicensableFeatures_v2 paged | device DEVICE | pGridLicensableFeatures OUT size=860
nvmlDeviceGetGridLicensableFeatures_v3 paged | device DEVICE | pGridLicensableFeatures OUT size=860
nvmlDeviceRemoveGpu | pciInfo STRUCT_IN size=36
nvmlEventSetWait | set HANDLE | data OUT size=24 devices=0 | timeoutms U32
nvmlDeviceGetAttributes paged steady | device DEVICE | attributes OUT size=40
nvmlComputeInstanceGetInfo | computeInstance HANDLE | info OUT size=32 devices=0
nvmlDeviceGetComputeRunningProcesses paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=16 partner=1
nvmlDeviceGetComputeRunningProcesses_v2 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetGraphicsRunningProcesses paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=16 partner=1
nvmlDeviceGetGraphicsRunningProcesses_v2 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetMPSComputeRunningProcesses paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=16 partner=1
nvmlDeviceGetMPSComputeRunningProcesses_v2 paged | device DEVICE | infoCount COUNT size=4 | infos LIST size=24 partner=1
nvmlDeviceGetGpuInstancePossiblePlacements paged | device DEVICE | profileId U32 | placements LIST size=8 partner=3 fit=TRUST optional=yes asking_succeeds=yes | count COUNT size=4 fit=TRUST
nvmlVgpuInstanceGetLicenseInfo paged | vgpuInstance U32 | licenseInfo OUT size=24
nvmlDeviceGetDriverModel paged steady | device DEVICE | current OUT size=4 optional=yes | pending OUT size=4 optional=yes
nvmlGetBlacklistDeviceCount paged | deviceCount OUT size=4
nvmlGetBlacklistDeviceInfoByIndex paged | index U32 | info OUT size=148
"""

_known: dict[str, Param] = {}

FUNCTIONS: tuple[Function, ...] = tuple(
    parse(number, row, _known) for number, row in enumerate(_ROWS.splitlines())
)
"""In the order of their ids: the header's, then the older names."""

BY_NAME: Mapping[str, Function] = {function.name: function for function in FUNCTIONS}
