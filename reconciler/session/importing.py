"""Import: what the service holds, or an export, as manifests, and a journal that knows them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Literal, TypeAlias
from uuid import uuid4

from reconciler.advice import on_manifests, on_service
from reconciler.document import Json, covers, value_at
from reconciler.errors import ExitCode, InvalidInput, ReconcilerError, UsageError
from reconciler.importing.drafts import Draft, Place, draft_of
from reconciler.importing.names import Titled, content_mark, file_names, named
from reconciler.importing.records import Left, Record, judged
from reconciler.importing.references import Known, Mention, circles_in, mentions_in
from reconciler.importing.shapes import found_in
from reconciler.journal.entries import Entry, RunEntry
from reconciler.journal.entries import Imported as ImportedEntry
from reconciler.journal.history import History, Memory
from reconciler.journal.journal import Journal
from reconciler.journal.store import Patience
from reconciler.kinds import BY_NAME
from reconciler.kinds.kind import Kind, observe
from reconciler.manifests.envelope import LONGEST_NAME, NAME
from reconciler.manifests.expressions import Scope, Withheld, withheld_from
from reconciler.manifests.workspace import Workspace, sources_of
from reconciler.points import Point, reached
from reconciler.project import with_target
from reconciler.report.complaints.text import complaints_summary
from reconciler.resource import Absent, Manifest, Ref, RemoteId, Seen, Source
from reconciler.sealed import holds_seal, references_in, resolve
from reconciler.session.opening import Bench, open_api, open_target, read_workspace
from reconciler.session.projects import Asked, applied_commit, journal_of, loaded
from reconciler.source.diagnostic import Complaint
from reconciler.source.files import GIT_FOLDER, display_name, find_files
from reconciler.source.parsed import Text, complaints_of_text
from reconciler.source.reading import read_text
from reconciler.source.writing import sync_folder, write_new_file
from reconciler.waits import Deed

Origin: TypeAlias = Literal["live", "export"]

TOGETHER = 100
"""Files that are written before the journal is told of them."""

MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be imported: things of the service by what they are asked for, or exports."""

    live: tuple[tuple[Kind, str], ...] = ()
    exports: tuple[Path, ...] = ()
    everything: bool = False
    to: Path | None = None
    keep_json: bool = False
    dry_run: bool = False
    parameterise: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A resource that has a manifest now; `files` are those that were written for it."""

    ref: Ref
    file: str
    remote_id: RemoteId | None
    files: tuple[Path, ...]


@dataclass(slots=True)
class Result:
    """What became of an import."""

    imported: list[Taken] = field(default_factory=list)
    skipped: list[Left] = field(default_factory=list)

    @property
    def exit_codes(self) -> set[int]:
        """The codes of what could not be imported."""
        return {one.exit_code for one in self.skipped} - {0}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A record less its document, which waits in a file: memory is for what is short.

    `spec` of `record` is empty. `mentions` are the ids of others in it.
    """

    record: Record
    title: str
    mark: str
    mentions: tuple[Mention, ...]
    slugs: tuple[tuple[str, str], ...]
    origin: Origin
    revision: str
    offset: int
    length: int


class _Spool:
    """Documents on disk until their names are known."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def keep(self, record: Record, origin: Origin, revision: str = "") -> _Kept:
        """Put a record's document aside."""
        content = json.dumps(record.spec).encode()
        offset = self._stream.seek(0, os.SEEK_END)
        self._stream.write(content)
        nameless = Manifest(Ref(record.kind.name, ""), record.spec, Source("", 1))
        slugs = record.kind.identities(nameless)
        return _Kept(
            replace(record, spec={}),
            record.title,
            content_mark(record.spec),
            (*mentions_in(record.spec, record.kind),),
            tuple((what, value) for what, value in slugs.items() if value),
            origin,
            revision,
            offset,
            len(content),
        )

    def record(self, kept: _Kept) -> Record:
        """Give a record whole again."""
        self._stream.seek(kept.offset)
        return replace(kept.record, spec=json.loads(self._stream.read(kept.length)))


