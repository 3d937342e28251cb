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
from harness.workspaces import SLO

from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import facts_at
from reconciler.model import NOT_APPROVED
from reconciler.report.labels import spoken_value
from reconciler.report.plan import document as plan_file
from reconciler.report.plan.document import ChangeDocument, PlanDocument
from reconciler.report.words import leaves

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
    """Return a text without colours, blanks and line ends; broken lines are joined."""
    return re.sub(r"↩\s+[-+]?|\s", "", re.sub(r"\x1b\[[0-9;]*m", "", text))


DASHBOARD = """\
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
              widgets: [{widgets}]
"""
WIDGET = (
    "{{title: {}, definition: {{lineChart: {{queryDefinitions: "
    '[{{query: {{metrics: {{promqlQuery: {{value: "{}"}}}}}}}}]}}}}}}'
)
POLICIES = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {{name: all}}
spec:
  policies:
    - logRules: {{severities: [SEVERITY_ERROR]}}
      policy: {{name: errors, description: {text}, priority: PRIORITY_TYPE_HIGH}}
"""
GONE = """\
    - logRules: {severities: [SEVERITY_DEBUG]}
      policy: {name: chatter, description: noise, priority: PRIORITY_TYPE_LOW}
"""


def board(*widgets: tuple[str, str]) -> str:
    """Return a dashboard with widgets of a title and a query."""
    return DASHBOARD.format(widgets=", ".join(WIDGET.format(*widget) for widget in widgets))


def updated(here: Repository) -> PlanDocument:
    """Apply a dashboard, policies and an SLO, and plan other ones into `plan.json`."""
    here.write("manifests/dashboard.yaml", board(("Orders", "orders"), ("Errors", "errors")))
    here.write("manifests/policies.yaml", POLICIES.format(text=json.dumps(LINES)) + GONE)
    here.merged()
    here.planned()
    ran = here.run("apply", "--plan", str(here.plan_file), *here.approved("alice", "bob"))
    assert ran.code == 0, ran.err
    changed = board(("Errors", "errors"), ("Orders", LONG.strip()), ("Latency", "late"))
    here.write("manifests/dashboard.yaml", changed)
    here.write("manifests/policies.yaml", POLICIES.format(text=json.dumps(f"{LINES} More.")))
    text = SLO.replace("99.9", "99").replace("28_DAYS", "7_DAYS")
    here.write("manifests/slo.yaml", text)
    return here.planned()


def created(here: Repository) -> PlanDocument:
    """Plan a new SLO with long values into `plan.json`."""
    text = SLO.replace("query: good", f'query: "{LONG}"').replace(
        "  name: Checkout\n", f"  name: Checkout\n  description: {json.dumps(LINES)}\n"
    )
    here.write("manifests/slo.yaml", text)
    return here.planned()


def spoken(change: ChangeDocument) -> Iterator[str]:
    """Yield each value that a change writes or removes, in the words of a report."""
    spec = BY_NAME[change["kind"]].spec
    for field in change["fields"]:
        if field["operation"] == "move":
            continue
        for value in (field[side] for side in ("before", "after") if side in field):
            for inner, leaf in leaves(value):
                path = (*field["path"], *inner)
                if isinstance(leaf, str) and "\n" in leaf and field["operation"] == "change":
                    yield from leaf.splitlines()
                else:
                    yield spoken_value(leaf, facts_at(spec, path)).strip('"')


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("made", [created, updated])
def test_all_is_shown(
    repository: Repository, width: int, made: Callable[[Repository], PlanDocument]
) -> None:
    """Each value is shown whole, and each label, on lines that fit, and `yes` signs the plan."""
    document = made(repository)

    shown = approve(repository, "yes", width=width)

    assert shown.code == 0, shown.terminal
    words = without_blanks(shown.terminal)
    for change in document["changes"]:
        assert change["ref"] in words
        assert [value for value in spoken(change) if without_blanks(value) not in words] == []
        labels = [field["label"] for field in change["fields"] if "label" in field]
        parts = [part for label in labels for part in label.values()]
        assert [part for part in parts if without_blanks(str(part)) not in words] == []
        assert [name for name in change["destroys"] if f"-destroys{name}" not in words] == []
    said = [g["message"] for g in document["guards"] if g["code"] != NOT_APPROVED]
    assert [message for message in said if without_blanks(message) not in words] == []
    assert document["digest"] in words
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.terminal.splitlines()]
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []
    (file,) = approvals(repository)
    assert file.name == "plan.json.alice.approval"
    assert file.stat().st_mode & 0o077 == 0
    second = approve(repository, "yes", "carol", width=width)
    assert second.code == 0, second.terminal
    given = [word for file in approvals(repository) for word in ("--approval", str(file))]
    flags = ["--allow-destroy"] if made is updated else []
    ran = repository.run("apply", "--plan", str(repository.plan_file), *given, *flags)
    assert ran.code == 0, ran.err


def test_words_of_the_plan(repository: Repository) -> None:
    """Before signing, each line of `plan` about a field is there, but for what it leaves out."""
    updated(repository)
    planned = repository.run("plan", "--verbose").out
    signs = tuple(f"      {sign} " for sign in "~↕")
    fields = [line.strip() for line in planned.splitlines() if line.startswith(signs)]

    shown = approve(repository, "no", width=200)

    assert len(fields) >= len("~~↕")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.terminal)
    assert [line for line in fields if line not in plain] == []
    assert "layout.sections" not in plain
    assert planned.splitlines()[0] in plain


@pytest.mark.parametrize("level", ["review", "explicit"])
def test_consent_of_a_signer(repository: Repository, level: str) -> None:
    """An approval lists a guard, below the heading of consent, exactly if its level is review."""
    document = updated(repository)
    guards = {guard["code"]: guard for guard in document["guards"] if guard["level"] == level}
    guards.pop(NOT_APPROVED, None)

    shown = approve(repository, "yes", width=200)

    (file,) = approvals(repository)
    listed = {guard["code"] for guard in json.loads(file.read_text())["statement"]["guards"]}
    assert guards
    assert (guards.keys() <= listed) is (level == "review")
    consented, _, others = shown.terminal.partition("do not consent")
    part = consented if level == "review" else others
    assert [code for code in guards if f"[{code}]" not in part] == []


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


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("alice", True, ("as alice", "one of the 2 approvals")),
        ("mallory", False, ("mallory", "alice, bob, carol")),
        ("nobody", False, ("nobody",)),
    ],
)
def test_the_signer(repository: Repository, name: str, asked: bool, words: tuple[str, ...]) -> None:
    """Only an approver is asked, and is named; anyone else is refused without a question."""
    repository.planned()

    shown = approve(repository, "no", name, width=200)

    assert ("Type `yes`" in shown.terminal) is asked
    assert [word for word in words if word not in shown.terminal] == []


def test_a_key_without_its_public_half(repository: Repository) -> None:
    """Where the public half is not known, the signature is checked after the question."""
    repository.planned()
    for name in ("alice", "mallory"):
        shutil.copy(repository.keys.of(name), repository.root / ".reconciler" / name)
    keys = repository.root / ".reconciler"

    known = approve(repository, "yes", "bob", "--key", str(keys / "alice"))
    stranger = approve(repository, "yes", "bob", "--key", str(keys / "mallory"))

    assert (known.code, stranger.code) == (0, REFUSED)
    assert "Type `yes`" in stranger.terminal
    assert [file.name for file in approvals(repository)] == ["plan.json.alice.approval"]


@pytest.mark.parametrize(
    ("lasting", "why"),
    [
        ("abc", "no duration"),
        ("30s", "minutes, hours or days"),
        ("0s", "minutes, hours or days"),
        ("0m", "at once"),
        ("8d", "at most 7d"),
    ],
)
def test_a_wrong_duration(repository: Repository, lasting: str, why: str) -> None:
    """A duration that cannot be used is refused with what is wrong with it."""
    repository.planned()

    shown = approve(repository, "yes", "alice", "--for", lasting, width=200)

    assert (shown.code, approvals(repository)) == (USAGE, [])
    assert lasting in shown.terminal
    assert why in shown.terminal


def test_a_rollback(repository: Repository) -> None:
    """A rollback is called one and can be signed, and refusals name the commands that do it."""
    updated(repository)
    given = (*repository.approved("alice", "bob"), "--allow-destroy")
    assert repository.run("apply", "--plan", str(repository.plan_file), *given).code == 0
    run = typed("journal", "history", "--format", "json").json[-1]["run"]
    out = ("--out", str(repository.plan_file))
    assert typed("rollback", run, "--dry-run", *out).code == 0
    written = ("rollback", run, "--plan", str(repository.plan_file))

    shown = approve(repository, "yes", width=200)
    refused = typed(*written, *repository.approved("bob"))
    unplanned = typed("rollback", run, "--yes")

    assert f"before the run {run[:8]}" in shown.terminal
    assert f"`rollback {run[:8]} --plan" in refused.err
    assert f"`rollback {run[:8]} --dry-run" in unplanned.err
    others = repository.approved("alice", "bob", digest=f"sha256:{'0' * 64}")
    err = typed("rollback", run, "--yes", *others).err
    assert err.count(f"`rollback {run[:8]} --plan FILE`") == 1
    assert typed(*written, *repository.approved("alice", "bob")).code == 0


@pytest.mark.parametrize("blocked", [False, True])
def test_a_new_folder(repository: Repository, *, blocked: bool) -> None:
    """`--out` makes the folder of the approval, and refuses a file in its place."""
    repository.planned()
    if blocked:
        repository.write("signed", "a file")
    place = repository.root / "signed" / "production" / "alice.approval"

    shown = approve(repository, "yes", "alice", "--out", str(place))

    assert (shown.code, place.is_file()) == ((4, False) if blocked else (0, True)), shown.terminal


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
    """A plan of another place, and one with blocked resources, cannot be signed; it names them."""
    document: dict[str, Any] = {**repository.planned()}
    named = document["changes"][0]["ref"] if "changes" in change else "production"
    if change.get("changes"):
        change = {}
        document["changes"][0]["action"] = "blocked"
    document = {**document, **change}
    document["sum"] = plan_file._sum_of(document)
    repository.plan_file.write_text(json.dumps(document), encoding="utf-8")

    shown = approve(repository, "yes", "alice", "-e", "production")

    assert (shown.code, approvals(repository)) == (code, []), shown.terminal
    assert named in shown.terminal


def test_a_plan_without_work(repository: Repository) -> None:
    """A plan that has nothing to do is not offered for a signature."""
    repository.planned()
    given = repository.approved("alice", "bob")
    assert repository.run("apply", "--plan", str(repository.plan_file), *given).code == 0
    repository.planned()

    shown = approve(repository, "yes")

    assert (shown.code, approvals(repository)) == (USAGE, [])
    assert "Type `yes`" not in shown.terminal


def test_no_terminal(repository: Repository) -> None:
    """Without a terminal no approval is signed, whatever comes by a pipe."""
    repository.planned()
    line = ("approve", str(repository.plan_file), "--key", str(repository.keys.of("alice")))

    assert typed(*line).code == USAGE
    assert approvals(repository) == []
