"""Age of a declaration: by the writes in the journal, or by the history of the file.

Both are lower bounds: they do not know the time before the journal began, or before a file was
moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from reconciler.document import ABSENT, Json, Missing, value_at
from reconciler.document import Path as Place
from reconciler.features.audit.audit_rule import Since
from reconciler.journal.entries import Entry, Forgotten, Renamed
from reconciler.journal.history import History
from reconciler.model import Manifest, Ref
from reconciler.records.record import moment
from reconciler.runtime.git import NOTHING_OF_ITS_OWN, Git, GitFailed

MOST_ASKED: Final = 200
"""Questions to git in one run; each takes some milliseconds."""

SECONDS: Final = 10.0
JOURNAL, GIT = "journal", "git"


@dataclass(frozen=True, slots=True)
class DatedWrite:
    """A write, and the content that the service has had since, as the journal says."""

    at: datetime
    declared: Mapping[str, Json]


def writes_of(entries: Iterable[Entry]) -> dict[Ref, list[DatedWrite]]:
    """Return the acknowledged writes of each resource, oldest first."""
    history = History()
    found: dict[Ref, list[DatedWrite]] = {}
    for entry in entries:
        history.add((entry,))
        if isinstance(entry, Renamed):
            found[entry.ref] = found.pop(entry.was, [])
        ref: Ref | None = getattr(entry, "ref", None)
        if ref is None:
            continue
        last = history.of(ref).acknowledged
        if last is None:
            if isinstance(entry, Forgotten):
                found.pop(ref, None)
            continue
        at, known = moment(last.at), found.setdefault(ref, [])
        if at is not None and (not known or known[-1] != DatedWrite(at, last.declared)):
            known.append(DatedWrite(at, last.declared))
    return found


@dataclass(slots=True)
class Ages:
    """Ages of declarations; resources of unknown age are added to `unknown`.

    `root` is the project's folder, in which the files of manifests are.
    """

    root: Path
    environ: Mapping[str, str] = field(repr=False)
    entries: Sequence[Entry] = ()
    unknown: set[Ref] = field(default_factory=set)
    _asked: int = 0
    _writes: dict[Ref, list[DatedWrite]] | None = None

    def declared(self, manifest: Manifest) -> Since | None:
        """Return since when the manifest exists, at least; None where that is unknown."""
        writes = self._of(manifest.ref)
        by_journal = Since(writes[0].at, JOURNAL) if writes else None
        # The time when its file began to name it; `--follow` would guess.
        name = manifest.ref.name.replace(".", "[.]")
        by_git = self._git(manifest, f"name[\"']?:[ ]*[\"']?{name}", first=True)
        return min((since for since in (by_journal, by_git) if since is not None), default=None)

    def since(self, manifest: Manifest, path: Place) -> Since | None:
        """Return since when a value is as it is, at least; None where that is unknown."""
        value = value_at(manifest.spec, path)
        by_journal = self._unchanged(self._of(manifest.ref), path, value)
        by_git = None
        if self._is_plain(manifest, str(path[-1]), value):
            by_git = self._git(manifest, f"{path[-1]}[\"']?:")
        found = min((since for since in (by_journal, by_git) if since is not None), default=None)
        if found is None:
            self.unknown.add(manifest.ref)
        return found

    def _of(self, ref: Ref) -> list[DatedWrite]:
        if self._writes is None:
            self._writes = writes_of(self.entries)
        return self._writes.get(ref, [])

    @staticmethod
    def _unchanged(
        writes: Sequence[DatedWrite], path: Place, value: Json | Missing
    ) -> Since | None:
        """Return the first of the last writes that all have a value."""
        found: Since | None = None
        for write in writes:
            is_same = value_at(dict(write.declared), path) == value and value is not ABSENT
            found = (found or Since(write.at, JOURNAL)) if is_same else None
        return found

    def _is_plain(self, manifest: Manifest, key: str, value: Json | Missing) -> bool:
        """Return whether the file itself has the value, and no variable or item of a `forEach`."""
        if manifest.source.item is not None or not isinstance(value, bool):
            return False
        try:
            text = (self.root / manifest.source.file).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        values = re.findall(rf"\b{key}[\"']?\s*:\s*([^\s,}}#]+)", text)
        return (
            bool(values)
            and all(text in ("true", "false") for text in values)
            and (str(value).lower() in values)
        )

    def _git(self, manifest: Manifest, touched: str, *, first: bool = False) -> Since | None:
        """Return when a matching line of the file was changed last, or first.

        None without a history, where the file was edited since, or once too many questions were
        asked.
        """
        if self._asked >= MOST_ASKED:
            return None
        self._asked += 1
        file = manifest.source.file
        git = Git(
            self.root,
            self.environ,
            (*NOTHING_OF_ITS_OWN, "--literal-pathspecs"),
            limit=SECONDS,
            fixed={"GIT_OPTIONAL_LOCKS": "0"},
        )
        plain = ("--no-ext-diff", "--no-textconv")
        try:
            if not first and git.run(
                "diff", *plain, "--name-only", "-G", touched, "HEAD", "--", file
            ):
                return None
            order = ("--reverse",) if first else ("--max-count=1",)
            times = git.text("log", *plain, *order, "--format=%ct", "-G", touched, "--", file)
        except GitFailed:
            return None
        lines = times.split()
        return Since(datetime.fromtimestamp(int(lines[0]), UTC), GIT) if lines else None
