"""`reconciler approve` on a real terminal, and where there is none."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from approving import Repository, needs_openssh
from harness.doors import Shown, on_terminal, typed
from harness.repositories import git
from harness.workspaces import SLO, VIEW

from reconciler.report.changes.field_changes import pieces
from reconciler.report.plan import document as plan_file

pytestmark = needs_openssh

INVALID, REFUSED, USAGE = 4, 11, 64
LONG = "sum(rate(http_requests_total{job='checkout',code!~'5..'}[5m])) by (zone) " * 3
LINES = "First the shop.\nThen a line that is long enough to be broken on a narrow terminal, twice."


def approve(
    here: Repository, answer: str, name: str = "alice", *more: str, width: int = 80
) -> Shown:
    """Approve `plan.json` on a terminal, as a person who gives one answer; "" has the usual key."""
    key = ("--key", str(here.keys.of(name))) if name else ()
    line = ("approve", str(here.plan_file), *key, *more)
    home = {"HOME": str(here.root / ".reconciler")}
    return on_terminal(line, here.root, width=width, typed=f"{answer}\n", more=home)


def approvals(here: Repository) -> list[Path]:
    """Return the approvals next to the plan."""
    return sorted(here.root.glob("*.approval"))


def without_blanks(text: str) -> str:
    """Return a text without colours, blanks and line ends."""
    return re.sub(r"\x1b\[[0-9;]*m|\s", "", text)


def without_marks(text: str) -> str:
    """Return a text without blanks, and without the signs of lines that are broken or changed."""
    return re.sub(r"[-+~↩]", "", without_blanks(text))


POLICIES = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: all}
spec:
  policies:
    - logRules: {severities: [SEVERITY_ERROR]}
      policy: {name: All errors, description: d, priority: PRIORITY_TYPE_HIGH}
    - logRules: {severities: [SEVERITY_INFO]}
      policy: {name: A few words, description: d, priority: PRIORITY_TYPE_LOW}
"""


def leaves(value: object) -> Iterator[str]:
    """Yield the words of a value: its names and values, and each piece of a long text."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from (str(name), *leaves(inner))
        case list():
            for inner in value:
                yield from leaves(inner)
        case str():
            yield from pieces(value)
        case _:
            yield json.dumps(value)


@pytest.mark.parametrize("width", [60, 200])
def test_all_is_shown(repository: Repository, width: int) -> None:
    """Each change and each value is shown whole, on lines that fit, and `yes` signs the plan."""
    old = "\n".join(f"Line {number} of the text." for number in range(40))
    text = SLO.replace("query: good", f'query: "{LONG}"').replace(
        "  name: Checkout\n", f"  name: Checkout\n  description: {json.dumps(old)}\n"
    )
    gone = "  labels: {team: payments}\n"
    repository.write("manifests/slo.yaml", text + gone)
    repository.write("manifests/policies.yaml", POLICIES)
    first = repository.run("apply", "--yes", "--break-glass", "the first", "--allow-destroy")
    assert first.code == 0, first.err
    text = text.replace("99.9", "99.5").replace("rate(", "irate(")
    text = text.replace(json.dumps(old), json.dumps(old.replace("Line 7", LINES)))
    repository.write("manifests/slo.yaml", text)
    repository.write("manifests/policies.yaml", POLICIES[: POLICIES.rindex("    - log")])
    repository.write("manifests/view.yaml", VIEW)
    document = repository.planned()

    shown = approve(repository, "yes", width=width)

    assert shown.code == 0, shown.terminal
    bare = without_marks(shown.terminal)
    changes = [change for change in document["changes"] if change["action"] != "keep"]
    fields = [field for change in changes for field in change["fields"]]
    assert {change["action"] for change in changes} == {"create", "update"}
    assert {"add", "change", "remove"} <= {field["operation"] for field in fields}
    expected = [change["ref"] for change in changes]
    expected += [f"destroys {name}" for change in changes for name in change["destroys"]]
    expected += [".".join(map(str, field["path"])) for field in fields]
    for field in fields:
        expected += [*leaves(field.get("before", "")), *leaves(field.get("after", ""))]
    guards = [guard for guard in document["guards"] if guard["code"] != "not-approved"]
    expected += [word for guard in guards for word in (guard["code"], guard["message"])]
    assert {"destroys", "slo-target-lowered"} <= {guard["code"] for guard in guards}
    assert any(change["destroys"] for change in changes)
    assert [text for text in expected if without_marks(text) not in bare] == []
    assert document["digest"] in without_blanks(shown.terminal)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.terminal.splitlines()]
    assert [line for line in lines if len(line) > width and " " in line.strip(" -+")] == []
    (file,) = approvals(repository)
    assert file.name == "plan.json.alice.approval"
    assert file.stat().st_mode & 0o077 == 0
    second = approve(repository, "yes", "carol", width=width)
    assert second.code == 0, second.terminal
    given = [word for file in approvals(repository) for word in ("--approval", str(file))]
    given += ["--allow-destroy"]
    ran = repository.run("apply", "--plan", str(repository.plan_file), *given)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("answer", "name", "more", "code"),
    [
        ("y", "alice", (), 0),
        ("", "alice", (), 0),
        ("YES", "alice", (), 0),
        ("no", "alice", (), 0),
        ("yes", "mallory", (), REFUSED),
        ("yes", "nobody", (), USAGE),
        ("yes", "alice", ("--for", "8d"), USAGE),
        ("yes", "alice", ("--for", "0m"), USAGE),
        ("yes", "alice", ("-e", "staging"), USAGE),
    ],
)
def test_nothing_is_signed(
    repository: Repository, answer: str, name: str, more: tuple[str, ...], code: int
) -> None:
    """Any answer but `yes`, a stranger's key and wrong options write no approval."""
    repository.planned()

    shown = approve(repository, answer, name, *more)

    assert (shown.code, approvals(repository)) == (code, [])


