"""Endpoints 15 to 18: log policies."""

from typing import Any

import pytest
from harness.emulated import Answer, Emulated
from harness.profiles import FILLING
from harness.routes import OVERWRITE, POLICIES

CREATE = POLICIES + "/bulkCreate"
TEST = POLICIES + "/bulkTestLog"


def place(name: str, *severities: str, **policy: object) -> dict[str, Any]:
    return {
        "logRules": {"severities": severities},
        "policy": {"name": name, "description": "", "priority": "PRIORITY_TYPE_LOW", **policy},
    }


def overwrite(emulator: Emulated, *places: object) -> Answer:
    return emulator.post(OVERWRITE, {"policies": places})


def in_order(emulator: Emulated) -> list[str]:
    """Give the names in the order in which the policies take effect."""
    policies = emulator.get(POLICIES).body["policies"]
    return [policy["name"] for policy in sorted(policies, key=lambda policy: policy["order"])]


def rule(how: str, name: str) -> dict[str, str]:
    return {"ruleTypeId": f"RULE_TYPE_ID_{how}", "name": name}


def test_overwrite() -> None:
    """An overwrite makes the sent list the whole list, in its order, with new ids."""
    emulator = Emulated()
    first = overwrite(emulator, place("a"), place("b")).body["createResponses"]
    second = overwrite(emulator, place("b"), place("c")).body["createResponses"]

    assert in_order(emulator) == ["b", "c"]
    assert [entry["policy"]["order"] for entry in second] == [1, 2]
    assert first[1]["policy"]["id"] != second[0]["policy"]["id"]


def test_stored_policy() -> None:
    """A stored policy says `enabled` for `disabled`, keeps unknown fields, never severities."""
    emulator = Emulated()
    sent = place(
        "a", "SEVERITY_ERROR", disabled=True, unknown={}, enabled="odd", applicationRule={}
    )

    answer = overwrite(emulator, sent)

    at = "2025-01-31T09:00:02.000Z"
    [policy] = emulator.get(POLICIES).body["policies"]
    assert answer.body == {"createResponses": [{"policy": policy}]}
    assert policy == {
        "id": policy["id"],
        "companyId": 1001,
        "name": "a",
        "description": "",
        "order": 1,
        "priority": "PRIORITY_TYPE_LOW",
        "enabled": False,
        "applicationRule": {},
        "createdAt": at,
        "updatedAt": at,
        "unknown": {},
    }


def test_list_is_not_in_order() -> None:
    """The list may come in another order than the policies take effect."""
    emulator = Emulated(profile=FILLING)
    overwrite(emulator, place("a"), place("b"), place("c"))

    names = [policy["name"] for policy in emulator.get(POLICIES).body["policies"]]

    assert names != in_order(emulator) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"on", "off"}),
        ("?enabled_only=false", {"on", "off"}),
        ("?enabled_only=true", {"on"}),
        ("?source_type=SOURCE_TYPE_LOGS", {"on", "off"}),
        ("?source_type=SOURCE_TYPE_UNSPECIFIED", {"on", "off"}),
        ("?source_type=SOURCE_TYPE_SPANS", set()),
    ],
)
def test_list_filters(query: str, names: set[str]) -> None:
    """The list can be cut to enabled policies and to a source; all policies are of logs."""
    emulator = Emulated()
    overwrite(emulator, place("on"), place("off", disabled=True))

    policies = emulator.get(POLICIES + query).body["policies"]

    assert {policy["name"] for policy in policies} == names


@pytest.mark.parametrize("query", ["enabled_only=1", "source_type=SOURCE_TYPE_METRICS"])
def test_bad_query(query: str) -> None:
    """A query parameter that cannot be read is refused by name."""
    answer = Emulated().get(f"{POLICIES}?{query}")

    assert answer.status == 400
    assert answer.message.startswith(query.split("=", maxsplit=1)[0])


def without(name: str) -> dict[str, Any]:
    sent = place("a")
    return {**sent, "policy": {k: v for k, v in sent["policy"].items() if k != name}}


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"policy": place("a")["policy"]}, "policies[1].logRules"),
        ({**place("a"), "logRules": {}}, "policies[1].logRules.severities"),
        (place("a", *["SEVERITY_INFO"] * 7), "policies[1].logRules.severities"),
        (place("a", "ERROR"), "policies[1].logRules.severities[0]"),
        (without("name"), "policies[1].policy.name"),
        (without("description"), "policies[1].policy.description"),
        (without("priority"), "policies[1].policy.priority"),
        (place(""), "policies[1].policy.name"),
        (place("x" * 256), "policies[1].policy.name"),
        (place("kept"), "policies[1].policy.name"),
        (place("a", description="x" * 256), "policies[1].policy.description"),
        (place("a", description="Ж"), "policies[1].policy.description"),
    ],
)
def test_overwrite_is_all_or_nothing(bad: object, path: str) -> None:
    """One bad policy refuses the whole overwrite, and the old list stays."""
    emulator = Emulated(profile=FILLING)
    overwrite(emulator, place("old"))

    answer = overwrite(emulator, place("kept"), bad)

    assert answer.status == 400
    assert answer.message.startswith(path + ": ")
    assert in_order(emulator) == ["old"]


