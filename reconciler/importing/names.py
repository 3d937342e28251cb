"""Names of manifests from what people call things: readable, stable, and no two the same. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reconciler.document import Json, digest
from reconciler.model import Ref, RemoteId

LONGEST = 60
"""Characters of a name before a mark: a title may be a whole sentence."""

MARK = 8
_RESERVED = frozenset(
    (
        *("con", "prn", "aux", "nul", "reconciler"),
        *(f"{device}{number}" for device in ("com", "lpt") for number in range(10)),
    )
)
"""Names that no file may have somewhere, and that of the project file."""


@dataclass(frozen=True, slots=True)
class Titled:
    """What a name is made of: the kind, what people call it, its id or what it holds."""

    kind: str
    title: str
    remote_id: RemoteId | None
    content: str
    known_as: str = ""
    """The name that is known already."""

    suffix: str = ""
    """What the name ends in, where another thing has the same title."""

    @property
    def mark(self) -> str:
        """What tells it from others of its title, whatever else is imported."""
        plain = re.sub(r"[^a-z0-9]+", "", str(self.remote_id or "").lower())[:MARK]
        return plain or self.content[:MARK]


def content_mark(spec: Json) -> str:
    """Give digits that follow from what a document holds."""
    return digest(spec).removeprefix("sha256:")


def plain_name(title: str) -> str:
    """Give a title as a name: in Latin letters, lower case, words joined; "" where none is left."""
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
    """Give a kind's name as it stands in names: `log-policy-set`, `slo`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def named(things: Sequence[Titled], taken: Container[Ref]) -> list[Ref]:
    """Give each thing its name, in their order; `taken` are those that others have.

    What shares its title with another thing of its kind is told apart by its id, so that the
    order in which things come, and how many, changes no name.
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


def own_names(one: Titled) -> tuple[Ref, ...]:
    """Give the names that a thing has by what it is alone, the most telling first."""
    name = _plain(one)
    marked = (Ref(one.kind, f"{name}-{mark}") for mark in (one.content[: 2 * MARK], one.mark))
    return (*marked, Ref(one.kind, name))


def _plain(one: Titled) -> str:
    name = plain_name(one.title) or kind_word(one.kind)
    if suffix := plain_name(one.suffix):
        # It is added to what was cut, as it must not be cut off.
        name = f"{name}-{suffix}"
    return f"{name}-{kind_word(one.kind)}" if name in _RESERVED else name


def _order(one: Titled) -> tuple[str, str]:
    return str(one.remote_id or ""), one.content


def _marked(one: Titled, name: str, taken: Container[Ref], used: Container[Ref]) -> Ref:
    for mark in _marks(one):
        ref = Ref(one.kind, f"{name}-{mark}")
        if ref not in taken and ref not in used:
            return ref
    raise AssertionError("marks never end")


def _marks(one: Titled) -> Iterable[str]:
    yield one.mark
    yield one.content[: 2 * MARK]
    number = 2
    while True:
        yield f"{one.mark}-{number}"
        number += 1


def file_names(refs: Sequence[Ref], *, together: bool) -> Mapping[Ref, str]:
    """Give the stem of each one's file; `together`, where kinds share a folder, no two the same."""
    count = Counter(ref.name for ref in refs)
    return {
        ref: f"{ref.name}-{kind_word(ref.kind)}" if together and count[ref.name] > 1 else ref.name
        for ref in refs
    }
