"""Where the journal of an environment is kept, as the project file says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class InFile:
    """A file, for the runs of one machine."""

    path: Path


@dataclass(frozen=True, slots=True)
class InGit:
    """A ref of the repository's remote; `remote` is "" for the obvious one."""

    ref: str
    remote: str


@dataclass(frozen=True, slots=True)
class InObjects:
    """A prefix of a bucket, as `s3://BUCKET/PREFIX`."""

    url: str


JournalPlace: TypeAlias = InFile | InGit | InObjects

FORMS = "a path, `git:REF`, `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_OBJECTS = re.compile(r"(s3|gs|az)://[A-Za-z0-9][A-Za-z0-9._-]{1,254}(/[A-Za-z0-9._=-]+)*/?")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
# Git's own rules of names (git-check-ref-format), but for the characters, which are fewer here.
_REF = re.compile(r"refs(/(?!\.)[A-Za-z0-9._-]+(?<!\.)(?<!\.lock)){2,}")
_TAKEN = {"heads", "tags", "remotes", "notes", "replace", "stash", "bisect", "worktree"}
_OF_FORGES = {"changes", "for", "keep-around", "merge-requests", "pull"}


def parse_journal_place(text: str) -> JournalPlace:
    """Read a `journal:` setting; a path is as it was written.

    Raises ValueError, whose words say what it must be.
    """
    if text.startswith("git:"):
        return _in_git(text.removeprefix("git:"))
    if text.startswith(("s3://", "gs://", "az://")):
        if not _OBJECTS.fullmatch(text) or "/.." in text:
            raise ValueError("must be like s3://BUCKET/PREFIX, of letters, digits and `._=-`")
        return InObjects(text.rstrip("/"))
    if not text.strip() or "\0" in text:
        raise ValueError(f"must be {FORMS}")
    if _SCHEME.match(text):
        raise ValueError(f"must be {FORMS}; `{text}` is none of these")
    return InFile(Path(text))


def _in_git(text: str) -> InGit:
    ref, at, remote = text.partition("@")
    if not _REF.fullmatch(ref) or ".." in ref:
        raise ValueError("must be like git:refs/reconciler/production, or with @REMOTE at its end")
    namespace = ref.split("/")[1]
    if namespace in _TAKEN | _OF_FORGES:
        said = f"a journal needs a ref of its own: refs/{namespace} belongs to git or the forge"
        raise ValueError(f"must not be there: {said}, so take refs/reconciler/production")
    if at and not _REMOTE.fullmatch(remote):
        raise ValueError("must name a remote of the repository after the @")
    return InGit(ref, remote)
