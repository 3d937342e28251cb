"""Manifests that declare again what was declared before a run: edits of their files.

A value is written in `spec`, in `overrides`, in an export, in an item of `forEach`, in a file that
`${file:}` includes, or in the variables of the project file. Nothing is asked of the service, and
the journal is only read. Source: docs/rollback.md.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as File
from typing import Final, TypeAlias

from reconciler.document import (
    ABSENT,
    ANY,
    Json,
    Missing,
    Path,
    Shape,
    by_identity,
    differences,
    followed,
    partners_of,
    same,
    towards,
    value_at,
    with_value,
)
from reconciler.journal.history import History
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import in_usual_order
from reconciler.model import Manifest, Ref, Seen
from reconciler.operations.open_session import Session, files_naming
from reconciler.project import ProjectVariable
from reconciler.redaction.templates import pointing, resolve, written_out
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.expressions import (
    OPEN,
    Expression,
    ExpressionKind,
    escaped,
    parts_of,
    refitted,
    whole,
)
from reconciler.syntax.files import read_file
from reconciler.syntax.read_text import read_text
from reconciler.workspace.expression_scope import Scope, along, spelled
from reconciler.workspace.manifest_edits import (
    LOST,
    Edited,
    Original,
    Originals,
    Script,
    WovenError,
    parts_of_edit,
    spelled_like,
    text_after,
)
from reconciler.workspace.reuse import FOR_EACH, written_items
from reconciler.workspace.workspace import (
    Workspace,
    everywhere,
    load_workspaces,
    sources_of,
)

_ELSEWHERE: Final = (ExpressionKind.EACH, ExpressionKind.FILE, ExpressionKind.VARIABLE)
"""Expressions with a value that is written at another place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the document `nth` of a file."""

    script: Script
    nth: int
    path: Path = ()

    @property
    def value(self) -> Json | Missing:
        """The value as it is written."""
        return value_at(self.script.values[self.nth], self.path)

    def at(self, *steps: str | int) -> Place:
        """Return the place of a part inside."""
        return Place(self.script, self.nth, (*self.path, *steps))


@dataclass(frozen=True, slots=True)
class User:
    """Another user of a value, in this environment if `environments` is empty."""

    ref: Ref
    environments: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" in {', '.join(self.environments)}" if self.environments else ""
        return f"{self.ref}{where}"


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """A value at a line of a file that others use too, `now` and `before` the run."""

    file: str
    line: int
    now: Json | Missing
    before: Json | Missing
    users: tuple[User, ...] = ()


NewValue: TypeAlias = "tuple[Place, Json | Missing]"
"""A place, and the value that is to be written there."""


def _along(place: Place, name: str) -> Place | None:
    values = place.value
    found = along(values, name) if isinstance(values, dict) else None
    return None if found is None else place.at(*found[0])


@dataclass(slots=True, kw_only=True)
class Respelling:
    """Writer of new values into one manifest, spelled as its files spell them.

    `project` is the project file, None if there is none. `targets` maps the ids that a text may
    contain to their resources. With `in_place`, a value replaces `${var:}`, and the variable stays.
    `item` is the place of the `forEach` item that makes the manifest. `found` are the values to
    write at other places.
    """

    originals: Originals
    project: File | None
    targets: Mapping[str, Ref | str]
    in_place: bool
    item: Place | None = None
    found: list[NewValue] = field(default_factory=list)

    def at(
        self, written: Json, now: Json | Missing, wanted: Json, shape: Shape, here: Place
    ) -> Json:
        """Return what is to be written in place of `written`, which declares `now`."""
        if same(now, wanted, shape):
            return written
        if isinstance(written, str) and OPEN in written:
            return self._text(written, now, wanted, shape, here)
        if isinstance(written, dict) and isinstance(now, dict) and isinstance(wanted, dict):
            return self._fields(written, now, wanted, shape, here)
        if isinstance(written, list) and isinstance(now, list) and isinstance(wanted, list):
            return self._items(written, now, wanted, shape, here)
        return spelled_like(self.out(wanted), written, shape)

    def out(self, value: Json) -> Json:
        """Return a value as a manifest writes it."""
        return written_out(pointing(value, self.targets))

    def _fields(
        self,
        written: dict[str, Json],
        now: dict[str, Json],
        wanted: dict[str, Json],
        shape: Shape,
        here: Place,
    ) -> Json:
        fields = {
            key: self.at(value, now.get(key, ABSENT), wanted[key], shape.at(key), here)
            if key in wanted
            else value
            for key, value in written.items()
            if key in wanted or key not in now
        }
        added = {
            key: self.out(value)
            for key, value in wanted.items()
            if key not in written and not same(now.get(key, ABSENT), value, shape.at(key))
        }
        return {**fields, **added}

    def _items(
        self, written: list[Json], now: list[Json], wanted: list[Json], shape: Shape, here: Place
    ) -> Json:
        if len(written) != len(now):
            return self.out(wanted)
        mine, theirs = by_identity(now, shape), by_identity(wanted, shape)
        if mine is None or theirs is None:
            pairs = partners_of(now, wanted, shape.item)
            origins = [*map(pairs.get, range(len(wanted)))]
        else:
            places = {name: nth for nth, name in enumerate(mine)}
            origins = [places.get(name) for name in theirs]
        return [
            self.out(item)
            if nth is None
            else self.at(written[nth], now[nth], item, shape.item, here)
            for nth, item in zip(origins, wanted, strict=True)
        ]

    def _text(
        self, written: str, now: Json | Missing, wanted: Json, shape: Shape, here: Place
    ) -> Json:
        """Return a text with its expressions; their new values are written at their own places."""
        found = whole(written)
        if found is not None:
            place = self._place_of(found, here)
            if place is None or place.value is ABSENT:
                return self.out(wanted)
            self.found.append((place, self.at(place.value, now, wanted, shape, place)))
            return written
        text = self.out(wanted)
        return self._parts(written, text, here) if isinstance(text, str) else text

    def _place_of(self, part: Expression, here: Place) -> Place | None:
        if self.in_place and part.word is ExpressionKind.VARIABLE:
            return None
        return self.behind(part, here)

    def find_item(self, manifest: Manifest, original: Original) -> None:
        """Find the place of the item of `forEach` that a manifest is made of."""
        member = manifest.source.item
        items = Place(original.script, original.nth, (FOR_EACH,))
        written = written_items(items.value) if items.value is not ABSENT else None
        found: Place | None = items
        if isinstance(written, str):
            named = whole(written)
            found = None if named is None else self.behind(named, items)
        self.item = None if found is None or member is None else found.at(member.number - 1)

    def behind(self, part: Expression, here: Place) -> Place | None:
        """Return where the value of an expression is written, None if that is no other place."""
        match part.word:
            case ExpressionKind.FILE:
                script = self.originals.script_at(here.script.path.parent / part.name)
                values = [] if script is None else script.values
                held = [nth for nth, value in enumerate(values) if value is not None]
                return Place(script, held[0]) if script is not None and len(held) == 1 else None
            case ExpressionKind.VARIABLE if self.project is not None:
                script = self.originals.script_at(self.project)
                path = "environments", self.originals.environment, "variables"
                return None if script is None else _along(Place(script, 0, path), part.name)
            case ExpressionKind.EACH if self.item is not None:
                return _along(self.item, part.name)
            case _:
                return None

    def _parts(self, written: str, text: str, here: Place) -> str:
        """Return a longer text: with another value of one expression, or with other words."""
        parts = [part for part in parts_of(written) if part != ""]
        known = [self._known_text(part, here) for part in parts]
        if any(value is None for value in known):
            return text
        texts = [str(value) for value in known]
        values = [
            (place, middle)
            for nth, part in enumerate(parts)
            if isinstance(part, Expression) and (place := self._place_of(part, here)) is not None
            if (middle := _between(text, texts, nth))
        ]
        if len(values) == 1:
            place, middle = values[0]
            self.found.append((place, _of_type(place.value, middle)))
            return written
        pairs = zip(parts, texts, strict=True)
        values_now = [(part, value) for part, value in pairs if isinstance(part, Expression)]
        return refitted(text, values_now) or text

    def _known_text(self, part: object, here: Place) -> str | None:
        if isinstance(part, str):
            return escaped(part)
        if not isinstance(part, Expression):
            return None
        if part.word not in _ELSEWHERE:
            return part.spot.written
        place = self.behind(part, here)
        value = ABSENT if place is None else place.value
        if isinstance(value, str | int | float) and OPEN not in str(value):
            return spelled(value)
        return None


def _between(text: str, texts: list[str], nth: int) -> str:
    """Return the text in place of one part, with as many words; "" if others differ too."""
    before, after = "".join(texts[:nth]), "".join(texts[nth + 1 :])
    if not (text.startswith(before) and text.endswith(after)):
        return ""
    middle = text[len(before) : len(text) - len(after)]
    return middle if len(middle.split()) == len(texts[nth].split()) else ""


def _of_type(before: Json | Missing, text: str) -> Json:
    """Return a text as a number or a truth value where that is replaced."""
    if isinstance(before, str):
        return text
    try:
        found: Json = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) else text


_SHARED: Final = "others use these places too, so they stay as they are"
_NOT_DECLARED: Final = "no manifest declares it any more"


def drafted(values: Mapping[Ref, Sequence[NewValue]]) -> list[Edited]:
    """Return the files with new values of several resources in them.

    Raises WovenError where two resources need different values at one place, or where a text cannot
    be edited without a change of something else.
    """
    scripts: dict[File, Script] = {}
    new: dict[File, dict[tuple[int, Path], Json | Missing]] = {}
    owners: dict[File, dict[Ref, None]] = {}
    for ref, own in values.items():
        for place, value in own:
            path = place.script.path
            known = new.setdefault(path, {})
            key = place.nth, place.path
            if key in known and known[key] != value:
                raise WovenError(f"{place.script.name} has one value for it and others: {LOST}")
            scripts[path], known[key] = place.script, value
            owners.setdefault(path, {})[ref] = None
    return [
        Edited(script=scripts[path], after=after, refs=tuple(owners[path]))
        for path, known in new.items()
        if (after := _text_with(scripts[path], known)) != scripts[path].text
    ]


def _text_with(script: Script, known: Mapping[tuple[int, Path], Json | Missing]) -> str:
    documents = dict(enumerate(script.values))
    # What is inside of another new value is written after that.
    for (nth, path), value in sorted(known.items(), key=lambda new: len(new[0][1])):
        documents[nth] = with_value(documents[nth], path, value)
    edits = {
        nth: edit
        for nth, document in documents.items()
        if (edit := towards(script.values[nth], document)) is not None
    }
    made = text_after(script, edits) if edits else (script.text, [])
    if made is None:
        raise WovenError(f"{script.name}: {LOST}")
    after, forks = made
    for fork in forks:
        where = f"{script.name}:{fork.line}"
        raise WovenError(f"{where} shares it by the anchor `&{fork.anchor}`: edit it by hand")
    return after


@dataclass(kw_only=True)
class WayBack:
    """The edits with which manifests declare `wanted` again, the specs of some resources.

    Once `files` was called, `why` has the reason for each resource that is not edited, or only in
    part. `shared` has the fields that others use too, by resource, each with its users. `placed`
    are the resources that are edited. `aims` are the specs that they get: what is wanted, but
    without a change of shared fields. `in_place` are the resources with a value in place of a
    variable that stays; each has another resource that uses the variable, or None if an anchor
    shares it.
    """

    session: Session
    history: History
    scope: Scope
    wanted: Mapping[Ref, dict[str, Json]]
    why: dict[Ref, str] = field(default_factory=dict)
    workspace: Workspace = field(init=False)
    originals: Originals = field(init=False)
    declared: dict[Ref, tuple[Manifest, Original]] = field(default_factory=dict)
    values: dict[Ref, list[NewValue]] = field(default_factory=dict)
    placed: list[Ref] = field(default_factory=list)
    shared: dict[Ref, dict[Path, set[User]]] = field(default_factory=dict)
    aims: dict[Ref, dict[str, Json]] = field(init=False)
    in_place: dict[Ref, Ref | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the manifests, and find where the values of each resource are written."""
        project = self.session.project
        self.aims = dict(self.wanted)
        self.workspace = self._workspaces_with([self.scope])[self.scope.environment]
        read, name = self.workspace.read, self.session.name
        self.originals = Originals(project.root, self.roots, read, name)
        for manifest in self.workspace.manifests:
            if manifest.ref in self.wanted:
                original = self.originals.of(manifest)
                if original is not None:
                    self.declared[manifest.ref] = manifest, original
        for ref in self.wanted:
            if ref in self.declared:
                self._place(ref)
            else:
                self.why[ref] = self._why_missing(ref)

    @property
    def roots(self) -> tuple[File, ...]:
        """Return the folders in which files may be written."""
        return sources_of(self._paths, self.session.project.root).roots

    @property
    def _paths(self) -> list[File]:
        project = self.session.project
        return [project.root / path for path in project.settings.manifests]

    def _workspaces_with(
        self, scopes: Sequence[Scope], files: Sequence[Edited] = ()
    ) -> dict[str, Workspace]:
        project = self.session.project
        instead = {file.script.path.resolve(): file.after for file in files}
        scopes = [replace(scope, variables=self._variables(scope, files)) for scope in scopes]
        return load_workspaces(self._paths, project.root, scopes, project.settings, instead=instead)

    def _variables(self, scope: Scope, files: Sequence[Edited]) -> Mapping[str, ProjectVariable]:
        """Return the variables of a scope, as the project file has them after its edit."""
        for file in files:
            if file.script.path == self.session.project.file:
                (document,) = read_text(file.after).documents
                path = "environments", scope.environment, "variables"
                found = value_at(document.value, path)
                if isinstance(found, dict):
                    return found  # type: ignore[return-value]  # as written
        return scope.variables

    @cached_property
    def _scopes_elsewhere(self) -> list[Scope]:
        plain = replace(self.scope.without_secrets, may_lack=False)
        is_trial = self.session.environment.emulator is not None
        return [
            replace(plain, environment=name, variables=other.variables)
            for name, other in self.session.project.settings.environments.items()
            # An emulator for trials next to a service is to declare the same as the service.
            if name != self.session.name and (is_trial or other.emulator is None)
        ]

    @cached_property
    def _other_workspaces(self) -> dict[str, Workspace]:
        return self._workspaces_with(self._scopes_elsewhere)

    def after(self, files: Sequence[Edited]) -> Workspace:
        """Return the workspace of this environment, as it would be with the edited files."""
        return self._workspaces_with([self.scope], files)[self.scope.environment]

    def _why_missing(self, ref: Ref) -> str:
        """Return why a resource has no manifest: an error in its file, or there is none."""
        errors = self.workspace.errors
        own = [error for error in errors if error.ref == str(ref)]
        files = () if own else files_naming(self.session.project, [ref])
        found = next(iter(own), None) or next((e for e in errors if e.file in files), None)
        return _NOT_DECLARED if found is None else f"its manifest is broken: {_said(found)}"

    def _place(self, ref: Ref) -> bool:
        """Find the places of the values of one resource, or record why there is none."""
        try:
            self.values[ref] = self.values_of(ref, self.aims[ref], in_place=ref in self.in_place)
        except WovenError as error:
            self.why[ref] = str(error)
        except (KeyError, IndexError, RecursionError):
            self.why[ref] = LOST
        else:
            return True
        return False

    def values_of(self, ref: Ref, aim: dict[str, Json], *, in_place: bool) -> list[NewValue]:
        """Return the values to write, so that a resource is declared as `aim`.

        Raises WovenError, KeyError or IndexError where a value cannot be placed.
        """
        kind, (manifest, original) = BY_NAME[ref.kind], self.declared[ref]
        now, wanted = self.now(manifest), in_usual_order(aim, kind.spec)
        spelling = Respelling(
            originals=self.originals,
            project=self.session.project.file,
            targets=self.targets(ref),
            in_place=in_place,
        )
        spelling.find_item(manifest, original)
        here = Place(original.script, original.nth, ("spec",))
        own = here.value
        if isinstance(own, str):
            after = spelling.at(own, now, wanted, kind.exact_shape, here)
            return [*spelling.found, *([] if after == own else [(here, after)])]
        spelled_spec = spelling.at(original.spec, now, wanted, kind.exact_shape, here)
        edit = towards(original.spec, spelled_spec)
        values = list(spelling.found)
        for script, nth, part in () if edit is None else parts_of_edit(ref, original, edit):
            document = script.values[nth]
            after = followed(document, part, document)
            if script is original.script and isinstance(document, dict) and isinstance(after, dict):
                values += [
                    (Place(script, nth, (key,)), after.get(key, ABSENT))
                    for key in ("spec", "overrides")
                    if after.get(key) != document.get(key)
                ]
            else:
                values.append((Place(script, nth), after))
        return values

    def targets(self, ref: Ref) -> dict[str, Ref | str]:
        """Return the resources that `ref` may refer to, by their ids."""
        kinds = [*BY_NAME]
        earlier = kinds[: kinds.index(ref.kind)]
        return {
            str(self.history.of(other.ref).remote_id): other.ref
            for other in self.workspace.manifests
            if other.ref.kind in earlier
        }

    def now(self, manifest: Manifest) -> dict[str, Json]:
        """Return what a manifest declares, completed as a plan completes it."""
        memory = self.history.of(manifest.ref)
        known = self.history.memories.items()
        ids = {ref: seen.remote_id for ref, seen in known if seen.remote_id is not None}
        before = Seen(memory.remote_id, self.wanted[manifest.ref])
        remote = BY_NAME[manifest.ref.kind].remote
        return remote.complete(replace(manifest, spec=resolve(manifest.spec, ids)), before, memory)

    def places(self) -> list[tuple[str, int]]:
        """Return file and line of each value that `files` edit, in their order."""
        return _lines(value for ref in self.placed for value in self.values[ref])

    def replaced(self) -> tuple[SharedPlace, ...]:
        """Return the expressions that a value replaces, each with who uses the variable too."""
        return tuple(
            replace(shared, users=() if user is None else (User(user),))
            for ref, user in sorted(self.in_place.items())
            for _, shared in _changes(self.values[ref] if ref in self.placed else ())
            if isinstance(shared.now, str) and OPEN in shared.now
        )

    def places_left(self) -> list[tuple[str, int]]:
        """Return file and line of each value that is to change and that `files` do not edit."""
        left = {
            (place.file, place.line) for ref in self.shared for place in self.shared_places(ref)
        }
        others = (ref for ref in self.why if ref in self.values and ref not in self.shared)
        return sorted(left.union(*(_lines(self.values[ref]) for ref in others)))

    def files(self) -> list[Edited]:
        """Return the files to write, and keep in `why` what cannot be placed."""
        placed = [ref for ref in self.values if ref not in self.why]
        known: dict[Ref, list[NewValue]] | None = None
        while known != (state := {ref: self.values[ref] for ref in placed}):
            known = state
            placed = self._alone_here(self._fitting(placed))
        self.placed = placed
        self.why |= dict.fromkeys(self.shared, _SHARED)
        return drafted({ref: self.values[ref] for ref in placed})

    @cached_property
    def broken(self) -> list[Complaint]:
        """The errors in manifests of any environment.

        Which values these manifests share is not known.
        """
        every = everywhere({self.session.name: self.workspace, **self._other_workspaces})
        return [complaint for complaint in every.complaints if complaint.is_error]

    def _alone_here(self, refs: Sequence[Ref]) -> list[Ref]:
        """Return the resources with values that no other environment uses, and leave the rest."""
        users, paths = self.users_elsewhere(drafted({ref: self.values[ref] for ref in refs}))
        if not users:
            return [*refs]
        own = [ref for ref in refs if ref in users]
        if len(refs) == 1 and not own:
            self._leave(refs[0], self._fields_to_change(refs[0]), set(users.values()))
            return []
        kept = {
            ref: self._leave(ref, _touched(self._fields_to_change(ref), paths[ref]), {users[ref]})
            for ref in own
        }
        rest = [ref for ref in refs if kept.get(ref, True)]
        if own or not rest:
            return self._alone_here(rest) if rest else []
        half = len(rest) // 2
        return [*self._alone_here(rest[:half]), *self._alone_here(rest[half:])]

    def users_elsewhere(
        self, files: Sequence[Edited]
    ) -> tuple[dict[Ref, User], dict[Ref, set[Path]]]:
        """Return the resources of other environments that files change, and their fields."""
        changed: dict[Ref, list[str]] = {}
        paths: dict[Ref, set[Path]] = {}
        after = self._workspaces_with(self._scopes_elsewhere, files) if files else {}
        for name, workspace in after.items():
            for ref, fields in _changed(self._other_workspaces[name], workspace).items():
                changed.setdefault(ref, []).append(name)
                paths.setdefault(ref, set()).update(fields)
        return {ref: User(ref, tuple(names)) for ref, names in changed.items()}, paths

    def _fields_to_change(self, ref: Ref) -> set[Path]:
        shape = BY_NAME[ref.kind].exact_shape
        return set(_leaves(self.now(self.declared[ref][0]), self.aims[ref], shape))

    def _leave(self, ref: Ref, fields: set[Path], users: set[User]) -> bool:
        """Leave some fields that others use too as they are; return whether others remain."""
        known = self.shared.setdefault(ref, {})
        for path in fields:
            known.setdefault(path, set()).update(users)
        left = self._fields_to_change(ref) - fields
        self.aims[ref] = self._with_wanted(ref, left)
        return bool(left) and self._place(ref)

    def _with_wanted(self, ref: Ref, fields: set[Path]) -> dict[str, Json]:
        document: Json = self.now(self.declared[ref][0])
        for path in sorted(fields, key=str):
            document = with_value(document, path, value_at(self.wanted[ref], path))
        assert isinstance(document, dict)  # noqa: S101 - a field of it is replaced
        return document

    def with_shared(self, ref: Ref) -> dict[str, Json]:
        """Return what a resource declares now, but with wanted values in its shared fields."""
        return self._with_wanted(ref, {*self.shared[ref]})

    def shared_places(self, ref: Ref) -> tuple[SharedPlace, ...]:
        """Return the places that others use too, in order.

        A variable is at the place of its own value.
        """
        found: dict[tuple[str, int], SharedPlace] = {}
        for path, users in self.shared[ref].items():
            for place in self._places_of(ref, path):
                known = found.get((place.file, place.line), place)
                all_users = sorted({*known.users, *users}, key=str)
                found[place.file, place.line] = replace(known, users=tuple(all_users))
        return tuple(place for _, place in sorted(found.items()))

    def _places_of(self, ref: Ref, path: Path) -> Iterator[SharedPlace]:
        """Yield where one field is written, with the users of a variable that stays."""
        manifest = self.declared[ref][0]
        aim, project = self._with_wanted(ref, {path}), self.session.project.file
        try:
            values = self.values_of(ref, aim, in_place=False)
        except (WovenError, KeyError, IndexError, RecursionError):
            now, source = value_at(self.now(manifest), path), manifest.source
            yield SharedPlace(source.file, source.line, now, value_at(aim, path))
            return
        user = self.in_place.get(ref)
        for place, shared in _changes(values):
            is_variable = user is not None and place.script.path == project
            yield replace(shared, users=(User(user),)) if user and is_variable else shared

    def _fitting(self, refs: Sequence[Ref]) -> list[Ref]:
        """Return the resources with values that fit together, and leave the rest.

        Resources that do not fit are divided, until each is tried alone.
        """
        if not refs or not (why := self._attempt(refs)):
            return [*refs]
        if len(refs) == 1:
            return [*refs] if self._fits_otherwise(refs[0], why) else []
        half = len(refs) // 2
        both = [*self._fitting(refs[:half]), *self._fitting(refs[half:])]
        if not self._attempt(both):
            return both
        kept: list[Ref] = []
        for ref in both:
            if why := self._attempt([*kept, ref]):
                self.why[ref] = f"it does not go with others: {why}"
            else:
                kept.append(ref)
        return kept

    def _fits_otherwise(self, ref: Ref, why: str | Ref) -> bool:
        """Return whether a resource fits with values at other places, or with some fields left."""
        # A variable that others use too stays: the value is written where the variable is named.
        self.in_place.setdefault(ref, why if isinstance(why, Ref) else None)
        again = self._attempt([ref]) if self._place(ref) else why
        if not again:
            return True
        user = next((found for found in (why, again) if isinstance(found, Ref)), None)
        if user is not None:
            return self._leave_unfit(ref, User(user))
        self.shared.pop(ref, None)
        self.why.setdefault(ref, str(why))
        return False

    def _leave_unfit(self, ref: Ref, user: User) -> bool:
        """Leave the fields that do not fit as they are; return whether others remain."""
        fields, aim = self._fields_to_change(ref), self.aims[ref]
        unfit = {path for path in fields if len(fields) == 1 or not self._fits(ref, path)}
        self.aims[ref] = aim
        if self._leave(ref, unfit or fields, {user}) and not self._attempt([ref]):
            return True
        self.aims[ref] = aim
        return self._leave(ref, fields, {user})

    def _fits(self, ref: Ref, path: Path) -> bool:
        self.aims[ref] = self._with_wanted(ref, {path})
        return self._place(ref) and not self._attempt([ref])

    def _attempt(self, refs: Sequence[Ref]) -> str | Ref:
        """Return what would be wrong in the files after the edits of `refs`; "" for nothing.

        The result is a text, or a resource that uses an edited value too and must not change with
        it.
        """
        try:
            files = drafted({ref: self.values[ref] for ref in refs})
        except WovenError as error:
            return str(error)
        return self._wrong(files, refs)

    def _wrong(self, files: Sequence[Edited], refs: Sequence[Ref]) -> str | Ref:
        """Return what is wrong with files, which are read as any run reads them; "" for nothing."""
        if not files:
            return ""
        after = self.after(files)
        before = {(error.file, error.code, error.message) for error in self.workspace.errors}
        for error in after.errors:
            if (error.file, error.code, error.message) not in before:
                return _said(error)
        now = {manifest.ref: manifest for manifest in after.manifests}
        if any(ref not in now or self._is_unlike(now[ref]) for ref in refs):
            return "its manifest would still declare something else: edit it by hand"
        known = {manifest.ref: manifest for manifest in self.workspace.manifests}
        for ref in _changed(self.workspace, after):
            # Another resource may change if that brings it nearer to its own wanted state.
            if ref not in refs and (ref not in now or not self._is_nearer(known[ref], now[ref])):
                return ref
        return self._shared_with_broken(refs)

    def _shared_with_broken(self, refs: Sequence[Ref]) -> str:
        """Return which place of a value a broken manifest may use too, "" for none."""
        for place in (place for ref in refs for place, _ in self.values[ref]):
            script, used = place.script, re.escape(place.script.path.name)
            if script.path == self.session.project.file:
                used = rf"var\s*:\s*[\"']?{re.escape(str(place.path[3]))}\b"
            starts = [document.locate(())[0] for document in script.reading.documents]
            for error in self.broken:
                if error.file == script.name:
                    is_shared = bisect(starts, error.line) - 1 == place.nth
                else:
                    text = read_file(self.session.project.root / error.file, "", self.roots)
                    is_shared = isinstance(text, str) and bool(re.search(used, text))
                if is_shared:
                    where = f"{script.name}:{_line(place, ())}"
                    return f"{where} may also be used by what is broken: repair {_said(error)}"
        return ""

    def _is_unlike(self, manifest: Manifest) -> bool:
        """Return whether a manifest differs from the wanted state in more fields than it should."""
        ref = manifest.ref
        return not self._unwanted(ref, self.now(manifest)) <= self._unwanted(ref, self.aims[ref])

    def _is_nearer(self, before: Manifest, after: Manifest) -> bool:
        """Return whether a manifest differs from what is wanted in fewer fields than before."""
        ref = after.ref
        return ref in self.wanted and (
            self._unwanted(ref, self.now(after)) < self._unwanted(ref, self.now(before))
        )

    def _unwanted(self, ref: Ref, spec: dict[str, Json]) -> set[Path]:
        shape = BY_NAME[ref.kind].exact_shape
        return {difference.path for difference in differences(spec, self.wanted[ref], shape)}


