"""An emulator in this process, asked one request at a time."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from harness.routes import API_ROOT
from reconciler.emulator import create_app


@dataclass(frozen=True)
class Answer:
    """What came back; `body` is the parsed JSON, None for what is none."""

    status: int
    body: Any
    text: str
    headers: httpx.Headers

    @property
    def message(self) -> str:
        """The message of a refusal, which has to carry its own status."""
        assert self.body["code"] == self.status
        return str(self.body["message"])


class Emulated:
    """A service of its own; its clock moves one second at each request."""

    def __init__(
        self,
        data: Path | None = None,
        *,
        alert_ids: Iterable[str] = (),
        api_key: str | None = None,
        **options: Any,
    ) -> None:
        self._now = datetime(2025, 1, 31, 9, 0, tzinfo=UTC)
        self.app = create_app(
            data, alert_ids=alert_ids, api_key=api_key, clock=self._tick, **options
        )

    def _tick(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def get(self, path: str) -> Answer:
        """Read."""
        return self.send("GET", path)

    def post(self, path: str, body: object = None) -> Answer:
        """Send a body to be added or judged."""
        return self.send("POST", path, body)

    def put(self, path: str, body: object, *, user: str | None = None) -> Answer:
        """Send a body to replace something, as a person when one is named."""
        headers = {"Authorization": "any", **({"X-Emulator-User": user} if user else {})}
        return self.send("PUT", path, body, headers=headers)

    def web_delete(self, what: str, headers: Mapping[str, str] | None = None) -> int:
        """Delete `dashboards/ID` and the like as a person does; gives the status."""
        return self.send("DELETE", f"/web/{what}", headers=headers).status

    def web(self, what: str) -> list[Any]:
        """Give all alerts, dashboards and so on, as a person sees them."""
        items: list[Any] = self.get(f"/web/{what}").body["items"]
        return items

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send anything; `raw` goes out as it is, `headers` stand instead of the key."""
        content = raw if raw is not None or body is None else json.dumps(body).encode()
        chosen = {"Authorization": "any"} if headers is None else dict(headers)
        return asyncio.run(self._send(method, path, content, chosen))

    async def _send(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> Answer:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://emulator") as client:
            beside = path in ("/healthz", "/openapi.json", "/") or path.startswith("/web/")
            url = path if beside else API_ROOT + path
            reply = await client.request(method, url, content=content, headers=headers)
        return Answer(reply.status_code, _parsed(reply), reply.text, reply.headers)


def _parsed(reply: httpx.Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        return None
