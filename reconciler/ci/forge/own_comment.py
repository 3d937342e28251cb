"""Our comment on a pull request: its marker, and the one comment that is kept up to date."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from posixpath import normpath
from typing import get_args

from reconciler.ci.forge.forge_client import ForgeError
from reconciler.ci.forge.pull_requests import Comment, Repository
from reconciler.model.outcome import CommentState

"""State of the plan. `offline` had no service to compare with; `superseded` was replaced."""

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
            _give_way(repository, other)
    if is_new or kept.comment.body == body or kept.marker.run > marker.run:
        return kept.comment
    return repository.edit(kept.comment, body)


def _ours(repository: Repository, pull_request: int, key: tuple[str, str]) -> Sequence[Standing]:
    """Return our comments of a key that are not superseded, oldest first."""
    own = repository.own
    found = (
        Standing(comment, marker)
        for comment in repository.comments(pull_request)
        if own.wrote(comment) and (marker := read_marker(comment.body)) is not None
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


def _give_way(repository: Repository, other: Standing) -> None:
    """Remove the digest from a comment, so that it cannot be applied, and fold it."""
    marker = replace(other.marker, digest="", state="superseded")
    repository.edit(other.comment, f"{marker.line}\n{GAVE_WAY}\n")
    # A comment that stays unfolded has no content left.
    with suppress(ForgeError):
        repository.fold(other.comment)
