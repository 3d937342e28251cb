"""`adopt`: random live edits of manifests in varied styles, adopted, and then nothing is to do.

Every other case lets git change a field that is edited live too: that is a conflict, told with
all three values, and nothing of the resource is touched before somebody decides.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import httpx

sys.path.append(str(Path(__file__).parent.parent / "workspace"))

from adopted_texts import case
from stage import Stage, Tally
from styled_texts import Alias, Mapping, Member, Sequence, Style, style_of

from reconciler.cli.root import run
from reconciler.emulator import create_app
from reconciler.runtime.failpoints import Point, watch
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import written

ROOT = "/mgmt/openapi/latest"
DASHBOARDS = "/v1/dashboards/dashboards"
SLOS = "/v1/slo/slos"
POLICIES = "/dataplans/policies/v1"
PROJECT = """\
manifests: [.]
environments:
  local:
    emulator: {data: .reconciler/local.db}
    journal: .reconciler/local.journal.jsonl
    variables: {team: payments, window: 900s}
"""
TITLES = (
    "Errors",
    "Latency of checkout",
    "Orders: all",
    "# odd",
    "'quoted'",
    "12",
    "é ü ß",
    "a\nb",
)
QUERIES = (
    "sum(rate(errors[5m]))",
    "source logs\n| filter a == 1\n| count",
    "up",
    'a{b="c: d"} # e',
)


def uuid(chance: Random) -> str:
    """Give a new uuid."""
    return str(UUID(int=chance.getrandbits(128), version=4))


@dataclass
class Drawn:
    """Draws what is declared, and the edits of others."""

    chance: Random

    def widget(self) -> dict[str, Any]:
        """Give a widget, with its id or without."""
        made: dict[str, Any] = {
            "title": self.chance.choice(TITLES),
            "definition": {
                "lineChart": {
                    "queryDefinitions": [
                        {
                            "id": uuid(self.chance),
                            "query": {
                                "metrics": {"promqlQuery": {"value": self.chance.choice(QUERIES)}}
                            },
                        }
                        for _ in range(self.chance.randint(1, 2))
                    ]
                }
            },
        }
        if self.chance.random() < 0.4:
            made = {
                "title": made["title"],
                "definition": {"markdown": {"markdownText": self.chance.choice(QUERIES)}},
            }
        if self.chance.random() < 0.5:
            made["description"] = self.chance.choice(
                ("why", "for ${var:team}", "a long text of more words")
            )
        return made

    def dashboard(self, name: str) -> dict[str, Any]:
        """Give the spec of a dashboard."""
        sections = [
            {
                "options": {"custom": {"name": f"Section {nth}"}},
                "rows": [
                    {
                        "appearance": {"height": self.chance.choice((10, 19))},
                        "widgets": [self.widget() for _ in range(self.chance.randint(1, 3))],
                    }
                    for _ in range(self.chance.randint(1, 2))
                ],
            }
            for nth in range(self.chance.randint(1, 3))
        ]
        if self.chance.random() < 0.6:
            for section in sections:
                _identify(section, self.chance)
        board = {
            "name": name,
            "relativeTimeFrame": self.chance.choice(("900s", "${var:window}")),
            "off": {},
            "layout": {"sections": sections},
        }
        if self.chance.random() < 0.6:
            board["description"] = self.chance.choice(
                ("Of ${var:team}", "What it shows", "two\nlines\n")
            )
        return {"dashboard": board}

    def slo(self, name: str) -> dict[str, Any]:
        """Give the spec of an SLO."""
        made: dict[str, Any] = {
            "name": name,
            "description": "How well ${var:team} does",
            "targetThresholdPercentage": self.chance.choice((99.5, 95, 99.9)),
            "sloTimeFrame": "SLO_TIME_FRAME_28_DAYS",
            "requestBasedMetricSli": {
                "goodEvents": {"query": self.chance.choice(QUERIES)},
                "totalEvents": {"query": "all"},
            },
        }
        if self.chance.random() < 0.5:
            made["labels"] = {"team": "${var:team}", "tier": "one"}
        return made

    def policies(self) -> dict[str, Any]:
        """Give the spec of a policy list."""
        return {
            "policies": [self.policy(f"Policy {nth}") for nth in range(self.chance.randint(2, 4))]
        }

    def policy(self, name: str) -> dict[str, Any]:
        """Give one policy."""
        return {
            "logRules": {"severities": ["SEVERITY_INFO", "SEVERITY_ERROR"]},
            "policy": {
                "name": name,
                "description": self.chance.choice(("cheap", "by ${var:team}")),
                "priority": self.chance.choice(("PRIORITY_TYPE_LOW", "PRIORITY_TYPE_HIGH")),
                "disabled": False,
            },
        }

    def edit_dashboard(self, board: dict[str, Any]) -> None:  # noqa: C901 - a table of edits
        """Edit a live dashboard as a person does in the web interface."""
        sections = board["layout"]["sections"]
        rows = [row for section in sections for row in section["rows"]]
        row = self.chance.choice(rows)
        match self.chance.randrange(9):
            case 0:
                board["name"] = board["name"] + " edited"
            case 1:
                board["description"] = "edited live"
            case 2 if row["widgets"]:
                self.chance.choice(row["widgets"])["title"] = "Edited: live"
            case 3:
                new = self.widget()
                new["id"] = {"value": uuid(self.chance)}
                row["widgets"].insert(
                    self.chance.randint(0, len(row["widgets"])),
                    json.loads(json.dumps(new).replace("${var:team}", "x")),
                )
            case 4 if len(row["widgets"]) > 1:
                row["widgets"].pop(self.chance.randrange(len(row["widgets"])))
            case 5 if len(row["widgets"]) > 1:
                row["widgets"].insert(0, row["widgets"].pop())
            case 6 if row["widgets"]:
                other = self.chance.choice(rows)
                moved = row["widgets"].pop(self.chance.randrange(len(row["widgets"])))
                other["widgets"].insert(self.chance.randint(0, len(other["widgets"])), moved)
            case 7:
                board.pop("relativeTimeFrame", None)
                board["absoluteTimeFrame"] = {
                    "from": "2025-01-01T00:00:00Z",
                    "to": "2025-01-02T00:00:00Z",
                }
            case _:
                _edit_query(row["widgets"], self.chance)

    def edit_slo(self, slo: dict[str, Any]) -> None:
        """Edit a live SLO."""
        match self.chance.randrange(4):
            case 0:
                slo["targetThresholdPercentage"] = 97.5
            case 1:
                slo["description"] = "How badly payments does"
            case 2:
                slo["name"] += " edited"
            case _:
                slo["requestBasedMetricSli"]["goodEvents"]["query"] = "edited\nquery"

    def edit_policies(self, items: list[dict[str, Any]]) -> None:
        """Edit the live list of policies, as requests of an overwrite."""
        match self.chance.randrange(4):
            case 0:
                self.chance.choice(items)["policy"]["priority"] = "PRIORITY_TYPE_BLOCK"
            case 1:
                self.chance.choice(items)["policy"]["description"] = "edited: live"
            case 2:
                items.insert(0, items.pop())
            case _ if len(items) > 1:
                items.pop(self.chance.randrange(len(items)))


def _edit_query(widgets: list[Any], chance: Random) -> None:
    for widget in widgets:
        definition = widget["definition"]
        if "markdown" in definition:
            definition["markdown"]["markdownText"] += " edited"
        else:
            found = chance.choice(definition["lineChart"]["queryDefinitions"])
            found["query"]["metrics"]["promqlQuery"]["value"] += "\n| edited"


def _identify(section: dict[str, Any], chance: Random) -> None:
    section["id"] = {"value": uuid(chance)}
    for row in section["rows"]:
        row["id"] = {"value": uuid(chance)}
        for widget in row["widgets"]:
            widget["id"] = {"value": uuid(chance)}


def modelled(style: Style, value: Any, *, in_flow: str = "", depth: int = 0) -> Any:
    """Give a value as a model in some style, comments and anchors here and there."""
    if isinstance(value, dict | list) and value:
        small = len(json.dumps(value)) < 60
        flow = in_flow or (style.random.choice(("", "one", "multi")) if small and depth > 2 else "")
        is_map = isinstance(value, dict)
        pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
        members = [
            Member(
                modelled(style, value, in_flow=flow, depth=depth + 1), str(key) if is_map else ""
            )
            for key, value in pairs
        ]
        made: Any = Mapping(members, flow) if is_map else Sequence(members, flow)
        for member in members:
            style.decorate(member, flow)
        return made
    if isinstance(value, dict | list):
        return Mapping([], "one") if isinstance(value, dict) else Sequence([], "one")
    made = style.scalar(value, in_flow=bool(in_flow))
    if style.is_json or in_flow or not isinstance(value, str) or depth < 3:
        return made
    known = next((one for one in style.anchored if one.value == value), None)  # type: ignore[attr-defined]  # scalars only
    if known is not None and style.maybe(0.7):
        return Alias(known)
    if made.style not in ("|", ">") and style.maybe(0.15):
        made.anchor = f"n{len(style.anchored)}"
        style.anchored.append(made)
    return made


@dataclass
class Place:
    """A folder with manifests of a few resources, in styles of their own."""

    root: Path
    chance: Random
    refs: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def write(self) -> None:
        """Write the project and its manifests."""
        (self.root / "reconciler.yaml").write_text(PROJECT, encoding="utf-8")
        drawn = Drawn(self.chance)
        documents = [
            ("Dashboard", "board", drawn.dashboard("Board")),
            ("SLO", "goal", drawn.slo("Goal")),
            ("LogPolicySet", "policies", drawn.policies()),
            ("Dashboard", "other", drawn.dashboard("Other")),
        ]
        self.chance.shuffle(documents)
        split = self.chance.randint(1, 3)
        for nth, part in enumerate((documents[:split], documents[split:])):
            self._write_file(nth, part)

    def _write_file(self, nth: int, documents: list[tuple[str, str, dict[str, Any]]]) -> None:
        style = style_of(self.chance)
        if len(documents) > 1:
            style.is_json = False
        roots = []
        for kind, name, spec in documents:
            self.refs.append(f"{kind}/{name}")
            style.anchored = []
            declared = self._exported(kind, name, spec, style)
            record = {
                "apiVersion": "reconciler/v1",
                "kind": kind,
                "metadata": {"name": name},
                "spec": declared,
            }
            roots.append(modelled(style, record))
        text = style.text(roots)
        file = self.root / f"part{nth}.{'json' if style.is_json else 'yaml'}"
        file.write_bytes(text.encode())
        self.files.append(file)

    def _exported(self, kind: str, name: str, spec: dict[str, Any], style: Style) -> dict[str, Any]:
        if kind != "Dashboard" or self.chance.random() > 0.3:
            return spec
        content = spec if self.chance.random() < 0.5 else spec["dashboard"]
        text = json.dumps(content, indent=style.indent, ensure_ascii=self.chance.random() < 0.5)
        file = self.root / "exports" / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode() + self.chance.choice((b"\n", b"")))
        self.files.append(file)
        return {"file": f"exports/{name}.json"}

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command in this process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*words, "--project", str(self.root / "reconciler.yaml")])
        return code, out.getvalue(), err.getvalue()

    def outside(self, deed: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
        """Ask the service as someone else does."""

        async def ask() -> None:
            app = create_app(self.root / ".reconciler" / "local.db")
            transport = httpx.ASGITransport(app)
            headers = {"Authorization": "someone"}
            async with httpx.AsyncClient(
                transport=transport, base_url="http://emulator", headers=headers
            ) as client:
                await deed(client)

        asyncio.run(ask())

    def texts(self) -> dict[Path, str]:
        """Give what the files hold."""
        return {file: file.read_bytes().decode() for file in self.files}

    def journal(self) -> str:
        """Give the journal's text."""
        return (self.root / ".reconciler" / "local.journal.jsonl").read_text(encoding="utf-8")

    def ids(self) -> dict[str, str]:
        """Give the ids of the resources, as the journal knows them."""
        found = {}
        for line in self.journal().splitlines():
            entry = json.loads(line)
            if entry.get("entry") == "written":
                found[entry["ref"]] = entry["remoteId"]
        return found

    def edit_live(self, drawn: Drawn) -> None:
        """Let somebody edit a few things live."""
        ids = self.ids()

        async def deed(client: httpx.AsyncClient) -> None:
            for ref in drawn.chance.sample(self.refs, drawn.chance.randint(1, len(self.refs))):
                for _ in range(drawn.chance.randint(1, 3)):
                    await edit_one(client, ref, ids[ref], drawn)

        self.outside(deed)


