"""Which CUDA, and which frameworks, are installed: read from their files, without starting them.

Looked for are the CUDA toolkit, and the packages of the Python that a user of this environment
would start, not gputui's own: that of $VIRTUAL_ENV or $CONDA_PREFIX, else the first on $PATH.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 1 << 20
_ASSIGNED = re.compile(r"^(?P<name>__version__|cuda)\b[^=\n]*= *['\"](?P<value>[^'\"]+)['\"]", re.M)
_BUILT = re.compile(r"['\"](?P<name>cuda_version|cudnn_version)['\"]: *['\"](?P<value>[\d.]+)['\"]")


@dataclass(frozen=True, slots=True)
class Installed:
    """A framework or toolkit. ``cuda`` and ``cudnn`` are what it was built for, None for none.

    ``where`` is the folder that it was found in.
    """

    name: str
    version: str
    cuda: str | None
    where: Path
    cudnn: str | None = None


def installed(root: Path, environment: Mapping[str, str]) -> tuple[Installed, ...]:
    """All that is found. Folders that cannot be read hold nothing."""
    found: list[Installed] = [*_toolkits(root)]
    for folder in _package_folders(root, environment):
        found += [*_torch(folder), *_tensorflow(folder)]
    return tuple(found)


def cudnn_of(folder: Path) -> str | None:
    """The version of the cuDNN that lies beside packages in a folder; None for none."""
    return _distribution(folder, "nvidia_cudnn_cu*")


def _toolkits(root: Path) -> Iterator[Installed]:
    told = _text(root / "usr/local/cuda/version.json")
    try:
        version = json.loads(told)["cuda"]["version"] if told else None
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(version, str):
        yield Installed("CUDA toolkit", version, version, root / "usr/local/cuda")


def _package_folders(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where the Python that a user would start looks for packages."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := environment.get(variable):
            yield from _in_prefix(Path(prefix))
            return
    for folder in environment.get("PATH", "").split(":"):
        if folder and (Path(folder) / "python3").exists():
            yield from _in_prefix(Path(folder).parent)
            break
    yield root / "usr/lib/python3/dist-packages"
    if home := environment.get("HOME"):
        yield from _in_prefix(Path(home) / ".local")


def _in_prefix(prefix: Path) -> Iterator[Path]:
    for packages in ("site-packages", "dist-packages"):
        try:
            yield from sorted(prefix.glob(f"lib/python3*/{packages}"))
        except OSError:
            continue


def _torch(folder: Path) -> Iterator[Installed]:
    """torch/version.py assigns its own version, and that of CUDA or None."""
    told = {
        one["name"]: one["value"] for one in _ASSIGNED.finditer(_text(folder / "torch/version.py"))
    }
    if "__version__" in told:
        yield Installed("torch", told["__version__"], told.get("cuda"), folder, cudnn_of(folder))


def _tensorflow(folder: Path) -> Iterator[Installed]:
    """TensorFlow's build_info.py is made with what it was built for."""
    version = _distribution(folder, "tensorflow") or _distribution(folder, "tensorflow_gpu")
    if version is None:
        return
    text = _text(folder / "tensorflow/python/platform/build_info.py")
    built = {one["name"]: one["value"] for one in _BUILT.finditer(text)}
    yield Installed(
        "tensorflow", version, built.get("cuda_version"), folder, built.get("cudnn_version")
    )


def _distribution(folder: Path, name: str) -> str | None:
    """The version of a package, by its folder of metadata."""
    try:
        found = sorted(folder.glob(f"{name}-[0-9]*.dist-info"))
    except OSError:
        return None
    return found[-1].name.removesuffix(".dist-info").partition("-")[2] if found else None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