def of_git(here: Repository) -> None:
    git(here.root, "config", "user.signingKey", str(here.keys.of("bob")))
    usual(here)


def usual(here: Repository) -> None:
    """Put keys of all sorts into the home of the person."""
    folder = here.root / ".reconciler" / ".ssh"
    folder.mkdir(parents=True)
    for kind, person in {"rsa": "carol", "ecdsa": "dave", "ed25519": "alice"}.items():
        shutil.copy(here.keys.of(person), folder / f"id_{kind}")


def of_no_file(here: Repository) -> None:
    git(here.root, "config", "user.signingKey", "0123ABCD")
    usual(here)


@pytest.mark.parametrize(
    ("keys_of", "signer"),
    [(of_git, "bob"), (usual, "alice"), (of_no_file, "alice"), (lambda _: None, None)],
)
def test_usual_key(
    repository: Repository, keys_of: Callable[[Repository], None], signer: str | None
) -> None:
    """Without --key, the key of git signs, else the first usual key, else none does."""
    repository.planned()
    keys_of(repository)

    shown = approve(repository, "yes", "")

    assert shown.code == (0 if signer else USAGE), shown.terminal
    assert [file.name for file in approvals(repository)] == (
        [f"plan.json.{signer}.approval"] if signer else []
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"target": "https://api.example.com"}, USAGE),
        ({"environment": "staging"}, USAGE),
        ({"changes": "blocked"}, INVALID),
    ],
)
def test_a_plan_that_is_not_signed(
    repository: Repository, change: dict[str, str], code: int
) -> None:
    """A plan of another place, and one with blocked resources, cannot be signed."""
    document: dict[str, Any] = {**repository.planned()}
    if change.get("changes"):
        change = {}
        document["changes"][0]["action"] = "blocked"
    document = {**document, **change}
    document["sum"] = plan_file._sum_of(document)
    repository.plan_file.write_text(json.dumps(document), encoding="utf-8")

    shown = approve(repository, "yes", "alice", "-e", "production")

    assert (shown.code, approvals(repository)) == (code, []), shown.terminal


def test_no_terminal(repository: Repository) -> None:
    """Without a terminal no approval is signed, whatever comes by a pipe."""
    repository.planned()
    line = ("approve", str(repository.plan_file), "--key", str(repository.keys.of("alice")))

    assert typed(*line).code == USAGE
    assert approvals(repository) == []
