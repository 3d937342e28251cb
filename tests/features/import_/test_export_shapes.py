"""What exports hold is told apart by its shape, whatever stands around it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.document import Json
from reconciler.features.import_.import_sources import found_in
from reconciler.features.import_.records import ImportRecord, Left
from reconciler.workspace.expression_scope import Withheld

ALERT_ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
ALERT: dict[str, Json] = {
    "alertDefProperties": {
        "name": "Errors",
        "type": "ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED",
        "logsImmediate": {},
    },
    "id": ALERT_ID,
    "alertVersionId": "v",
    "createdTime": "2025-01-31T09:00:00Z",
    "status": "ALERT_DEF_STATUS_UNSPECIFIED",
}
SLO: dict[str, Json] = {
    "id": "b11919d5-ef85-4bb1-8655-02640dbe94d9",
    "name": "Checkout",
    "target_threshold_percentage": "99.5",
    "request_based_metric_sli": {"good_events": {"query": "g"}, "total_events": {"query": "t"}},
    "revision": {"revision": 3},
}
BOARD: dict[str, Json] = {
    "dashboard": {"id": "tSheVQcieUCGLE8f7WoaE", "name": "Board", "layout": {"sections": []}},
    "authorName": "me",
    "isLocked": False,
}
VIEW: dict[str, Json] = {
    "id": 12,
    "name": "View",
    "timeSelection": {"quickSelection": {"seconds": 9}},
}
POLICY: dict[str, Json] = {
    "id": "p",
    "name": "kept",
    "description": "",
    "priority": "PRIORITY_TYPE_HIGH",
    "enabled": True,
    "order": 2,
    "createdAt": "x",
}
EVERYTHING = {
    "AlertDefinition": ALERT,
    "SLO": SLO,
    "Dashboard": BOARD,
    "SavedView": VIEW,
}
ROOT = Path(__file__).parents[3]
SAMPLES = ROOT.parent / "shared" / "samples"


def found(document: Json) -> list[ImportRecord | Left]:
    """Give what a document holds."""
    pieces = found_in(document, "x.json", Withheld())
    return [piece for piece in pieces if isinstance(piece, ImportRecord | Left)]


def only(document: Json) -> ImportRecord:
    """Give the one record that a document holds."""
    (one,) = found(document)
    assert isinstance(one, ImportRecord), one
    return one


@pytest.mark.parametrize("kind", EVERYTHING)
def test_bare(kind: str) -> None:
    """A stored record is of its kind, and keeps its id and nothing that only answers have."""
    one = only(EVERYTHING[kind])
    document = json.dumps(one.spec)

    assert one.kind.name == kind
    assert one.remote_id in (ALERT_ID, SLO["id"], "tSheVQcieUCGLE8f7WoaE", 12)
    for gone in ("alertVersionId", "revision", "authorName", "createdTime", '"id"', "_"):
        assert gone not in document.replace("ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED", "")


@pytest.mark.parametrize(
    "around",
    [
        lambda one: [one],
        lambda one: {"items": [one, one]},
        lambda one: {"alertDefs": [one], "pagination": {"totalSize": 1}, "notFoundIds": []},
        lambda one: {"data": {"result": one}},
        lambda one: [[one], {"more": [one]}],
    ],
)
@pytest.mark.parametrize("kind", EVERYTHING)
def test_around(kind: str, around: object) -> None:
    """Lists and wrappers change nothing."""
    plain = only(EVERYTHING[kind])

    records = found(around(EVERYTHING[kind]))  # type: ignore[operator]  # a lambda

    assert records
    for record in records:
        assert isinstance(record, ImportRecord)
        assert (record.kind.name, record.spec, record.remote_id) == (
            kind,
            plain.spec,
            plain.remote_id,
        )


def test_policies() -> None:
    """Stored policies are one set in the order that they tell, however they are listed."""
    other = {**POLICY, "name": "blocked", "order": 1, "enabled": False}

    listed: list[Json] = [POLICY, other]
    whole: Json = {"policies": listed}
    wrapped: Json = {"items": listed, "total": 2}

    for document in (listed, whole, wrapped):
        one = only(document)
        assert one.kind.name == "LogPolicySet"
        assert [item["policy"]["name"] for item in one.spec["policies"]] == ["blocked", "kept"]  # type: ignore[call-overload,index,union-attr]  # of this shape
        assert one.spec["policies"][0]["policy"]["disabled"] is True  # type: ignore[call-overload,index]  # of this shape
        assert any("severities" in said for said in one.comments.values())


def test_views_are_no_policies() -> None:
    """A list of views is a view each, though each of them has a name as a policy has."""
    records = found([VIEW, {**VIEW, "id": 13, "filters": {"filters": []}}])

    assert [record.kind.name for record in records if isinstance(record, ImportRecord)] == [
        "SavedView"
    ] * 2


def test_no_id() -> None:
    """An alert without an id is left by its name, as no manifest of it would be valid."""
    (one,) = found({"alertDefProperties": ALERT["alertDefProperties"]})

    assert isinstance(one, Left)
    assert "`Errors`" in one.what
    assert "no id" in one.why
    assert one.exit_code == 4


def test_wrong_field() -> None:
    """A record that no manifest can hold is left by its name, and why is said."""
    (one,) = found({**VIEW, "folderId": "UPPER"})

    assert isinstance(one, Left)
    assert "`View`" in one.what
    assert "folderId" in one.why


@pytest.mark.parametrize("name", ["a\x00b", "\ud800", "\x1b[2J"])
def test_unspeakable_name(name: str) -> None:
    """A name that no manifest can hold is refused by what can be said of it."""
    (one,) = found({**VIEW, "name": name})

    assert isinstance(one, Left)
    assert one.exit_code == 4


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not part of the project")
def test_samples() -> None:
    """Every sample is of the kind of its folder."""
    kinds = {
        "alerts": "AlertDefinition",
        "dashboards": "Dashboard",
        "pairs": "Dashboard",
        "policies": "LogPolicySet",
        "slos": "SLO",
        "views": "SavedView",
    }
    for file in sorted(SAMPLES.rglob("*.json")):
        (one,) = found(json.loads(file.read_text(encoding="utf-8")))
        said = one.kind.name if isinstance(one, ImportRecord) else one.what
        assert said.startswith(kinds[file.parent.name]), file.name


keys = st.sampled_from(
    ["id", "name", "dashboard", "alertDefProperties", "policies", "policy", "slo", "layout"]
) | st.text(max_size=5)
junk: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(junk)
def test_any_document(document: Json) -> None:
    """Whatever is found in an export, it is a record or is left, and nothing is raised."""
    for one in found(document):
        assert isinstance(one, ImportRecord | Left)
