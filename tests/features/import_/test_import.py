"""`import`: manifests of what is there, so that the next plan keeps all of it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
import yaml
from harness.golden import Golden
from harness.profiles import profile, reads_of
from harness.workspaces import SEEDED, Shop

from reconciler.features.import_.match_declared import There
from reconciler.model import Ref, RemoteId
from reconciler.runtime import failpoints
from reconciler.runtime.failpoints import Point

BOARD, OTHER = "checkout-overview-001", "search-and-index-0001"
SLOS = [f"5b1e6a52-6a0c-4f0e-9a55-0d5a3f6f1a0{number}" for number in (1, 2, 3)]


def stored(shop: Shop, table: str) -> list[dict[str, Any]]:
    """Give the records of the service as it keeps them."""
    with sqlite3.connect(shop.root / "demo.db") as data:
        rows = data.execute(f"select * from {table}").fetchall()  # noqa: S608 - a table's name
    return [json.loads(next(value for value in row if str(value).startswith("{"))) for row in rows]


def change(shop: Shop, table: str, edit: dict[str, Any]) -> None:
    """Let the service hold something else in every record of a table."""
    with sqlite3.connect(shop.root / "demo.db") as data:
        for row in data.execute(f"select rowid, * from {table}").fetchall():  # noqa: S608 - a table's name
            column = next(nth for nth, element in enumerate(row) if str(element).startswith("{"))
            names = [value[1] for value in data.execute(f"pragma table_info({table})")]
            record = json.loads(row[column])
            record.get("dashboard", record).update(edit)
            data.execute(
                f"update {table} set {names[column - 1]} = ? where rowid = ?",  # noqa: S608 - a table's name
                (json.dumps(record), row[0]),
            )


def export(shop: Shop, name: str, document: Any) -> Path:
    """Write an export beside the manifests."""
    return shop.write(name, json.dumps(document))


def actions(shop: Shop, *arguments: str) -> dict[str, str]:
    """Give what a plan would do, by resource."""
    planned = shop.run("plan", "--format", "json", *arguments).json
    return {value["ref"]: value["action"] for value in planned["changes"]}


def everything(shop: Shop) -> None:
    """Import all there is."""
    export(shop, "alerts.json", stored(shop, "alert_definitions"))
    export(shop, "views.json", {"items": stored(shop, "saved_views")})
    for arguments in (["slo", *SLOS], ["dashboard", BOARD, OTHER], ["policies"]):
        assert shop.run("import", *arguments).code == 0
    assert shop.run("import", "--from", "alerts.json", "views.json").code == 0


def files(shop: Shop) -> dict[str, bytes]:
    """Give every file of the project but the service's, and its journal's lock."""
    return {
        str(file.relative_to(shop.root)): file.read_bytes()
        for file in shop.root.rglob("*")
        if file.is_file() and "demo.db" not in file.name and file.suffix != ".lock"
    }


def test_all_kept(shop: Shop) -> None:
    """After an import the next plan keeps everything, and nothing has drifted."""
    everything(shop)

    planned = actions(shop)

    assert set(planned.values()) == {"keep"}
    assert len(planned) == 3 + 2 + 1 + 15 + 2
    assert shop.run("drift").code == 0
    assert shop.run("validate").code == 0
    assert not [pair for pair in shop.asked if pair[0] in ("PUT", "POST")]


def test_a_new_journal_is_begun(shop: Shop) -> None:
    """An import warns that it begins a journal only where manifests were there before it."""
    first = shop.run("import", "slo", SLOS[0])
    for file in (shop.root / ".reconciler").glob("local.journal*"):
        file.unlink()

    after_loss, again = (shop.run("import", "slo", slo) for slo in SLOS[1:])

    begins = [
        "local.journal.jsonl, so this run begins" in ran.err for ran in (first, after_loss, again)
    ]
    assert begins == [False, True, False]


def test_again(shop: Shop) -> None:
    """Importing the same again writes nothing, neither files nor journal, and is no error."""
    everything(shop)
    before = files(shop)

    everything(shop)

    assert files(shop) == before


def test_ids_are_added_up_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many declared resources an import meets, their ids are added up once."""
    everything(shop)
    added_up = []
    ids = There.ids

    def counted(there: There) -> dict[Ref, RemoteId]:
        added_up.append(len(there.manifests))
        return ids(there)

    monkeypatch.setattr(There, "ids", counted)

    assert shop.run("import", "slo", *SLOS).code == 0
    assert len(added_up) == 1


