"""No value of a secret is shown, recorded or sent, whichever way it comes in."""

import io
import json
import string
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.bundle.contents import contents
from gputui.doctor.site import Site
from gputui.logs.job_reader import read_job_log
from gputui.model import Ancestor, LogLine, ProcessSample
from gputui.monitor import Monitor, MonitorOptions
from gputui.recording import CaptureWriter
from gputui.secret_values import HIDDEN, command_line, without_secrets
from gputui.sources.processes import ProcessTable

SECRETS = st.text(string.ascii_letters + string.digits + "+/=_-.~!", min_size=8, max_size=40).map(
    lambda text: f"Q{text}"
)
NAMES = st.sampled_from(
    [
        "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PGPASSWORD", "MYSQL_PWD", "DB_PASS",
        "COMET_KEY", "apiKey", "NotebookApp.token", "client_secret", "access_token", "AccountKey",
    ]
)  # fmt: skip
OPTIONS = st.sampled_from(
    ["--api-key", "--token", "--password", "--hf-token", "--auth", "--passphrase", "--secret"]
)
FORMS = st.one_of(
    st.builds("{}={{}} python train.py".format, NAMES),
    st.builds("docker run -e {}={{}} image".format, NAMES),
    st.builds("bash -c 'export {}={{}}; torchrun train.py'".format, NAMES),
    st.builds('{{{{"{}": "{{}}"}}}}'.format, NAMES),
    st.builds("serve {} {{}} --port 80".format, OPTIONS),
    st.builds("serve {}={{}} --port 80".format, OPTIONS),
    st.just("curl -H Authorization: Bearer {} http://a"),
    st.just("curl -u bob:{} http://a"),
    st.just("sshpass -p {} ssh n0"),
    st.just("wandb login {}"),
    st.just("get s3://a/b?access_token={}&x=1"),
    st.just("train --data hf_{}"),
)


@given(FORMS, SECRETS)
def test_a_secret_never_stays_in_a_text(form, secret):
    """Whatever it is named by, and however the name and the value are joined."""
    if "hf_" in form:
        secret = "".join(filter(str.isalnum, secret)).ljust(12, "x")
    shown = without_secrets(form.format(secret))
    assert secret not in shown
    assert HIDDEN in shown


@given(
    st.sampled_from(["postgres", "redis", "https", "amqp"]), st.text("abcXYZ019-_.~%", min_size=8)
)
def test_a_password_never_stays_in_an_address(scheme, secret):
    """Whom it is of, and of what, can still be read."""
    assert without_secrets(f"x {scheme}://bob:{secret}@db:5432/x y") == (
        f"x {scheme}://bob:***@db:5432/x y"
    )


@given(OPTIONS, st.text(string.printable, min_size=8).filter(lambda text: text[:1] not in "-\0"))
def test_a_secret_may_hold_blanks_and_quotes(option, secret):
    """In a process's arguments it is known where one begins and ends."""
    secret = secret.replace("\0", "")
    joined = command_line(f"serve\0{option}\0{secret}\0--port\0{80}\0".encode())
    assert joined == f"serve {option} *** --port 80"
    assert command_line(f"serve\0{option}={secret}\0".encode()) == f"serve {option}=***"


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve meta/llama --max-num-batched-tokens 8192 --tokenizer meta/llama",
        "train --eos-token-id 2 --pad-token <pad> --use-auth-token --fp16 --sort-key length",
        "serve --ssl-keyfile /etc/key.pem --key /etc/key.pem --token-file /run/token",
        "PWD=/home/a python -u train.py --passes 3 --author ann",
        "tokens per second: 3, forward pass: 12ms",
        "git clone ssh://git@host/x https://host/x",
    ],
)
def test_what_only_looks_like_one_stays(text):
    """A command line is there to be read."""
    assert without_secrets(text) == text


@given(st.text(max_size=200))
def test_hiding_twice_changes_nothing(text):
    """What is taken out stays out, whatever the text is."""
    once = without_secrets(text)
    assert without_secrets(once) == once


def test_a_process_is_read_without_its_secrets():
    """Nothing that looks at processes ever has them."""
    code = "print(flush=True); input()"
    argv = [sys.executable, "-c", code, "--password", "hunter 2222", "HF_TOKEN=hunter3333"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        found = ProcessTable().look([child.pid])[child.pid]
        child.communicate(b"\n")
    assert found.command.endswith("--password *** HF_TOKEN=***")


def test_a_line_of_a_jobs_log_is_heard_without_its_secrets():
    """The evidence of an incident is the very line, but for them."""
    line = b"RuntimeError: CUDA error: out of memory (url=http://bob:hunter2222@h/x)\n"
    (heard,) = read_job_log([line], now_s=0.0)
    assert "hunter2222" not in heard.event.text
    assert "out of memory" in heard.event.text


@pytest.fixture
def recording(make, tmp_path):
    """A recording that somebody made with secrets in it."""
    sample = make.node(1000.0)
    command = "python train.py --api-key hunter2222 HF_TOKEN=hunter3333"
    sample = replace(
        sample,
        processes=(ProcessSample(4001, 0, user="ann", command=command, memory_bytes=1 << 30),),
        ancestors=(Ancestor(4000, command="bash -c 'export PASSWORD=hunter4444'"),),
    )
    text = io.StringIO()
    capture = CaptureWriter(text)
    capture.sample(sample)
    line = "torch.OutOfMemoryError: CUDA out of memory. token=hunter5555"
    capture.log(LogLine(1000.5, "train", line), "node-a")
    for step in range(1, 5):
        capture.sample(replace(sample, time_s=1000.0 + step))
    path = tmp_path / "recording.jsonl"
    path.write_text(text.getvalue())
    return path


@pytest.mark.parametrize(
    "options", [("--once",), ("--once", "--json"), ("--once", "--brief"), ("--stream",)]
)
def test_what_comes_from_elsewhere_is_printed_without_secrets(recording, options):
    """Another program, or an older one, may have written it."""
    done = subprocess.run(
        [sys.executable, "-m", "gputui", f"--source=replay={recording}", *options],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "hunter" not in done.stdout + done.stderr
    assert done.stdout
    if "--json" in options:
        (process,) = json.loads(done.stdout)["processes"]
        assert process["command"] == "python train.py --api-key *** HF_TOKEN=***"


def test_neither_a_snapshot_nor_a_new_recording_nor_a_bundle_has_them(recording, tmp_path):
    """The screen shows snapshots, and nothing else."""
    record = tmp_path / "again.jsonl"
    monitor = Monitor(
        MonitorOptions(source=f"replay={recording}", record=record, kernel_log="none")
    )
    snapshots = []
    monitor.start(snapshots.append)
    monitor.ended.wait(20)
    monitor.stop()
    assert snapshots[-1].sample.processes
    assert "hunter" not in repr(snapshots)
    assert "hunter" not in record.read_text()
    assert "train.py" in record.read_text()
    site = Site(snapshots[-1], root=tmp_path, tool=lambda _: "Name : PASSWORD=hunter6666")
    assert "hunter" not in repr(contents(site, "none"))
