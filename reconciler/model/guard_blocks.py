"""Objections of one guard together: the resources of all, and each remedy once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from reconciler.model.guard_levels import REVIEW_LEVEL
from reconciler.model.manifest import Ref
from reconciler.model.plan import GuardViolation

NAMES: Final = "\0names"
ARGUMENTS: Final = "\0arguments"
MOST_NAMED: Final = 20


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
        noun = "resources" if all(guard.ref for guard in self.guards) else "objections"
        return f"{len(self.guards):,} {noun}"

    @property
    def title(self) -> str:
        """The message of a lone objection, else the number of resources; with the code."""
        said = self.count if self.members else self.first.message
        return f"{said} [{self.first.code}]"

    @property
    def members(self) -> tuple[GuardViolation, ...]:
        """The objections that the title does not say."""
        return self.guards if len(self.guards) > 1 else ()

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
    names = [str(ref) for ref in refs]
    is_many = len(names) > MOST_NAMED
    sentence = f"these {len(names):,}" if is_many else ", ".join(names)
    return remedy.replace(NAMES, sentence).replace(
        ARGUMENTS, "REF…" if is_many else " ".join(names)
    )


def guard_blocks(guarded: Iterable[GuardViolation]) -> list[GuardBlock]:
    """Return the objections by guard; guards that no review lifts come first."""
    found: dict[tuple[bool, bool, str], list[GuardViolation]] = {}
    for guard in guarded:
        key = guard.level == REVIEW_LEVEL, guard.is_met, guard.code
        found.setdefault(key, []).append(guard)
    # Sorting keeps the order of the codes within a level.
    return [GuardBlock(tuple(found[key])) for key in sorted(found, key=lambda key: key[0])]
