"""What always needs consent, however little of it there is.

Each case has a code that never changes, so that scripts and `guards: {allow: [CODE]}`
can name it: docs/guards.md lists them. What weakens a resource is the knowledge
of its kind; what destroys, and what is protected, is the same for all kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.document import value_at
from reconciler.guards.open_incidents import Incidents
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Consent, Weakening
from reconciler.project import Guards
from reconciler.resource import Change, Objection, Plan

DESTROYS = "destroys"
DESTROYS_ALL = "destroys-all"
PROTECTED = "protected"

_FILE = "reconciler.yaml"
_OVERRIDE = "apply with `--override-guard REASON`, which the journal keeps"


def unmet(
    guarded: Sequence[Objection], *, allow_destroy: bool, override: bool
) -> tuple[Objection, ...]:
    """Give the objections that the flags do not lift; what is destroyed has a flag of its own."""
    return tuple(
        one
        for one in guarded
        if not (allow_destroy if one.code in (DESTROYS, DESTROYS_ALL) else override)
    )


def needed_consents(
    plan: Plan, guards: Guards, incidents: Incidents | None = None
) -> Iterator[Objection]:
    """Yield what needs consent, change by change.

    Without `incidents` no alert is known to have open ones.
    """
    for change in plan.changes:
        if not change.action.writes:
            continue
        if change.protected:
            yield _protected(change)
        if change.destroys:
            yield _destroying(change)
        seen: set[str] = set()
        for weakening in BY_NAME[change.ref.kind].weakens(change):
            said = _said(change, weakening, incidents)
            if said and weakening.code not in (*guards.allow, *seen):
                seen.add(weakening.code)
                yield _weakened(change, weakening.code, said, plan.environment)


def _said(change: Change, weakening: Weakening, incidents: Incidents | None) -> str:
    """Say what is to be consented to; "" where nothing is."""
    match weakening.consent:
        case Consent.NEVER:
            return ""
        case Consent.ALWAYS:
            return weakening.said
        case Consent.WITH_OPEN_INCIDENTS:
            open_ones = incidents.of(change.ref) if incidents is not None else ()
            if not open_ones:
                return ""
            noun = "an open incident" if len(open_ones) == 1 else f"{len(open_ones)} open incidents"
            return f"{weakening.said} while it has {noun}"


def _weakened(change: Change, code: str, said: str, environment: str) -> Objection:
    way_out = "\n".join(
        (
            f"split the change: leave {change.ref} as it is, and apply the rest",
            f"in an earlier merge, set `guards: {{allow: [{code}]}}` of `{environment}` in {_FILE}",
            _OVERRIDE,
        )
    )
    return Objection(change.ref, f"{change.ref}: {said}", way_out, code)


def _protected(change: Change) -> Objection:
    count = len(change.differences)
    fields = "1 field" if count == 1 else f"{count} fields"
    said = f"{change.ref} is protected since its last apply, and {fields} of it would change"
    way_out = "\n".join(
        (
            f"split the change: leave {change.ref} as it is, and apply the rest",
            "take `metadata.protect` away in an earlier merge, apply that, and change it then",
            _OVERRIDE,
        )
    )
    return Objection(change.ref, said, way_out, PROTECTED)


def _destroying(change: Change) -> Objection:
    count = len(change.destroys)
    names = ", ".join(f"`{name}`" for name in change.destroys)
    foreign = f" ({len(change.foreign)} not written by this journal)" if change.foreign else ""
    said = f"{change.ref} destroys {count}{foreign}: {names}"
    empty = value_at(change.body, BY_NAME[change.ref.kind].destroyable) == []
    if empty:
        said += "; the list that it declares is empty, so none would be left"
    way_out = "\n".join(
        (
            "keep them: declare them in the list",
            f"split the change: leave {change.ref} as it is, and apply the rest",
            "apply with `--allow-destroy`, which prints whole what is lost",
        )
    )
    return Objection(change.ref, said, way_out, DESTROYS_ALL if empty else DESTROYS)
