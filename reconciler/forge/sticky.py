"""One comment of ours for each environment and folder, changed in its place.

The forge has no conditional write, so two runs may both find no comment and
both write one. Whoever then sees several keeps one and folds the others, and
all choose the same one: the oldest, or with a comment for each run the newest.
Source: docs/ci.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from reconciler.forge.client import ForgeError
from reconciler.forge.marker import Marker, read_marker
from reconciler.forge.pull_requests import Comment, Repository

GAVE_WAY = "Another comment on this pull request has the plan."


@dataclass(frozen=True, slots=True)
class Standing:
    """A comment of ours, with what it says of itself."""

    comment: Comment
    marker: Marker


def standing(
    repository: Repository, pull_request: int, key: tuple[str, str], *, newest: bool = False
) -> Standing | None:
    """Give our comment for an environment and a folder, None where there is none.

    Ours is what our token's user wrote and whose marker has this key; never
    what only looks like it. Raises ForgeError.
    """
    found = _ours(repository, pull_request, key)
    return (found[-1] if newest else found[0]) if found else None


def put(
    repository: Repository, pull_request: int, body: str, *, only_update: bool = False
) -> Comment | None:
    """Let our comment say `body`, whose first line is its marker.

    A body that stands there already, or that of a later run, is left alone.
    None where there was no comment and `only_update` asks for no new one.
    Raises ForgeError.
    """
    marker = read_marker(body)
    assert marker is not None  # noqa: S101 - we made it
    found = _ours(repository, pull_request, marker.key)
    if not found:
        if only_update:
            return None
        _create(repository, pull_request, body, marker)
        # Another run may have done the same meanwhile.
        found = _ours(repository, pull_request, marker.key)
        if not found:
            raise ForgeError("the forge does not list the comment that it took")
    kept, *others = found
    for other in others:
        _give_way(repository, other)
    if kept.comment.body == body or kept.marker.run > marker.run:
        return kept.comment
    return repository.edit(kept.comment, body)


def put_new(repository: Repository, pull_request: int, body: str) -> Comment:
    """Write a comment of its own for this run, and fold those of earlier ones.

    Raises ForgeError.
    """
    marker = read_marker(body)
    assert marker is not None  # noqa: S101 - we made it
    _create(repository, pull_request, body, marker)
    found = _ours(repository, pull_request, marker.key)
    if not found:
        raise ForgeError("the forge does not list the comment that it took")
    *others, kept = found
    for other in others:
        _give_way(repository, other)
    return kept.comment


def _ours(repository: Repository, pull_request: int, key: tuple[str, str]) -> Sequence[Standing]:
    """Give our comments of a key that have not given way, oldest first."""
    own = repository.own
    found = (
        Standing(comment, marker)
        for comment in repository.comments(pull_request)
        if own.wrote(comment) and (marker := read_marker(comment.body)) is not None
    )
    return [one for one in found if one.marker.key == key and one.marker.state != "superseded"]


def _create(repository: Repository, pull_request: int, body: str, marker: Marker) -> None:
    """Create a comment; where the answer was lost, look before another try."""
    try:
        repository.create(pull_request, body)
    except ForgeError as error:
        if not error.is_lost:
            raise
        if not any(one.comment.body == body for one in _ours(repository, pull_request, marker.key)):
            repository.create(pull_request, body)


def _give_way(repository: Repository, other: Standing) -> None:
    """Take the digest from a comment, so that it cannot be applied, and fold it."""
    marker = replace(other.marker, digest="", state="superseded")
    repository.edit(other.comment, f"{marker.line}\n{GAVE_WAY}\n")
    # One that stays unfolded has nothing left to say.
    with suppress(ForgeError):
        repository.fold(other.comment)
