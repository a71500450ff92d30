"""What scontrol prints of a node, a job, a partition and a reservation, line by line.

The lines are those of a slurmctld 22.05.8 that was asked; later ones add some.
"""

from __future__ import annotations

from fakes.commands.scontrol.caller import Caller, Row
from fakes.jobs.records import Phase, Reservation
from fakes.slurm.hostlist import compress
from fakes.slurm.jobs import JobView, mebibytes, priority_of
from fakes.slurm.nodes import cpu_load, features_of, free_memory_mb, gres_of, gres_used
from fakes.slurm.states import (
    CONTROLLER,
    CPUS,
    MEMORY_MB,
    PARTITION,
    SOCKETS,
    VERSION,
    cpus_used,
    elapsed,
    full_state,
    gpus_used,
    job_reason,
    kind_of,
    limit,
    moment,
    run_time_s,
    states_of,
)
from fakes.slurm.users import user_number
from fakes.system.kernel import RELEASE
from fakes.world import World

CONFIGURATION = {
    "AccountingStorageTRES": "cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AuthType": "auth/munge",
    "ClusterName": "cluster",
    "CompleteWait": "0 sec",
    "Epilog": "(null)",
    "FirstJobId": "1",
    "GresTypes": "gpu",
    "HealthCheckInterval": "0 sec",
    "HealthCheckNodeState": "ANY",
    "HealthCheckProgram": "(null)",
    "JobRequeue": "1",
    "KillWait": "30 sec",
    "MessageTimeout": "10 sec",
    "MinJobAge": "300 sec",
    "MpiDefault": "none",
    "PriorityType": "priority/basic",
    "ProctrackType": "proctrack/cgroup",
    "Prolog": "(null)",
    "PrologFlags": "(null)",
    "RebootProgram": "/sbin/reboot",
    "ResumeTimeout": "600 sec",
    "ReturnToService": "1",
    "SchedulerType": "sched/backfill",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CORE_MEMORY",
    "SLURM_CONF": "/etc/slurm/slurm.conf",
    "SlurmctldHost[0]": CONTROLLER,
    "SlurmctldLogFile": "/var/log/slurm/slurmctld.log",
    "SlurmctldPort": "6817",
    "SlurmctldTimeout": "120 sec",
    "SlurmdLogFile": "/var/log/slurm/slurmd.log",
    "SlurmdPort": "6818",
    "SlurmdSpoolDir": "/var/spool/slurmd",
    "SlurmdTimeout": "300 sec",
    "SlurmUser": "slurm(64030)",
    "StateSaveLocation": "/var/spool/slurmctld",
    "TaskPlugin": "task/cgroup",
    "TmpFS": "/tmp",
    "TopologyPlugin": "topology/tree",
    "TreeWidth": "50",
    "UnkillableStepTimeout": "60 sec",
}


def node_record(caller: Caller, name: str) -> list[Row]:
    """A node."""
    world = caller.world
    node, known = world.nodes[name], caller.cluster.nodes[name]
    used, gpus = cpus_used(caller.cluster, node), len(gpus_used(caller.cluster, node))
    busy = MEMORY_MB if used else 0
    booted = moment(world, node.booted_us or 0) if node.is_up else "None"
    features = features_of(world, name) or "(null)"
    record: list[Row] = [
        (f"NodeName={name}", "Arch=x86_64", f"CoresPerSocket={CPUS // SOCKETS} "),
        (f"CPUAlloc={used}", f"CPUEfctv={CPUS}", f"CPUTot={CPUS}", f"CPULoad={cpu_load(node):.2f}"),
        (f"AvailableFeatures={features}",),
        (f"ActiveFeatures={features}",),
        (f"Gres={gres_of(node)}",),
    ]
    if caller.details:
        record += [("GresDrain=N/A",), (f"GresUsed={gres_used(world, node)}",)]
    record += [
        (f"NodeAddr={name}", f"NodeHostName={name}", f"Version={VERSION}"),
        (f"OS=Linux {RELEASE} ",),
        (f"RealMemory={MEMORY_MB}", f"AllocMem={busy}", f"FreeMem={free_memory_mb(node)}",
         f"Sockets={SOCKETS}", "Boards=1"),
        (f"State={full_state(states_of(world, name))}", "ThreadsPerCore=1", "TmpDisk=0",
         "Weight=1", "Owner=N/A", "MCS_label=N/A"),
    ]  # fmt: skip
    if known.reboot is not None and known.reboot.next_state:
        record.append((f"NextState={known.reboot.next_state}",))
    record += [
        (f"Partitions={PARTITION} ",),
        (f"BootTime={booted}", f"SlurmdStartTime={booted}"),
        (f"LastBusyTime={moment(world, world.now_us)}", "ResumeAfterTime=None"),
        (f"CfgTRES=cpu={CPUS},mem={MEMORY_MB}M,billing={CPUS},gres/gpu={len(node.gpus)}",),
        (f"AllocTRES=cpu={used},mem={busy}M,gres/gpu={gpus}" if used else "AllocTRES=",),
        ("CapWatts=n/a",),
        ("CurrentWatts=0", "AveWatts=0"),
        ("ExtSensorsJoules=n/a", "ExtSensorsWatts=0", "ExtSensorsTemp=n/a"),
    ]
    if (why := known.why) is not None:
        record.append((f"Reason={why.reason} [{why.user}@{moment(world, why.at_us)}]",))
    record += [(f"Comment={known.comment}",)] if known.comment else []
    record += [(f"Extra={known.extra}",)] if known.extra else []
    if known.reservation is not None:
        record.append((f"ReservationName={known.reservation.name}",))
    return record


