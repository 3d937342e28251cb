"""Edits of what manifests declare, written into their files in place, or not at all."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as File
from typing import TypeVar

from reconciler.document import (
    ABSENT,
    ANY,
    Edit,
    Gone,
    Json,
    ListItem,
    ListItems,
    Missing,
    Path,
    Put,
    Shape,
    Within,
    followed,
    identical,
    value_at,
)
from reconciler.kinds import BY_NAME
from reconciler.kinds.shape import NOTHING, names_of
from reconciler.model import Manifest, Ref, RemoteId
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.expressions import OPEN, ExpressionKind, expression, parts_of, whole
from reconciler.syntax.files import display_name, read_file
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import texts_of_documents, written
from reconciler.workspace.layout import describe_unreported, says, tidied
from reconciler.workspace.reuse import FOR_EACH, keys_named, overridden, written_items
from reconciler.workspace.rewrite import Fork, rewritten

LOST = "its text cannot be edited without a change of something else: edit it by hand"


@dataclass(frozen=True)
class Script:
    """A file as it is written, and the reading of its text."""

    path: File
    name: str
    reading: Reading
    is_json: bool

    @property
    def text(self) -> str:
        """Return the text of the file."""
        return self.reading.lines.text

    @property
    def values(self) -> list[Json]:
        """Return the documents of the file."""
        return [document.value for document in self.reading.documents]

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """Return the number of each document, by the line and column where it begins."""
        return {document.locate(()): nth for nth, document in enumerate(self.reading.documents)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The place where a manifest is written: document `nth` of a file, and the export it names.

    `spec` is what is declared, with its expressions unfilled. `bare` means that the export has the
    record without a wrapper. `base` is `spec` without the `patch` that `overrides` has for the
    `environment`.
    """

    script: Script
    nth: int
    spec: dict[str, Json]
    export: Script | None = None
    bare: bool = False
    base: dict[str, Json] = field(default_factory=dict)
    patch: dict[str, Json] = field(default_factory=dict)
    environment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A file with the edits of some resources in it."""

    script: Script
    after: str
    refs: tuple[Ref, ...]
    forks: tuple[Fork, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.script.name

    @property
    def before(self) -> str:
        """The text of the file before the edits."""
        return self.script.text


@dataclass(slots=True)
class Originals:
    """Finder of the places where manifests are written; `read` are the files of the workspace."""

    root: File
    roots: tuple[File, ...]
    read: Iterable[File]
    environment: str = ""
    scripts: dict[tuple[File, bool], Script | None] = field(default_factory=dict)
    names: dict[str, File] = field(default_factory=dict)

    def of(self, manifest: Manifest) -> Original | None:
        """Return where a manifest is written, or None if it is no longer there."""
        script = self.script_of(manifest)
        if script is None:
            return None
        nth = script.places.get((manifest.source.line, manifest.source.column))
        if nth is None:
            return None
        document = script.reading.documents[nth].value
        spec = value_at(document, ("spec",))
        if not isinstance(spec, dict | str):
            return None
        # A `spec` that is one expression has no parts of its own.
        own = spec if isinstance(spec, dict) else {}
        found = self._original(manifest, script, nth, own)
        patch = value_at(document, ("overrides", self.environment))
        if found is None or not isinstance(patch, dict):
            return found
        merged = overridden(found.spec, patch, BY_NAME[manifest.ref.kind].shape).document
        spec = merged if isinstance(merged, dict) else found.spec
        return replace(found, spec=spec, base=found.spec, patch=patch, environment=self.environment)

    def script_of(self, manifest: Manifest) -> Script | None:
        """Return the file of a manifest, or None if the file cannot be used now."""
        if not self.names:
            self.names = {display_name(path, self.root): path for path in self.read}
        path = self.names.get(manifest.source.file)
        return self.script_at(path) if path is not None else None

    def script_at(self, path: File) -> Script | None:
        """Return a file, or None if it cannot be used now."""
        return self._script(path, is_json=path.suffix == ".json")

    def _script(self, path: File, *, is_json: bool) -> Script | None:
        key = path, is_json
        if key not in self.scripts:
            name = display_name(path, self.root)
            text = read_file(path, name, self.roots)
            reading = None if isinstance(text, Complaint) else read_text(text, is_json=is_json)
            usable = reading is not None and not reading.has_errors
            self.scripts[key] = Script(path, name, reading, is_json) if usable and reading else None
        return self.scripts[key]

    def _original(
        self, manifest: Manifest, script: Script, nth: int, spec: dict[str, Json]
    ) -> Original | None:
        kind = BY_NAME[manifest.ref.kind]
        if spec.get("file") is None or kind.from_export is None:
            return Original(script=script, nth=nth, spec=spec)
        export = self._script(script.path.parent / str(spec["file"]), is_json=True)
        content = export.values[0] if export is not None and len(export.values) == 1 else None
        if not isinstance(content, dict):
            return None
        rest = {key: value for key, value in spec.items() if key != "file"}
        whole = {**kind.from_export(content), **rest}
        bare = not isinstance(content.get(kind.spec.bare), dict)
        return Original(script=script, nth=nth, spec=whole, export=export, bare=bare)


_Value = TypeVar("_Value", bound="Json | Missing")


def spelled_like(value: _Value, written: Json | Missing, shape: Shape = ANY) -> _Value | int:
    """Return a whole number as an integer where the manifest has an integer.

    Services answer 97 as 97.0, and long numbers as text.
    """
    if not isinstance(written, int) or isinstance(written, bool):
        return value
    is_digits = shape.numeric_text and isinstance(value, str) and value.lstrip("-").isdigit()
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_digits or is_whole else value  # type: ignore[arg-type]  # digits, or a float


class WovenError(Exception):
    """An edit that would change other values too; the message says where to edit by hand."""


def split(
    edit: Edit, base: Mapping[str, Json], patch: Mapping[str, Json], shape: Shape
) -> tuple[dict[str, Edit], dict[str, Edit]]:
    """Return the edits of the fields of `spec`, and of the patch that is merged into it.

    Raises WovenError for an edit that belongs to neither alone.
    """
    if not isinstance(edit, Within):
        raise KeyError("spec")
    own: dict[str, Edit] = {}
    over: dict[str, Edit] = {}
    for key, inside in edit.fields.items():
        if key not in patch:
            own[key] = inside
            continue
        below, above, inner = base.get(key), patch[key], shape.at(key)
        if isinstance(above, dict) and isinstance(inside, Within) and _may_hold(below):
            mine, theirs = split(inside, below if isinstance(below, dict) else {}, above, inner)
            own |= {key: Within(mine)} if mine else {}
            over |= {key: Within(theirs)} if theirs else {}
        elif isinstance(above, list) and isinstance(below, list) and inner.identity:
            raise WovenError(f"`{key}` is merged of `spec` and `overrides`: edit it by hand")
        elif isinstance(inside, Gone) and key in base:
            over[key] = Put(None)
        else:
            over[key] = inside
    return own, over


def _may_hold(below: Json) -> bool:
    """Return whether a patch is merged into this value: an object, or a text with expressions."""
    return isinstance(below, dict) or (isinstance(below, str) and OPEN in below)


def _check_open(written: Json, *, is_inside: bool) -> None:
    found = whole(written) if isinstance(written, str) else None
    if found is not None and (
        is_inside or found.word in (ExpressionKind.FILE, ExpressionKind.EACH)
    ):
        source = expression(found.word, found.name)
        raise WovenError(f"`{source}` gives what was edited, maybe elsewhere too: edit it by hand")


_Change = tuple[Script, int, Edit]


def write_edits(
    edits: Mapping[Ref, tuple[Original, Edit]],
) -> tuple[list[Edited], dict[Ref, str]]:
    """Return the files with all edits, and why the edits of the other resources do not fit.

    Nothing is written. Either all files of a resource are edited, or none.
    """
    refused: dict[Ref, str] = {}
    while True:
        left = {ref: edit for ref, edit in edits.items() if ref not in refused}
        files, wrong = _attempt(left)
        if not wrong:
            return files, refused
        refused |= wrong


def _attempt(
    edits: Mapping[Ref, tuple[Original, Edit]],
) -> tuple[list[Edited], dict[Ref, str]]:
    changes: dict[File, dict[int, tuple[Edit, list[Ref]]]] = {}
    scripts: dict[File, Script] = {}
    refused: dict[Ref, str] = {}
    for ref, (original, edit) in edits.items():
        try:
            parts = parts_of_edit(ref, original, edit)
        except WovenError as error:
            refused[ref] = str(error)
            continue
        except (KeyError, IndexError):
            refused[ref] = LOST
            continue
        for script, nth, part in parts:
            scripts[script.path] = script
            first, refs = changes.setdefault(script.path, {}).setdefault(nth, (part, []))
            if first != part:
                refused[ref] = f"{script.name} is that of {refs[0]} too, which was edited otherwise"
            refs.append(ref)
    files = []
    for path, here in changes.items() if not refused else ():
        script = scripts[path]
        made = text_after(script, {nth: edit for nth, (edit, _) in here.items()})
        if made is None:
            refused |= _refused_in(script, here)
        else:
            after, forks = made
            all_refs = tuple(ref for _, refs in here.values() for ref in refs)
            files.append(Edited(script=script, after=after, refs=all_refs, forks=tuple(forks)))
    return files, refused


def _refused_in(script: Script, here: Mapping[int, tuple[Edit, Sequence[Ref]]]) -> dict[Ref, str]:
    """Return the resources with edits that do not fit a file; all if only the combination fails."""
    read = [read_text(text, is_json=script.is_json) for text in texts_of_documents(script.text)]
    alone = [replace(script, reading=reading) for reading in read if reading.documents]
    wrong = [*here]
    if identical([script.values for script in alone], [[value] for value in script.values]):
        # A file may have thousands of documents, so each is tried without the others.
        wrong = [nth for nth in here if text_after(alone[nth], {0: here[nth][0]}) is None] or wrong
    return {ref: f"{script.name}: {LOST}" for nth in wrong for ref in here[nth][1]}


def text_after(script: Script, changes: Mapping[int, Edit]) -> tuple[str, list[Fork]] | None:
    """Return a text with its edits, or None if the result would declare anything else.

    A text in the layout of `fmt` stays in that layout; any other layout is kept too.
    """
    made = _attempted(script, changes, by_itself=False) or _attempted(
        script, changes, by_itself=True
    )
    if made is None or tidied(script.reading, is_json=script.is_json) != script.text:
        return made
    after, forks = made
    return tidied(read_text(after, is_json=script.is_json), is_json=script.is_json) or after, forks


def _attempted(
    script: Script, changes: Mapping[int, Edit], *, by_itself: bool
) -> tuple[str, list[Fork]] | None:
    values, where = script.values, written(script.text)
    try:
        wanted = [
            followed(value, changes[nth], value) if nth in changes else value
            for nth, value in enumerate(values)
        ]
        after, forks = rewritten(
            script.text, changes, values, where, is_json=script.is_json, by_itself=by_itself
        )
    except (KeyError, IndexError, StopIteration, ValueError, RecursionError):
        return None
    if not says(after, wanted, is_json=script.is_json):
        return None
    before, now = Counter(where.comments()), Counter(written(after).comments())
    remarks = {f"# {remark}" for edit in changes.values() for remark in _added_comments(edit)}
    if before - now or (now - before).keys() - remarks:
        return None
    return after, forks


def _added_comments(edit: Edit) -> Iterator[str]:
    match edit:
        case Within(fields=fields):
            for field_edit in fields.values():
                yield from _added_comments(field_edit)
        case ListItems(items=items):
            for item in items:
                if item.untold:
                    yield describe_unreported(item.untold)
                if item.edit is not None:
                    yield from _added_comments(item.edit)
        case Put() | Gone():
            return


def parts_of_edit(ref: Ref, original: Original, edit: Edit) -> list[_Change]:
    """Return an edit of `spec` as edits of the documents that it is written in.

    Raises WovenError, or KeyError or IndexError where the edit does not fit.
    """
    found = value_at(original.script.values[original.nth], ("spec",))
    own = None if found is ABSENT else found
    overriding: dict[str, Edit] = {}
    if original.patch:
        mine, over = split(edit, original.base, original.patch, BY_NAME[ref.kind].shape)
        edit = Within(mine)
        patched = _Home(original.patch, ("overrides", original.environment))
        overriding = patched.around(Within(over))
    here = edit
    parts: list[_Change] = []
    if original.export is not None:
        if not isinstance(edit, Within):
            raise KeyError(str(ref))
        content = original.export.values[0]
        record = BY_NAME[ref.kind].spec.bare
        declared = own if isinstance(own, dict) else {}
        exported = content if isinstance(content, dict) else {}
        there = {
            key: field_edit
            for key, field_edit in edit.fields.items()
            if key not in declared and (key == record or key in exported)
        }
        here = Within({key: edit.fields[key] for key in edit.fields if key not in there})
        whole: Edit = there[record] if original.bare and record in there else Within(there)
        home = _Home(content, dropped=1 if original.bare else 0, is_export=True)
        if there:
            parts.append((original.export, 0, home.settled(whole, content)))
    around = {**_Home(own, ("spec",)).around(here), **overriding}
    if around or not parts:
        parts.insert(0, (original.script, original.nth, Within(around)))
    return parts


@dataclass(frozen=True, slots=True)
class _Home:
    """A value that is edited, and its path in the document that it is written in.

    An export may spell its fields differently, and its paths lack the first `dropped` steps.
    """

    value: Json
    path: Path = ()
    dropped: int = 0
    is_export: bool = False

    def around(self, edit: Edit) -> dict[str, Edit]:
        """Return an edit of the value as edits of the fields of its document. Raises WovenError."""
        edit = self.settled(edit, self.value)
        if edit == Within({}):
            return {}
        for step in reversed(self.path[1:]):
            edit = Within({str(step): edit})
        return {str(self.path[0]): edit}

    def settled(self, edit: Edit, here: Json) -> Edit:
        """Return an edit of a part in the names and places of the document.

        Raises WovenError for an edit of a value that comes from an expression.
        """
        if not self.is_export:
            _check_open(here, is_inside=isinstance(edit, Within | ListItems))
        match edit:
            case Within(fields=fields):
                names = self._names(here, fields)
                inner = here if isinstance(here, dict) else {}
                return Within(
                    {
                        names[key]: self.settled(field_edit, inner.get(names[key]))
                        for key, field_edit in fields.items()
                    }
                )
            case ListItems(items=items):
                return ListItems(tuple(map(self._item, items)))
            case _:
                return edit

    def _item(self, item: ListItem) -> ListItem:
        if item.origin is None:
            return item
        origin: Path = ()
        here: Json | Missing = self.value
        for step in item.origin[self.dropped :]:
            own = self._names(here, [step])[step] if isinstance(step, str) else step
            origin, here = (*origin, own), value_at(here, (own,))
        held = here if isinstance(here, dict | list) else None
        edit = None if item.edit is None else self.settled(item.edit, held)
        return ListItem((*self.path, *origin), edit, item.untold)

    def _names(self, here: Json | Missing, names: Iterable[str]) -> dict[str, str]:
        """Return the document's own name of each field."""
        own = {name: name for name in names}
        if self.is_export and isinstance(here, dict):
            own |= {name: key for key, name in names_of(here, dict.fromkeys(own, NOTHING)).items()}
        return own


