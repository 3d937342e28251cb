"""`reconciler adopt`: live edits come into the manifests in place, or a person decides."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from harness.doors import Ran, typed
from harness.golden import Golden
from harness.workspaces import ALERT, PROJECT, VIEW, Workspace, project_at

from reconciler.document import ABSENT, Json
from reconciler.emulator import create_app
from reconciler.errors import InvalidInput
from reconciler.features.adopt.adoption import Adopted, Adoption, AdoptionRun
from reconciler.features.adopt.adoption_formats import adopted_markdown
from reconciler.features.adopt.command import _as_expected
from reconciler.journal.entries import LastWrite
from reconciler.journal.history import Memory
from reconciler.journal.line_fields import Rewritten
from reconciler.kinds import BY_NAME
from reconciler.model import Ref, Seen, Source
from reconciler.runtime.failpoints import Point, _watchers

POLICIES = """\
apiVersion: reconciler/v1
kind: LogPolicySet
metadata:
  name: logs
spec:
  policies:
    # Errors are kept.
    - policy:
        name: Keep errors
        description: Kept
        priority: PRIORITY_TYPE_HIGH
      logRules:
        severities: [SEVERITY_ERROR]
    # Debug is dropped.
    - policy:
        name: Drop debug
        description: Dropped
        priority: PRIORITY_TYPE_BLOCK
      logRules:
        severities: [SEVERITY_DEBUG]
"""
GOAL = """\
apiVersion: reconciler/v1
kind: SLO
metadata:
  name: goal
spec:
  name: Goal
  targetThresholdPercentage: 98 # agreed
  sloTimeFrame: SLO_TIME_FRAME_28_DAYS
  requestBasedMetricSli:
    goodEvents: {query: good}
    totalEvents: {query: all}
"""
ROOT = "/mgmt/openapi/latest"
READ_ONLY = ("type", "creator", "revision", "createTime", "updateTime")
DASHBOARDS = f"{ROOT}/v1/dashboards/dashboards"
BOARD = """\
# The board of the team.
apiVersion: reconciler/v1
kind: Dashboard
metadata:
  name: checkout   # kept
spec:
  dashboard:
    name: 'Checkout'
    description: Of ${var:team}
    relativeTimeFrame: ${var:window}   # as everywhere
    layout:
      sections:
        - rows:
            - appearance: {height: 19}
              widgets:
                # What matters.
                - title: "Errors"   # red
                  definition:
                    markdown:
                      markdownText: |
                        first
                        second
                - title: Latency
                  definition: {markdown: {markdownText: slow}}
