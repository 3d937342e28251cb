"""A forge on this machine, and its events, as small as the code reads them.

`FakeForge.answer` is the whole of it, so a test may also ask without a port. Made by hand
from what the forge's own documentation says of these requests.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from harness.ports import Answer, Asked, listening

REPOSITORY = "team/shop"
TOKEN = "job-token-5d1c"  # noqa: S105 - of the fake
READ_ONLY = "fork-token-77aa"
PERSON = "person-token-1f1f"
JOB_USER = {"login": "github-actions[bot]", "id": 41898282}
USERS = {TOKEN: JOB_USER, READ_ONLY: JOB_USER, PERSON: {"login": "mallory", "id": 666}}
LONGEST_COMMENT = 65_536
HEAD, BASE, MERGE = "a" * 40, "b" * 40, "c" * 40
NUMBER = 7
HERE = {"id": 1, "full_name": "team/shop", "default_branch": "main"}
FORK = {"id": 2, "full_name": "mallory/shop"}


@dataclass
class Fault:
    """The next `times` requests of a method, whose path matches, go this way.

    Where `carried_out`, they are, and only the answer is this one.
    """

    method: str
    path: str
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    carried_out: bool = False


def secondary_limit(method: str, path: str, times: int = 1) -> Fault:
    """Give the refusal of a client that is too quick; its status is that of a lack of rights."""
    said = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
    return Fault(method, path, 403, said, {"retry-after": "1"}, times)


@dataclass
class FakeForge:
    """One repository. `pulls` are the pull requests of each commit."""

    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    pulls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    folded: set[str] = field(default_factory=set)
    requests_open: list[dict[str, Any]] = field(default_factory=list)
    """The pull requests that were opened through the API, in their order; a closed one stays."""

    newest: dict[str, str] = field(default_factory=dict)
    """The newest commit of a branch; the forge knows no other branches."""

    compared: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What it tells of two commits, by `OLDER...NEWER`."""

    url: str = ""
    _next: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def visible(self, pull_request: int) -> list[dict[str, Any]]:
        """Give the comments that are not folded away."""
        found = self.comments.get(pull_request, [])
        return [value for value in found if value["node_id"] not in self.folded]

    def write(self, pull_request: int, body: str, token: str = TOKEN) -> dict[str, Any]:
        """Let somebody comment."""
        with self._lock:
            comment = {
                "id": self._next,
                "node_id": f"IC_{self._next}",
                "user": USERS[token],
                "body": body,
                "html_url": f"https://forge.example.com/{REPOSITORY}/pull/{pull_request}#{self._next}",
            }
            self._next += 1
            self.comments.setdefault(pull_request, []).append(comment)
            return comment

    def answer(self, method: str, url: str, token: str, body: Any) -> Answer:
        """Answer one request."""
        parts = urlsplit(url)
        self.requests.append(f"{method} {parts.path}")
        for fault in self.faults:
            if fault.times and fault.method == method and re.fullmatch(fault.path, parts.path):
                fault.times -= 1
                if fault.carried_out:
                    self._answer(method, parts.path, parse_qs(parts.query), token, body)
                return fault.status, fault.headers, fault.body
        return self._answer(method, parts.path, parse_qs(parts.query), token, body)

    def _answer(  # noqa: C901 - a table of requests
        self, method: str, path: str, query: dict[str, list[str]], token: str, body: Any
    ) -> Answer:
        if token not in USERS:
            return 401, {}, {"message": "Bad credentials"}
        matched = re.fullmatch(
            rf"/repos/{REPOSITORY}/"
            r"(issues/comments|issues|commits|pulls|branches|compare)/?([\w.]*).*",
            path,
        )
        kind, name = (matched[1], matched[2]) if matched else ("", path)
        match method, kind, name:
            case "POST", "", "/graphql":
                answer = self._graphql(token, body)
            case "GET", "", "/user":
                answer = self._user(token)
            case "GET", "issues", _:
                answer = self._page(self.comments.get(int(name), []), query)
            case "POST", "issues", _:
                refused = self._refused(token, body)
                answer = refused or (201, {}, self.write(int(name), body["body"], token))
            case "PATCH", "issues/comments", _:
                answer = self._edit(int(name), token, body)
            case "GET", "pulls", _:
                answer = self._page(self._requested(query), query)
            case (("POST" | "PATCH"), "pulls", _):
                answer = self._refused(token, body) or self._request(name, body)
            case "GET", "branches", _ if name in self.newest:
                answer = 200, {}, {"name": name, "commit": {"sha": self.newest[name]}}
            case "GET", "compare", _ if name in self.compared:
                answer = 200, {}, self.compared[name]
            case "GET", "commits", _:
                answer = self._page(self.pulls.get(name, []), query)
            case _:
                answer = 404, {}, {"message": "Not Found"}
        return answer

    def _user(self, token: str) -> Answer:
        if USERS[token] is JOB_USER:
            return 403, {}, {"message": "Resource not accessible by integration"}
        return 200, {}, USERS[token]

    def _page(self, found: list[Any], query: dict[str, list[str]]) -> Answer:
        size, page = int(query["per_page"][0]), int(query["page"][0])
        assert size <= 100
        return 200, {}, found[(page - 1) * size : page * size]

    def _refused(self, token: str, body: Any) -> Answer | None:
        """Refuse what may not be written; None for what may."""
        if token == READ_ONLY:
            return 403, {}, {"message": "Resource not accessible by integration"}
        if len(body["body"]) > LONGEST_COMMENT:
            return 422, {}, {"message": "Validation Failed", "errors": ["body is too long"]}
        return None

    def _edit(self, number: int, token: str, body: Any) -> Answer:
        every = [value for found in self.comments.values() for value in found]
        comment = next((value for value in every if value["id"] == number), None)
        if comment is None:
            return 404, {}, {"message": "Not Found"}
        if refused := self._refused(token, body):
            return refused
        comment["body"] = body["body"]
        return 200, {}, comment

    def _requested(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        head = query["head"][0].partition(":")[2]
        return [
            value
            for value in self.requests_open
            if value["state"] == query["state"][0] and value["head"]["ref"] == head
        ]

    def _request(self, number: str, body: Any) -> Answer:
        """Open a pull request, or change one; `_refused` reads its body as that of a comment."""
        if not number:
            ours = self._requested({"head": [f":{body['head']}"], "state": ["open"]})
            if any("repo" not in value["head"] for value in ours):
                said = f"A pull request already exists for team:{body['head']}."
                return 422, {}, {"message": "Validation Failed", "errors": [{"message": said}]}
            new = {
                "number": 100 + len(self.requests_open),
                "state": "open",
                "title": body["title"],
                "body": body["body"],
                "head": {"ref": body["head"]},
                "base": {"ref": body["base"]},
                "html_url": f"https://forge.example.com/{REPOSITORY}/pull/{len(self.requests_open)}",
            }
            self.requests_open.append(new)
            return 201, {}, new
        found = next(value for value in self.requests_open if value["number"] == int(number))
        found.update(body)
        return 200, {}, found

    def _graphql(self, token: str, body: Any) -> Answer:
        if "viewer" in body["query"]:
            user = USERS[token]
            viewer = {"login": user["login"], "databaseId": user["id"]}
            return 200, {}, {"data": {"viewer": viewer}}
        if token == READ_ONLY:
            return 200, {}, {"errors": [{"message": "Resource not accessible by integration"}]}
        self.folded.add(body["variables"]["id"])
        done = {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}
        return 200, {}, {"data": done}


@contextmanager
def served_forge() -> Iterator[FakeForge]:
    """Serve a forge on a free port until the end of the block."""
    forge = FakeForge()

    def answer(asked: Asked) -> Answer:
        token = asked.authorization.removeprefix("Bearer ")
        return forge.answer(asked.method, asked.path, token, asked.body)

    with listening(answer) as forge.url:
        yield forge


def pull_request(repository: Any = None, base: str = BASE, head: str = HEAD) -> dict[str, Any]:
    """Give the payload of a change; `repository` is where it comes from."""
    return {
        "number": NUMBER,
        "repository": HERE,
        "pull_request": {
            "number": NUMBER,
            "head": {"sha": head, "repo": repository or HERE},
            "base": {"sha": base, "ref": "main", "repo": HERE},
        },
    }


def push(commit: str = MERGE) -> dict[str, Any]:
    """Give the payload of a push to the default branch."""
    return {"ref": "refs/heads/main", "after": commit, "repository": HERE}


def merge_group(base: str = BASE) -> dict[str, Any]:
    """Give the payload of a merge queue's trial."""
    group = {
        "head_sha": HEAD,
        "head_ref": f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{BASE}",
        "base_sha": base,
        "base_ref": "refs/heads/main",
    }
    return {"merge_group": group, "repository": HERE}


def workflow_run(repository: Any = None) -> dict[str, Any]:
    """Give the payload of a run that follows one on a change."""
    return {
        "workflow_run": {"head_sha": HEAD, "head_repository": repository or FORK},
        "repository": HERE,
    }


def variables(folder: Path, name: str, payload: Any, **more: str) -> dict[str, str]:
    """Write a payload where the runner would, and give the variables of the job."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(payload), encoding="utf-8")
    refs = {
        "pull_request": f"refs/pull/{NUMBER}/merge",
        "merge_group": f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{BASE}",
    }
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": "team/shop",
        "GITHUB_SERVER_URL": "https://forge.example.com",
        "GITHUB_RUN_ID": "42",
        "GITHUB_SHA": MERGE,
        "GITHUB_REF": refs.get(name, "refs/heads/main"),
        "GITHUB_ACTOR": "alice",
        **more,
    }
