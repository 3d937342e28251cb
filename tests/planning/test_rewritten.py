"""What the service makes of what it is sent is told once, and then no difference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness.profiles import profile
from harness.routes import BY_SLUG, DASHBOARDS, SLOS
from harness.sites import (
    ALERT_ID,
    ALERT_SPEC,
    SALT,
    SLO_SPEC,
    Site,
    assert_settled,
    dashboard,
    manifest,
    outcomes,
    policy,
    policy_set,
)

from reconciler.applying.one_write import as_reported
from reconciler.document import ABSENT, Difference, Json
from reconciler.emulator import Profile, create_app
from reconciler.model import Manifest
from reconciler.redaction.templates import SecretHole, Template, seal

Rewrite = Callable[[dict[str, Any]], None]


class RewritingSite(Site):
    """A service that stores something else than what it was sent."""

    def __init__(self, root: Path, method: str, path: str, rewrite: Rewrite) -> None:
        super().__init__(root)

        async def meddle(request: httpx.Request, inner: httpx.AsyncBaseTransport) -> httpx.Response:
            body = json.loads(request.content)
            rewrite(body)
            headers = {k: v for k, v in request.headers.items() if k != "content-length"}
            again = httpx.Request(request.method, request.url, headers=headers, json=body)
            return await inner.handle_async_request(again)

        self.meddle(method, path, *[meddle] * 20)


def trim_description(body: dict[str, Any]) -> None:
    """Cut what surrounds a text."""
    body["dashboard"]["description"] = body["dashboard"].get("description", "").strip()


def drop_description(body: dict[str, Any]) -> None:
    """Forget a field."""
    body["dashboard"].pop("description", None)


def double_height(body: dict[str, Any]) -> None:
    """Round a number inside a list."""
    for section in body["dashboard"]["layout"]["sections"]:
        for row in section["rows"]:
            row["appearance"]["height"] *= 2


def sort_variables(body: dict[str, Any]) -> None:
    """Bring a named list into another order."""
    body["dashboard"].get("variablesV2", []).sort(key=lambda one: one["name"])


def describe_alike(body: dict[str, Any]) -> None:
    """Give every policy one description."""
    for item in body["policies"]:
        item["policy"]["description"] = "a policy"


def grow_widgets(body: dict[str, Any]) -> None:
    """Change what stands inside an opaque part, and add to a list there."""
    widget = body["dashboard"]["layout"]["sections"][0]["rows"][0]["widgets"][0]
    widget["definition"]["markdown"]["lines"] = [{"a": 1}, {"b": 2}]
    widget["definition"]["markdown"]["markdownText"] = "y"


VARIABLES: list[Json] = [
    {"name": name, "source": {"static": {"values": []}}} for name in ("c", "a", "d", "b")
]
REWRITES: list[tuple[Rewrite, Manifest]] = [
    (trim_description, dashboard(description="  padded  ")),
    (drop_description, dashboard(description="forgotten")),
    (double_height, dashboard()),
    (sort_variables, dashboard(variablesV2=VARIABLES)),
    (grow_widgets, dashboard()),
]


@pytest.mark.parametrize(("rewrite", "declared"), REWRITES)
def test_told_once(tmp_path: Path, rewrite: Rewrite, declared: Manifest) -> None:
    """A field that the service stores otherwise is told after the write, and then is quiet."""
    site = RewritingSite(tmp_path, "POST", DASHBOARDS, rewrite)

    applied = site.apply(declared)

    assert outcomes(applied) == {"Dashboard/checkout": "written"}
    assert set(applied.rewritten) == {declared.ref}
    assert_settled(site, declared)


@pytest.mark.parametrize(("rewrite", "declared"), REWRITES)
def test_only_the_edit(tmp_path: Path, rewrite: Rewrite, declared: Manifest) -> None:
    """With a rewritten field beside it, an edit is exactly the edited path."""
    site = RewritingSite(tmp_path, "*", DASHBOARDS, rewrite)
    site.wire.meddlers[0] = ("POST", DASHBOARDS, site.wire.meddlers[0][2])
    site.apply(declared)
    body = declared.spec["dashboard"]
    assert isinstance(body, dict)
    edited = manifest("Dashboard/checkout", {"dashboard": {**body, "name": "Other"}})

    (difference,) = site.change(edited).differences

    assert difference.path == ("dashboard", "name")


def test_changed_by_someone(tmp_path: Path) -> None:
    """A rewritten field that someone changes to a third value is a difference again."""
    site = RewritingSite(tmp_path, "POST", DASHBOARDS, trim_description)
    declared = dashboard(description="  padded  ")
    site.apply(declared)
    stored = site.outside("GET", f"{BY_SLUG}/checkout")["dashboard"]
    site.outside("PUT", DASHBOARDS, {"dashboard": {**stored, "description": "x"}, "requestId": "y"})

    (difference,) = site.change(declared).differences

    assert (difference.before, difference.after) == ("x", "  padded  ")


def test_declared_anew(tmp_path: Path) -> None:
    """A rewritten field that is declared otherwise is a difference again."""
    site = RewritingSite(tmp_path, "POST", DASHBOARDS, trim_description)
    site.apply(dashboard(description="  padded  "))

    (difference,) = site.change(dashboard(description="  other  ")).differences

    assert difference.before == "padded"


def test_what_is_told(tmp_path: Path) -> None:
    """It is told from what was sent to what is stored."""
    site = RewritingSite(tmp_path, "POST", DASHBOARDS, drop_description)

    applied = site.apply(dashboard(description="forgotten"))

    ((told,),) = applied.rewritten.values()
    path = ("dashboard", "description")
    assert (told.path, told.before, told.after) == (path, "forgotten", ABSENT)


def test_told_the_other_way_round() -> None:
    """What was added to live is told as removed from what was sent."""
    (told,) = as_reported([Difference(("a",), ABSENT, 1, "add")])

    assert told == Difference(("a",), 1, ABSENT, "remove")


def secret(value: str) -> Template:
    """Give a secret as a manifest holds it."""
    return Template(("Bearer ", SecretHole("TOKEN", value, seal(value, "TOKEN", SALT))))


def test_rewritten_secret(tmp_path: Path) -> None:
    """A secret that the service stores otherwise is quiet too, and is nowhere in the journal."""

    def shout(body: dict[str, Any]) -> None:
        body["dashboard"]["description"] = body["dashboard"]["description"].upper()

    site = RewritingSite(tmp_path, "POST", DASHBOARDS, shout)
    declared = dashboard(description=secret("canary-1"))

    applied = site.apply(declared)

    ((told,),) = applied.rewritten.values()
    assert "canary" not in str(told).lower()
    assert "canary" not in Path(site.journal.place).read_text().lower()
    assert_settled(site, declared)
    assert site.change(dashboard(description=secret("canary-2"))).action.word == "update"


def test_rounded_target(tmp_path: Path) -> None:
    """A target that comes back rounded to 32 bits settles all the same."""
    site = Site(tmp_path, create_app(profile=Profile(floats="single")))
    declared = manifest("SLO/checkout", SLO_SPEC)

    applied = site.apply(declared)

    assert [difference.path for difference in applied.rewritten[declared.ref]] == [
        ("targetThresholdPercentage",)
    ]
    assert_settled(site, declared)


def test_rounded_again_without_a_revision(tmp_path: Path) -> None:
    """What a second write stores otherwise settles too where a service tells no revision."""
    site = Site(tmp_path, create_app(profile=Profile(floats="single", metadata="left_out")))
    site.apply(manifest("SLO/checkout", SLO_SPEC))
    later = manifest("SLO/checkout", {**SLO_SPEC, "description": "later"})

    site.apply(later)

    assert_settled(site, later)


@pytest.mark.parametrize("metadata", ["told", "left_out"])
def test_empty_labels_that_no_write_makes(tmp_path: Path, metadata: str) -> None:
    """An empty map that the service takes for none settles, though it sees no change in it."""
    chosen = profile({"reads": "wrapped", "metadata": metadata})
    site = Site(tmp_path, create_app(alert_ids=[ALERT_ID], profile=chosen))
    site.apply(manifest("AlertDefinition/one", ALERT_SPEC, ALERT_ID))
    emptied = manifest("AlertDefinition/one", {**ALERT_SPEC, "entityLabels": {}}, ALERT_ID)

    site.apply(emptied)

    assert_settled(site, emptied)


def test_rewritten_and_declared_otherwise(tmp_path: Path) -> None:
    """A rewritten field stays quiet when the declaration changes in a way that writes nothing."""
    site = Site(tmp_path, create_app(profile=Profile(floats="single")))
    site.apply(manifest("SLO/checkout", SLO_SPEC))
    same = manifest("SLO/checkout", {**SLO_SPEC, "description": ""})

    site.apply(same)

    assert_settled(site, same)


def test_rewritten_by_a_replace(tmp_path: Path) -> None:
    """What a replace makes of a field counts from then on, not what the create made of it."""
    site = RewritingSite(tmp_path, "PUT", SLOS, lambda body: body.update(description="ours"))
    site.apply(manifest("SLO/checkout", SLO_SPEC))

    site.apply(manifest("SLO/checkout", {**SLO_SPEC, "description": "mine"}))

    assert_settled(site, manifest("SLO/checkout", {**SLO_SPEC, "description": "mine"}))


def test_rewritten_policies(tmp_path: Path) -> None:
    """Policies are rewritten by name, wherever they stand."""
    site = RewritingSite(tmp_path, "POST", "*/atomicOverwriteLogPolicies", describe_alike)
    declared = policy_set(policy("a"), policy("b"))

    site.apply(declared)

    assert_settled(site, declared)


def test_field_that_does_not_go(tmp_path: Path) -> None:
    """A field that the plan removes and the service keeps is told, as no plan would show it."""

    def keep_description(body: dict[str, Any]) -> None:
        body.setdefault("description", "kept by the service")

    site = RewritingSite(tmp_path, "PUT", SLOS, keep_description)
    site.apply(manifest("SLO/checkout", {**SLO_SPEC, "description": "mine"}))

    applied = site.apply(manifest("SLO/checkout", SLO_SPEC))

    ((told,),) = applied.rewritten.values()
    assert (told.path, told.after) == (("description",), "kept by the service")