async def edit_one(client: httpx.AsyncClient, ref: str, known: str, drawn: Drawn) -> None:
    """Edit one resource live."""
    kind = ref.partition("/")[0]
    if kind == "Dashboard":
        board = (await client.get(f"{ROOT}{DASHBOARDS}/{known}")).json()["dashboard"]
        drawn.edit_dashboard(board)
        body = {"dashboard": board, "requestId": uuid(drawn.chance)}
        answer = await client.put(f"{ROOT}{DASHBOARDS}", json=body)
    elif kind == "SLO":
        slo = (await client.get(f"{ROOT}{SLOS}/{known}")).json()["slo"]
        drawn.edit_slo(slo)
        read_only = ("type", "creator", "revision", "createTime", "updateTime")
        body = {key: value for key, value in slo.items() if key not in read_only}
        answer = await client.put(f"{ROOT}{SLOS}", json=body)
    else:
        stored = (
            await client.get(f"{ROOT}{POLICIES}", params={"sourceType": "SOURCE_TYPE_LOGS"})
        ).json()
        items = [
            _request(policy) for policy in sorted(stored["policies"], key=lambda one: one["order"])
        ]
        drawn.edit_policies(items)
        answer = await client.post(
            f"{ROOT}{POLICIES}/atomicOverwriteLogPolicies", json={"policies": items}
        )
    assert answer.is_success, (ref, answer.text)