def import_now(asked: Asked, wanted: Wanted, patience: Patience) -> Result:
    """Read what is wanted, write a manifest of each that has none, and journal what was seen.

    Raises InvalidInput where a file is there already: then nothing is written. Raises
    UsageError, and what opening a target, a journal and the service raise.
    """
    bench, workspace = _opened(asked)
    journal = loaded(
        journal_of(bench.project, bench.name, bench.environment, bench.target, asked.voice),
        asked.waits,
        asked.voice,
    )
    with TemporaryFile() as stream:
        run = _Import(asked, wanted, bench, workspace, journal, _Spool(stream))
        run.gather()
        run.place()
        if not wanted.dry_run and run.has_work:
            with journal.locked(str(uuid4()), patience):
                run.write()
        elif wanted.dry_run:
            run.rehearse()
    return run.result


def _opened(asked: Asked) -> tuple[Bench, Workspace]:
    """Give the target and the manifests that are there; what is wrong with those is only told.

    Raises what `open_target` raises.
    """
    bench = open_target(asked)
    scope = Scope(bench.name, bench.environment.variables, withheld=withheld_from(os.environ))
    workspace = read_workspace(asked, bench.project, scope)
    if workspace.errors and not asked.quiet:
        count = len(workspace.manifests)
        said = complaints_summary(workspace.errors, count, workspace.files)
        asked.voice.say(f"of the manifests that are there: {said}; `{on_manifests('validate')}`")
    return replace(bench, workspace=workspace), workspace