"""
WIDGET, OTHER = (f"aaaaaaaa-0000-4000-8000-00000000000{nth}" for nth in (1, 2))
VARIABLES = PROJECT + "    variables: {team: payments, window: 900s}\n"


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """Give a workspace with one applied dashboard."""
    made = project_at(tmp_path.resolve(), VARIABLES, board=BOARD)
    assert made.apply().code == 0
    return made


def adopt(shop: Workspace, *words: str) -> Ran:
    """Run adopt on the project."""
    return typed("adopt", "--project", str(shop.root / "reconciler.yaml"), *words)


def text_of(shop: Workspace, name: str = "board.yaml") -> str:
    return (shop.root / name).read_text(encoding="utf-8")


def journal_of(shop: Workspace) -> str:
    return (shop.root / ".reconciler" / "local.journal.jsonl").read_text(encoding="utf-8")


def outside(
    shop: Workspace, deed: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
) -> None:
    """Let somebody else write to the service."""

    async def ask() -> None:
        transport = httpx.ASGITransport(create_app(shop.root / ".reconciler" / "local.db"))
        headers = {"Authorization": "someone"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://emulator", headers=headers
        ) as client:
            answer = await deed(client)
            assert answer.is_success, answer.text

    asyncio.run(ask())


def edit_live(shop: Workspace, edit: Callable[[Any], None], slug: str = "checkout") -> None:
    """Let somebody edit a dashboard live."""

    async def deed(client: httpx.AsyncClient) -> httpx.Response:
        board = (await client.get(f"{ROOT}/v1/dashboards/by-slug/{slug}")).json()["dashboard"]
        edit(board)
        return await client.put(DASHBOARDS, json={"dashboard": board, "requestId": "theirs"})

    outside(shop, deed)


def edit_goal(shop: Workspace, **fields: Any) -> None:
    """Let somebody edit the SLO live."""

    async def deed(client: httpx.AsyncClient) -> httpx.Response:
        written = [json.loads(line) for line in journal_of(shop).splitlines()]
        (known,) = {
            value["remoteId"]
            for value in written
            if value.get("ref") == "SLO/goal" and value["entry"] == "written"
        }
        goal = (await client.get(f"{ROOT}/v1/slo/slos/{known}")).json()["slo"]
        kept = {key: value for key, value in goal.items() if key not in READ_ONLY}
        return await client.put(f"{ROOT}/v1/slo/slos", json={**kept, **fields})

    outside(shop, deed)


def test_policies_without_severities_are_adopted(shop: Workspace) -> None:
    """A list that was imported without what the service does not return takes edits, too."""
    overwrite_policies(shop, ["Keep errors", "Drop debug"])
    project = ("--project", str(shop.root / "reconciler.yaml"))
    assert typed("import", "policies", *project).code == 0
    overwrite_policies(shop, ["Drop debug", "New", "Keep errors"])

    ran = adopt(shop, "LogPolicySet/log-policy-set", "--format", "json")
    changes = {change["ref"]: change["action"] for change in shop.plan()["changes"]}

    assert (ran.code, ran.json["resources"][0]["state"]) == (0, "adopted")
    assert changes["LogPolicySet/log-policy-set"] == "keep"


def overwrite_policies(shop: Workspace, names: Sequence[str]) -> None:
    """Let somebody overwrite the list of log policies, those that are not there yet as new ones."""
    url = f"{ROOT}/dataplans/policies/v1"

    async def deed(client: httpx.AsyncClient) -> httpx.Response:
        found = (await client.get(url, params={"sourceType": "SOURCE_TYPE_LOGS"})).json()
        known = {policy["name"]: policy for policy in found["policies"]}
        told = ("name", "description", "priority")
        new = {"priority": "PRIORITY_TYPE_LOW", "description": "Made live"}
        policies = [
            {key: {**new, **known.get(name, {}), "name": name}[key] for key in told}
            for name in names
        ]
        rules = {"severities": ["SEVERITY_INFO"]}
        body = {"policies": [{"policy": policy, "logRules": rules} for policy in policies]}
        return await client.post(f"{url}/atomicOverwriteLogPolicies", json=body)

    outside(shop, deed)


def widgets(board: Any) -> Any:
    return board["layout"]["sections"][0]["rows"][0]["widgets"]


def rename(board: Any) -> None:
    board["name"] = "Live"


def test_a_new_journal_is_begun(shop: Workspace) -> None:
    """After the loss of a journal an adoption warns that it begins another one, and where."""
    for file in (shop.root / ".reconciler").glob("local.journal*"):
        file.unlink()
    edit_live(shop, rename)

    first, again = adopt(shop, "--all", "--theirs"), adopt(shop, "--all")

    assert journal_of(shop)
    place = str(shop.root / ".reconciler" / "local.journal.jsonl")
    assert [f"{place}, so this run begins" in ran.err for ran in (first, again)] == [True, False]


def test_a_missing_journal_is_reported(shop: Workspace) -> None:
    """Without a journal an adoption of nothing warns of that, and begins none."""
    for file in (shop.root / ".reconciler").glob("local.journal*"):
        file.unlink()
    shop.write("board.yaml", VIEW)

    ran = adopt(shop, "--all")

    place = shop.root / ".reconciler" / "local.journal.jsonl"
    assert ran.err.count(str(place)) == 1
    assert not place.exists()


def test_edits_come_in(shop: Workspace) -> None:
    """Only the lines that changed live change in the manifest, and the next plan is all keep."""

    def edit(board: Any) -> None:
        rename(board)
        board["description"] = "Owned by payments"
        widgets(board)[0]["definition"]["markdown"]["markdownText"] = "first\nthird\n"
        widgets(board).reverse()

    edit_live(shop, edit)
    ran = adopt(shop, "--all")

    wanted = BOARD.replace("'Checkout'", "'Live'").replace("Of ${var:team}", "Owned by ${var:team}")
    head, mark, rest = wanted.partition("                # What matters.\n")
    errors, title, latency = rest.partition("                - title: Latency\n")
    assert ran.code == 0, ran.err
    moved = mark + errors.replace("second", "third")
    assert text_of(shop) == head + title + latency + moved
    assert {change["action"] for change in shop.plan()["changes"]} == {"keep"}
    assert adopt(shop, "--all", "--format", "json").json["summary"]["same"] == 1


def test_one_run(shop: Workspace) -> None:
    """All entries of an adoption are of one run, which has an id of its own."""
    before = len(journal_of(shop).splitlines())
    edit_live(shop, rename)

    assert adopt(shop, "--all").code == 0

    new = [json.loads(line) for line in journal_of(shop).splitlines()[before:]]
    runs = {entry["run"] for entry in new if "run" in entry}
    assert {"run", "started", "written"} <= {entry["entry"] for entry in new}
    assert [str(UUID(run)) for run in runs] == [*runs]
    assert len(runs) == 1


def test_dry_run(shop: Workspace, golden: Golden) -> None:
    """A dry run shows the diff and writes neither manifest nor journal."""
    edit_live(shop, rename)
    book = journal_of(shop)

    ran = adopt(shop, "Dashboard/checkout", "--dry-run")

    assert ran.code == 0
    golden(ran.out)
    assert (text_of(shop), journal_of(shop)) == (BOARD, book)


def test_changed_meanwhile(shop: Workspace, golden: Golden) -> None:
    """A manifest that somebody saves while adopt runs is left as it is, and that is said."""
    theirs = BOARD.replace("Latency", "Speed")

    def save(reached: Point) -> None:
        if reached is Point.REPLY_READ:
            shop.write("board.yaml", theirs)

    edit_live(shop, rename)
    _watchers.append(save)
    try:
        ran = adopt(shop, "--all")
    finally:
        _watchers.remove(save)

    assert ran.code == InvalidInput.exit_code
    golden(ran.err)
    assert text_of(shop) == theirs


def test_what_cannot_be_shown(shop: Workspace, golden: Golden) -> None:
    """What the API cannot show is never told to be as live: not in the lines, nor in the sum."""
    shop.write("more.yaml", f"{ALERT}---\n{VIEW}")

    ran = adopt(shop, "--all", "-v")

    lines = [line.strip() for line in ran.out.splitlines()]
    marked = [line.partition("  ")[0] for line in lines if line.startswith(("=", "?"))]
    assert marked == ["? AlertDefinition/errors", "= Dashboard/checkout", "? SavedView/errors"]
    golden(lines[-1])


def test_gone(shop: Workspace, golden: Golden) -> None:
    """Of what is gone live, adopt says how to go on, and why it thinks so."""
    (shop.root / ".reconciler" / "local.db").unlink()

    told = adopt(shop, "Dashboard/checkout")
    note = adopt(shop, "Dashboard/checkout", "--format", "json").json["resources"][0]["note"]

    assert told.code == 3
    for said in (" ".join(told.out.split()), note):
        golden(said)


def test_only_the_journal(shop: Workspace, golden: Golden) -> None:
    """What git says already is counted alike as text and as JSON, and then it is as live."""
    edit_live(shop, rename)
    mine = BOARD.replace("'Checkout'", "'Live'")
    shop.write("board.yaml", mine)

    counted = adopt(shop, "--all", "--dry-run", "--format", "json").json["summary"]
    told = adopt(shop, "--all", "-v").out

    assert (counted["adopted"], counted["same"]) == (1, 0)
    golden(told)
    assert text_of(shop) == mine
    assert "; 1 as live already." in adopt(shop, "--all").out


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_conflict(shop: Workspace, side: str) -> None:
    """What git changed too is shown from three sides, and touched only once somebody decides."""
    mine = BOARD.replace("'Checkout'", "'Git'")
    shop.write("board.yaml", mine)
    edit_live(shop, rename)
    book = journal_of(shop)

    ran = adopt(shop, "--all", "--format", "json")
    (told,) = ran.json["resources"]

    assert ran.code == 3
    assert (text_of(shop), journal_of(shop)) == (mine, book)
    assert told["conflicts"] == [
        {
            "path": ["dashboard", "name"],
            "base": "Checkout",
            "git": "Git",
            "live": "Live",
            "secret": False,
            "resolved": None,
        }
    ]
    shown = adopt(shop, "--all").out
    assert all(one in shown for one in ("Checkout", "Git", "Live", "--theirs"))

    assert adopt(shop, "Dashboard/checkout", side).code == 0
    assert text_of(shop) == (mine if side == "--ours" else mine.replace("'Git'", "'Live'"))
    assert shop.apply().code == 0


def edited_live(shop: Workspace) -> None:
    edit_live(shop, rename)


def edited_in_both(shop: Workspace) -> None:
    shop.write("board.yaml", BOARD.replace("'Checkout'", "'Git'"))
    edit_live(shop, rename)


def never_written(shop: Workspace) -> None:
    edit_live(shop, rename)
    # Another machine, which knows of no journal.
    for file in (shop.root / ".reconciler").glob("local.journal*"):
        file.unlink()
    assert typed("journal", "init", "--project", str(shop.root / "reconciler.yaml")).code == 0


@pytest.mark.parametrize(
    ("happened", "code"),
    [
        (edited_live, "overwrites-edit"),
        (edited_in_both, "overwrites-edit"),
        (never_written, "takes-over"),
    ],
)
def test_adopt_as_a_remedy(
    shop: Workspace, happened: Callable[[Workspace], None], code: str
) -> None:
    """A guard that names `adopt` names the flag that it takes, and is gone after it."""
    happened(shop)
    (guard,) = shop.plan()["guards"]
    (way,) = (value for value in guard["waysOut"] if "reconciler adopt" in value)
    command = shlex.split(way.split("`")[1])

    ran = typed(*command[1:])

    assert (guard["code"], ran.code) == (code, 0), ran.err
    assert shop.plan()["guards"] == []
    assert "'Live'" in text_of(shop)


@pytest.mark.promise("S20")
def test_adopt_as_a_remedy_of_several(shop: Workspace) -> None:
    """The one `adopt` that a plan names for several resources takes over all of them."""
    shop.write("other.yaml", BOARD.replace("name: checkout ", "name: other "))
    assert shop.apply().code == 0
    for slug in ("checkout", "other"):
        edit_live(shop, rename, slug)

    (way,) = re.findall("`(reconciler adopt [^`]*)`", shop.run("plan").out)
    ran = typed(*shlex.split(way)[1:])

    assert ran.code == 0, ran.err
    assert shop.plan()["guards"] == []
    assert all("'Live'" in text_of(shop, name) for name in ("board.yaml", "other.yaml"))


def test_one_conflict_stops_no_other(shop: Workspace) -> None:
    """A conflict of one resource leaves the others of its file to be adopted."""
    other = BOARD.replace("name: checkout ", "name: other ").replace("'Checkout'", "'Other'")
    both = f"{BOARD}---\n{other}"
    shop.write("board.yaml", both)
    assert shop.apply().code == 0
    shop.write("board.yaml", both.replace("'Checkout'", "'Git'"))
    edit_live(shop, rename)
    edit_live(shop, rename, "other")

    ran = adopt(shop, "--all")

    assert ran.code == 3
    assert text_of(shop) == both.replace("'Checkout'", "'Git'").replace("'Other'", "'Live'")


def test_git_edits_wait(shop: Workspace) -> None:
    """An edit of git elsewhere in a resource is neither lost nor taken for adopted."""
    mine = BOARD.replace("title: Latency", "title: Speed")
    shop.write("board.yaml", mine)
    edit_live(shop, rename)

    assert adopt(shop, "--all").code == 0

    assert text_of(shop) == mine.replace("'Checkout'", "'Live'")
    (change,) = shop.plan()["changes"]
    assert [(field["before"], field["after"]) for field in change["fields"]] == [
        ("Latency", "Speed")
    ]
    assert shop.apply().code == 0


def test_whole_numbers_stay_integers(shop: Workspace) -> None:
    """What a manifest says as an integer stays one, in its text and where a conflict is told."""
    shop.write("goal.yaml", GOAL)
    assert shop.apply().code == 0
    shop.write("goal.yaml", GOAL.replace("98", "99"))
    edit_goal(shop, targetThresholdPercentage=97)

    shown = adopt(shop, "--all").out
    assert adopt(shop, "--all", "--theirs").code == 0

    assert "97" in shown
    assert "97.0" not in shown
    assert text_of(shop, "goal.yaml") == GOAL.replace("98", "97")


def test_new_items_are_as_their_neighbours(shop: Workspace) -> None:
    """A new item has the fields in the order of those beside it, and is indented as they are."""
    shop.write("logs.yaml", POLICIES)
    named = BOARD.replace(
        '- title: "Errors"', f'- id: {{value: {WIDGET}}}\n                  title: "Errors"'
    )
    shop.write("board.yaml", named)
    assert shop.apply().code == 0

    def edit(board: Any) -> None:
        widgets(board).append({**widgets(board)[0], "id": {"value": OTHER}, "title": "New"})

    edit_live(shop, edit)
    overwrite_policies(shop, ["Keep errors", "Drop debug", "New"])
    assert adopt(shop, "--all").code == 0

    new = text_of(shop, "logs.yaml").removeprefix(POLICIES)
    assert new.startswith(
        "    # logRules.severities: not returned by the service; add it before this is changed\n"
        "    - policy:\n"
        "        name: New\n"
        "        description: Made live\n"
        "        priority: PRIORITY_TYPE_LOW\n"
    )
    assert text_of(shop).removeprefix(named) == (
        f"                - id: {{value: {OTHER}}}\n"
        '                  title: "New"\n'
        "                  definition:\n"
        "                    markdown:\n"
        "                      markdownText: |\n"
        "                        first\n"
        "                        second\n"
    )


@pytest.mark.parametrize("applied", [True, False])
def test_destroyed_policies(shop: Workspace, *, applied: bool) -> None:
    """The command that the guard of a destroy names declares the policies that others made."""
    shop.write("logs.yaml", POLICIES)
    assert shop.apply().code == 0
    if not applied:
        assert typed("journal", "forget", "LogPolicySet/logs", "--path", str(shop.root)).code == 0
    overwrite_policies(shop, ["Keep errors", "Drop debug", "New"])

    (guard,) = destroys(shop)
    named = [way for way in guard["waysOut"] if "reconciler adopt" in way]
    (words,) = (shlex.split(way.split("`")[1])[1:] for way in named)
    assert "New" in guard["message"]
    assert typed(*words).code == 0

    assert "name: New" in text_of(shop, "logs.yaml")
    assert destroys(shop) == []


def test_dropped_policies(shop: Workspace) -> None:
    """No adoption is named for policies that this journal wrote and git dropped: it keeps none."""
    shop.write("logs.yaml", POLICIES)
    assert shop.apply().code == 0
    shop.write("logs.yaml", POLICIES.partition("    # Debug")[0])

    (guard,) = destroys(shop)

    assert "Drop debug" in guard["message"]
    assert not [way for way in guard["waysOut"] if "adopt" in way]


def destroys(shop: Workspace) -> list[dict[str, Any]]:
    """Give the objections to what a plan would destroy."""
    return [guard for guard in shop.plan()["guards"] if guard["code"] == "destroys"]


@pytest.mark.parametrize("words", [("--all",), ("Dashboard/checkout", "--theirs")])
@pytest.mark.parametrize("path", ["dashboard.layout.**", "dashboard.layout"])
def test_what_may_differ_is_left_alone(shop: Workspace, path: str, words: tuple[str, ...]) -> None:
    """What the project file expects to differ is not adopted, and counted; all else is."""
    rule = f"driftIgnore:\n  - {{path: {path}, reason: arranged live}}\n"
    shop.write("reconciler.yaml", VARIABLES + rule)

    def edit(board: Any) -> None:
        widgets(board)[0]["title"] = "Live"
        widgets(board).reverse()
        widgets(board).append({**widgets(board)[0], "id": {"value": OTHER}})
        del widgets(board)[0]

    edit_live(shop, edit)
    ran = adopt(shop, *words)
    assert (ran.code, text_of(shop)) == (0, BOARD)
    assert " ignored." in ran.out

    edit_live(shop, rename)
    ran = adopt(shop, *words, "--format", "json")
    assert ran.json["summary"]["adopted"] == 1
    assert ran.json["summary"]["ignored"] > 0
    assert text_of(shop) == BOARD.replace("'Checkout'", "'Live'")


def test_exports(shop: Workspace) -> None:
    """The JSON behind `spec.file` is rewritten in its own layout, what it alone has too."""
    content = {"dashboard": {"name": "Export", "created_at": "x", "layout": {"sections": []}}}
    text = json.dumps(content, indent="\t")
    shop.write("exports/board.json", text)
    manifest = (
        BOARD.split("spec:", maxsplit=1)[0].replace("checkout ", "export ")
        + "spec: {file: exports/board.json}\n"
    )
    shop.write("export.yaml", manifest)
    assert shop.apply().code == 0

    edit_live(shop, rename, "export")
    assert adopt(shop, "--all").code == 0

    assert text_of(shop, "exports/board.json") == text.replace("Export", "Live")
    assert text_of(shop, "export.yaml") == manifest


def test_secrets_stay_out(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A live value where a secret belongs is never written, nor shown, whoever is right."""
    monkeypatch.setenv("TOKEN", "first-secret-value")
    mine = BOARD.replace("Of ${var:team}", "${secret:TOKEN}")
    shop.write("board.yaml", mine)
    assert shop.apply().code == 0

    def edit(board: Any) -> None:
        board["description"] = "another-secret-value"
        widgets(board)[1]["title"] = "first-secret-value"

    edit_live(shop, edit)
    ran = adopt(shop, "--all", "--theirs")

    assert ran.code == 3
    assert text_of(shop) == mine
    assert "secret-value" not in ran.out + ran.err
    assert adopt(shop, "--all", "--ours").code == 0
    assert text_of(shop) == mine.replace("title: Latency", "title: ${secret:TOKEN}")


