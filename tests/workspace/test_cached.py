"""What was kept of unchanged files is what reading them again gives, whatever changed beside."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from harness.workspaces import Workspace

from reconciler.features.policy_samples.policy_impact import PolicySample, Samples
from reconciler.model import Exemption, Manifest, Member, Ref, Source
from reconciler.operations import open_project
from reconciler.project import ProjectFile
from reconciler.redaction.templates import RefHole, Template
from reconciler.runtime.cache import VARIABLE, open_cache
from reconciler.syntax.diagnostic import Advice, Complaint, Excerpt, Severity, Suppressed
from reconciler.syntax.expressions import find_sealed
from reconciler.syntax.files import Files
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.read_text import read_text
from reconciler.workspace import workspace
from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import Workspace as Made

pytestmark = pytest.mark.slow

KEY = "hunter2-hunter2"
EXEMPT = "  exempt: {L201: {reason: agreed, until: 2999-01-01}}\n"
TEXTS = {
    "reconciler.yaml": """\
manifests: [.]
exclude: [left/*]
checks: {L201: error}
rules:
  - {name: named, kinds: [SLO], check: "resource.spec.name != 'Checkout'", message: another name,
     severity: warning}
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
    variables: {title: Checkout, teams: [a, b]}
    policySamples: samples.yaml
  other:
    emulator: {data: .reconciler/other.db}
    journal: .reconciler/other.journal.jsonl
    variables: {title: Other, teams: [c]}
""",
    "slo.yaml": """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout, labels: {team: a}}
spec:
  name: ${var:title}
  description: "of ${var:title}"
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
overrides:
  other: {targetThresholdPercentage: 99}
""",
    "alert.yaml": """\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata:
  name: budget
  id: 2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11
  exempt: {L201: {reason: agreed, until: 2999-01-01}}
spec:
  name: "Budget ${secret:KEY}"
  type: ALERT_DEF_TYPE_SLO_THRESHOLD
  sloThreshold:
    sloDefinition: {sloId: "${ref:SLO/checkout}"}
    errorBudget: {rules: [{condition: {threshold: 10}}]}
""",
    "views.yaml": """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: "errors-${each:team}"}
forEach: [{team: a}, {team: b}]
spec:
  name: "Errors of ${each:team}"  # reconciler: ignore[L601] as it is
  timeSelection: ${file:parts/time.yaml}
""",
    "policies.yaml": """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {name: all}
spec:
  policies:
    - logRules: {severities: [SEVERITY_ERROR]}
      policy: {name: a, description: d, priority: PRIORITY_TYPE_HIGH}
""",
    "samples.yaml": "- {application: shop, subsystem: till, severity: error, policy: a}\n",
    "parts/time.yaml": "quickSelection: {seconds: 900}\n",
    "board.yaml": """\
apiVersion: reconciler/v1
kind: Dashboard
metadata: {name: board}
spec: {file: board.json}
""",
    "board.json": json.dumps({"name": "Board", "layout": {"sections": []}}),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a project with all that reading can come upon, and a cache of its own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("KEY", KEY)
    workspace = Workspace(tmp_path / "project")
    for name, text in TEXTS.items():
        workspace.write(name, text)
    return workspace


def outcome(world: Workspace, *flags: str) -> tuple[Any, ...]:
    """Give all that `validate` and `plan` say."""
    checked = world.run("validate", "--format", "json", "-e", "local", *flags)
    planned = world.run("plan", "--format", "json", "-e", "local", *flags)
    return checked.code, checked.out, planned.code, planned.out, planned.err


def both(world: Workspace, *flags: str) -> tuple[Any, ...]:
    """Give what is said with the cache, which is what is said without it."""
    found = outcome(world, *flags)
    assert found == outcome(world, "--no-cache", *flags)
    return found


def test_it_is_used(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing changed, no text is parsed a second time."""
    first = outcome(world)
    monkeypatch.setattr("reconciler.syntax.read_text.read_text", lambda *_, **__: 1 / 0)
    lines = world.root / "reconciler.yaml"

    again = world.run("validate", "--format", "json", "-e", "local")

    assert lines.exists()
    assert (again.code, again.out) == first[:2]


def _replaced(name: str, old: str, new: str) -> Callable[[Workspace], None]:
    def change(world: Workspace) -> None:
        text = (world.root / name).read_text()
        assert old in text
        world.write(name, text.replace(old, new))

    return change


def _removed(name: str) -> Callable[[Workspace], None]:
    return lambda world: (world.root / name).unlink()


def _linked_out(world: Workspace) -> None:
    world.write("../outside.json", TEXTS["board.json"])
    _removed("board.json")(world)
    (world.root / "board.json").symlink_to("../outside.json")


CHANGES: dict[str, Callable[[Workspace], object]] = {
    "a manifest": _replaced("slo.yaml", "99.9", "99.5"),
    "an export": _replaced("board.json", "Board", "Boards"),
    "an included file": _replaced("parts/time.yaml", "900", "901"),
    "a sample": _replaced("samples.yaml", "policy: a", "policy: b"),
    "a manifest is gone": _removed("board.yaml"),
    "an export is gone": _removed("board.json"),
    "an included file is gone": _removed("parts/time.yaml"),
    "another manifest": lambda one: one.write("more.yaml", TEXTS["slo.yaml"]),
    "what is left out": _replaced("reconciler.yaml", "left/*", "slo.yaml"),
    "a level": _replaced("reconciler.yaml", "L201: error", "L201: off, M209: off, L302: error"),
    "a rule": _replaced("reconciler.yaml", "another name", "a better name"),
    "a variable": _replaced("reconciler.yaml", "title: Checkout", "title: Till"),
    "an override": _replaced("slo.yaml", "  other: {", "  local: {"),
    "a comment that ignores": _replaced(
        "slo.yaml", "{var:title}\n", "{var:title}  # reconciler: ignore[R/named] wanted\n"
    ),
    "an exemption": _replaced("alert.yaml", EXEMPT, ""),
    "lines that moved": lambda one: one.write("slo.yaml", "# moved\n" + TEXTS["slo.yaml"]),
    "a file that git ignores": lambda one: one.write(".gitignore", "board.yaml\n"),
    "a link that leads out": _linked_out,
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_is_read(world: Workspace, name: str) -> None:
    """Whatever a workspace depends on: where it changed, what was kept does not hold."""
    before = both(world)

    CHANGES[name](world)

    assert both(world) != before


def test_another_secret(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret of another value, and one that is not set, are what they are now."""
    before = both(world)

    monkeypatch.setenv("KEY", "another-value")
    changed = both(world)
    monkeypatch.delenv("KEY")
    unset = both(world)

    assert len({before[2:], changed[2:], unset[2:]}) == 3


def test_what_must_not_be_sent(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the process that stands in a manifest is refused, though nothing else changed."""
    world.write("slo.yaml", TEXTS["slo.yaml"].replace("of ${var:title}", "of a-key-of-a-job"))
    before = both(world)

    monkeypatch.setenv("RECONCILER_API_KEY", "a-key-of-a-job")

    assert "M505" in both(world)[1]
    assert "M505" not in before[1]


def test_another_selection(world: Workspace) -> None:
    """What is selected is no part of what was kept for all."""
    everything = both(world)

    chosen = both(world, "--select", "kind=SLO")
    without = both(world, "--exclude", "kind=SLO,label.team=a")

    assert len({everything, chosen, without}) == 3


def test_another_environment(world: Workspace) -> None:
    """One environment is not taken for another, nor for all of them."""
    here = both(world)
    elsewhere = world.run("validate", "--format", "json", "-e", "other")
    whole = world.run("validate", "--format", "json")

    assert (
        elsewhere.out == world.run("validate", "--format", "json", "-e", "other", "--no-cache").out
    )
    assert whole.out == world.run("validate", "--format", "json", "--no-cache").out
    assert both(world) == here


def test_another_folder(world: Workspace, tmp_path: Path) -> None:
    """Another project with the same files is another."""
    both(world)
    other = Workspace(tmp_path / "other")
    for name, text in TEXTS.items():
        other.write(name, text)

    assert both(other)[0] == both(world)[0]


def test_exemptions_end(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was exempted until a day is complained of after it."""
    before = both(world)

    monkeypatch.setattr(open_project, "now", lambda: datetime(2999, 1, 2, tzinfo=UTC))

    assert both(world) != before


def test_another_program(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version of the program read is nothing to this one."""
    both(world)
    monkeypatch.setattr(workspace, "program", lambda: "another")
    monkeypatch.setattr("reconciler.syntax.read_text.read_text", lambda *_, **__: 1 / 0)

    assert world.run("validate", "-e", "local").code == 1


def test_no_secret_is_kept(world: Workspace, tmp_path: Path) -> None:
    """Neither a secret nor its seal stands in what is kept."""
    sealed = find_sealed(outcome(world)[3])
    assert sealed is not None

    kept = b"".join(path.read_bytes() for path in (tmp_path / "cache").glob("*.entry"))

    assert b"checkout" in kept
    assert KEY.encode() not in kept
    assert sealed[2].encode() not in kept


ITEM = Member(2, "team: a", 3)
WARNED = Complaint(
    "a.yaml",
    2,
    3,
    code="L201",
    message="said",
    suggestion=Advice("do it"),
    severity=Severity.WARNING,
    excerpt=Excerpt(((1, "a"), (2, "b")), 1, 2),
    ref="SLO/a",
    path=("a", 0),
    environments=("local",),
    item=ITEM,
    begun=1,
)
DECLARED = Manifest(
    Ref("SLO", "a"),
    {"a": [1, 1.0, None, "x", True, {}], "b": Template((RefHole(Ref("SLO", "b")), "!"))},
    Source("a.yaml", 2, 3, ITEM),
    remote_id=7,
    labels={"team": "a"},
    references=frozenset([Ref("SLO", "b")]),
    protect=True,
    exempt={"L201": Exemption("why", date(2025, 1, 31)), "L202": Exemption("why")},
)
SAMPLES = Samples((PolicySample("shop", "till", "SEVERITY_ERROR", "a", expects=True),), "rollback")
WHOLE = Made(
    manifests=(DECLARED,),
    complaints=(WARNED, replace(WARNED, file="b.yaml", suggestion="text", excerpt=None, item=None)),
    elsewhere=(Ref("SLO", "c"), Ref("SLO", "d")),
    files=3,
    read=(Path("a.yaml"),),
    suppressed=(Suppressed(WARNED, "why"),),
    idle=(WARNED,),
    left_out=(replace(DECLARED, source=Source("b.yaml", 1)),),
    unheeded=2,
    side_files={"policySamples": SAMPLES},
    unselected=(Ref("SLO", "d"),),
    beside=(replace(DECLARED, source=Source("c.yaml", 1)),),
)


@pytest.mark.parametrize("one", [WARNED, DECLARED, WHOLE, SAMPLES])
def test_samples_have_no_defaults(one: Any) -> None:
    """What the next law is held against has something of its own in every field."""
    assert [field.name for field in fields(one) if getattr(one, field.name) == field.default] == []


def _whole(value: Any) -> Any:
    """Give all that a value is made of, fields that equality leaves out too."""
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value), *(_whole(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, Template):
        return [Template, *map(_whole, value.parts)]
    if isinstance(value, tuple | list):
        return [*map(_whole, value)]
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in value.items()}
    return [type(value), value]


def test_nothing_is_left_behind(world: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a workspace holds is there again, field by field, those of tomorrow too."""
    monkeypatch.setattr(workspace, "_load", lambda *_: WHOLE)
    scope = Scope("local")
    kept = open_cache(os.environ, world.root)

    def load() -> Made:
        found = workspace.load_workspaces([world.root], world.root, [scope], cache=kept)
        return found["local"]

    first = load()
    monkeypatch.setattr(workspace, "_load", lambda *_: 1 / 0)

    assert _whole(replace(load(), read=WHOLE.read)) == _whole(first)


def test_what_is_wrong_is_read_again(world: Workspace, tmp_path: Path) -> None:
    """Of a workspace with errors nothing is kept."""
    world.write("slo.yaml", "kind: [")

    assert both(world)[0] == 4
    assert not [*(tmp_path / "cache").glob("*.entry")]


def test_any_order_of_events(world: Workspace) -> None:
    """Changes in any order, some of them taken back, never show anything but what there is."""
    events = random.Random(3)  # noqa: S311 - no secret
    for _ in range(12):
        _happen(world, events)
        both(world)


def _happen(world: Workspace, events: random.Random) -> None:
    """Let something change, or be as it was in the beginning."""
    if events.random() < 0.4:
        for name in events.sample([*TEXTS], 3):
            (world.root / name).unlink(missing_ok=True)
            world.write(name, TEXTS[name])
        return
    # What a change would be about may not be there any more.
    with suppress(AssertionError, OSError):
        CHANGES[events.choice([*CHANGES])](world)


def test_no_part_of_a_scope_is_forgotten(tmp_path: Path) -> None:
    """Each field of what a reading depends on is in the key, or is known to be left out."""
    scope = Scope("local")
    about = workspace.about_scope(scope, open_cache({VARIABLE: str(tmp_path)}, tmp_path))

    assert about.keys() | workspace.LEFT_OUT == {field.name for field in fields(Scope)}
    assert about.keys().isdisjoint(workspace.LEFT_OUT)


def test_each_part_is_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever decides what a workspace is makes another key: a place, a setting, a moved line."""
    text = "environments: {local: {}}\n"

    def lookup(settings: dict[str, object], written: str) -> workspace.Lookup:
        made = ProjectFile.model_validate(settings)
        made.note_text(DocumentText("reconciler.yaml", read_text(written).documents[0]))
        return workspace.Lookup(
            cache=open_cache({VARIABLE: str(tmp_path)}, tmp_path),
            found=Files(tmp_path),
            roots=(tmp_path,),
            settings=made,
            scopes=(Scope("local"),),
        )

    plain = lookup({}, text)
    others = [
        lookup({}, f"# moved\n{text}"),
        lookup({"exclude": ["left/*"]}, text),
        replace(plain, found=Files(tmp_path / "elsewhere")),
        replace(plain, roots=(tmp_path, tmp_path / "elsewhere")),
        replace(plain, scopes=(Scope("other"),)),
    ]
    keys = {other.key for other in (plain, *others)}
    assert lookup({}, text).key == plain.key
    monkeypatch.setattr(workspace, "FORMAT", workspace.FORMAT + 1)

    assert len(keys | {plain.key}) == len(others) + 2
