"""`import --parameterise` with odd exports: each environment keeps its own, or that is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness.workspaces import Shop

from reconciler.document import value_at

PROJECT = """\
# ours
manifests: [manifests]
environments:
  staging: {emulator: {data: demo.db}, journal: own.jsonl}
  production: {emulator: {data: demo.db}, journal: other.jsonl}
"""
ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a1"
IMPORT = ("import", "--from", "staging.json", "production.json", "--parameterise")
BOTH = "staging,production"
PROMQL = ("metricThreshold", "metricFilter", "promql")


def exported(shop: Shop, *texts: Any, **more: Any) -> None:
    """Write an export of one alert from each environment, whose query is of that one."""
    shop.settle(PROJECT)
    for number, (name, text) in enumerate(zip(("staging", "production"), texts, strict=True)):
        properties = {
            "name": "Errors",
            "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
            "metricThreshold": {"metricFilter": {"promql": text}},
            **{key: values[number] for key, values in more.items()},
        }
        alert = {"id": f"{ID}{number}", "alertDefProperties": properties}
        shop.write(f"{name}.json", json.dumps(alert))


def declared(shop: Shop, environment: str, *path: str) -> Any:
    """Give what a manifest declares in an environment that nothing is known of."""
    planned = shop.run("plan", "-e", environment, "--format", "json")
    assert planned.code == 0, planned.err
    (change,) = planned.json["changes"]
    fields = {field["path"][0]: field["after"] for field in change["fields"]}
    return value_at(fields, path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('say "a"', 'say "b"'),
        ("it's a", "it's b"),
        ("line\none", "line\ntwo"),
        ("a\r\nb", "a\r\nc"),
        ("${var:x}", "${var:y}"),
        ("${secret:HOME}", "${secret:PATH}"),
        ("${", "}"),
        ("a: b", "# a"),
        ("true", "1"),
        ("null", ""),
        ("{{a}}", "*b"),
        (" lead", "trail "),
        ("a\u2028b", "a\u2028c"),
    ],
)
def test_odd_values(shop: Shop, one: str, other: str) -> None:
    """Whatever a value holds, it is meant as it stands: each environment declares its own."""
    exported(shop, f"up {one}", f"up {other}")

    ran = shop.run(*IMPORT, BOTH, "-e", "staging")

    assert ran.code == 0, ran.err
    planned = shop.run("plan", "-e", "staging", "--format", "json").json
    assert [change["action"] for change in planned["changes"]] == ["keep"]
    assert declared(shop, "production", *PROMQL) == f"up {other}"


def test_true_is_not_one(shop: Shop) -> None:
    """Where one environment says true and another 1, neither takes the value of the other."""
    exported(shop, "up", "up", opaque=({"deep": [True]}, {"deep": [1]}))

    assert shop.run(*IMPORT, BOTH, "-e", "staging").code == 0

    assert declared(shop, "production", "opaque", "deep") == [1]
    assert declared(shop, "production", "opaque", "deep")[0] is not True


def test_other_shapes(shop: Shop) -> None:
    """Exports that differ in form become a manifest each, limited to its environment."""
    exported(shop, "up", "up", incidentsSettings=({"minutes": 5}, {"other": 5}))

    ran = shop.run(*IMPORT, BOTH, "-e", "staging", "--format", "json")

    assert [value["ref"] for value in ran.json["imported"]] == [
        "AlertDefinition/errors-staging",
        "AlertDefinition/errors-production",
    ]
    assert "more than single" in ran.json["skipped"][0]["why"]


@pytest.mark.parametrize("held", ["canary-token-1", "before canary-token-1 after"])
def test_secret_among_values(shop: Shop, held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that one environment holds in clear is written into no file, and not shown."""
    exported(shop, "up plain", f"up {held}")
    shop.write(
        "manifests/secret.yaml",
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata: {name: held}\n"
        "spec: {dashboard: {name: Held, description: '${secret:TOKEN}'}}\n",
    )
    monkeypatch.setenv("TOKEN", "canary-token-1")

    ran = shop.run(*IMPORT, BOTH, "-e", "staging")

    assert ran.code == 4
    assert "canary" not in ran.out + ran.err
    assert (shop.root / "reconciler.yaml").read_text() == PROJECT
    assert not [path for path in shop.root.rglob("manifests/**/*") if "canary" in _text(path)]


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("staging,prod", "no environment"),
        ("staging,staging", "different environments"),
        ("staging", "two environments"),
        ("staging,", "two environments"),
        ("staging,${var:x}", "no environment"),
        ("staging,\x1b[31m", "no environment"),
    ],
)
def test_environments_that_are_none(shop: Shop, names: str, said: str) -> None:
    """Names that are no environments of the project are a usage error, and nothing is written."""
    exported(shop, "up 1", "up 2")

    ran = shop.run(*IMPORT, names, "-e", "staging")

    assert ran.code == 64
    assert said in ran.err
    assert "\x1b" not in ran.err
    assert not list(shop.root.rglob("errors*.yaml"))