def test_shared_anchors_are_forked(shop: Workspace, golden: Golden) -> None:
    """A part that repeats another is written out once it differs, and that is said."""
    mine = BOARD.replace("title: Latency", "title: *title").replace('"Errors"', '&title "Errors"')
    shop.write("board.yaml", mine)
    assert shop.apply().code == 0

    def edit(board: Any) -> None:
        widgets(board)[1]["title"] = "Other"

    edit_live(shop, edit)
    ran = adopt(shop, "--all")

    assert text_of(shop) == mine.replace("*title", '"Other"')
    golden(ran.out)


@pytest.mark.promise("S62")
def test_a_comment_follows_an_anchor(shop: Workspace) -> None:
    """A comment behind an anchor stays, and what repeats the anchor is written out."""
    mine = GOAL.replace("{query: good}", "&q   # shared\n      query: all").replace(
        "{query: all}", "*q"
    )
    shop.write("goal.yaml", mine)
    assert shop.apply().code == 0
    edit_goal(
        shop, requestBasedMetricSli={"goodEvents": {"query": "x"}, "totalEvents": {"query": "all"}}
    )

    assert adopt(shop, "--all").code == 0
    assert text_of(shop, "goal.yaml") == mine.replace(
        " &q   # shared\n      query: all", "   # shared\n      query: x"
    ).replace("*q", "&q\n      query: all")


