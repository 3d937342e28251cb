"""No secret stands in anything that is shown or kept, whatever live holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from harness.routes import BY_SLUG, DASHBOARDS
from harness.sites import (
    PLACE,
    SALT,
    VIEW_SPEC,
    Meddler,
    Site,
    assert_settled,
    dashboard,
    lost_after,
    lost_before,
    manifest,
    paths,
)

from reconciler.api.client import Api
from reconciler.document import Json
from reconciler.journal.entries import Entry, Forgotten, IdentifiedEntry, ImportedEntry, Renamed
from reconciler.journal.history import compacted
from reconciler.model import Drift, DriftReport, Manifest, Ref, RenamedFrom
from reconciler.planning.decide import OlderSeals
from reconciler.planning.find_drift import find_drift
from reconciler.redaction.templates import (
    HIDDEN,
    SecretHole,
    Template,
    fingerprint,
    holds_seal,
    is_sealed_text,
    seal,
)
from reconciler.report.plan.document import plan_json


def secret(value: str, before: str = "Bearer ", name: str = "TOKEN") -> Template:
    """Give a secret as a manifest holds it."""
    hole = SecretHole(name, value, seal(value, name, SALT))
    return Template((before, hole) if before else (hole,))


FIRST, SECOND = "canary-first", "canary-second"


def drifts(site: Site, *manifests: Manifest) -> list[Drift]:
    """Compare live with what was applied."""
    history = site.journal.history
    return list(site.ask(lambda api: find_drift(api, manifests, history, SALT)).found)


def assert_no_canary(site: Site, *manifests: Manifest) -> None:
    """Assert that neither plan nor journal nor drift holds the start of a canary."""
    shown = plan_json(site.plan(*manifests)) + Path(site.journal.place).read_text()
    assert "canary" not in shown
    assert all("canary" not in str(drift.differences) for drift in drifts(site, *manifests))


def test_sent_and_sealed(site: Site) -> None:
    """The real value is sent, and the next plan keeps it without showing it."""
    declared = dashboard(description=secret(FIRST))

    site.apply(declared)

    assert site.writes[0].body["dashboard"]["description"] == f"Bearer {FIRST}"
    assert_no_canary(site, declared)
    assert_settled(site, declared)


def test_changed_secret(site: Site) -> None:
    """Another value is an update of that path, with neither value in it."""
    site.apply(dashboard(description=secret(FIRST)))
    declared = dashboard(description=secret(SECOND))

    (difference,) = site.change(declared).differences
    digests = {site.plan(dashboard(description=secret(one))).digest for one in (FIRST, SECOND)}

    assert difference.path == ("dashboard", "description")
    assert difference.before == HIDDEN
    assert holds_seal(difference.after)
    assert len(digests) == 2
    assert_no_canary(site, declared)
    site.apply(declared)
    assert_settled(site, declared)


def test_remembered_secret(site: Site) -> None:
    """Where the journal is the only evidence, a change of a secret shows all the same."""
    site.apply(manifest("SavedView/a", {**VIEW_SPEC, "name": secret(FIRST)}))
    declared = manifest("SavedView/a", {**VIEW_SPEC, "name": secret(SECOND)})

    change = site.change(declared)

    assert change.action.word == "update"
    assert paths(change) == [("name",)]
    assert_no_canary(site, declared)


@pytest.mark.parametrize("later", [dashboard(description="no secret"), dashboard()])
def test_secret_that_goes(site: Site, later: Manifest) -> None:
    """A field that held a secret hides what is live, when it is declared otherwise or no more."""
    site.apply(dashboard(description=secret(FIRST)))

    (difference,) = site.change(later).differences

    assert difference.before == HIDDEN
    assert_no_canary(site, later)


def with_texts(*texts: Json) -> Manifest:
    """Give a dashboard with a list of unknown shape inside a widget."""
    widget: Json = {"title": "T", "definition": {"dynamic": {"headers": list(texts)}}}
    layout: Json = {"sections": [{"rows": [{"widgets": [widget]}]}]}
    return manifest("Dashboard/checkout", {"dashboard": {"name": "C", "layout": layout}})


@pytest.mark.parametrize(
    "later",
    [
        with_texts(),
        with_texts("x"),
        with_texts("x", secret(SECOND)),
        with_texts({"a": secret(FIRST)}),
        manifest("Dashboard/checkout", {"dashboard": {"name": "C"}}),
    ],
)
@pytest.mark.parametrize(
    "before", [with_texts("a", secret(FIRST), "b"), with_texts({"k": secret(FIRST)})]
)
def test_secret_in_an_opaque_part(site: Site, before: Manifest, later: Manifest) -> None:
    """A secret deep inside a list is hidden as well, whatever becomes of the list."""
    site.apply(before)

    assert_no_canary(site, later)
    site.apply(later)
    assert_settled(site, later)


@pytest.mark.parametrize("carried_out", [lost_after, lost_before])
@pytest.mark.parametrize("texts", [(FIRST, ""), ("", FIRST)])
def test_secret_and_a_write_in_doubt(
    site: Site, texts: tuple[str, str], carried_out: Meddler
) -> None:
    """Of two texts of which nobody knows which one is live, neither is shown if one is secret."""
    before, doubted = (
        dashboard("a", description=secret(text) if text else "plain") for text in texts
    )
    later = dashboard("a", description="later")
    site.apply(before)
    site.meddle("PUT", DASHBOARDS, *[carried_out] * 9)
    site.apply(doubted)
    site.wire.meddlers.clear()

    assert_no_canary(site, later)


def test_drift_beside_a_rotated_secret(site: Site) -> None:
    """A secret that has another value by now is no drift, as it was not applied yet."""
    site.apply(dashboard(description=secret(FIRST)))

    (drift,) = drifts(site, dashboard(description=secret(SECOND)))

    assert drift.state == "same"


def test_plan_of_an_edit_that_holds_a_rotated_secret(site: Site) -> None:
    """A value that a secret had once is shown by no plan, wherever somebody put it."""
    site.apply(dashboard(description=secret(FIRST)))
    declared = dashboard(description=secret(SECOND))
    site.apply(declared)
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    edited = {**stored, "name": f"curl -H {FIRST}"}
    site.outside("PUT", DASHBOARDS, {"dashboard": edited, "requestId": "x"})
    place = replace(PLACE, older=OlderSeals(lambda: site.journal.entries))

    (change,) = site.plan(declared, place=place).changes

    assert [difference.before for difference in change.differences] == [HIDDEN]
    assert "canary" not in str((change.differences, change.before, change.lost))


AT = "2026-02-03T04:05:06Z"
OTHER_NAME = Ref("Dashboard", "shop")


def begun_anew(entries: list[Entry]) -> list[Entry]:
    """Give entries after which the journal has forgotten a resource and knows its id again."""
    (made,) = (entry for entry in entries if isinstance(entry, IdentifiedEntry))
    again = ImportedEntry(
        at=AT, run="r", ref=OTHER_NAME, remote_id=made.remote_id, origin="live", declared={}
    )
    return [*entries, Forgotten(at=AT, ref=made.ref), again]


@pytest.mark.parametrize("is_compacted", [False, True])
@pytest.mark.parametrize(
    "later",
    [
        lambda entries: entries,
        lambda entries: [
            *entries,
            Renamed(at=AT, ref=OTHER_NAME, was=Ref("Dashboard", "checkout")),
        ],
        begun_anew,
    ],
    ids=["renamed in the manifest alone", "renamed", "forgotten"],
)
def test_older_seals_follow_a_resource(
    site: Site, later: Callable[[list[Entry]], list[Entry]], is_compacted: bool
) -> None:
    """Whatever a resource is called by now, and however short its journal, its seals are known."""
    site.apply(dashboard(description=secret(FIRST)))
    site.apply(dashboard(description=secret(SECOND)))
    entries = later(site.journal.entries)
    remote_id = site.journal.history.of(Ref("Dashboard", "checkout")).remote_id
    if is_compacted:
        entries = compacted(compacted(entries, AT), AT)

    found = OlderSeals(lambda: entries)(OTHER_NAME, remote_id)

    assert {("TOKEN", seal(one, "TOKEN", SALT)) for one in (FIRST, SECOND)} == found


def test_older_seals_of_others(site: Site) -> None:
    """A resource has no seals of another one, whose texts cost time to be tried."""
    site.apply(dashboard(description=secret(FIRST)))

    assert OlderSeals(lambda: site.journal.entries)(OTHER_NAME, "x") == frozenset()


def test_older_secret_after_a_rename(site: Site) -> None:
    """A plan under a new name shows no value that a secret had under the old one."""
    site.apply(dashboard(description=secret(FIRST)))
    site.apply(dashboard(description=secret(SECOND)))
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    edited = {**stored, "name": f"curl -H {FIRST}"}
    site.outside("PUT", DASHBOARDS, {"dashboard": edited, "requestId": "x"})
    place = replace(PLACE, older=OlderSeals(lambda: site.journal.entries))
    declared = replace(dashboard(description=secret(SECOND)), ref=OTHER_NAME)
    declared = replace(declared, remote_id=stored["id"])

    (change,) = site.plan(declared, place=place).changes

    assert any(isinstance(reason, RenamedFrom) for reason in change.reasons)
    assert "canary" not in str((change.differences, change.before, change.lost))


def test_drift_of_an_object_that_had_another_name(site: Site) -> None:
    """Drift shows no value that a secret of the object had under its former name."""
    site.apply(dashboard(description=secret(FIRST)))
    site.apply(dashboard(description=secret(SECOND)))
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    edited = {**stored, "name": f"curl -H {FIRST}"}
    site.outside("PUT", DASHBOARDS, {"dashboard": edited, "requestId": "x"})
    entries, history = site.journal.entries, site.journal.history
    declared = replace(dashboard(description=secret(SECOND)), ref=OTHER_NAME)
    declared = replace(declared, remote_id=stored["id"])

    async def look(api: Api) -> DriftReport:
        return await find_drift(api, [declared], history, SALT, older=OlderSeals(lambda: entries))

    (drift,) = site.ask(look).found

    assert isinstance(drift.live, dict)
    assert "canary" not in str((drift.live, drift.differences))


def test_drifted_secret(site: Site) -> None:
    """A secret that someone changed live is drift, and is not shown."""
    declared = dashboard(description=secret(FIRST))
    site.apply(declared)
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    edited = {**stored, "description": "Bearer canary-theirs"}
    site.outside("PUT", DASHBOARDS, {"dashboard": edited, "requestId": "x"})

    (drift,) = drifts(site, declared)

    assert drift.state == "drifted"
    assert [difference.after for difference in drift.differences] == [HIDDEN]
    assert_no_canary(site, declared)


@pytest.mark.parametrize("value", ["a", "Checkout", "900s"])
def test_secret_that_is_a_common_word(site: Site, value: str) -> None:
    """A secret whose value stands elsewhere as plain text makes no difference there."""
    declared = dashboard(description=secret(value, before=""), relativeTimeFrame="900s")

    site.apply(declared)

    assert_settled(site, declared)


def test_seals() -> None:
    """A seal tells a value from another, a name from another and a place from another."""
    seals = {
        seal(value, name, salt)
        for value in ("a", "b")
        for name in ("ONE", "TWO")
        for salt in (SALT, "other")
    }

    assert len(seals) == 8
    assert seal("a", "ONE", SALT) in seals


def test_sealed_text() -> None:
    """Only the very text that was sealed is told to be it."""
    text = str(secret(FIRST))

    assert is_sealed_text(f"Bearer {FIRST}", text, SALT)
    for other in (FIRST, f"Bearer {FIRST} ", f" Bearer {FIRST}", "Bearer ", "", f"Bearer {SECOND}"):
        assert not is_sealed_text(other, text, SALT)
    assert not is_sealed_text(f"Bearer {FIRST}", text, "another place")
    assert not is_sealed_text("plain", "plain", SALT)


def test_fingerprint() -> None:
    """What the journal keeps of a stored secret tells equal from unequal, and nothing more."""
    sealed = str(secret(FIRST))

    assert fingerprint("x", sealed) == fingerprint("x", secret(FIRST))
    assert fingerprint("x", sealed) != fingerprint("y", sealed)
    assert fingerprint("x", sealed) != fingerprint("x", str(secret(SECOND)))