def _request(stored: dict[str, Any]) -> dict[str, Any]:
    wanted = ("name", "description", "priority", "applicationRule", "subsystemRule")
    policy = {key: stored[key] for key in wanted if key in stored}
    rules = stored.get("logRules", {"severities": ["SEVERITY_INFO", "SEVERITY_ERROR"]})
    return {"logRules": rules, "policy": {**policy, "disabled": not stored["enabled"]}}


def comments_of(texts: dict[Path, str]) -> list[str]:
    """Give every comment of some files that a person wrote."""
    found = (comment for text in texts.values() for comment in written(text).comments())
    return sorted(text for text in found if "not returned by the service" not in text)


def adopt_edits(stage: Stage, count: int, seed: int) -> Tally:
    """Adopt `count` rounds of live edits; a folder of manifests serves for a few."""
    del stage
    tally = Tally()
    number = 0
    while tally.counts["cases"] < count:
        with placed(seed * 100_000 + number) as place:
            for nth in range(4):
                if tally.counts["cases"] < count:
                    _case(place, f"place {number}, round {nth}", tally)
        number += 1
    return tally


@contextlib.contextmanager
def placed(number: int) -> Iterator[Place]:
    """Give a folder of manifests that are applied."""
    with tempfile.TemporaryDirectory(prefix="adopt-") as folder:
        place = Place(Path(folder).resolve(), Random(number))  # noqa: S311 - repeatable
        place.write()
        code, out, err = place.run("apply", "--yes")
        if code != 0:
            raise AssertionError(f"{number}: {err}{out}")
        yield place