@pytest.mark.parametrize("point", [Point.FILE_KEPT, Point.FILE_REPLACED, Point.JOURNAL_OPENED])
def test_a_run_that_dies_is_made_good(shop: Workspace, point: Point) -> None:
    """Wherever a run dies, the manifest is whole, and the next run finishes what is left."""
    edit_live(shop, rename)

    def die(reached: Point) -> None:
        if reached is point:
            raise SystemError

    _watchers.append(die)
    try:
        assert adopt(shop, "--all").code == 1
    finally:
        _watchers.remove(die)
    assert text_of(shop) in (BOARD, BOARD.replace("'Checkout'", "'Live'"))
    assert [path.name for path in shop.root.iterdir() if path.name.endswith(".new")] == []

    assert adopt(shop, "--all").code == 0
    assert text_of(shop) == BOARD.replace("'Checkout'", "'Live'")
    assert {change["action"] for change in shop.plan()["changes"]} == {"keep"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--all"),
        (("Dashboard/checkout", "--all"), "--all"),
        (("Dashboard/chekout",), "did you mean Dashboard/checkout"),
        (("--all", "--ours", "--theirs"), "exclude each other"),
    ],
)
def test_bad_lines(shop: Workspace, words: tuple[str, ...], said: str) -> None:
    """A line that does not say what to adopt is a usage error that says how."""
    ran = adopt(shop, *words)

    assert ran.code == 64
    assert said in ran.err


