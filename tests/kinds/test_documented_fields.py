from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from harness.documented import MANIFESTS
from spec_models import MODELS

from reconciler.kinds import BY_NAME
from reconciler.kinds.field_traits import Part
from reconciler.kinds.shape import Facts, facts_of

READ_ONLY = {
    "AlertDefinition": {
        "id",
        "alertDefProperties",
        "alertVersionId",
        "createdTime",
        "updatedTime",
        "lastTriggeredTime",
        "status",
    },
    "SLO": {"id", "creator", "createTime", "updateTime", "revision", "type"},
    "Dashboard": {
        "requestId",
        "authorId",
        "authorName",
        "createdAt",
        "createdOriginType",
        "updatedAt",
        "updatedOriginType",
        "updaterAuthorId",
        "updaterName",
        "lockerAuthorId",
        "lockerName",
        "dashboard.layout.sections[].rows[].widgets[].createdAt",
        "dashboard.layout.sections[].rows[].widgets[].updatedAt",
    },
    "LogPolicySet": {
        f"policies[].policy.{name}"
        for name in (
            "id",
            "companyId",
            "order",
            "placement",
            "enabled",
            "deleted",
            "createdAt",
            "updatedAt",
        )
    },
    "SavedView": {"id"},
}


def known_places(model: type[Part], prefix: str = "") -> Iterator[tuple[str, Facts]]:
    """Yield every place a model knows, as `widgets[].id.value`, with its facts."""
    for name, facts in facts_of(model).items():
        yield from _inner_places(prefix + name, facts)


def _inner_places(place: str, facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield place, facts
    if facts.items is not None:
        yield from _inner_places(f"{place}[]", facts.items)
    if facts.part is not None:
        yield from known_places(facts.part, f"{place}.")


@pytest.mark.parametrize("kind", BY_NAME)
def test_every_documented_field_is_in_the_model(kind: str) -> None:
    """Each field and nested field of the API document is known to the kind's model."""
    known = {place for place, _ in known_places(MODELS[kind].spec)}

    assert sorted(set(MANIFESTS[kind].split()) - known) == []


@pytest.mark.parametrize("kind", BY_NAME)
def test_fields_beyond_the_document_are_marked(kind: str) -> None:
    """A field that the API document does not show is marked as observed, or is not sent."""
    documented = {
        place[: name.end()]
        for place in MANIFESTS[kind].split()
        for name in re.finditer(r"\w+", place)
    }
    ours = {"file", "dashboard", "policies", "alertDefProperties"}
    unmarked = {
        place
        for place, facts in known_places(MODELS[kind].spec)
        if not facts.observed and not place.endswith("[]") and place not in ours
    }
    hidden = {place for place, facts in known_places(MODELS[kind].spec) if facts.observed}

    assert (
        sorted(
            place
            for place in unmarked - documented
            if not any(place.startswith((f"{above}.", f"{above}[")) for above in hidden)
        )
        == []
    )


@pytest.mark.parametrize("kind", BY_NAME)
def test_the_fields_of_the_service_are_read_only(kind: str) -> None:
    """Exactly the fields that only the service sets are refused in a manifest."""
    refused = {place for place, facts in known_places(MODELS[kind].spec) if facts.read_only}

    assert refused == READ_ONLY[kind]
