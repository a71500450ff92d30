"""``nvlink``: state, capabilities, errors and far ends of each GPU's links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fakes.commands.nvidia_smi.listing import heading
from fakes.commands.nvidia_smi.options import NotImitated, Usage
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.session import Session, given
from fakes.nvml.codes import Code

_FLAGS = {
    "-s": "status", "--status": "status", "-c": "capabilities", "--capabilities": "capabilities",
    "-e": "errorcounters", "--errorcounters": "errorcounters",
    "-ec": "crcerrorcounters", "--crcerrorcounters": "crcerrorcounters",
    "-p": "pcibusid", "--pcibusid": "pcibusid",
    "-R": "remotelinkinfo", "--remotelinkinfo": "remotelinkinfo",
    "-re": "reseterrorcounters", "--reseterrorcounters": "reseterrorcounters",
    "-r": "resetcounters", "--resetcounters": "resetcounters",
    "-h": "help", "--help": "help", "-info": "info", "--info": "info",
}  # fmt: skip
_VALUES = {
    "-i": "id", "--id": "id", "-l": "link", "--link": "link",
    "-gt": "getthroughput", "--getthroughput": "getthroughput",
    "-sc": "setcontrol", "--setcontrol": "setcontrol",
    "-gc": "getcontrol", "--getcontrol": "getcontrol",
    "-g": "getcounters", "--getcounters": "getcounters",
}  # fmt: skip
_HELP = """\
nvidia-smi nvlink [-s | -c | -e | -ec | -p | -R | -gt d|r|rd] [-i ID] [-l LINK]

    -s,  --status            speed of each link, or <inactive>
    -c,  --capabilities      what each link can do
    -e,  --errorcounters     replays, recoveries and wrong checksums of each link
    -ec, --crcerrorcounters  wrong checksums of each link
    -p,  --pcibusid          PCI address of what is at the other end
    -R,  --remotelinkinfo    the same, and the link there
    -gt, --getthroughput     KiB carried: d data, r with what the protocol adds