@pytest.mark.parametrize("way", [["--format", "text"], ["--format", "markdown"]])
def test_removed_part_by_its_title(shop: Workspace, way: list[str]) -> None:
    """A widget that somebody removed live is called by its title, which live does not tell."""
    ids = []

    def edit(board: Any) -> None:
        removed = widgets(board).pop(1)
        ids.append(str(removed["id"]))

    edit_live(shop, edit)

    drifted = typed("drift", str(shop.root), *way).out
    adopted = adopt(shop, "--all", *way).out

    assert ids[0]
    for told in (drifted, adopted):
        assert 'widget "Latency"' in told
        assert all(one not in told for one in (ids[0], ids[0].partition("'")[0]))


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_advised_by_drift(shop: Workspace, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that drift advises takes the edit over as printed: then all is kept."""
    monkeypatch.chdir(shop.root.parent)
    edit_live(shop, rename)

    told = typed("drift", str(shop.root), "--format", form).out
    (advised,) = set(re.findall(r"reconciler (adopt [^`\"\n]*)", told.replace("\n      ", " ")))
    ran = typed(*shlex.split(advised))

    assert ran.code == 0, ran.err
    assert text_of(shop) == BOARD.replace("'Checkout'", "'Live'")
    assert {change["action"] for change in shop.plan()["changes"]} == {"keep"}
    assert typed("drift", str(shop.root)).code == 0


def test_long_markdown(golden: Golden) -> None:
    """Where diffs are left out of a comment, it says where all of them stand."""
    wide = Adoption(
        ref=Ref("Dashboard", "a"),
        source=Source("a.yaml", 1),
        state="adopted",
        adopted=tuple(Adopted((f"f{nth}",), ABSENT, "x" * 80, "add") for nth in range(2_000)),
    )

    told = adopted_markdown(AdoptionRun(environment="e", target="t", adoptions=(wide,)))

    golden(told)


@pytest.mark.parametrize("way", ["text", "markdown", "json", "html"])
def test_removed_part_with_a_secret_title(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret that was the title of what was removed is shown in no format."""
    monkeypatch.setenv("NAME", "hunter2hunter2")
    secret = BOARD.replace("title: Latency", "title: '${secret:NAME}'")
    shop = project_at(tmp_path.resolve(), VARIABLES, board=secret)
    assert shop.apply().code == 0
    edit_live(shop, lambda board: widgets(board).pop(1))

    drifted = typed("drift", str(shop.root), "--format", way)
    adopted = adopt(shop, "--all", "--dry-run", *([] if way == "html" else ["--format", way]))

    assert (drifted.code, "slow" in drifted.out) == (2, True)
    assert "hunter2" not in drifted.out + adopted.out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_moves_are_said(shop: Workspace, form: str, golden: Golden) -> None:
    """What moved in its list is told by its name and places, as drift tells it."""
    edit_live(shop, lambda board: widgets(board).reverse())

    ran = adopt(shop, "--all", "--dry-run", "--format", form)
    (line,) = [line for line in ran.out.splitlines() if "moves from" in line]

    assert 'widget "Errors"' in line
    assert line in typed("drift", str(shop.root), "--format", form).out
    golden(ran.out)
    assert '["' not in ran.out


def test_what_the_service_rewrote_next_to_an_edit() -> None:
    """A rewritten value is no edit, in a list without identities that an edit made longer."""
    path = ("variablesV2", 0, "source", "static", "values", 0, "label")
    sent: list[Json] = [{"label": "a ", "value": "a"}]
    got: list[Json] = [{"label": "a", "value": "a"}, {"label": "new", "value": "n"}]
    last = LastWrite(
        remote_id="id",
        at="2025-01-31T09:00:00Z",
        declared=board_of(sent),
        rewritten=(Rewritten(path, "a ", "a"),),
    )
    kind = BY_NAME["Dashboard"]
    seen, memory = Seen("id", board_of(got)), Memory(last=last)

    edited, made = _as_expected(kind, seen, last.declared, memory, "salt")

    assert edited == board_of([*sent, got[1]])
    assert made == {path}


def board_of(values: list[Json]) -> dict[str, Json]:
    return {
        "name": "K",
        "variablesV2": [{"name": "one", "source": {"static": {"values": values}}}],
    }