def test_printed(shop: Shop) -> None:
    """Paths are printed one a line, and as JSON what is imported and what is not."""
    text = shop.run("import", "dashboard", BOARD)
    told = shop.run("import", "dashboard", BOARD, OTHER, "--format", "json")

    assert text.out == "manifests/Dashboard/checkout.yaml\n"
    assert told.json == {
        "imported": [
            {
                "ref": "Dashboard/search-and-index",
                "file": "manifests/Dashboard/search-and-index.yaml",
                "remoteId": OTHER,
            }
        ],
        "skipped": [
            {
                "what": "Dashboard/checkout",
                "why": "it is declared at manifests/Dashboard/checkout.yaml:1 already",
            }
        ],
    }


def test_by_slug(shop: Shop) -> None:
    """A dashboard is found by its slug too, and not found is said by name."""
    found = shop.run("import", "dashboard", "checkout")
    lost = shop.run("import", "dashboard", "nosuch")

    assert found.code == 0
    assert "id: checkout-overview-001" in (shop.root / found.out.strip()).read_text()
    assert lost.code == 4
    assert "nosuch" in lost.err


def test_references(shop: Shop) -> None:
    """What refers to something that is declared refers to it by its name."""
    everything(shop)

    text = (shop.root / "manifests/AlertDefinition/checkout-error-budget-runs-out.yaml").read_text()

    assert "sloId: ${ref:SLO/orders-succeed}" in text


def test_found_not_imported(shop: Shop) -> None:
    """What is referred to and has no manifest is named, with the command that imports it."""
    export(shop, "alerts.json", stored(shop, "alert_definitions"))

    told = shop.run("import", "--from", "alerts.json", "--format", "json")

    lacking = [value for value in told.json["skipped"] if value["what"] == f"SLO {SLOS[0]}"]
    assert "found, not imported" in lacking[0]["why"]
    assert f" slo -e local {SLOS[0]}" in lacking[0]["why"]


def test_circle(shop: Shop, golden: Golden) -> None:
    """Dashboards that link to each other keep their ids, and a comment says why."""
    go = {"name": "go", "definition": {"goToDashboardAction": {"dashboardId": ""}}}
    boards = []
    for one, other in (("A" * 21, "B" * 21), ("B" * 21, "A" * 21)):
        definition = {"goToDashboardAction": {"dashboardId": other}}
        actions_ = [{**go, "definition": definition}]
        boards.append({"id": one, "name": one[0], "layout": {"sections": []}, "actions": actions_})
    export(shop, "boards.json", boards)

    assert shop.run("import", "--from", "boards.json").code == 0
    text = (shop.root / "manifests/Dashboard/a.yaml").read_text()

    assert f"dashboardId: {'B' * 21}" in text
    golden(text)
    assert shop.run("validate").code == 0


def test_severities(shop: Shop) -> None:
    """What the service does not return is said where it belongs, and once more aloud."""
    ran = shop.run("import", "policies")
    text = (shop.root / ran.out.strip()).read_text()

    assert text.count("# logRules.severities: not returned by the service") == 5
    assert "`logRules.severities`, at 5 places" in ran.err
    assert actions(shop) == {"LogPolicySet/log-policy-set": "keep"}


def test_imported_reason(shop: Shop) -> None:
    """A plan says of what cannot be asked for that it was imported, and when."""
    export(shop, "alerts.json", stored(shop, "alert_definitions")[:1])
    shop.run("import", "--from", "alerts.json")

    (one,) = shop.run("plan", "--format", "json").json["changes"]

    assert (one["action"], one["evidence"]) == ("keep", "journal")
    assert [reason["code"] for reason in one["reasons"]] == ["imported"]
    assert one["reasons"][0]["at"].endswith("Z")


def test_no_file_written_over(shop: Shop) -> None:
    """A file that is there stops an import before anything is written, whatever its capitals."""
    folder = shop.root / "manifests" / "Dashboard"
    folder.mkdir()
    (folder / "Checkout.YAML").write_text("mine")
    before = files(shop)

    ran = shop.run("import", "dashboard", OTHER, BOARD)

    assert ran.code == 4
    assert "manifests/Dashboard/checkout.yaml" in ran.err
    assert files(shop) == before


