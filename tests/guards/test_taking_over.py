"""What would be written unseen, and was neither written nor imported from here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import sample_objections as samples
from harness.doors import Ran, in_this_process
from harness.served import Served
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    PLACE,
    VIEW_SPEC,
    Site,
    answer_with,
    codes_of,
    dashboard,
    manifest,
    policy_set,
)
from harness.stores import NO_TIME
from harness.workspaces import ALERT, Workspace, project_at
from hypothesis import given
from hypothesis import strategies as st

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.journal.entries import ImportedEntry, Settled
from reconciler.model import Action, Manifest, NeverWritten, NoJournal, OldJournal, Plan, Ref
from reconciler.planning.guards import Agreed, guards_of_part, objections, unmet, with_guards
from reconciler.planning.guards.plan_limits import MOST_NAME_PAGES
from reconciler.project import Guards
from reconciler.report.reasons import notes_of

pytestmark = pytest.mark.promise("S13")

SERVED = replace(PLACE, embedded=False)
INCIDENT_EVENTS = "/incidents/incidents/v1/events"
ALERT_EVENTS = "/alerts/events/v3/alert-events"


def alert(name: str = "errors", remote_id: str = ALERT_ID, **fields: Json) -> Manifest:
    """Give an alert."""
    return manifest(f"AlertDefinition/{name}", {**ALERT_SPEC, **fields}, remote_id)


VIEW = manifest("SavedView/errors", VIEW_SPEC, 7)


def guarded(site: Site, *declared: Manifest, guards: Guards | None = None) -> Plan:
    """Plan as the command does, at a service that others use too."""
    anyone = policy_set()
    return site.plan(*declared, anyone, place=SERVED, guards=guards or Guards())


def names(site: Site, *told: tuple[str, str], by_events: Sequence[tuple[str, str]] = ()) -> None:
    """Let incident events name these alerts, and alert events those."""
    items: Json = [
        {"incidentEventExtendedMetadata": {"alertId": text, "alertName": name}}
        for text, name in told
    ]
    events: Json = [
        {"cxEventKey": name, "cxEventMetadata": {"alertId": text, "alertName": name}}
        for text, name in by_events
    ]
    site.meddle("GET", INCIDENT_EVENTS, answer_with(200, {"items": items}))
    site.meddle("GET", ALERT_EVENTS, answer_with(200, {"events": events}))


def test_one_objection(site: Site) -> None:
    """All that would be written unseen and was never ours is one objection, which names them."""
    second = alert("other", "3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11")

    (objection,) = guarded(site, alert(), second, VIEW).guarded

    assert (objection.code, objection.ref) == ("takes-over", None)
    assert objection.said.startswith("2 AlertDefinition and 1 SavedView")
    for ref in (alert().ref, second.ref, VIEW.ref):
        assert str(ref) in objection.said


def test_lifted_by_review(site: Site) -> None:
    """A review and an override lift it, and a flag for something else does not."""
    found = guarded(site, alert()).guarded

    assert unmet(found, Agreed(reviewed=True)) == unmet(found, Agreed(override=True)) == ()
    assert unmet(found, Agreed(flags={"new-journal", "allow-destroy"})) == found


def test_allowed(site: Site) -> None:
    """An environment can allow it for good."""
    assert guarded(site, alert(), guards=Guards(allow=["takes-over"])).guarded == ()


def test_not_embedded(site: Site) -> None:
    """The embedded emulator begins with what is declared, so nothing is taken over in it."""
    made = site.plan(alert(), VIEW, guards=Guards())

    assert made.guarded == ()
    assert all("never-written" not in codes_of(change) for change in made.changes)


def test_once_written(site: Site) -> None:
    """What this journal wrote is its own, also while the answer to a later write is lost."""
    site.apply(alert())
    changed = alert(description="new")
    site.meddle("PUT", "*", *[answer_with(503, carried_out=True)] * 9)

    assert guarded(site, changed).guarded == ()
    site.apply(changed)
    assert guarded(site, changed).guarded == ()


@pytest.mark.parametrize("settled", [True, False])
def test_known_by_a_person(site: Site, *, settled: bool) -> None:
    """What was imported, or settled by a person, is the journal's own."""
    journal = site.journal
    told = Settled(at=NO_TIME.isoformat(), ref=VIEW.ref, remote_id=7)
    imported = ImportedEntry(
        at=NO_TIME.isoformat(),
        run="r",
        ref=VIEW.ref,
        remote_id=7,
        declared=VIEW_SPEC,
        origin="export",
    )
    with journal.locked():
        journal.append([told if settled else imported])

    assert guarded(site, VIEW).guarded == ()