"""
_CAPABILITIES = (
    "P2P is supported", "Access to system memory supported", "P2P atomics supported",
    "System memory atomics supported", "SLI is supported", "Link is supported",
)  # fmt: skip
_SPEED_MB, _LINKS, _REMOTE_LINK, _UP = 164, 91, 146, 165
_REPLAY, _RECOVERY, _CRC_DATA = 0, 1, 3
_DATA, _RAW = ("Data", 138, 139), ("Raw", 140, 141)
_ALL_INACTIVE = "NVML: Unable to retrieve Nvlink information as all links are inActive"
_IN_MIG_MODE = "Nvlink queries are not supported for Devices in MIG mode"
_OLD_COUNTERS = ("setcontrol", "getcontrol", "getcounters", "resetcounters")

_Tell = Callable[[Gpu, int], Iterator[str]]


def run(argv: Sequence[str], session: Session) -> int:
    """Print what is asked for, link by link."""
    options = given("nvlink", argv, _FLAGS, _VALUES)
    out = session.out
    if not options or "help" in options:
        out.write(_HELP)
        return 0
    if set(options) & {"reseterrorcounters", "info"}:
        raise NotImitated("nvlink " + " ".join(argv))
    gpus = session.gpus(options.get("id", ""))
    if set(options) & set(_OLD_COUNTERS):
        out.writelines(
            f"{heading(gpu)}\nNVML: Unable to access NVLink utilization counters: "
            f"{gpu.driver.error_text(Code.NOT_SUPPORTED)}\n"
            for gpu in gpus
        )
        return int(Code.NOT_SUPPORTED)
    tell = _chosen(options)
    only = options.get("link")
    fields = [_UP, *_FIELDS.get(tell, ())]
    for gpu in gpus:
        out.write(f"{heading(gpu)}\n")
        if _is_split(gpu):
            out.write(f"{_IN_MIG_MODE}\n")
            continue
        gpu.read_fields([(field, link) for field in fields for link in range(_count(gpu))])
        links = [int(only)] if only and only.isdecimal() else range(_count(gpu))
        if not any(_is_up(gpu, link) for link in links):
            out.write(f"{_ALL_INACTIVE}\n")
            continue
        for link in links:
            out.writelines(f"\t {line}\n" if line else "\n" for line in tell(gpu, link))
    return 0


def _chosen(options: dict[str, str]) -> _Tell:
    for name, tell in _TELLERS.items():
        if name in options:
            return tell
    kinds = [
        kind for letter, kind in (("d", _DATA), ("r", _RAW)) if letter in options["getthroughput"]
    ] if "getthroughput" in options else []  # fmt: skip
    if not kinds:
        raise Usage("Invalid combination of input arguments. Please run 'nvidia-smi nvlink -h'.")

    def throughput(gpu: Gpu, link: int) -> Iterator[str]:
        for word, sent, received in kinds:
            yield f"Link {link}: {word} Tx: {gpu.field(sent, link)} KiB"
            yield f"Link {link}: {word} Rx: {gpu.field(received, link)} KiB"

    return throughput


def _status(gpu: Gpu, link: int) -> Iterator[str]:
    if _is_up(gpu, link):
        yield f"Link {link}: {gpu.field(_SPEED_MB, link) / 1000:.3f} GB/s"
    else:
        yield f"Link {link}: <inactive>"


def _capabilities(gpu: Gpu, link: int) -> Iterator[str]:
    for number, words in enumerate(_CAPABILITIES):
        has = gpu.get("nvmlDeviceGetNvLinkCapability", link, number)
        yield f"Link {link}, {words}: {'true' if has else 'false'}"


def _errors(gpu: Gpu, link: int) -> Iterator[str]:
    for word, counter in (("Replay", _REPLAY), ("Recovery", _RECOVERY), ("CRC", _CRC_DATA)):
        yield f"Link {link}: {word} Errors: {_errors_of(gpu, link, counter)}"
    yield ""


def _crc_errors(gpu: Gpu, link: int) -> Iterator[str]:
    yield f"Link {link}: CRC Errors: {_errors_of(gpu, link, _CRC_DATA)}"


def _errors_of(gpu: Gpu, link: int, counter: int) -> int:
    return int(gpu.get("nvmlDeviceGetNvLinkErrorCounter", link, counter))


def _far_address(gpu: Gpu, link: int) -> Iterator[str]:
    yield f"Link {link}: {_address(gpu, link)}"


def _far_link(gpu: Gpu, link: int) -> Iterator[str]:
    yield f"Link {link}: Remote Device {_address(gpu, link)}: Link {gpu.field(_REMOTE_LINK, link)}"


def _address(gpu: Gpu, link: int) -> str:
    address = gpu.get("nvmlDeviceGetNvLinkRemotePciInfo", link).busId
    return address.decode() if isinstance(address, bytes) else str(address)


_TELLERS: dict[str, _Tell] = {
    "status": _status,
    "capabilities": _capabilities,
    "errorcounters": _errors,
    "crcerrorcounters": _crc_errors,
    "pcibusid": _far_address,
    "remotelinkinfo": _far_link,
}

_FIELDS: dict[_Tell, tuple[int, ...]] = {_status: (_SPEED_MB,), _far_link: (_REMOTE_LINK,)}
"""The field values of links that some of them read: asked for all links at once."""


def _count(gpu: Gpu) -> int:
    try:
        return int(gpu.field(_LINKS))
    except Missing as missing:
        if missing.code == Code.NOT_SUPPORTED:
            return 0
        raise


def _is_up(gpu: Gpu, link: int) -> bool:
    try:
        return bool(gpu.field(_UP, link))
    except Missing as missing:
        if missing.code in (Code.NOT_SUPPORTED, Code.INVALID_ARGUMENT):
            return False
        raise


def _is_split(gpu: Gpu) -> bool:
    try:
        return bool(gpu.get("nvmlDeviceGetMigMode")[0])
    except Missing:
        return False
