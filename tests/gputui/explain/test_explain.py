"""gputui explain: what an error means, who says what, what to do; nothing is guessed."""

import json

import pynvml
import pytest

from gputui.commands.explain import run
from gputui.explain.topics import topics
from gputui.facts.words import kind_table, word_table
from gputui.incidents.offline import offline_rules
from gputui.incidents.rules import all_rules
from gputui.model import GpuState


@pytest.fixture
def explain(capsys):
    """Run the command; its exit status and what it printed, as an object if it is one."""

    def explained(*arguments, status=0):
        assert run(arguments) == status
        out, err = capsys.readouterr()
        return json.loads(out) if "--json" in arguments else out + err

    return explained


@pytest.mark.parametrize(
    ("question", "about", "title"),
    [
        ("79", "xid", "Xid 79 "),
        ("Xid 79", "xid", "Xid 79 "),
        ("xid:79", "xid", "Xid 79 "),
        ("SXid 20009", "sxid", "SXid 20009 "),
        ("20009", "sxid", "SXid 20009 "),
        ("802", "text", "CUDA error 802 "),
        ("CUDA error 46", "text", "CUDA error 46 "),
        ("cudaErrorIllegalAddress", "text", "CUDA error 700 "),
        ("ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS", "xid", "Xid 79 "),
        ("GpuLost", "incident", "GpuLost"),
        ("gpu-lost", "incident", "GpuLost"),
        ("HW Power Brake Slowdown", "clock reason", "hw_power_brake_slowdown"),
        ("clocks_event_reasons.sw_power_cap", "clock reason", "sw_power_cap"),
        ("Drain and Reset", "recovery action", "Drain and Reset"),
        ("RESET_GPU", "recovery action", "GPU Reset Required"),
        ("GPU_RESET", "recovery action", "GPU Reset Required"),
        ("NODE_REBOOT", "recovery action", "Node Reboot Required"),
        ("DRAIN_P2P", "recovery action", "Drain P2P"),
        ("DRAIN_AND_RESET", "recovery action", "Drain and Reset"),
        ("NONE", "recovery action", "None"),
        ("-9", "ending", "SIGKILL "),
        ("exit code 137", "ending", "SIGKILL "),
        ("exitcode: -9", "ending", "SIGKILL "),
        ("(exitcode: -6)", "ending", "SIGABRT "),
        ("SIGBUS", "ending", "SIGBUS "),
        ("signal 11", "ending", "SIGSEGV "),
        ("exit status 134", "ending", "SIGABRT "),
        ("143", "xid", "Xid 143 "),
        ("137", "xid", "Xid 137 "),
        (
            "Out of memory: Killed process 4711 (python3) total-vm:108204412kB, anon-rss:6kB",
            "incident",
            "JobFailed",
        ),
        ("nfs: server nas1 not responding, still trying", "incident", "StorageStall"),
        ("LOST", "state", "lost"),
        ("throttled", "state", "throttled"),
        ("NVML_ERROR_GPU_IS_LOST", "NVML error", "NVML_ERROR_GPU_IS_LOST"),
        ("ncclInternalError", "NCCL result", "ncclInternalError"),
        ("hosts-loopback", "cause", "hosts-loopback"),
        ("RmInitAdapter failed! (0x22:0x56:894)", "incident", "DriverNotLoaded"),
        (
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "text",
            "CUDA error",
        ),
        ("illegal memory access", "text", "CUDA error 700 "),
        ("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", "incident", "GpuLost"),
        ("NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x26:0xffff:1)", "incident", "DriverNot"),
        (
            "Mar 02 10:11:13 n0 kernel: NVRM: Xid (PCI:0000:d8:00): 45, pid=3, name=p",
            "xid",
            "Xid 45 ",
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 20034, Fatal, Link 33 x",
            "sxid",
            "SXid 20034",
        ),
    ],
)
def test_whatever_people_have_at_hand_is_understood(explain, question, about, title):
    """A number, a name, a word of another program, a text, a whole line of a log."""
    found = explain("--json", question)
    assert found["about"] == about
    assert found["title"].startswith(title)
    assert found["meaning"]
    assert found["action_text"]
    assert found["source"]


def test_every_xid_and_kind_has_an_answer(explain):
    """There is nothing in the tables that cannot be asked about."""
    for code in range(1, 177):
        assert explain("--json", str(code))["verdicts"]
    for kind in kind_table().facts.values():
        assert explain("--json", kind.kind)["cause"]
    for word in word_table().facts.values():
        assert explain("--json", word.word)["meaning"]


def test_every_kind_that_a_rule_tells_is_explained():
    """An incident's kind on the screen can be looked up."""
    rules = (*all_rules(), *offline_rules())
    assert {rule.kind for rule in rules} <= {one.kind for one in kind_table().facts.values()}


def test_vendors_that_differ_stand_side_by_side(explain):
    """Nobody's verdict is hidden behind another's."""
    shown = explain("63")
    assert "who says what, and they differ:" in shown
    for vendor, word in (("NVIDIA", "IGNORE"), ("gpud", "Fatal"), ("DCGM", "WARN(mem)")):
        assert any(line.split()[0] == vendor and word in line for line in shown.splitlines())


