"""Guards: their levels and flags in one table, and violations of a plan by guard. Pure.

A rule of a team is a guard too. Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, Self, TypeAlias

from reconciler.document import Json, digest
from reconciler.model.manifest import Ref

GuardLevel: TypeAlias = Literal["review", "explicit"]
"""`review`: a reviewed plan that lists it, or `yes` on a terminal; `explicit`: a flag each time."""

REVIEW_LEVEL: Final = "review"
EXPLICIT_LEVEL: Final = "explicit"

ALLOW_DESTROY: Final = "allow-destroy"
NEW_JOURNAL: Final = "new-journal"
BREAK_GLASS: Final = "break-glass"
FROZEN: Final = "frozen"
NOT_APPROVED: Final = "not-approved"
APPROVAL: Final = "approval"
"""The flag of verified approvals: no option and no input has this name."""


class Guard(NamedTuple):
    """The level of a guard, and the `flag` that lifts it; "" if --override-guard lifts it.

    A flag is an option of `apply` and an input of the action, except for `APPROVAL`.
    """

    level: GuardLevel
    flag: str = ""


GUARDS: Final[Mapping[str, Guard]] = {
    "too-many-changes": Guard(REVIEW_LEVEL),
    "destroys": Guard(EXPLICIT_LEVEL, ALLOW_DESTROY),
    "destroys-all": Guard(EXPLICIT_LEVEL, ALLOW_DESTROY),
    "protected": Guard(EXPLICIT_LEVEL),
    "new-journal": Guard(EXPLICIT_LEVEL, NEW_JOURNAL),
    "looks-like-rename": Guard(EXPLICIT_LEVEL),
    "overwrites-edit": Guard(REVIEW_LEVEL),
    "takes-over": Guard(REVIEW_LEVEL),
    "undoes-rollback": Guard(EXPLICIT_LEVEL),
    "policy-samples": Guard(REVIEW_LEVEL),
    FROZEN: Guard(EXPLICIT_LEVEL, BREAK_GLASS),
    NOT_APPROVED: Guard(EXPLICIT_LEVEL, APPROVAL),
    "alert-silenced": Guard(REVIEW_LEVEL),
    "alert-deleted": Guard(REVIEW_LEVEL),
    "slo-target-lowered": Guard(REVIEW_LEVEL),
    "dashboard-locked": Guard(REVIEW_LEVEL),
}
"""All guards by code, those of features too.

A violation may have another level; an environment may raise levels. For a part of a plan,
`guards_of_part` in reconciler/planning/guards decides which violations stay.
"""

FLAGS: Final = tuple(dict.fromkeys(guard.flag for guard in GUARDS.values() if guard.flag))
"""The flags, each once."""

_DIGITS = 12


def flag_of(code: str) -> str:
    """Return the flag that lifts a guard; "" if --override-guard lifts it."""
    return GUARDS[code].flag if code in GUARDS else ""


def guard_key(code: str, ref: str, figures: str) -> str:
    """Return a key that is equal for two violations of the same code, resource and figures."""
    return f"{code}:{_short({'ref': ref, 'figures': figures})}"


def whole_key(code: str, keys: list[str]) -> str:
    """Return one key for all violations of a code."""
    return f"{code}*{_short({'keys': [*sorted(keys)]})}"


def _short(document: dict[str, Json]) -> str:
    return digest(document).removeprefix("sha256:")[:_DIGITS]


OWN_RULE: Final = "R/"
"""The prefix of the codes of a team's own rules, as `R/alerts-have-an-owner`."""


class OwnRule(Protocol):
    """A rule of `rules:` in the project file."""

    @property
    def name(self) -> str:
        """Its name, unique in the project."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that it is about; empty for all."""

    @property
    def on(self) -> Literal["resource", "plan"]:
        """The subject that it judges: manifests or planned changes."""

    @property
    def level(self) -> GuardLevel:
        """The level of consent that it needs, if it judges a plan."""

    @property
    def code(self) -> str:
        """The code of its findings and guards."""