@dataclass(slots=True)
class _Import:
    asked: Asked
    wanted: Wanted
    bench: Bench
    workspace: Workspace
    journal: Journal
    spool: _Spool
    found: list[_Kept] = field(default_factory=list)
    refs: dict[int, Ref] = field(default_factory=dict)
    targets: dict[Ref, Path] = field(default_factory=dict)
    agreed: list[tuple[_Kept, Manifest]] = field(default_factory=list)
    known: Known = field(default_factory=lambda: Known({}))
    result: Result = field(default_factory=Result)

    @property
    def root(self) -> Path:
        """The folder of the project, without links."""
        return self.bench.project.root.resolve()

    @property
    def history(self) -> History:
        """What the journal knows."""
        return self.journal.history

    @property
    def withheld(self) -> Withheld:
        """What may stand in no manifest."""
        return withheld_from(os.environ)

    @property
    def has_work(self) -> bool:
        """Whether anything is to be written or journaled."""
        return bool(self.targets or self.agreed)

    def gather(self) -> None:
        """Read what is wanted."""
        if self.wanted.live:
            asyncio.run(self._read_live())
        for left_or_record in self._read_exports():
            self._take(left_or_record, "export")

    def _take(self, found: Record | Left, origin: Origin, revision: str = "") -> None:
        if isinstance(found, Left):
            self.result.skipped.append(found)
        else:
            self.found.append(self.spool.keep(found, origin, revision))

    async def _read_live(self) -> None:
        """Ask for everything side by side; the door bounds how much at once."""
        wanted = {(kind.name, name): kind for kind, name in self.wanted.live}
        found: dict[tuple[str, str], _Kept | Left] = {}
        async with open_api(self.bench) as api:
            with self.asked.waits.step(Deed.READING, total=len(wanted)) as step:

                async def read(kind: Kind, name: str) -> None:
                    memory = self._memory_of_only(kind)
                    probe = Manifest(Ref(kind.name, name), {}, Source("", 1), _id_of(kind, name))
                    seen = await observe(kind, api, probe, memory)
                    one, revision = self._seen(kind, name, seen)
                    kept = one if isinstance(one, Left) else self.spool.keep(one, "live", revision)
                    found[kind.name, name] = kept
                    step.done += 1

                async with asyncio.TaskGroup() as group:
                    for (_, name), kind in wanted.items():
                        group.create_task(read(kind, name))
        for key in wanted:
            one = found[key]
            if isinstance(one, Left):
                self.result.skipped.append(one)
            else:
                self.found.append(one)

    def _memory_of_only(self, kind: Kind) -> Memory:
        """Give what the journal knows of a thing of which there is one."""
        if not kind.singleton:
            return Memory()
        known = (one for ref, one in self.history.memories.items() if ref.kind == kind.name)
        return next((one for one in known if one.last is not None), Memory())

    def _seen(self, kind: Kind, name: str, seen: object) -> tuple[Record | Left, str]:
        called = f"{kind.name} {name}".strip()
        match seen:
            case Seen():
                record = Record(
                    kind=kind,
                    spec=seen.document,
                    remote_id=None if seen.remote_id is None else kind.normal_id(seen.remote_id),
                    where="live",
                    comments=_untold(seen, kind),
                )
                return judged(record, self.withheld), seen.revision
            case Absent(why=why):
                return Left(called, why, ExitCode.INVALID), ""
            case ReconcilerError():
                return Left(called, str(seen), seen.exit_code), ""
            case _:
                return Left(called, f"it cannot be read. {kind.limits}", ExitCode.INVALID), ""

    def _read_exports(self) -> Iterator[Record | Left]:
        for path in self.wanted.exports:
            files = find_files([path], self.root)
            sources = sources_of([path], self.root)
            yield from (_unread(one) for one in files.complaints)
            for file in self.asked.waits.each(Deed.LOADING, files.files):
                reading = sources.read(file.path, file.name, is_json=file.is_json)
                if isinstance(reading, Complaint):
                    yield _unread(reading)
                elif reading.has_errors:
                    wrong = (one for one in complaints_of_text(file.name, reading) if one.is_error)
                    yield _unread(next(wrong))
                else:
                    for number, one in enumerate(reading.documents, 1):
                        many = len(reading.documents) > 1
                        where = f"{file.name}, document {number}" if many else file.name
                        if one.value is not None:
                            yield from found_in(one.value, where, self.withheld)

    def place(self) -> None:
        """Tell what is there already, and give all else its name and its file.

        Raises InvalidInput where a file of that name is there.
        """
        objects = self._objects()
        new: list[_Kept] = []
        seen: dict[tuple[str, RemoteId | str], _Kept] = {}
        for one in self.found:
            manifest = self._declared(one, objects)
            keys = [(one.record.kind.name, key) for key in self._keys(one)]
            if manifest is not None:
                self._note_declared(one, manifest)
            elif any(key in seen for key in keys):
                self.result.skipped.append(Left(_said(one), "the same is imported from elsewhere"))
            else:
                seen.update(dict.fromkeys(keys, one))
                new.append(one)
        taken = self._taken()
        things = [self._titled(one, taken) for one in new]
        refs = named(things, taken)
        clear: list[tuple[_Kept, Ref]] = []
        for one, thing, ref in zip(new, things, refs, strict=True):
            meant = Ref(ref.kind, plain_ref(thing))
            if one.record.remote_id is None and not one.record.kind.singleton and meant in taken:
                self._note_twin(one, meant)
            else:
                clear.append((one, ref))
        self._place(clear, objects)

    def _keys(self, one: _Kept) -> Iterator[RemoteId | str]:
        if one.record.kind.singleton:
            yield ""
        elif one.record.remote_id is not None:
            yield one.record.remote_id
        else:
            yield one.mark

    def _objects(self) -> dict[tuple[str, RemoteId | str], Manifest]:
        """Map what manifests are about to them: by id, slug, or being the only one."""
        objects: dict[tuple[str, RemoteId | str], Manifest] = {}
        for manifest in self.workspace.manifests:
            kind = BY_NAME[manifest.ref.kind]
            known = kind.declared_id(manifest) or self.history.of(manifest.ref).remote_id
            if kind.singleton:
                objects[kind.name, ""] = manifest
            elif known is not None:
                objects[kind.name, kind.normal_id(known)] = manifest
            for what, value in kind.identities(manifest).items():
                objects[f"{kind.name} {what}", value.casefold()] = manifest
        return objects

    def _declared(
        self, one: _Kept, objects: Mapping[tuple[str, RemoteId | str], Manifest]
    ) -> Manifest | None:
        name = one.record.kind.name
        places: list[tuple[str, RemoteId | str]] = [(name, key) for key in self._keys(one)]
        places += [(f"{name} {what}", value.casefold()) for what, value in one.slugs]
        return next((objects[place] for place in places if place in objects), None)

    def _note_declared(self, one: _Kept, manifest: Manifest) -> None:
        """Say that there is a manifest, and let the journal know it if nothing tells it yet."""
        said = f"it is declared at {manifest.source} already"
        ref, kind = manifest.ref, one.record.kind
        memory = self.history.of(ref)
        if memory.last is None and memory.pending is None and not holds_seal(manifest.spec):
            agrees = covers(self.spool.record(one).spec, self._filled(manifest), kind.shape)
            if agrees and self._is_journaled(one):
                self.agreed.append((one, manifest))
            elif not agrees:
                said += f", and differs: see `{on_manifests('plan')}`"
        self.result.skipped.append(Left(str(ref), said))

    def _filled(self, manifest: Manifest) -> dict[str, Json]:
        """Give a manifest's document with the ids that are known."""
        ids = {
            other.ref: known
            for other in self.workspace.manifests
            if (known := self._id_of(other)) is not None
        }
        spec = resolve(manifest.spec, ids)
        return spec if isinstance(spec, dict) else {}

    def _id_of(self, manifest: Manifest) -> RemoteId | None:
        declared = BY_NAME[manifest.ref.kind].declared_id(manifest)
        return declared if declared is not None else self.history.of(manifest.ref).remote_id

    def _is_journaled(self, one: _Kept) -> bool:
        """Tell whether the journal is told of it: what was seen, and exports of the unseen."""
        return one.origin == "live" or (
            not one.record.kind.readable and one.record.remote_id is not None
        )

    def _taken(self) -> set[Ref]:
        return {
            *(one.ref for one in self.workspace.manifests),
            *self.workspace.elsewhere,
            *(ref for ref, memory in self.history.memories.items() if not memory.is_blank),
        }

    def _titled(self, one: _Kept, taken: set[Ref]) -> Titled:
        record = one.record
        return Titled(
            record.kind.name, one.title, record.remote_id, one.mark, self._known_as(one, taken)
        )

    def _known_as(self, one: _Kept, taken: set[Ref]) -> str:
        """Give the name under which the journal knows it, where no manifest has that."""
        declared = {manifest.ref for manifest in self.workspace.manifests}
        kind, remote_id = one.record.kind, one.record.remote_id
        for ref in taken - declared - set(self.workspace.elsewhere):
            memory = self.history.of(ref)
            is_it = (
                ref.kind == kind.name
                and memory.pending is None
                and (kind.singleton or (remote_id is not None and memory.remote_id == remote_id))
            )
            if is_it and NAME.fullmatch(ref.name) and len(ref.name) <= LONGEST_NAME:
                return ref.name
        return ""

    def _note_twin(self, one: _Kept, meant: Ref) -> None:
        manifest = next((each for each in self.workspace.manifests if each.ref == meant), None)
        if manifest is not None:
            shape = one.record.kind.shape
            if covers(self.spool.record(one).spec, self._filled(manifest), shape):
                said = f"it is declared at {manifest.source} already"
                self.result.skipped.append(Left(str(meant), said))
                return
        where = f"declared at {manifest.source}" if manifest is not None else "known already"
        said = f"{meant} is {where}, and nothing tells whether this is the same: it has no id"
        self.result.skipped.append(Left(_said(one), said, ExitCode.INVALID))

    def _place(
        self,
        clear: Sequence[tuple[_Kept, Ref]],
        objects: Mapping[tuple[str, RemoteId | str], Manifest],
    ) -> None:
        stems = file_names([ref for _, ref in clear], together=self.wanted.to is not None)
        there: dict[Path, set[str]] = {}
        conflicts: list[str] = []
        for one, ref in clear:
            folder = self._folder(one.record.kind)
            if folder not in there:
                there[folder] = _names_in(folder)
            names = [f"{stems[ref]}.yaml", *([f"{stems[ref]}.json"] if self._keeps(one) else [])]
            conflicts += [str(folder / name) for name in names if name.casefold() in there[folder]]
            self.targets[ref] = folder / names[0]
            self.refs[id(one)] = ref
        if conflicts:
            named_ = ", ".join(display_name(Path(one), self.root) for one in conflicts[:MOST_NAMED])
            more = len(conflicts) - MOST_NAMED
            rest = f" and {more} more" if more > 0 else ""
            raise InvalidInput(
                f"{named_}{rest}: there already, and import writes over no file. Nothing was "
                "imported: move it away, or choose another folder with --to"
            )
        self.found = [one for one, _ in clear]
        refs: dict[tuple[str, RemoteId], Ref] = {
            (kind, key): manifest.ref
            for (kind, key), manifest in objects.items()
            if kind in BY_NAME and key != ""
        }
        for one, ref in clear:
            if one.record.remote_id is not None:
                refs[ref.kind, one.record.remote_id] = ref
        self.known = Known(refs, self._circles(clear, refs))
        self._note_mentions(clear)

    def _circles(
        self, clear: Sequence[tuple[_Kept, Ref]], refs: Mapping[tuple[str, RemoteId], Ref]
    ) -> dict[Ref, int]:
        edges: dict[Ref, list[Ref]] = {
            one.ref: sorted(references_in(one.spec)) for one in self.workspace.manifests
        }
        for one, ref in clear:
            meant = (refs.get((each.kind, each.remote_id)) for each in one.mentions)
            edges[ref] = [other for other in meant if other is not None]
        return circles_in(edges)

    def _note_mentions(self, clear: Sequence[tuple[_Kept, Ref]]) -> None:
        """List what is referred to by its id, and has no manifest."""
        lacking: dict[tuple[str, RemoteId], Ref] = {}
        for one, ref in clear:
            for mention in one.mentions:
                if self.known.ref_of(mention) is None:
                    lacking.setdefault((mention.kind, mention.remote_id), ref)
        for (kind, remote_id), ref in sorted(lacking.items(), key=str):
            said = (
                f"found, not imported: {ref} refers to it; {how_to_get(BY_NAME[kind], remote_id)}"
            )
            self.result.skipped.append(Left(f"{kind} {remote_id}", said))

    def _keeps(self, one: _Kept) -> bool:
        return self.wanted.keep_json and one.record.kind.from_export is not None

    def _folder(self, kind: Kind) -> Path:
        """Give where manifests of a kind go. Raises UsageError for a place that is none of ours."""
        if self.wanted.to is not None:
            return _safe_folder(Path(os.path.abspath(self.wanted.to)), self.root)  # noqa: PTH100 - resolve() would follow links
        first = self.bench.project.root / next(iter(self.bench.project.settings.manifests), ".")
        base = first if not first.suffix and not first.is_file() else self.root
        return _safe_folder(base / kind.name, self.root)

    @property
    def _place_of_ids(self) -> Place:
        others = with_target(self.bench.project) - {self.bench.name}
        return Place(self.bench.name, alone=not others)

    def _draft(self, one: _Kept) -> tuple[Record, Draft | Left]:
        record, ref = self.spool.record(one), self.refs[id(one)]
        json_name = f"{self.targets[ref].stem}.json" if self._keeps(one) else ""
        drawn = draft_of(
            record, ref, one.mentions, self.known, self._place_of_ids, json_name=json_name
        )
        return record, drawn

    def rehearse(self) -> None:
        """Say what would be written."""
        for one in self.found:
            _, drawn = self._draft(one)
            if isinstance(drawn, Left):
                self.result.skipped.append(drawn)
            else:
                self._note_taken(one, drawn)

    def _note_taken(self, one: _Kept, drawn: Draft) -> None:
        ref = self.refs[id(one)]
        file = self.targets[ref]
        files = (file, file.with_suffix(".json")) if drawn.export is not None else (file,)
        shown = display_name(file, self.root)
        self.result.imported.append(Taken(ref, shown, one.record.remote_id, files))

    def write(self) -> None:
        """Write files first, and then what the journal rests on them, some at a time."""
        run = str(uuid4())
        journal = self.journal
        commit = applied_commit(self.bench.project)
        journal.begin(
            RunEntry(
                run=run,
                at=journal.now(),
                actor=journal.actor,
                commit=commit,
                digest="",
                command="import",
            )
        )
        at = journal.now()
        for start in range(0, len(self.found), TOGETHER):
            entries: list[Entry] = []
            folders: set[Path] = set()
            for one in self.found[start : start + TOGETHER]:
                entries += self._write_one(one, run, at, folders)
            for folder in folders:
                sync_folder(folder)
            reached(Point.FILES_SYNCED)
            if entries:
                journal.append(entries)
        entries = [
            self._entry(one, manifest.ref, self._filled(manifest), run, at)
            for one, manifest in self.agreed
        ]
        if entries:
            journal.append(entries)

    def _write_one(self, one: _Kept, run: str, at: str, folders: set[Path]) -> Iterator[Entry]:
        record, drawn = self._draft(one)
        if isinstance(drawn, Left):
            self.result.skipped.append(drawn)
            return
        ref = self.refs[id(one)]
        file = self.targets[ref]
        reached(Point.FILE_BEGUN)
        _write_files(file, drawn, self.root, folders)
        reached(Point.FILE_WRITTEN)
        self._note_taken(one, drawn)
        self._warn_of_keys(record, ref, file, drawn)
        if self._is_journaled(one):
            yield self._entry(one, ref, record.spec, run, at)

    def _entry(
        self, one: _Kept, ref: Ref, spec: dict[str, Json], run: str, at: str
    ) -> ImportedEntry:
        """Give what the journal keeps: the document as a plan will declare it."""
        kind, remote_id = one.record.kind, one.record.remote_id
        manifest = Manifest(ref, spec, Source("", 1), remote_id)
        seen = Seen(remote_id, self.spool.record(one).spec)
        declared = kind.complete(manifest, seen, Memory())
        return ImportedEntry(
            run=run,
            at=at,
            ref=ref,
            remote_id=remote_id,
            origin=one.origin,
            declared=declared,
            revision=one.revision,
        )

    def _warn_of_keys(self, record: Record, ref: Ref, file: Path, drawn: Draft) -> None:
        """Show the literals that look like keys where they stand now."""
        if not record.keys or drawn.export is not None:
            return
        name = display_name(file, self.root)
        document = read_text(drawn.manifest, is_json=False).documents[0]
        text = Text(name, document, prefix=("spec",), ref=str(ref))
        found = [text.complaint(one) for one in record.keys]
        self.asked.voice.complain(found, verbose=self.asked.verbose)


