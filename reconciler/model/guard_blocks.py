"""Objections of one guard together: the resources of all, and each remedy once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from reconciler.model.guard_levels import REVIEW_LEVEL
from reconciler.model.manifest import Ref
from reconciler.model.plan import GuardViolation

NAMES: Final = "\0names"
ARGUMENTS: Final = "\0arguments"
MOST_NAMED: Final = 20

GuardSentence: TypeAlias = tuple[tuple[Ref, ...], str]
"""Resources, none for the whole plan, and the sentence that follows their names."""


class ResourceRemedy(str):
    """A remedy that names its resource.

    `of_several` is the same remedy of several resources: they replace `NAMES` in a sentence, and
    `ARGUMENTS` in a command.
    """

    __slots__ = ("of_several",)
    of_several: str

    def __new__(cls, text: str, of_several: str) -> Self:
        """Return the remedy of one resource."""
        remedy = super().__new__(cls, text)
        remedy.of_several = of_several
        return remedy


@dataclass(frozen=True, slots=True)
class GuardBlock:
    """Objections with one code, one level and one state of consent."""

    guards: tuple[GuardViolation, ...]

    @property
    def first(self) -> GuardViolation:
        """The first objection."""
        return self.guards[0]

    @property
    def count(self) -> str:
        """The number of resources, or of objections where not each is about one resource."""
        noun = "resource" if all(guard.ref for guard in self.guards) else "objection"
        return f"{len(self.guards):,} {noun}{'s' * (len(self.guards) > 1)}"

    @property
    def members(self) -> tuple[GuardSentence, ...]:
        """Each sentence once, with its resources."""
        found: dict[str, list[Ref]] = {}
        for guard in self.guards:
            found.setdefault(guard.said, []).extend([guard.ref] if guard.ref else [])
        return tuple(
            (tuple(refs), f": each{said}" if len(refs) > 1 and said.startswith(" ") else said)
            for said, refs in found.items()
        )

    @property
    def messages(self) -> tuple[str, ...]:
        """Each sentence after the names of its resources."""
        return tuple(f"{', '.join(map(str, refs))}{said}" for refs, said in self.members)

    @property
    def remedies(self) -> tuple[str, ...]:
        """Each remedy once, with all resources that it is a remedy for; none after a consent."""
        found: dict[str, list[tuple[str, Ref | None]]] = {}
        for guard in self.guards:
            for remedy in () if guard.is_met else guard.remedies:
                key = remedy.of_several if isinstance(remedy, ResourceRemedy) else remedy
                found.setdefault(key, []).append((remedy, guard.ref))
        return tuple(
            remedies[0][0] if len(remedies) == 1 else _of_several(key, [ref for _, ref in remedies])
            for key, remedies in found.items()
        )


def _of_several(remedy: str, refs: Sequence[Ref | None]) -> str:
    # A sentence need not repeat the names that are listed above it; a command needs them.
    names = "REF…" if len(refs) > MOST_NAMED else " ".join(map(str, refs))
    return remedy.replace(NAMES, f"these {len(refs):,}").replace(ARGUMENTS, names)


def guard_blocks(guarded: Iterable[GuardViolation]) -> list[GuardBlock]:
    """Return the objections by guard; guards that no review lifts come first."""
    found: dict[tuple[bool, bool, str], list[GuardViolation]] = {}
    for guard in guarded:
        key = guard.level == REVIEW_LEVEL, guard.is_met, guard.code
        found.setdefault(key, []).append(guard)
    # Sorting keeps the order of the codes within a level.
    return [GuardBlock(tuple(found[key])) for key in sorted(found, key=lambda key: key[0])]
