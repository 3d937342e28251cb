"""Loading of a workspace: every file is read and every complaint collected in one run.

Workspaces of unchanged files are cached as text. Source: docs/performance.md.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar, cast

from reconciler.document import Json, digest
from reconciler.kinds import BY_NAME
from reconciler.kinds.judge_spec import SpecReport
from reconciler.model import Exemption, Manifest, Member, Ref, Source, Unopened
from reconciler.model.quoting import listed
from reconciler.project import ProjectFile
from reconciler.redaction.templates import RefHole, SecretHole, Template, is_plain, sum_of
from reconciler.runtime.cache import NO_CACHE, Cache, program
from reconciler.runtime.progress import Deed, Waits
from reconciler.syntax.diagnostic import Advice, Complaint, Excerpt, Severity, Suppressed
from reconciler.syntax.files import (
    LARGEST_WORKSPACE,
    PROJECT_FILE,
    File,
    Files,
    digest_of_file,
    display_name,
    find_files,
)
from reconciler.syntax.read_text import Sources, reading_ahead
from reconciler.workspace.build import SIDE_FILES, Loader, read_side_files
from reconciler.workspace.expression_scope import Scope, value_of_secret
from reconciler.workspace.selection import EVERYTHING, Selection, homes_of
from reconciler.workspace.silence import MOST_COMPLAINTS, Silencing, place_of, reported_once
from reconciler.workspace.workspace_checks import (
    ALWAYS,
    complain_by_features,
    complain_of_lost_references,
    query_complaints,
    wanted_checks,
    workspace_complaints,
)

FORMAT = 7

FAST: Final = 1
"""The level of compression: level 2 takes twice as long and saves a tenth."""

CachedJson: TypeAlias = Any
"""A part of an entry, as parsed from JSON."""

CachedFields: TypeAlias = dict[str, Any]
"""The fields of a workspace by their names."""


_OF_MANIFESTS: Final = ("manifests", "left_out", "beside")
"""Fields of a workspace that hold manifests."""


LEFT_OUT = frozenset(("salt", "today", "why_unset"))
"""Fields of a scope that are in no key. Seals are made again, and the day is in the entry. A secret
that cannot be read is an error, and then nothing is cached."""


def about_scope(scope: Scope, cache: Cache) -> dict[str, Json]:
    """Return each field of a scope except those of `LEFT_OUT`.

    Of secrets, the result says only whether there are any: their values are compared one by one.
    """
    withheld = scope.withheld
    values: dict[str, Json] = {
        name: cache.sign(f"{name}\0{value}") for name, value in sorted(withheld.values.items())
    }
    kept = {field.name: getattr(scope, field.name) for field in fields(scope)}
    return {
        **{name: value for name, value in kept.items() if name not in LEFT_OUT},
        "variables": dict(scope.variables),
        "secrets": scope.secrets is not None,
        "withheld": [list[Json](withheld.prefixes), values],
        "selection": [
            list[Json](scope.selection.flags()),
            list[Json](sorted(scope.selection.within or ())),
        ],
        "unread": list[Json](sorted(scope.unread)),
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

    def get(self) -> Mapping[str, CachedFields] | None:
        """Return the fields of the workspaces by environment, or None if a file changed."""
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
            read = tuple(Path(path) for path, *_ in entry["read"])
            kept = self._opened(entry, specs).items()
            return {name: {**values, "read": read} for name, values in kept}
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None

    def put(
        self, made: Sequence[CachedFields], read: Mapping[Path, tuple[str, str]]
    ) -> Mapping[str, CachedFields]:
        """Keep workspaces and the digests of the files that were read, unless there are errors.

        Returns what `get` will return, in which manifests need less memory; empty where there are
        errors.
        """
        if any(complaint.is_error for values in made for complaint in values["complaints"]):
            return {}
        closing = _Closing(self.cache)
        # Only exemptions, and checks that a setting asks for, end on a day.
        manifests = [
            manifest for kept in made for name in _OF_MANIFESTS for manifest in kept[name] or ()
        ]
        ends = any(key != ALWAYS for key in wanted_checks(self.settings)) or any(
            manifest.exempt for manifest in manifests
        )
        entry = {
            "days": self._days if ends else None,
            "read": [[str(path), name, known] for path, (name, known) in read.items()],
            "workspaces": [closing.kept(workspace) for workspace in made],
            "seals": closing.seals,
        }
        head = json.dumps(entry, separators=(",", ":"), default=_plain).encode()
        specs = b"".join(closing.specs)
        self.cache.put(self.key, b"".join([head, b"\n", specs]))
        return self._opened(json.loads(head), specs)

    def _opened(self, entry: CachedJson, specs: bytes) -> Mapping[str, CachedFields]:
        """Decode an entry for each environment. Raises ValueError if it is not valid."""
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

    def kept(self, workspace: CachedFields) -> CachedFields:
        """Return the fields of a workspace for `json.dumps`."""
        values = dict(workspace)
        for name in _OF_MANIFESTS:
            if values[name] is not None:
                values[name] = [*map(self._manifest, values[name])]
        values["side_files"] = {
            name: SIDE_FILES.load(name).packed(content)
            for name, content in workspace["side_files"].items()
        }
        return values

    def _manifest(self, manifest: Manifest) -> CachedJson:
        holes: list[CachedJson] = []
        # Most specs have no template, and are written as they are.
        spec = manifest.spec if is_plain(manifest) else self._opened(manifest.spec, (), holes)
        text = zlib.compress(json.dumps(spec, separators=(",", ":")).encode(), FAST)
        begin, self._length = self._length, self._length + len(text)
        self.specs.append(text)
        declared_id = BY_NAME[manifest.ref.kind].declared_id(manifest)
        return [
            manifest.ref,
            [begin, self._length, sum_of(manifest), declared_id],
            manifest.source,
            manifest.remote_id,
            dict(manifest.labels),
            sorted(manifest.references),
            manifest.protect,
            dict(manifest.exempt),
            dict(manifest.added),
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

    def kept(self, held: CachedFields) -> CachedFields:
        values = dict(held)
        for name in _OF_MANIFESTS:
            if held[name] is not None:
                values[name] = tuple(map(self._manifest, held[name]))
        for name in ("complaints", "idle"):
            values[name] = tuple(map(_complained, held[name]))
        for name in ("elsewhere", "unselected"):
            values[name] = tuple(Ref(*ref) for ref in held[name])
        values["suppressed"] = tuple(
            Suppressed(_complained(complaint), why) for complaint, why in held["suppressed"]
        )
        values["side_files"] = {
            name: SIDE_FILES.load(name).unpacked(content)
            for name, content in held["side_files"].items()
        }
        return values

    def _manifest(self, held: CachedJson) -> Manifest:
        ref, place, source, remote_id, labels, references, protect, exempt, added, holes = held
        begin, end, total, declared_id = place
        # Filled in here, because a changed secret is a miss.
        filled = [(path, Template(tuple(map(self._part, parts)))) for path, parts in holes]
        opened = partial(_opened_spec, self.specs, begin, end, filled)
        file, line, column, item = source
        return Manifest(
            Ref(*ref),
            cast("dict[str, Json]", Unopened(opened, total, declared_id, not holes)),
            Source(file, line, column, _member(item)),
            remote_id=remote_id,
            labels=labels,
            references=frozenset(Ref(*reference) for reference in references),
            protect=protect,
            exempt={
                code: Exemption(why, None if day is None else date.fromisoformat(day))
                for code, (why, day) in exempt.items()
            },
            added=added,
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
            raise ValueError(name)
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


def _plain(value: object) -> CachedJson:
    """Return a value that JSON cannot express: an object as a list of its fields, a day as text."""
    match value:
        case date():
            return value.isoformat()
        case Severity():
            return value.value
        case Complaint(suggestion=suggestion):
            return [isinstance(suggestion, Advice), *_values_of(value)]
        case _:
            return _values_of(value)


def _values_of(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in fields(record)]


def _complained(held: CachedJson) -> Complaint:
    is_advice, file, line, column, code, message, meant, severity, *others, item, begun = held
    excerpt, ref, path, environments = others
    return Complaint(
        file,
        line,
        column,
        code,
        message,
        Advice(meant) if is_advice else meant,
        Severity(severity),
        None if excerpt is None else Excerpt(tuple(map(tuple, excerpt[0])), *excerpt[1:]),
        ref,
        tuple(path),
        tuple(environments),
        _member(item),
        begun,
    )


def _member(held: CachedJson) -> Member | None:
    return None if held is None else Member(*held)


MOST_IN_ALL = 10 * MOST_COMPLAINTS
"""Limit of complaints in all environments. A mistake counts once for each environment."""


NOTHING: Mapping[Path, str] = MappingProxyType({})
NO_SETTINGS = ProjectFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Everything under the paths of a run.

    `elsewhere` are manifests that `metadata.environments` limits to other environments. `read` are
    all files that were read, also exports. `suppressed` are the complaints that are not reported,
    with the reason; `idle` are comments that ignore nothing here. `left_out` are the manifests that
    were not selected, and `unheeded` is the number of their errors. `side_files` has the content of
    files that are no manifests, by the setting that names them. `unselected` are the members of
    `elsewhere` that would not be selected there either. `beside` are the manifests of files that
    the run is not about, None if these files were not read.
    """

    manifests: tuple[Manifest, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    elsewhere: tuple[Ref, ...] = ()
    files: int = 0
    read: tuple[Path, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    idle: tuple[Complaint, ...] = ()
    left_out: tuple[Manifest, ...] = ()
    unheeded: int = 0
    side_files: Mapping[str, Any] = field(default_factory=dict)
    unselected: tuple[Ref, ...] = ()
    beside: tuple[Manifest, ...] | None = None

    @property
    def known(self) -> Iterator[Ref]:
        """Yield all declared resources: selected or not, here or in other environments."""
        yield from (manifest.ref for manifest in (*self.manifests, *self.left_out))
        yield from self.elsewhere

    @property
    def errors(self) -> tuple[Complaint, ...]:
        """Return the complaints that stop a run."""
        return tuple(complaint for complaint in self.complaints if complaint.is_error)


def load_workspace(
    paths: Sequence[Path],
    root: Path,
    scope: Scope,
    settings: ProjectFile = NO_SETTINGS,
) -> Workspace:
    """Read every manifest under `paths`, except those that the project file excludes.

    No content of a file raises an error: all errors are complaints, sorted by file and line.
    """
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    return _load(found, sources_of(paths, root, settings.limits.size), scope, settings, Waits())


def load_workspaces(
    paths: Sequence[Path],
    root: Path,
    scopes: Sequence[Scope],
    settings: ProjectFile = NO_SETTINGS,
    *,
    waits: Waits | None = None,
    instead: Mapping[Path, str] = NOTHING,
    cache: Cache = NO_CACHE,
) -> dict[str, Workspace]:
    """Read every manifest once, and return the workspace of each environment by name.

    `instead` has texts that replace files. Unchanged files are taken from `cache`, with the same
    result.
    """
    waits = waits or Waits()
    with waits.step(Deed.LOADING):
        found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    sources.instead = instead
    scopes = with_homes(
        scopes,
        lambda plain: load_workspaces(
            paths, root, plain, settings, waits=waits, instead=instead, cache=cache
        ),
    )
    if instead or found.complaints or not cache.is_on:
        return _load_all(found, sources, scopes, settings, waits)
    lookup = Lookup(cache=cache, found=found, roots=sources.roots, settings=settings, scopes=scopes)
    with waits.step(Deed.LOADING, total=len(found.files)) as step:
        known = lookup.get()
        step.done = 0 if known is None else len(found.files)
    if known is not None:
        return {name: Workspace(**values) for name, values in known.items()}
    sources.digests = {}
    made = _load_all(found, sources, scopes, settings, waits)
    with waits.step(Deed.LOADING):
        packed = lookup.put([*map(_fields_of, made.values())], sources.digests)
    return {name: replace(workspace, **packed.get(name, {})) for name, workspace in made.items()}


def _fields_of(workspace: Workspace) -> dict[str, Any]:
    names = (field.name for field in fields(workspace) if field.name != "read")
    return {name: getattr(workspace, name) for name in names}


def sources_of(
    paths: Sequence[Path], root: Path, largest: int = LARGEST_WORKSPACE, *, kept: bool = False
) -> Sources[SpecReport]:
    """Return the sources of a run, not read yet: the root, and folders of paths outside of it."""
    return Sources[SpecReport]((root.resolve(), *_outside(paths, root)), kept=kept, largest=largest)


def _load_all(
    found: Files,
    sources: Sources[SpecReport],
    scopes: Sequence[Scope],
    settings: ProjectFile,
    waits: Waits,
) -> dict[str, Workspace]:
    """Read the manifests in each environment, until there are too many complaints in all."""
    made: dict[str, Workspace] = {}
    reported = 0
    for scope in scopes:
        if reported >= MOST_IN_ALL:
            message = "there is too much to complain of: this environment is unchecked"
            unchecked = Complaint.of_file(PROJECT_FILE, "M115", message)
            made[scope.environment] = Workspace(complaints=(unchecked,))
            continue
        made[scope.environment] = _load(found, sources, scope, settings, waits)
        reported += len(made[scope.environment].complaints)
    return made


def _load(
    found: Files,
    sources: Sources[SpecReport],
    scope: Scope,
    settings: ProjectFile,
    waits: Waits,
) -> Workspace:
    sources.begin()
    silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
    loader = Loader(found.root, sources, scope, settings.environments, silencing)
    loader.complaints.extend(found.complaints)
    unread = [] if sources.readings or sources.instead else found.files
    with reading_ahead(unread, sources.roots) as ahead:
        for file in waits.each(Deed.LOADING, found.files):
            sources.arrived = file, ahead.take(file)
            loader.load(file)
    with waits.step(Deed.CHECKING, total=len(found.files)) as step:
        workspace = _checked(loader, found, settings)
        step.done = len(found.files)
    return replace(workspace, read=tuple(sources.paths))


def _checked(loader: Loader, found: Files, settings: ProjectFile) -> Workspace:
    loader.complain_of_strays()
    scope, declared = loader.scope, loader.declared
    loader.complaints.extend(workspace_complaints(loader))
    complain_of_lost_references(loader)
    loader.complain_of_unused()
    loader.complaints.extend(query_complaints(loader, settings))
    complain_by_features(loader, settings)
    side_files = read_side_files(loader, settings)
    manifests = tuple(manifest.manifest for manifest in declared)
    loader.taken.targets.update(
        str(ref) for found in declared if found.selected for ref in found.manifest.references
    )
    outcome = loader.silencing.told(sorted(set(reported_once(loader.complaints))), manifests)

    def is_about(complaint: Complaint) -> bool:
        return loader.taken.is_about(complaint, scope.selection)

    about = tuple(filter(is_about, outcome.complaints))
    left = [manifest.manifest for manifest in declared if not manifest.selected]
    is_ours = scope.selection.is_about
    return Workspace(
        manifests=tuple(manifest.manifest for manifest in declared if manifest.selected),
        complaints=about,
        elsewhere=tuple(loader.elsewhere),
        files=sum(is_ours(file.name) for file in found.files) - loader.side_files,
        suppressed=tuple(entry for entry in outcome.suppressed if is_about(entry.complaint)),
        idle=outcome.idle,
        left_out=tuple(manifest for manifest in left if is_ours(manifest.source.file)),
        unheeded=sum(complaint.is_error for complaint in outcome.complaints)
        - sum(complaint.is_error for complaint in about),
        side_files=side_files,
        unselected=tuple(ref for ref in loader.elsewhere if str(ref) in loader.taken.left),
        beside=None
        if scope.selection.within is None
        else tuple(manifest for manifest in left if not is_ours(manifest.source.file)),
    )


def wrong_in(
    texts: Mapping[Path, str],
    file: Path,
    root: Path,
    scope: Scope,
    environments: Mapping[str, object],
) -> Complaint | None:
    """Return the first error in a manifest that is not written yet, or None.

    `texts` are the texts of `file` and of the files that it names. References are not checked.
    """
    sources = Sources[SpecReport](
        (root,), instead={path.resolve(): text for path, text in texts.items()}
    )
    loader = Loader(root, sources, scope, environments)
    loader.load(File(file, display_name(file, root), named=True))
    return next((complaint for complaint in loader.complaints if complaint.is_error), None)


def _outside(paths: Sequence[Path], root: Path) -> Iterator[Path]:
    """Yield the folders of paths outside the root; links inside the root are not followed."""
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        if not absolute.is_relative_to(root):
            folder = absolute if os.path.isdir(path) else absolute.parent  # noqa: PTH112 - never raises
            with suppress(OSError, RuntimeError):
                yield folder.resolve()


@dataclass(slots=True)
class TakenFiles:
    """Names of files: `taken` with selected resources, `left` with others only.

    It is not known what the `broken` files declare.
    """

    selection: Selection
    taken: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    known: set[Ref] = field(default_factory=set)

    def has(self, file: str) -> bool:
        """Return whether a file has selected resources, or may have them if it cannot be read."""
        if file in self.taken:
            return True
        if file in self.broken:
            return self.selection.may_take_from(file)
        return file not in self.left and self.selection.takes_whole(file)

    def note(self, loader: Loader) -> None:
        """Record the files of one environment."""
        met = loader.taken
        self.known.update(ref for name in (*met.refs, *met.left) if (ref := Ref.parse(name)))
        self.taken |= met.files
        self.left |= met.left_files
        for manifest in loader.declared:
            (self.taken if manifest.selected else self.left).add(manifest.manifest.source.file)
        for complaint in loader.complaints:
            # A document with M201 is no manifest and declares nothing.
            if not complaint.is_error or complaint.code == "M201":
                continue
            if complaint.ref in met.refs:
                self.taken.add(complaint.file)
            elif complaint.ref in met.left:
                self.left.add(complaint.file)
            else:
                self.broken.add(complaint.file)


def files_taken(
    paths: Sequence[Path],
    root: Path,
    scopes: Sequence[Scope],
    settings: ProjectFile,
    selection: Selection,
) -> TakenFiles:
    """Read every manifest under `paths`, and return the files that a scope selects from.

    Errors in manifests are not reported here. Raises UsageError if a resource is selected by name
    and no manifest declares it.
    """
    files = TakenFiles(selection)
    for loader in load_each(paths, root, scopes, settings):
        loader.complain_of_strays()
        files.note(loader)
    selection.check_named(files.known)
    return files


def with_homes(
    scopes: Sequence[Scope], read: Callable[[Sequence[Scope]], Mapping[str, Workspace]]
) -> Sequence[Scope]:
    """Return scopes with selections that know which resources are in other shards.

    All manifests are read for that, without secrets: names and references contain none.
    """
    if not any(scope.selection.shard for scope in scopes):
        return scopes
    plain = [
        replace(scope.without_secrets, selection=EVERYTHING, unread=frozenset(), ruled=False)
        for scope in scopes
    ]
    found = read(plain)
    return [
        replace(
            scope, selection=scope.selection.at_homes(homes_of(found[scope.environment].manifests))
        )
        for scope in scopes
    ]


def load_each(
    paths: Sequence[Path], root: Path, scopes: Sequence[Scope], settings: ProjectFile
) -> Iterator[Loader]:
    """Yield the loader of each scope, after it has read every manifest under `paths`."""
    found = find_files(paths, root, settings.exclude, settings.limits.files)
    sources = sources_of(paths, root, settings.limits.size, kept=len(scopes) > 1)
    for scope in with_homes(scopes, lambda plain: load_workspaces(paths, root, plain, settings)):
        sources.begin()
        silencing = Silencing(settings.checks, [rule.name for rule in settings.own_rules])
        loader = Loader(found.root, sources, scope, settings.environments, silencing)
        for file in found.files:
            loader.load(file)
        yield loader


MOST_NAMED = 5

T = TypeVar("T")


def everywhere(workspaces: Mapping[str, Workspace], *, are_all: bool = False) -> Workspace:
    """Return one workspace for all environments, which are given by name.

    A complaint that holds in only some environments names them. A manifest is in `elsewhere` only
    if no environment has it. With `are_all`, the input covers every environment and every file of
    the project, so settings that are idle in all of them are reported too.
    """
    idle = (
        set.intersection(*(set(workspace.idle) for workspace in workspaces.values()))
        if are_all
        else set()
    )

    def all_of(values: Callable[[Workspace], Iterable[T]]) -> dict[T, None]:
        return dict.fromkeys(chain.from_iterable(map(values, workspaces.values())))

    manifests: dict[Ref, Manifest] = {}
    for workspace in workspaces.values():
        for manifest in workspace.manifests:
            manifests.setdefault(manifest.ref, manifest)
    left = {
        manifest.ref: manifest
        for workspace in workspaces.values()
        for manifest in workspace.left_out
        if manifest.ref not in manifests
    }
    declared = manifests.values()
    limited = all_of(lambda workspace: workspace.elsewhere)
    return Workspace(
        manifests=tuple(
            sorted(declared, key=lambda manifest: (manifest.source.file, manifest.source.line))
        ),
        complaints=tuple(sorted((*_merged(workspaces), *idle))),
        elsewhere=tuple(ref for ref in limited if ref not in manifests),
        files=max((workspace.files for workspace in workspaces.values()), default=0),
        read=tuple(all_of(lambda workspace: workspace.read)),
        suppressed=tuple(sorted(all_of(lambda workspace: workspace.suppressed))),
        left_out=tuple(left.values()),
        unheeded=max((workspace.unheeded for workspace in workspaces.values()), default=0),
        unselected=tuple(all_of(lambda workspace: workspace.unselected)),
    )


def _merged(workspaces: Mapping[str, Workspace]) -> list[Complaint]:
    holding: dict[Complaint, list[str]] = defaultdict(list)
    for name, workspace in workspaces.items():
        for complaint in workspace.complaints:
            holding[complaint].append(name)
    merged: list[Complaint] = []
    # Complaints at the same place that differ only by environment are merged into one.
    by_place: dict[tuple[object, ...], list[Complaint]] = defaultdict(list)
    for complaint, names in holding.items():
        holds_everywhere = len(names) == len(workspaces)
        (merged if holds_everywhere else by_place[place_of(complaint)]).append(complaint)
    return [*merged, *(_in_some(group, holding) for group in by_place.values())]


def _in_some(group: Sequence[Complaint], holding: Mapping[Complaint, Sequence[str]]) -> Complaint:
    first = group[0]
    names = tuple(dict.fromkeys(name for complaint in group for name in holding[complaint]))
    message = f"{first.message} (in {listed(names, MOST_NAMED)})"
    return replace(first, message=message, environments=names)
