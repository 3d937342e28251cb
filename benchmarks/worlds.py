"""A world of any number of resources: manifests, a service that holds them all, a journal.

`python -m benchmarks.worlds 10000 FOLDER` makes one and serves it until stopped. Applying so many
takes an hour, so one of each kind is applied truly, and what service and journal hold of it stands
for the rest, under other names and ids: 60 % dashboards, 35 % SLOs, 5 % alert definitions.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.manifests import alert, dashboard, slo, uuid_of
from reconciler.journal.content import parse_entry
from reconciler.journal.entries import Entry
from reconciler.journal.file_store import FileStore
from reconciler.journal.journal import Journal

KEY = "benchmark"
READY = "emulator ready: "
COMMAND = str(Path(sys.executable).with_name("reconciler"))
API_ROOT = "/mgmt/openapi/latest"
PATHS = {"Dashboard": "/v1/dashboards/dashboards/", "SLO": "/v1/slo/slos/"}
WIDGETS = 6
PER_APPEND = 100
# Of team 0, as what is written of the others has it too.
MODEL = 98765400
# Of so many digits that a number is written alike everywhere.
FIRST = 20_000
_TEAMS = 20


@dataclass(frozen=True, slots=True)
class World:
    """Manifests in a folder, and where the service that holds them is; `urls` can be read."""

    folder: Path
    base_url: str
    urls: tuple[str, ...]

    @property
    def environ(self) -> Mapping[str, str]:
        """What a command needs to find this world."""
        return {"RECONCILER_BASE_URL": self.base_url, "RECONCILER_API_KEY": KEY}

    def command(self, *words: str) -> list[str]:
        """Give the command line of a quiet command over all manifests."""
        return [COMMAND, *words, "--quiet", str(self.folder)]


TAKEN = ("--override-guard", "takes-over=the alert of an empty emulator is nobody's")


def kind_of(index: int) -> str:
    """Give what the resource of this number is."""
    at = index % 20
    return "AlertDefinition" if at == 0 else "SLO" if at % 3 == 1 else "Dashboard"


def text_of(index: int, widgets: int = WIDGETS) -> str:
    """Give the manifest of this number; the service gives ids out, but those of alerts."""
    match kind_of(index):
        case "AlertDefinition":
            return alert(index)
        case "SLO":
            return re.sub(r"(?m)^  id: .*\n", "", slo(index))
        case _:
            return dashboard(index, widgets)


def write_manifests(folder: Path, count: int, *, widgets: int = WIDGETS, per_file: int = 1) -> None:
    """Write the manifests of so many resources, so many to a file."""
    folder.mkdir(parents=True)
    for several in _numbers(count, per_file):
        texts = [text_of(at, widgets) for at in several]
        (folder / f"{several[0]}.yaml").write_text("---\n".join(texts), encoding="utf-8")


def _numbers(count: int, together: int = 0) -> Iterator[range]:
    """Give the numbers of so many resources, so many together."""
    end = FIRST + count
    for begin in range(FIRST, end, together or count):
        yield range(begin, min(begin + (together or count), end))


@contextmanager
def world_of(
    count: int, folder: Path, *, widgets: int = WIDGETS, per_file: int = 1, latency: float = 0
) -> Iterator[World]:
    """Make a world below a folder and serve it; `latency` is in seconds, before each answer."""
    data = folder / "service.db"
    model = folder / "model"
    model.mkdir(parents=True)
    for name, text in _models(widgets).items():
        (model / f"{name}.yaml").write_text(text, encoding="utf-8")
    with service(data, [uuid_of(f"alert {MODEL}")]) as url:
        _quietly([COMMAND, "apply", "--yes", "--new-journal", "--quiet", *TAKEN, str(model)], url)
    manifests = folder / "manifests"
    write_manifests(manifests, count, widgets=widgets, per_file=per_file)
    known = _journaled(model / ".reconciler" / "journal.jsonl")
    _multiply(data, count, known)
    with service(data, [], latency) as url:
        _journal(manifests, url, count, known)
        ids = ((kind_of(at), _id_of(kind_of(at), at)) for at in range(FIRST, FIRST + count))
        urls = tuple(url + API_ROOT + PATHS[kind] + found for kind, found in ids if kind in PATHS)
        yield World(manifests, url, urls)


def _models(widgets: int) -> dict[str, str]:
    return {
        "AlertDefinition": alert(MODEL),
        "SLO": re.sub(r"(?m)^  id: .*\n", "", slo(MODEL)),
        "Dashboard": dashboard(MODEL, widgets),
    }


def _journaled(file: Path) -> dict[str, list[dict[str, object]]]:
    """Give the entries about each kind, as they stand in the journal."""
    found: dict[str, list[dict[str, object]]] = {name: [] for name in _models(1)}
    for line in file.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        if "ref" in document:
            del document["sum"]
            found[document["ref"].partition("/")[0]].append(document)
    return found


def _id_of(kind: str, index: int) -> str:
    """Give an id in the form that the service gives out."""
    match kind:
        case "AlertDefinition":
            return uuid_of(f"alert {index}")
        case "SLO":
            return uuid_of(f"given {index}")
        case _:
            return f"{index:021}"


def _own(text: str, index: int, model_id: str, own_id: str) -> str:
    """Let a text about the model be about another resource."""
    team = index % _TEAMS
    for old, new in (
        (model_id, own_id),
        (str(MODEL), str(index)),
        ("team-0", f"team-{team}"),
        ("Team 0", f"Team {team}"),
    ):
        text = text.replace(old, new)
    return text


def _model_id(entries: list[dict[str, object]]) -> str:
    return str(next(entry["remoteId"] for entry in entries if entry["entry"] == "written"))


def _multiply(data: Path, count: int, known: Mapping[str, list[dict[str, object]]]) -> None:
    """Let the service hold every resource. The file is the emulator's, which is stopped."""
    connection = sqlite3.connect(data)
    tables = {"AlertDefinition": "alert_definitions", "SLO": "slos", "Dashboard": "dashboards"}
    rows = {
        kind: connection.execute(f"SELECT * FROM {table}").fetchall()[0]  # noqa: S608 - ours
        for kind, table in tables.items()
    }
    with connection:
        for kind, table in tables.items():
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - ours
            model_id = _model_id(known[kind])
            marks = ",".join("?" * len(rows[kind]))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 - ours
                (
                    [
                        _own(value, at, model_id, _id_of(kind, at))
                        if isinstance(value, str)
                        else value
                        for value in rows[kind]
                    ]
                    for at in range(FIRST, FIRST + count)
                    if kind_of(at) == kind
                ),
            )
    connection.close()


