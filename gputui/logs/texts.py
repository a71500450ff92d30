"""Which known text a statement is.

A text counts only where a program says it itself: at the start of a statement, or behind what
announces an error: the name of an exception, ``CUDA error:``, ``NCCL WARN``, a container runtime's
chain of errors. Quoted inside other words (code, prose, a comment, a search) it is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from gputui.logs.sieve import word_of, words
from gputui.logs.statement import Statement
from gputui.logs.text_facts import Role, TextFact, Where, compiled, cuda_facts, text_facts

_MOST_HEADS = 4

_HEAD = re.compile(
    r"""(?:
        (?:[A-Za-z_]\w*(?:\.|::))*(?:[A-Za-z_]\w*?)?(?:[Ee]rror|Exception|Failure|Exit|Interrupt|Warning|Timeout)(?:_\w+)?
        (?:\([\w.,\ ]*\))?                      # ray.exceptions.RayTaskError(OutOfMemoryError)
      | \s*what\(\)                            # of a C++ exception that nobody caught
      | Caused\ by
      | Failed
      | CUDA\ initialization
      | (?:Process\ group|NCCL)\ watchdog\ thread\ terminated\ with\ exception
      | nccl(?:InvalidUsage|InvalidArgument)
      | (?:INTERNAL|UNKNOWN|ABORTED|UNAVAILABLE|UNIMPLEMENTED|FAILED_PRECONDITION|Internal|Unknown)
        (?=:\s)
    ):\s+""",
    re.VERBOSE,
)

_CUDA_HEADS = re.compile(
    r"""(?:
        (?:Unexpected\ error\ from\ cuda\w+\(\)\..*?\ )?Error\ (?P<n1>\d+):[ ]
      | failed\ call\ to\ cu\w+:\ (?:UNKNOWN\ ERROR\ \((?P<n5>\d+)\))?
      | CU(?:BLAS|SOLVER|SPARSE|FFT)\ (?:error|failure)\ ?\d*:\ ?
      | (?:failed\ to\ create\ cublas\ handle|failed\ to\ run\ cuBLAS\ routine):[ ]
      | Error\ Code\ \d+:\ Cuda\ (?:Runtime|Driver)\ \(
      | cuda\ runtime\ error\ \((?P<n2>\d+)\)\ ?:[ ]
      | (?:\[?Cuda|CUDA)\ (?:[Dd]river\ |[Rr]untime\ |API\ |[Kk]ernel\ )?
        (?:[Ee]rror|[Ff]ailure|[Ww]arning|[Ee]xception)
        (?:\ at\ \S+)?(?:\ (?:in|on)\ (?:\S+\ )?\S+:\d+)?(?:\ \S+\.(?:cuh?|cc|cpp|h):\d+)?
        (?:\ ?[:=,]?\ ?(?:code\ ?=?\ ?)?\(?(?P<n3>\d{1,3})\)?(?=[\s:;,('\]]|$))?
        \s*[:;,=\-]*\s*['"(]?
      | (?:\S+:\ )?Test\ CUDA\ failure\ \S+:\d+\ '
      | GPU(?:assert|\ kernel\ assertion):[ ]
      | (?:\S+:\d+:\ )?NCCL\ operation\ \w+\(.{0,300}?\ failed:\ unhandled\ cuda\ error
        .{0,300}?\bCuda\ failure\ (?:\d+\ )?'
      | \[(?P<n4>\d{1,3})\]\ Call\ to\ cu\w+\ results\ in[ ]
    )""",
    re.VERBOSE,
)
"""What announces a CUDA error: PyTorch's, TensorFlow's, NCCL's and its tests', CuPy's, Numba's,
ONNX Runtime's, llama.cpp's words, and those of NVIDIA's samples, which many have taken over."""

_CUDA_NAME = re.compile(r"\b(?:cudaError[A-Z]\w+|CUDA_ERROR_[A-Z_0-9]+)\b")
_QUOTED = re.compile(r"\"[^\"]*\"|`[^`']*[`']|(?<!\w)'[^']*'")
_CUDA_TOKENS = ("CUDA", "cuda", "Cuda", "GPUassert", "Error ")

_CUDNN_HEAD = re.compile(
    r"(?:cuDNN (?:Backend )?[Ee]rror|Could not create cudnn handle): "
    r"|CUDNN (?:error|failure)\s?:?\s?\d*:? ?"
)

_CHAIN_HEADS = (
    "docker:", "/usr/bin/docker:", "podman:", "nerdctl:", "ctr:", "crun:", "Error", "error",
    "failed to", "Failed", "OCI runtime", "runc", "nvidia-container-cli", "CDI", "unable to",
    "nvidia-container-runtime", "Back-off", "Auto-detected", "FATA", "could not select",
    "starting container", "unresolvable", "unsatisfied", "requirement error", "Cannot start",
    "Unknown runtime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Match:
    """A known text, and its named parts."""

    fact: TextFact
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Layer:
    """What a statement says behind one more head. ``raised``: an exception's name was before it."""

    text: str
    raised: bool


def match(statement: Statement) -> Match | None:
    """The known text that a statement is; None for any other.

    What a logger calls information is no failure: NCCL has a word of its own for that.
    """
    layers = tuple(_layers(statement))
    found = _row(statement, layers, Where.NVLS) if "nvls" in statement.source else None
    found = found or _cuda(statement, layers) or _row(statement, layers)
    if found is not None and found.fact.role in (Role.CAUSE, Role.SYMPTOM):
        return None if statement.level in ("debug", "info") else found
    return found


def _layers(statement: Statement) -> Iterator[_Layer]:
    text, raised = statement.text, statement.is_grave
    yield _Layer(text, raised)
    for _ in range(_MOST_HEADS):
        head = _HEAD.match(text)
        if head is None:
            return
        text, raised = text[head.end() :], True
        yield _Layer(text, raised)


def _row(
    statement: Statement, layers: tuple[_Layer, ...], only: Where | None = None
) -> Match | None:
    whole = statement.text
    facts, needles = _needles()
    likely = words(whole.encode()) & needles.keys()
    candidates = {
        number for word in (None, *likely) for needle, number in needles[word] if needle in whole
    }
    for number in sorted(candidates):
        fact = facts[number]
        if only is not None and fact.where is not only:
            continue
        for text in _places(fact.where, statement, layers):
            found = compiled(fact.regex).match(text)
            if found is not None:
                return Match(fact, _fields(found))
    return None


@cache
def _needles() -> tuple[tuple[TextFact, ...], Mapping[bytes | None, list[tuple[str, int]]]]:
    """The facts in their order; and under its word every needle, with the number of its fact."""
    facts = tuple(text_facts().values())
    under: dict[bytes | None, list[tuple[str, int]]] = {None: []}
    for number, fact in enumerate(facts):
        for needle in fact.needles:
            under.setdefault(word_of(needle.encode()), []).append((needle, number))
    return facts, under


def _places(where: Where, statement: Statement, layers: tuple[_Layer, ...]) -> Iterator[str]:
    """The ends of a statement with which a text of this sort may begin."""
    if statement.nccl == "INFO" and where is not Where.INFO:
        return
    if where is Where.CHAIN:
        yield from _chain(statement)
    elif where is Where.CUDA:
        for layer in layers:
            if head := _CUDA_HEADS.match(layer.text):
                yield layer.text[head.end() :]
            if layer.raised:
                yield layer.text
    elif where is Where.CUDNN:
        for layer in layers:
            if head := _CUDNN_HEAD.match(layer.text):
                yield layer.text[head.end() :]
            elif layer.raised:
                yield layer.text
    elif where is Where.NVLS:
        if "nvls" in statement.source:
            yield statement.text
    else:
        for layer in layers:
            if where is not Where.RAISED or layer.raised:
                yield layer.text


def _chain(statement: Statement) -> Iterator[str]:
    """Each link of a chain of errors."""
    text = statement.text
    if not statement.is_grave and not text.startswith(_CHAIN_HEADS):
        return
    yield text
    for link in re.finditer(r"(?:: |\\n|\n|' )(?=\w)", text):
        yield text[link.end() :]


def _cuda(statement: Statement, layers: tuple[_Layer, ...]) -> Match | None:
    """A CUDA error, by its number, its name or its words."""
    if statement.nccl == "INFO":
        return None
    whole = statement.text
    if any(token in whole for token in _CUDA_TOKENS):
        for layer in layers:
            head = _CUDA_HEADS.match(layer.text)
            if head is not None:
                fact = _named(layer.text[head.end() :], head)
                if fact is not None:
                    return Match(fact)
        name = _CUDA_NAME.search(_QUOTED.sub(_blank, whole))
        if name is not None:
            code = _codes().get(name[0])
            if code is not None and (layers[-1].raised or whole.startswith(f"{name[0]}: ")):
                return Match(cuda_facts()[code])
    for layer in layers:
        code = _words().get(layer.text.rstrip(" ."))
        if code is not None and (layer.raised or code in _TELLING):
            return Match(cuda_facts()[code])
    return None


_TELLING = frozenset(
    {35, 46, 100, 101, 209, 214, 220, 222, 226, 700, 710, 719, 802, 803, 804, 919}
)  # fmt: skip
"""The codes whose words, standing alone, can mean nothing else."""


_AFTER_WORDS = re.compile(
    r"\s*(?:$|[.;:()\[\]'\"<]|(?:at|in|on|when|from|hit)\b|\S+:\d|\S+\.(?:cuh?|cc|cpp|h|py)\b)"
)
"""What may follow the words of a CUDA error; a sentence about it goes on otherwise."""


def _named(rest: str, head: re.Match[str]) -> TextFact | None:
    """The error that follows an announcement."""
    if name := _CUDA_NAME.search(rest):
        code = _codes().get(name[0])
        if code is not None:
            return cuda_facts()[code]
    for text in _longest_words():
        at = 0 if rest.startswith(text) else rest.find(f": {text}")
        if at < 0:
            continue
        end = rest.index(text, at) + len(text)
        return cuda_facts()[_words()[text]] if _AFTER_WORDS.match(rest, end) else None
    number = next((value for value in head.groups() if value), None)
    return cuda_facts().get(int(number)) if number else None


@cache
def _codes() -> Mapping[str, int]:
    return {name: code for code, fact in cuda_facts().items() for name in fact.names}


@cache
def _words() -> Mapping[str, int]:
    words: dict[str, int] = {}
    words["all CUDA-capable devices are busy or unavailable"] = 46  # before CUDA 10
    for code, fact in cuda_facts().items():  # two codes may share their words: the first has them
        words.setdefault(fact.text.rstrip("."), code)
    return words


@cache
def _longest_words() -> tuple[str, ...]:
    return tuple(sorted(_words(), key=len, reverse=True))


def _blank(quoted: re.Match[str]) -> str:
    return " " * len(quoted[0])


def _fields(found: re.Match[str]) -> tuple[tuple[str, str], ...]:
    """The parts of a text; of alternatives such as ``peer`` and ``peer2`` the one that is there."""
    parts: dict[str, str] = {}
    for name, value in found.groupdict().items():
        if value is not None and value.strip():
            parts.setdefault(name.rstrip("23"), value.strip())
    return tuple(parts.items())
