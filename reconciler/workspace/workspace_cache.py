"""Cache of workspaces from unchanged files: encoding as text, and decoding.

Source: docs/performance.md.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from reconciler.document import Json, digest
from reconciler.kinds import BY_NAME
from reconciler.model import Exemption, Manifest, Member, Ref, Source, Unopened
from reconciler.project import ProjectFile
from reconciler.redaction.templates import RefHole, SecretHole, Template, is_plain, sum_of
from reconciler.runtime.cache import Cache, program
from reconciler.syntax.diagnostic import Advice, Complaint, Excerpt, Severity, Suppressed
from reconciler.syntax.files import Files, digest_of_file
from reconciler.workspace.expression_scope import Scope, value_of_secret
from reconciler.workspace.side_files import SIDE_FILES
from reconciler.workspace.workspace_checks import ALWAYS, wanted_checks

FORMAT = 4

FAST: Final = 1
"""The level of compression: level 2 takes twice as long and saves a tenth."""

CachedJson: TypeAlias = Any
"""A part of an entry, as parsed from JSON."""


class _Missed(Exception):
    """The entry is not valid for the current input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedWorkspace:
    """A workspace without the files that were read.

    `elsewhere` are manifests that `metadata.environments` limits to other environments.
    `suppressed` are the complaints that are not reported, with the reason; `idle` are comments that
    ignore nothing here. `left_out` was not selected, and `unheeded` counts its errors. `side_files`
    is what files that are no manifests hold, by the setting that names them. `unselected` are the
    members of `elsewhere` that would not be selected there either.
    """

    manifests: tuple[Manifest, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    elsewhere: tuple[Ref, ...] = ()
    files: int = 0
    suppressed: tuple[Suppressed, ...] = ()
    idle: tuple[Complaint, ...] = ()
    left_out: tuple[Manifest, ...] = ()
    unheeded: int = 0
    side_files: Mapping[str, Any] = field(default_factory=dict)
    unselected: tuple[Ref, ...] = ()


LEFT_OUT = frozenset(("salt", "today", "why_unset"))
"""Fields of a scope that are in no key. Seals are made again, an entry has its day, and a secret
that cannot be read causes a complaint, so that nothing is kept."""


def about_scope(scope: Scope, cache: Cache) -> dict[str, Json]:
    """Return each field of a scope except those of `LEFT_OUT`.

    For secrets it says only whether there are any: they are compared one by one.
    """
    withheld = scope.withheld
    values: dict[str, Json] = {
        name: cache.sign(f"{name}\0{value}") for name, value in sorted(withheld.values.items())
    }
    return {
        "environment": scope.environment,
        "variables": dict(scope.variables),
        "secrets": scope.secrets is not None,
        "withheld": [list[Json](withheld.prefixes), values],
        "ruled": scope.ruled,
        "selection": list[Json](scope.selection.flags()),
        "unread": list[Json](sorted(scope.unread)),
        "may_lack": scope.may_lack,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A cache lookup by everything that decides a workspace, except the texts of files.

    `roots` are the folders that files may be in.
    """

    cache: Cache
    found: Files
    roots: tuple[Path, ...]
    settings: ProjectFile
    scopes: Sequence[Scope]

    @property
    def key(self) -> str:
        """Return the key of the entry."""
        about: dict[str, Json] = {
            "format": FORMAT,
            "program": program(),
            "root": str(self.found.root),
            "roots": [str(root) for root in self.roots],
            "files": [[str(file.path), file.name, file.named] for file in self.found.files],
            "settings": self.settings.model_dump(mode="json", by_alias=True),
            # Complaints about rules quote the lines of the project file.
            "written": _text_of(self.settings),
            "scopes": [about_scope(scope, self.cache) for scope in self.scopes],
        }
        return digest(about)

    @property
    def _days(self) -> list[str]:
        return [scope.today.isoformat() for scope in self.scopes]

    def get(self) -> tuple[Mapping[str, CachedWorkspace], tuple[Path, ...]] | None:
        """Return the workspaces by environment and the files read, or None if a file changed."""
        content = self.cache.get(self.key)
        if content is None:
            return None
        try:
            head, _, specs = content.partition(b"\n")
            entry = json.loads(head)
            if entry["days"] not in (None, self._days):
                return None
            for path, name, known in entry["read"]:
                if digest_of_file(Path(path), name, self.roots) != known:
                    return None
            kept = self._opened(entry, specs)
        except (_Missed, ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None
        return kept, tuple(Path(path) for path, *_ in entry["read"])

    def put(
        self, made: Sequence[CachedWorkspace], read: Mapping[Path, tuple[str, str]]
    ) -> Mapping[str, CachedWorkspace] | None:
        """Keep workspaces and the digests of the files that were read, unless there are errors.

        Returns them by environment as `get` will, with manifests that need less memory, or None.
        """
        wrong = any(complaint.is_error for kept in made for complaint in kept.complaints)
        if wrong or not self.cache.is_on:
            return None
        closing = _Closing(self.cache)
        # Only exemptions, and checks that a setting asks for, end on a day.
        manifests = [manifest for kept in made for manifest in (*kept.manifests, *kept.left_out)]
        ends = any(key != ALWAYS for key in wanted_checks(self.settings)) or any(
            manifest.exempt for manifest in manifests
        )
        entry = {
            "days": self._days if ends else None,
            "read": [[str(path), name, known] for path, (name, known) in read.items()],
            "workspaces": [closing.kept(workspace) for workspace in made],
            "seals": closing.seals,
        }
        head = json.dumps(entry, separators=(",", ":")).encode()
        specs = b"".join(closing.specs)
        self.cache.put(self.key, b"".join([head, b"\n", specs]))
        return self._opened(entry, specs)

    def _opened(self, entry: CachedJson, specs: bytes) -> Mapping[str, CachedWorkspace]:
        """Decode an entry for each environment. Raises _Missed if it is not valid."""
        return {
            scope.environment: _Opening(self.cache, scope, entry["seals"], specs).kept(workspace)
            for scope, workspace in zip(self.scopes, entry["workspaces"], strict=True)
        }


def _text_of(settings: ProjectFile) -> str:
    return "" if settings.written is None else digest(settings.written.document.lines.text)


@dataclass(slots=True)
class _Closing:
    """Encoder of workspaces. Of a secret it keeps the name, and a signature of its value.

    `specs` are the specs of the manifests, compressed one by one, so that each can be read alone.
    """

    cache: Cache
    seals: dict[str, str] = field(default_factory=dict)
    specs: list[bytes] = field(default_factory=list)
    _length: int = 0

    def kept(self, workspace: CachedWorkspace) -> CachedJson:
        return {
            "manifests": [*map(self._manifest, workspace.manifests)],
            "complaints": [*map(_complaint, workspace.complaints)],
            "elsewhere": [list(ref) for ref in workspace.elsewhere],
            "suppressed": [
                [_complaint(suppressed.complaint), suppressed.reason, suppressed.in_source]
                for suppressed in workspace.suppressed
            ],
            "idle": [*map(_complaint, workspace.idle)],
            "leftOut": [*map(self._manifest, workspace.left_out)],
            "unheeded": workspace.unheeded,
            "files": workspace.files,
            "sideFiles": {
                name: SIDE_FILES.load(name).packed(content)
                for name, content in workspace.side_files.items()
            },
            "unselected": [list(ref) for ref in workspace.unselected],
        }

    def _manifest(self, manifest: Manifest) -> CachedJson:
        holes: list[CachedJson] = []
        # Most specs have no template, and are written as they are.
        spec = manifest.spec if is_plain(manifest) else self._opened(manifest.spec, (), holes)
        text = zlib.compress(json.dumps(spec, separators=(",", ":")).encode(), FAST)
        begin, self._length = self._length, self._length + len(text)
        self.specs.append(text)
        source = manifest.source
        return [
            list(manifest.ref),
            [
                begin,
                self._length,
                sum_of(manifest),
                BY_NAME[manifest.ref.kind].declared_id(manifest),
            ],
            [source.file, source.line, source.column, _member(source.item)],
            manifest.remote_id,
            dict(manifest.labels),
            [list(ref) for ref in sorted(manifest.references)],
            manifest.protect,
            {code: [why.reason, _day(why.until)] for code, why in manifest.exempt.items()},
            holes,
        ]

    def _opened(self, value: Json, path: tuple[str | int, ...], holes: list[CachedJson]) -> Json:
        """Return a document with None in place of its templates, which are added to `holes`."""
        match value:
            case Template(parts=parts):
                holes.append([[*path], [*map(self._part, parts)]])
                return None
            case dict():
                return {
                    key: self._opened(member, (*path, key), holes) for key, member in value.items()
                }
            case list():
                return [
                    self._opened(element, (*path, at), holes) for at, element in enumerate(value)
                ]
            case _:
                return value

    def _part(self, part: str | SecretHole | RefHole) -> CachedJson:
        match part:
            case SecretHole(name=name, value=value):
                if value:
                    self.seals[name] = self.cache.sign(value)
                return ["secret", name, bool(value)]
            case RefHole(ref=ref):
                return ["ref", *ref]
            case _:
                return part


@dataclass(slots=True)
class _Opening:
    """Decoder of workspaces, with the secrets of this run."""

    cache: Cache
    scope: Scope
    seals: Mapping[str, str]
    specs: bytes

    def kept(self, held: CachedJson) -> CachedWorkspace:
        suppressed = held["suppressed"]
        return CachedWorkspace(
            manifests=tuple(map(self._manifest, held["manifests"])),
            complaints=tuple(map(_complained, held["complaints"])),
            elsewhere=tuple(Ref(*ref) for ref in held["elsewhere"]),
            files=held["files"],
            suppressed=tuple(
                Suppressed(_complained(value), why, at) for value, why, at in suppressed
            ),
            idle=tuple(map(_complained, held["idle"])),
            left_out=tuple(map(self._manifest, held["leftOut"])),
            unheeded=held["unheeded"],
            side_files={
                name: SIDE_FILES.load(name).unpacked(content)
                for name, content in held["sideFiles"].items()
            },
            unselected=tuple(Ref(*ref) for ref in held["unselected"]),
        )

    def _manifest(self, held: CachedJson) -> Manifest:
        ref, place, source, remote_id, labels, references, protect, exempt, holes = held
        begin, end, total, declared_id = place
        # Filled in here, because a changed secret is a miss.
        filled = [(path, Template(tuple(map(self._part, parts)))) for path, parts in holes]
        opened = partial(_opened_spec, self.specs, begin, end, filled)
        file, line, column, item = source
        return Manifest(
            Ref(*ref),
            cast("dict[str, Json]", Unopened(opened, total, declared_id, not holes)),
            Source(file, line, column, None if item is None else Member(*item)),
            remote_id=remote_id,
            labels=labels,
            references=frozenset(Ref(*reference) for reference in references),
            protect=protect,
            exempt={code: Exemption(why, _until(day)) for code, (why, day) in exempt.items()},
        )

    def _part(self, held: CachedJson) -> str | SecretHole | RefHole:
        if isinstance(held, str):
            return held
        word, *rest = held
        if word == "ref":
            return RefHole(Ref(*rest))
        name, had_value = rest
        hole = value_of_secret(name, self.scope if had_value else self.scope.without_secrets)
        if had_value and self.cache.sign(hole.value) != self.seals[name]:
            raise _Missed
        return hole


def _opened_spec(
    specs: bytes, begin: int, end: int, filled: Sequence[tuple[Sequence[str | int], Template]]
) -> dict[str, Json]:
    """Return one `spec` with its templates in their places."""
    spec: dict[str, Json] = json.loads(zlib.decompress(specs[begin:end]))
    for path, template in filled:
        inside: Any = spec
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = template
    return spec


def _complaint(complaint: Complaint) -> CachedJson:
    found = complaint.excerpt
    excerpt = (
        None if found is None else [[[*line] for line in found.lines], found.start, found.width]
    )
    return [
        [complaint.file, complaint.line, complaint.column, complaint.code, complaint.message],
        [complaint.suggestion, isinstance(complaint.suggestion, Advice)],
        complaint.severity.value,
        excerpt,
        complaint.ref,
        [*complaint.path],
        [*complaint.environments],
        _member(complaint.item),
        complaint.begun,
    ]


def _complained(held: CachedJson) -> Complaint:
    place, (meant, is_advice), severity, excerpt, ref, path, environments, item, begun = held
    file, line, column, code, message = place
    return Complaint(
        file,
        line,
        column,
        code=code,
        message=message,
        suggestion=Advice(meant) if is_advice else meant,
        severity=Severity(severity),
        excerpt=None if excerpt is None else _excerpt(excerpt),
        ref=ref,
        path=tuple(path),
        environments=tuple(environments),
        item=None if item is None else Member(*item),
        begun=begun,
    )


def _excerpt(held: CachedJson) -> Excerpt:
    lines, start, width = held
    return Excerpt(tuple((number, text) for number, text in lines), start, width)


def _member(item: Member | None) -> CachedJson:
    return None if item is None else [item.number, item.label, item.total]


def _day(until: date | None) -> str | None:
    return None if until is None else until.isoformat()


def _until(day: str | None) -> date | None:
    return None if day is None else date.fromisoformat(day)
