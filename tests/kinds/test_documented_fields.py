from __future__ import annotations

import pytest
from harness.documented import known_places
from spec_models import MODELS

from reconciler.kinds import BY_NAME

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


@pytest.mark.parametrize("kind", BY_NAME)
def test_the_fields_of_the_service_are_read_only(kind: str) -> None:
    """Exactly the fields that only the service sets are refused in a manifest."""
    refused = {place for place, facts in known_places(MODELS[kind].spec) if facts.read_only}

    assert refused == READ_ONLY[kind]
