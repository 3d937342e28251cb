"""A service whose key or path is spelled otherwise: every command says what to try."""

from __future__ import annotations

import httpx
import pytest
from harness.golden import Golden
from harness.wire import NEARBY, standing_in
from harness.workspaces import Shop

POLICIES = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: policies}
spec: {policies: []}
"""
COMMANDS = (
    *("plan", "apply --yes", "policies list"),
    *("events list", "incidents list", "doctor", "conformance"),
)
RAW_HINT = (
    "the key went as it is; where the service wants `Bearer KEY`, "
    "set `authorization: bearer` in reconciler.yaml"
)
BEARER_HINT = (
    "the key went as `Bearer KEY`; where the service wants it as it is, "
    "set `authorization: raw` in reconciler.yaml"
)
JSON, HTML = "application/json", "text/html"
WRONG_ROUTES = {
    "no such route": (404, b'{"code": 5, "message": "Not Found"}', JSON),
    "a page": (404, b"<html>", HTML),
    "nothing": (404, b"", "text/plain"),
    "another program": (501, b"", JSON),
    "a redirect": (302, b"", JSON),
    "a page that signs in": (200, b"<html>sign in</html>", HTML),
}


def told(shop: Shop, answer: httpx.Response, settings: str, command: str) -> str:
    """Give what a command says of a service that answers so, and how it is set up."""
    (shop.root / "manifests" / "policies.yaml").write_text(POLICIES, encoding="utf-8")
    with standing_in() as service:
        service.mock(return_value=answer)
        shop.settle(
            f"manifests: [manifests]\nenvironments: {{there: {{baseUrl: '{NEARBY}'{settings}}}}}\n"
        )
        ran = shop.run(*command.split())
    assert "canary" not in ran.out + ran.err
    return ran.out + ran.err


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a key."""
    monkeypatch.setenv("RECONCILER_API_KEY", "canary")


@pytest.mark.promise("P52")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("settings", "hint"), [("", RAW_HINT), (", authorization: bearer", BEARER_HINT)]
)
def test_refused_key(shop: Shop, command: str, settings: str, hint: str) -> None:
    """A 401 says how the key was sent, and the setting for the other way."""
    said = told(shop, httpx.Response(401, json={"message": "who are you?"}), settings, command)

    assert said.count(hint) == 1
    assert "who are you?" in said


@pytest.mark.promise("P52")
@pytest.mark.parametrize("command", ["plan", *COMMANDS[3:]])
@pytest.mark.parametrize(("status", "body", "kind"), WRONG_ROUTES.values(), ids=WRONG_ROUTES)
def test_wrong_route(shop: Shop, command: str, status: int, body: bytes, kind: str) -> None:
    """What is not the API names `basePath`, and that some services stand at a version number."""
    said = told(
        shop, httpx.Response(status, content=body, headers={"Content-Type": kind}), "", command
    )

    assert said.count("to which /mgmt/openapi/latest is added, and `api.basePath`") == 1
    assert "/mgmt/openapi/3" in said


@pytest.mark.promise("P52")
def test_wrong_route_below_a_path_of_ones_own(shop: Shop, golden: Golden) -> None:
    """Where `basePath` is set already, that one is named, and no other is proposed."""
    settings = ", api: {basePath: /mgmt/openapi/4}"
    said = told(shop, httpx.Response(501, json={}), settings, "policies list")

    golden(said)
    assert "/mgmt/openapi/3" not in said


@pytest.mark.promise("P52")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_hint_without_need(shop: Shop, command: str) -> None:
    """An answer that is another trouble hints at neither."""
    said = told(shop, httpx.Response(403, json={"message": "not for you"}), "", command)

    assert "not for you" in said
    assert "authorization:" not in said
    assert "basePath" not in said
