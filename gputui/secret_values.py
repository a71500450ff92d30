"""Passwords, tokens and keys, taken out of texts before anything is shown, recorded or sent.

One place for all of them: command lines when they are read from /proc, lines of jobs' logs, what
comes from another machine or out of a recording, and the texts of a bundle. What a program was
started with stays readable; of a secret its name is left and its value is :data:`HIDDEN`. In doubt
a value is hidden: a reader can ask its owner, and nobody can take back what was shown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gputui.text import harmless

HIDDEN = "***"
"""Stands in place of a secret's value."""

_VALUE = (
    r"(?P<value>\"[^\"]*(?:\"|$)|'[^']*(?:'|$)"
    r"|(?:(?:Bearer|Basic|Token|Digest|Negotiate)\s+)?\S+)"
)
_NAMED = re.compile(
    rf"(?P<name>(?<![\w-])-{{0,2}}[A-Za-z_][\w.-]*)(?P<to>[\"']?\s*[=:]\s*|\s+)(?={_VALUE})", re.I
)
"""A name and what stands behind it; after an option a blank is enough."""

_IN_ADDRESS = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<value>[^\s/]+)(?=@)"
    r"|(?P<before_alone>\bhttps?://)(?P<alone>[^\s/:@]+)(?=@)",
    re.I,
)
"""The password in a URL (RFC 3986, 3.2.1); of HTTP a user alone is a token as well."""

_BEFORE_IT = re.compile(
    r"(?P<before>\bwandb\s+login\s+(?:--\S+\s+)*|\bsshpass\s+-p\s*|\bmysql\w*\s(?:.*\s)?-p"
    r"|(?<!\S)(?:-u|--user|--proxy-user)[\s=]?[^\s:=]+:)(?P<value>(?!-)\S+)"
)
"""Programs that take a secret without a name: wandb, sshpass, mysql, and curl's user:password."""

_BY_ITSELF = re.compile(
    r"\b(?:hf_\w{10,}|sk-[\w-]{10,}|[sr]k_live_\w{10,}|A[KS]IA[0-9A-Z]{12,}|gh[pousr]_\w{10,}"
    r"|github_pat_\w{10,}|glpat-[\w-]{10,}|nvapi-[\w-]{10,}|xox[a-z]-[\w-]{10,}|AIza[\w-]{20,}"
    r"|eyJ[\w.-]{20,}|npm_\w{20,}|pypi-[\w-]{20,}|r8_\w{20,})"
)
"""Tokens that their issuers gave a beginning of their own, to be found by (AKIA of AWS ...)."""

_MAY_HOLD = re.compile(
    r"token|secret|pass|pwd|key|cred|auth|cookie|sig|://|\bwandb|-u |--user|mysql"
    r"|hf_|sk-|_live_|A[KS]IA|gh[pousr]_|github_pat|glpat|nvapi|xox|eyJ|npm_|pypi-|r8_",
    re.I,
)

_ALWAYS = ("secret", "passwd", "password", "passphrase", "credential", "authorization")
_ALONE = frozenset({"pass", "pwd", "auth", "cookie", "sig", "signature", "key"})
"""Words that mean much else in prose; behind ``--`` or before ``=`` they are meant."""

_KEYS = re.compile(
    r"(?:api|access|private|secret|account|signing|encryption|auth|master|session|license"
    r"|shared|storage|deploy|service|client|subscription|wandb|openai|ngc)keys?"
)
_OF_TEXT = frozenset(
    {"eos", "bos", "pad", "unk", "mask", "sep", "cls", "image", "special", "stop", "per", "max"}
)
"""What stands before ``token`` where it is a piece of text, as models count them."""

_ABOUT_IT = frozenset(
    {"file", "path", "dir", "url", "type", "name", "env", "timeout", "ttl", "len", "length", "ids"}
    | {"limit", "count", "size", "level", "mode", "provider", "budget", "rate"}
)
"""Last words of names that say something about a secret, not what it is."""

_WORKING_FOLDERS = frozenset({"PWD", "OLDPWD"})
_PATH_OF_A_KEY = re.compile(r"[./~]\S*/|/|\S*\.(?:pem|key|crt)\b|[\d.,kn]{1,4}(?!\S)")
_NUMBER = re.compile(r"[\d.]+[kKMG]?(?!\S)")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=512)
def without_secrets(text: str) -> str:
    """The text with :data:`HIDDEN` in place of what nobody is to see.

    >>> without_secrets("serve --api-key abc123 --port 80")
    'serve --api-key *** --port 80'
    """
    if _MAY_HOLD.search(text) is None:
        return text
    text = _BY_ITSELF.sub(HIDDEN, text)
    text = _IN_ADDRESS.sub(lambda it: f"{it['before'] or it['before_alone']}{HIDDEN}", text)
    text = _BEFORE_IT.sub(lambda found: f"{found['before']}{HIDDEN}", text)
    return _without_named(text)


def command_line(arguments: bytes) -> str:
    """A process's arguments, each ended by a zero byte, on one line without secrets.

    Where an argument begins and ends is known here, so that a secret may hold blanks.
    """
    shown: list[str] = []
    hide_next = False
    for raw in arguments.rstrip(b"\0").split(b"\0"):
        argument = harmless(raw.decode("utf-8", "replace"))
        name, equals, value = argument.partition("=")
        is_option = argument.startswith("-")
        if hide_next and not argument.startswith("--"):
            shown.append(HIDDEN)
            hide_next = False
            continue
        hide_next = is_option and not equals and _is_secret(name, " ", "")
        if equals and " " not in name and _is_secret(name, equals, value):
            argument = f"{name}={HIDDEN}"
        shown.append(argument)
    return without_secrets(" ".join(shown).strip())


def _without_named(text: str) -> str:
    """Without the values behind names of secrets.

    Every name is looked at, also one that is itself a value: ``env: HF_TOKEN=...``.
    """
    pieces: list[str] = []
    at = 0
    while found := _NAMED.search(text, at):
        pieces.append(text[at : found.end()])
        at = found.end()
        name, separator, value = found["name"], found["to"], found["value"]
        is_option = name.startswith("-")
        if separator.isspace() and (not is_option or value.startswith("--")):
            continue
        if _is_secret(name, separator, value):
            quote = value[0] if value[0] in "\"'" else ""
            ended = quote if len(value) > 1 and value.endswith(quote) else ""
            pieces.append(f"{quote}{HIDDEN}{ended}")
            at = found.end("value")
    pieces.append(text[at:])
    return "".join(pieces)


def _is_secret(name: str, separator: str, value: str) -> bool:
    """Whether what stands behind a name is nobody's business."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT_IT or name in _WORKING_FOLDERS:
        return False
    joined = "".join(words)
    if any(word in joined for word in _ALWAYS) or _KEYS.search(joined):
        return True
    if "token" in joined:
        return _is_token(words, value)
    if words[-1] not in _ALONE:
        return False
    if words[-1] == "key" and (_PATH_OF_A_KEY.match(value) or (words[1:] and not name.isupper())):
        return False  # a certificate's file, a column to sort by
    return name.startswith("-") or "=" in separator or '"' in separator


def _is_token(words: list[str], value: str) -> bool:
    """Whether a name with ``token`` in it is of a secret, not of a piece of text or its number."""
    for before, word in zip(["", *words], words, strict=False):
        if word == "tokens":
            return not _NUMBER.match(value) and before not in _OF_TEXT
        if word.endswith("token") and before not in _OF_TEXT:
            return words[-1] != "id"
    return False