def test_overwrite_with_nothing() -> None:
    """An empty list deletes all."""
    emulator = Emulated()
    overwrite(emulator, place("a"))

    assert overwrite(emulator).body == {"createResponses": []}
    assert in_order(emulator) == []


@pytest.mark.parametrize(("count", "status"), [(200, 200), (201, 400)])
def test_policy_limit(count: int, status: int) -> None:
    """There are at most 200 policies."""
    assert overwrite(Emulated(), *(place(str(n)) for n in range(count))).status == status


def test_create_places() -> None:
    """New policies go last, or before all others when they say so; replies keep the order."""
    emulator = Emulated()
    overwrite(emulator, place("old"))
    first: dict[str, object] = {"placement": {"first": {}}}

    answer = emulator.post(
        CREATE,
        {
            "policyRequests": [
                {"name": "z", "placement": {}},
                {"name": "a", **first},
                {"name": "b", **first},
            ]
        },
    )

    policies = [entry["policy"] for entry in answer.body["createResponses"]]
    assert in_order(emulator) == ["a", "b", "old", "z"]
    assert [(policy["name"], policy["order"]) for policy in policies] == [
        ("z", 4),
        ("a", 1),
        ("b", 2),
    ]


@pytest.mark.parametrize(
    ("names", "status"),
    [(["new", "old"], 409), (["new", "new"], 400), ([str(n) for n in range(200)], 400)],
)
def test_create_is_atomic(names: list[str], status: int) -> None:
    """A taken or doubled name, or one policy too many, creates none of them."""
    emulator = Emulated()
    overwrite(emulator, place("old"))

    answer = emulator.post(CREATE, {"policyRequests": [{"name": name} for name in names]})

    assert answer.status == status
    assert in_order(emulator) == ["old"]


@pytest.mark.parametrize(
    ("policy", "values", "matched"),
    [
        ({"applicationRule": rule("IS", "prod,dev")}, {"applicationNameValues": "dev"}, True),
        ({"applicationRule": rule("IS", "prod, dev")}, {"applicationNameValues": "dev"}, True),
        ({"applicationRule": rule("IS", "prod")}, {"applicationNameValues": "prod2"}, False),
        ({"applicationRule": rule("IS", "prod")}, {"applicationNameValues": "x,prod"}, True),
        ({"applicationRule": rule("IS", "prod")}, {}, False),
        ({"applicationRule": rule("IS_NOT", "prod,dev")}, {"applicationNameValues": "dev"}, False),
        ({"applicationRule": rule("IS_NOT", "prod")}, {"applicationNameValues": "dev"}, True),
        ({"subsystemRule": rule("START_WITH", "api,web")}, {"subsystemNameValues": "web-1"}, True),
        ({"subsystemRule": rule("START_WITH", "api")}, {"subsystemNameValues": "my-api"}, False),
        ({"subsystemRule": rule("INCLUDES", "api")}, {"subsystemNameValues": "my-api"}, True),
        ({"subsystemRule": rule("INCLUDES", "api")}, {"subsystemNameValues": "web"}, False),
        ({"subsystemRule": rule("UNSPECIFIED", "api")}, {"subsystemNameValues": "web"}, True),
        ({"disabled": True}, {}, False),
        ({}, {}, True),
    ],
)
def test_matching_rules(policy: dict[str, object], values: dict[str, str], matched: bool) -> None:
    """A policy takes a log when it is enabled and both rules let the log in."""
    emulator = Emulated()
    overwrite(emulator, place("a", **policy))

    [result] = emulator.post(TEST, {"metaFieldsValuesList": [values]}).body[
        "testPoliciesBulkResult"
    ]

    assert result["matched"] is matched
    assert ("policy" in result) is matched


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ("ERROR", "errors"),
        ("SEVERITY_CRITICAL", "errors"),
        ("info,error", "errors"),
        ("INFO", "rest"),
        ("", "rest"),
    ],
)
def test_first_match_wins(values: str, name: str) -> None:
    """Of several policies the first in order is met; one without severities takes all."""
    emulator = Emulated()
    overwrite(emulator, place("errors", "SEVERITY_ERROR", "SEVERITY_CRITICAL"))
    emulator.post(CREATE, {"policyRequests": [{"name": "rest"}, {"name": "never"}]})

    answer = emulator.post(TEST, {"metaFieldsValuesList": [{"severityValues": values}]})

    [result] = answer.body["testPoliciesBulkResult"]
    assert result["policy"]["name"] == name
    assert result["metaFieldsValues"] == {"severityValues": values}
