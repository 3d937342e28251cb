"""What compare_commits.py plays on both trees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compare_world import KEY, MINUTE, MONDAY, ROOT, World
from harness.forge import NUMBER, TOKEN, pull_request, push, served_forge, variables

SAMPLES = ROOT.parent / "shared" / "samples"

LINES: Mapping[str, Sequence[str]] = {
    "init": ["", "../other --base-url https://api.example.com -e live"],
    "validate": ["", "checkout -v", "--select kind=SLO", "-e production --timings", "no-such-file"],
    "fmt": ["", "--check", "--diff", "--modeline checkout", "--check --select kind=SLO"],
    "rules test": ["", "rules"],
    "test": ["", "--weak"],
    "graph": ["", "-e local --metric http_requests_total", "--uses SLO/checkout-success"],
    "plan": [
        "",
        "-v --exit-code",
        "--select kind=Dashboard",
        "--exclude label.team=payments",
        "--track-record",
        "--out plan.json",
        "-e production",
        "--against HEAD",
        "--watch",
    ],
    "apply": ["", "--yes", "--yes --select kind=SLO", "--yes -q --override-guard because"],
    "approve": ["plan.json", "plan.json --for 8d"],
    "rollback": ["last --dry-run", "last --yes", "last --live --dry-run --out back.json", "no-run"],
    "watch": ["last", "last --remember --fail-on noisier"],
    "drift": ["", "-v", "--remember", "--select kind=Dashboard"],
    "audit": ["", "--days 28 --fail-on warning", "--select kind=SLO"],
    "import": [
        "dashboard checkout --dry-run",
        "policies --to more",
        "--all --to all",
        "--all --dry-run --keep-json",
        "--from search/exports --to imported",
    ],
    "adopt": ["Dashboard/checkout --dry-run", "--all", "--all --theirs", "SLO/no-such"],
    "journal compact": [""],
    "journal forget": ["SLO/checkout-success", "SLO/no-such"],
    "journal history": ["", "Dashboard/checkout"],
    "journal init": [""],
    "journal move": ["--to .reconciler/moved.jsonl", "--base-url https://other.example.com"],
    "journal rename": ["SavedView/checkout-errors SavedView/renamed"],
    "journal settle": ["SLO/checkout-success --never-happened"],
    "journal show": ["", "Dashboard/checkout"],
    "journal stats": ["", "--since 90d"],
    "journal unlock": ["", "0123456789ab"],
    "journal verify": ["", "-v"],
    "journal write-ids": [""],
    "events list": ["", "--since 24h --limit 3"],
    "incidents close": ["0 --yes"],
    "incidents events": ["", "--since 24h"],
    "incidents list": ["", "--open --since 7d --severity error"],
    "cases list": ["", "--state active --priority p1"],
    "usage": ["", "--range last-week --chart", "-v"],
    "policies add": ["policies.yaml", "policies.yaml --yes"],
    "policies list": ["", "--source spans"],
    "policies test": ["--application checkout --severity error"],
    "doctor": ["", "-e production"],
    "conformance": [""],
    "ci": ["validate", "plan", "drift", "matrix --shards 4", "no-such"],
    "explain": [
        "SLO.grouping.labels",
        "AlertDefinition --recursive",
        "reconciler.yaml environments.guards",
        "SLO/checkout-success --expanded",
        "SEVERITY_ERROR",
        "no-such-field",
    ],
    "schema": ["", "no-such"],
    "completion": ["bash", "zsh", "fish"],
    "emulator serve": ["--faults no-such.json"],
    "emulator tick": ["--data .reconciler/local.db"],
}
"""How each command is run in the workspace of `shop`, once for each format that it has."""

DEFAULT = (
    "environments: {default: {journal: .reconciler/journal.jsonl, guards: {allow: [takes-over]}}}\n"
)
SLO = """\
apiVersion: reconciler/v1
kind: SLO
metadata: {name: checkout}
spec:
  name: Checkout
  targetThresholdPercentage: 99.9
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli: {goodEvents: {query: good}, totalEvents: {query: all}}
"""
ALERT_ID = "2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a11"
OTHERS = f"""\
apiVersion: reconciler/v1
kind: AlertDefinition
metadata: {{name: errors, id: {ALERT_ID}}}
spec:
  name: Errors
  type: ALERT_DEF_TYPE_LOGS_IMMEDIATE_OR_UNSPECIFIED
  logsImmediate: {{}}
  description: Whoever is on call looks at the checkout.
---
apiVersion: reconciler/v1
kind: Dashboard
metadata: {{name: checkout}}
spec:
  dashboard:
    name: Checkout
    description: first
    layout: {{sections: []}}
