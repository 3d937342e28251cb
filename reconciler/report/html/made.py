"""When a page was made, from which commit, and by whom: handed in, as a page asks nobody. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from reconciler.report.html.element import NOTHING, Markup, element, joined, of_class

COMMIT_DIGITS = 12
DIRTY = "-dirty"


@dataclass(frozen=True, slots=True)
class Made:
    """The occasion of a report.

    `at` is aware of its zone; `commit` ends in `-dirty` where manifests are not
    as committed; `actor` and the CI system's `run` are foreign text. "" stands
    for what nobody knows.
    """

    at: datetime
    commit: str = ""
    actor: str = ""
    run: str = ""


def made_line(made: Made | None) -> Markup:
    """Give the line for the head of a page; nothing for a page of no occasion."""
    return of_class("p", "made", joined(_parts(made))) if made is not None else NOTHING


def _parts(made: Made) -> Iterator[str]:
    at = made.at.astimezone(UTC).replace(microsecond=0)
    told = at.isoformat().replace("+00:00", "Z")
    yield "made "
    yield element("time", {"datetime": told}, f"{at:%Y-%m-%d %H:%M} UTC")
    if made.commit:
        yield " from commit "
        commit = made.commit.removesuffix(DIRTY)
        yield element("code", {"title": commit}, commit[:COMMIT_DIGITS])
        yield " with edits that are not committed" if commit != made.commit else ""
    if made.actor:
        yield " by "
        yield element("strong", None, made.actor)
    if made.run:
        yield " in run "
        yield element("code", None, made.run)
