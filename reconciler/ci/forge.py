"""Pull requests and their comments, as far as a plan's comment needs them, and their requests.

A comment of ours begins with its marker, and is kept up to date. A run needs the forge only for the
reviewed digest, so requests give up sooner than those to the service. Source: docs/ci.md.
"""

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from http import HTTPStatus
from http.client import UNPROCESSABLE_ENTITY
from posixpath import normpath
from types import TracebackType
from typing import Any, Literal, Self, get_args
from urllib.parse import quote

import httpx

from reconciler import __version__
from reconciler.ci.trust import JsonObject
from reconciler.errors import Unavailable
from reconciler.model.plan import CommentState
from reconciler.runtime.connection import is_loopback

MOST_ATTEMPTS = 4
DEADLINE_SECONDS = 20.0
BACKOFF_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
LONGEST_MESSAGE = 300
LARGEST_REPLY = 16 << 20

Method = Literal["GET", "POST", "PATCH"]

_LIMITED = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_LIMIT_WORDS = "rate limit"


class ForgeError(Unavailable):
    """The forge gave no usable answer. `status` is 0 where there was no answer at all.

    `is_lost` means that the request may have been carried out nevertheless.
    """

    def __init__(self, message: str, status: int = 0, *, is_lost: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_lost = is_lost

    @property
    def is_forbidden(self) -> bool:
        """Return whether the token lacks a permission, as a read-only token does for a comment."""
        return self.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


@dataclass(slots=True)
class Client:
    """An open connection to the forge; use it with `with`. `api` and `graphql` are whole URLs."""

    api: str
    graphql: str
    token: str = field(repr=False)
    transport: httpx.BaseTransport | None = None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _client: httpx.Client = field(init=False)

    def __enter__(self) -> Self:
        """Prepare the connection: nothing is sent yet."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": f"reconciler/{__version__}",
        }
        # Loading all certificates takes a while, and a plain connection needs none.
        plain = self.api.startswith("http:") and self.graphql.startswith("http:")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
        self._client = httpx.Client(
            headers=headers,
            verify=context,
            transport=self.transport,
            mounts=self._direct(context),
            timeout=DEADLINE_SECONDS,
            follow_redirects=False,
        )
        return self

    def _direct(self, context: ssl.SSLContext) -> dict[str, httpx.BaseTransport]:
        """Return transports without a proxy for a forge on this machine."""
        if self.transport is not None:
            return {}
        return {
            f"all://{f'[{host}]' if ':' in host else host}": httpx.HTTPTransport(verify=context)
            for host in {httpx.URL(url).host for url in (self.api, self.graphql)}
            if is_loopback(host)
        }

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, **parameters: str | int) -> Any:
        """Read a document. Raises ForgeError."""
        return self._send("GET", self.api + path, parameters=parameters)

    def create(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create an object, without a retry after a lost answer. Raises ForgeError."""
        return self._send("POST", self.api + path, body, repeatable=False)

    def edit(self, path: str, body: Mapping[str, Any]) -> Any:
        """Replace an object, which may be repeated. Raises ForgeError."""
        return self._send("PATCH", self.api + path, body)

    def ask(self, query: str, **variables: str) -> Any:
        """Send a GraphQL query that may be repeated, and return its data.

        Raises ForgeError, also for errors that come with status 200.
        """
        reply = self._send("POST", self.graphql, {"query": query, "variables": variables})
        if not isinstance(reply, dict) or reply.get("errors") or not reply.get("data"):
            raise ForgeError(f"the forge refused a query: {_message(reply)}", HTTPStatus.FORBIDDEN)
        return reply["data"]

    def _send(
        self,
        method: Method,
        url: str,
        body: Mapping[str, Any] | None = None,
        *,
        parameters: Mapping[str, str | int] | None = None,
        repeatable: bool = True,
    ) -> Any:
        """Send a request until there is an answer, or no attempt is left."""
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                response = self._exchange(
                    self._client.build_request(method, url, params=parameters or None, json=body)
                )
            except httpx.HTTPError as error:
                sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                why = " ".join(str(error).split())[:LONGEST_MESSAGE] or type(error).__name__
                failure = ForgeError(f"{method} {url}: {why}", is_lost=sent)
                wait = BACKOFF_SECONDS * 2 ** (attempt - 1)
            else:
                if response.is_success:
                    return _document(response, f"{method} {url}")
                failure = _failure(response, f"{method} {url}")
                wait = _wait(response, attempt)
            if (failure.is_lost and not repeatable) or wait < 0 or attempt == MOST_ATTEMPTS:
                raise failure
            self.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, request: httpx.Request) -> httpx.Response:
        deadline = self.clock() + DEADLINE_SECONDS
        response = self._client.send(request, stream=True)
        try:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if self.clock() > deadline:
                    message = f"no whole answer within {DEADLINE_SECONDS:.0f} s"
                    raise httpx.ReadTimeout(message, request=request)
                if len(content) > LARGEST_REPLY:
                    raise httpx.DecodingError(
                        f"more than {LARGEST_REPLY >> 20} MB", request=request
                    )
        finally:
            response.close()
        headers = {
            name: text
            for name, text in response.headers.items()
            if name not in ("content-encoding", "content-length", "transfer-encoding")
        }
        return httpx.Response(response.status_code, headers=headers, content=bytes(content))


