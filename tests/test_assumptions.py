"""`api:` in the project file: each setting both ways, on the wire."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from harness.wire import NEARBY, keys, standing_in
from harness.workspaces import Shop
from hypothesis import given
from hypothesis import strategies as st

from reconciler.emulator import Profile
from reconciler.model.assumptions import Assumptions, Parameter, ParameterNames
from reconciler.project import project_findings
from reconciler.syntax.read_text import read_text

SLOS = "/v1/slo/slos"
VALIDATE = f"{SLOS}/validate"
BULK = "/alerts/alerts-general/v3/bulk"
REQUESTS = "{goodEvents: {query: good}, totalEvents: {query: all}}"
WINDOWS = "{query: {query: up}, window: WINDOW_SLO_WINDOW_1_MINUTE, threshold: 0.1}"
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: %s
  %s
"""
ALERT = """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {name: alert-%d, id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4%03d}
spec: {name: Alert %d, type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED, logsImmediate: {}}
"""
names = st.text(st.characters(exclude_characters=".[]"), min_size=1, max_size=5)
values = st.recursive(
    st.one_of(st.text(max_size=5), st.booleans(), st.integers()),
    lambda inner: st.one_of(
        st.lists(st.text(max_size=3), max_size=3), st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=5,
)


def settle(shop: Shop, settings: str) -> None:
    """Give the shop's environment an `api:`."""
    shop.settle(
        "manifests: [manifests]\n"
        "environments: {local: {emulator: {data: demo.db}, "
        "journal: .reconciler/local.journal.jsonl, "
        f"api: {settings}}}}}\n"
    )


def slo(shop: Shop, sli: str, target: str = "99.9") -> None:
    """Declare one SLO."""
    (shop.root / "manifests" / "slo.yaml").write_text(SLO % (target, sli))


def change(shop: Shop) -> Any:
    """Give what a plan says of the one resource."""
    (one,) = shop.run("plan", "--format", "json").json["changes"]
    return one


def test_documented_settings() -> None:
    """The example in docs/assumptions.md is valid and has every setting at its usual value."""
    page = (Path(__file__).parent.parent / "docs" / "assumptions.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    documents: list[Any] = [read_text(block).documents[0].value for block in blocks]
    settings = documents[0]
    api = settings["environments"]["production"]["api"]

    usual = Assumptions().model_dump(by_alias=True)
    assert [list(project_findings(document)) for document in documents] == [[]] * len(blocks)
    assert set(api) == set(usual)
    assert {**api, "closeBodyField": None, "textField": None, "reads": usual["reads"]} == usual


def test_parameters_have_names() -> None:
    """Every parameter that is sent has a usual name, and no other name is kept."""
    assert {info.alias for info in ParameterNames.model_fields.values()} == set(get_args(Parameter))


@given(st.dictionaries(names, values, max_size=3))
def test_styles_say_the_same(value: dict[str, Any]) -> None:
    """Dotted and bracketed keys name the same places; JSON is the object itself, unless empty."""
    dotted = Assumptions().parameter("filter", value)
    bracketed = Assumptions.model_validate({"queryStyle": "brackets"}).parameter("filter", value)
    whole = Assumptions.model_validate({"queryStyle": "json"}).parameter("filter", value)

    assert [(key.replace("[", ".").replace("]", ""), text) for key, text in bracketed] == dotted
    assert [(key, json.loads(text)) for key, text in whole] == (
        [("filter", value)] if value else []
    )


@pytest.mark.parametrize("path", ["", "/api", "/a/b-c/v2"])
def test_base_path(shop: Shop, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """`basePath` stands between the base URL and every path, with no slash too many."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary")
    with standing_in() as service:
        service.respond(json={"events": []})
        api = f"api: {{basePath: '{path}'}}"
        shop.settle(f"environments: {{there: {{baseUrl: '{NEARBY}/', {api}}}}}\n")
        ran = shop.run("events", "list", "--format", "json")

    assert (ran.code, ran.json) == (0, [])
    assert service.calls[0].request.url.path == f"{path}/alerts/events/v3/alert-events"


@pytest.mark.parametrize(
    ("authorization", "sent"), [("raw", "canary"), ("bearer", "Bearer canary")]
)
def test_authorization(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, authorization: str, sent: str
) -> None:
    """The key goes as it is, or as a bearer token where the environment says so."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary")
    with standing_in() as service:
        shop.settle(
            f"environments: {{there: {{baseUrl: '{NEARBY}', authorization: {authorization}}}}}"
        )
        shop.run("events", "list")

    assert keys(service)[0] == sent


@pytest.mark.parametrize(("limit", "requests"), [(100, 1), (3, 3), (1, 7)])
def test_bulk_limit(shop: Shop, limit: int, requests: int) -> None:
    """`bulkLimit` is the most alerts in one bulk replace."""
    settle(shop, f"{{bulkLimit: {limit}}}")
    text = "---\n".join(ALERT % (number, number, number) for number in range(7))
    (shop.root / "manifests" / "alerts.yaml").write_text(text)

    ran = shop.run("apply", "--yes", "--format", "json")

    assert (ran.code, ran.json["summary"]["written"]) == (0, 7)
    assert shop.count("PUT", BULK) == requests


def test_documented_create(shop: Shop) -> None:
    """Under `documentedSliOnly` a request-based SLO is created, unvalidated as documented."""
    settle(shop, "{documentedSliOnly: true}")
    shop.options["profile"] = Profile(slis="documented")
    slo(shop, f"requestBasedMetricSli: {REQUESTS}")

    assert change(shop)["action"] == "create"
    assert shop.run("apply", "--yes").code == 0
    assert shop.count("POST", SLOS) == 1
    assert shop.count("POST", VALIDATE) == 0
    assert change(shop)["action"] == "keep"


def test_undocumented_create(shop: Shop) -> None:
    """Under `documentedSliOnly` a window-based SLO cannot be created: blocked, nothing sent."""
    settle(shop, "{documentedSliOnly: true}")
    slo(shop, f"windowBasedMetricSli: {WINDOWS}")

    planned = change(shop)
    ran = shop.run("apply", "--yes")

    assert planned["action"] == "blocked"
    assert planned["notes"][0] == (
        "creating an SLO is not documented for `windowBasedMetricSli` (setting `documentedSliOnly`)"
    )
    assert ran.code == 3
    assert shop.count("POST", SLOS) + shop.count("POST", VALIDATE) == 0


def test_undocumented_replace(shop: Shop) -> None:
    """Under `documentedSliOnly` a request-based SLO cannot be replaced, but may stay as it is."""
    slo(shop, f"requestBasedMetricSli: {REQUESTS}")
    assert shop.run("apply", "--yes").code == 0
    settle(shop, "{documentedSliOnly: true}")
    kept = change(shop)["action"]
    slo(shop, f"requestBasedMetricSli: {REQUESTS}", "99.5")

    planned = change(shop)

    assert (kept, planned["action"]) == ("keep", "blocked")
    assert planned["notes"][0].startswith("replacing an SLO is not documented for `requestBased")
    assert shop.count("PUT", SLOS) == 0


def test_documented_replace(shop: Shop) -> None:
    """Under `documentedSliOnly` a window-based SLO is validated and replaced."""
    slo(shop, f"windowBasedMetricSli: {WINDOWS}")
    assert shop.run("apply", "--yes").code == 0
    settle(shop, "{documentedSliOnly: true}")
    shop.options["profile"] = Profile(slis="documented")
    slo(shop, f"windowBasedMetricSli: {WINDOWS}", "99.95")

    assert change(shop)["action"] == "update"
    assert shop.run("apply", "--yes").code == 0
    assert shop.count("PUT", SLOS) == 1


def test_either_by_default(shop: Shop) -> None:
    """By default either form is sent to validation before a replace, and the service decides."""
    slo(shop, f"requestBasedMetricSli: {REQUESTS}")
    assert shop.run("apply", "--yes").code == 0
    shop.options["profile"] = Profile(slis="documented")
    slo(shop, f"requestBasedMetricSli: {REQUESTS}", "99.5")

    assert change(shop)["action"] == "blocked"
    assert shop.count("POST", VALIDATE) == 1


@pytest.mark.promise("P22")
@pytest.mark.parametrize(
    ("setting", "before_create", "before_replace"),
    [
        *(("", 0, 1), ("validateSlos: replaced", 0, 1), ("validateSlos: all", 1, 1)),
        *(("validateSlos: none", 0, 0), ("validateSlos: all, documentedSliOnly: true", 0, 0)),
    ],
)
def test_validated_slos(shop: Shop, setting: str, before_create: int, before_replace: int) -> None:
    """`validateSlos` says before which writes the service is asked, in the plan and in the run."""
    sli = f"requestBasedMetricSli: {REQUESTS}"
    settle(shop, f"{{{setting}}}")
    slo(shop, sli)

    shop.run("plan")
    planned = shop.count("POST", VALIDATE)
    assert shop.run("apply", "--yes").code == 0
    created = shop.count("POST", VALIDATE)
    slo(shop, sli, "99.5")
    shop.run("plan")

    assert (planned, created - planned) == (before_create, 2 * before_create)
    assert shop.count("POST", VALIDATE) - created == before_replace


def test_late_objection(shop: Shop) -> None:
    """An SLO that waits for a reference is not asked about in the plan, and refused in the run."""
    settle(shop, "{documentedSliOnly: true}")
    slo(shop, f"windowBasedMetricSli: {WINDOWS}\n  labels: {{view: '${{ref:SavedView/errors}}'}}")
    (shop.root / "manifests" / "view.yaml").write_text(
        "apiVersion: reconciler/v1\nkind: SavedView\nmetadata: {name: errors}\n"
        "spec: {name: Errors, timeSelection: {quickSelection: {seconds: 900}}}\n"
    )

    ran = shop.run("apply", "--yes", "--format", "json")

    outcomes = {outcome["ref"]: outcome["outcome"] for outcome in ran.json["outcomes"]}
    assert (ran.code, outcomes) == (3, {"SavedView/errors": "written", "SLO/checkout": "refused"})
    assert shop.count("POST", SLOS) == 0
