"""What the service told with a write is remembered for later questions, and no secret with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SALT,
    SLO_SPEC,
    Site,
    answer_with,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
    watching,
)
from journals import AT, VIEW, started, written

from reconciler.document import Json
from reconciler.journal.content import entry_document, parse_entry
from reconciler.journal.entries import Entry, WrittenEntry
from reconciler.journal.history import MOST_VERSIONS, History, compacted
from reconciler.kinds.alert_definition.remote import BULK_REPLACE as BULK
from reconciler.model import NO_SERVER_INFO, Manifest, Ref, ServerInfo
from reconciler.redaction.templates import SecretHole, Template, seal

ERRORS = Ref("AlertDefinition", "errors")


def alert(**fields: Json) -> Manifest:
    return manifest("AlertDefinition/errors", {**ALERT_SPEC, **fields}, ALERT_ID)


def versions_of(site: Site, ref: Ref) -> list[str]:
    """Give the versions that the journal knows, read anew."""
    return [version.version for version in site.journal.history.of(ref).versions]


def stored_version(site: Site) -> str:
    """Look the version of the alert up in what the service keeps."""
    ((version,),) = site.app.state.store.rows(
        "SELECT json_extract(record, '$.alertVersionId') FROM alert_definitions"
    )
    return str(version)


def test_every_version_of_an_alert(site: Site) -> None:
    """Each version that a write makes is remembered, as the service has it, the oldest first."""
    known = []
    for text in ("one", "two", "three"):
        site.apply(alert(description=text))
        known.append(stored_version(site))

    assert len({*known}) == 3
    assert versions_of(site, ERRORS) == known
    last = site.journal.history.of(ERRORS).last
    assert last is not None
    assert last.told.version == known[-1]


def test_what_else_is_told(site: Site) -> None:
    """An SLO has its revision and alerts, policies their ids, a dashboard when it was edited."""
    slo = manifest("SLO/checkout", SLO_SPEC)
    site.apply(slo, watching(), dashboard(), policy_set(policy("a"), policy("b")))
    again = manifest("SLO/checkout", {**SLO_SPEC, "targetThresholdPercentage": 99.95})
    site.apply(again, watching())

    told = {
        str(ref): memory.last.told
        for ref, memory in site.journal.history.memories.items()
        if memory.last is not None
    }

    assert (told["SLO/checkout"].version, told["SLO/checkout"].alerts) == ("2", (ALERT_ID,))
    listed = site.outside("GET", "/dataplans/policies/v1")["policies"]
    assert told["LogPolicySet/all"].ids == {value["name"]: value["id"] for value in listed}
    record = site.outside("GET", "/v1/dashboards/by-slug/checkout")
    assert told["Dashboard/checkout"] == ServerInfo(updated=record["updatedAt"])


def test_compacting_keeps_versions() -> None:
    """A compacted journal knows as many versions, and no more than are ever asked for."""
    listed: list[Entry] = []
    for number in range(MOST_VERSIONS + 5):
        listed += [started(), replace(written(), told=ServerInfo(version=f"v{number}"))]
    history, later = History(), History()
    history.add(listed)
    later.add(compacted(listed, AT))

    known = [version.version for version in later.of(VIEW).versions]

    assert known == [f"v{number}" for number in range(5, MOST_VERSIONS + 5)]
    assert later == history


@pytest.mark.parametrize("wrong", [None, 5, "x", [], {"version": 5}, {"ids": [], "alerts": {}}])
def test_unreadable_told(wrong: Json) -> None:
    """Whatever stands where something was told, the write is read as it was."""
    document = {**entry_document(written()), "told": wrong}

    assert parse_entry(document, 1) == written()


def test_older_journal_tells_nothing() -> None:
    """A line without it is read as one that told nothing, and written as it was."""
    document = entry_document(written())
    entry = parse_entry(document, 1)

    assert isinstance(entry, WrittenEntry)
    assert entry.told == NO_SERVER_INFO
    assert entry_document(entry) == document


def test_secrets_are_left_out() -> None:
    """What holds a text that has to be hidden is left out, and the rest of it stays."""
    told = ServerInfo(
        version="x hush", updated="hush", ids={"hush": "1", "a": "2"}, alerts=("hush", "b")
    )

    hidden = told.hiding(lambda text: text.replace("hush", "***"))

    assert hidden == ServerInfo(ids={"a": "2"}, alerts=("b",))


def test_no_secret_in_a_version(site: Site) -> None:
    """A service that answers with a secret for a version gets no copy of it in the journal."""
    secret = "canary-secret-41d0c2"  # noqa: S105 - what is looked for
    hole = SecretHole("TOKEN", secret, seal(secret, "TOKEN", SALT))
    record: Json = {
        "id": ALERT_ID,
        "alertVersionId": f"v-{secret}",
        "alertDefProperties": {**ALERT_SPEC, "description": secret},
    }
    site.meddle("PUT", BULK, answer_with(200, {"alertDefs": [record]}))
    applied = site.apply(alert(description=Template((hole,))))

    assert outcomes(applied) == {str(ERRORS): "written"}
    assert versions_of(site, ERRORS) == []
    assert secret not in (site.root / "own" / "journal.jsonl").read_text(encoding="utf-8")
