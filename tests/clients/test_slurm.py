"""The look-alikes of Slurm's commands say what Debian's Slurm says.

The same calls go to a slurmctld and four slurmds of slurm-wlm, on loopback and in a directory of
their own, and to a fake fleet. What differs by its nature is made the same: times, loads, ports,
who asks; and what Slurm only tells with an accounting database, or in later versions.
"""

from __future__ import annotations

import getpass
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.commands.registry import Call, commands
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
NODES = 4
SECOND_US = 1_000_000

CONFIGURATION = """\
ClusterName=cluster
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool.%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=1
GresTypes=gpu
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
RebootProgram=/bin/true
"""
NODE = (
    "NodeName=n{at} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} Sockets=2 "
    "CoresPerSocket=96 ThreadsPerCore=1 RealMemory=2000000 Gres=gpu:h100:8 Feature=h100\n"
)


@dataclass(frozen=True)
class Said:
    """What a call printed, and its exit status."""

    status: int
    out: str
    err: str


class RealSlurm:
    """A slurmctld and its slurmds."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._processes: list[subprocess.Popen[bytes]] = []
        ports = free_ports(NODES + 1)
        (home / "state").mkdir()
        text = CONFIGURATION.format(home=home, user=getpass.getuser(), port=ports[0])
        for at, port in enumerate(ports[1:]):
            (home / f"spool.n{at}").mkdir()
            text += NODE.format(at=at, port=port)
        text += "PartitionName=batch Nodes=n[0-3] Default=YES MaxTime=INFINITE State=UP\n"
        self._configuration = home / "slurm.conf"
        self._configuration.write_text(text)
        for gpu in range(8):
            (home / f"gpu{gpu}").touch()
        (home / "gres.conf").write_text(
            f"Name=gpu Type=h100 File={home}/gpu[0-3] Cores=0-95\n"
            f"Name=gpu Type=h100 File={home}/gpu[4-7] Cores=96-191\n"
        )
        self._start("slurmctld")
        self._await(lambda: "UP" in self("scontrol", "ping").out)
        for at in range(NODES):
            self._start("slurmd", "-N", f"n{at}")
        self._await(lambda: self("sinfo", "-h", "-o", "%t %D").out == "idle 4\n")

    def __call__(self, *words: str, timeout_s: float = 30) -> Said:
        found = subprocess.run(
            words, cwd=self.home, env=self._environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        return Said(found.returncode, found.stdout, found.stderr)

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": PATH, "SLURM_CONF": str(self._configuration), "TZ": "UTC", "HOME": "/"}

    def _start(self, *words: str) -> None:
        log = (self.home / f"{words[0]}{words[-1]}.out").open("wb")
        self._processes.append(
            subprocess.Popen(
                [*words, "-f", str(self._configuration), "-D"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        )
        log.close()

    def _await(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not true():
            if time.monotonic() > deadline:
                said = "\n".join(file.read_text()[-500:] for file in self.home.glob("*.out"))
                raise AssertionError(f"Slurm does not come up: {said}")
            time.sleep(0.2)

    def reset(self) -> int:
        """Every node idle, and no job; the number that the next one gets."""
        self("scancel", "-u", getpass.getuser())
        for at in range(NODES):
            self("scontrol", "update", f"nodename=n{at}", "state=resume")
        time.sleep(2)  # nodes answer only after a while
        self._await(lambda: self("sinfo", "-h", "-o", "%t %D").out == "idle 4\n")
        found = re.search(r"NEXT_JOB_ID\s+= (\d+)", self("scontrol", "show", "config").out)
        assert found is not None
        return int(found[1])

    def close(self) -> None:
        """End it all, and what it started."""
        self("scancel", "-u", getpass.getuser())
        time.sleep(0.5)
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)


class FakeSlurm:
    """A fake fleet of the same size."""

    def __init__(self, home: Path, first_number: int) -> None:
        profile = load_profile("h100-sxm")
        self.home = home
        self.world = World([Node(f"n{i}", profile, 8) for i in range(NODES)], schedules=True)
        self.world.cluster._next_number = first_number

    def __call__(self, *words: str) -> Said:
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=words[1:], out=out, err=err, node=self.world.nodes["n0"], world=self.world,
            nvml=None, clock=lambda: self.world.now_us / 1e6, pause=self.wait, env={},
            user=getpass.getuser(), cwd=str(self.home), program=words[0],
            read_file=lambda path: (self.home / path).read_text(),
        )  # fmt: skip
        status = commands()[words[0]](call)
        return Said(status, out.getvalue(), err.getvalue())

    def wait(self, us: int) -> None:
        self.world.advance(self.world.now_us + us)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def real_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSlurm]:
    missing = [
        name for name in ("slurmctld", "slurmd", "sinfo") if not shutil.which(name, path=PATH)
    ]
    if missing:
        message = f"{missing[0]} is not here: apt-get install slurm-wlm"
        if os.environ.get("GPUTUI_REQUIRE_CLIENTS"):
            pytest.fail(message)
        pytest.skip(message)
    slurm = RealSlurm(tmp_path_factory.mktemp("slurm"))
    yield slurm
    slurm.close()


SAME = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "<time>"),
    (r"\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}", "<date>"),
    (r"(\d+:)?\d\d?:\d\d(?= )", "<elapsed>"),
    (r"(CPULoad|FreeMem|AllocMem|Mem|Port|Version|OS)=\S*( \S+ #1 .*)?", r"\1=<some>"),
    (r"NodeAddr=\S+ NodeHostName=\S+( Port=<some>)?", "NodeAddr=<some>"),
    (r"OS=.*", "OS=<some>"),
    (r"(BootTime|SlurmdStartTime|LastBusyTime|LastSchedEval|StartTime|EndTime)=\S+", r"\1=<some>"),
    (r" ResumeAfterTime=None| Scheduler=\S+|,gres/gpu=\d+", ""),
    (r",mem=[\d.]+[MG]|Priority=\d+", ""),
    (r"ExtSensors(\w+)=n/[sa]", r"ExtSensors\1=n/a"),
    (r"AllocNode:Sid=\S+", "AllocNode:Sid=<some>"),
    (r" at \S+ is", " at <some> is"),
    (r"\b[a-z_][\w-]*\(\d+\)", "<user>"),
    (r"slurm(-wlm)? \d+\.\d+\.\d+", "slurm <version>"),
)


def normal(text: str, user: str = getpass.getuser()) -> str:
    """What a text says, but for what differs by its nature."""
    for pattern, instead in SAME:
        text = re.sub(pattern, instead, text)
    return "\n".join(line.rstrip() for line in text.replace(user, "<user>").splitlines())


SCRIPTS = {
    "idle nodes": """
        sinfo
        sinfo -l
        sinfo -N
        sinfo -N -l -h
        sinfo -s
        sinfo -R
        sinfo -h -N -o "%N %T %t %G %R %E"
        sinfo -o "%P %a %l %D %t %N %Z %X %Y %z %c %m %d %w %f %b"
        sinfo -o "%g %h %s %S %p %M %I %B %L %V %u %U %H"
        sinfo -h -o "%10N|%.10N|%6D|%.6D|%C|%A|%F"
        sinfo -N -O NodeList,StateLong,Gres:30,Reason:40
        sinfo --noheader --Node --format=%N/%t --states=idle --partition=batch
        sinfo -n n1,n2 -h -N
        sinfo -n nope
        sinfo -p nope
        sinfo -t bogus
        sinfo -t down
        sinfo --bogus
        sinfo -i
        sinfo -O bogus
        scontrol ping
        scontrol show node n0
        scontrol -o show node n1
        scontrol -d show node n2
        scontrol show node=n1 -o
        scontrol show node nope
        scontrol show partition
        scontrol show partition nope
        scontrol show hostnames n[0-2,7]
        scontrol show hostname n[08-10]
        scontrol show hostlist n0,n1,n3
        scontrol show hostlistsorted n3,n1,n0
        scontrol show hostnames
        scontrol show res
        scontrol show job
        scontrol show steps
        scontrol show bogus
        scontrol show
        scontrol bogus
        scontrol show job 99999
        scontrol show job 1 2
        squeue
        squeue -l
        squeue -s
        squeue -j 99999
        squeue -u nosuch
        squeue -w nope
        squeue -t bogus
        squeue -Q
        scancel
        scancel foo
        scancel -u nosuch
        scancel 99999
    """,
    "nodes that are taken out and come back": """
        scontrol update nodename=n0 state=drain
        scontrol update NodeName=n0 State=DRAIN Reason="xid 79 here"
        sinfo
        sinfo -R
        sinfo -R -l
        sinfo -R -h -o "%E|%u|%N|%t"
        sinfo -N -h -o "%N %T %t %E"
        sinfo -t drain -h -o %N
        sinfo -h -o "%6D|%C|%A|%F|%G"
        scontrol show node n0
        scontrol update nodename=n0 state=undrain
        wait 3
        scontrol show node n0
        scontrol upd node=n1 stat=dr reas=b
        scontrol upd node=n1 stat=dra reas=b
        sinfo -h -o "%T %N"
        scontrol update node=n1 state=res
        wait 3
        scontrol update node=n1 state=resume
        scontrol update node=n2 state=fail reason=x
        sinfo -h -n n2 -o "%t %T %E"
        scontrol update node=n2 state=down reason=y
        sinfo -h -n n2 -o %E
        scontrol update node=n[1-2] state=DRAIN Reason="a b"
        sinfo -R -h -o "%E %N"
        scontrol update NodeName=n9 State=DRAIN Reason=bad
        scontrol update NodeName=n3 State=bogus Reason=bad
        scontrol update NodeName=n3 Bogus=1
        scontrol update foo
        scontrol update
        scontrol update node=n3 comment="hello there" extra=x
        scontrol show node n3
        scontrol update node=n3 comment= extra=
    """,
    "jobs that run, wait and are held": """
        sbatch --parsable -N2 --exclusive --gres=gpu:8 -J train --wrap "sleep 600"
        sbatch -N1 --gres=gpu:2 -J small --wrap "sleep 600"
        sbatch -N4 --gres=gpu:8 -J big --wrap "sleep 600"
        sbatch -N1 -w n3 --hold -J held -t 10:00 --wrap "exit 3"
        wait 3
        sinfo
        sinfo -N -h -o "%N %T %C"
        squeue -h -o "%i %j %u %t %T %N %D %R %r"
        squeue -o "%.18i %.9P %.8j %.2t %.6D %R %l"
        squeue -h -o "%A|%F|%K|%a|%B|%b|%c|%C|%d|%E|%f|%h|%H|%I|%J|%k|%l|%m|%n|%o|%O|%q"
        squeue -h -o "%i|%s|%v|%w|%W|%x|%X|%y|%Y|%z"
        squeue -O JobID,Name,State,NodeList,Reason,tres-per-node:20,UserName
        squeue -O "JobArrayID:10 ,Name:.12"
        squeue --me -t R -h -o %i
        squeue -w n0 -h -o "%i %T %N"
        squeue -t PD -S -i -h -o %j
        squeue -n small -h -o "%j %t"
        squeue -s -h -o "%j %N"
        scontrol show job $1
        scontrol -d show job $1
        scontrol -o show job $2
        scontrol show jobid=$3
        scontrol show job $4
        scontrol show node n0
        scontrol -d show node n2
        scontrol update nodename=n0 state=drain reason=r
        sinfo -h -N -o "%N %t %T"
        scontrol requeue 99999
        scontrol suspend $3
        scontrol hold $3
        squeue -h -j $3 -o "%T %r"
        scontrol release $4
        wait 4
        squeue -t all -h -j $4 -o "%T %r"
        scancel -n small
        scancel $3
        wait 2
        squeue -t all -h -j $2 -o "%j %T"
        squeue -t all -h -j $3 -o "%j %T"
        scontrol hold $4
    """,
    "what is refused of a job": """
        sbatch --wrap "exit 3" --parsable --bogus
        sbatch nosuchfile
        sbatch noshebang.sh
        sbatch bad.sh
        sbatch -p nope --wrap true
        sbatch -w nope --wrap true
        sbatch --gres=gpu:99 --wrap true
        sbatch --mem=99999999 --wrap true
        sbatch -t bogus --wrap true
        sbatch --wrap
        sbatch -W --wrap "exit 4"
    """,
    "reservations and reboots": """
        scontrol create res starttime=now duration=60 users=root nodes=n3 res=maint flags=maint
        wait 2
        scontrol show res
        scontrol -o show res
        sinfo -h -n n3 -o "%t %T"
        scontrol delete reservation=maint
        scontrol delete reservation=maint
        sbatch -w n1 --exclusive --gres=gpu:8 -J long --wrap "sleep 600"
        wait 3
        scontrol reboot asap nextstate=resume reason=test n1
        sinfo -h -n n1 -N -o "%N %t %T %E"
        scontrol cancel_reboot n1
        sinfo -h -n n1 -N -o "%N %t %T %E"
        scontrol reboot nope
        scontrol cancel_reboot n0
        scontrol version
        sinfo --version
    """,
}

FILES = {
    "noshebang.sh": "echo hi\n",
    "bad.sh": "#!/bin/bash\n#SBATCH -J fromfile\n#SBATCH --bogus\ntrue\n",
}


TRIES = 8


def is_look(words: list[str]) -> bool:
    """Whether a call changes nothing, so that it may be made again."""
    return words[0] in ("sinfo", "squeue") or words[:2] == ["scontrol", "show"]


def differences(real: Said, ours: Said) -> list[str]:
    """What the two say otherwise."""
    found = []
    for what in ("status", "out", "err"):
        expected, said = normal(str(getattr(real, what))), normal(str(getattr(ours, what)))
        if expected != said:
            found.append(f"  {what} of Slurm:\n{expected}\n  of the look-alike:\n{said}")
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_calls_are_answered_as_by_the_real_slurm(real_slurm: RealSlurm, name: str) -> None:
    """Output, error output and exit status, call by call."""
    for file, text in FILES.items():
        (real_slurm.home / file).write_text(text)
    first = real_slurm.reset()
    fake = FakeSlurm(real_slurm.home, first)
    different = []
    for line in SCRIPTS[name].strip().splitlines():
        words = shlex.split(re.sub(r"\$(\d)", lambda at: str(first - 1 + int(at[1])), line))
        if words[0] == "wait":
            time.sleep(float(words[1]))
            fake.wait(int(words[1]) * SECOND_US)
            continue
        ours = fake(*words)
        difference = differences(real_slurm(*words), ours)
        for _ in range(TRIES if is_look(words) else 0):
            if difference:
                time.sleep(1)  # it starts jobs, and hears of nodes, in its own time
                difference = differences(real_slurm(*words), ours)
        different += [f"$ {line.strip()}\n{text}" for text in difference]
    assert not different, "\n".join(different)