def _journal(
    folder: Path, url: str, count: int, known: Mapping[str, list[dict[str, object]]]
) -> None:
    texts = {kind: json.dumps(entries) for kind, entries in known.items()}
    ids = {kind: _model_id(entries) for kind, entries in known.items()}

    def entries_of(index: int) -> list[Entry]:
        kind = kind_of(index)
        text = _own(texts[kind], index, ids[kind], _id_of(kind, index))
        return [parse_entry(load, 1) for load in json.loads(text)]

    store = FileStore(folder / ".reconciler" / "journal.jsonl")
    journal = Journal(
        store=store, environment="default", target=url, clock=lambda: datetime.now(UTC)
    )
    with journal.locked():
        journal.begin(journal.run_entry("model", "apply"))
        for several in _numbers(count, PER_APPEND):
            journal.append([entry for at in several for entry in entries_of(at)])


def _quietly(command: list[str], url: str) -> None:
    environ = os.environ | {"RECONCILER_BASE_URL": url, "RECONCILER_API_KEY": KEY}
    ran = subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, text=True, check=False, env=environ
    )
    if ran.returncode:
        raise SystemExit(f"{' '.join(command[1:3])} failed: {ran.stderr[-2000:]}")


@contextmanager
def service(data: Path, alert_ids: list[str], latency: float = 0) -> Iterator[str]:
    """Serve the emulator from another process; give its base URL."""
    command = [COMMAND, "emulator", "serve", "--port", "0", "--data", str(data)]
    command += [f"--alert-id={alert_id_}" for alert_id_ in alert_ids]
    if latency:
        faults = data.with_name("faults.json")
        faults.write_text(json.dumps({"seed": 1, "rules": [{"fault": {"delay": latency}}]}))
        command += ["--faults", str(faults)]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - as asked for
            line = next((line for line in process.stdout if READY in line), "")
            if not line:
                raise SystemExit("the emulator did not start")
            yield line.partition(READY)[2].split()[0].rstrip("/")
        finally:
            process.terminate()


def main() -> None:
    """Make a world and serve it until stopped."""
    if len(sys.argv) != 3:  # noqa: PLR2004 - two words
        raise SystemExit("python -m benchmarks.worlds COUNT FOLDER")
    with world_of(int(sys.argv[1]), Path(sys.argv[2])) as made:
        told = " ".join(f"{name}={value}" for name, value in made.environ.items())
        print(f"{told} {' '.join(made.command('plan'))}", flush=True)
        with suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
