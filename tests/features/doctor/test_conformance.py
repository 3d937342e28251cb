"""`conformance`: what of a service agrees with the API document, with reads only."""

from __future__ import annotations

from typing import Any

import pytest
from harness.golden import Golden
from harness.wire import NEARBY, keys, standing_in
from harness.workspaces import Shop

from reconciler.emulator import Fault, Faults, Profile, Rule, settings_of

QUESTIONS = 12
READ_ONLY = {"GET", "POST"}
WRITES = ("bulkCreate", "atomicOverwrite", "/close", "/v1/dashboards", "/saved-views", "/bulk")


def differing(shop: Shop, **switches: Any) -> dict[int, str]:
    """Give the endpoints that differ under a profile, with the detail."""
    shop.options["profile"] = Profile(**switches)
    found = shop.run("conformance", "--format", "json").json
    return {value["endpoint"]: value["detail"] for value in found if value["verdict"] == "differs"}


def test_default_profile(shop: Shop) -> None:
    """Everything about the emulator agrees, and every question is told."""
    ran = shop.run("conformance")

    assert (ran.code, ran.err) == (0, f"questions: {QUESTIONS}, and 0 differ\n")
    lines = ran.out.splitlines()
    assert len(lines) == QUESTIONS
    assert {line.split()[0] for line in lines} == {"agrees"}
    assert {int(line.split()[1]) for line in lines} == {2, 5, 6, 7, 8, 9, 13, 14, 15, 18, 19}


def test_reads_only(shop: Shop) -> None:
    """Nothing is asked that could change anything."""
    shop.run("conformance")

    assert {method for method, _ in shop.asked} <= READ_ONLY
    assert [path for method, path in shop.asked if method == "POST" and path.endswith(WRITES)] == []


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ({"error_body": "text"}, {5, 6, 13}),
        ({"error_body": "empty"}, {5, 6, 13}),
        ({"query_objects": "json"}, {2, 8, 9}),
        ({"zero_values": "dropped"}, set()),
        ({"floats": "single"}, set()),
        ({"policy_order": "by_name"}, set()),
        ({"unknown_fields": "refused"}, set()),
        ({"slis": "documented"}, set()),
        ({"authorization": "bare"}, set()),
    ],
)
def test_profiles(shop: Shop, switches: dict[str, Any], expected: set[int]) -> None:
    """A profile that a client would notice differs where it would notice, and nowhere else."""
    assert set(differing(shop, **switches)) == expected


def test_what_is_said(shop: Shop, golden: Golden) -> None:
    """A difference says what came instead, and the exit code is 2."""
    shop.options["profile"] = Profile(error_body="text")

    ran = shop.run("conformance", "-q")

    assert (ran.code, ran.err) == (2, "")
    golden(ran.out)


def test_nothing_to_tell(shop: Shop) -> None:
    """What an empty service cannot show is untold, which is no difference."""
    (shop.root / "demo.db").unlink()

    ran = shop.run("conformance", "--format", "json")

    assert ran.code == 0
    assert {value["endpoint"] for value in ran.json if value["verdict"] == "untold"} >= {
        2,
        7,
        8,
        9,
        19,
    }


def test_other_key_form(shop: Shop) -> None:
    """Where the key is not accepted nothing can be told: exit 10 after the second question."""
    shop.options["profile"] = Profile(authorization="bearer")

    ran = shop.run("conformance", "--format", "json")

    assert ran.code == 10
    assert [value["verdict"] for value in ran.json] == ["agrees", "untold"]


def test_one_permission_missing(shop: Shop) -> None:
    """A question that the key may not ask is untold, the others are asked: exit 10."""
    shop.options["keys"] = {"any": frozenset[str]()}

    ran = shop.run("conformance", "--format", "json")

    assert ran.code == 10
    assert [value["endpoint"] for value in ran.json if value["verdict"] == "untold"] == [7]


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (
            "/cases/cases/v1",
            '{"cases": [{"id": "1", "surprise": 1}], "pagination": {}}',
            "category: Field required; fields that the document does not show: surprise",
        ),
        ("/cases/cases/v1", '{"cases": [{"id": {}}]}', "id: Input should be a valid string"),
        ("/cases/cases/v1", "<html>", "there is no list `cases` (200 OK: <html>)"),
        ("*/bulkTestLog", '{"testPoliciesBulkResult": []}', "not one result for one row (200 OK)"),
        ("*/daily:units", '{"units": {}}', "there is no list `units` (200 OK)"),
        ("*/alert-events", '{"events": [{}, {}, {}]}', "a page of 2 holds 3"),
        ("*/alert-events", '{"events": [{}]}', "there is no `pagination`"),
        ("*/policies/v1", '{"policies": [{"name": "x"}]}', "not every policy has an `order`"),
    ],
)
def test_answers_that_differ(shop: Shop, path: str, body: str, detail: str) -> None:
    """Whatever an answer has otherwise is told in its own words."""
    rule = Rule(path=path, fault=Fault(status=200, body=body))
    shop.options["faults"] = Faults(rules=[rule])

    ran = shop.run("conformance", "--format", "json")

    told = [value["detail"] for value in ran.json if value["verdict"] == "differs"]
    assert any(detail in value for value in told), told


