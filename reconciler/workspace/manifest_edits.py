"""Edits of what manifests declare, written into their files in place, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as File

from reconciler.document import (
    ABSENT,
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
from reconciler.kinds.shape import names_of
from reconciler.model import Manifest, Ref
from reconciler.syntax.diagnostic import Complaint
from reconciler.syntax.display_names import display_name
from reconciler.syntax.expressions import OPEN, ExpressionKind, expression, whole
from reconciler.syntax.files import read_file
from reconciler.syntax.parsed_text import Reading
from reconciler.syntax.read_text import read_text
from reconciler.syntax.syntax_tree import texts_of_documents, written
from reconciler.workspace.layout import describe_unreported, says, tidied
from reconciler.workspace.overrides import overridden
from reconciler.workspace.rewrite import Fork, rewritten

_LOST = "its text cannot be edited without a change of something else: edit it by hand"


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
        return self._with_patch(
            manifest, found, value_at(document, ("overrides", self.environment))
        )

    def script_of(self, manifest: Manifest) -> Script | None:
        """Return the file of a manifest, or None if the file cannot be used now."""
        if not self.names:
            self.names = {display_name(path, self.root): path for path in self.read}
        path = self.names.get(manifest.source.file)
        return self._script(path, is_json=path.suffix == ".json") if path is not None else None

    def _with_patch(
        self, manifest: Manifest, found: Original | None, patch: Json | Missing
    ) -> Original | None:
        if found is None or not isinstance(patch, dict):
            return found
        kind = BY_NAME[manifest.ref.kind]
        merged = overridden(found.spec, patch, kind.shape).document
        spec = merged if isinstance(merged, dict) else found.spec
        return replace(found, spec=spec, base=found.spec, patch=patch, environment=self.environment)

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
        path = script.path.parent / str(spec["file"])
        export = self._script(path, is_json=True)
        content = export.values[0] if export is not None and len(export.values) == 1 else None
        if not isinstance(content, dict):
            return None
        rest = {key: value for key, value in spec.items() if key != "file"}
        whole = {**kind.from_export(content), **rest}
        bare = not isinstance(content.get(kind.spec.bare), dict)
        return Original(script=script, nth=nth, spec=whole, export=export, bare=bare)


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


def check_own(edit: Edit, written: Json, root: Json) -> None:
    """Raise WovenError for an edit of a value that comes from an expression.

    `written` is the value at the place of the edit, and `root` the whole `spec`.
    """
    match edit:
        case Within(fields=fields):
            _check_open(written, is_inside=True)
            for key, field in fields.items():
                check_own(field, value_at_key(written, key), root)
        case ListItems(items=items):
            _check_open(written, is_inside=True)
            for item in items:
                if item.origin is not None and item.edit is not None:
                    found = value_at(root, item.origin)
                    check_own(item.edit, found if isinstance(found, dict | list) else None, root)
        case Put() | Gone():
            _check_open(written, is_inside=False)


def value_at_key(written: Json, key: str) -> Json:
    """Return the value of a key, or None if there is none."""
    return written.get(key) if isinstance(written, dict) else None


def _check_open(written: Json, *, is_inside: bool) -> None:
    found = whole(written) if isinstance(written, str) else None
    if found is not None and (
        is_inside or found.word in (ExpressionKind.FILE, ExpressionKind.EACH)
    ):
        source = expression(found.word, found.name)
        raise WovenError(f"`{source}` gives what was edited, maybe elsewhere too: edit it by hand")


@dataclass(slots=True)
class Unadopted:
    """A resource with a manifest that is left unchanged, and why."""

    ref: Ref
    why: str


_Change = tuple[Script, int, Edit]


def write_edits(
    edits: Mapping[Ref, tuple[Original, Edit]],
) -> tuple[list[Edited], list[Unadopted]]:
    """Return the files with all edits, and the resources with edits that do not fit.

    Nothing is written. Either all files of a resource are edited, or none.
    """
    left = dict(edits)
    refused: list[Unadopted] = []
    while True:
        files, wrong = _attempt(left)
        if not wrong:
            return files, refused
        refused.extend(wrong)
        for unadopted in wrong:
            left.pop(unadopted.ref, None)


def _attempt(
    edits: Mapping[Ref, tuple[Original, Edit]],
) -> tuple[list[Edited], list[Unadopted]]:
    changes: dict[File, dict[int, tuple[Edit, list[Ref]]]] = {}
    scripts: dict[File, Script] = {}
    refused: list[Unadopted] = []
    for ref, (original, edit) in edits.items():
        try:
            parts = _parts(ref, original, edit)
        except WovenError as error:
            refused.append(Unadopted(ref, str(error)))
            continue
        except (KeyError, IndexError):
            refused.append(Unadopted(ref, _LOST))
            continue
        for script, nth, part in parts:
            scripts[script.path] = script
            here = changes.setdefault(script.path, {})
            known = here.setdefault(nth, (part, []))
            if known[0] != part:
                shared = f"{script.name} is that of {known[1][0]} too, which was edited otherwise"
                refused.append(Unadopted(ref, shared))
            known[1].append(ref)
    files = []
    for path, here in changes.items() if not refused else ():
        made = text_after(scripts[path], {nth: edit for nth, (edit, _) in here.items()})
        if made is not None:
            refs = tuple(ref for _, refs in here.values() for ref in refs)
            files.append(
                Edited(script=scripts[path], after=made[0], refs=refs, forks=tuple(made[1]))
            )
            continue
        refused.extend(_refused_in(scripts[path], here))
    return files, refused


def _refused_in(script: Script, here: Mapping[int, tuple[Edit, Sequence[Ref]]]) -> list[Unadopted]:
    """Return the resources with edits that do not fit a file; all if only the combination fails."""
    read = [read_text(text, is_json=script.is_json) for text in texts_of_documents(script.text)]
    alone = [replace(script, reading=reading) for reading in read if reading.documents]
    wrong = [*here]
    if identical([script.values for script in alone], [[value] for value in script.values]):
        # A file may have thousands of documents, so each is tried without the others.
        wrong = [nth for nth in here if text_after(alone[nth], {0: here[nth][0]}) is None] or wrong
    return [Unadopted(ref, f"{script.name}: {_LOST}") for nth in wrong for ref in here[nth][1]]


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
    remarks = {f"# {remark}" for edit in changes.values() for remark in _remarks(edit)}
    if before - now or (now - before).keys() - remarks:
        return None
    return after, forks


def _remarks(edit: Edit) -> Iterator[str]:
    """Yield the comments that an edit adds."""
    match edit:
        case Within(fields=fields):
            for field_edit in fields.values():
                yield from _remarks(field_edit)
        case ListItems(items=items):
            for item in items:
                if item.untold:
                    yield describe_unreported(item.untold)
                if item.edit is not None:
                    yield from _remarks(item.edit)
        case Put() | Gone():
            return


def _parts(ref: Ref, original: Original, edit: Edit) -> list[_Change]:
    """Return an edit of `spec` as edits of the documents that it is written in."""
    own = value_at(original.script.values[original.nth], ("spec",))
    overriding: dict[str, Edit] = {}
    if original.patch:
        shape = BY_NAME[ref.kind].shape
        mine, over = split(edit, original.base, original.patch, shape)
        edit = Within(mine)
        check_own(Within(over), original.patch, original.patch)
        overriding = _in_overrides(over, original.environment)
    if original.export is None:
        check_own(edit, None if own is ABSENT else own, None if own is ABSENT else own)
        here = {"spec": _rooted(edit, ("spec",))} if edit != Within({}) else {}
        return [(original.script, original.nth, Within({**here, **overriding}))]
    if not isinstance(edit, Within):
        raise KeyError(str(ref))
    declared = set(own) if isinstance(own, dict) else set()
    content = original.export.values[0]
    record = BY_NAME[ref.kind].spec.bare
    there: dict[str, Edit] = {}
    here = {}
    for key, field_edit in edit.fields.items():
        known = key == record or (isinstance(content, dict) and key in content)
        (there if known and key not in declared else here)[key] = field_edit
    parts: list[_Change] = []
    if here or overriding:
        spec = {"spec": _rooted(Within(here), ("spec",))} if here else {}
        parts.append((original.script, original.nth, Within({**spec, **overriding})))
    if there:
        exported: Edit = there[record] if original.bare and record in there else Within(there)
        dropped = 1 if original.bare else 0
        parts.append((original.export, 0, _spelled(exported, content, content, dropped)))
    return parts


def _in_overrides(over: Mapping[str, Edit], environment: str) -> dict[str, Edit]:
    """Return edits of a patch as an edit of the document around it."""
    if not over:
        return {}
    edit = _rooted(Within(over), ("overrides", environment))
    return {"overrides": Within({environment: edit})}


def _rooted(edit: Edit, prefix: Path) -> Edit:
    """Return an edit with origins from the root of the document."""
    match edit:
        case Within(fields=fields):
            return Within({key: _rooted(edit, prefix) for key, edit in fields.items()})
        case ListItems(items=items):
            return ListItems(
                tuple(
                    replace(
                        item,
                        origin=item.origin and (*prefix, *item.origin),
                        edit=item.edit and _rooted(item.edit, prefix),
                    )
                    for item in items
                )
            )
        case _:
            return edit


def _spelled(edit: Edit, document: Json, whole: Json, dropped: int) -> Edit:
    """Return an edit with the names that an export has for its fields."""
    match edit:
        case Within(fields=fields) if isinstance(document, dict):
            names = {name: own for own, name in names_of(document, dict.fromkeys(fields)).items()}  # type: ignore[arg-type]  # only names are used
            return Within(
                {
                    names.get(key, key): _spelled(
                        edit, document.get(names.get(key, key)), whole, dropped
                    )
                    for key, edit in fields.items()
                }
            )
        case ListItems(items=items):
            return ListItems(tuple(_spelled_item(list_item, whole, dropped) for list_item in items))
        case Within() | Put() | Gone():
            return edit


def _spelled_item(item: ListItem, whole: Json, dropped: int) -> ListItem:
    if item.origin is None:
        return item
    origin: Path = ()
    here: Json = whole
    for step in item.origin[dropped:]:
        own = step
        if isinstance(here, dict) and isinstance(step, str) and step not in here:
            names = names_of(here, {step: None})  # type: ignore[dict-item]  # as above
            own = next((raw for raw, name in names.items() if name == step), step)
        found = value_at(here, (own,))
        if not isinstance(found, dict | list | str | int | float | bool | None):
            raise KeyError(own)
        origin, here = (*origin, own), found
    edit = None if item.edit is None else _spelled(item.edit, here, whole, dropped)
    return ListItem(origin, edit)
