"""The journal of a unit that runs a job: what the job printed, with the journal's stamps."""

import pytest

from gputui.scan.reader import events

SAID = [
    ("systemd[1]", "Started Training."),
    ("python3[4242]", "epoch 1 step 10 loss 2.31"),
    ("python3[4242]", "Traceback (most recent call last):"),
    ("python3[4242]", '  File "/app/train.py", line 12, in <module>'),
    ("python3[4242]", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. "
     "GPU 0 has a total capacity of 14.57 GiB of which 1.58 GiB is free."),
    ("systemd[1]", "train.service: Main process exited, code=exited, status=1/FAILURE"),
]  # fmt: skip


@pytest.mark.parametrize("stamp", ["Mar 03 10:11:1{n}", "2025-03-03T10:11:1{n}+0000"])
def test_what_a_job_says_in_its_units_journal(stamp):
    """Its own words count as they do in its own log."""
    lines = [
        f"{stamp.format(n=n)} gpu1 {speaker}: {words}\n" for n, (speaker, words) in enumerate(SAID)
    ]
    (found,) = events("unit.log", iter(["".join(lines).encode()]), 1_741_000_000.0)
    assert (found.event.pattern, found.event.family, found.line) == ("torch_oom_new", "oom", 5)


def test_what_daemons_say_is_no_jobs_word():
    """A log of the system itself is searched for the kernel's lines alone."""
    line = "Mar 03 10:11:1{n} gpu1 sshd[12]: CUDA error: out of memory\n"
    text = "".join(line.format(n=n) for n in range(5))
    assert list(events("syslog", iter([text.encode()]), 1_741_000_000.0)) == []