---
apiVersion: reconciler/v1
kind: LogPolicySet
metadata: {{name: all}}
spec:
  policies:
    - logRules: {{severities: [SEVERITY_ERROR]}}
      policy: {{name: a, description: d, priority: PRIORITY_TYPE_HIGH}}
---
apiVersion: reconciler/v1
kind: SavedView
metadata: {{name: errors}}
spec:
  name: Errors
  timeSelection: {{quickSelection: {{seconds: 900}}}}
"""
POLICIES = """\
- name: Search is kept
  priority: PRIORITY_TYPE_HIGH
  applicationRule: {name: search, ruleTypeId: RULE_TYPE_ID_IS}
"""
FAULTS: Mapping[str, tuple[object, ...]] = {
    "lost create": ({"method": "POST", "path": "/v1/slo/*", "nth": 1, "fault": {"drop": "after"}},),
    "refused": (
        {"method": "POST", "path": "/v1/dashboards/*", "fault": {"status": 400, "body": "no"}},
    ),
    "key refused half-way": (
        {"method": "POST", "path": "/data-exploration/*", "fault": {"status": 401}},
    ),
    "broken": ({"method": "POST", "fault": {"status": 500}},),
    "in part": ({"path": "/alerts/alerts-general/*", "fault": {"partial": {"failed": [0]}}},),
    "cut answer": (
        {
            "method": "POST",
            "path": "/v1/dash*",
            "nth": 1,
            "fault": {"truncate": 5, "declared": "whole"},
        },
    ),
    "slow down": ({"nth": [2, 3], "fault": {"status": 429, "retryAfter": "0"}},),
}


@dataclass(frozen=True)
class Scenario:
    """What both trees play; its runs are counted for a group."""

    group: str
    name: str
    play: Callable[[World], None]


def scenarios(
    formats: Mapping[str, Sequence[str]], groups: Sequence[str], codes: Sequence[str]
) -> Iterator[Scenario]:
    """Yield all scenarios; `formats` has those of each command, `groups` are of commands.

    Raises KeyError for a command without lines.
    """
    yield from (Scenario("worlds", name, play) for name, play in WORLDS.items())
    for name, rules in FAULTS.items():
        yield Scenario("worlds", name, partial(_misbehaving, rules=rules))
    for count in KILLED_AFTER:
        yield Scenario("worlds", f"killed after {count}", partial(_killed, count=count))
    for command, found in formats.items():
        play = partial(_lines, command=command, lines=LINES[command], formats=found)
        yield Scenario("commands", command, play)
    for command in (*groups, *formats):
        yield Scenario("help", command or "reconciler", partial(_help, command=command))
    for code in codes:
        yield Scenario("codes", code, partial(_code, code=code, formats=formats["validate"]))
    yield Scenario("schemas", "schema", _schemas)
    for file in sorted(SAMPLES.glob("*/*.json")):
        yield Scenario("samples", f"{file.parent.name}/{file.name}", partial(_sample, file=file))


def _shop(world: World) -> None:
    """Leave a workspace with two runs behind it, edits live and in git, and a lost manifest."""
    world.copy_examples()
    world.write("../policies.yaml", POLICIES)
    data = "--data .reconciler/local.db"
    (world.folder / ".reconciler").mkdir()
    world.git("init", "--quiet", "--initial-branch=main")
    world.commit("Base")
    with world.served(f"{data} --seed demo"):
        pass
    world.run("validate")
    world.run("plan")
    world.run("plan --out ../first.json")
    world.run("apply --new-journal --yes")
    world.run("apply --new-journal --plan ../first.json --allow-destroy")
    world.edit(
        "checkout/slo.yaml", "targetThresholdPercentage: 99.5", "targetThresholdPercentage: 99.6"
    )
    world.run("apply --yes")
    with world.served(data):
        _narrow(world)
    world.edit("search/alerts.yaml", "enabled: true", "enabled: false")
    (world.folder / "payments/view.yaml").unlink()


def _narrow(world: World) -> None:
    """Edit a dashboard through the web interface."""
    dashboard = world.ask("GET", "/v1/dashboards/by-slug/checkout")["dashboard"]
    dashboard["relativeTimeFrame"] = "900s"
    world.ask("PUT", "/v1/dashboards/dashboards", {"requestId": "edit", "dashboard": dashboard})


def _at_shop(world: World) -> None:
    """Return to the end of `_shop`, which each worker plays once on each tree."""
    state = world.place.parent / "shop" / world.tree.name
    if not state.exists():
        _shop(world)
        shutil.copytree(world.place, state, symlinks=True)
    shutil.rmtree(world.place)
    shutil.copytree(state, world.place, symlinks=True)
    world.now = MONDAY + 100 * MINUTE


def _lines(world: World, command: str, lines: Sequence[str], formats: Sequence[str]) -> None:
    _at_shop(world)
    world.runs.clear()
    world.run(f"{command} {lines[0]}", cold=True)
    for line in lines:
        for form in formats or [""]:
            _at_shop(world)
            world.run(f"{command} {line}" + (f" --format {form}" if form else ""))


def _help(world: World, command: str) -> None:
    world.run(f"{command} --help", cold=True)


def _schemas(world: World) -> None:
    for name in world.run("schema")["stdout"].split():
        world.run(f"schema {name}")


def _code(world: World, code: str, formats: Sequence[str]) -> None:
    """Explain a code, and check its samples."""
    world.run(f"explain {code}")
    page = json.loads(world.run(f"explain {code} --format json")["stdout"])["code"]
    # Only complaints have samples that can be checked offline: M303, L201.
    for side in ("wrong", "right") if re.fullmatch(r"[A-Z]\d+", code) else ():
        sample = page.get(side) or {}
        if sample.get("files") or sample.get("typed"):
            world.folder = world.place / side
            world.folder.mkdir()
            for name, text in sample["files"].items():
                world.write(name, text)
            for line in sample["typed"]:
                subprocess.run(["sh", "-c", line], cwd=world.folder, check=True)  # noqa: S607 - as printed
            world.environ = dict(sample["environment"])
            for form in formats:
                world.run(f"validate --format {form}")
            world.run("validate --fix --diff")
            world.run("fmt --diff")


def _sample(world: World, file: Path) -> None:
    """Import an export, then check what was written."""
    world.write("reconciler.yaml", DEFAULT)
    shutil.copyfile(file, world.folder.parent / file.name)
    for line in ("--dry-run --format json", "--keep-json --to kept", "--to imported"):
        world.run(f"import --from ../{file.name} {line}")
    world.run("validate -v")
    world.run("graph --format json")


def _examples(world: World) -> None:
    """Play the round of a user; each start loads only what it uses."""
    world.copy_examples()
    lines = ("validate", "plan", "apply --new-journal --yes", "plan --exit-code", "drift")
    for line in (*lines, "rules test rules", "journal verify", "rollback last --dry-run"):
        world.run(line, cold=True)


def _coloured(world: World) -> None:
    """Print in colour what people look at."""
    _at_shop(world)
    world.runs.clear()
    world.environ = {"FORCE_COLOR": "1"}
    for line in ("validate", "plan -v", "drift", "graph", "apply --yes", "explain L201", "audit"):
        world.run(line)


def _documented(world: World) -> None:
    """Run the command lines of docs/commands.md, in their order."""
    world.copy_examples()
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("reconciler "):
                world.run(line.split("  #")[0].removeprefix("reconciler "))


def _life(world: World) -> None:
    """Review, edit from both sides, lose a manifest, roll back, and read the journal of it."""
    _at_shop(world)
    world.runs.clear()
    for line in ("plan", "drift --format json", "apply --yes", "plan --out plan.json"):
        world.run(line)
    world.run("apply --plan plan.json --select kind=SLO")
    world.run("apply --plan plan.json")
    world.run("plan -v")
    digest = json.loads(world.run("plan --format json")["stdout"])["digest"]
    world.run(f"apply --expect {digest} --format jsonl")
    for line in ("rollback last --yes", "plan", "rollback last --live --yes", "adopt --all"):
        world.run(line)
    world.run("plan --changed-since HEAD")
    world.edit("checkout/dashboard.yaml", "apiVersion: reconciler/v1", "apiVersion: reconciler/v0")
    world.run("plan")
    world.edit("checkout/dashboard.yaml", "apiVersion: reconciler/v0", "apiVersion: reconciler/v1")
    (world.folder / "payments/slo.yaml").unlink()
    for line in ("plan", "apply --yes", "apply --yes --override-guard because"):
        world.run(line)
    for line in ("show --format json", "history --format json", "stats", "verify", "compact"):
        world.run(f"journal {line}")
    world.run("plan")


def _service(world: World) -> None:
    """Write a small workspace for the served emulator."""
    world.environ = {"RECONCILER_BASE_URL": world.url, "RECONCILER_API_KEY": KEY}
    world.write("reconciler.yaml", DEFAULT)
    world.write("all.yaml", f"{SLO}---\n{OTHERS}")


def _misbehaving(world: World, rules: Sequence[object]) -> None:
    """Apply to a service that refuses, breaks off or is broken, and go on once it is well."""
    _service(world)
    world.write("../faults.json", json.dumps({"seed": 7, "rules": rules}))
    data = f"--data {world.place}/service.db --alert-id {ALERT_ID}"
    with world.served(f"{data} --faults ../faults.json"):
        world.run("plan")
        world.run("apply --new-journal --yes")
        world.run("plan --format json")
    with world.served(data):
        for line in ("journal verify", "plan", "apply --yes --format json", "journal show"):
            world.run(line)
        world.run("journal settle SLO/checkout --never-happened")
        for line in ("apply --yes --format junit", "plan", "drift"):
            world.run(line)


def _killed(world: World, count: int) -> None:
    """Let an apply die when a request was answered, and go on after it."""
    _service(world)
    with world.served(f"--alert-id {ALERT_ID}"):
        world.run("apply --new-journal --yes", deadly=count)
        for line in ("journal verify", "plan", "apply --yes", "journal history", "plan"):
            world.run(line)


def _in_git(world: World) -> None:
    """Move a journal from a file to a ref of the remote, and use it there."""
    _service(world)
    world.git("init", "--quiet", "--bare", "../remote.git")
    world.git("init", "--quiet", "--initial-branch=main")
    world.git("remote", "add", "origin", "../remote.git")
    world.commit("Base")
    with world.served(f"--alert-id {ALERT_ID}"):
        world.run("apply --new-journal --yes")
        world.run("journal move --to git:refs/reconciler/default")
        world.edit("reconciler.yaml", ".reconciler/journal.jsonl", "git:refs/reconciler/default")
        world.edit("all.yaml", "99.9", "99.95")
        for line in ("plan", "apply --yes", "journal verify", "journal history", "journal unlock"):
            world.run(line)


def _ci(world: World) -> None:
    """Plan, merge and apply a pull request, with a forge; then drift."""
    _service(world)
    project = DEFAULT.replace("{journal:", f'{{baseUrl: "{world.url}", journal:')
    world.write("reconciler.yaml", project)
    world.write(".gitignore", ".reconciler\n")
    temporary = world.place / "temporary"
    temporary.mkdir()
    world.git("init", "--quiet", "--initial-branch=main")
    base = world.commit("Base")
    with served_forge() as forge, world.served(f"--alert-id {ALERT_ID}"):

        def look() -> dict[str, str]:
            asked, forge.requests = "\n".join(forge.requests), []
            return {"forge": asked, "comments": json.dumps(forge.comments, indent=1)}

        def job(command: str, event: str, payload: object, **inputs: str) -> None:
            about = variables(temporary, event, payload, GITHUB_SHA=world.git("rev-parse", "HEAD"))
            files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
            for name in files.values():
                (temporary / name).write_text("", encoding="utf-8")
            world.environ = {
                "RECONCILER_API_KEY": KEY,
                "GITHUB_API_URL": forge.url,
                "GITHUB_GRAPHQL_URL": f"{forge.url}/graphql",
                "GITHUB_ACTIONS": "true",
                "INPUT_TOKEN": TOKEN,
                "RUNNER_TEMP": str(temporary),
                **{name: str(temporary / file) for name, file in files.items()},
                **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
                **about,
            }
            world.run(f"ci {command}")

        def merged(command: str, **inputs: str) -> None:
            commit = world.commit("Merge")
            pull = {"number": NUMBER, "merged_at": "2026-01-02T00:00:00Z", "base": {"ref": "main"}}
            forge.pulls[commit] = [{**pull, "merge_commit_sha": commit}]
            job(command, "push", push(commit), **inputs)

        world.look = look
        world.names[forge.url.removeprefix("http://")] = "forge"
        world.run("journal init")
        job("validate", "pull_request", pull_request(base=base))
        job("plan", "pull_request", pull_request(base=base))
        world.edit("all.yaml", "description: first", "description: second")
        job("plan", "pull_request", pull_request(base=base), fail_on_changes="true")
        merged("apply")
        merged("drift")
        world.edit("all.yaml", "description: second", "description: third")
        merged("apply")
        merged("apply", require_plan="none")
        world.edit("all.yaml", "kind: SLO", "kind: SLOs")
        job("plan", "pull_request", pull_request(base=base))
        merged("apply")
        world.edit("all.yaml", "kind: SLOs", "kind: SLO")
        merged("watch")


WORLDS: Mapping[str, Callable[[World], None]] = {
    "examples": _examples,
    "docs": _documented,
    "colours": _coloured,
    "shop": _shop,
    "life": _life,
    "journal in git": _in_git,
    "ci": _ci,
}
KILLED_AFTER = (7, 8, 9, 10)