def plain_ref(thing: Titled) -> str:
    """Give the name that a thing would have if it were alone."""
    return named([thing], ())[0].name


def how_to_get(kind: Kind, remote_id: RemoteId) -> str:
    """Say how to import what is only mentioned."""
    noun = noun_of(kind)
    if noun:
        return f"`{on_service(f'import {noun}', str(remote_id))}`"
    return "export it in the web interface, then import that file with `import --from FILE`"


def noun_of(kind: Kind) -> str:
    """Give what a kind is called on the command line, "" where it cannot be read."""
    if not kind.readable:
        return ""
    return kind.destroyable[0] if kind.singleton else kind.name.lower()


def _untold(seen: Seen, kind: Kind) -> dict[tuple[str | int, ...], str]:
    """Give the comments at what the service does not tell."""
    comments: dict[tuple[str | int, ...], list[str]] = {}
    for path in seen.unseen:
        place, rest = _placed(path, seen.document, kind)
        comments.setdefault(place, []).append(".".join(rest))
    return {
        place: f"`{', '.join(names)}`: the service does not tell it; write it here before this "
        "is changed, as a write needs it"
        for place, names in comments.items()
    }


def _placed(
    path: Sequence[str | int], document: Json, kind: Kind
) -> tuple[tuple[str | int, ...], list[str]]:
    """Give the place of the innermost thing that is there, and the steps that lead nowhere."""
    shape, place, value = kind.shape, list[str | int](), document
    for nth, step in enumerate(path):
        if isinstance(value, list):
            found = next(
                (at for at, item in enumerate(value) if value_at(item, shape.identity) == step),
                None,
            )
            if found is None:
                return tuple(place), [*map(str, path[nth:])]
            value, shape = value[found], shape.item
            place.append(found)
        elif isinstance(value, dict) and step in value:
            value, shape = value[str(step)], shape.at(str(step))
            place.append(step)
        else:
            return tuple(place), [*map(str, path[nth:])]
    return tuple(place), []