KEY = "id"
_NO_KEY = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Given:
    """A manifest without an id, and the id that the service gave to its resource."""

    manifest: Manifest
    remote_id: RemoteId


@dataclass(slots=True)
class IdentifiedText:
    """The text of a file with the ids that were `written`, and what to write `by_hand`."""

    text: str
    written: list[Given] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IdTarget:
    """The place of an id: `metadata.ids` of the environment, or `metadata.id` if it is `alone`."""

    environment: str
    alone: bool

    def field(self, written: RemoteId) -> str:
        """Return the field with an id, as a person writes it under `metadata`."""
        return f"id: {written}" if self.alone else f"ids: {{{self.environment}: {written}}}"


def identified(script: Script, given: Sequence[Given], place: IdTarget) -> IdentifiedText:
    """Return a text with the ids of its manifests; a document gets all of its ids or none."""
    by_document: dict[int | None, list[Given]] = defaultdict(list)
    for new_id in given:
        source = new_id.manifest.source
        by_document[script.places.get((source.line, source.column))].append(new_id)
    edits: dict[int, Edit] = {
        nth: Put(wanted)
        for nth, own in by_document.items()
        if nth is not None and (wanted := _with_ids(script.values[nth], own, place)) is not None
    }
    made = text_after(script, edits)
    if made is None:
        edits = {nth: edit for nth, edit in edits.items() if text_after(script, {nth: edit})}
        made = text_after(script, edits)
    found = IdentifiedText(script.text if made is None else made[0])
    for nth, own in by_document.items():
        if made is not None and nth in edits:
            found.written.extend(own)
        else:
            value = None if nth is None else script.values[nth]
            found.by_hand.append(_by_hand(value, own, place))
    return found