def _document(response: httpx.Response, request: str) -> Any:
    try:
        return json.loads(response.content) if response.content else None
    except (ValueError, RecursionError) as error:
        message = f"{request} answered {response.status_code} with a body that is not JSON"
        raise ForgeError(message, response.status_code, is_lost=True) from error


def _failure(response: httpx.Response, request: str) -> ForgeError:
    """Return the error for an answer that is not a success; redirects are never followed."""
    status = response.status_code
    try:
        message = _message(json.loads(response.content))
    except (ValueError, RecursionError):
        message = response.reason_phrase
    if 300 <= status < 400:  # noqa: PLR2004 - redirects
        message = f"a redirect to {response.headers.get('location', '')[:LONGEST_MESSAGE]}"
    is_lost = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    # A rate limit is not a missing permission, although it may have the same status.
    shown = HTTPStatus.TOO_MANY_REQUESTS if _is_limited(response) else status
    return ForgeError(f"{request} answered {status}: {message}", shown, is_lost=is_lost)


def _wait(response: httpx.Response, attempt: int) -> float:
    """Return the seconds to wait before the next attempt; below 0 where there must be none."""
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return BACKOFF_SECONDS * float(2 ** (attempt - 1))
    if not _is_limited(response):
        return -1.0
    header = response.headers.get("retry-after", "")
    seconds = float(header) if header.isascii() and header.isdigit() and len(header) < 10 else 0.0  # noqa: PLR2004 - digits of a sane wait
    wait = max(seconds, BACKOFF_SECONDS * float(2**attempt))
    return wait if wait <= LONGEST_WAIT_SECONDS else -1.0


def _is_limited(response: httpx.Response) -> bool:
    """Return whether a status means a rate limit and not a missing permission."""
    if response.status_code not in _LIMITED:
        return False
    headers = response.headers
    return (
        response.status_code == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or _LIMIT_WORDS in response.text.lower()
    )


def _message(document: object) -> str:
    if isinstance(document, dict):
        errors = document.get("errors")
        message = document.get("message") or (
            errors[0] if isinstance(errors, list) and errors else ""
        )
        message = message.get("message", "") if isinstance(message, dict) else message
        return " ".join(str(message).split())[:LONGEST_MESSAGE]
    return ""


PAGE = 100
MOST_PAGES = 50
"""5,000 comments; a pull request with more comments is not read to its end."""

MOST_COMPARED = 300
"""Number of files that the forge lists at most when it compares two commits."""

JOB_USER = "github-actions[bot]"
"""Author of comments by a job's own token, for a token that may not ask for its user."""

