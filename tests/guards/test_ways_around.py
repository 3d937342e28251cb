"""Every guard, and every way around it that somebody thought of: there is no way through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness.routes import DASHBOARDS, SLOS
from harness.sites import (
    ALERT_SPEC,
    SLO_SPEC,
    VIEW_SPEC,
    Site,
    answer_with,
    dashboard,
    manifest,
    policy,
    policy_set,
)

from reconciler.document import Json
from reconciler.emulator import create_app
from reconciler.model import Action, Manifest, Ref
from reconciler.planning.decide import PlanTarget
from reconciler.planning.guards import Agreed, unmet
from reconciler.project import Guards

IDS = [f"2f6a1c1e-7f0e-4c39-9c1a-{number:012x}" for number in range(12)]
REAL = PlanTarget("local", "https://api.example.com")


def alerts(count: int = 1, **fields: Json) -> tuple[Manifest, ...]:
    """Give alerts; with fields, all of them have these."""
    return tuple(
        manifest(
            f"AlertDefinition/a{number}",
            {**ALERT_SPEC, "name": f"A{number}", **fields},
            IDS[number],
        )
        for number in range(count)
    )


def views(count: int, **fields: Json) -> tuple[Manifest, ...]:
    """Give views by the ids that the service will give them."""
    return tuple(
        manifest(f"SavedView/v{number}", {**VIEW_SPEC, "name": f"V{number}", **fields})
        for number in range(count)
    )


def slo(target: Json = 99.9, **fields: Json) -> tuple[Manifest, ...]:
    """Give an SLO."""
    return (manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": target, **fields}),)


def board(**fields: str) -> tuple[Manifest, ...]:
    """Give a dashboard."""
    return (dashboard("board", slugName="kept", **fields),)


def policies(*names: str) -> tuple[Manifest, ...]:
    """Give the list of policies."""
    return (policy_set(*map(policy, names)),)


def locked(one: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """Lock a dashboard."""
    return tuple(replace(each, spec={**each.spec, "isLocked": True}) for each in one)


def protected(one: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """Protect what is declared."""
    return tuple(replace(each, protect=True) for each in one)


def nothing(_: Site) -> None:
    """Let nobody do anything."""


def open_incident(site: Site) -> None:
    """Let the alert have an open incident whenever it is asked."""
    listed: Json = {"incidents": [{"id": "i1", "name": "A0"}], "pagination": {}}
    site.meddle("POST", "/incidents/incidents/v1", *[answer_with(200, listed)] * 9)
    site.meddle("GET", "/incidents/incidents/v1/events", *[answer_with(200, {"items": []})] * 9)


def edited_dashboard(site: Site) -> None:
    """Let someone edit the dashboard."""
    record = site.outside("GET", "/v1/dashboards/by-slug/kept")
    edited = {**record["dashboard"], "description": "mine"}
    site.outside("PUT", DASHBOARDS, {"dashboard": edited, "requestId": "x", "isLocked": False})


def made_dashboard(site: Site) -> None:
    """Let someone make a dashboard with the slug."""
    theirs: Json = {"name": "Theirs", "slugName": "kept", "layout": {"sections": []}}
    site.outside("POST", DASHBOARDS, {"dashboard": theirs, "requestId": "x"})


def edited_slo(site: Site) -> None:
    """Let someone edit the SLO."""
    remote_id = site.journal.history.of(Ref("SLO", "checkout")).remote_id
    site.outside("PUT", SLOS, {**SLO_SPEC, "id": remote_id, "description": "mine"})


@dataclass(frozen=True)
class Case:
    """What was applied, what happened behind our back, and what should not pass."""

    code: str
    first: Sequence[Manifest]
    then: Sequence[Manifest]
    meanwhile: Callable[[Site], None] = nothing


CASES = {
    "disabled": Case("alert-silenced", alerts(), alerts(enabled=False), open_incident),
    "phantom": Case("alert-silenced", alerts(), alerts(phantomMode=True), open_incident),
    "deleted": Case("alert-deleted", alerts(), alerts(deleted=True)),
    "too many alerts": Case("too-many-changes", alerts(12), alerts(12, enabled=False)),
    "too many views": Case(
        "too-many-changes", views(12), views(12, searchQuery={"query": "level:all"})
    ),
    "target": Case("slo-target-lowered", slo(), slo(99.5)),
    "locked": Case("dashboard-locked", locked(board()), locked(board(description="new"))),
    "protected alert": Case("protected", protected(alerts()), alerts(description="new")),
    "protected slo": Case("protected", protected(slo()), slo(description="new")),
    "protected board": Case("protected", protected(board()), board(description="new")),
    "protected list": Case(
        "protected", protected(policies("a")), (policy_set(policy("a", "INFO")),)
    ),
    "destroys": Case("destroys", policies("a", "b"), policies("a")),
    "destroys all": Case("destroys-all", policies("a"), policies()),
    "overwrites a board": Case(
        "overwrites-edit", board(description="ours"), board(description="new"), edited_dashboard
    ),
    "overwrites an SLO": Case(
        "overwrites-edit", slo(description="ours"), slo(description="new"), edited_slo
    ),
    "takes over": Case("takes-over", (), board(description="ours"), made_dashboard),
}


def as_it_is(_: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Change nothing else."""
    return then