def test_declared_by_hand(shop: Shop) -> None:
    """What has a manifest stays as it is, and the journal is told only where the two agree."""
    everything(shop)
    file = shop.root / "manifests/Dashboard/checkout.yaml"
    text = file.read_text()
    rmtree(shop.root / ".reconciler")

    file.write_text(text.replace("name: Checkout", "name: Another"))
    differs = shop.run("import", "dashboard", BOARD)
    file.write_text(text)
    agrees = shop.run("import", "dashboard", BOARD)

    assert "and differs" in differs.err
    assert differs.code == agrees.code == 0
    entries = shop.run("journal", "show", "--format", "json").json
    listed = entries["entries"] if isinstance(entries, dict) else entries
    assert [value["ref"] for value in listed if value["entry"] == "imported"] == [
        "Dashboard/checkout"
    ]


def test_a_manifest_without_an_id(shop: Shop) -> None:
    """What a manifest without an id has the name of gets no second one; the line to write is named.

    With that line in its metadata the next plan creates nothing.
    """
    export(shop, "views.json", {"items": stored(shop, "saved_views")[:1]})
    imports = (["slo", SLOS[0]], ["--from", "views.json"])
    for words in imports:
        assert shop.run("import", *words).code == 0
    rmtree(shop.root / ".reconciler")
    named = {file: file.read_text() for file in sorted((shop.root / "manifests").rglob("*.yaml"))}
    for file, text in named.items():
        file.write_text(re.sub(r"  id: .*\n", "", text))
    before = files(shop)

    again = [shop.run("import", *words) for words in imports]

    assert {ran.code for ran in again} == {3}
    assert files(shop) == before
    for file, ran in zip(named, again, strict=True):
        message = " ".join(ran.err.split())
        assert f"{file.relative_to(shop.root).as_posix()}:1" in message
        (line,) = re.findall(r"`(ids: .*?)`", message)
        file.write_text(file.read_text().replace("  name:", f"  {line}\n  name:", 1))
    assert "create" not in actions(shop).values()


def test_again_without_ids(shop: Shop) -> None:
    """An export that has no id is what its name says, once it is applied too."""
    slo = {**stored(shop, "slos")[0]}
    del slo["id"]
    export(shop, "slo.json", {**slo, "name": "Another"})
    first = shop.run("import", "--from", "slo.json")
    assert shop.run("apply", "--yes").code == 0
    before = files(shop)

    again = shop.run("import", "--from", "slo.json")

    assert (first.out, first.code) == ("manifests/SLO/another.yaml\n", 0)
    assert (again.out, again.code) == ("", 0)
    assert files(shop) == before


def test_dry_run(shop: Shop) -> None:
    """A rehearsal names the same files, and writes none."""
    before = files(shop)

    said = shop.run("import", "slo", *SLOS, "--dry-run")

    assert files(shop) == before
    assert said.out == shop.run("import", "slo", *SLOS).out


def test_keep_json(shop: Shop) -> None:
    """A dashboard that stays JSON stands beside a short manifest, and is kept too."""
    ran = shop.run("import", "dashboard", BOARD, "--keep-json", "--to", "manifests/boards")

    assert ran.out.split() == ["manifests/boards/checkout.json", "manifests/boards/checkout.yaml"]
    assert (shop.root / "manifests/boards/checkout.yaml").read_text() == (
        "apiVersion: reconciler/v1\nkind: Dashboard\nmetadata:\n  name: checkout\n"
        "  id: checkout-overview-001\nspec:\n  file: checkout.json\n"
    )
    assert actions(shop) == {"Dashboard/checkout": "keep"}
    assert shop.run("import", "dashboard", BOARD, "--keep-json").out == ""


@pytest.mark.parametrize("to", ["..", "/", "out", ".git", ".hidden/x", "node_modules"])
def test_folders_of_others(shop: Shop, tmp_path_factory: pytest.TempPathFactory, to: str) -> None:
    """Nothing is written out of the project, be it through a link, nor where nobody looks."""
    outside = tmp_path_factory.mktemp("outside")
    (shop.root / "out").symlink_to(outside)

    ran = shop.run("import", "policies", "--to", to)

    assert ran.code == 64
    assert not [*outside.iterdir()]