def test_the_drivers_own_words_outrank_the_code(explain):
    """RST: No in an Xid 94 or 95, and the action that an Xid 154 names."""
    line = "NVRM: Xid (PCI:0000:41:00): 95, pid=7, Uncontained: LTC TAG (0x2). RST: No, D-RST: Yes"
    assert explain("--json", line)["action"] == "drain_and_reset"
    line = (
        "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) "
        "to 0x2 (Node Reboot Required)"
    )
    assert explain("--json", line)["action"] == "reboot_node"


NVLINK5 = (
    "[ 5002.0] NVRM: Xid (PCI:0008:01:00): 145, pid=11436, name=cache_mgr_main, "
    "RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x00000000)"
)


def test_an_nvlink5_line_is_decoded(explain):
    """With the driver's version in its layout, without it in both."""
    both = " ".join(explain("--json", NVLINK5)["details"])
    assert "both readings follow" in both
    assert "before R575: RLW_SRC_TRACK: Non-fatal, NVIDIA says XID_154_EVAL" in both
    assert "R575 and later: no row of the catalogue fits" in both
    one = " ".join(explain("--json", "--driver", "570.124.06", NVLINK5)["details"])
    assert "before R575: RLW_SRC_TRACK" in one
    assert "R575 and later" not in one


def test_an_unknown_code_is_shown_raw(explain):
    """No name, no verdicts, and it says so."""
    found = explain("--json", "Xid 999")
    assert (found["title"], found["verdicts"]) == ("Xid 999", [])
    assert "nothing is guessed" in " ".join(found["details"])


def test_a_number_of_two_meanings_tells_both(explain):
    """46 is an Xid, and an error of CUDA as well."""
    assert "CUDA error 46 is another thing" in explain("46")


def test_every_state_and_cause_is_explained(explain):
    """What a screen may show of a GPU, or an incident may name as its cause, can be looked up."""
    for state in GpuState:
        assert explain("--json", state.value)["about"] == "state"
    for kind in kind_table().facts.values():
        for cause in kind.causes:
            assert explain("--json", cause)["about"] == "cause"


def test_every_result_of_nvml_is_explained(explain):
    """Every NVML_ERROR name that NVIDIA's own binding has."""
    names = [name for name in vars(pynvml) if name.startswith("NVML_ERROR_")]
    assert names
    for name in names:
        assert explain("--json", name)["title"] == name


def test_the_numbers_of_a_failed_start_blame_its_step(explain):
    """The first number is the step that failed."""
    details = " ".join(explain("--json", "RmInitAdapter failed! (0x62:0x56:894)")["details"])
    assert "system processor's firmware" in details


@pytest.mark.parametrize(("word", "severity"), [("Non-fatal", "warning"), ("Fatal", "critical")])
def test_the_word_in_a_switchs_line_outranks_the_code(explain, word, severity):
    """As it does in a scan."""
    line = f"nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 12028, {word}, Link 33 x"
    assert explain("--json", line)["severity"] == severity


def test_a_change_of_recovery_action_asks_for_nothing_but_that(explain):
    """The line names what is to be done, so nothing else is advised."""
    assert "support" not in explain("--json", "Xid 154")["action_text"]


@pytest.mark.parametrize("question", ["", "  ", "\t"])
def test_nothing_is_no_question(capsys, question):
    """A blank question is bad usage, and no code without a name."""
    with pytest.raises(SystemExit) as ended:
        run([question])
    assert ended.value.code == 64
    assert "empty" in capsys.readouterr().err


def test_a_path_is_not_explained(explain, tmp_path):
    """A file that is not there is told so; one that is there is for another command."""
    log = tmp_path / "kern.log"
    assert "no such file" in explain(str(log), status=64)
    log.touch()
    assert f"gputui scan {log}" in explain(str(log), status=64)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("GpuLots", "did you mean GpuLost?"),
        ("sw_power_cup", "did you mean sw_power_cap?"),
        ("trace.json", "traces are not explained"),
        ("no such thing at all", 'nothing is known of "no such thing at all"'),
    ],
)
def test_what_is_not_understood_is_told_with_what_is(explain, question, words):
    """What may have been meant, and each sort of thing that can be asked."""
    shown = explain(question, status=64)
    assert words in shown
    assert all(topic.known in shown for topic in topics())


def test_bad_rows_of_the_site_are_told(explain, tmp_path, monkeypatch):
    """The answer comes all the same, and the mistake has its file and line."""
    from gputui.facts.xid import CATALOGUE

    def read_anew():
        for cached in ("table", "by_code"):
            vars(CATALOGUE).pop(cached, None)

    folder = tmp_path / "config" / "gputui" / "facts.d"
    folder.mkdir(parents=True)
    (folder / "xid.csv").write_text("code,action\n79,power_cicle\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    read_anew()
    try:
        shown = explain("79")
        assert "drain, power-cycle the node" in shown
        assert 'xid.csv:2: action is "power_cicle"' in shown
        assert 'did you mean "power_cycle"?' in shown
    finally:
        read_anew()


@pytest.mark.parametrize(("code", "signal"), [("134", "SIGABRT"), ("137", "SIGKILL")])
def test_a_number_that_is_an_exit_code_as_well_says_both(explain, code, signal):
    """Xids have the same numbers as what shells make of signals."""
    shown = explain(code)
    assert f"Xid {code}" in shown
    assert f"exit code {code} is another thing ({signal}" in shown