def renamed(site: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Rename all in the same change; what has an id is declared with it."""
    history = site.journal.history
    return [
        replace(
            one,
            ref=Ref(one.ref.kind, f"new-{one.ref.name}"),
            remote_id=one.remote_id or history.of(one.ref).remote_id,
        )
        for one in then
    ]


def renamed_without_ids(_: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Rename all in the same change, and declare no id that is not declared already."""
    return [replace(one, ref=Ref(one.ref.kind, f"new-{one.ref.name}")) for one in then]


def swapped(site: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Let the names go round."""
    names = [one.ref for one in then]
    known = renamed(site, then)
    turned = names[1:] + names[:1]
    return [replace(one, ref=name) for one, name in zip(known, turned, strict=True)]


def another_file(_: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Move all into another file."""
    return [replace(one, source=replace(one.source, file="b.yaml", line=7)) for one in then]


def spelled(_: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Write numbers otherwise."""
    return [
        replace(one, spec={key: _spelled(value) for key, value in one.spec.items()}) for one in then
    ]


def _spelled(value: Json) -> Json:
    return value + 1e-13 if isinstance(value, float) else value


def lost(site: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Lose the journal."""
    (site.root / "own" / "journal.jsonl").unlink(missing_ok=True)
    return then


def lost_and_begun(site: Site, then: Sequence[Manifest]) -> Sequence[Manifest]:
    """Lose the journal and begin an empty one."""
    lost(site, then)
    journal = site.journal
    with journal.locked():
        journal.append([])
    return then


WAYS: dict[str, Callable[[Site, Sequence[Manifest]], Sequence[Manifest]]] = {
    "as it is": as_it_is,
    "renamed": renamed,
    "renamed without ids": renamed_without_ids,
    "names swapped": swapped,
    "another file": another_file,
    "another spelling": spelled,
    "journal lost": lost,
    "journal begun anew": lost_and_begun,
}

UNKNOWABLE = {
    # With the journal goes what was known of before, and live shows nothing that is weakened.
    ("too many views", "journal begun anew"): "the views are created anew",
    ("target", "journal begun anew"): "the SLO is created anew",
    ("overwrites an SLO", "journal begun anew"): "the SLO is created anew",
    ("protected alert", "journal lost"): "protection is in the journal alone",
    ("protected alert", "journal begun anew"): "protection is in the journal alone",
    ("protected slo", "journal begun anew"): "the SLO is created anew",
}


@pytest.mark.promise("P10", "P12", "P13", "P15", "P16")
@pytest.mark.parametrize("part", [False, True], ids=["whole", "part by part"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_no_way_around(tmp_path: Path, case: str, way: str, part: bool) -> None:
    """What a guard refuses is refused whatever else the same change does."""
    if (case, way) in UNKNOWABLE:
        pytest.skip(UNKNOWABLE[case, way])
    held = CASES[case]
    site = Site(tmp_path, create_app(alert_ids=IDS))
    if held.first:
        site.apply(*held.first)
    held.meanwhile(site)
    then = WAYS[way](site, held.then)

    groups = [[one] for one in then] if part and held.code != "too-many-changes" else [list(then)]
    passed = [group for group in groups if passes(site, group, then, whole=not part)]

    assert passed == []


def passes(site: Site, group: list[Manifest], then: Sequence[Manifest], *, whole: bool) -> bool:
    """Tell whether `apply --yes` of a group would write anything of it."""
    others = [one for one in then if one not in group]
    made = site.plan(*group, whole=whole, others=others, place=REAL, guards=Guards())
    writing = any(change.action.writes for change in made.changes)
    assert {change.action for change in made.changes} != {Action.KEEP}
    return writing and not unmet(made.guarded, Agreed())
