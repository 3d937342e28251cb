"""A real `emulator serve`, and raw HTTP to it: what others do, and what a person sees."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from forks import Child, start
from harness.profiles import as_file

API_ROOT = "/mgmt/openapi/latest"
DASHBOARDS = "/v1/dashboards/dashboards"
SLOS = "/v1/slo/slos"
POLICIES = "/dataplans/policies/v1"
OVERWRITE = POLICIES + "/atomicOverwriteLogPolicies"
VIEWS = "/data-exploration/saved-views/v1"
ALERTS = "/alerts/alerts-general/v3/bulk"
READING = ("/validate", "/bulkTestLog", "/incidents/v1", "/cases/v1", "/daily:units")
"""Ends of paths of a POST that changes nothing."""
WEB = {
    "SLO": "slos",
    "AlertDefinition": "alerts",
    "Dashboard": "dashboards",
    "SavedView": "saved-views",
    "LogPolicySet": "policies",
}
READY = "emulator ready: http://127.0.0.1:"
PATIENCE = 30.0
"""Seconds that a server may take to start."""

Live = dict[str, dict[str, Any]]
"""By kind, every record by its id; of the policies, the whole list under one key."""


class NotServedError(Exception):
    """The emulator did not start, or did not answer as it has to."""


@dataclass(frozen=True)
class Request:
    """One line of the emulator's log."""

    method: str
    path: str
    status: int
    body: Any

    @property
    def writes(self) -> bool:
        """Whether it may have changed something."""
        return self.method != "GET" and not self.path.endswith(READING)


@dataclass
class Service:
    """One emulator in a process of its own."""

    folder: Path
    around: Mapping[str, str]
    profile: Mapping[str, Any]
    alert_ids: Sequence[str] = ()
    port: int = 0
    _child: Child | None = None
    _read: int = 0
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        """Start it, and wait until it says that it is ready."""
        self.folder.mkdir()
        settings = self.folder / "profile.json"
        settings.write_text(json.dumps(as_file(self.profile)), encoding="utf-8")
        ids = [word for alert_id_ in self.alert_ids for word in ("--alert-id", alert_id_)]
        words = ("--port", "0", "--profile", str(settings), "--log", str(self.log), *ids)
        self._child = start(self.folder, self.around, ("emulator", "serve", *words))
        self.port = self._announced(self.folder / f".{self._child.process}.err")
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        if self._connection is not None:
            self._connection.close()
        if self._child is not None:
            os.kill(self._child.process, signal.SIGKILL)
            self._child.end()

    @staticmethod
    def _announced(words: Path) -> int:
        until, said = time.monotonic() + PATIENCE, ""
        while time.monotonic() < until:
            said = words.read_text(encoding="utf-8") if words.exists() else ""
            if said.startswith(READY) and said.endswith("\n"):
                return int(said.removeprefix(READY))
            time.sleep(0.002)
        raise NotServedError(said)

    @property
    def log(self) -> Path:
        """Where it writes down what it is asked."""
        return self.folder / "requests.jsonl"

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request as a person; gives the status, and the answer where it is JSON."""
        connection = self._connection
        assert connection is not None
        key = self.around["RECONCILER_API_KEY"]
        bearer = self.profile.get("authorization") == "bearer"
        headers = {
            "Authorization": f"Bearer {key}" if bearer else key,
            "Content-Type": "application/json",
            "X-Emulator-User": "mira@shop.example",
        }
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, None

    def api(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask an endpoint of the API, as somebody else does."""
        return self.ask(method, API_ROOT + path, body)

    def live(self) -> Live:
        """See all there is, as a person in the web interface does."""
        return {kind: _by_id(kind, self._items(what)) for kind, what in WEB.items()}

    def _items(self, what: str) -> list[Any]:
        status, answer = self.ask("GET", f"/web/{what}")
        if status != http.client.OK:
            raise NotServedError(f"{what}: {status} {answer}")
        items: list[Any] = answer["items"]
        return items

    def requests(self) -> list[Request]:
        """Give what the API was asked since the last time, by anyone."""
        with self.log.open(encoding="utf-8") as lines:
            lines.seek(self._read)
            new = lines.read()
            self._read = lines.tell()
        documents = [json.loads(line) for line in new.splitlines()]
        return [
            Request(
                document["method"],
                document["path"].removeprefix(API_ROOT),
                document["status"],
                document["body"],
            )
            for document in documents
            if document["path"].startswith(API_ROOT)
        ]


def _by_id(kind: str, records: list[Any]) -> dict[str, Any]:
    if kind == "LogPolicySet":
        return {"all": records}
    if kind == "Dashboard":
        return {record["dashboard"]["id"]: record for record in records}
    return {str(record["id"]): record for record in records}
