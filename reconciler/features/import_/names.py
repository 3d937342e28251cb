"""Names of manifests from titles: readable, stable and unique. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.document import Json, digest
from reconciler.model import Ref, RemoteId

LONGEST = 60
"""Characters of a name before its mark: a title may be a whole sentence."""

MARK = 8
_RESERVED = frozenset(
    (
        *("con", "prn", "aux", "nul", "reconciler"),
        *(f"{device}{number}" for device in ("com", "lpt") for number in range(10)),
    )
)
"""Names that some system forbids for files, and the name of the project file."""


@dataclass(frozen=True, slots=True)
class Titled:
    """The input of a name: kind, title, and id or content."""

    kind: str
    title: str
    remote_id: RemoteId | None
    content: str
    known_as: str = ""
    """The name that is known already."""

    suffix: str = ""
    """The end of the name, where another resource has the same title."""

    @property
    def mark(self) -> str:
        """The mark among resources of one title; it does not depend on what else is imported."""
        plain = re.sub(r"[^a-z0-9]+", "", str(self.remote_id or "").lower())[:MARK]
        return plain or self.content[:MARK]


def content_mark(spec: Json) -> str:
    """Return digits derived from the content of a document."""
    return digest(spec).removeprefix("sha256:")


def plain_name(title: str) -> str:
    """Return a title as a name: Latin letters, lower case, words joined; "" where none is left."""
    text = title
    if not text.isascii():
        from anyascii import anyascii  # noqa: PLC0415 - only for titles that need it

        text = anyascii(text[: 4 * LONGEST])
    words = re.findall(r"[a-z0-9]+", text[: 8 * LONGEST].replace("'", "").lower())
    name = "-".join(words)
    if len(name) <= LONGEST:
        return name
    cut = name[: LONGEST + 1].rpartition("-")[0]
    return cut or name[:LONGEST]


def kind_word(kind: str) -> str:
    """Return a kind's name in the form used in names: `log-policy-set`, `slo`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def named(things: Sequence[Titled], taken: Container[Ref]) -> list[Ref]:
    """Return a name for each resource, in order; `taken` are names in use.

    Resources of one kind and title are distinguished by their ids, so that no name depends on the
    order or the number of resources.
    """
    plain = [_plain(titled) for titled in things]
    count = Counter((titled.kind, name) for titled, name in zip(things, plain, strict=True))
    refs: dict[int, Ref] = {}
    used: set[Ref] = set()
    for index, (titled, name) in enumerate(zip(things, plain, strict=True)):
        ref = Ref(titled.kind, titled.known_as or name)
        alone = titled.known_as or (count[titled.kind, name] == 1 and ref not in taken)
        if alone and ref not in used:
            refs[index] = ref
            used.add(ref)
    for index in sorted(set(range(len(things))) - refs.keys(), key=lambda nth: _order(things[nth])):
        refs[index] = _marked(things[index], plain[index], taken, used)
        used.add(refs[index])
    return [refs[index] for index in range(len(things))]


def own_names(titled: Titled) -> tuple[Ref, ...]:
    """Return the names that a resource may have by itself, the most specific first."""
    name = _plain(titled)
    marked = (
        Ref(titled.kind, f"{name}-{mark}") for mark in (titled.content[: 2 * MARK], titled.mark)
    )
    return (*marked, Ref(titled.kind, name))


def _plain(titled: Titled) -> str:
    name = plain_name(titled.title) or kind_word(titled.kind)
    if suffix := plain_name(titled.suffix):
        # The suffix is added after the cut, as it must not be cut off.
        name = f"{name}-{suffix}"
    return f"{name}-{kind_word(titled.kind)}" if name in _RESERVED else name


def _order(titled: Titled) -> tuple[str, str]:
    return str(titled.remote_id or ""), titled.content


def _marked(titled: Titled, name: str, taken: Container[Ref], used: Container[Ref]) -> Ref:
    for mark in _marks(titled):
        ref = Ref(titled.kind, f"{name}-{mark}")
        if ref not in taken and ref not in used:
            return ref
    raise AssertionError("marks never end")


def _marks(titled: Titled) -> Iterable[str]:
    yield titled.mark
    yield titled.content[: 2 * MARK]
    number = 2
    while True:
        yield f"{titled.mark}-{number}"
        number += 1


def file_names(refs: Sequence[Ref], *, together: bool) -> Mapping[Ref, str]:
    """Return the stem of each file; with `together`, where kinds share a folder, all are unique."""
    count = Counter(ref.name for ref in refs)
    return {
        ref: f"{ref.name}-{kind_word(ref.kind)}" if together and count[ref.name] > 1 else ref.name
        for ref in refs
    }
