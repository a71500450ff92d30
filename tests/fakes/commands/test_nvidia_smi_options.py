"""nvidia-smi's arguments: what is refused, and how; help; loops."""

from __future__ import annotations

import pytest

from fakes.commands.nvidia_smi.options import NotImitated, Usage, parse
from fakes.commands.registry import NOT_UNDERSTOOD

COMBINATION = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help."


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["--frob"],
            "ERROR: Option --frob is not recognized. Please run 'nvidia-smi -h' for help.",
        ),
        (
            ["-lms100"],
            "ERROR: Option -lms100 is not recognized. Please run 'nvidia-smi -h' for help.",
        ),
        (
            ["noheader"],
            "ERROR: Option noheader is not recognized. Please run 'nvidia-smi -h' for help.",
        ),
        (
            ["--query-gpu=index"],
            "\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.",
        ),
        (["--format=csv"], COMBINATION),
        (["-L", "-q"], COMBINATION),
        (["-L", "-x"], COMBINATION),
        (["-q", "-x", "-d", "ECC"], COMBINATION),
        (["-L", "--query-gpu=index", "--format=csv"], COMBINATION),
        (["-d", "MEMORY"], COMBINATION),
        (["-i"], COMBINATION),
        (["-l", "0"], COMBINATION),
        (["--query-gpu=index", "--format=noheader"], COMBINATION),
        (["--query-gpu=index", "--format=csv,nohead"], COMBINATION),
    ],
)
def test_wrong_arguments_are_refused_in_the_real_words(argv, message, smi):
    """On stdout, followed by an empty line, with status 2."""
    said = smi(*argv)
    assert (said.out, said.err, said.status) == (f"{message}\n\n", "", 2)


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (["--columns"], "--columns"),
        (["-q", "-u"], "-u"),
        (["nvlink", "-re"], "nvlink -re"),
        (["drain", "-p", "0000:1b:00.0", "-m", "1"], "drain -p 0000:1b:00.0 -m 1"),
        (["power-smoothing", "-h"], "power-smoothing"),
        (["-r", "flr"], "-r flr"),
        (["-f", "out.txt"], "-f"),
    ],
)
def test_what_only_the_real_command_can_is_never_taken_for_done(argv, what, smi):
    """Nothing on stdout, its name on stderr, status 125: the run must know."""
    said = smi(*argv)
    assert (said.out, said.status) == ("", NOT_UNDERSTOOD)
    assert said.err == f"nvidia-smi: {what} is not imitated by this look-alike\n"


def test_every_option_of_the_real_help_is_imitated_or_known_not_to_be(h100):
    """None of them is called unrecognized."""
    import re

    text = h100["capabilities", "help (-h)"]
    options = re.findall(r"^ {4,9}(--?[a-z][a-z-]*|-[A-Z])[ ,=]", text, re.MULTILINE)
    longs = re.findall(r"^ {4}-\w+,? +(--[a-z-]+)", text, re.MULTILINE)
    assert len(options) > 40
    for option in [*options, *longs]:
        try:
            parse([option, "1"])
        except NotImitated:
            continue
        except Usage as usage:
            assert f"Option {option} is not recognized" not in str(usage)


def test_help_needs_no_driver(smi, answering):
    """It names every option, and every section of ``-d``."""
    said = smi("-h", nvml=answering(nvmlInit=9))
    assert said.status == 0
    for option in ("--query-remapped-rows", "-pl,", "--error-on-warning", "ROW_REMAPPER"):
        assert option in said.out


def test_each_query_has_a_help_that_programs_can_read(smi):
    """A property that help names can be asked for, whatever the query."""
    import re

    for kind in ("gpu", "compute-apps", "accounted-apps", "retired-pages", "remapped-rows"):
        names = re.findall(r'^"([^"]+)"', smi(f"--help-query-{kind}").out, re.MULTILINE)
        said = smi(f"--query-{kind}={','.join(names)}", "--format=csv")
        assert said.status == 0
        assert len(said.lines[0].split(", ")) == len(names) > 5


class CtrlC(Exception):  # noqa: N818
    """Somebody ends the loop."""


def test_a_loop_waits_on_the_run_s_clock_and_prints_its_heading_once(smi):
    """Every round is read anew; what ends it is whoever lets time pass."""

    def pause(us: int) -> None:
        smi.paused_us.append(us)
        smi.rig.at_us += us
        if len(smi.paused_us) == 3:
            raise CtrlC

    argv = ("--query-gpu=timestamp", "--format=csv", "-i", "0", "-lms", "250")
    out = []
    with pytest.raises(CtrlC):
        smi(*argv, pause=pause, clock=lambda: smi.rig.at_us / 1e6 + (out.append(1) or 0))
    assert smi.paused_us == [250_000] * 3
    assert len(out) == 3


def test_without_anybody_to_let_time_pass_there_is_no_loop(smi):
    """Rather than spin for ever."""
    assert smi("-l").status == NOT_UNDERSTOOD
