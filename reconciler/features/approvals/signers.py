"""Lists of signers, as `ssh-keygen` reads them: who may sign, with which key.

A principal is a person only where its name is written out: a pattern is no person.
Principals that share a key may be one person, and count as one. Source: ssh-keygen(1), under
ALLOWED SIGNERS.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Final

NAMESPACE: Final = "reconciler-plan"
"""The namespace of our signatures, so that a signature of a commit approves no plan."""

_LINE = re.compile(r"(\S+)[ \t]+(.*)")
_KEY = re.compile(
    r"(?:^|[ \t])((?:sk-)?(?:ssh|ecdsa)-[\w.@-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?=\s|$)"
)
_NAMESPACES = re.compile(r'namespaces="([^"]*)"', re.IGNORECASE)
_PATTERN = re.compile(r"[*?!]")
LENGTH: Final = 4
"""Bytes of the length of a string in a key, and of the version of a signature."""
_PRINCIPAL = re.compile(r"[\w.@+-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Signer:
    """A principal and one of its keys; `line` is the line of the list for this principal alone.

    A key for other namespaces cannot sign a plan, but it still shows that two principals are one
    person.
    """

    principal: str
    fingerprint: str
    line: str
    may_sign: bool = True


@dataclass(frozen=True, slots=True)
class Signers:
    """The people of a list. `flaws` are what is wrong with it, each with its line number."""

    signers: Sequence[Signer]
    flaws: Sequence[tuple[int, str]] = ()

    def people(self) -> list[frozenset[str]]:
        """Return the principals of each person: those that share keys are one person."""
        return self.people_of({signer.principal for signer in self.signers if signer.may_sign})

    def people_of(self, principals: set[str]) -> list[frozenset[str]]:
        """Return the people that have one of these principals."""
        people: list[set[str]] = []
        by_key: dict[str, set[str]] = {}
        for signer in self.signers:
            by_key.setdefault(signer.fingerprint, set()).add(signer.principal)
        for names in by_key.values():
            shared = [person for person in people if person & names]
            people = [person for person in people if person not in shared]
            people.append(names.union(*shared))
        return [frozenset(person) for person in people if person & principals]

    def of_key(self, fingerprint: str) -> list[Signer]:
        """Return the principals of a key."""
        return [
            signer
            for signer in self.signers
            if signer.may_sign and signer.fingerprint == fingerprint
        ]


def read_signers(text: str) -> Signers:
    """Read a list. Patterns, authorities and keys for other namespaces are no person, and no flaw.

    A line that cannot be read is a flaw, as it may have been meant to be a person. A line ends as
    `ssh-keygen` and a review see it end: other line breaks could hide a person in a comment.
    """
    found: list[Signer] = []
    flaws: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        split = _LINE.fullmatch(line.strip())
        key = _KEY.search(split[2]) if split is not None else None
        if split is None or key is None or (fingerprint := fingerprint_of(key[2])) is None:
            flaws.append((number, "is no line of the form `PRINCIPAL KEYTYPE KEY`"))
            continue
        may_sign = _is_for_us(key[1], split[2][: key.start()])
        for principal in split[1].split(","):
            if _PATTERN.search(principal):
                continue
            if may_sign and not _PRINCIPAL.fullmatch(principal):
                flaws.append((number, "has a principal that is not of letters, digits and `._@+-`"))
                continue
            found.append(Signer(principal, fingerprint, f"{principal} {split[2]}", may_sign))
    return Signers(found, flaws)


def _is_for_us(kind: str, options: str) -> bool:
    """Return whether a key may sign plans, and is of a person, not of an authority."""
    if "cert-authority" in options.lower() or "-cert-" in kind:
        return False
    names = _NAMESPACES.search(options)
    return names is None or any(fnmatchcase(NAMESPACE, name) for name in names[1].split(","))


def fingerprint_of(key: str | bytes) -> str | None:
    """Return the fingerprint of a public key, as `ssh-keygen -l` prints it; None for no base64.

    Bytes are the key itself, text is its base64. None also for an RSA key with needless zeros
    before its numbers: it would be the same key with another fingerprint.
    """
    try:
        content = base64.b64decode(key, validate=True) if isinstance(key, str) else key
    except (binascii.Error, ValueError):
        return None
    kind, *numbers = (*strings_in(content), b"")
    if kind == b"ssh-rsa" and any(map(_is_padded, numbers)):
        return None
    return f"SHA256:{base64.b64encode(sha256(content).digest()).decode().rstrip('=')}"


def _is_padded(number: bytes) -> bool:
    return number[:1] == b"\0" and number[1:2] < b"\x80"


def strings_in(blob: bytes) -> Iterator[bytes]:
    """Yield the strings of a blob: four bytes of length, then the bytes."""
    while len(blob) >= LENGTH:
        size = LENGTH + int.from_bytes(blob[:LENGTH])
        yield blob[LENGTH:size]
        blob = blob[size:]
