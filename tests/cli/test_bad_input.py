"""Bad input on every command: 64 or 4, a clear message, and nothing sent."""

from __future__ import annotations

import json
import re

import pytest
from click import Context, Group
from harness.routes import API_ROOT
from harness.workspaces import Shop

from reconciler.cli.root import cli

# Command line: exit code, and words of the message. Files are made below.
BAD: dict[str, tuple[int, str]] = {
    "": (64, "a command is needed"),
    "evnts": (64, "did you mean `events`?"),
    "init --base-url ftp://api.example.com": (64, "must begin with https://"),
    "init new -e local": (64, "`local` is the emulator"),
    "init broken.yaml": (64, "is no folder"),
    "graph --format xml": (64, "'xml' is not one of"),
    "rules test --format xml": (64, "'xml' is not one of"),
    "rules test nowhere": (64, "there is no nowhere"),
    "test --record nowhere.jsonl": (64, "give --scrub"),
    "test --record nowhere.jsonl --scrub": (64, "is no regular file"),
    "test --scrub": (64, "about --record"),
    "completion tcsh": (64, "'tcsh' is not one of"),
    "fmt nowhere.yaml": (4, "there is no such file"),
    "fmt broken.yaml": (4, "broken.yaml"),
    "fmt - rows.json": (64, "takes no other argument"),
    "fmt --modeline": (64, "there are no schemas"),
    "explain": (64, "Missing argument"),
    "explain SLO.nmae": (64, "did you mean `SLO.name`?"),
    "explain zebra": (64, "there is no field or code `zebra`"),
    "explain M999": (64, "there is no field or code `M999`"),
    "validate --format xml": (64, "'xml' is not one of"),
    "validate nowhere.yaml": (4, "there is no such file"),
    "validate broken.yaml": (4, "broken.yaml"),
    "validate --project nowhere.yaml": (64, "there is no project file nowhere.yaml"),
    "plan -e nope": (64, "there is no environment `nope`"),
    "plan broken.yaml": (4, "1 error"),
    "plan --out missing/plan.json": (4, "missing/plan.json"),
    "apply": (64, "--yes"),
    "approve": (64, "Missing argument"),
    "approve plan.json": (64, "there is no terminal"),
    "approve plan.json --for 8d": (64, "at most 7d"),
    "approve plan.json --for now": (64, "no duration"),
    "apply --plan nowhere.json": (4, "nowhere.json"),
    "apply --plan rows.json --yes": (4, "rows.json"),
    "apply --plan rows.json --expect x": (64, "exclude each other"),
    "rollback": (64, "Missing argument 'RUN'"),
    "rollback last": (64, "--yes"),
    "rollback last nonsense --yes": (64, "`nonsense` is not of the form Kind/name"),
    "rollback nope --yes": (8, "there is no journal at"),
    "rollback last --yes --out back.json": (64, "--out needs --dry-run"),
    "rollback last --yes --format html": (64, "with --dry-run"),
    "watch": (64, "Missing argument 'RUN'"),
    "watch nope": (8, "there is no journal at"),
    "watch last --for 9y": (64, "`9y` is not a duration up to 7d"),
    "watch last --fail-on quieter": (64, "'quieter' is not"),
    "journal stats --since soon": (64, "neither a duration"),
    "drift -e nope": (64, "there is no environment `nope`"),
    "audit --days 0": (64, "0 is not in the range"),
    "audit --days 366": (64, "366 is not in the range"),
    "audit --format no-such": (64, "'no-such' is not one of"),
    "audit --fail-on note": (64, "'note' is not one of"),
    "audit -e nope": (64, "there is no environment `nope`"),
    "audit broken.yaml": (4, "1 error"),
    "adopt": (64, "or give --all"),
    "adopt --all --format no-such": (64, "'no-such' is not one of"),
    "drift --format no-such": (64, "'no-such' is not one of"),
    "import": (64, "say what to import"),
    "import dashbord x": (64, "did you mean `dashboard`?"),
    "import alert x": (64, "`import --from PATH`"),
    "import slo x": (64, "`x` is no id of this kind"),
    "import dashboard": (64, "wants ids"),
    "import policies x": (64, "takes no ids"),
    "import policies --all": (64, "say what to import, one of"),
    "import --from nowhere.json": (4, "there is no such file"),
    "import --from broken.yaml": (4, "broken.yaml"),
    "import --from rows.json --parameterise a": (64, "--parameterise A,B wants"),
    "import --from rows.json rows.json --parameterise a,b": (64, "`a` is no environment"),
    "import policies --id a=b": (64, "--id is for exports"),
    "import --from rows.json --id a": (64, "`a` is not of the form NAME=ID"),
    "import policies --to ..": (64, "leads out of the project folder"),
    "import -e nope policies": (64, "there is no environment `nope`"),
    "journal": (64, "a command is needed: "),
    "journal settle nonsense --id 1": (64, "nonsense"),
    "journal settle SavedView/x": (64, "--never-happened"),
    "journal show -e nope": (64, "there is no environment `nope`"),
    "journal init -e nope": (64, "there is no environment `nope`"),
    "journal forget nonsense": (64, "`nonsense` is not of the form Kind/name"),
    "journal rename nonsense SLO/x": (64, "`nonsense` is not of the form Kind/name"),
    "journal move": (64, "--to PLACE"),
    "journal verify extra": (64, "unexpected extra argument"),
    "journal unlock --force": (64, "--force"),
    "journal history nonsense": (64, "`nonsense` is not of the form Kind/name"),
    "journal compact --lock-timeout soon": (64, "`soon` is not a duration"),
    "ci matrix": (64, "say how many shards"),
    "ci matrix --shards 0": (64, "--shards"),
    "ci plan --shards 4": (64, "--shards is for `ci matrix`"),
    "plan --select shard:5/4": (64, "`5/4` is no shard"),
    "plan --exclude shard:1/4": (64, "--exclude takes no shard"),
    "journal show --shard 1": (64, "`1` is no shard"),
    "ci plan extra": (64, "unexpected extra argument"),
    "journal write-ids -e nope": (64, "there is no environment `nope`"),
    "events": (64, "a command is needed: "),
    "events list --since yesterday": (64, "--since takes 24h, 7d, 2w or an ISO 8601 time"),
    "events list --since 999999w": (64, "--since takes"),
    "events list --since 0001-01-01T00:00+14:00": (64, "--since takes"),
    "events list --until 24": (64, "--until takes"),
    "events list --since 1h --until 2h": (64, "--since `1h` is not before --until `2h`"),
    "events list --label region": (64, "--label takes KEY=VALUE, not `region`"),
    "events list --label =eu": (64, "--label takes KEY=VALUE"),
    "events list --label a=1 --label a=2": (64, "gives `a` more than once"),
    "events list --limit -1": (64, "--limit"),
    "events list --limit many": (64, "--limit"),
    "events list -e nope": (64, "there is no environment `nope`"),
    "events list --format markdown": (64, "'markdown' is not one of"),
    "cases": (64, "a command is needed: "),
    "cases list --state actve": (64, "`actve` is not known; did you mean `active`?"),
    "cases list --status open,closed": (64, "is not known"),
    "cases list --priority 1": (64, "(known: p1, p2, p3, p4, p5"),
    "cases list --category SECURITY --category CASE_CATEGORY_": (64, "--category"),
    "cases list --label a": (64, "--label takes KEY=VALUE"),
    "cases list --grouping a": (64, "--grouping takes KEY=VALUE"),
    "cases list --since 24h": (64, "--since"),
    "incidents": (64, "a command is needed: "),
    "incidents list --severity eror": (64, "did you mean `error`?"),
    "incidents list --status open": (64, "(known: triggered, acknowledged, resolved"),
    "incidents list --state INCIDENT_SEVERITY_ERROR": (64, "--state"),
    "incidents list --muted yes": (64, "unexpected extra argument"),
    "incidents list --label a": (64, "--label takes KEY=VALUE"),
    "incidents list --since 2h --until 2026-13-01": (64, "--until takes"),
    "incidents events --severity worse": (64, "--severity `worse` is not known"),
    "incidents events --status gone": (64, "--status `gone` is not known"),
    "incidents events --since now": (64, "--since takes"),
    "incidents close": (64, "Missing argument"),
    "incidents close a b": (64, "there is no terminal: give --yes"),
    "incidents close a --yes --format no-such": (64, "'no-such' is not one of"),
    "usage --range year": (64, "'year' is not one of"),
    "usage --chart --format json": (64, "exclude each other"),
    "usage --png missing/usage.png": (64, "there is no folder missing"),
    "usage --png .": (64, "is a folder"),
    "usage --project nowhere.yaml": (64, "there is no project file nowhere.yaml"),
    "policies": (64, "a command is needed: "),
    "policies list --source metrics": (64, "'metrics' is not one of"),
    "policies test": (64, "give --application, --subsystem or --severity, or --file FILE"),
    "policies test --severity loud": (64, "--severity `loud` is not known"),
    "policies test --file rows.json --application x": (64, "exclude each other"),
    "policies test --file nowhere.yaml": (4, "nowhere.yaml: this file does not exist"),
    "policies test --file broken.yaml": (4, "broken.yaml:"),
    "policies test --file reconciler.yaml": (4, "must hold one list that is not empty"),
    "policies test --file empty.json": (4, "must hold one list that is not empty"),
    "policies test --file numbers.json": (4, "numbers.json:1:2: an item must be a mapping"),
    "policies test --file field.json": (4, "unknown field `app` (known: application,"),
    "policies test --file typed.json": (4, "`severity` must be text"),
    "policies test --file severity.json": (4, "item 2: severity `eror` is not known; did you"),
    "policies test --file .": (4, "not a regular file"),
    "policies add": (64, "Missing argument"),
    "policies add policies.json": (64, "there is no terminal: give --yes"),
    "policies add nowhere.yaml --yes": (4, "nowhere.yaml: this file does not exist"),
    "policies add unnamed.json --yes": (4, "item 1: it has no `name`"),
    "policies add doubled.json --yes": (4, "item 2: `x` is there twice"),
    "policies add enabled.json --yes": (4, "write `disabled` instead"),
    "policies add stored.json --yes": (4, "`order` is set by the service only"),
    "policies add misspelt.json --yes": (4, "did you mean `priority`?"),
    "doctor --format no-such": (64, "'no-such' is not one of"),
    "doctor --project nowhere.yaml": (64, "there is no project file nowhere.yaml"),
    "conformance --base-url ftp://example.com": (4, "--base-url must begin with https://"),
    "conformance --base-url http://example.com": (4, "--base-url must begin with https://"),
    "conformance --base-url https://me:pw@example.com": (4, "must not hold a user name"),
    "conformance --base-url https://example.com": (10, "there is no API key"),
    "conformance -e nope": (64, "there is no environment `nope`"),
    "schema Dashbord": (64, "did you mean `Dashboard`?"),
    "emulator": (64, "a command is needed: "),
    "emulator serve --port 65536": (64, "--port"),
    "emulator serve --host 192.0.2.1": (64, "cannot serve on 192.0.2.1"),
    "emulator serve --seed shop": (64, "'shop' is not 'demo'"),
    "emulator serve --alert-id nonsense": (64, "not a uuid"),
    "emulator serve --data broken.yaml": (4, "broken.yaml"),
    "emulator serve --log missing/log.jsonl": (64, "cannot write missing/log.jsonl"),
    "emulator serve --profile nowhere.json": (4, "nowhere.json"),
    "emulator serve --profile rows.json": (4, "rows.json"),
    "emulator serve --faults field.json": (4, "field.json"),
    "emulator serve --keys nowhere.json": (4, "nowhere.json cannot be read"),
    "emulator serve --keys broken.yaml": (4, "broken.yaml is not JSON"),
    "emulator serve --keys rows.json": (4, "must hold an object of keys"),
    "emulator serve --keys nothing.json": (4, "must hold an object of keys"),
    "emulator tick": (64, "--data"),
    "emulator tick --data nowhere.db": (64, "there is no nowhere.db"),
    "emulator tick --data broken.yaml": (4, "broken.yaml"),
}
FILES: dict[str, str] = {
    "broken.yaml": "a: [1\n",
    "empty.json": "[]",
    "nothing.json": "{}",
    "rows.json": '[{"application": "x"}]',
    "numbers.json": "[1]",
    "field.json": '[{"app": "x"}]',
    "typed.json": '[{"severity": 1}]',
    "severity.json": '[{"severity": "info"}, {"severity": "eror"}]',
    "policies.json": '[{"name": "x"}]',
    "unnamed.json": '[{"priority": "PRIORITY_TYPE_LOW"}]',
    "doubled.json": '[{"name": "x"}, {"name": "x"}]',
    "enabled.json": '[{"name": "x", "enabled": false}]',
    "stored.json": '[{"name": "x", "order": 1}]',
    "misspelt.json": '[{"name": "x", "priorty": "PRIORITY_TYPE_LOW"}]',
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(shop: Shop, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Bad input is said in a clear message, with nothing on stdout and nothing sent."""
    monkeypatch.delenv("RECONCILER_API_KEY", raising=False)
    for name, text in FILES.items():
        shop.write(name, text)
    code, words = BAD[line]

    ran = shop.run(*line.split())

    assert (ran.code, "internal error" in ran.err, "Traceback" in ran.err) == (code, False, False)
    # What these two find wrong is what they are asked for.
    reports = line.startswith(("doctor", "validate"))
    assert words in ran.err + (ran.out if reports else "")
    assert ran.out == "" or reports
    assert shop.asked == []


def paths(group: Group, above: str = "") -> list[str]:
    """Give every command of a group, with the groups around it."""
    found = []
    context = Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = paths(command, f"{above}{name} ") if isinstance(command, Group) else []
        found += inner or [f"{above}{name}"]
    return found


def test_every_command_is_in_the_table() -> None:
    """The table above has bad input for every command there is."""
    missing = [path for path in paths(cli) if not any(line.startswith(path) for line in BAD)]

    assert missing == []


def test_unknown_flag(shop: Shop) -> None:
    """A flag that a command does not have is 64, with its usage and a way to its help."""
    for path in paths(cli):
        ran = shop.run(*path.split(), "--no-such-flag")

        assert (ran.code, ran.out) == (64, ""), path
        assert "No such option" in ran.err, path
        assert f"`reconciler {path} --help`" in ran.err, path
    assert shop.asked == []


def test_help(shop: Shop) -> None:
    """Every command has help that says what it does; asking for it sends nothing."""
    for path in paths(cli):
        ran = shop.run(*path.split(), "--help")

        assert (ran.code, ran.err) == (0, ""), path
        assert re.search(r"\n\n  [A-Z][^\n]+", ran.out), path
    assert shop.asked == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("{basePath: mgmt}", "`basePath` must match pattern"),
        ("{queryStyle: dots}", "`queryStyle` must be 'dotted', 'brackets' or 'json'"),
        ("{parameterNames: {incidentId: x}}", "unknown setting `incidentId`"),
        ("{parameterNames: {filter: ''}}", "`filter` must have at least 1 character"),
        ("{closeBodyField: ''}", "`closeBodyField` must have at least 1 character"),
        ("{bulkLimit: 101}", "`bulkLimit` must be less than or equal to 100"),
        ("{bulkLimit: 0}", "`bulkLimit` must be greater than or equal to 1"),
        ("{documentedSliOnly: yes}", "`documentedSliOnly` must be true or false"),
        ("{querystyle: json}", "unknown setting `querystyle`"),
    ],
)
def test_bad_settings(shop: Shop, setting: str, words: str) -> None:
    """A setting under `api:` that cannot be is 4, at its place, before anything is sent."""
    shop.settle(f"environments: {{local: {{emulator: {{data: demo.db}}, api: {setting}}}}}\n")

    ran = shop.run("events", "list")

    assert (ran.code, ran.out) == (4, "")
    assert words in ran.err
    assert "--> reconciler.yaml:1:" in ran.err
    assert shop.asked == []


@pytest.mark.parametrize("path", ["policies add", "policies test --file"])
def test_hostile_file(shop: Shop, path: str) -> None:
    """What a file holds is made harmless in the message about it."""
    shop.write("hostile.json", json.dumps([{"name": "x", "\x1b[2J\u202e": "x"}, {"name": "x"}]))

    ran = shop.run(*path.split(), "hostile.json", *(["--yes"] if "add" in path else []))

    assert ran.code == 4
    assert "\x1b" not in ran.err
    assert "\u202e" not in ran.err


def test_api_root() -> None:
    """The path that this table takes off requests is the default base path."""
    from reconciler.model.assumptions import Assumptions  # noqa: PLC0415 - only here

    assert Assumptions().base_path == API_ROOT