def _changed(before: Workspace, after: Workspace) -> dict[Ref, set[Path]]:
    """Map each manifest that is gone or differs afterwards to the fields that differ."""
    now = {manifest.ref: manifest for manifest in after.manifests}
    return {
        manifest.ref: set(_leaves(manifest.spec, now[manifest.ref].spec, ANY))
        if manifest.ref in now
        else {()}
        for manifest in before.manifests
        if manifest.ref not in now or replace(now[manifest.ref], source=manifest.source) != manifest
    }


def _leaves(
    now: Json | Missing, wanted: Json | Missing, shape: Shape, at: Path = ()
) -> Iterator[Path]:
    """Yield the paths of the fields that differ; a list is one field."""
    if not isinstance(now, dict) or not isinstance(wanted, dict):
        yield at
        return
    for key in {**now, **wanted}:
        before, after = now.get(key, ABSENT), wanted.get(key, ABSENT)
        if not same(before, after, shape.at(key)):
            yield from _leaves(before, after, shape.at(key), (*at, key))


def _touched(fields: set[Path], changed: set[Path]) -> set[Path]:
    """Return the fields that a change of others touches; all of them if that is not known."""
    touched = {
        path
        for path in fields
        if any(path[: len(other)] == other[: len(path)] for other in changed)
    }
    return touched or fields


def _changes(values: Iterable[NewValue]) -> Iterator[tuple[Place, SharedPlace]]:
    """Yield each place that is to change, with its present and its new value."""
    for place, value in values:
        for difference in differences(place.value, value):
            line = _line(place, difference.path)
            shared = SharedPlace(place.script.name, line, difference.before, difference.after)
            yield place, shared


def _lines(values: Iterable[NewValue]) -> list[tuple[str, int]]:
    """Return file and line of each value that is to change, in their order."""
    return sorted({(shared.file, shared.line) for _, shared in _changes(values)})


def _line(place: Place, path: Path) -> int:
    document = place.script.reading.documents[place.nth]
    return document.locate((*place.path, *path))[0]


def _said(complaint: Complaint) -> str:
    return f"{complaint.file}:{complaint.line}: {complaint.message} [{complaint.code}]"
