"""Merging of `overrides` into a `spec` for one environment, and findings about them.

Pure. Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from reconciler.document import Json, Path, Shape, stored_name, texts_in, value_at
from reconciler.kinds.checks import lint, name_of
from reconciler.kinds.field_traits import MANIFEST
from reconciler.kinds.judge_spec import MOST_FINDINGS
from reconciler.kinds.kind import Kind
from reconciler.kinds.shape import facts_of
from reconciler.syntax.diagnostic import REMOVE, Advice, Finding
from reconciler.syntax.expressions import OPEN
from reconciler.syntax.suggestions import shortened

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
"""Findings about patches, by the `id` of each and its environment. The patch is kept with them.

The first list is for every environment, the second only for other environments than its own. With
"" as the environment, findings about all `overrides`, by their `id`.
"""


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
    listed = ", ".join(sorted(environments)[:MOST_NAMED])
    more = len(environments) - MOST_NAMED
    listed += f" and {more:,} more" if more > 0 else ""
    for name in unknown[:MOST_NAMED]:
        message = f"`{name}` is not an environment of reconciler.yaml (known: {listed})"
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
        found = patch, [*_misplaced_findings(patch, kind, path)], []
        found[2].extend(_patch_findings(patch, kind, path))
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