def _case(place: Place, called: str, tally: Tally) -> None:
    tally.counts["cases"] += 1
    drawn = Drawn(place.chance)
    if place.chance.random() < 0.3:
        _conflict(place, drawn, called, tally)
        return
    before = place.texts()
    place.edit_live(drawn)
    code, out, err = place.run("adopt", "--all", "--format", "json")
    if code != 0:
        tally.counts["refused"] += 1
        states = [
            (value["ref"], value["note"], value["conflicts"])
            for value in json.loads(out or "{}").get("resources", ())
            if value["state"] not in ("same", "adopted")
        ]
        tally.fail("adopted", f"{called}: {code} {states} {err[-600:]}")
        place.run("apply", "--yes", "--override-guard", "test", "--allow-destroy")
        return
    after = place.texts()
    tally.counts["files edited"] += sum(before[file] != after[file] for file in before)
    if comments_of(after) != comments_of(before):
        tally.fail("comments", f"{called}: comments were lost")
    if left := _left(place):
        tally.fail("keep", f"{called}: {left}")
        place.run("apply", "--yes", "--override-guard", "test", "--allow-destroy")
    once = place.texts(), place.journal()
    place.run("adopt", "--all")
    if (place.texts(), place.journal()) != once:
        tally.fail("again", f"{called}: a second adopt changed something")


