"""Runs that fail, with a canary for a key and one for a secret: neither is found anywhere.

`CANARY_RUNS=1000` makes the long run of it; what a run was follows from its number.
"""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from urllib.parse import quote, quote_plus

import pytest
from harness.doors import KEY, Ran, environment, in_a_process, lines_with_formats, typed_at
from harness.served import Served, served
from harness.workspaces import workspace

RUNS = int(os.environ.get("CANARY_RUNS", "24"))
REAL_PROCESSES = max(3, RUNS // 20)
ODD_KEY = 'canary/8d1f77+"&<%>=key'
SECRET = 'canary s3cr3t/"7c"&<é>'  # noqa: S105 - what is looked for

FORMS: tuple[Callable[[str], str], ...] = (
    str,
    quote,
    lambda text: quote(text, safe=""),
    lambda text: quote(quote(text)),
    quote_plus,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(json.dumps(text))[3:-3],
    html.escape,
    lambda text: "".join(f"&#{ord(one)};" for one in text),
    lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    lambda text: text.encode().hex(),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    lambda text: base64.b64encode(b"Bearer " + text.encode()).decode(),
    lambda text: base64.b64encode(b"me:" + text.encode() + b":you").decode(),
)
COMMANDS = (
    *("plan", "plan --format json", "plan --format markdown", "plan --format html", "plan -v"),
    *("plan --out plan.json", "apply --yes", "apply --yes", "apply --yes --format json"),
    *(
        "apply --yes -v",
        "drift",
        "drift --format json",
        "adopt --all",
        "validate",
        "apply --expect sha256:0",
    ),
    *("adopt --all", "rollback last --yes", "rollback last --live --dry-run --format json"),
    *("journal show", "journal verify", "doctor", "incidents list", "usage", "policies list"),
    *("import dashboard checkout", "import --from .", "import --all --format json"),
    *("events list", "cases list", "conformance", "incidents close x --yes", "plan --nonsense"),
)
BAD_MANIFESTS = (
    "a: [",
    "apiVersion: reconciler/v1\nkind: SLO\nmetadata: {name: x}\nspec: {name: '${secret:TOKEN}'",
    "apiVersion: reconciler/v1\nkind: Nothing\nmetadata: {name: x}\nspec: {a: '${secret:TOKEN}'}\n",
    "apiVersion: reconciler/v1\nkind: SLO\nmetadata: {name: '${secret:TOKEN}'}\nspec: {}\n",
    "apiVersion: reconciler/v1\nkind: SLO\nmetadata: {name: x}\nspec: {nam: '${secret:TOKEN}'}\n",
    "x: ${secret:LOST}\n",
)
GOOD = """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: checkout}
spec:
  dashboard: {name: Checkout, description: "a ${secret:TOKEN} z", layout: {sections: []}}
---
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: errors}
spec:
  name: "${secret:TOKEN}"
  timeSelection: {quickSelection: {seconds: 900}}
"""


def pieces(text: str) -> Iterator[str]:
    """Yield what would tell a text: its own letters, and those of each form of it."""
    yield text
    for form in FORMS:
        yield form(text)
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + text.encode()).decode()
        yield encoded[4:-4]


PIECES = {piece for secret in (KEY, ODD_KEY, SECRET) for piece in pieces(secret)}


def fault(rng: Random, key: str) -> dict[str, Any]:
    """Give what the service does, most often with the secrets in what it says."""
    said = " ".join(rng.choice(FORMS)(one) for one in (key, SECRET, key))
    padded = "x" * rng.choice((0, 400, 490)) + said
    body = rng.choice((padded, json.dumps({"message": padded}), json.dumps({"error": [padded]})))
    status = rng.choice((200, 400, 401, 403, 404, 409, 418, 422, 500, 501, 503))
    headers = {"Content-Type": rng.choice(("application/json", f"text/{quote(key, safe='')}"))}
    location = {"Location": f"https://elsewhere.test/?k={quote(key, safe='')}"}
    return rng.choice(
        (
            {"status": status, "body": body},
            {"status": status, "body": body, "headers": headers},
            {"status": status, "body": body, "commit": True},
            {"status": 307, "body": "", "headers": location},
            {"truncate": rng.randint(0, 40)},
            {"drop": "after"},
            {},
        )
    )


def rule(rng: Random, key: str) -> dict[str, Any]:
    """Give one rule for the service: to all, or to writes only."""
    method = rng.choice(({}, {}, {"method": "POST"}, {"method": "PUT"}, {"method": "GET"}))
    return {**method, "fault": fault(rng, key)}


def one_run(number: int, folder: Path, service: Served) -> Ran:
    """Make the run of a number: a command, a workspace, a key and a fault."""
    rng = Random(number)  # noqa: S311 - repeatable, not secret
    key = rng.choice((KEY, KEY, ODD_KEY))
    if rng.random() < 0.2:
        (folder / "bad.yaml").write_text(rng.choice(BAD_MANIFESTS), encoding="utf-8")
    chosen = rule(rng, key)
    if chosen["fault"]:
        service.switch.misbehave(chosen)
    else:
        service.switch.behave()
    more = {"RECONCILER_API_KEY": key, "TOKEN": SECRET}
    arguments = rng.choice(COMMANDS).split()
    if number < REAL_PROCESSES:
        return in_a_process(folder, service.base_url, *arguments, more=more)
    return one_line(folder, arguments, service, key)


def one_line(folder: Path, arguments: list[str], service: Served, key: str) -> Ran:
    """Run one command line in this process."""
    more = {"RECONCILER_API_KEY": key, "TOKEN": SECRET}
    with (
        mock.patch("reconciler.api.retry.BASE_SECONDS", 0.0),
        # What an earlier run knew to hide, a process of its own would not.
        mock.patch("reconciler.cli.console._redaction", []),
    ):
        return typed_at(folder, environment(service.base_url, **more), *arguments)


def found_in(folder: Path, ended: Ran) -> list[str]:
    """Name where a canary is: stdout, stderr, or a file that the run left."""
    texts = {"stdout": ended.out, "stderr": ended.err}
    for file in folder.rglob("*"):
        if file.is_file():
            texts[file.name] = file.read_bytes().decode("utf-8", "replace")
    return [f"{name}: {piece}" for name, text in texts.items() for piece in PIECES if piece in text]


def test_failing_runs(tmp_path: Path) -> None:
    """In no output and no file of any failing run is a form of the key or of a secret."""
    failed, number, leaks = 0, 0, []
    with served() as service:
        while failed < RUNS:
            folder = workspace(tmp_path / str(number), GOOD)
            ended = one_run(number, folder, service)
            failed += ended.code != 0
            leaks += [f"run {number}: {leak}" for leak in found_in(folder, ended)]
            assert "Traceback" not in ended.err, number
            assert "internal error" not in ended.err, (number, ended.err)
            number += 1

    assert leaks == []


@pytest.mark.promise("P55")
def test_every_format(tmp_path: Path) -> None:
    """In no format of any command is a form of the key or of a secret."""
    with served() as service:
        folder = workspace(tmp_path / "shop", GOOD)
        lines = list(lines_with_formats())
        leaks = [
            f"{line}: {leak}"
            for line in ("apply --new-journal --yes", *lines)
            for leak in found_in(folder, one_line(folder, line.split(), service, KEY))
        ]

    assert len(lines) > 40
    assert leaks == []


def test_the_search_finds() -> None:
    """A canary in any form is found by the search above: it is not blind."""
    for form in FORMS:
        assert found_in(Path("nowhere"), Ran(1, "", f"error: {form(SECRET)}."))
