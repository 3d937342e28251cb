"""Who may consent to a guard: whoever reviewed the plan, or only a flag of its own. Pure.

Source: docs/guards.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from reconciler.document import Json, digest

GuardLevel: TypeAlias = Literal["review", "explicit"]
"""`review`: a reviewed plan that lists it, or `yes` on a terminal; `explicit`: a flag each time."""

REVIEW_LEVEL: Final = "review"
EXPLICIT_LEVEL: Final = "explicit"

LEVELS: Final[Mapping[str, GuardLevel]] = {
    "too-many-changes": REVIEW_LEVEL,
    "destroys": EXPLICIT_LEVEL,
    "destroys-all": EXPLICIT_LEVEL,
    "protected": EXPLICIT_LEVEL,
    "new-journal": EXPLICIT_LEVEL,
    "looks-like-rename": EXPLICIT_LEVEL,
    "overwrites-edit": REVIEW_LEVEL,
    "takes-over": REVIEW_LEVEL,
    "undoes-rollback": EXPLICIT_LEVEL,
    "policy-samples": REVIEW_LEVEL,
    "frozen": EXPLICIT_LEVEL,
    "alert-silenced": REVIEW_LEVEL,
    "alert-deleted": REVIEW_LEVEL,
    "slo-target-lowered": REVIEW_LEVEL,
    "dashboard-locked": REVIEW_LEVEL,
}
"""The level of each code. An objection may have another one, and an environment raises some."""

_DIGITS = 12


def level_of(code: str) -> GuardLevel:
    """Return the level of a code; a team's own rules are of level review."""
    return LEVELS.get(code, REVIEW_LEVEL)


def guard_key(code: str, ref: str, figures: str) -> str:
    """Return what is the same for two objections of one code, resource and figures."""
    return f"{code}:{_short({'ref': ref, 'figures': figures})}"


def whole_key(code: str, keys: list[str]) -> str:
    """Return one key for all objections of a code."""
    return f"{code}*{_short({'keys': [*sorted(keys)]})}"


def _short(document: dict[str, Json]) -> str:
    return digest(document).removeprefix("sha256:")[:_DIGITS]