NAMES: Final = "\0names"
ARGUMENTS: Final = "\0arguments"
MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class GuardSentence:
    """Resources in `refs`, and `said`, which continues the sentence after their names.

    `refs` is empty if the sentence is about the whole plan. `remedies` has only the remedies that
    another sentence of the same guard lacks.
    """

    refs: tuple[Ref, ...]
    said: str
    remedies: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The sentence after the names of its resources."""
        return f"{', '.join(map(str, self.refs))}{self.said}"


class ResourceRemedy(str):
    """A remedy that names its resource.

    `of_several` is the same remedy as a template for several resources. In it, `NAMES` becomes text
    like `these 3`, and `ARGUMENTS` becomes the names, as a command needs them.
    """

    __slots__ = ("of_several",)
    of_several: str

    def __new__(cls, text: str, of_several: str) -> Self:
        """Return the remedy of one resource."""
        remedy = super().__new__(cls, text)
        remedy.of_several = of_several
        return remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardViolation:
    """A violation of a guard: what an apply needs consent for, and how to consent.

    `ref` is None if it is about many resources; otherwise `said` continues the sentence after its
    name. `said` has the figures and the limit. `until` is when it ends by itself, as an ISO 8601
    time, "" if that is unknown. `code` is the permanent name of the guard: docs/guards.md.
    `destroys` lists all that would be destroyed. A review consents to it only while `figures` stay
    the same; without `figures`, while `said` does. `own_level` is its level if the level of its
    code does not apply. `is_met` says whether consent was given. `given` is a sentence about who
    gave it, "" if unknown. `awaited` is a sentence about who must still give it, "" if its level
    says so. `emergency` is the reason of --break-glass that lifted it.
    """

    ref: Ref | None = None
    said: str
    remedies: tuple[str, ...]
    code: str
    destroys: tuple[str, ...] = ()
    until: str = ""
    figures: str = ""
    own_level: GuardLevel | None = None
    is_met: bool = False
    given: str = ""
    awaited: str = ""
    emergency: str = ""

    @property
    def level(self) -> GuardLevel:
        """The level of consent that it needs; for a team's own rule, a review."""
        return self.own_level or GUARDS.get(self.code, Guard(REVIEW_LEVEL)).level

    @property
    def key(self) -> str:
        """The name of this violation: the same for the same code, resource and figures."""
        return guard_key(self.code, str(self.ref or ""), self.figures or self.said)

    @property
    def message(self) -> str:
        """The whole sentence."""
        return self.said if self.ref is None else f"{self.ref}{self.said}"


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
        """The number of resources, or of reasons where not each is about one resource."""
        noun = "resource" if all(guard.ref for guard in self.guards) else "reason"
        return f"{len(self.guards):,} {noun}{'s' * (len(self.guards) > 1)}"

    @property
    def members(self) -> tuple[GuardSentence, ...]:
        """Each sentence once, with its resources."""
        found: dict[tuple[str, tuple[str, ...]], list[Ref]] = {}
        for guard in self.guards:
            key = guard.said, self._own_remedies(guard)
            found.setdefault(key, []).extend([guard.ref] if guard.ref else [])
        return tuple(
            GuardSentence(
                tuple(refs),
                f": each{said}" if len(refs) > 1 and said.startswith(" ") else said,
                remedies,
            )
            for (said, remedies), refs in found.items()
        )

    def _own_remedies(self, guard: GuardViolation) -> tuple[str, ...]:
        """Return the remedies that some other violation lacks; none if it has a `ref` or is met."""
        if guard.is_met or guard.ref is not None:
            return ()
        shared = set(guard.remedies).intersection(*(other.remedies for other in self.guards))
        return tuple(remedy for remedy in guard.remedies if remedy not in shared)

    @property
    def remedies(self) -> tuple[str, ...]:
        """Each remedy once, with all resources that it is a remedy for; none after a consent.

        Remedies that only some sentences have are in `members`.
        """
        found: dict[str, list[tuple[str, Ref | None]]] = {}
        for guard in self.guards:
            own = self._own_remedies(guard)
            for remedy in () if guard.is_met else guard.remedies:
                if remedy in own:
                    continue
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