def test_another_id(site: Site) -> None:
    """An alert that was written and declares another id by now takes that one over."""
    site.apply(alert())

    (objection,) = guarded(site, alert(remote_id="3f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11")).guarded

    assert objection.code == "takes-over"


@pytest.mark.parametrize("by_events", [True, False])
def test_another_name(site: Site, *, by_events: bool) -> None:
    """Where incidents or events call it otherwise, objection and line name both names."""
    told = (ALERT_ID.upper(), "Payments down")
    names(site, *(() if by_events else (told,)), by_events=(told,) if by_events else ())

    made = guarded(site, alert())

    assert "declared as `Errors`" in made.guarded[0].said
    (line,) = (change for change in made.changes if change.ref == alert().ref)
    assert any("`Payments down`, and the manifest `Errors`" in note for note in notes_of(line))


def test_same_name(site: Site) -> None:
    """Where incidents call it as it is declared, that is said, and no name is warned of."""
    names(site, (ALERT_ID, "Errors"))

    (objection,) = guarded(site, alert()).guarded

    assert "declared name for 1" in objection.said
    assert "another name" not in objection.said


def test_warned_though_allowed(site: Site) -> None:
    """Another name is on the line of the alert also where the guard is allowed."""
    names(site, (ALERT_ID, "Payments down"))

    made = guarded(site, alert(), guards=Guards(allow=["takes-over"]))

    assert any("`Payments down`" in note for change in made.changes for note in notes_of(change))


def test_names_unread(site: Site) -> None:
    """Where the names cannot be read, the objection says so and why."""
    site.meddle("GET", INCIDENT_EVENTS, answer_with(403, {"message": "not you"}))

    (objection,) = guarded(site, alert()).guarded

    assert "could not be" in objection.said
    assert "not you" in objection.said


@given(*[st.integers(0, 2)] * 3, st.booleans())
def test_each_name_counts_once(another: int, declared: int, unknown: int, unread: bool) -> None:
    """Each alert counts with another name, with the declared name, or without a known name."""
    found = [("Other",)] * another + [("Errors", "Other")] * declared + [()] * unknown
    changes = [
        samples.planned(
            Ref("AlertDefinition", f"a{number}"), Action.ASSERT, NeverWritten(known, "Errors")
        )
        for number, known in enumerate(found)
    ]
    plan = samples.plan(*changes)
    told = objections(plan, Guards(), unnamed="not you") if unread else objections(plan, Guards())
    said = "".join(objection.said for objection in told if objection.code == "takes-over")

    assert re.findall(r"^(\d+) AlertDefinition", said) == [str(len(found))] * bool(found)
    _, has_another, named = said.partition("another name for")
    assert bool(has_another) == bool(another)
    assert re.findall(r"`AlertDefinition/a(\d)`", named) == [*"01"][:another]
    assert re.findall(r"declared name for (\d+)", said) == [str(declared)] * bool(declared)
    assert ("could not be read: `not you`" in said) == (unread and bool(found))
    assert ("no name for any" in said) == (bool(unknown) and not (unread or another or declared))