HOSTILE = {
    "../../etc/passwd": "etc-passwd",
    "CON": "con-dashboard",
    "reconciler": "reconciler-dashboard",
    "a" * 4000: "a" * 60,
    "${secret:HOME} $${x} ${var:nope": "secret-home-x-var-nope",
    "yes": "yes",
    "\u05e9\u05dc\u05d5\u05dd \u202e": "slvm",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_live_names(shop: Shop, name: str) -> None:
    """Whatever a dashboard is called, its file is safe and its name comes back as it is."""
    change(shop, "dashboards", {"name": name})

    ran = shop.run("import", "dashboard", BOARD)

    assert ran.code == 0, ran.err
    assert Path(ran.out.strip()).name == f"{HOSTILE[name]}.yaml"
    assert set(actions(shop).values()) == {"keep"}


@pytest.mark.parametrize("name", ["\x1b[2Jx", "a\x00b", 5, None, ["x"]])
def test_refused_live_names(shop: Shop, name: Any) -> None:
    """A name that no manifest can hold is refused by name, and others are imported."""
    shop.run("import", "dashboard", OTHER, "-q")
    change(shop, "dashboards", {"name": name})

    ran = shop.run("import", "dashboard", BOARD)

    assert ran.code in (0, 4, 9), ran.err
    assert "\x1b" not in ran.err
    assert "internal error" not in ran.err
    assert (ran.out == "") == (ran.code != 0)


def test_key_literals(shop: Shop) -> None:
    """A value that looks like a key is shown where it stands now."""
    key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc4eC39Hq"
    change(shop, "dashboards", {"description": key})

    ran = shop.run("import", "dashboard", BOARD)

    assert ran.code == 0
    assert ("M313" in ran.err) == ("looks like a key" in ran.err)


def test_what_drift_does_not_watch_yet(shop: Shop, golden: Golden) -> None:
    """An import of exports counts what drift watches after the first apply, and it is so."""
    export(shop, "slo.json", stored(shop, "slos")[:1])
    export(shop, "alerts.json", stored(shop, "alert_definitions")[:1])

    both = shop.run("import", "--from", "slo.json", "alerts.json")
    before = shop.run("drift", "--format", "json").json["summary"]
    applied = shop.run("apply", "--yes")
    after = shop.run("drift", "--format", "json").json["summary"]

    golden(both.err)
    assert (before["same"], before["unapplied"]) == (0, 1)
    assert applied.code == 0, applied.err
    assert (after["same"], after.get("unapplied", 0)) == (1, 0)


def test_what_is_watched_at_once(shop: Shop) -> None:
    """Nothing is said of what was read live, cannot be read at all, or was not written."""
    export(shop, "slo.json", stored(shop, "slos")[:1])
    export(shop, "alerts.json", stored(shop, "alert_definitions")[:1])
    shown = shop.run("import", "--from", "slo.json", "--dry-run")
    alerts = shop.run("import", "--from", "alerts.json")
    live = shop.run("import", "dashboard", BOARD)

    assert [one.code for one in (shown, alerts, live)] == [0, 0, 0]
    assert not any("after the first apply" in one.err for one in (shown, alerts, live))


def test_several_environments(shop: Shop) -> None:
    """Where a project has other environments, an id is that of this one alone."""
    shop.settle(SEEDED + "  production:\n    baseUrl: https://api.example.com\n")
    export(shop, "alerts.json", stored(shop, "alert_definitions")[:1])

    assert shop.run("import", "dashboard", BOARD, "-e", "local").code == 0
    assert shop.run("import", "--from", "alerts.json", "-e", "local").code == 0
    board = (shop.root / "manifests/Dashboard/checkout.yaml").read_text()
    (alert,) = (shop.root / "manifests/AlertDefinition").iterdir()

    assert "ids:\n    local: checkout-overview-001\n" in board
    assert "environments: [local]" in alert.read_text()
    assert shop.run("validate").code == 0
    assert set(actions(shop, "-e", "local").values()) == {"keep"}


OTHER_DEFAULT = f"# Ours.\ndefaultEnvironment: eu   # for now\n{SEEDED}  eu: {{}}\n"


@pytest.mark.promise("S43")
@pytest.mark.parametrize("agrees", [True, False])
def test_the_default_is_offered(shop: Shop, monkeypatch: pytest.MonkeyPatch, agrees: bool) -> None:
    """On a terminal an import offers to make its environment the default; one value is edited."""
    asked: list[str] = []

    def answer(text: str) -> bool:
        asked.append(text)
        return agrees

    monkeypatch.setattr("reconciler.features.import_.command.is_terminal", lambda: True)
    monkeypatch.setattr("reconciler.features.import_.command.agreed", answer)
    shop.settle(OTHER_DEFAULT)

    shown = shop.run("import", "dashboard", BOARD, "-e", "local", "--dry-run")
    ran = shop.run("import", "dashboard", BOARD, "-e", "local")
    again = shop.run("import", "policies", "-e", "local")

    assert (shown.code, ran.code, again.code) == (0, 0, 0), ran.err
    assert asked == [
        "without -e, commands use `eu`. Write `defaultEnvironment: local` in reconciler.yaml?"
    ] * (1 if agrees else 2)
    after = (shop.root / "reconciler.yaml").read_text()
    assert after == (OTHER_DEFAULT.replace(": eu", ": local", 1) if agrees else OTHER_DEFAULT)


@pytest.mark.promise("S43")
def test_the_default_is_told(shop: Shop) -> None:
    """Without a terminal an import only says which line to write, and the default says nothing."""
    line = "write `defaultEnvironment: local` in reconciler.yaml to use `local`"
    shop.settle(OTHER_DEFAULT)

    ran = shop.run("import", "dashboard", BOARD, "-e", "local")

    assert (shop.root / "reconciler.yaml").read_text() == OTHER_DEFAULT
    assert line in ran.err
    shop.settle(OTHER_DEFAULT.replace(": eu", ": local", 1))
    assert "defaultEnvironment" not in shop.run("import", "policies").err


def test_the_first_folder_is_made(shop: Shop) -> None:
    """Manifests go below the first folder of `manifests:`, which the first import makes."""
    shop.settle("manifests: [live/made]\nenvironments: {local: {emulator: {data: demo.db}}}\n")

    ran = shop.run("import", "dashboard", BOARD, "-e", "local")

    assert (ran.code, ran.out) == (0, "live/made/Dashboard/checkout.yaml\n")
    assert "already" not in ran.err
    assert set(actions(shop, "-e", "local").values()) == {"keep"}


def test_parameterise(shop: Shop) -> None:
    """What differs only by values becomes variables, and each environment keeps its own."""
    shop.settle(
        "# ours\nmanifests: [manifests]\nenvironments:\n"
        "  staging: {emulator: {data: demo.db}}\n"
        "  production:\n    emulator: {data: demo.db}  # the same here\n"
    )
    for name, number, minutes in (("staging", 1, 5), ("production", 2, 60)):
        alert = {
            "id": f"2f6a1c1e-7f0e-4c39-9c1a-0b8f0d8f4a1{number}",
            "alertDefProperties": {
                "name": "Errors",
                "type": "ALERT_DEF_TYPE_METRIC_THRESHOLD",
                "incidentsSettings": {"minutes": minutes},
                "metricThreshold": {"metricFilter": {"promql": f'up{{env="{name}"}}'}},
            },
        }
        export(shop, f"{name}.json", alert)

    given = ("--from", "staging.json", "production.json", "--parameterise", "staging,production")
    ran = shop.run("import", *given, "-e", "staging")
    text = (shop.root / "manifests/AlertDefinition/errors.yaml").read_text()
    project = (shop.root / "reconciler.yaml").read_text()

    assert ran.code == 0, ran.err
    assert 'promql: up{env="${var:environment}"}' in text
    assert "minutes: ${var:errorsMinutes}" in text
    assert project.startswith("# ours\n")
    assert "# the same here" in project
    assert shop.run("validate").code == 0
    assert actions(shop, "-e", "staging") == {"AlertDefinition/errors": "keep"}
    before = files(shop)
    assert shop.run("import", *given, "-e", "staging").code == 0
    assert files(shop) == before


def test_listed(shop: Shop) -> None:
    """`--all` imports what can be listed, and says which alerts the service mentions elsewhere."""
    told = shop.run("import", "--all", "--format", "json").json

    assert [value["ref"] for value in told["imported"]] == ["LogPolicySet/log-policy-set"]
    assert "AlertDefinition a1e47000-0000-4000-8000-000000000001" in [
        value["what"] for value in told["skipped"]
    ]


def test_mentioned_alerts_share_a_line(shop: Shop) -> None:
    """Alerts that are only mentioned are counted in one line, and named with `-v`."""
    short, long = shop.run("import", "--all"), shop.run("import", "--all", "-v")
    (line,) = [line for line in short.err.splitlines() if "found, not imported" in line]
    named = [line for line in long.err.splitlines() if "found, not imported" in line]

    assert len(named) > 1
    assert f" {len(named)} " in short.err.splitlines()[-1]
    assert str(len(named)) in line
    assert "AlertDefinition a1e47000-0000-4000-8000-000000000001" not in short.err
    assert "AlertDefinition a1e47000-0000-4000-8000-000000000001" in long.err


def reading(shop: Shop, switches: dict[str, str]) -> None:
    """Let the service have more reads, and the project file say so."""
    shop.options["profile"] = profile(switches)
    settings: dict[str, Any] = yaml.safe_load(SEEDED)
    settings["environments"]["local"]["api"] = {"reads": reads_of(switches)}
    shop.settle(yaml.safe_dump(settings))


@pytest.mark.promise("S36")
@pytest.mark.parametrize("words", [(), ("--minimal",)])
@pytest.mark.parametrize("shape", ["wrapped", "bare"])
def test_everything_listed(shop: Shop, shape: str, words: tuple[str, ...]) -> None:
    """Where the project file says how, `--all` imports all there is live, and all of it is kept."""
    reading(shop, {"reads": shape, "lists": "some"})

    ran = shop.run("import", "--all", *words)
    before = files(shop)
    planned = actions(shop)
    again = shop.run("import", "--all", *words)

    assert (ran.code, again.code) == (0, 0), ran.err
    assert set(planned.values()) == {"keep"}
    assert len(planned) == 3 + 2 + 1 + 15 + 2
    assert files(shop) == before
    assert "no list of them" not in ran.err
    assert {pair for pair in shop.asked if pair[0] != "GET"} == {("POST", "/cases/cases/v1")}
    assert shop.run("drift").code == 0


def test_alert_and_view_by_id(shop: Shop, golden: Golden) -> None:
    """Where alerts and views can be read, each is imported by its id, and live."""
    reading(shop, {"reads": "wrapped"})
    alert = stored(shop, "alert_definitions")[0]["id"]
    view = stored(shop, "saved_views")[0]["id"]

    found = shop.run("import", "alert", alert), shop.run("import", "view", str(view))
    lost = shop.run("import", "view", "99999")
    no_list = shop.run("import", "--all", "-v")

    assert [one.code for one in found] == [0, 0]
    assert set(actions(shop).values()) == {"keep"}
    entries = shop.run("journal", "show", "--format", "json").json
    listed = entries["entries"] if isinstance(entries, dict) else entries
    assert sum(value["entry"] == "imported" for value in listed) == 3
    assert lost.code == 4
    golden(lost.err)
    # Which alerts were heard of, and in which order, is a matter of the hour.
    golden("\n".join(line for line in no_list.err.splitlines() if "found, not" not in line))
    assert " -e local a1e47000" in no_list.err


@pytest.mark.parametrize(("noun", "name"), [("alert", SLOS[0]), ("view", "1")])
def test_cannot_be_read(shop: Shop, noun: str, name: str) -> None:
    """What nothing tells how to read is refused before anything is asked, with both ways out."""
    ran = shop.run("import", noun, name)

    assert ran.code == 64
    assert "`api: {reads: {" in ran.err
    assert "import --from" in ran.err
    assert shop.asked == []


def test_wrong_list(shop: Shop) -> None:
    """A list that is not where the project file says is said by its kind; the rest is imported."""
    reading(shop, {"reads": "wrapped", "lists": "some"})
    file = shop.root / "reconciler.yaml"
    file.write_text(file.read_text().replace("data.alertDefs", "data.other"))

    ran = shop.run("import", "--all", "--format", "json")

    assert ran.code == 9
    (said,) = [value["why"] for value in ran.json["skipped"] if value["what"] == "AlertDefinition"]
    assert "`api.reads.lists.AlertDefinition`" in said
    assert {value["ref"].partition("/")[0] for value in ran.json["imported"]} == {
        "SLO",
        "Dashboard",
        "LogPolicySet",
        "SavedView",
    }


def test_exports_of_what_can_be_read(shop: Shop) -> None:
    """An export of an alert is no memory of it where the service can be asked."""
    reading(shop, {"reads": "wrapped"})
    export(shop, "alerts.json", stored(shop, "alert_definitions")[:1])

    assert shop.run("import", "--from", "alerts.json").code == 0

    assert not (shop.root / ".reconciler/local.journal.jsonl").exists()
    assert set(actions(shop).values()) == {"keep"}


def without_ids(shop: Shop) -> list[dict[str, Any]]:
    """Write an export of alerts that tells no ids; gives what they were."""
    alerts = stored(shop, "alert_definitions")[:3]
    bare = [{"alertDefProperties": alert["alertDefProperties"]} for alert in alerts]
    export(shop, "alerts.json", bare)
    return alerts


def test_alerts_without_ids(shop: Shop) -> None:
    """Each alert without an id is named, and what to do about it is said once for all of them."""
    alerts = without_ids(shop)

    ran = shop.run("import", "--from", "alerts.json")
    told = shop.run("import", "--from", "alerts.json", "--format", "json").json

    assert ran.code == 4
    assert ran.err.count("it has no id, which this kind needs") == 3
    assert all(alert["alertDefProperties"]["name"] in ran.err for alert in alerts)
    assert ran.err.count('add `"id": "<uuid>"` next to its content') == 1
    assert ran.err.count("`--id NAME=UUID`") == 1
    assert "drift cannot be seen" not in ran.err
    assert all("--id NAME=UUID" in value["why"] for value in told["skipped"])


def test_ids_given_by_names(shop: Shop, golden: Golden) -> None:
    """An alert whose export tells no id gets that of `--id`; what is none is refused by name."""
    alerts = without_ids(shop)
    names = [alert["alertDefProperties"]["name"] for alert in alerts]
    given = [f"--id={name}={alert['id']}" for name, alert in zip(names, alerts, strict=True)]

    wrong = shop.run("import", "--from", "alerts.json", "--id", f"{names[0]}=7", *given[1:])
    right = shop.run("import", "--from", "alerts.json", *given)

    assert (wrong.code, right.code) == (4, 0)
    golden(wrong.err)
    assert set(actions(shop).values()) == {"keep"}
    assert len(actions(shop)) == 3


class Died(BaseException):
    """The process ends here."""


@pytest.fixture
def dying() -> Iterator[list[int]]:
    """Let the process die at a point that is still to come: the first number counts down."""
    left = [-1]

    def watch(point: Point) -> None:
        del point
        left[0] -= 1
        if left[0] == 0:
            raise Died

    failpoints.watch(watch)
    yield left
    failpoints._watchers.remove(watch)


@pytest.mark.parametrize("extra", [[], ["--keep-json"]])
def test_died(shop: Shop, dying: list[int], extra: list[str]) -> None:
    """Wherever a run dies, no file is half, no entry without its file, and the next ends it."""
    for at in range(1, 40):
        dying[0] = at
        try:
            ended = shop.run("import", "dashboard", BOARD, OTHER, *extra).code == 0
        except Died:
            ended = False
        dying[0] = -1
        written = {file.stem for file in sorted((shop.root / "manifests").rglob("*.yaml"))}
        journal = shop.root / ".reconciler/local.journal.jsonl"
        known = journal.read_text() if journal.exists() else ""
        assert all(f"Dashboard/{name}" not in known or name in written for name in ("checkout",))
        assert shop.run("validate").code == 0
        again = shop.run("import", "dashboard", BOARD, OTHER, *extra)
        assert again.code == 0, again.err
        assert actions(shop) == {"Dashboard/checkout": "keep", "Dashboard/search-and-index": "keep"}
        assert journal.read_text().count('"imported"') == 2
        assert not [*(shop.root / "manifests").rglob(".*")]
        if ended:
            return
        for folder in ("manifests/Dashboard", ".reconciler"):
            rmtree(shop.root / folder)
    pytest.fail("a run passes fewer points than that")