def _id_of(kind: Kind, text: str) -> RemoteId | None:
    return kind.id_form.parse(text)


def _said(one: _Kept) -> str:
    record = one.record
    name = f"`{one.title}`" if one.title else str(record.remote_id or "")
    return f"{record.kind.name} {name} ({record.where})"


def _unread(complaint: Complaint) -> Left:
    place = f"{complaint.file}:{complaint.line}" if complaint.line else complaint.file
    return Left(place, f"{complaint.message} [{complaint.code}]", ExitCode.INVALID)


def _names_in(folder: Path) -> set[str]:
    """Give what is in a folder as file systems compare it that do not tell capitals apart."""
    try:
        return {name.casefold() for name in os.listdir(folder)}  # noqa: PTH208 - names only
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}") from error


def _safe_folder(folder: Path, root: Path) -> Path:
    """Give a folder inside the project once all links are followed. Raises UsageError."""
    real = Path(os.path.realpath(folder))
    if not real.is_relative_to(root):
        raise UsageError(f"--to leads out of the project folder {root}: {folder}")
    hidden = next((part for part in real.relative_to(root).parts if part.startswith(".")), "")
    if hidden or GIT_FOLDER in map(str.lower, real.relative_to(root).parts):
        raise UsageError(f"no manifest is looked for in {hidden}: choose another folder")
    return real


def _write_files(file: Path, drawn: Draft, root: Path, folders: set[Path]) -> None:
    """Write what a manifest consists of, that which it names first. Raises InvalidInput."""
    texts = [(file, drawn.manifest)]
    if drawn.export is not None:
        texts.insert(0, (file.with_suffix(".json"), drawn.export))
    try:
        if file.parent not in folders:
            file.parent.mkdir(parents=True, exist_ok=True)
            _safe_folder(file.parent, root)
            folders.add(file.parent)
        for path, text in texts:
            write_new_file(path, text.encode("utf-8"))
    except FileExistsError as error:
        said = f"{display_name(file, root)}: there by now, and import writes over no file"
        raise InvalidInput(said) from error
    except OSError as error:
        raise InvalidInput(
            f"{display_name(file, root)} cannot be written: {error.strerror}"
        ) from error
