"""Pull requests and their comments, as far as a plan's comment needs them.

A comment of ours begins with its marker, and is kept up to date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from http.client import UNPROCESSABLE_ENTITY
from posixpath import normpath
from typing import get_args
from urllib.parse import quote

from reconciler.ci.forge.event import JsonObject
from reconciler.ci.forge.forge_client import Client, ForgeError
from reconciler.model.plan import CommentState

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

        A pull request that is no longer `wanted` is closed, with its body. Raises ForgeError.
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
