"""What NVML says to one call of nvidia-smi: each question is asked once, and so is each refusal.

Texts that belong together (a temperature and its margin, the halves of a table's row) must be of
one moment; and a call must stay quick, whatever is asked of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from ctypes import byref
from typing import Any

from fakes.nvml.codes import Code

NOT_HERE = (Code.NOT_SUPPORTED, Code.FUNCTION_NOT_FOUND)
"""What NVML answers where a GPU, or the library, does not have what is asked for."""

_DEPRECATED = "Requested functionality has been deprecated"
_LOST = "GPU is lost.  Reboot the system to recover this GPU"


class Missing(Exception):  # noqa: N818
    """A value that is not to be had; ``code`` is NVML's return code (nvmlReturn_t)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Driver:
    """NVML, as the system: what :meth:`get` asks is a function of nvidia-ml-py without a handle.

    ``taken_s`` is the moment, in Unix seconds, that all of its readings are said to be of.
    """

    def __init__(self, nvml: Any, clock: Callable[[], float]) -> None:
        self.nvml = nvml
        self.taken_s = clock()
        self._answers: dict[tuple[Any, ...], Any] = {}

    def get(self, function: str, *inputs: Any) -> Any:
        """The function's result; ``Missing`` if it fails, or if there is none of that name."""
        key = (function, *inputs)
        if key not in self._answers:
            self._answers[key] = self.ask(function, *inputs)
        return _checked(self._answers[key])

    def ask(self, function: str, *inputs: Any) -> Any:
        """As :meth:`get`, but asked anew, and a failure is returned, not raised."""
        known = getattr(self.nvml, function, None)
        if known is None:
            return Missing(Code.FUNCTION_NOT_FOUND)
        try:
            result = known(*inputs)
        except self.nvml.NVMLError as error:
            return Missing(int(error.value))
        return result.decode() if isinstance(result, bytes) else result

    def structure(self, name: str) -> Any:
        """A new structure that NVML is to fill. Older nvidia-ml-py lack some: ``Missing``."""
        known = getattr(self.nvml, name, None)
        if known is None:
            raise Missing(Code.FUNCTION_NOT_FOUND)
        return known()

    def error_text(self, code: int) -> str:
        """NVML's words for a return code."""
        return str(self.nvml.nvmlErrorString(code))

    def why(self, code: int) -> str:
        """What stands in a value's place. A value that does not exist is N/A."""
        if code in NOT_HERE:
            return "N/A"
        return _DEPRECATED if code == Code.DEPRECATED else self.error_text(code)

    def failure_text(self, code: int) -> str:
        """What ends a line about a GPU that cannot be used. To a lost one advice is added."""
        return _LOST if code == Code.GPU_IS_LOST else self.error_text(code)

    @property
    def version(self) -> str:
        """The driver's version."""
        return str(self.get("nvmlSystemGetDriverVersion"))

    @property
    def branch(self) -> int:
        """The first number of the driver's version."""
        return int(self.version.split(".")[0])

    @property
    def cuda_version(self) -> str:
        """The highest CUDA version that it supports: ``12.8``."""
        number = self.get("nvmlSystemGetCudaDriverVersion_v2")
        return f"{number // 1000}.{number % 1000 // 10}"

    @property
    def stamp(self) -> str:
        """The moment of the readings, as CSV has it: ``2026/07/14 08:12:38.123``."""
        whole_ms = int(self.taken_s * 1000)
        moment = time.gmtime(whole_ms // 1000)
        return f"{time.strftime('%Y/%m/%d %H:%M:%S', moment)}.{whole_ms % 1000:03d}"

    @property
    def date(self) -> str:
        """The same, as a person reads it: ``Tue Jul 14 08:12:38 2026``."""
        return time.asctime(time.gmtime(self.taken_s))


class Gpu:
    """One GPU: what :meth:`get` asks is a function of nvidia-ml-py that takes its handle."""

    def __init__(self, driver: Driver, handle: Any, index: int) -> None:
        self.driver = driver
        self.handle = handle
        self.index = index
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._fields: dict[tuple[int, int], Any] = {}

    def get(self, function: str, *inputs: Any) -> Any:
        """The function's result; ``Missing`` if it fails."""
        key = (function, *inputs)
        if key not in self._answers:
            self._answers[key] = self.driver.ask(function, self.handle, *inputs)
        return _checked(self._answers[key])

    def ask(self, function: str, *inputs: Any) -> Any:
        """As :meth:`get`, but asked anew, and a failure is returned, not raised."""
        return self.driver.ask(function, self.handle, *inputs)

    def do(self, function: str, *inputs: Any) -> None:
        """Call a function that changes something; ``Missing`` if it is refused."""
        _checked(self.ask(function, *inputs))
        self._answers.clear()
        self._fields.clear()

    def filled(self, function: str, name: str, version: int = 0) -> Any:
        """The structure called ``name``, as the function fills it.

        ``version`` is the structure's version word, where nvidia-ml-py does not set it by itself.
        """
        key = (function, name)
        if key not in self._answers:
            structure = self.driver.structure(name)
            if version:
                structure.version = version
            answer = self.driver.ask(function, self.handle, byref(structure))
            self._answers[key] = answer if isinstance(answer, Missing) else structure
        return _checked(self._answers[key])

    def read_fields(self, wanted: Iterable[tuple[int, int]]) -> None:
        """Ask for field values (number and scope) in one call, so that each is at hand later."""
        asked = [each for each in wanted if each not in self._fields]
        if asked:
            values = self.get("nvmlDeviceGetFieldValues", tuple(asked))
            self._fields.update(zip(asked, values, strict=True))

    def field(self, number: int, scope: int = 0) -> Any:
        """A field value (NVML_FI_*) of a scope; each has a return code of its own."""
        if (number, scope) not in self._fields:
            self.read_fields(((number, scope),))
        value = self._fields[number, scope]
        if value.nvmlReturn:
            raise Missing(int(value.nvmlReturn))
        return getattr(value.value, _FIELD_TYPES[value.valueType])

    @property
    def bus_id(self) -> str:
        """Its PCI address as nvidia-smi prints it: ``00000000:3B:00.0``."""
        address = self.get("nvmlDeviceGetPciInfo").busId
        return address.decode() if isinstance(address, bytes) else str(address)


_FIELD_TYPES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


def _checked(answer: Any) -> Any:
    if isinstance(answer, Missing):
        raise Missing(answer.code)
    return answer


def each_gpu(driver: Driver) -> Iterator[tuple[int, Any]]:
    """Index and handle of every GPU that NVML counts; in a handle's place its ``Missing``."""
    for index in range(driver.get("nvmlDeviceGetCount")):
        yield index, driver.ask("nvmlDeviceGetHandleByIndex", index)