def test_no_answer(shop: Shop, monkeypatch: pytest.MonkeyPatch, unused_port: int) -> None:
    """A service that cannot be reached is not one that differs: exit 9, asked once."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary")

    ran = shop.run("conformance", "--base-url", f"http://127.0.0.1:{unused_port}")

    assert (ran.code, ran.err) == (9, "questions: 1, and 0 differ\n")
    assert ran.out.startswith("untold   15  ")


def test_base_url_in_an_environment(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--base-url` asks another service, in the way of the environment that is chosen."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary")
    with standing_in() as service:
        shop.settle(
            "environments: {there: {baseUrl: 'https://service.invalid', authorization: bearer, "
            "api: {basePath: /other}}}\n"
        )
        ran = shop.run("conformance", "--base-url", NEARBY, "-e", "there")

    assert ran.code == 2
    assert {call.request.url.path.split("/")[1] for call in service.calls} == {"other"}
    assert set(keys(service)) == {"Bearer ", "Bearer canary"}


def test_answers_that_are_no_answers(shop: Shop) -> None:
    """A page where an answer should be differs, and a drop leaves its question untold: 9."""
    shop.options["faults"] = Faults(
        rules=[
            Rule(path="/v1/slo/slos/validate", fault=Fault(status=200, body="[]")),
            Rule(
                path="*/bulkTestLog", fault=Fault(status=200, body='{"testPoliciesBulkResult":[1]}')
            ),
            Rule(path="/cases/*", fault=Fault(drop="before")),
            Rule(path="/v1/dashboards/by-slug/*", fault=Fault(status=200, body="{}")),
        ]
    )

    ran = shop.run("conformance", "--format", "json")

    verdicts = {value["endpoint"]: value["verdict"] for value in ran.json}
    assert ran.code == 9, ran.json
    assert {number for number, verdict in verdicts.items() if verdict == "differs"} == {6, 14, 18}
    assert {number for number, verdict in verdicts.items() if verdict == "untold"} == {7}


READS = """\
environments:
  local:
    emulator: {data: demo.db}
    api:
      reads:
        AlertDefinition: {path: "/v3/a/{id}"}
        SavedView: {path: "/v3/v/{id}"}
        lists:
          Dashboard: {path: /v3/d, items: items}
          SLO: {path: /v3/s, items: LIST}
"""


@pytest.mark.parametrize(("items", "differ"), [("slos", 0), ("others", 1)])
def test_reads_of_the_project_file(shop: Shop, items: str, differ: int) -> None:
    """What the project file says of further reads is asked too, and judged by what comes."""
    shop.settle(READS.replace("LIST", items))
    lists = {"Dashboard": {"path": "/v3/d", "items": "items"}, "SLO": {"path": "/v3/s"}}
    lists["SLO"]["items"] = "slos"
    reads = {"AlertDefinition": {"path": "/v3/a/{id}"}, "SavedView": {"path": "/v3/v/{id}"}}
    shop.options["profile"] = settings_of(Profile, {"reads": reads, "lists": lists})

    ran = shop.run("conformance", "--format", "json")

    told = [value for value in ran.json if value["endpoint"] == 0]
    assert [value["question"].split("`")[1] for value in told] == [
        *("api.reads.AlertDefinition", "api.reads.SavedView"),
        *("api.reads.lists.Dashboard", "api.reads.lists.SLO"),
    ]
    assert [value["verdict"] for value in told].count("differs") == differ
    assert ("no list at `others`" in told[-1]["detail"]) == bool(differ)


def test_a_path_that_is_not_there(shop: Shop) -> None:
    """A read at a path that the service does not have differs, before anything rests on it."""
    shop.settle(READS.replace("LIST", "slos"))
    shop.options["profile"] = Profile()

    found = shop.run("conformance", "--format", "json").json

    assert {value["verdict"] for value in found if value["endpoint"] == 0} == {"differs"}
