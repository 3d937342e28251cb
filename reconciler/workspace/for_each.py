"""Items of a `forEach`: their labels, the findings about them, and the keys that nothing uses.

Pure. Source: docs/reuse.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reconciler.document import Json, canonical_text, texts_in
from reconciler.model import Member
from reconciler.redaction.templates import Template
from reconciler.syntax.diagnostic import Advice, Complaint, Finding, warning
from reconciler.syntax.expressions import Expression, ExpressionKind, expression, parts_of
from reconciler.syntax.parsed_text import DocumentText
from reconciler.syntax.suggestions import nearest
from reconciler.workspace.expression_scope import Each, Filled, Reference, along

FOR_EACH = "forEach"
WRONG = "M213"
UNUSED = "M214"
MOST_ITEMS = 10_000
MOST_NAMED = 3
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
            items.findings.append(Finding(WRONG, (FOR_EACH,), message))
        return items
    items.total = len(value)
    if not value:
        message = "`forEach` has no items, so nothing is made of this manifest"
        items.findings.append(warning(WRONG, (FOR_EACH,), message))
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
            yield Finding(WRONG, path, message, suggestion=repair)
        elif not item:
            yield Finding(WRONG, path, f"item {nth + 1} is empty", suggestion=Advice("remove it"))
        elif (first := known.setdefault(canonical_text(item), nth)) != nth:
            message = f"item {nth + 1} is the same as item {first + 1}"
            yield Finding(WRONG, path, message, suggestion=Advice("remove one of them"))
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
    # Items of the project file are for all manifests, and not all manifests may be read.
    own = items if isinstance(value, list) else replace(items, values=[])
    return known.setdefault(f"{items.text.file} {len(known)}", own)
