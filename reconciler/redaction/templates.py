"""Templates: secrets and references in them are resolved just before sending.

A seal is the hash stored in place of a secret. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self, TypeVar, cast

from reconciler.document import ABSENT, Json, Missing, canonical_text, digest, each_text
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.syntax.expressions import (
    ExpressionKind,
    escaped,
    expression,
    find_sealed,
    pieces,
    sealed_form,
    sealed_parts,
)

# A public plan must not allow fast guessing of passwords: a guess takes 4 MB and some milliseconds.
_SCRYPT_COST = 1 << 12
_SCRYPT_BLOCK = 8
SHOWN_DIGITS = 16
HIDDEN = "(not shown: the field holds a secret)"


@dataclass(frozen=True, slots=True)
class SecretHole:
    """A secret's value, and its seal: the only text that may replace it."""

    name: str
    value: str
    seal: str

    def __repr__(self) -> str:
        return f"SecretHole({self.name!r}, ***)"


@dataclass(frozen=True, slots=True)
class RefHole:
    """A place for the remote id of another resource, filled in just before sending."""

    ref: Ref


class Template(str):
    """A string with holes; its text is its public form."""

    __slots__ = ("parts",)
    parts: tuple[str | SecretHole | RefHole, ...]

    def __new__(cls, parts: tuple[str | SecretHole | RefHole, ...]) -> Self:
        """Make a template of literal text and holes."""
        made = super().__new__(cls, "".join(map(_public, parts)))
        made.parts = parts
        return made

    @property
    def has_secret(self) -> bool:
        """Return whether the filled text must not be shown."""
        return any(isinstance(part, SecretHole) for part in self.parts)

    @property
    def references(self) -> frozenset[Ref]:
        """The resources with ids that are still to be filled in."""
        return frozenset(part.ref for part in self.parts if isinstance(part, RefHole))


def _public(part: str | SecretHole | RefHole) -> str:
    match part:
        case str():
            return part
        case SecretHole(name=name, seal=seal):
            return sealed_form(name, seal)
        case RefHole(ref=ref):
            return expression(ExpressionKind.REFERENCE, str(ref))


@lru_cache(maxsize=1024)
def seal(value: str, name: str, salt: str) -> str:
    """Return the salted digest that replaces a secret in plans and journals.

    The salt is the target and the environment, so that two machines that plan the same change get
    the same digest without sharing a file.
    """
    salted = f"{salt}\0{name}".encode()
    derived = hashlib.scrypt(value.encode(), salt=salted, n=_SCRYPT_COST, r=_SCRYPT_BLOCK, p=1)
    return "sha256:" + hashlib.sha256(derived).hexdigest()[:SHOWN_DIGITS]


def holds_seal(document: Json | Missing) -> bool:
    """Return whether a document has a secret anywhere, as a template or as the text of its seal."""
    return any(find_sealed(text) is not None for text in _texts(document, (str, Template)))


def is_sealed_text(text: str, sealed: str, salt: str) -> bool:
    """Return whether `sealed`, which has one seal, is the sealed form of a text."""
    found = find_sealed(sealed)
    if found is None:
        return False
    before, after = sealed[: found.start()], sealed[found.end() :]
    if len(text) < len(before) + len(after) or not text.startswith(before):
        return False
    value = text[len(before) : len(text) - len(after)]
    return text.endswith(after) and seal(value, found[1], salt) == found[2]


def fingerprint(document: Json | Missing, sealed: Json | Missing) -> str:
    """Return what the journal may keep of a live value in the place of a secret."""
    salt = "" if sealed is ABSENT else canonical_text(sealed)
    return seal("" if document is ABSENT else canonical_text(document), "stored", salt)


_Document = TypeVar("_Document", bound=Json)


def resolve(document: _Document, ids: Mapping[Ref, RemoteId]) -> _Document:
    """Fill in the references with known ids; the others and all secrets stay open."""

    def fill(template: Template) -> Json:
        parts = tuple(
            str(ids[part.ref]) if isinstance(part, RefHole) and part.ref in ids else part
            for part in template.parts
        )
        return "".join(map(str, parts)) if _is_literal(parts) else Template(parts)

    # Filling keeps the form of a document.
    return cast("_Document", _each_template(document, fill)) if _templates(document) else document


def reveal(document: _Document) -> _Document:
    """Return the document as it is sent, with secrets. Never print or store the result.

    Raises ValueError where a reference is still open.
    """

    def fill(template: Template) -> Json:
        if template.references:
            raise ValueError(f"open references: {sorted(map(str, template.references))}")
        return "".join(
            part.value if isinstance(part, SecretHole) else str(part) for part in template.parts
        )

    return cast("_Document", _each_template(document, fill))


def secrets_in(document: Json) -> list[Template]:
    """Return every template that has a secret and no open reference, so that its text is known."""
    return [
        template
        for template in _templates(document)
        if template.has_secret and not template.references
    ]


def as_sent(document: Json) -> Json:
    """Return the document with all known texts, with secrets too.

    Templates with open references stay as they are.
    """

    def fill(template: Template) -> Json:
        return template if template.references else reveal(template)

    return _each_template(document, fill) if _templates(document) else document