def job_record(caller: Caller, view: JobView) -> list[Row]:
    """A job."""
    job, world, request = view.job, caller.world, view.job.request
    owner = f"{job.user}({user_number(job.user)})"
    submitted = moment(world, job.submitted_us)
    started = moment(world, job.started_us) if job.started_us is not None else "Unknown"
    waits = job.phase is Phase.PENDING
    nodes, count = view.nodes, job.node_count
    eligible = "Unknown" if job.held else submitted
    reason = job_reason(job).replace(" ", "_")
    ends = view.end if view.end not in ("NONE", "N/A") else "Unknown"
    ran = elapsed(run_time_s(world, job), padded=True)
    record: list[Row] = [
        (f"JobId={job.number}", f"JobName={job.title}"),
        (f"UserId={owner}", f"GroupId={owner}", "MCS_label=N/A"),
        (f"Priority={priority_of(job)}", "Nice=0", "Account=(null)", "QOS=(null)"),
        (f"JobState={job.phase.value.upper()}", f"Reason={reason}", "Dependency=(null)"),
        (f"Requeue={int(job.requeueable)}", f"Restarts={job.requeues}",
         f"BatchFlag={int(request is None or request.batch)}", "Reboot=0",
         f"ExitCode={job.exit_code}:{job.signal}"),
    ]  # fmt: skip
    record += [("DerivedExitCode=0:0",)] if caller.details else []
    record += [
        (f"RunTime={ran}", f"TimeLimit={limit(view.limit_s, padded=True)}", "TimeMin=N/A"),
        (f"SubmitTime={submitted}", f"EligibleTime={eligible}"),
        (f"AccrueTime={eligible}",),
        (f"StartTime={started}", f"EndTime={ends}", "Deadline=N/A"),
        ("SuspendTime=None", "SecsPreSuspend=0",
         f"LastSchedEval={moment(world, job.started_us or job.submitted_us)}", "Scheduler=Main"),
        (f"Partition={PARTITION}", f"AllocNode:Sid={CONTROLLER}:4242"),
        (f"ReqNodeList={_list(request.wanted if request else ())}",
         f"ExcNodeList={_list(request.excluded if request else ())}"),
        (f"NodeList={nodes}",),
    ]  # fmt: skip
    record += [] if waits or not job.nodes else [(f"BatchHost={job.nodes[0]}",)]
    shared = "NO" if request is not None and request.exclusive else "OK"
    each = request.cpus_per_task if request else 1
    record += [
        (f"NumNodes={f'{count}-{count}' if waits else count}", f"NumCPUs={view.cpus}",
         f"NumTasks={view.tasks}", f"CPUs/Task={each}", "ReqB:S:C:T=0:0:*:*"),
        (f"TRES={view.tres}",),
        ("Socks/Node=*", "NtasksPerN:B:S:C=0:0:*:*", "CoreSpec=*"),
    ]  # fmt: skip
    if caller.details and job.is_placed:
        record += _details(world, view)
    command = (request.command if request else "") or "(null)"
    record += [
        (f"MinCPUsNode={each}", "MinMemoryNode=0", "MinTmpDiskNode=0"),
        ("Features=(null)", "DelayBoot=00:00:00"),
        (f"OverSubscribe={shared}", "Contiguous=0", "Licenses=(null)", "Network=(null)"),
        (f"Command={command}",),
        (f"WorkDir={view.work_dir}",),
    ]
    record += [(f"Comment={job.comment} ",)] if job.comment else []
    record += [
        (f"StdErr={view.output(error=True)}",),
        ("StdIn=/dev/null",),
        (f"StdOut={view.output()}",),
        ("Power=",),
    ]
    record += [(f"TresPerNode={view.tres_per_node}",)] if job.gpus_per_node else []
    return [*record, ("",)]


