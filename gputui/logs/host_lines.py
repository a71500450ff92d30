"""What the kernel itself says when it kills what runs on a node, or lets it wait: expressions.

Their words are those of Linux: mm/oom_kill.c, kernel/hung_task.c, the RPC client of NFS
(net/sunrpc/clnt.c), and of Lustre's client (lustre/ptlrpc/import.c).
"""

from __future__ import annotations

_DEVICE = r"(?P<detail>\w[\w.-]*?-(?:OST|MDT)[0-9a-f]{4})-\S+"
"""A target of a Lustre file system, and after it the client's part of the name."""

HOST_EXPRESSIONS = (
    (
        "oom_kill",
        r"(?P<detail>Out of memory|Memory cgroup out of memory): Kill(?:ed)? process "
        r"(?P<pid>\d+),? \((?P<process>.{1,15}?)\)",
    ),
    (
        "hung_task",
        r"INFO: task (?P<process>.{1,15}?):(?P<pid>\d+) (?:<\w+> )?blocked for more than "
        r"(?P<detail>\d+) seconds",
    ),
    ("storage_silent", r"nfs: server (?P<detail>\S+) not responding, (?:still trying|timed out)"),
    ("storage_back", r"nfs: server (?P<detail>\S+) OK\s*$"),
    (
        "storage_silent",
        rf"Lustre: (?:\d+:\d+:\([^)]*\)+:? )?{_DEVICE}: Connection to \S+ \(at [^)]*\) was lost; "
        "in progress operations",
    ),
    (
        "storage_silent",
        rf"LustreError: (?:\d+-\d+: |\d+:\d+:\([^)]*\)+:? )?{_DEVICE}: This client was evicted by ",
    ),
    (
        "storage_back",
        rf"Lustre: (?:\d+:\d+:\([^)]*\)+:? )?{_DEVICE}: Connection restored to ",
    ),
)

STORAGE_IS_SILENT = (b" not responding, ", b" was lost; in progress ", b" client was evicted by ")
"""What tells that storage does not answer."""

TROUBLE_NEEDLES = (b" of memory: Kill", b" blocked for more than ", *STORAGE_IS_SILENT)
"""Every message above has one of these, or of the next."""

ANSWER_NEEDLES = (b"nfs: server ", b": Connection restored to ")
"""What tells that storage answers again: common, and news only after it was silent."""

HOST_NEEDLES = (*TROUBLE_NEEDLES, *ANSWER_NEEDLES)