def _conflict(place: Place, drawn: Drawn, called: str, tally: Tally) -> None:  # noqa: C901 - one story
    """Let git and live change the name of one resource, and see that nobody decides that alone."""
    tally.counts["conflicts"] += 1
    kind = place.chance.choice(("Dashboard/board", "Dashboard/other", "SLO/goal"))
    known = place.ids()[kind]
    field_name = "name"
    live_name = f"Live {tally.counts['cases']}"

    async def deed(client: httpx.AsyncClient) -> None:
        if kind == "SLO/goal":
            slo = (await client.get(f"{ROOT}{SLOS}/{known}")).json()["slo"]
            read_only = ("type", "creator", "revision", "createTime", "updateTime")
            body = {key: value for key, value in slo.items() if key not in read_only}
            answer = await client.put(f"{ROOT}{SLOS}", json={**body, field_name: live_name})
        else:
            board = (await client.get(f"{ROOT}{DASHBOARDS}/{known}")).json()["dashboard"]
            board[field_name] = live_name
            drawn.edit_dashboard(board)
            board[field_name] = live_name
            answer = await client.put(
                f"{ROOT}{DASHBOARDS}", json={"dashboard": board, "requestId": uuid(drawn.chance)}
            )
        assert answer.is_success, answer.text

    if not _edit_git(place, kind, f"Git {tally.counts['cases']}"):
        tally.counts["conflicts"] -= 1
        return
    place.outside(deed)
    before, book = place.texts(), place.journal()
    code, out, err = place.run("adopt", kind, "--format", "json")
    told = json.loads(out)["resources"][0]["conflicts"] if out else []
    if code != 3 or place.texts() != before or place.journal() != book or not told:
        tally.fail("conflict", f"{called}: {kind} ended with {code} {out[:400]} {err[-300:]}")
    elif not {"base", "git", "live"} <= told[0].keys():
        tally.fail("conflict", f"{called}: {told}")
    side = place.chance.choice(("--ours", "--theirs"))
    code, out, err = place.run("adopt", kind, side)
    if code != 0:
        tally.fail("resolved", f"{called}: {kind} {side} ended with {code} {out} {err[-300:]}")
    wanted = live_name if side == "--theirs" else f"Git {tally.counts['cases']}"
    if not any(wanted in text for text in place.texts().values()):
        tally.fail("resolved", f"{called}: {side} is not in the manifest")
    # What a service never tells of an overwritten list, nobody can adopt: an apply is asked.
    code, _, err = place.run("apply", "--yes", "--override-guard", "severities")
    if code != 0:
        tally.fail("resolved", f"{called}: apply after {side} ended with {code} {err[-600:]}")


