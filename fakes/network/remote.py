"""Programs on another node of the run, by way of a remote shell.

A look-alike that is called with :data:`ON_NODE` in its environment answers for that node. Its files
are not here: a command line that reads any, or calls a program whose answer comes from the caller's
own node, cannot be run this way, and is refused.
"""

from __future__ import annotations

import re
import shlex

ON_NODE = "GPUCHAOS_ON_NODE"

_FILTERS = frozenset(
    {
        "grep", "egrep", "fgrep", "zgrep", "awk", "gawk", "mawk", "sed", "head", "tail", "wc",
        "cut", "sort", "uniq", "tr", "echo", "printf", "test", "[", "[[", "true", "false", "cat",
        "tee", "xargs", "paste", "column", "nl", "rev", "tac", "seq", "expr", "basename", "dirname",
        "jq", "python3", "bash", "sh", "env", "set", "export", "read", "exit", "return", ":",
        "shift", "local", "wait", "let", "unset", "cd", "pwd", "yes", "bc", "diff", "id", "whoami",
        "command", "type", "which", "nohup", "time", "exec", "trap",
    }
)  # fmt: skip
_KEYWORDS = frozenset(
    {
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "in", "!", "{", "}", "function", "select",
    }
)  # fmt: skip
_BEFORE_COMMAND = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_OPENS = "\x01"
_SEPARATORS = re.compile(r"[;&|()\n]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FILES = re.compile(r"(?:^|[\s'\"=<>:])(/(?:proc|sys|etc|var|dev|run|tmp|home|root|opt|boot)\b)")
_HARMLESS = re.compile(r"/dev/(?:null|stdout|stderr|stdin|fd)\b")


def what_is_local(line: str, look_alikes: frozenset[str]) -> str:
    """The word of a shell's command line that needs its own node; "" if there is none.

    >>> what_is_local("nvidia-smi -L | wc -l", frozenset({"nvidia-smi"}))
    ''
    >>> what_is_local("cat /proc/version", frozenset())
    '/proc'
    """
    found = _FILES.search(_HARMLESS.sub("", line))
    if found is not None:
        return found[1]
    for program in _programs(line):
        name = program.rsplit("/", 1)[-1]
        if name not in look_alikes and name not in _FILTERS:
            return program
    return ""


def _programs(line: str) -> list[str]:
    """The words at which a shell would look for programs, those of substitutions among them."""
    lexer = shlex.shlex(
        line.replace("$((", " ").replace("$(", f" {_OPENS} ").replace("`", " ; "),
        posix=True,
        punctuation_chars=";&|()\n",
    )
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return [line]
    found: list[str] = []
    depth = 0
    is_first, skips = True, False
    for word in words:
        if word == _OPENS:
            depth, is_first = depth + 1, True
        elif depth and word.startswith(")"):
            depth, is_first = depth - 1, False
        elif _SEPARATORS.fullmatch(word):
            is_first, skips = True, False
        elif _OPENS in word:
            inner = word.partition(_OPENS)[2].rpartition(")")[0]
            found += _programs(inner)
            is_first = False
        elif skips:
            skips = False
        elif word in (">", "<", ">>", "2>", "2>>", "&>"):
            skips = True
        elif not is_first or _ASSIGNMENT.match(word):
            continue
        elif word in ("for", "case", "select"):
            is_first = False
        elif word in _KEYWORDS:
            is_first = word in _BEFORE_COMMAND
        else:
            found.append(word)
            is_first = False
    return found
