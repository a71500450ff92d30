"""``-h`` and ``--help-query-...``: what can be asked, in words of this look-alike's own.

The lists of properties have the real lists' form: a line with the names, quoted, and a line about
them. Programs read the names out of it.
"""

from __future__ import annotations

from typing import Any

from fakes.commands.nvidia_smi.csv import Query

USAGE = """\
nvidia-smi [OPTION [VALUE]] ...      a look-alike: it answers for a GPU server that is not there

    -h,   --help                     this text
          --version                  versions of driver, NVML and CUDA

    (nothing)                        a table of GPUs, and of the processes on them
    -L,   --list-gpus                a line for each GPU, with its UUID
    -q,   --query                    all there is to say of each GPU
    -d,   --display=SECTIONS         with -q, these sections alone: MEMORY, UTILIZATION, ECC,
                                     TEMPERATURE, POWER, CLOCK, COMPUTE, PIDS, PERFORMANCE,
                                     SUPPORTED_CLOCKS, PAGE_RETIREMENT, ACCOUNTING, ENCODER_STATS,
                                     SUPPORTED_GPU_TARGET_TEMP, VOLTAGE, FBC_STATS, ROW_REMAPPER,
                                     GSP_FIRMWARE_VERSION, POWER_SMOOTHING, POWER_PROFILES

    --query-gpu=PROPERTIES           as CSV; each has a --help-query-... that lists its properties
    --query-supported-clocks=PROPERTIES
    --query-compute-apps=PROPERTIES
    --query-accounted-apps=PROPERTIES
    --query-retired-pages=PROPERTIES
    --query-remapped-rows=PROPERTIES
    --format=csv[,noheader][,nounits]

    -pm,  --persistence-mode=        0/DISABLED, 1/ENABLED
    -e,   --ecc-config=              0/DISABLED, 1/ENABLED, from the next reset on
    -p,   --reset-ecc-errors=        0/VOLATILE, 1/AGGREGATE
    -c,   --compute-mode=            0/DEFAULT, 2/PROHIBITED, 3/EXCLUSIVE_PROCESS
    -mig, --multi-instance-gpu=      0/DISABLED, 1/ENABLED
    -am,  --accounting-mode=         0/DISABLED, 1/ENABLED
    -caa, --clear-accounted-apps
    -pl,  --power-limit=             watts
    -lgc, --lock-gpu-clocks=         MHz, or lowest,highest MHz
    -rgc, --reset-gpu-clocks
    -lmc, --lock-memory-clocks=      MHz, or lowest,highest MHz
    -rmc, --reset-memory-clocks
    -ac,  --applications-clocks=     memory,graphics MHz
    -rac, --reset-applications-clocks
    -acp, --applications-clocks-permission=    0/UNRESTRICTED, 1/RESTRICTED
          --auto-boost-default=, --auto-boost-permission=
    -r,   --gpu-reset

    dmon  pmon                       readings of GPUs, of processes, again and again
    nvlink  topo                     links; what is how far from what
    mig  drain  clocks  conf-compute  vgpu     each has a -h of its own

    -x,   --xml-format               with -q
    -f,   --filename=FILE            into a file
    -i,   --id=IDS                   these GPUs alone: index, UUID, serial number or PCI address
    -l,   --loop=SECONDS             again and again (5)
    -lms, --loop-ms=MILLISECONDS
    -eow, --error-on-warning         fail where a GPU cannot do what is asked
"""


def properties(switch: str, query: Query[Any]) -> str:
    """The properties that a query knows, in its order."""
    lines = [f'List of valid properties to query for the switch "--{switch}":', ""]
    for field in query.fields:
        lines += [" or ".join(f'"{name}"' for name in field.names), field.about, ""]
    return "\n".join(lines) + "\n"