_VIEWER = "query { viewer { login databaseId } }"
_FOLD = (
    "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) "
    "{ minimizedComment { isMinimized } } }"
)


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. `node` is its name in GraphQL, "" where it is unknown."""

    id: int
    author: str
    author_id: int
    body: str
    url: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """One pull request. `is_new` means that it was opened just now."""

    number: int
    url: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """The newest commit of a branch, and the files in which it differs from an older commit.

    `contains` means that the branch still has the older commit, `is_cut` that the forge does not
    list all files.
    """

    commit: str
    contains: bool
    files: tuple[str, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Own:
    """Our token's user; `id` is 0 where only the login is known."""

    login: str
    id: int = 0

    def wrote(self, comment: Comment) -> bool:
        """Return whether a comment is ours; a login may be written in two forms, an id not."""
        if self.id and comment.author_id:
            return self.id == comment.author_id
        return self.login == comment.author


@dataclass(slots=True)
class Repository:
    """One repository of the forge, through an open client."""

    client: Client
    name: str
    _own: Own | None = field(default=None, init=False)

    @property
    def own(self) -> Own:
        """Return our token's user. Raises ForgeError where it cannot be found out."""
        if self._own is None:
            self._own = self._ask_own()
        return self._own

    def _ask_own(self) -> Own:
        """Ask for our user: a job's token may not use the plain request for it."""
        with suppress(ForgeError):
            viewer = JsonObject.of(self.client.ask(_VIEWER)).part("viewer")
            if viewer.text("login"):
                return Own(viewer.text("login"), viewer.number("databaseId") or 0)
        try:
            user = JsonObject.of(self.client.get("/user"))
        except ForgeError as error:
            if not error.is_forbidden:
                raise
            return Own(JOB_USER)
        return Own(user.text("login"), user.number("id") or 0)

    def comments(self, pull_request: int) -> list[Comment]:
        """Return all comments of a pull request, oldest first. Raises ForgeError."""
        path = f"/repos/{self.name}/issues/{pull_request}/comments"
        return sorted(map(_comment, self._pages(path)), key=lambda comment: comment.id)

    def create(self, pull_request: int, body: str) -> Comment:
        """Write a new comment. Raises ForgeError; with `is_lost` the comment may exist."""
        path = f"/repos/{self.name}/issues/{pull_request}/comments"
        return _comment(JsonObject.of(self.client.create(path, {"body": body})))

    def edit(self, comment: Comment, body: str) -> Comment:
        """Change the text of a comment. Raises ForgeError."""
        path = f"/repos/{self.name}/issues/comments/{comment.id}"
        return _comment(JsonObject.of(self.client.edit(path, {"body": body})))

    def fold(self, comment: Comment) -> None:
        """Fold a comment as outdated. Raises ForgeError."""
        if comment.node:
            self.client.ask(_FOLD, id=comment.node)

    def merged_from(self, commit: str, branch: str) -> int | None:
        """Return the pull request that brought a commit to a branch, None without one.

        The kind of merge does not matter: merge, squash, rebase or queue. Raises ForgeError.
        """
        found = [
            pull
            for pull in self._pages(f"/repos/{self.name}/commits/{commit}/pulls")
            if pull.text("merged_at") and pull.part("base").text("ref") == branch
        ]
        found.sort(
            key=lambda pull: (pull.text("merge_commit_sha") == commit, pull.text("merged_at"))
        )
        return found[-1].number("number") if found else None

    def later_than(self, commit: str, branch: str) -> Later | None:
        """Return how a branch's newest commit differs from a commit, None where they are equal.

        Raises ForgeError.
        """
        path = f"/repos/{self.name}/branches/{quote(branch, safe='')}"
        newest = JsonObject.of(self.client.get(path)).part("commit").text("sha")
        if not newest:
            raise ForgeError(f"GET {path}: the answer has no commit")
        if newest == commit:
            return None
        path = f"/repos/{self.name}/compare/{commit}...{newest}"
        compared = JsonObject.of(self.client.get(path))
        files = compared.fields.get("files")
        if not isinstance(files, list):
            raise ForgeError(f"GET {path}: the answer has no files")
        named = (
            JsonObject.of(file).text(name)
            for file in files
            for name in ("filename", "previous_filename")
        )
        return Later(
            commit=newest,
            contains=compared.text("status") == "ahead",
            files=tuple(filter(None, named)),
            is_cut=len(files) >= MOST_COMPARED,
        )

    def open_at(self, commit: str) -> int | None:
        """Return the open pull request with this newest commit, None without one.

        Raises ForgeError.
        """
        for pull in self._pages(f"/repos/{self.name}/commits/{commit}/pulls"):
            if pull.text("state") == "open" and pull.part("head").text("sha") == commit:
                return pull.number("number")
        return None

    def requested(
        self, branch: str, title: str, body: str, into: str, *, wanted: bool
    ) -> PullRequest | None:
        """Open the only pull request of a branch of this repository, or update it.

        A pull request that is no longer `wanted` gets its new text, and is closed. Raises
        ForgeError.
        """
        path = f"/repos/{self.name}/pulls"
        found = self._open_of(branch)
        if found is None and not wanted:
            return None
        if found is None:
            new = {"title": title, "body": body, "head": branch, "base": into}
            try:
                return _pull_request(self.client.create(path, new), is_new=True)
            except ForgeError as error:
                # Another job may have opened it meanwhile.
                found = self._open_of(branch) if error.status == UNPROCESSABLE_ENTITY else None
                if found is None:
                    raise
        if found.text("body") == body and wanted:
            return _pull_request(found.fields)
        changed = {"title": title, "body": body, "state": "open" if wanted else "closed"}
        return _pull_request(self.client.edit(f"{path}/{found.number('number') or 0}", changed))

    def _open_of(self, branch: str) -> JsonObject | None:
        """Return the open pull request of a branch, not of a fork's branch with that name.

        Not every forge respects the filter of the request.
        """
        owner = self.name.partition("/")[0]
        there = self._pages(f"/repos/{self.name}/pulls", state="open", head=f"{owner}:{branch}")
        return next((pull for pull in there if self._is_of(pull, branch)), None)

    def _is_of(self, pull: JsonObject, branch: str) -> bool:
        head = pull.part("head")
        # A deleted fork is reported as null.
        source = JsonObject.of(head.fields.get("repo", {"full_name": self.name}))
        return head.text("ref") == branch and source.text("full_name") == self.name

    def _pages(self, path: str, **more: str) -> Iterator[JsonObject]:
        for page in range(1, MOST_PAGES + 1):
            found = self.client.get(path, per_page=PAGE, page=page, **more)
            if not isinstance(found, list):
                raise ForgeError(f"GET {path}: the forge did not answer with a list")
            yield from map(JsonObject.of, found)
            if len(found) < PAGE:
                return