def _with_ids(value: Json, given: Sequence[Given], place: IdTarget) -> dict[str, Json] | None:
    """Return a document with its ids, or None if the place of an id is not certain."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(metadata, dict):
        return None
    if FOR_EACH not in value:
        named = _with_id(metadata, given[0].remote_id, place)
        return None if named is None or len(given) > 1 else {**value, "metadata": named}
    items = value[FOR_EACH]
    if not isinstance(items, list):
        return None
    rows = [item for item in items if isinstance(item, dict)]
    sources = ((new_id.manifest.source.item, new_id.remote_id) for new_id in given)
    known = {item.number - 1: remote_id for item, remote_id in sources if item}
    key = _free_key(KEY, value, rows, place)
    named = _with_id(metadata, expression(ExpressionKind.EACH, key), place)
    # An expression that uses a key of the items needs it in every item.
    if named is None or len(rows) != len(items) or known.keys() != set(range(len(rows))):
        return None
    identified_rows: list[Json] = [{**row, key: known[nth]} for nth, row in enumerate(rows)]
    return {**value, "metadata": named, FOR_EACH: identified_rows}


def _with_id(
    metadata: dict[str, Json], written: RemoteId, place: IdTarget
) -> dict[str, Json] | None:
    """Return `metadata` with an id, or None if it has one or gets it from an expression."""
    ids = metadata.get("ids")
    if isinstance(ids, dict) and ids.get(place.environment) is None:
        return {**metadata, "ids": {**ids, place.environment: written}}
    if ids is not None or metadata.get("id") is not None:
        return None
    rest = {key: value for key, value in metadata.items() if key not in ("id", "ids")}
    return {**rest, "id": written} if place.alone else {**rest, "ids": {place.environment: written}}


def _free_key(key: str, value: Mapping[str, Json], items: Sequence[Json], place: IdTarget) -> str:
    """Return a key that no item has and no manifest uses; the environment is added if needed."""
    rest = {key: inner for key, inner in value.items() if key != FOR_EACH}
    taken = {key for item in items if isinstance(item, dict) for key in item} | {*keys_named(rest)}
    wanted = key if key not in taken else f"{key}_{_NO_KEY.sub('_', place.environment)}"
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    return name


def _own_key(value: Json, given: Sequence[Given]) -> str:
    """Return a key for ids in a file of items that other manifests may use: with kind and name."""
    name = value_at(value, ("metadata", "name"))
    written_name = "" if name is ABSENT else str(name)
    fixed = "".join(part for part in parts_of(written_name) if isinstance(part, str))
    named = _NO_KEY.sub("_", fixed).strip("_")
    return "_".join(filter(None, (given[0].manifest.ref.kind, named, KEY)))


def _by_hand(value: Json, given: Sequence[Given], place: IdTarget) -> str:
    """Return what to write by hand and where, item by item."""
    source = given[0].manifest.source
    where = f"{source.file}:{source.line}"
    if source.item is None:
        field_text = place.field(given[0].remote_id)
        return f"{where}: write `{field_text}` under `metadata` of {given[0].manifest.ref} by hand"
    items = written_items(value[FOR_EACH]) if isinstance(value, dict) else None
    listed = items if isinstance(items, list) else []
    wanted = _own_key(value, given) if isinstance(items, str) else KEY
    key = _free_key(wanted, value if isinstance(value, dict) else {}, listed, place)
    field_text = place.field(expression(ExpressionKind.EACH, key))
    head = (
        f"{where}: {_why(items, given)}: once all have an id, write `{field_text}` under `metadata`"
    )
    listed_ids = (
        f"  {new_id.manifest.source.item}, {new_id.manifest.ref}: `{key}: {new_id.remote_id}`"
        for new_id in given
    )
    return "\n".join((f"{head}, and into the items by hand:", *listed_ids))


def _why(items: Json, given: Sequence[Given]) -> str:
    if isinstance(items, str):
        return f"its items come from `{items}`"
    if isinstance(items, list) and len(items) != len(given):
        return f"{len(given)} of its {len(items)} items are to get an id"
    return "its text cannot be edited without a change of something else"