def references_in(document: Json) -> frozenset[Ref]:
    """Return the resources that a document still needs the ids of."""
    return frozenset(ref for template in _templates(document) for ref in template.references)


def _is_literal(parts: tuple[str | SecretHole | RefHole, ...]) -> bool:
    return all(isinstance(part, str) for part in parts)


def _templates(document: Json) -> list[Template]:
    return _texts(document, (Template,))


_Text = TypeVar("_Text", bound=str)


def _texts(document: Json | Missing, kinds: tuple[type[_Text], ...]) -> list[_Text]:
    """Return all texts of these classes in a document, without a call for each of its values.

    Most documents have no template, and a plan searches each document several times.
    """
    found: list[_Text] = []
    containers: list[Any] = [[document]]
    while containers:
        here = containers.pop()
        for value in here.values() if here.__class__ is dict else here:
            kind = value.__class__
            if kind is dict or kind is list:
                containers.append(value)
            elif kind in kinds:
                found.append(value)
    return found


def _each_template(document: Json, change: Callable[[Template], Json]) -> Json:
    return each_text(document, lambda text: change(text) if isinstance(text, Template) else text)


def _secrets(document: Json) -> Iterator[SecretHole]:
    for template in _templates(document):
        yield from (part for part in template.parts if isinstance(part, SecretHole))


def secret_values(document: Json) -> frozenset[str]:
    """Return the values of all secrets in a document, for the filter that hides them."""
    return frozenset(secret.value for secret in _secrets(document))


def sum_of(manifest: Manifest) -> str:
    """Return a digest of all inputs of a decision about a manifest, secrets sealed."""
    if manifest.unopened is not None:
        return manifest.unopened.sum
    # A text that only looks like a template has another digest.
    templates: list[Json] = [*sorted(map(str, _templates(manifest.spec)))]
    references: list[Json] = [*sorted(map(str, manifest.references))]
    about = manifest.remote_id, references, manifest.protect, templates
    return digest([str(manifest.ref), manifest.spec, *about])


def is_plain(manifest: Manifest) -> bool:
    """Return whether nothing in a manifest is filled in late: no secret, and no reference."""
    if manifest.unopened is not None:
        return manifest.unopened.plain
    return not _templates(manifest.spec)


def named_values(document: Json) -> dict[str, str]:
    """Map the names of all secrets in a document to their values, "" where one is not set."""
    return {secret.name: secret.value for secret in _secrets(document)}


def unsealed(
    document: _Document, value_of: Callable[[str], str], salt: str
) -> tuple[_Document, frozenset[str]]:
    """Return a document of the journal ready to send, and the secrets that cannot be filled in.

    `value_of` returns the present value of a secret by its name, "" where there is none. A hole is
    filled only with the very value that was sealed. A text that is hidden as a whole counts as the
    secret "".
    """
    lost: set[str] = set()

    def opened(text: str) -> Json:
        if text == HIDDEN:
            lost.add("")
        if find_sealed(text) is None:
            return text
        parts = (part if isinstance(part, str) else hole(*part) for part in sealed_parts(text))
        return Template(tuple(part for part in parts if part != ""))

    def hole(name: str, sealed: str) -> SecretHole:
        value = value_of(name)
        if value == "" or seal(value, name, salt) != sealed:
            lost.add(name)
        return SecretHole(name, value, sealed)

    ready = cast("_Document", each_text(document, opened))
    return ready, frozenset(lost)


_MAY_BE_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


def pointing(document: _Document, things: Mapping[str, Ref | str]) -> _Document:
    """Return a document in which former ids, anywhere in its texts, are replaced.

    `things` maps a former id to the present id, or to a resource; then its id is filled in before
    sending. Shorter texts than 16 characters are left alone, as they may be anything.
    """
    return cast("_Document", each_text(document, lambda text: _pointing_text(text, things)))


def _pointing_text(text: str, things: Mapping[str, Ref | str]) -> Json:
    if things.keys().isdisjoint(_MAY_BE_ID.findall(text)):
        return text
    parts: list[str | SecretHole | RefHole] = []
    for part in text.parts if isinstance(text, Template) else (text,):
        parts.extend(_pieces(part, things) if isinstance(part, str) else (part,))
    whole = tuple(part for part in parts if part != "")
    return "".join(map(str, whole)) if _is_literal(whole) else Template(whole)


def _pieces(text: str, things: Mapping[str, Ref | str]) -> Iterator[str | RefHole]:
    def part(match: re.Match[str]) -> str | RefHole | None:
        target = things.get(match.group())
        return RefHole(target) if isinstance(target, Ref) else target

    return pieces(text, _MAY_BE_ID, part)


def written_out(value: Json) -> Json:
    """Return a value as a manifest writes it: known secrets as expressions, texts escaped."""
    return each_text(
        value,
        lambda text: "".join(map(_written, text.parts if isinstance(text, Template) else (text,))),
    )


def _written(part: str | SecretHole | RefHole) -> str:
    match part:
        case SecretHole(name=name):
            return expression(ExpressionKind.SECRET, name)
        case RefHole(ref=ref):
            return expression(ExpressionKind.REFERENCE, str(ref))
        case str():
            return escaped(part)