def _edit_git(place: Place, ref: str, name: str) -> bool:
    """Write another name into the manifest of a resource, by the place of its node."""
    kind, _, called = ref.partition("/")
    for file in place.files:
        text = file.read_bytes().decode()
        where = written(text)
        reading = read_text(text, is_json=file.suffix == ".json")
        for nth, document in enumerate(reading.documents):
            value: Any = document.value
            is_it = (
                isinstance(value, dict)
                and value.get("kind") == kind
                and value["metadata"]["name"] == called
            )
            path: tuple[str, ...] = (
                ("spec", "name") if kind == "SLO" else ("spec", "dashboard", "name")
            )
            if file.parent.name == "exports" and file.stem == called:
                is_it, path = True, (("dashboard", "name") if "dashboard" in value else ("name",))
            if not is_it or (kind == "Dashboard" and "file" in value.get("spec", {})):
                continue
            try:
                node = where.documents[nth].at(path)
            except (StopIteration, IndexError):
                continue
            new = text[: node.start] + json.dumps(name) + text[node.end :]
            file.write_bytes(new.encode())
            return True
    return False


def adopt_texts(stage: Stage, count: int, seed: int) -> Tally:
    """Edit `count` texts, and count the lines that change beside the least possible."""
    del stage
    tally = Tally()
    number = 0
    while tally.counts["cases"] < count:
        made = case(random.Random(seed * 10_000_000 + number))  # noqa: S311 - repeatable
        number += 1
        if made is None:
            continue
        tally.counts["cases"] += 1
        tally.counts["changed lines"] += made.changed
        tally.counts["least lines"] += made.least
        if made.wrong:
            tally.fail("text", f"text {number - 1}: {made.wrong}")
    return tally


def kill_adoptions(stage: Stage, count: int, seed: int) -> Tally:
    """Kill an adopt at each of its points: files are whole, and the next one ends the work."""
    del stage
    tally = Tally()
    number = 0
    while tally.counts["cases"] < count:
        with placed(seed * 100_000 + 50_000 + number) as place:
            for point in range(1, 12):
                if tally.counts["cases"] < count:
                    _kill(place, f"place {number}, point {point}", point, tally)
        number += 1
    return tally


def _kill(place: Place, called: str, point: int, tally: Tally) -> None:
    tally.counts["cases"] += 1
    place.edit_live(Drawn(place.chance))
    before = place.texts()
    shown = place.run("adopt", "--all", "--dry-run", "--format", "json")[1]
    process = os.fork()
    if process == 0:
        die_at(point)
        place.run("adopt", "--all")
        os._exit(0)
    _, status = os.waitpid(process, 0)
    tally.counts["killed"] += os.WIFSIGNALED(status)
    edited = {file["file"] for file in json.loads(shown)["files"]}
    for file, text in place.texts().items():
        name = file.relative_to(place.root).as_posix()
        if text != before[file] and (name not in edited or read_text(text).has_errors):
            tally.fail("whole", f"{called}: {name} is half a manifest")
    code, out, err = place.run("adopt", "--all")
    if code != 0:
        tally.fail(
            "ended", f"{called}: the next adopt ended with {code}: {out[-400:]} {err[-400:]}"
        )
        place.run("apply", "--yes", "--override-guard", "test", "--allow-destroy")
    elif comments_of(place.texts()) != comments_of(before):
        tally.fail("comments", f"{called}: comments were lost")
    elif left := _left(place):
        tally.fail("keep", f"{called}: {left}")


def die_at(point: int) -> None:
    """Let this process die without a word at one of its points, counted from 1."""
    passed = 0

    def watcher(_: Point) -> None:
        nonlocal passed
        passed += 1
        if passed == point:
            os.kill(os.getpid(), signal.SIGKILL)

    watch(watcher)


def _left(place: Place) -> list[Any]:
    """Give what a plan would still change, aside from what a service never tells."""
    _, out, err = place.run("plan", "--format", "json")
    if not out:
        return [err[-400:]]
    return [
        (change["ref"], fields)
        for change in json.loads(out)["changes"]
        if change["action"] != "keep"
        and (fields := [value for value in change["fields"] if "severities" not in str(value)])
    ]
