"""`import`: everything forgotten but the service, imported, and planned: all of it is kept.

One world is a service of its own, in this process, with resources of the oddest content that
were applied once. Then manifests and journal are thrown away.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from adopting import die_at
from forks import KEPT
from harness.doors import Ran, typed
from stage import Stage, Tally
from world_content import Content
from world_deeds import PROFILES, alert_id, unlisted
from worlds import SECRET, TOKEN, drawing

import reconciler.emulator
from reconciler.syntax.read_text import read_text

KINDS = ("SLO", "AlertDefinition", "Dashboard", "SavedView")
CALLS_ON_FILES = ("open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.truncate")
CALLS = 0.5
"""How many deaths in all are at a call, and not at a point."""
MOST_CALLS = 120
MOST_DEATHS = 24
NOT_KEPT = ("bearer", "json")


def import_worlds(stage: Stage, count: int, seed: int) -> Tally:
    """Import worlds until `count` resources have come back."""
    tally = Tally()
    number = seed * 1_000
    while tally.counts["cases"] < count:
        folder = stage.root / f"import{number}"
        folder.mkdir()
        try:
            World(number, folder).live(tally)
        except AssertionError as broken:
            tally.counts["cases"] += 1
            tally.fail("I", f"world {number}: {broken}")
        shutil.rmtree(folder)
        number += 1
    return tally


@dataclass(frozen=True)
class World:
    """One service and what is declared for it, which follow from a number."""

    number: int
    folder: Path

    @property
    def profile(self) -> Mapping[str, Any]:
        """The choices of the deployment; how requests look is no concern of an import."""
        chosen = PROFILES[self.number % len(PROFILES)]
        return {key: value for key, value in chosen.items() if key != "authorization"}

    @property
    def _has_policies(self) -> bool:
        """Whether an empty list of policies can be told from none."""
        return bool(self.profile.get("requiredLists", "sent") == "sent")

    def live(self, tally: Tally) -> None:
        """Apply, forget, import, plan, and import again."""
        chance = drawing(self.number)
        with self._service():
            self._settle()
            refs = self._declare(chance)
            applied = self._run("apply", "--yes", "--allow-destroy", "--override-guard", "campaign")
            assert applied.code in (0, 3), ("apply", applied)
            planned = self._plan()
            kept = {change["ref"] for change in planned["changes"] if change["action"] == "keep"}
            tally.counts["not settled"] += len(refs) - len(kept)
            self._forget()
            self._import_all(chance, tally)
            after = self._plan()
            odd = [_shown(change) for change in after["changes"] if change["action"] != "keep"]
            assert not odd, f"not kept: {odd}"
            assert after["orphans"] == after["unsettled"] == [], "orphans"
            tally.counts["cases"] += len(after["changes"])
            tally.counts["references"] += sum(
                "${ref:" in file.read_text() for file in self.folder.rglob("*.yaml")
            )
            before = self._bytes()
            self._import_all(drawing(self.number), tally, again=True)
            assert self._bytes() == before, "a second import wrote something"

    @contextmanager
    def _service(self) -> Iterator[None]:
        from harness.profiles import profile  # noqa: PLC0415 - as the emulator is loaded by then

        create = reconciler.emulator.create_app

        def create_app(data: Path, **options: Any) -> Any:
            return create(data, **{**options, "profile": profile(self.profile)})

        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        environ = {**kept, TOKEN: SECRET}
        with (
            mock.patch.object(reconciler.emulator, "create_app", create_app, create=True),
            mock.patch.dict(os.environ, environ, clear=True),
        ):
            yield

    def _settle(self) -> None:
        api: dict[str, Any] = {}
        if self.profile.get("slis") == "documented":
            api["documentedSliOnly"] = True
        if self.profile.get("validation") == "documented":
            api["validateSlos"] = "none"
        if self.profile.get("queryObjects") == "json":
            api["queryStyle"] = "json"
        local = {"emulator": {"data": "data.db"}, "journal": ".reconciler/j.jsonl", "api": api}
        project = {"manifests": ["."], "environments": {"local": local}}
        (self.folder / "reconciler.yaml").write_text(json.dumps(project))

    def _declare(self, chance: random.Random) -> list[str]:
        content = Content(chance, self.profile, plain_policies=True)
        documents, slos = [], list[str]()
        for kind in KINDS:
            for index in range(chance.randint(1, 3)):
                if kind in unlisted(self.profile):
                    continue
                name = f"{kind.lower()}{index}"
                metadata = {"name": name}
                if kind == "AlertDefinition":
                    metadata["id"] = alert_id(f"{kind}#{index}")
                spec = content.spec(kind, f"{kind}{index}", slos)
                documents.append((kind, metadata, spec))
                slos += [f"SLO/{name}"] if kind == "SLO" else []
        if self._has_policies:
            documents.append(
                ("LogPolicySet", {"name": "all"}, content.spec("LogPolicySet", "", []))
            )
        texts = [
            json.dumps(
                {"apiVersion": "reconciler/v1", "kind": kind, "metadata": meta, "spec": spec}
            )
            for kind, meta, spec in documents
        ]
        (self.folder / "all.yaml").write_text("\n---\n".join(texts))
        return [f"{kind}/{meta['name']}" for kind, meta, _ in documents]

    def _forget(self) -> None:
        (self.folder / "all.yaml").unlink()
        shutil.rmtree(self.folder / ".reconciler")

    def _import_all(self, chance: random.Random, tally: Tally, *, again: bool = False) -> None:
        keep = ["--keep-json"] if chance.random() < 0.2 else []
        slos, boards = self._stored("slos"), self._stored("dashboards")
        orders = [["slo", "--", *(slo["id"] for slo in slos)]] if slos else []
        if boards:
            ids = (board["dashboard"]["id"] for board in boards)
            orders.append(["dashboard", *keep, "--", *ids])
        if self._has_policies:
            orders.append(["policies"])
        unseen = [*self._stored("alert_definitions"), *self._stored("saved_views")]
        exports = self.folder / ".exports"
        exports.mkdir(exist_ok=True)
        for nth, text in enumerate(_exports(unseen, chance)):
            file = exports / f"{nth}.{'json' if text[:1] in '[{' else 'yaml'}"
            file.write_text(text)
            orders.append(["--from", str(file)])
        for order in orders:
            ran = self._run("import", "--format", "json", *order)
            assert ran.code == 0, (order[0], ran)
            told = json.loads(ran.out)
            tally.counts["imported again"] += again and len(told["imported"])
            for value in told["imported"]:
                assert (self.folder / value["file"]).is_file(), value

    def _stored(self, table: str) -> list[dict[str, Any]]:
        with sqlite3.connect(self.folder / "data.db") as data:
            columns = [row[1] for row in data.execute(f"pragma table_info({table})")]
            rows = data.execute(f"select * from {table}").fetchall()  # noqa: S608 - a table's name
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        found = []
        for row in named:
            held = next(value for value in row.values() if str(value).startswith("{"))
            found.append({**json.loads(held)})
        return found

    def _plan(self) -> Any:
        ran = self._run("plan", "--format", "json")
        assert ran.code == 0, ("plan", ran)
        return json.loads(ran.out)

    def _run(self, *arguments: str) -> Ran:
        project = str(self.folder / "reconciler.yaml")
        return typed(arguments[0], "--project", project, *arguments[1:])

    def _bytes(self) -> dict[str, bytes]:
        return {
            str(file): file.read_bytes()
            for file in sorted(self.folder.rglob("*"))
            if file.is_file()
            and ".exports" not in file.parts
            and file.suffix != ".db"
            and not file.name.startswith("data.db")
            and not file.name.endswith(".lock")
        }


def die_at_call(folder: Path, number: int) -> None:
    """Let this process die without a word before one of its calls that change files there."""
    passed = 0

    def hook(event: str, given: tuple[Any, ...]) -> None:
        nonlocal passed
        if event in CALLS_ON_FILES and str(given[0]).startswith(str(folder)):
            passed += 1
            if passed == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


EXPONENT = re.compile(r"[-+]?[0-9.]+[eE][-+]?[0-9]+")


def _exports(records: list[dict[str, Any]], chance: random.Random) -> Iterator[str]:
    """Yield texts as people have them: a list, one by one, wrapped, in YAML."""
    records = [json.loads(json.dumps(record)) for record in records]
    match chance.randrange(4):
        case 0:
            yield json.dumps(records)
        case 1:
            yield json.dumps(
                {"items": records, "pagination": {"totalSize": len(records)}}, indent=1
            )
        case 2:
            yield from (json.dumps(record) for record in records)
        case _:
            yield yaml.dump_all(records, Dumper=_Quoting, allow_unicode=False, explicit_start=True)


class _Quoting(yaml.SafeDumper):
    """Quotes texts such as `1e+21`, which are numbers in YAML 1.2 and not in 1.1."""


def _represented(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if EXPONENT.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Quoting.add_representer(str, _represented)


def _shown(change: dict[str, Any]) -> str:
    fields = [
        (field["path"], field.get("before"), field.get("after")) for field in change["fields"][:3]
    ]
    return f"{change['ref']} {change['action']} {fields} {change['notes']}"[:900]


def kill_imports(stage: Stage, count: int, seed: int) -> Tally:
    """Kill `count` imports and import again: whole manifests, nothing beside them, all kept."""
    tally = Tally()
    number = seed * 1_000 + 500
    while tally.counts["cases"] < count:
        folder = stage.root / f"killed{number}"
        folder.mkdir()
        try:
            Killed(number, folder).killed(tally, count)
        except AssertionError as broken:
            tally.counts["cases"] += 1
            tally.fail("K", f"world {number}: {broken}")
        shutil.rmtree(folder)
        number += 1
    return tally


class Killed(World):
    """A world in which imports die, at each of their points and at any of their system calls."""

    def killed(self, tally: Tally, count: int) -> None:
        """Apply, forget, and let imports die one after the other until one ends."""
        chance = drawing(self.number)
        with self._service():
            self._settle()
            self._declare(chance)
            applied = self._run("apply", "--yes", "--allow-destroy", "--override-guard", "campaign")
            assert applied.code in (0, 3), ("apply", applied)
            self._forget()
            for step in range(1, MOST_DEATHS):
                if tally.counts["cases"] >= count:
                    return
                shutil.copytree(self.folder, beside := self.folder.with_suffix(".copy"))
                try:
                    self._once(tally, chance, step)
                finally:
                    shutil.rmtree(self.folder)
                    beside.rename(self.folder)

    def _once(self, tally: Tally, chance: random.Random, step: int) -> None:
        """Let one import die at its `step`th deed, and see what the next one makes of it."""
        tally.counts["cases"] += 1
        call = chance.randint(1, MOST_CALLS) if chance.random() < CALLS else 0
        process = os.fork()
        if process == 0:
            with contextlib.suppress(BaseException):
                if call:
                    die_at_call(self.folder, call)
                else:
                    die_at(step)
                self._import_all(drawing(self.number), Tally())
            os._exit(0)
        _, status = os.waitpid(process, 0)
        tally.counts["killed"] += os.WIFSIGNALED(status)
        for file in self._manifests():
            reading = read_text(file.read_text("utf-8"))
            assert not reading.has_errors, f"death {step}/{call}: {file.name} is half a manifest"
        tally.counts["left beside"] += len(self._left())
        self._import_all(drawing(self.number), Tally())
        assert not self._left(), f"death {step}/{call}: {self._left()} is left"
        planned = self._plan()
        odd = [_shown(change) for change in planned["changes"] if change["action"] != "keep"]
        assert not odd, f"death {step}/{call}: not kept: {odd}"
        assert planned["orphans"] == planned["unsettled"] == [], f"death {step}/{call}: orphans"

    def _manifests(self) -> list[Path]:
        return [
            path for path in self.folder.rglob("*.yaml") if path.parent != self.folder / ".exports"
        ]

    def _left(self) -> list[str]:
        return [path.name for path in self.folder.rglob(".*.new")]
