"""nvidia-smi's look-alike: a pure NVML client.

Everything it prints comes from NVML, on whatever library nvidia-ml-py has: from nothing else could
it disagree with other clients. Written from public help texts, manuals and outputs; the form is
that of drivers 590, whatever version NVML states. Two things NVML cannot tell are handed to it: the
time, and the addresses of GPUs that give no handle.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

from fakes.commands.nvidia_smi import manual, reset, setters
from fakes.commands.nvidia_smi.listing import list_gpus
from fakes.commands.nvidia_smi.options import NotImitated, Options, Usage, parse
from fakes.commands.nvidia_smi.queries import QUERIES
from fakes.commands.nvidia_smi.reading import Driver, Missing
from fakes.commands.nvidia_smi.report import print_report, print_xml
from fakes.commands.nvidia_smi.selection import Ended, Selection, status_of
from fakes.commands.nvidia_smi.session import Nic, Session
from fakes.commands.nvidia_smi.subcommands import SUBCOMMANDS
from fakes.commands.nvidia_smi.table import print_table
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.written_files import Spawn, write_file
from fakes.nvml.codes import Code


def _latency_us(argv: Sequence[str]) -> int:
    """A reset takes seconds, a help text none, all else what attaching to the GPUs takes."""
    if {"-h", "--help"} & set(argv):
        return 10_000
    return 3_000_000 if {"-r", "--gpu-reset"} & set(argv) else 600_000


@command("nvidia-smi", latency_us=_latency_us)
def main(
    argv: Sequence[str],
    nvml: Any,
    out: TextIO,
    err: TextIO,
    clock: Callable[[], float] = time.time,
    pause: Callable[[int], None] | None = None,
    gpu_addresses: Sequence[str] = (),
    nics: Sequence[tuple[str, int]] = (),
    reset_gpu: Callable[[int], Code] | None = None,
    spawn: Spawn | None = None,
    is_privileged: bool = True,
    resets_alone: bool = True,
) -> int:
    """Do what nvidia-smi does with these arguments; its exit status.

    Without ``pause`` there is no ``-l``, without ``spawn`` no ``-f``. Who is not privileged may
    look and not change. The status is 125, and a line on ``err`` says why, for what the real
    command could do and this one cannot.
    """
    given = _Given(
        nvml, out, err, clock, pause, gpu_addresses, reset_gpu, is_privileged, resets_alone
    )
    try:
        if argv and argv[0] in SUBCOMMANDS:
            adapters = [Nic(*nic) for nic in nics]
            return _attached(given, lambda: _sub_command(argv, given, adapters))
        options = parse(argv)
        if (options.loop_us and pause is None) or (options.filename and spawn is None):
            raise NotImitated("-l" if options.loop_us else "-f")
        if (text := _help(options)) is not None:
            out.write(text)
            return 0
        if options.filename and spawn is not None:
            return _into_file(options, given, spawn)
        return _attached(given, lambda: _loop(options, given))
    except Usage as usage:
        out.write(f"{usage}\n\n")
        return status_of(Code.INVALID_ARGUMENT)
    except NotImitated as what:
        err.write(f"nvidia-smi: {what} is not imitated by this look-alike\n")
        return NOT_UNDERSTOOD


@dataclass(frozen=True, slots=True)
class _Given:
    """What one call is answered from."""

    nvml: Any
    out: TextIO
    err: TextIO
    clock: Callable[[], float]
    pause: Callable[[int], None] | None
    addresses: Sequence[str]
    reset_gpu: Callable[[int], Code] | None
    is_privileged: bool
    resets_alone: bool

    def selection(self) -> Selection:
        """GPUs to choose from, of which nothing has been read yet."""
        return Selection(Driver(self.nvml, self.clock), self.addresses, self.out, self.err)


def _attached(given: _Given, act: Callable[[], int]) -> int:
    """Act between the beginning and the end of using NVML."""
    nvml = given.nvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return _no_driver(nvml, int(error.value), given.out)
    try:
        return act()
    except Ended as ended:
        return ended.status
    except Missing as missing:
        given.out.write(f"{nvml.nvmlErrorString(missing.code)}\n")
        return status_of(missing.code)
    finally:
        nvml.nvmlShutdown()


def _sub_command(argv: Sequence[str], given: _Given, nics: Sequence[Nic]) -> int:
    session = Session(given.selection(), given.selection, given.pause, nics)
    return SUBCOMMANDS[argv[0]](argv[1:], session)


def _loop(options: Options, given: _Given) -> int:
    """Answer once, or again and again."""
    while True:
        status = _answer(options, given.selection(), given)
        if not options.loop_us or given.pause is None:
            return status
        given.pause(options.loop_us)
        if options.form:
            options = replace(options, form=replace(options.form, header=False))


def _into_file(options: Options, given: _Given, spawn: Spawn) -> int:
    """Answer into a file. In a loop it has all that was said so far."""
    if options.loop_us:
        raise NotImitated("-l with -f")
    text = io.StringIO()
    status = _attached(replace(given, out=text), lambda: _loop(options, replace(given, out=text)))
    if write_file(spawn, options.filename, text.getvalue().encode()):
        return status
    given.out.write(f"Failed to open file {options.filename}\n")
    return status_of(Code.INVALID_ARGUMENT)


def _help(options: Options) -> str | None:
    if options.verb == "help":
        return manual.USAGE
    if options.verb.startswith("help-query-"):
        switch = options.verb[len("help-") :]
        return manual.properties(switch, QUERIES[switch])
    return None


def _answer(options: Options, selection: Selection, given: _Given) -> int:
    """Do what the options say, once."""
    driver, out = selection.driver, selection.out
    if options.verb == "version":
        _print_versions(driver, out)
        return 0
    if options.verb == "list-gpus":
        return list_gpus(selection, options.ids)
    gpus = selection.gpus(options.ids)
    if options.verb in QUERIES and options.form:
        QUERIES[options.verb].answer(options.value, gpus, driver, options.form, out)
    elif options.verb in setters.SETTERS:
        return setters.run(options, gpus, out, permitted=given.is_privileged)
    elif options.verb == "gpu-reset":
        permitted, alone = given.is_privileged, given.resets_alone
        return reset.reset(gpus, out, given.reset_gpu, permitted=permitted, alone=alone)
    elif options.verb == "query" and options.xml:
        print_xml(driver, gpus, out)
    elif options.verb == "query":
        print_report(driver, gpus, options.sections, out)
    else:
        print_table(driver, gpus, out)
    return 0


def _print_versions(driver: Driver, out: TextIO) -> None:
    """The tool's version is the driver's; NVML's is told without what is before the first dot."""
    library = str(driver.get("nvmlSystemGetNVMLVersion"))
    for label, version in (
        ("NVIDIA-SMI version", driver.version),
        ("NVML version", ".".join(library.split(".")[1:3])),
        ("DRIVER version", driver.version),
        ("CUDA Version", driver.cuda_version),
    ):
        out.write(f"{label:<20}: {version}\n")


def _no_driver(nvml: Any, code: int, out: TextIO) -> int:
    """Say why NVML could not be initialized; the exit status."""
    if code == Code.DRIVER_NOT_LOADED:
        out.write(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
            "Make sure that the latest NVIDIA driver is installed and running.\n\n"
        )
    elif code == Code.LIBRARY_NOT_FOUND:
        out.write("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n\n")
    else:
        out.write(f"Failed to initialize NVML: {_text(nvml, code)}\n")
    if code == Code.LIB_RM_VERSION_MISMATCH and (version := _library_version(nvml)):
        out.write(f"NVML library version: {version}\n")
    return status_of(code)


def _text(nvml: Any, code: int) -> str:
    """NVML's words for a code; nvidia-ml-py's own where there is no library to ask."""
    try:
        return str(nvml.nvmlErrorString(code))
    except nvml.NVMLError:
        return str(nvml.NVMLError(code))


def _library_version(nvml: Any) -> str:
    try:
        return ".".join(str(nvml.nvmlSystemGetNVMLVersion()).split(".")[1:3])
    except nvml.NVMLError:
        return ""
