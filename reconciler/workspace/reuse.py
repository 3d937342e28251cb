"""Reuse of manifests: `overrides` for one environment, and the items of a `forEach`.

Each with the findings about it. Pure. Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from reconciler.document import Json, Path, Shape, canonical_text, stored_name, texts_in, value_at
from reconciler.kinds.checks import lint, name_of
from reconciler.kinds.field_traits import MANIFEST
from reconciler.kinds.judge_spec import MOST_FINDINGS
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import facts_of
from reconciler.model import Member
from reconciler.model.quoting import listed
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import REMOVE, Advice, Complaint, Finding, warning
from reconciler.syntax.expressions import OPEN, Expression, ExpressionKind, expression, parts_of
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.suggestions import nearest, shortened
from reconciler.workspace.expression_scope import Each, Filled, Reference, along

OVERRIDES = "overrides"
WRONG = "M212"
MOST_NAMED = 20
"""Limit of named environments, and of findings in patches of other environments, a manifest."""
_ONLY_WHOLE = frozenset(("M302", "M308", "M310", "M312"))


@dataclass(slots=True)
class PatchedDocument:
    """A document merged with a patch.

    `patched` maps paths of the document to their origin in the patch. `gone` are the paths that the
    document had and no longer has.
    """

    document: Json
    patched: dict[Path, Path] = field(default_factory=dict)
    gone: list[Path] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def merged(self, base: Json, patch: Json, shape: Shape, path: Path, there: Path) -> Json:
        """Merge one place: `path` leads to it in the document, `there` in the patch."""
        if isinstance(patch, dict) and isinstance(base, dict):
            return self._fields(base, patch, shape, path, there)
        if isinstance(patch, list) and isinstance(base, list) and shape.identity:
            return self._items(base, patch, shape, path, there)
        self.gone.append(path)
        self.patched[path] = there
        return without_nulls(patch)

    def _fields(
        self, base: dict[str, Json], patch: dict[str, Json], shape: Shape, path: Path, there: Path
    ) -> Json:
        merged = dict(base)
        for key, value in patch.items():
            if value is None:
                merged.pop(key, None)
                self.gone.append((*path, key))
            elif key in base:
                inner = shape.at(key)
                merged[key] = self.merged(base[key], value, inner, (*path, key), (*there, key))
            else:
                merged[key] = without_nulls(value)
                self.patched[*path, key] = (*there, key)
        return merged

    def _items(
        self, base: list[Json], patch: list[Json], shape: Shape, path: Path, there: Path
    ) -> Json:
        """Merge items by their keys; new items come last."""
        places: dict[str, list[int]] = {}
        for nth, item in enumerate(base):
            places.setdefault(_key(item, shape), []).append(nth)
        merged, seen = list(base), set[str]()
        for nth, item in enumerate(patch):
            key, place = _key(item, shape), (*there, nth)
            found = places.get(key, [])
            if not key or key in seen or len(found) > 1:
                self.findings.append(_odd_item(key, shape, place, twice=key in seen))
            elif found:
                at = found[0]
                merged[at] = self.merged(base[at], item, shape.item, (*path, at), place)
            else:
                self.patched[*path, len(merged)] = place
                merged.append(without_nulls(item))
            seen.add(key)
        return merged


def overridden(spec: Json, patch: Json, shape: Shape) -> PatchedDocument:
    """Merge a patch into a document: null removes a field, items of keyed lists merge by key.

    Findings have paths in the patch.
    """
    made = PatchedDocument(None)
    made.document = made.merged(spec, patch, shape, (), ())
    return made


def _key(item: Json, shape: Shape) -> str:
    key = value_at(item, shape.identity)
    return stored_name(key) if isinstance(key, str) else ""


def _odd_item(key: str, shape: Shape, place: Path, *, twice: bool) -> Finding:
    named = ".".join(shape.identity)
    if not key:
        message = f"{name_of(place)} has no `{named}`, which identifies an item of this list"
        return Finding(WRONG, place, message, suggestion=Advice(f"add `{named}`"))
    owner = "of this override" if twice else "of the list in `spec`"
    message = f"two items {owner} have the `{named}` `{key}`: it is unclear which one is meant"
    return Finding(WRONG, place, message)


def without_nulls(patch: Json) -> Json:
    """Return a patch as a new value, without the fields that it removes."""
    if isinstance(patch, dict):
        return {key: without_nulls(value) for key, value in patch.items() if value is not None}
    if isinstance(patch, list):
        return [without_nulls(item) for item in patch]
    return patch


Patches: TypeAlias = dict[tuple[int, str], tuple[Json, list[Finding], list[Finding]]]
"""Findings about patches, by the Python `id` of the patch and its environment. The patch is kept
with them, so that its `id` stays in use. The first list is for every environment, the second only
for environments other than that of the patch. Under "" as the environment are the findings about
all `overrides`, by their `id`."""


def override_findings(
    overrides: Json,
    kind: Kind | None,
    environments: Mapping[str, object],
    current: str,
    known: Patches,
) -> Iterator[Finding]:
    """Yield findings about `overrides`, for all environments.

    The patch of the `current` environment is validated when it is merged with its `spec`. The
    patches of other environments are validated alone, as far as a part can be. `known` keeps the
    results, so that they are not computed again for each environment.
    """
    if not isinstance(overrides, dict):
        message = "`overrides` must be a mapping of environments to fields of `spec`"
        yield Finding(WRONG, (OVERRIDES,), message)
        return
    key = id(overrides), ""
    if key not in known:
        known[key] = overrides, [*_unknown_findings(overrides, environments)], []
    yield from known[key][1]
    other_findings = 0
    for name, patch in overrides.items():
        shared, alone = _findings_of(patch, name, kind, known)
        if name == current:
            yield from shared
        else:
            others = [*shared, *alone]
            yield from others[: max(MOST_NAMED - other_findings, 0)]
            other_findings += len(others)
    if other_findings > MOST_NAMED:
        message = (
            f"{other_findings - MOST_NAMED:,} more mistakes in overrides of other environments"
        )
        advice = Advice("correct these first, then run `validate` again")
        yield Finding(WRONG, (OVERRIDES,), message, suggestion=advice, at_key=True)


def _unknown_findings(
    overrides: dict[str, Json], environments: Mapping[str, object]
) -> Iterator[Finding]:
    """Yield a finding for each environment that is not in the project file; many become one."""
    unknown = [name for name in overrides if environments and name not in environments]
    known = listed(sorted(environments), MOST_NAMED)
    for name in unknown[:MOST_NAMED]:
        message = f"`{name}` is not an environment of reconciler.yaml (known: {known})"
        near = shortened(name, environments)
        yield Finding("M207", (OVERRIDES, name), message, suggestion=near, at_key=True)
    if len(unknown) > MOST_NAMED:
        name = unknown[MOST_NAMED]
        message = f"`{name}` and {len(unknown) - MOST_NAMED - 1:,} more are no environments either"
        advice = Advice("declare them in reconciler.yaml, or remove them here")
        yield Finding("M207", (OVERRIDES, name), message, suggestion=advice, at_key=True)


def _findings_of(
    patch: Json, name: str, kind: Kind | None, known: Patches
) -> tuple[list[Finding], list[Finding]]:
    """Return findings about a patch: for all environments, and for all but its own."""
    path = (OVERRIDES, name)
    if not isinstance(patch, dict) and not _is_open(patch):
        message = f"the override for `{name}` must be a mapping of fields of `spec`"
        return [Finding(WRONG, path, message)], []
    if kind is None:
        return [], []
    found = known.get((id(patch), name))
    if found is None:
        alone = [*_patch_findings(patch, kind, path)]
        found = patch, [*_misplaced_findings(patch, kind, path)], alone
        known[id(patch), name] = found
    return found[1], found[2]


def _misplaced_findings(patch: Json, kind: Kind, path: Path) -> Iterator[Finding]:
    for key in misplaced_in(patch, kind) if isinstance(patch, dict) else ():
        message = f"`{key}` is in an override, which holds only fields of `spec`"
        repair = INNER if key == "spec" else REMOVE
        yield Finding(WRONG, (*path, key), message, suggestion=repair, at_key=True)


INNER = Advice("write what is in it one level higher")


def misplaced_in(patch: dict[str, Json], kind: Kind) -> list[str]:
    """Return the fields of a patch that belong around `spec`, and are not fields of this kind."""
    own = facts_of(kind.spec)
    return [key for key in patch if key in MANIFEST and key not in own]


def _patch_findings(patch: Json, kind: Kind, path: Path) -> Iterator[Finding]:
    if isinstance(patch, dict):
        patch = without_misplaced(patch, kind)
    settled = _settled(without_nulls(patch))
    for finding in islice(lint(settled, kind.spec), MOST_FINDINGS):
        if finding.code not in _ONLY_WHOLE:
            yield replace(finding, path=(*path, *finding.path))


def without_misplaced(patch: dict[str, Json], kind: Kind) -> dict[str, Json]:
    """Return a patch without the fields that are reported as misplaced."""
    gone = misplaced_in(patch, kind)
    return {key: value for key, value in patch.items() if key not in gone} if gone else patch


def _settled(patch: Json) -> Json:
    """Return a patch without the values that only expressions provide."""
    if not isinstance(patch, dict):
        return patch
    return {key: _settled(value) for key, value in patch.items() if not _holds_open(value)}


def _holds_open(value: Json) -> bool:
    """Return whether a value depends on expressions; fields of objects are checked separately."""
    return not isinstance(value, dict) and any(map(_is_open, texts_in(value)))


def _is_open(value: Json) -> bool:
    return isinstance(value, str) and OPEN in value


FOR_EACH = "forEach"
WRONG_ITEM = "M213"
UNUSED = "M214"
MOST_ITEMS = 10_000
LONGEST_LABEL = 60


@dataclass(slots=True)
class ForEachItems:
    """The items of one `forEach`, with expressions filled in, and their places.

    `used` are the keys that manifests use.
    """

    text: DocumentText
    values: list[tuple[int, dict[str, Json]]] = field(default_factory=list)
    keys: frozenset[str] = frozenset()
    total: int = 0
    references: dict[int, list[Reference]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def each(self, used: set[str], first: str) -> Iterator[Each]:
        """Yield the items; the value of the key `first` is the label of each."""
        named = frozenset(used)
        for nth, values in self.values:
            member = Member(nth + 1, _label(values, first), self.total)
            yield Each(
                values=values,
                text=replace(self.text, item=member),
                path=(FOR_EACH, nth),
                member=member,
                keys=self.keys,
                used=used,
                named=named,
            )

    def note(self, document: Json) -> str:
        """Record the keys that a whole manifest uses, in all environments; return the first key."""
        named = list(keys_named(document))
        known = {key: value for _, values in self.values for key, value in values.items()}
        for name in named:
            found = along(known, name)
            # A misspelt key is reported as such, and not as unused too.
            self.used.add(nearest(name, known) if found is None else str(found[0][0]))
        return named[0] if named else ""

    def unused(self) -> Iterator[Complaint]:
        """Yield a warning for each key that no manifest uses, at its first place."""
        first: dict[str, int] = {}
        for nth, values in self.values:
            for key in values:
                first.setdefault(key, nth)
        for key, nth in first.items():
            if key not in self.used:
                message = f"nothing names `{key}` of these items"
                message += f": write ${{each:{key}}}, or remove it"
                finding = warning(UNUSED, (FOR_EACH, nth, key), message, at_key=True)
                yield self.text.complaint(finding)


def written_items(value: Json) -> Json:
    """Return `forEach` in its full form: `{var: NAME}` is short for the expression."""
    if isinstance(value, dict) and value.keys() == {"var"} and isinstance(value["var"], str):
        return expression(ExpressionKind.VARIABLE, value["var"])
    return value


def items_of(filled: Filled, text: DocumentText) -> ForEachItems:
    """Return the items of a document that has only `forEach`, already filled in."""
    document = filled.document
    value = document.get(FOR_EACH) if isinstance(document, dict) else None
    items = ForEachItems(replace(text, grafts=filled.grafts), findings=filled.findings)
    if not isinstance(value, list):
        if not filled.findings:
            message = "`forEach` must be a list of mappings, {var: NAME} or ${file:PATH}"
            items.findings.append(Finding(WRONG_ITEM, (FOR_EACH,), message))
        return items
    items.total = len(value)
    if not value:
        message = "`forEach` has no items, so nothing is made of this manifest"
        items.findings.append(warning(WRONG_ITEM, (FOR_EACH,), message))
    if len(value) > MOST_ITEMS:
        message = (
            f"`forEach` has {len(value):,} items, and at most {MOST_ITEMS:,} are made into any"
        )
        advice = Advice("divide the items between several manifests")
        items.findings.append(Finding("M115", (FOR_EACH,), message, suggestion=advice))
        return items
    items.findings.extend(_take(value, items))
    items.keys = frozenset(key for _, document in items.values for key in document)
    for reference in filled.references:
        nth = reference.path[1] if len(reference.path) > 1 else None
        if isinstance(nth, int):
            items.references.setdefault(nth, []).append(reference)
    return items


def _take(value: list[Json], items: ForEachItems) -> Iterator[Finding]:
    """Add the usable items; yield findings about the others."""
    known: dict[str, int] = {}
    for nth, item in enumerate(value):
        path = (FOR_EACH, nth)
        if not isinstance(item, dict):
            message = f"item {nth + 1} must be a mapping: `${{each:KEY}}` gives its values"
            repair = "" if isinstance(item, list) or item is None else f"{{name: {item}}}"
            yield Finding(WRONG_ITEM, path, message, suggestion=repair)
        elif not item:
            yield Finding(
                WRONG_ITEM, path, f"item {nth + 1} is empty", suggestion=Advice("remove it")
            )
        elif (first := known.setdefault(canonical_text(item), nth)) != nth:
            message = f"item {nth + 1} is the same as item {first + 1}"
            yield Finding(WRONG_ITEM, path, message, suggestion=Advice("remove one of them"))
        else:
            items.values.append((nth, item))


def _label(values: Mapping[str, Json], first: str) -> str:
    """Return the label of an item: a scalar value of it that is no secret, or ""."""
    named = ([(first, values[first])] if first in values else []) + [*values.items()]
    for key, value in named:
        if isinstance(value, str | int | float) and not isinstance(value, Template):
            label = f"{key}: {value}"
            return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
    return ""


def keys_named(document: Json) -> Iterator[str]:
    """Yield the item keys that a document uses, in their order."""
    for text in texts_in(document):
        for part in parts_of(text):
            if isinstance(part, Expression) and part.word is ExpressionKind.EACH:
                yield part.name


def uses_of(known: dict[str, ForEachItems], items: ForEachItems, value: Json) -> ForEachItems:
    """Return the items that record uses; several manifests may share the items of a file."""
    shared = items.text.grafts.get((FOR_EACH,))
    if shared is not None and not isinstance(value, list):
        return known.setdefault(shared.text.file, items)
    # Items of the project file are for all manifests, and this run may not read all of them.
    own = items if isinstance(value, list) else replace(items, values=[])
    return known.setdefault(f"{items.text.file} {len(known)}", own)
