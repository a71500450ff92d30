"""Driver, CUDA and frameworks: whether they go together.

A newer driver runs any older CUDA; of the same major number an older driver runs a newer CUDA too,
with fewer features (docs.nvidia.com/deploy/cuda-compatibility).
"""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, skipped, warning
from gputui.doctor.installed import Installed, cudnn_of, installed
from gputui.doctor.site import Site
from gputui.facts.compat import Version, cuda_release, torch_release, version


@check("versions")
def versions(site: Site) -> Iterator[Result]:
    """The driver runs the CUDA that toolkits and frameworks here were built for."""
    there = installed(site.root, site.environment)
    if not there:
        yield skipped("neither a CUDA toolkit nor torch or TensorFlow found in this environment")
        return
    for one in there:
        yield from _of(site, one)


def _of(site: Site, one: Installed) -> Iterator[Result]:
    named = f"{one.name} {one.version}"
    if one.cuda is None:
        yield warning(
            f"{named} ({one.where}) is built without CUDA: it will not use a GPU",
            fix=_install(site, one),
        )
        return
    found = [*_driver(site, one, named), *_cudnn(one, named)]
    yield from found
    if not found:
        yield good(_fine(site, one, named))


def _driver(site: Site, one: Installed, named: str) -> Iterator[Result]:
    sample = site.sample
    wanted = version(one.cuda or "")
    offered = version(sample.cuda) if sample and sample.cuda else None
    driver = version(sample.driver) if sample and sample.driver else None
    if wanted is None or (offered is None and driver is None):
        return
    fact = cuda_release(wanted)
    least = fact.driver_min_minor or fact.driver_min if fact else None
    newer_major = offered is not None and wanted[0] > offered[0]
    too_old = driver is not None and least is not None and driver < least
    if not newer_major and not too_old:
        return
    text = f"{named} wants CUDA {one.cuda}, the driver"
    text += f" {sample.driver} gives CUDA {sample.cuda}" if sample else ""
    if least is not None:
        text += f"; it needs {_written(least)} or newer"
    branch = f"nvidia-driver-{least[0]}" if least else "a newer driver"
    fix = f"apt install {branch}, or: {_install(site, one)}"
    # What is known from memory alone is no reason to fail.
    sure = newer_major or (fact is not None and fact.confidence.is_sure)
    yield critical(text, fix=fix) if sure else warning(text, fix=fix)


def _install(site: Site, one: Installed) -> str:
    """What installs a build for the CUDA that the driver gives."""
    cuda = (site.sample.cuda if site.sample else None) or "12.8"
    if one.name == "torch":
        index = f"https://download.pytorch.org/whl/cu{cuda.replace('.', '')}"
        return f"pip install torch --index-url {index} (or that of an older CUDA)"
    if one.name == "tensorflow":
        return "pip install 'tensorflow[and-cuda]'"
    return f"apt install cuda-toolkit-{cuda.replace('.', '-')}"


def _cudnn(one: Installed, named: str) -> Iterator[Result]:
    """TensorFlow loads a cuDNN of the major number it was built for; torch brings its own."""
    if one.name != "tensorflow" or one.cudnn is None:
        return
    beside = cudnn_of(one.where)
    if beside is not None and version(beside) and version(one.cudnn):
        wanted, there = version(one.cudnn), version(beside)
        if wanted and there and wanted[0] != there[0]:
            yield critical(
                f"{named} wants cuDNN {one.cudnn}, {beside} is installed",
                fix=f"pip install 'nvidia-cudnn-cu12=={wanted[0]}.*'",
            )


def _fine(site: Site, one: Installed, named: str) -> str:
    known = torch_release(version(one.version) or ()) if one.name == "torch" else None
    odd = ""
    if known and known.cuda and one.cuda and known.cuda[:1] != (version(one.cuda) or ())[:1]:
        odd = f" (the usual build is for CUDA {_written(known.cuda)})"
    if site.sample is None or site.sample.cuda is None:
        return f"{named} for CUDA {one.cuda}{odd}; no driver to compare it with"
    return f"{named} for CUDA {one.cuda} runs on CUDA {site.sample.cuda}{odd}"


def _written(number: Version) -> str:
    return ".".join(str(part) for part in number)
