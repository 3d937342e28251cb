"""A secret that is no longer declared still stands live, and no report may quote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.doors import lines_with_formats, typed

from reconciler.document import ABSENT, Json, Shape
from reconciler.redaction.redact import veiled
from reconciler.redaction.templates import HIDDEN

SECRET = "canary-secret-0dd1"  # noqa: S105 - made up, to be looked for
PROJECT = "environments: {local: {emulator: {data: .reconciler/local.db}}}\n"
DECLARED = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: checkout}}
spec:
  dashboard:
    name: Checkout
    layout:
      sections:
        - rows:
            - appearance: {{height: 19}}
              widgets:
                - title: "Orders {0}"
                  definition: {{markdown: {{markdownText: "see {0}"}}}}
---
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {{name: all}}
spec:
  policies:
{1}    - logRules: {{severities: [SEVERITY_ERROR]}}
      policy: {{name: kept, description: "{0}", priority: PRIORITY_TYPE_HIGH}}
"""
GONE = """\
    - logRules: {severities: [SEVERITY_ERROR]}
      policy: {name: gone, description: "${secret:TOKEN}", priority: PRIORITY_TYPE_HIGH}
"""
REPORTS = [
    *(line for line in lines_with_formats() if line.startswith(("plan ", "drift "))),
    "plan -v",
    "apply --yes --allow-destroy",
]


@pytest.fixture
def outlived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply what holds a secret, then declare it without, in an environment that has none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", SECRET)
    Path("reconciler.yaml").write_text(PROJECT, encoding="utf-8")
    manifests = Path("all.yaml")
    manifests.write_text(DECLARED.format("${secret:TOKEN}", GONE), encoding="utf-8")
    assert typed("apply", "--new-journal", "--yes", "-q").code == 0
    monkeypatch.delenv("TOKEN")
    manifests.write_text(DECLARED.format("plain", ""), encoding="utf-8")


@pytest.mark.usefixtures("outlived")
@pytest.mark.parametrize("line", REPORTS)
def test_an_older_secret_is_not_quoted(line: str) -> None:
    """No report of what changes or of what is destroyed shows the secret that is live."""
    said = typed(*line.split())

    assert said.out
    assert SECRET not in said.out + said.err


def test_where_it_stands() -> None:
    """Each place of a secret is hidden and no other; of a list without identity, all of it."""
    sealed = "a ${secret:TOKEN sha256:0123456789abcdef}"
    shape = Shape(fields={"named": Shape(items=Shape(), identity=("id",))})
    live: Json = {
        "plain": "x",
        "secret": "old",
        "named": [{"id": "1", "text": "old"}, {"id": "2", "text": "y"}],
        "bare": ["old", "y"],
        "other": {"form": "old"},
    }
    written: Json = {
        "plain": "z",
        "secret": sealed,
        "named": [{"id": "1", "text": sealed}, {"id": "2", "text": "z"}],
        "bare": ["y", sealed],
        "other": sealed,
    }

    assert veiled(live, [ABSENT, {"plain": "x"}, written], shape) == {
        "plain": "x",
        "secret": HIDDEN,
        "named": [{"id": "1", "text": HIDDEN}, {"id": "2", "text": "y"}],
        "bare": [HIDDEN, HIDDEN],
        "other": HIDDEN,
    }
