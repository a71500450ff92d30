"""A call of kubectl: its options and words, and how it says no."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.commands.kubectl.selectors import SelectorError, fits, split, terms
from fakes.commands.remote_shell import Spawn
from fakes.kubernetes.jsonpath import values
from fakes.kubernetes.kinds import Kind, kind_named
from fakes.kubernetes.state import Object
from fakes.node import Node
from fakes.world import World

_SHORT = {
    "n": "namespace", "o": "output", "l": "selector", "f": "filename", "c": "container",
    "A": "all-namespaces", "i": "stdin", "t": "tty", "p": "previous", "k": "kustomize",
    "L": "label-columns", "h": "help", "w": "watch", "q": "quiet",
}  # fmt: skip
_FLAGS = frozenset(
    {
        "all", "all-namespaces", "no-headers", "show-labels", "ignore-not-found", "stdin", "tty",
        "previous", "ignore-daemonsets", "delete-emptydir-data", "delete-local-data", "force",
        "overwrite", "now", "client", "disable-eviction", "server-side", "quiet", "record",
        "insecure-skip-tls-verify", "show-kind", "list", "short", "timestamps",
    }
)  # fmt: skip
_VALUES = frozenset(
    {
        "namespace", "output", "selector", "filename", "container", "field-selector", "sort-by",
        "context", "kubeconfig", "grace-period", "timeout", "pod-selector", "for", "tail", "since",
        "cluster", "server", "token", "user", "request-timeout", "skip-wait-for-delete-timeout",
        "cascade", "as", "label-columns", "resource-version", "chunk-size", "template",
        "patch", "type", "raw",
    }
)  # fmt: skip
_PATCH = {**_SHORT, "p": "patch"}
_OPTIONAL = frozenset({"dry-run", "wait", "validate", "all"})


class RefusedError(Exception):
    """What the API server, or kubectl, says no to, in its words."""


class UnknownHereError(Exception):
    """What the real command may know. One clause."""


@dataclass(frozen=True, slots=True)
class Caller:
    """``words`` begin with the verb; ``after`` are those behind ``--``."""

    world: World
    node: Node
    user: str
    out: TextIO
    err: TextIO
    stdin: TextIO | None
    read_file: Callable[[str], str]
    spawn: Spawn
    pause: Callable[[int], None]
    options: Mapping[str, str]
    words: Sequence[str]
    after: Sequence[str]

    @property
    def namespace(self) -> str:
        """The one that is meant."""
        return self.options.get("namespace", "default")

    @property
    def is_dry(self) -> bool:
        """Whether nothing is to be changed."""
        return self.options.get("dry-run", "none") != "none"

    @property
    def dry(self) -> str:
        """What is said behind a change that was none."""
        return f" ({self.options['dry-run'] or 'client'} dry run)" if self.is_dry else ""


def parse(argv: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """The options by their long names, the words, and those behind ``--``."""
    options: dict[str, str] = {}
    words: list[str] = []
    rest = list(argv)
    short = _PATCH if "patch" in argv[:1] else _SHORT
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, words, rest
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name in _VALUES and not equals:
                value = rest.pop(0) if rest else ""
            elif name not in _VALUES | _FLAGS | _OPTIONAL:
                raise UnknownHereError(f"--{name}: this option is not known here")
            if name in _FLAGS and value == "false":
                continue
            options[name] = value
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                name = short.get(letter, "")
                if not name or name in ("watch", "help"):
                    raise UnknownHereError(f"-{letter}: this option is not known here")
                if name in _VALUES:
                    options[name] = letters.removeprefix("=") or (rest.pop(0) if rest else "")
                    break
                options[name] = ""
        else:
            words.append(word)
    return options, words, []


def resources(words: Sequence[str]) -> tuple[Kind, list[str]]:
    """A kind and names, as ``pod a b`` or ``pod/a pod/b`` give them."""
    if not words:
        raise RefusedError(
            'error: You must specify the type of resource to get. Use "kubectl api-resources" for '
            "a complete list of supported resources."
        )
    name, slash, first = words[0].partition("/")
    kind = kind_named(name)
    if kind is None:
        if name.lower() in _ELSEWHERE:
            raise UnknownHereError(f"{name}: this kind is not known here")
        raise RefusedError(f'error: the server doesn\'t have a resource type "{name}"')
    names = [first, *(word.partition("/")[2] for word in words[1:])] if slash else list(words[1:])
    return kind, names


_ELSEWHERE = frozenset(
    {
        "all", "deployment", "deployments", "deploy", "service", "services", "svc", "secret",
        "secrets", "statefulset", "statefulsets", "sts", "replicaset", "replicasets", "rs", "pvc",
        "pv", "ingress", "crd", "cronjob", "cronjobs", "serviceaccount", "sa", "endpoints", "lease",
        "persistentvolumeclaims", "persistentvolumes", "clusterpolicy", "clusterpolicies",
    }
)  # fmt: skip


def chosen(caller: Caller, kind: Kind, names: Sequence[str]) -> list[Object]:
    """The objects that are meant, by names, namespace and selectors."""
    found = list(kind.all_of(caller.world))
    if kind.namespaced and "all-namespaces" not in caller.options:
        found = [one for one in found if one["metadata"].get("namespace") == caller.namespace]
    if names:
        by_name = {one["metadata"]["name"]: one for one in found}
        missing = [name for name in names if name not in by_name]
        if missing and "ignore-not-found" not in caller.options:
            plural = f"{kind.names[0]}.{kind.group}" if kind.group else kind.names[0]
            raise RefusedError(f'Error from server (NotFound): {plural} "{missing[0]}" not found')
        found = [by_name[name] for name in names if name in by_name]
    try:
        return _selected(caller.options, found)
    except SelectorError as error:
        raise UnknownHereError(str(error)) from error


def _selected(options: Mapping[str, str], found: list[Object]) -> list[Object]:
    """Those that fit the selectors of labels and of fields."""
    for term in terms(options.get("selector", "")):
        found = [one for one in found if fits(one["metadata"].get("labels", {}), term)]
    for term in terms(options.get("field-selector", "")):
        path, sign, wanted = split(term)
        found = [
            one
            for one in found
            if (wanted in [str(value) for value in values(f".{path}", one)]) is (sign != "!=")
        ]
    return found
