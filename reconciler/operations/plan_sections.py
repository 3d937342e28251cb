"""Sections of a plan: a feature fills each where a setting or an option asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reconciler.journal.history import History
from reconciler.model import Plan
from reconciler.operations.open_session import Session
from reconciler.planning.find_watchers import known_alerts, watchers_of
from reconciler.project import Environment
from reconciler.runtime.rows import Rows

if TYPE_CHECKING:
    # Only its type is needed here; the import would load the whole HTTP client.
    from reconciler.api.client import Api

Wanted: TypeAlias = Mapping[str, object]
"""The sections that are wanted: names of settings or options, with their values."""

NOTHING_WANTED: Final[Wanted] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRequest:
    """What a section is made from; `asked` is what a file holds, or the value that asks for it."""

    api: Api
    session: Session
    plan: Plan
    history: History
    asked: Any


PLAN_SECTIONS: Final = Rows[Callable[[SectionRequest], Awaitable[Plan]]]("plan-sections")
"""Functions that return a plan with one more section, by the setting or option that asks for it."""


def wanted_by(environment: Environment) -> Wanted:
    """Return the sections that the settings of an environment ask for."""
    return {name: environment.setting(name, object) for name in PLAN_SECTIONS}


async def with_sections(
    api: Api, session: Session, made: Plan, history: History, wanted: Wanted
) -> Plan:
    """Return the plan with the watchers of what changes, and the sections that are asked for.

    The files of a workspace ask for a section too.
    """
    manifests = (*session.workspace.manifests, *session.others)
    alerts = known_alerts(manifests, history)
    watchers = watchers_of(made.changes, manifests, history, alerts)
    made = replace(made, watchers=watchers, alerts=alerts)
    for name in PLAN_SECTIONS:
        asked = session.workspace.side_files.get(name, wanted.get(name))
        if asked:
            fill = PLAN_SECTIONS.load(name)
            made = await fill(
                SectionRequest(api=api, session=session, plan=made, history=history, asked=asked)
            )
    return made
