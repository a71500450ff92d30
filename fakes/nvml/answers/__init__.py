"""What each NVML function says, once; a file a chapter of NVML."""