def test_part_that_takes_over() -> None:
    """A part keeps the objection to taking over exactly where it takes something over."""
    ours, taken = (Ref("AlertDefinition", name) for name in ("ours", "taken"))
    others = samples.planned(taken, Action.ASSERT, NeverWritten())
    own = samples.planned(ours, Action.ASSERT)
    whole = samples.plan(own, others)
    whole = replace(whole, guarded=objections(whole, Guards()))

    assert [objection.code for objection in whole.guarded] == ["takes-over"]
    assert guards_of_part(whole, samples.plan(others), Guards()) == whole.guarded
    assert guards_of_part(whole, samples.plan(own), Guards()) == ()


def test_endless_names(site: Site) -> None:
    """Of a history without end so many pages are read for names, and no more."""
    pages = [
        answer_with(200, {"items": [], "pagination": {"nextPageToken": f"page {number}"}})
        for number in range(MOST_NAME_PAGES + 2)
    ]
    site.meddle("GET", INCIDENT_EVENTS, *pages)

    guarded(site, alert())

    assert site.count("GET", INCIDENT_EVENTS) == MOST_NAME_PAGES


def test_few_requests(site: Site) -> None:
    """However many alerts are taken over, each listing of names is asked for once."""
    ids = [f"{number:08x}-7f0e-4c39-9c1a-0b8f0d8f4a11" for number in range(20)]

    guarded(site, *(alert(f"a{number}", id_) for number, id_ in enumerate(ids)))

    assert site.count("GET", INCIDENT_EVENTS) == site.count("GET", ALERT_EVENTS) == 1


def test_no_requests(site: Site) -> None:
    """A plan that takes over nothing of what triggers events asks for no names."""
    site.apply(alert())
    site.forget()

    guarded(site, alert(description="new"), VIEW)

    assert site.count("GET", INCIDENT_EVENTS) == site.count("GET", ALERT_EVENTS) == 0


def test_in_digest(site: Site) -> None:
    """A plan that takes something over has another digest than one that does not, names aside."""
    there = site.plan(alert(), place=SERVED)
    here = site.plan(alert(), place=replace(SERVED, embedded=True))
    names(site, (ALERT_ID, "Payments down"))

    async def named(api: Api) -> Plan:
        return await with_guards(api, there, Guards())

    assert there.digest != here.digest
    assert site.ask(named).digest == there.digest


@pytest.fixture
def shared(tmp_path: Path) -> Workspace:
    """Give a project of one alert for whatever service the environment names."""
    return project_at(tmp_path / "shared", "environments: {default: {}}", alert=ALERT)


@pytest.mark.parametrize("remark", [NoJournal(), OldJournal()])
def test_lost_journal(site: Site, remark: NoJournal | OldJournal) -> None:
    """Without the newest journal it is unknown who wrote it; a review holds once there is one."""
    board = dashboard("board", slugName="kept")
    site.apply(board, alert())
    (site.root / "own" / "journal.jsonl").unlink()
    journal = site.journal
    with journal.locked():
        journal.append([])
    begun = guarded(site, alert(), dashboard("board", slugName="kept", description="new"))

    lost = objections(replace(begun, remarks=(remark,)), Guards())

    found = [one for one in begun.guarded if one.code == "takes-over"]
    doubted = [one for one in lost if one.code == "takes-over"]
    assert len(found) == 2
    assert [one.key for one in doubted] == [one.key for one in found]
    for one, doubt in zip(found, doubted, strict=True):
        assert doubt.message.count("journal") == one.message.count("journal") + 1


def test_apply(shared: Workspace, service: Served) -> None:
    """`--yes` takes nothing over: the apply is refused, and the plan that was reviewed is not."""

    def run(*arguments: str) -> Ran:
        return in_this_process(shared.root, service.base_url, *arguments)

    refused = run("apply", "--yes", "--new-journal")
    assert (refused.code, service.writes) == (11, [])
    assert "[takes-over]" in refused.err
    file = str(shared.root.parent / "plan.json")

    assert run("plan", "--out", file).code == 0
    assert run("apply", "--plan", file).code == 0
    assert run("apply", "--yes").code == 0