def _details(world: World, view: JobView) -> list[Row]:
    """The GPUs of a job that runs, node by node; nodes with the same ones together."""
    job = view.job
    first = world.nodes[job.nodes[0]]
    kind = kind_of(first)
    alike: dict[tuple[int, ...], list[str]] = {}
    for name, spec in job.specs.items():
        alike.setdefault(spec.gpus, []).append(name)
    rows: list[Row] = []
    count = sum(len(spec.gpus) for spec in job.specs.values())
    rows += [(f"JOB_GRES=gpu:{kind}:{count}",)] if count else [("JOB_GRES=(null)",)]
    each = view.cpus // max(job.node_count, 1)
    for gpus, names in alike.items():
        listed = compress(str(gpu) for gpu in gpus).strip("[]")
        gres = f"gpu:{kind}:{len(gpus)}(IDX:{listed})" if gpus else ""
        ids = f"0-{each - 1}" if each > 1 else "0"
        rows.append(
            (f"  Nodes={compress(names)}", f"CPU_IDs={ids}", f"Mem={MEMORY_MB}", f"GRES={gres}")
        )
    return rows


def _list(names: tuple[str, ...]) -> str:
    return compress(names) if names else "(null)"


def partition_record(world: World) -> list[Row]:
    """The one partition."""
    count = len(world.cluster.nodes)
    cpus, gpus = CPUS * count, sum(len(node.gpus) for node in world.nodes.values())
    memory = mebibytes(MEMORY_MB * count)
    return [
        (f"PartitionName={PARTITION}",),
        ("AllowGroups=ALL", "AllowAccounts=ALL", "AllowQos=ALL"),
        ("AllocNodes=ALL", "Default=YES", "QoS=N/A"),
        ("DefaultTime=NONE", "DisableRootJobs=NO", "ExclusiveUser=NO", "GraceTime=0", "Hidden=NO"),
        ("MaxNodes=UNLIMITED", "MaxTime=UNLIMITED", "MinNodes=0", "LLN=NO",
         "MaxCPUsPerNode=UNLIMITED"),
        (f"Nodes={compress(world.cluster.nodes)}",),
        ("PriorityJobFactor=1", "PriorityTier=1", "RootOnly=NO", "ReqResv=NO", "OverSubscribe=NO"),
        ("OverTimeLimit=NONE", "PreemptMode=OFF"),
        ("State=UP", f"TotalCPUs={cpus}", f"TotalNodes={count}", "SelectTypeParameters=NONE"),
        ("JobDefaults=(null)",),
        ("DefMemPerNode=UNLIMITED", "MaxMemPerNode=UNLIMITED"),
        (f"TRES=cpu={cpus},mem={memory},node={count},billing={cpus},gres/gpu={gpus}",),
    ]  # fmt: skip


def reservation_record(world: World, kept: Reservation) -> list[Row]:
    """A reservation."""
    cores = CPUS * len(kept.nodes)
    flags = ",".join((*kept.flags, "SPEC_NODES"))
    duration = elapsed((kept.ends_us - kept.starts_us) // 1_000_000, padded=True)
    state = "ACTIVE" if kept.starts_us <= world.now_us < kept.ends_us else "INACTIVE"
    return [
        (f"ReservationName={kept.name}", f"StartTime={moment(world, kept.starts_us)}",
         f"EndTime={moment(world, kept.ends_us)}", f"Duration={duration}"),
        (f"Nodes={compress(kept.nodes)}", f"NodeCnt={len(kept.nodes)}", f"CoreCnt={cores}",
         "Features=(null)", "PartitionName=(null)", f"Flags={flags}"),
        (f"TRES=cpu={cores}",),
        (f"Users={','.join(kept.users)}", "Groups=(null)", "Accounts=(null)", "Licenses=(null)",
         f"State={state}", "BurstBuffer=(null)", "Watts=n/a"),
        ("MaxStartDelay=(null)",),
    ]  # fmt: skip
