"""The one table of guards: who may consent to a guard, and which flag lifts it. Pure.

A rule of a team is a guard too. Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from reconciler.document import Json, digest

GuardLevel: TypeAlias = Literal["review", "explicit"]
"""`review`: a reviewed plan that lists it, or `yes` on a terminal; `explicit`: a flag each time."""

REVIEW_LEVEL: Final = "review"
EXPLICIT_LEVEL: Final = "explicit"

ALLOW_DESTROY: Final = "allow-destroy"
NEW_JOURNAL: Final = "new-journal"
BREAK_GLASS: Final = "break-glass"
FROZEN: Final = "frozen"


class Guard(NamedTuple):
    """The level of a guard, and the flag of its own that lifts it; "" if an override lifts it.

    A flag is an option of `apply` and an input of the action.
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
    "alert-silenced": Guard(REVIEW_LEVEL),
    "alert-deleted": Guard(REVIEW_LEVEL),
    "slo-target-lowered": Guard(REVIEW_LEVEL),
    "dashboard-locked": Guard(REVIEW_LEVEL),
}
"""All guards by code, those of features too; `consent.guards_of_part` decides which apply to a
part. A violation may have another level; an environment may raise levels.
"""

FLAGS: Final = tuple(dict.fromkeys(guard.flag for guard in GUARDS.values() if guard.flag))
"""The flags, each once."""

_DIGITS = 12


def level_of(code: str) -> GuardLevel:
    """Return the level of a code; a team's own rules have the level review."""
    return GUARDS[code].level if code in GUARDS else REVIEW_LEVEL


def flag_of(code: str) -> str:
    """Return the flag of its own that lifts a guard, "" if an override lifts it."""
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
        """Who may consent, of a plan."""

    @property
    def code(self) -> str:
        """The code of its findings and guards."""
