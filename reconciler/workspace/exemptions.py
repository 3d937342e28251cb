"""Exemptions of a manifest: `metadata.exempt`. Source: docs/manifests.md."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from datetime import date

from reconciler.document import Json, Path, day_of
from reconciler.model import Exemption
from reconciler.project.levels import has_a_level, why_no_level
from reconciler.syntax.diagnostic import Finding, warning
from reconciler.syntax.suggestions import nearest

EXEMPT = ("metadata", "exempt")
FIELDS = ("reason", "until")


def read_exemptions(
    exempt: Json, rules: Collection[str], today: date, into: dict[str, Exemption]
) -> Iterator[Finding]:
    """Add the exemptions that are valid today to `into`, by code; yield findings about errors.

    `rules` are the names of the project's own rules.
    """
    if not isinstance(exempt, dict):
        message = (
            "`exempt` must be a mapping of codes to reasons, as `L201: it calls no one at night`"
        )
        yield Finding("M210", EXEMPT, message)
        return
    for code, value in exempt.items():
        path = (*EXEMPT, code)
        if not has_a_level(code, rules):
            message, near = why_no_level(code, rules)
            yield Finding("M210", path, message, suggestion=near, at_key=True)
        found = yield from _read(value, path)
        if found is None:
            continue
        if found.until is not None and found.until < today:
            message = (
                f"this exemption ended with {found.until} and no longer applies: fix what "
                f"{code} reports, or say until when it may stay"
            )
            yield warning("M211", (*path, "until"), message)
        else:
            into[code] = found


def _read(value: Json, path: Path) -> Generator[Finding, None, Exemption | None]:
    """Yield findings about an exemption; return it, or None if it is not valid."""
    fields = value if isinstance(value, dict) else {"reason": value}
    for key in fields:
        if key not in FIELDS:
            message = f"unknown field `{key}` in an exemption (known: {', '.join(FIELDS)})"
            near = nearest(key, FIELDS)
            yield Finding("M210", (*path, key), message, suggestion=near, at_key=True)
    reason, until = fields.get("reason"), fields.get("until")
    inside = (*path, "reason") if isinstance(value, dict) else path
    if not isinstance(reason, str) or not reason.strip():
        message = "an exemption needs a reason: a text that says why this may be so here"
        yield Finding("M210", inside, message)
        return None
    if until is None:
        return Exemption(reason)
    day = day_of(until)
    if day is None:
        message = "`until` must be the last day that it holds, as 2026-12-31"
        yield Finding("M210", (*path, "until"), message)
        return None
    return Exemption(reason, day)