def _pull_request(document: object, *, is_new: bool = False) -> PullRequest:
    found = JsonObject.of(document)
    number = found.number("number")
    if number is None:
        raise ForgeError("the forge answered with something that is no pull request", is_lost=True)
    return PullRequest(number=number, url=found.text("html_url"), is_new=is_new)


def _comment(found: JsonObject) -> Comment:
    number, user = found.number("id"), found.part("user")
    if number is None:
        raise ForgeError("the forge answered with something that is no comment", is_lost=True)
    return Comment(
        number,
        user.text("login"),
        user.number("id") or 0,
        found.text("body"),
        found.text("html_url"),
        found.text("node_id"),
    )


VERSION = 1
ROOT_DIGITS = 16

_LINE = re.compile(r"<!-- reconciler (\{[^<>]*\}) -->\r?")
_DIGEST = re.compile(r"(sha256:[0-9a-f]{64})?")
_FORMS: dict[str, type] = {
    "environment": str,
    "root": str,
    "digest": str,
    "head": str,
    "base": str,
    "run": int,
    "state": str,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Data in a comment for the next run.

    `environment` and `root` are its key. `digest` is the digest of the reviewed plan, "" where
    nothing may be applied. `guards` name listed objections that a review consents to. `run` grows
    from run to run.
    """

    environment: str
    root: str
    digest: str = ""
    head: str = ""
    base: str = ""
    run: int = 0
    state: CommentState = "planned"
    guards: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Return the key of the comment: its environment and the folder of its manifests."""
        return self.environment, self.root

    @property
    def line(self) -> str:
        """Return the first line of the comment.

        Nothing in it can end the HTML comment around it.
        """
        document: dict[str, object] = {"version": VERSION, **asdict(self)}
        if not self.guards:
            del document["guards"]
        return f"<!-- reconciler {hidden_json(document)} -->"


def hidden_json(document: dict[str, object]) -> str:
    """Return JSON for an HTML comment: nothing in it can end the comment or begin another."""
    text = json.dumps(document)
    for ending in ("--", "<", ">"):
        text = text.replace(ending, "".join(f"\\u{ord(text):04x}" for text in ending))
    return text


def root_of(path: str) -> str:
    """Return the key of a folder of manifests, as given in the input `path`."""
    return sha256(normpath(path or ".").encode()).hexdigest()[:ROOT_DIGITS]


def read_marker(body: str) -> Marker | None:
    """Read the marker of a comment; return None where its first line is not a marker."""
    found = _LINE.fullmatch(body.partition("\n")[0])
    if found is None:
        return None
    try:
        document = json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    guards = document.pop("guards", [])
    is_listed = isinstance(guards, list) and all(isinstance(name, str) for name in guards)
    has_fields = document.pop("version", None) == VERSION and document.keys() == _FORMS.keys()
    if not (is_listed and has_fields):
        return None
    # The types must match exactly: True is an int to isinstance.
    if any(type(document[name]) is not form for name, form in _FORMS.items()):
        return None
    if document["state"] not in get_args(CommentState) or not _DIGEST.fullmatch(document["digest"]):
        return None
    return Marker(**document, guards=tuple(guards))


GAVE_WAY = "Another comment on this pull request has the plan."


@dataclass(frozen=True, slots=True)
class Standing:
    """A comment of ours, with its marker."""

    comment: Comment
    marker: Marker


def standing(
    repository: Repository, pull_request: int, key: tuple[str, str], *, newest: bool = False
) -> Standing | None:
    """Return our comment for an environment and a folder, None where there is none.

    A comment is ours if our token's user wrote it and its marker has this key; a comment that only
    looks like it is not. Raises ForgeError.
    """
    found = _ours(repository, pull_request, key)
    return (found[-1] if newest else found[0]) if found else None


def put(
    repository: Repository,
    pull_request: int,
    body: str,
    *,
    only_update: bool = False,
    is_new: bool = False,
) -> Comment | None:
    """Write `body`, which begins with its marker, as our comment.

    A comment with this body already, or of a later run, is not changed. With `is_new` it is a new
    comment, and those of earlier runs are folded. Return None where there was no comment and
    `only_update` asks for no new comment. Raises ForgeError.
    """
    marker = read_marker(body)
    assert marker is not None  # noqa: S101 - we made it
    found = [] if is_new else _ours(repository, pull_request, marker.key)
    if not found:
        if only_update:
            return None
        _create(repository, pull_request, body, marker)
        # Another run may have done the same meanwhile.
        found = _ours(repository, pull_request, marker.key)
        if not found:
            raise ForgeError("the forge does not list the comment that it took")
    kept = found[-1 if is_new else 0]
    for other in found:
        if other is not kept:
            # Without its digest it cannot be applied.
            gone = replace(other.marker, digest="", state="superseded")
            repository.edit(other.comment, f"{gone.line}\n{GAVE_WAY}\n")
            # A comment that stays unfolded has no content left.
            with suppress(ForgeError):
                repository.fold(other.comment)
    if is_new or kept.comment.body == body or kept.marker.run > marker.run:
        return kept.comment
    return repository.edit(kept.comment, body)


def _ours(repository: Repository, pull_request: int, key: tuple[str, str]) -> Sequence[Standing]:
    """Return our comments of a key that are not superseded, oldest first."""
    found = (
        Standing(comment, marker)
        for comment in repository.comments(pull_request)
        if repository.own.wrote(comment) and (marker := read_marker(comment.body)) is not None
    )
    return [ours for ours in found if ours.marker.key == key and ours.marker.state != "superseded"]


def _create(repository: Repository, pull_request: int, body: str, marker: Marker) -> None:
    """Create a comment; where the answer was lost, look for it before another attempt."""
    try:
        repository.create(pull_request, body)
    except ForgeError as error:
        if not error.is_lost:
            raise
        if not any(
            mine.comment.body == body for mine in _ours(repository, pull_request, marker.key)
        ):
            repository.create(pull_request, body)
